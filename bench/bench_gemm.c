/* SPDX-License-Identifier: MIT */
/*
 * bench_gemm.c - our matrix products beside the libraries and the peak.
 *
 * Ours: the kernel called directly (one thread), the expert on two threads and
 * the adaptive context, both through takt_run(). Theirs: OpenBLAS and BLIS
 * through CBLAS on one thread and on two, and libxsmm with the pointer to its
 * kernel kept, where CMake found it. The peak is one core's rate of
 * multiply-adds, measured at the start and again at the end.
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
#include "expert/slots.h"

enum way {
    OWN,
    OWN_2,
    ADAPTIVE,
    OPENBLAS,
    OPENBLAS_2,
    BLIS,
    BLIS_2,
    XSMM,
    WAYS
};

static const char *const names[WAYS] = {"own",      "own x2",      "adaptive",
                                        "OpenBLAS", "OpenBLAS x2", "BLIS",
                                        "BLIS x2",  "libxsmm"};

static const size_t shapes[][3] = {
    {4, 4, 4},          {8, 8, 8},       {16, 16, 16},    {32, 32, 32},
    {64, 64, 64},       {96, 96, 96},    {128, 128, 128}, {192, 192, 192},
    {256, 256, 256},    {384, 384, 384}, {512, 512, 512}, {1024, 1024, 1024},
    {2048, 2048, 2048}, {10000, 16, 16}, {64, 64, 4096},  {64, 4096, 64},
    {8, 1024, 1024},    {1, 4096, 4096},
};

enum { shape_count = sizeof shapes / sizeof shapes[0], most_retries = 3 };

struct trial {
    takt_dtype dtype;
    const struct takt_slots *slots;
    void *scratch;
    takt_ctx *ctx; /* of this way; NULL: none */
    struct blas *blas;
    int threads;
    void (*xsmm)(const void *a, const void *b, void *c);
    size_t m, n, k;
    void *a, *b, *c;
    takt_call call;
};

struct program {
    takt_machine *machine;
    struct takt_slots slots[TAKT_KERNEL_ISAS];
    takt_ctx *two, *adaptive;
    struct blas blas[2];
    size_t blas_count;
    takt_dtype dtype;
    double peak; /* GFLOP/s of one core */
    double ns[shape_count][WAYS];
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
    takt_gemm_kernel *kernel = t->slots->gemm[t->dtype]->run;

    for (size_t i = 0; i < calls; i++)
        kernel(&gemm, &t->slots->blocks[t->dtype], t->scratch);
}

static void run_ctx(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        takt_run(t->ctx, &t->call, NULL);
}

