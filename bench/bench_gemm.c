/* SPDX-License-Identifier: MIT */
/*
 * bench_gemm.c - our matrix products beside the libraries and the peak.
 *
 * Ours: the kernel called directly (one thread), the experts on 2, 4, ... and
 * all threads, and the adaptive context, through takt_run_on() and takt_run().
 * Theirs: OpenBLAS and BLIS through CBLAS on the same numbers of threads, and
 * libxsmm with the pointer to its kernel kept, where CMake found it. The peak
 * is the rate of multiply-adds in registers: of one core, and of all threads
 * while all run, measured at the start and again at the end.
 *
 *     bench_gemm [--f64] [--n N]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/takt.h>

#include "bench.h"
#include "bench_limit.h"
#include "blas_loops.h"
#include "expert/kernel_set.h"
#include "gemm_limits.h"

/* Who multiplies. Teams of 1, 2, 4, ... threads make ways of a side. */
enum side { OWN, ADAPTIVE, OPENBLAS, BLIS, XSMM, SIDES };

enum { most_teams = 10, most_ways = 3 * most_teams + 2 };

static const char *const names[SIDES] = {"own", "adaptive", "OpenBLAS", "BLIS",
                                         "libxsmm"};

static const size_t shapes[][3] = {
    {4, 4, 4},          {8, 8, 8},          {16, 16, 16},
    {32, 32, 32},       {64, 64, 64},       {96, 96, 96},
    {128, 128, 128},    {192, 192, 192},    {256, 256, 256},
    {384, 384, 384},    {512, 512, 512},    {768, 768, 768},
    {1024, 1024, 1024}, {1536, 1536, 1536}, {2048, 2048, 2048},
    {4096, 4096, 4096}, {10000, 16, 16},    {4096, 64, 64},
    {64, 64, 4096},     {64, 4096, 64},     {256, 256, 2048},
    {128, 2048, 512},   {8, 1024, 1024},    {1, 4096, 4096},
};

enum { shape_count = sizeof shapes / sizeof shapes[0], most_retries = 3 };

struct trial {
    takt_dtype dtype;
    const struct takt_kernel_set *kernel_set;
    void *scratch;
    takt_ctx *ctx; /* of this way; NULL: none */
    size_t expert; /* its number; SIZE_MAX: the context decides */
    struct blas *blas;
    enum side side;
    unsigned threads;
    xsmm_kernel *xsmm;
    size_t m, n, k;
    void *a, *b, *c;
    takt_call call;
};

/* The best of a side, and on how many threads. */
struct best {
    double ns; /* 0: it did not run */
    unsigned threads;
};

struct program {
    takt_machine *machine;
    struct takt_kernel_set kernel_set[TAKT_KERNEL_ISAS];
    takt_ctx *fixed, *adaptive;
    unsigned teams[most_teams];
    size_t experts[most_teams]; /* of our teams */
    size_t team_count;
    struct blas blas[2];
    size_t blas_count;
    takt_dtype dtype;
    double peak, peak_of_all;  /* GFLOP/s of one core, of all threads */
    double alone[shape_count]; /* ns of our kernel on one thread */
    struct best best[shape_count][SIDES];
};

/* ---- ways ------------------------------------------------------------------
 */

static struct takt_gemm gemm_of(const struct trial *t)
{
    return (struct takt_gemm){.m = t->m,
                              .n = t->n,
                              .k = t->k,
                              .a = t->a,
                              .a_row = t->k,
                              .a_col = 1,
                              .b = t->b,
                              .b_row = t->n,
                              .b_col = 1,
                              .c = t->c,
                              .ldc = t->n,
                              .alpha = 1};
}

static void run_own(void *self, size_t calls)
{
    const struct trial *t = self;
    const struct takt_gemm gemm = gemm_of(t);
    takt_gemm_kernel *kernel = t->kernel_set->gemm[t->dtype]->run;

    for (size_t i = 0; i < calls; i++)
        kernel(&gemm, &t->kernel_set->blocks[t->dtype], t->scratch);
}

static void run_ctx(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        takt_run(t->ctx, &t->call, NULL);
}

static void run_team(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        takt_run_on(t->ctx, &t->call, t->expert);
}

static void set_threads(void *self)
{
    const struct trial *t = self;

    t->blas->set_threads((int)t->threads);
}

