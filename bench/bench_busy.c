/* SPDX-License-Identifier: MIT */
/*
 * bench_busy.c - routing on a machine on which others work.
 *
 *     bench_busy [NEIGHBOURS...]    by default 0 1 2 0
 *
 * One context learns all the time, while so many other processes compute
 * without a pause, in sessions of their own. Beside it, in turns, the same
 * calls on each expert that could be best: the best instruction set on one and
 * on all threads, and libraries on all threads. Means of turns, since a worker
 * that waits for its processor makes few calls very long; of those the median.
 * The figure in brackets is what the first turn took, before anything was
 * learned of that many neighbours. `left` is how many processors the neighbours
 * had meanwhile, beside routed calls and beside each expert.
 */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include <takt/call.h>

enum { most_ways = 8, rounds = 9, most_neighbours = 64 };
static const double turn_ns = 80e6;

struct way {
    char name[TAKT_EXPERT_NAME_MAX];
    int expert; /* -1: routed */
    takt_ctx *ctx;
    double ns[rounds]; /* of a call; 0: it cannot run it */
    double left;       /* processors that neighbours had, all rounds together */
};

struct bench {
    struct way way[most_ways];
    size_t ways;
    pid_t neighbour[most_neighbours];
    unsigned neighbours;
    double worst;
    struct bench_mean mean;
};

/* ---- neighbours ------------------------------------------------------------
 */

static pid_t start_neighbour(void)
{
    const pid_t child = fork();

    if (child != 0)
        return child;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned long n = 0;; n++)
        ;
}

static void start_neighbours(struct bench *bench, unsigned count)
{
    for (bench->neighbours = 0; bench->neighbours < count;) {
        const pid_t child = start_neighbour();
        if (child < 0)
            exit(2);
        bench->neighbour[bench->neighbours++] = child;
    }
}