static void set_threads(void *self)
{
    const struct trial *t = self;

    t->blas->set_threads(t->threads);
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

#ifdef BENCH_XSMM
typedef void xsmm_kernel(const void *a, const void *b, void *c);
xsmm_kernel *libxsmm_smmdispatch(int m, int n, int k, const int *lda,
                                 const int *ldb, const int *ldc,
                                 const float *alpha, const float *beta,
                                 const int *flags, const int *prefetch);
xsmm_kernel *libxsmm_dmmdispatch(int m, int n, int k, const int *lda,
                                 const int *ldb, const int *ldc,
                                 const double *alpha, const double *beta,
                                 const int *flags, const int *prefetch);

/* Its matrices are columns side by side: operands are swapped. */
static xsmm_kernel *find_xsmm(const struct trial *t)
{
    const float zero_f32 = 0;
    const double zero_f64 = 0;
    const int flags = 0;
    const int m = (int)t->n, n = (int)t->m, k = (int)t->k;

    if ((double)t->m * (double)t->n * (double)t->k > 256.0 * 256 * 256)
        return NULL; /* its kernels pack nothing: not meant for these */
    if (t->dtype == TAKT_F64)
        return libxsmm_dmmdispatch(m, n, k, NULL, NULL, NULL, NULL, &zero_f64,
                                   &flags, NULL);
    return libxsmm_smmdispatch(m, n, k, NULL, NULL, NULL, NULL, &zero_f32,
                               &flags, NULL);
}
#else
static void (*find_xsmm(const struct trial *t))(const void *, const void *,
                                                void *)
{
    (void)t;
    return NULL;
}
#endif

/* ---- a shape ---------------------------------------------------------------
 */

static void add_blas(const struct program *program, struct trial *trials,
                     struct bench_way *ways)
{
    for (size_t i = 0; i < program->blas_count; i++) {
        const bool is_blis = strcmp(program->blas[i].name, "BLIS") == 0;
        for (int threads = 1; threads <= 2; threads++) {
            const int way = (is_blis ? BLIS : OPENBLAS) + threads - 1;
            trials[way].blas = (struct blas *)&program->blas[i];
            trials[way].threads = threads;
            ways[way].run = run_blas;
            ways[way].prepare = set_threads;
            ways[way].rest_ns = threads > 1 ? 30e6 : 0;
        }
    }
}

static void add_ways(const struct program *program, const struct trial *usual,
                     struct trial *trials, struct bench_way *ways)
{
    for (int way = 0; way < WAYS; way++) {
        trials[way] = *usual;
        ways[way] =
            (struct bench_way){.name = names[way], .self = &trials[way]};
    }
    ways[OWN].run = run_own;
    trials[OWN_2].ctx = program->two;
    ways[OWN_2].run = program->two != NULL ? run_ctx : NULL;
    trials[ADAPTIVE].ctx = program->adaptive;
    ways[ADAPTIVE].run = run_ctx;
    add_blas(program, trials, ways);
    trials[XSMM].xsmm = find_xsmm(usual);
    ways[XSMM].run = trials[XSMM].xsmm != NULL ? run_xsmm : NULL;
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
        .slots = &program->slots[takt_machine_best_isa(program->machine)],
        .m = shape[0],
        .n = shape[1],
        .k = shape[2]};
    t->a = make(t->dtype, t->m * t->k);
    t->b = make(t->dtype, t->k * t->n);
    t->c = make(t->dtype, t->m * t->n);
    const struct takt_gemm gemm = gemm_of(t);
    const size_t room =
        t->slots->gemm[t->dtype]->room(&gemm, &t->slots->blocks[t->dtype]);
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

/* The best library on one thread or on two, whichever is faster. */
static double best_library(const double ns[WAYS])
{
    double best = 0;

    for (int way = OPENBLAS; way <= BLIS_2; way++)
        if (ns[way] > 0 && (best == 0 || ns[way] < best))
            best = ns[way];
    return best;
}

static double best_own(const double ns[WAYS])
{
    return ns[OWN_2] > 0 && ns[OWN_2] < ns[OWN] ? ns[OWN_2] : ns[OWN];
}

static void note(double ns[WAYS], const struct bench_way *ways, size_t count,
                 const struct trial *trials)
{
    for (size_t i = 0; i < count; i++)
        ns[(const struct trial *)ways[i].self - trials] = ways[i].best_ns;
}

/* A slow spell can outlast a contest: what falls short gets another one. */
static bool falls_short(const struct program *program, size_t index)
{
    const double *ns = program->ns[index];
    const double rate = flops_of(index) / ns[OWN] / program->peak;

    return (best_library(ns) > 0 && best_library(ns) < best_own(ns)) ||
           (shapes[index][0] >= 96 && rate < 0.85) ||
           (shapes[index][0] >= 256 && ns[OWN_2] > 0 &&
            ns[OWN] < 1.7 * ns[OWN_2]);
}

static void time_shape(struct program *program, size_t index)
{
    struct trial usual, trials[WAYS];
    struct bench_way all[WAYS], ways[WAYS];
    size_t count = 0;

    open_trial(program, shapes[index], &usual);
    add_ways(program, &usual, trials, all);
    for (int way = 0; way < WAYS; way++)
        if (all[way].run != NULL)
            ways[count++] = all[way];
    const double budget_ns = flops_of(index) > 1e9 ? 400e6 : 30e6;
    bench_contest(ways, count, budget_ns);
    note(program->ns[index], ways, count, trials);
    for (int i = 0; i < most_retries && falls_short(program, index); i++) {
        bench_again(ways, count, budget_ns);
        note(program->ns[index], ways, count, trials);
    }
    close_trial(&usual);
}

/* ---- output ----------------------------------------------------------------
 */

static void print_head(const struct program *program)
{
    printf("\n%cgemm, GFLOP/s; peak of one core %.1f (measured)\n%-16s",
           program->dtype == TAKT_F64 ? 'd' : 's', program->peak, "m x n x k");
    for (int way = 0; way < WAYS; way++)
        printf(" %11s", names[way]);
    printf(" %6s %6s %6s\n", "%peak", "x2", "/lib");
}

static void print_shape(const struct program *program, size_t index)
{
    const double *ns = program->ns[index];
    char text[40];

    snprintf(text, sizeof text, "%zux%zux%zu", shapes[index][0],
             shapes[index][1], shapes[index][2]);
    printf("%-16s", text);
    for (int way = 0; way < WAYS; way++)
        if (ns[way] > 0)
            printf(" %11.1f", flops_of(index) / ns[way]);
        else
            printf(" %11s", "-");
    printf(" %6.0f", 100 * flops_of(index) / ns[OWN] / program->peak);
    printf(" %6.2f", ns[OWN_2] > 0 ? ns[OWN] / ns[OWN_2] : 1.0);
    if (best_library(ns) > 0)
        printf(" %6.2f", best_library(ns) / best_own(ns));
    putchar('\n');
    fflush(stdout);
}

/* The best that any of Takt's experts does. */
static double best_expert(const double ns[WAYS])
{
    double best = best_own(ns);

    for (int way = OPENBLAS; way < WAYS; way++)
        if (ns[way] > 0 && ns[way] < best)
            best = ns[way];
    return best;
}

static void print_means(const struct program *program, size_t first,
                        size_t last)
{
    printf("\ngeometric means over %zux%zux%zu ... %zux%zux%zu: time / the "
           "best expert per shape (1 is best)\n ",
           shapes[first][0], shapes[first][1], shapes[first][2],
           shapes[last][0], shapes[last][1], shapes[last][2]);
    for (int way = 0; way < WAYS; way++) {
        struct bench_mean mean = {0};
        for (size_t i = first; i <= last; i++)
            if (program->ns[i][way] > 0)
                bench_mean_add(&mean, program->ns[i][way] /
                                          best_expert(program->ns[i]));
        if (mean.count > 0)
            printf(" %s %.2f%s", names[way], bench_mean_of(&mean),
                   mean.count <= last - first ? " (where it runs);" : ";");
    }
    putchar('\n');
}

static void time_all(struct program *program, size_t only)
{
    size_t first = shape_count, last = 0;

    program->peak = measure_flops(program->machine) * 1e-9 /
                    (program->dtype == TAKT_F64 ? 2 : 1);
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
    printf("peak again: %.1f\n", measure_flops(program->machine) * 1e-9 /
                                     (program->dtype == TAKT_F64 ? 2 : 1));
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
    takt__slots_fill(program.slots, program.machine->isas, &caches);
    program.two = bench_open_expert(program.machine, 2);
    if (takt_ctx_create(&(takt_ctx_options){0}, &program.adaptive) != TAKT_OK)
        return 1;
    program.blas_count = blas_open(program.blas);
    bench_print_load();
    time_all(&program, only);
    takt_ctx_destroy(program.two);
    takt_ctx_destroy(program.adaptive);
    takt_machine_destroy(program.machine);
    return 0;
}