static void run_blas(void *self, size_t calls)
{
    enum { row_major = 101, as_is = 111 };
    const struct trial *t = self;
    const int m = (int)t->m, n = (int)t->n, k = (int)t->k;

    for (size_t i = 0; i < calls; i++)
        if (t->dtype == TAKT_F64)
            t->blas->dgemm(row_major, as_is, as_is, m, n, k, 1, t->a, k, t->b,
                           n, 0, t->c, n);
        else
            t->blas->sgemm(row_major, as_is, as_is, m, n, k, 1, t->a, k, t->b,
                           n, 0, t->c, n);
}

static void run_xsmm(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        t->xsmm(t->b, t->a, t->c);
}

/* ---- a shape ---------------------------------------------------------------
 */

struct contest {
    struct trial trials[most_ways];
    struct bench_way ways[most_ways];
    size_t count;
};

static struct trial *add_way(struct contest *contest, const struct trial *usual,
                             enum side side, unsigned threads,
                             void (*run)(void *self, size_t calls))
{
    struct trial *trial = &contest->trials[contest->count];

    *trial = *usual;
    trial->side = side;
    trial->threads = threads;
    contest->ways[contest->count++] =
        (struct bench_way){.name = names[side], .self = trial, .run = run};
    return trial;
}

/* Few threads are not tried on what takes them long. */
static bool is_tried(const struct program *program, unsigned threads,
                     double flops)
{
    return flops < 1e9 || 4 * threads > program->teams[program->team_count - 1];
}

static void add_team(const struct program *program, const struct trial *usual,
                     size_t team, struct contest *contest)
{
    const unsigned threads = program->teams[team];

    if (threads > 1)
        add_way(contest, usual, OWN, threads, run_team)->expert =
            program->experts[team];
    for (size_t i = 0; i < program->blas_count; i++) {
        const bool is_blis = strcmp(program->blas[i].name, "BLIS") == 0;
        struct bench_way *way = &contest->ways[contest->count];
        add_way(contest, usual, is_blis ? BLIS : OPENBLAS, threads, run_blas)
            ->blas = (struct blas *)&program->blas[i];
        way->prepare = set_threads;
        way->rest_ns = threads > 1 ? 60e6 : 0;
    }
}

static void add_ways(const struct program *program, const struct trial *usual,
                     double flops, struct contest *contest)
{
    add_way(contest, usual, OWN, 1, run_own);
    add_way(contest, usual, ADAPTIVE, 1, run_ctx)->ctx = program->adaptive;
    for (size_t i = 0; i < program->team_count; i++)
        if (is_tried(program, program->teams[i], flops))
            add_team(program, usual, i, contest);
    xsmm_kernel *xsmm =
        xsmm_find(usual->dtype == TAKT_F64, usual->m, usual->n, usual->k);
    if (xsmm != NULL)
        add_way(contest, usual, XSMM, 1, run_xsmm)->xsmm = xsmm;
}

static void *make(takt_dtype dtype, size_t count)
{
    return dtype == TAKT_F64 ? bench_doubles(count) : bench_floats(count);
}

static void open_trial(const struct program *program, const size_t shape[3],
                       struct trial *t)
{
    *t = (struct trial){
        .dtype = program->dtype,
        .kernel_set =
            &program->kernel_set[takt_machine_best_isa(program->machine)],
        .ctx = program->fixed,
        .m = shape[0],
        .n = shape[1],
        .k = shape[2]};
    t->a = make(t->dtype, t->m * t->k);
    t->b = make(t->dtype, t->k * t->n);
    t->c = make(t->dtype, t->m * t->n);
    const struct takt_gemm gemm = gemm_of(t);
    const size_t room = t->kernel_set->gemm[t->dtype]->room(
        &gemm, &t->kernel_set->blocks[t->dtype]);
    t->scratch = make(TAKT_F32, room / 4 + 1);
    t->call = (takt_call){.op = takt_op_find("matmul"),
                          .dtype = t->dtype,
                          .shape = {3, {t->m, t->n, t->k}},
                          .in = {t->a, t->b},
                          .out = t->c,
                          .alpha = 1};
}

static void close_trial(struct trial *t)
{
    free(t->a);
    free(t->b);
    free(t->c);
    free(t->scratch);
}