static void end_neighbours(struct bench *bench)
{
    while (bench->neighbours > 0) {
        const pid_t child = bench->neighbour[--bench->neighbours];
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

/* The CPU time that they have had. */
static double neighbours_ns(const struct bench *bench)
{
    double sum = 0;

    for (unsigned i = 0; i < bench->neighbours; i++) {
        struct timespec used = {0};
        clockid_t id;
        if (clock_getcpuclockid(bench->neighbour[i], &id) == 0)
            clock_gettime(id, &used);
        sum += (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
    }
    return sum;
}

/* ---- ways ------------------------------------------------------------------
 */

static takt_ctx *open_ctx(void)
{
    takt_ctx *ctx;

    if (takt_ctx_create(&(takt_ctx_options){.store = "", .gpu = ""}, &ctx) !=
        TAKT_OK)
        exit(2);
    return ctx;
}

static bool is_compared(const takt_ctx *ctx, const char *name)
{
    const takt_machine *machine = takt_ctx_machine(ctx);
    char one[TAKT_EXPERT_NAME_MAX], all[24];

    snprintf(one, sizeof one, "simd.%s",
             takt_isa_name(takt_machine_best_isa(machine)));
    snprintf(all, sizeof all, "x%u", machine->threads);
    const char *suffix = strrchr(name, 'x');
    const bool is_all = suffix != NULL && strcmp(suffix, all) == 0;
    return strcmp(name, one) == 0 ||
           (is_all && (strncmp(name, one, strlen(one)) == 0 ||
                       strncmp(name, "blas.", 5) == 0));
}

static void add_way(struct bench *bench, takt_ctx *ctx, const char *name,
                    int expert)
{
    struct way *way = &bench->way[bench->ways];

    if (bench->ways == most_ways)
        return;
    *way = (struct way){.expert = expert, .ctx = ctx};
    snprintf(way->name, sizeof way->name, "%s", name);
    bench->ways++;
}

static void find_ways(struct bench *bench)
{
    takt_ctx *ctx = open_ctx();
    const char *name;

    add_way(bench, open_ctx(), "routed", -1);
    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        if (is_compared(ctx, name))
            add_way(bench, ctx, name, (int)i);
}

/* ---- turns -----------------------------------------------------------------
 */

static takt_status run_once(const struct way *way, const takt_call *call)
{
    return way->expert < 0 ? takt_run(way->ctx, call, NULL)
                           : takt_run_on(way->ctx, call, (size_t)way->expert);
}

static double take_turn(const struct bench *bench, struct way *way,
                        const takt_call *call)
{
    const double start = bench_now_ns(), others = neighbours_ns(bench);
    double now = start;
    size_t calls = 0;

    for (; now - start < turn_ns; calls++) {
        if (run_once(way, call) != TAKT_OK)
            return 0;
        now = bench_now_ns();
    }
    way->left += (neighbours_ns(bench) - others) / (now - start);
    return (now - start) / (double)calls;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(struct way *way)
{
    qsort(way->ns, rounds, sizeof way->ns[0], compare);
    return way->ns[rounds / 2];
}

static void take_turns(struct bench *bench, const takt_call *call)
{
    for (size_t i = 0; i < bench->ways; i++)
        bench->way[i].left = 0;
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < bench->ways; i++) {
            struct way *way = &bench->way[(i + round) % bench->ways];
            way->ns[round] = take_turn(bench, way, call);
        }
}

static void time_call(struct bench *bench, const char *name,
                      const takt_call *call)
{
    struct way *ways = bench->way;
    double best = 0;

    take_turns(bench, call);
    const double first = ways[0].ns[0], routed = median(&ways[0]);
    printf("%-12s %9.1f (%9.1f)", name, routed / 1e3, first / 1e3);
    for (size_t i = 1; i < bench->ways; i++) {
        const double ns = median(&ways[i]);
        printf(" %12.1f", ns / 1e3);
        if (ns > 0 && (best <= 0 || ns < best))
            best = ns;
    }
    printf("  %6.3f ", routed / best);
    for (size_t i = 0; i < bench->ways; i++)
        printf(" %.2f", ways[i].left / rounds);
    putchar('\n');
    fflush(stdout);
    bench_mean_add(&bench->mean, routed / best);
    bench->worst = fmax(bench->worst, routed / best);
}

static void time_calls(struct bench *bench)
{
    static const size_t sizes[] = {128, 192, 256, 512, 1024};
    float *a = bench_floats(1 << 20), *b = bench_floats(1 << 20);
    float *out = bench_floats(1 << 20);
    char name[32];

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t n = sizes[i];
        snprintf(name, sizeof name, "matmul %zu", n);
        time_call(bench, name,
                  &(takt_call){.op = takt_op_find("matmul"),
                               .shape = {.rank = 3, .dim = {n, n, n}},
                               .in = {a, b},
                               .out = out,
                               .alpha = 1});
    }
    time_call(bench, "add 1M",
              &(takt_call){.op = takt_op_find("add"),
                           .shape = {.rank = 1, .dim = {1 << 20}},
                           .in = {a, b},
                           .out = out});
    free(a);
    free(b);
    free(out);
}

static void run_among(struct bench *bench, unsigned neighbours)
{
    start_neighbours(bench, neighbours);
    printf("%u neighbours\n%-12s %9s %11s", neighbours, "us", "routed",
           "first");
    for (size_t i = 1; i < bench->ways; i++)
        printf(" %12s", bench->way[i].name);
    puts("  / best  left");
    bench->mean = (struct bench_mean){0};
    bench->worst = 0;
    time_calls(bench);
    printf("geometric mean %.3f, worst %.3f\n\n", bench_mean_of(&bench->mean),
           bench->worst);
    end_neighbours(bench);
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "[NEIGHBOURS...]");
    static char *usual[] = {"0", "1", "2", "0", NULL};
    static struct bench bench;

    bench_print_load();
    find_ways(&bench);
    for (char **word = argc > 1 ? argv + 1 : usual; *word != NULL; word++) {
        const unsigned long count = strtoul(*word, NULL, 10);
        run_among(
            &bench,
            (unsigned)(count < most_neighbours ? count : most_neighbours));
    }
    return 0;
}
