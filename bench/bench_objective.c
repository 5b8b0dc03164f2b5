/* SPDX-License-Identifier: MIT */
/*
 * bench_objective.c - what objectives gain, in turns with the mean time.
 *
 *     bench_objective throughput [CALLERS]
 *     bench_objective tail [EXPERT...]
 *     bench_objective quiet [EXPERT...]
 *
 * throughput: so many threads (default: as many as the machine has) make
 * products of one size without a pause; calls per second under `throughput`
 * against `time`.
 *
 * tail: one thread answers requests, each a forward pass of a small network,
 * while another process uses 60% of one core: 6 ms of work, 4 ms of sleep.
 * The p99 of requests and their mean, under `p99` against `time`. quiet: the
 * same without that process. Experts that are named run all products in turns
 * of their own: what could be had at best.
 *
 * Both contexts learn in the same way before, and take turns then. Medians of
 * the turns, and in brackets the second and the last but one of them: with nine
 * turns that is an interval of 96% for the median.
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include <takt/takt.h>

enum { turns = 9, sides = 2, most_sides = 8 };

static takt_ctx *open_ctx(const char *objective)
{
    const takt_ctx_options options = {
        .size = sizeof options, .store = "", .gpu = "", .objective = objective};
    takt_ctx *ctx;

    if (takt_ctx_create(&options, &ctx) != TAKT_OK)
        exit(2);
    return ctx;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* "median [low .. high]" of the turns. */
static double print_turns(const double turn[turns], double unit)
{
    double sorted[turns];

    memcpy(sorted, turn, sizeof sorted);
    qsort(sorted, turns, sizeof sorted[0], by_value);
    printf("  %8.1f [%.1f .. %.1f]", sorted[turns / 2] / unit, sorted[1] / unit,
           sorted[turns - 2] / unit);
    return sorted[turns / 2];
}

static void print_ratios(const double a[turns], const double b[turns])
{
    double ratio[turns];

    for (int i = 0; i < turns; i++)
        ratio[i] = a[i] / b[i];
    qsort(ratio, turns, sizeof ratio[0], by_value);
    printf("  %5.2f [%.2f .. %.2f]\n", ratio[turns / 2], ratio[1],
           ratio[turns - 2]);
}

static void print_experts(takt_ctx *ctx, const char *op, takt_shape shape)
{
    const takt_request request = {.op = takt_op_find(op), .shape = shape};
    takt_decision decision = {.size = sizeof decision};

    takt_select(ctx, &request, &decision);
    printf(" %s", decision.expert);
}

/* ---- throughput ------------------------------------------------------------
 */

struct crew {
    takt_ctx *ctx;
    size_t n;
    _Atomic bool is_over;
    _Atomic unsigned long calls;
    pthread_barrier_t start;
};

static void *call_products(void *self)
{
    struct crew *crew = self;
    const size_t n = crew->n;
    float *a = bench_floats(3 * n * n);
    unsigned long calls = 0;
    const takt_call call = {.op = takt_op_find("matmul"),
                            .shape = {.rank = 3, .dim = {n, n, n}},
                            .in = {a, a + n * n},
                            .out = a + 2 * n * n,
                            .alpha = 1};

    pthread_barrier_wait(&crew->start);
    while (!atomic_load_explicit(&crew->is_over, memory_order_relaxed)) {
        if (takt_run(crew->ctx, &call, NULL) != TAKT_OK)
            exit(2);
        calls++;
    }
    atomic_fetch_add(&crew->calls, calls);
    free(a);
    return NULL;
}

/* Calls per second of so many callers, in so many seconds. */
static double run_crew(takt_ctx *ctx, size_t n, unsigned callers,
                       double seconds)
{
    struct crew crew = {.ctx = ctx, .n = n};
    pthread_t *thread = calloc(callers, sizeof *thread);
    const struct timespec pause = {(time_t)seconds,
                                   (long)((seconds - floor(seconds)) * 1e9)};

    if (thread == NULL)
        exit(2);
    pthread_barrier_init(&crew.start, NULL, callers + 1);
    for (unsigned i = 0; i < callers; i++)
        if (pthread_create(&thread[i], NULL, call_products, &crew) != 0)
            exit(2);
    pthread_barrier_wait(&crew.start);
    const double start = bench_now_ns();
    nanosleep(&pause, NULL);
    atomic_store(&crew.is_over, true);
    for (unsigned i = 0; i < callers; i++)
        pthread_join(thread[i], NULL);
    const double took_s = (bench_now_ns() - start) * 1e-9;
    pthread_barrier_destroy(&crew.start);
    free(thread);
    return (double)atomic_load(&crew.calls) / took_s;
}

static int measure_throughput(unsigned callers)
{
    static const size_t sizes[] = {128, 192, 256, 384, 512};
    takt_ctx *ctx[sides] = {open_ctx("time"), open_ctx("throughput")};
    struct bench_mean mean = {0};

    if (callers == 0)
        callers = takt_ctx_machine(ctx[0])->threads;
    printf("%u callers; calls per second, in thousands\n", callers);
    printf("product           time                     throughput"
           "               ratio\n");
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        double turn[sides][turns];
        for (int side = 0; side < sides; side++)
            run_crew(ctx[side], sizes[s], callers, 2); /* to learn */
        for (int i = 0; i < turns; i++)
            for (int j = 0; j < sides; j++) {
                const int side = (i + j) % sides;
                turn[side][i] = run_crew(ctx[side], sizes[s], callers, 0.3);
            }
        printf("%5zu ", sizes[s]);
        const double before = print_turns(turn[0], 1e3);
        bench_mean_add(&mean, print_turns(turn[1], 1e3) / before);
        print_ratios(turn[1], turn[0]);
        fflush(stdout);
    }
    printf("geometric mean of the medians %.2f\n", bench_mean_of(&mean));
    for (int side = 0; side < sides; side++)
        takt_ctx_destroy(ctx[side]);
    return 0;
}