static double flops_of(size_t index)
{
    return 2.0 * (double)shapes[index][0] * (double)shapes[index][1] *
           (double)shapes[index][2];
}

/* The best library on any number of threads. */
static double best_library(const struct best best[SIDES])
{
    const double open = best[OPENBLAS].ns, blis = best[BLIS].ns;

    return open > 0 && (blis == 0 || open < blis) ? open : blis;
}

static void note(struct program *program, size_t index,
                 const struct contest *contest)
{
    for (size_t i = 0; i < contest->count; i++) {
        const struct trial *t = contest->ways[i].self;
        struct best *best = &program->best[index][t->side];
        const double ns = contest->ways[i].best_ns;
        if (t->side == OWN && t->threads == 1)
            program->alone[index] = ns;
        if (best->ns == 0 || ns < best->ns)
            *best = (struct best){ns, t->threads};
    }
}

/* A slow spell can outlast a contest: what falls short gets another one. */
static bool falls_short(const struct program *program, size_t index)
{
    const struct best *best = program->best[index];
    const double rate = flops_of(index) / program->alone[index] / program->peak;

    return (best_library(best) > 0 && best_library(best) < best[OWN].ns) ||
           (shapes[index][0] >= 96 && rate < 0.85) ||
           (shapes[index][0] >= 256 && program->team_count > 1 &&
            program->alone[index] < 1.7 * best[OWN].ns);
}

static void time_shape(struct program *program, size_t index)
{
    static struct contest contest;
    struct trial usual;

    open_trial(program, shapes[index], &usual);
    contest.count = 0;
    add_ways(program, &usual, flops_of(index), &contest);
    const double budget_ns = flops_of(index) > 1e9 ? 400e6 : 30e6;
    bench_contest(contest.ways, contest.count, budget_ns);
    note(program, index, &contest);
    for (int i = 0; i < most_retries && falls_short(program, index); i++) {
        bench_again(contest.ways, contest.count, budget_ns);
        note(program, index, &contest);
    }
    close_trial(&usual);
}

/* ---- output ----------------------------------------------------------------
 */

static void print_head(const struct program *program)
{
    printf("\n%cgemm, GFLOP/s (threads); measured peak of one core %.1f, of "
           "all threads %.1f\n%-16s %8s",
           program->dtype == TAKT_F64 ? 'd' : 's', program->peak,
           program->peak_of_all, "m x n x k", "own x1");
    for (int side = 0; side < SIDES; side++)
        printf(" %13s", names[side]);
    printf(" %6s %6s %6s\n", "%peak", "%all", "/lib");
}

static void print_best(double flops, const struct best *best, bool has_threads)
{
    char threads[16] = "";

    if (has_threads)
        snprintf(threads, sizeof threads, " (%u)", best->threads);
    if (best->ns > 0)
        printf(" %8.1f%-5s", flops / best->ns, threads);
    else
        printf(" %8s%5s", "-", "");
}

static void print_shape(const struct program *program, size_t index)
{
    const struct best *best = program->best[index];
    const double flops = flops_of(index);
    char text[40];

    snprintf(text, sizeof text, "%zux%zux%zu", shapes[index][0],
             shapes[index][1], shapes[index][2]);
    printf("%-16s %8.1f", text, flops / program->alone[index]);
    for (int side = 0; side < SIDES; side++)
        print_best(flops, &best[side], side != ADAPTIVE && side != XSMM);
    printf(" %6.0f", 100 * flops / program->alone[index] / program->peak);
    printf(" %6.0f", 100 * flops / best[OWN].ns / program->peak_of_all);
    if (best_library(best) > 0)
        printf(" %6.2f", best_library(best) / best[OWN].ns);
    putchar('\n');
    fflush(stdout);
}

/* The best that any of Takt's experts does. */
static double best_expert(const struct best best[SIDES])
{
    double ns = best[OWN].ns;

    for (int side = OPENBLAS; side < SIDES; side++)
        if (best[side].ns > 0 && best[side].ns < ns)
            ns = best[side].ns;
    return ns;
}