/* ---- tails -----------------------------------------------------------------
 */

enum { inputs = 1024, hidden = 1024, requests = 3000 };

/* Not in turns of one request: the threads that one context keeps awake for its
 * next call would hold up the other one. */
enum { learning = 40000, turn_of_learning = 1000 };

struct network {
    float *w1, *w2, *x, *h, *y;
};

/* 60% of a core, in bursts. */
static pid_t start_neighbour(void)
{
    const pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        const double end = bench_now_ns() + 6e6;
        while (bench_now_ns() < end)
            ;
        nanosleep(&(struct timespec){0, 4000000}, NULL);
    }
}

/* Who answers: a context, or one expert of it for all products. */
struct side {
    const char *name;
    takt_ctx *ctx;
    bool is_fixed;
    size_t expert;
};

static void run(const struct side *side, const takt_call *call)
{
    const takt_status status = side->is_fixed && call->shape.rank == 2
                                   ? takt_run_on(side->ctx, call, side->expert)
                                   : takt_run(side->ctx, call, NULL);

    if (status != TAKT_OK)
        exit(2);
}

/* Two layers: y = w2 relu(w1 x). */
static double answer_s(const struct side *side, const struct network *net)
{
    static const takt_op *gemv, *relu;
    const double start = bench_now_ns();

    if (gemv == NULL) {
        gemv = takt_op_find("gemv");
        relu = takt_op_find("relu");
    }
    run(side, &(takt_call){.op = gemv,
                           .shape = {2, {hidden, inputs}},
                           .in = {net->w1, net->x},
                           .out = net->h,
                           .alpha = 1});
    run(side,
        &(takt_call){
            .op = relu, .shape = {1, {hidden}}, .in = {net->h}, .out = net->h});
    run(side, &(takt_call){.op = gemv,
                           .shape = {2, {hidden, hidden}},
                           .in = {net->w2, net->h},
                           .out = net->y,
                           .alpha = 1});
    return (bench_now_ns() - start) * 1e-9;
}

struct latency {
    double mean[turns], p99[turns];
};

static void serve(const struct side *side, const struct network *net,
                  struct latency *out, int turn)
{
    static double took_s[requests];
    double sum = 0;

    for (int i = 0; i < requests; i++)
        sum += took_s[i] = answer_s(side, net);
    qsort(took_s, requests, sizeof took_s[0], by_value);
    out->mean[turn] = sum / requests;
    out->p99[turn] = took_s[requests * 99 / 100];
}

static void print_latency(const char *name, const double *a, const double *b)
{
    printf("%-5s", name);
    print_turns(a, 1e-6);
    print_turns(b, 1e-6);
    print_ratios(b, a);
}

static struct side fixed_side(const char *name)
{
    struct side side = {
        .name = name, .ctx = open_ctx("time"), .is_fixed = true};
    const char *expert;

    while ((expert = takt_ctx_expert(side.ctx, side.expert, NULL)) != NULL) {
        if (strcmp(expert, name) == 0)
            return side;
        side.expert++;
    }
    fprintf(stderr, "no expert '%s': see takt machine\n", name);
    exit(2);
}

static void serve_in_turns(const struct side side[], int count,
                           const struct network *net, struct latency latency[])
{
    for (int i = 0; i < learning; i++)
        answer_s(&side[i / turn_of_learning % sides], net);
    for (int i = 0; i < turns; i++)
        for (int j = 0; j < count; j++)
            serve(&side[(i + j) % count], net, &latency[(i + j) % count], i);
}

static int measure_tail(bool has_neighbour, char **experts)
{
    struct side side[most_sides] = {{"time", open_ctx("time"), false, 0},
                                    {"p99", open_ctx("p99"), false, 0}};
    static struct latency latency[most_sides];
    int count = sides;
    const struct network net = {
        bench_floats(hidden * inputs), bench_floats(hidden * hidden),
        bench_floats(inputs), bench_floats(hidden), bench_floats(hidden)};

    for (; *experts != NULL && count < most_sides; experts++)
        side[count++] = fixed_side(*experts);
    const pid_t neighbour = has_neighbour ? start_neighbour() : 0;
    serve_in_turns(side, count, &net, latency);
    printf("requests, us          time                       p99"
           "               p99 / time\n");
    print_latency("mean", latency[0].mean, latency[1].mean);
    print_latency("p99", latency[0].p99, latency[1].p99);
    printf("gemv runs on");
    for (int i = 0; i < sides; i++)
        print_experts(side[i].ctx, "gemv",
                      (takt_shape){.rank = 2, .dim = {hidden, inputs}});
    putchar('\n');
    for (int i = sides; i < count; i++) {
        printf("%-16s mean", side[i].name);
        print_turns(latency[i].mean, 1e-6);
        printf("  p99");
        print_turns(latency[i].p99, 1e-6);
        putchar('\n');
    }
    if (neighbour > 0) {
        kill(neighbour, SIGKILL);
        waitpid(neighbour, NULL, 0);
    }
    for (int i = 0; i < count; i++)
        takt_ctx_destroy(side[i].ctx);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    bench_print_load();
    if (strcmp(mode, "throughput") == 0)
        return measure_throughput(
            argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0);
    if (strcmp(mode, "tail") == 0 || strcmp(mode, "quiet") == 0)
        return measure_tail(mode[0] == 't', argv + 2);
    fprintf(stderr, "usage: bench_objective throughput [CALLERS] | tail "
                    "[EXPERT...] | quiet [EXPERT...]\n");
    return 2;
}