static void print_means(const struct program *program, size_t first,
                        size_t last)
{
    struct bench_mean gain = {0};

    printf("\ngeometric means over %zux%zux%zu ... %zux%zux%zu: time / the "
           "best expert per shape (1 is best)\n ",
           shapes[first][0], shapes[first][1], shapes[first][2],
           shapes[last][0], shapes[last][1], shapes[last][2]);
    for (int side = 0; side < SIDES; side++) {
        struct bench_mean mean = {0};
        for (size_t i = first; i <= last; i++)
            if (program->best[i][side].ns > 0)
                bench_mean_add(&mean, program->best[i][side].ns /
                                          best_expert(program->best[i]));
        if (mean.count > 0)
            printf(" %s %.2f%s", names[side], bench_mean_of(&mean),
                   mean.count <= last - first ? " (where it runs);" : ";");
    }
    for (size_t i = first; i <= last; i++)
        if (best_library(program->best[i]) > 0)
            bench_mean_add(&gain, best_library(program->best[i]) /
                                      program->best[i][OWN].ns);
    printf("\n/lib: geometric mean %.2f\n", bench_mean_of(&gain));
}

/* ---- the peak --------------------------------------------------------------
 */

static void measure_peaks(struct program *program)
{
    const double unit = 1e-9 / (program->dtype == TAKT_F64 ? 2 : 1);
    const unsigned all = program->teams[program->team_count - 1];

    program->peak = measure_flops(program->machine) * unit;
    program->peak_of_all = measure_flops_together(program->machine, all) * unit;
}

static void time_all(struct program *program, size_t only)
{
    size_t first = shape_count, last = 0;

    measure_peaks(program);
    print_head(program);
    for (size_t i = 0; i < shape_count; i++) {
        if (only > 0 && shapes[i][0] != only)
            continue;
        time_shape(program, i);
        print_shape(program, i);
        first = i < first ? i : first;
        last = i;
    }
    if (first <= last)
        print_means(program, first, last);
    measure_peaks(program);
    printf("peaks again: %.1f, %.1f\n", program->peak, program->peak_of_all);
}

/* The experts on 1, 2, 4, ... threads and on all. */
static bool find_teams(struct program *program)
{
    const takt_ctx_options options = {.policy = TAKT_POLICY_HEURISTIC,
                                      .blas = ""};
    const unsigned all = program->machine->threads;
    const char *isa = takt_isa_name(takt_machine_best_isa(program->machine));

    if (takt_ctx_create(&options, &program->fixed) != TAKT_OK)
        return false;
    program->teams[program->team_count++] = 1;
    for (unsigned k = 2; k < 2 * all && program->team_count < most_teams;
         k *= 2) {
        const unsigned threads = k < all ? k : all;
        char expert[TAKT_EXPERT_NAME_MAX];
        const char *name;
        size_t i = 0;
        snprintf(expert, sizeof expert, "simd.%sx%u", isa, threads);
        while ((name = takt_ctx_expert(program->fixed, i, NULL)) != NULL &&
               strcmp(name, expert) != 0)
            i++;
        if (name == NULL)
            return false;
        program->experts[program->team_count] = i;
        program->teams[program->team_count++] = threads;
    }
    return true;
}

static bool read_words(int argc, char **argv, takt_dtype *dtype, size_t *only)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--f64") == 0)
            *dtype = TAKT_F64;
        else if (strcmp(argv[i], "--n") == 0 && i + 1 < argc)
            *only = strtoul(argv[++i], NULL, 10);
        else
            return false;
    return true;
}

int main(int argc, char **argv)
{
    static struct program program;
    size_t only = 0;

    if (!read_words(argc, argv, &program.dtype, &only)) {
        fputs("usage: bench_gemm [--f64] [--n N]\n", stderr);
        return 2;
    }
    if (takt_machine_create(NULL, &program.machine) != TAKT_OK)
        return 1;
    const struct takt_gemm_caches caches = {program.machine->l1d_bytes,
                                            program.machine->l2_bytes,
                                            program.machine->l3_bytes};
    takt__kernel_sets_fill(program.kernel_set, program.machine->isas, &caches);
    if (!find_teams(&program) ||
        takt_ctx_create(&(takt_ctx_options){0}, &program.adaptive) != TAKT_OK)
        return 1;
    program.blas_count = blas_open(program.blas);
    bench_print_load();
    time_all(&program, only);
    takt_ctx_destroy(program.fixed);
    takt_ctx_destroy(program.adaptive);
    takt_machine_destroy(program.machine);
    return 0;
}
