/* SPDX-License-Identifier: MIT */
/*
 * bench_kernels.c - our vector kernels beside what users have.
 *
 * Walks the table of kernels, so that a new one is timed without an edit here.
 * Ours: the kernel called directly on one thread (beyond 64K elements the
 * expert, through takt_run()), and the expert on two threads. Theirs: the plain
 * loop as gcc -O3 and -Ofast compile it for this machine, OpenBLAS and BLIS
 * where they have the op, on one thread and on two, and SLEEF. A ratio is the
 * time of the best of theirs over ours: above 1 is a win.
 *
 *     bench_kernels [--full] [--exact] [--op OP,...] [--dtype f32|f64]
 *
 * --exact leaves out -Ofast, which may reorder sums and forget NaNs.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/takt.h>

#include "bench.h"
#include "blas_loops.h"
#include "kernels/partial.h"
#include "plain_loops.h"
#include "sleef_loops.h"

enum { most_ways = 16, most_rows = 128, most_sizes = 16, most_retries = 3 };

static const double goal = 0.95;

/* A reduction of rows, and the one of vectors that it is made of. */
static const struct by_rows {
    const char *op, *of_vectors;
    enum takt_partial_kind kind;
} by_rows[] = {{"row_sum", "sum", TAKT_PARTIAL_SUM},
               {"row_mean", "mean", TAKT_PARTIAL_MEAN},
               {"row_max", "max", TAKT_PARTIAL_MAX}};

static const struct by_rows *find_by_rows(const char *op)
{
    for (size_t i = 0; i < sizeof by_rows / sizeof by_rows[0]; i++)
        if (strcmp(op, by_rows[i].op) == 0)
            return &by_rows[i];
    return NULL;
}

struct trial {
    const struct takt_kernel *kernel;
    const struct by_rows *by_rows; /* NULL: it is not */
    size_t n, rows, cols;
    void *a, *b, *c, *out;
    double p, q;
    takt_ctx *one, *two; /* the expert on so many threads; two may be NULL */
    takt_call call;
};

/* One of theirs, with the trial it is about. */
struct theirs {
    const struct trial *trial;
    const struct plain_loop *loop;
    takt_map_kernel *sleef;
    const struct blas *blas;
    struct blas_call call;
    int threads;
};

/* Two threads of a library may spin long after the call. */
static const double rest_ns = 20e6;

/* ---- ours ------------------------------------------------------------------
 */

/* Reductions of rows have no kernel: the one of vectors runs for each. */
static void reduce_rows(const struct trial *t)
{
    const bool is_f64 = t->kernel->dtype == TAKT_KERNEL_f64;
    const size_t size = is_f64 ? sizeof(double) : sizeof(float);
    struct takt_partial partial;

    for (size_t i = 0; i < t->rows; i++) {
        t->kernel->run.reduce(t->cols, (char *)t->a + i * t->cols * size, NULL,
                              &partial);
        takt__partial_write(t->by_rows->kind, &partial, is_f64,
                            (char *)t->out + i * size);
    }
}

static void run_kernel(void *self, size_t calls)
{
    const struct trial *t = self;
    const struct takt_kernel *k = t->kernel;
    struct takt_partial partial;

    for (size_t i = 0; i < calls; i++)
        if (t->by_rows != NULL)
            reduce_rows(t);
        else if (k->kind == TAKT_KERNEL_KIND_map)
            k->run.map(t->n, t->a, t->b, t->c, t->out, t->p, t->q);
        else if (k->kind == TAKT_KERNEL_KIND_reduce)
            k->run.reduce(t->n, t->a, t->b, &partial);
        else if (k->kind == TAKT_KERNEL_KIND_rows)
            k->run.rows(t->rows, t->cols, t->a, NULL, NULL, t->out, t->p);
        else if (k->kind == TAKT_KERNEL_KIND_bias)
            k->run.bias(t->rows, t->cols, t->a, t->b, t->out);
        else if (k->kind == TAKT_KERNEL_KIND_columns)
            k->run.columns(t->rows, t->cols, t->a, t->cols, t->out);
        else
            k->run.transpose(t->rows, t->cols, t->a, t->cols, t->out, t->rows);
}

/* Past the caches Takt takes another kernel; its rule is asked, not copied. */
static void run_one(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        takt_run(t->one, &t->call, NULL);
}

static void run_two(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        takt_run(t->two, &t->call, NULL);
}

/* ---- theirs ----------------------------------------------------------------
 */

static void run_loop(void *self, size_t calls)
{
    const struct theirs *theirs = self;
    const struct trial *t = theirs->trial;
    const struct plain_loop *loop = theirs->loop;
    struct takt_partial partial;

    for (size_t i = 0; i < calls; i++)
        if (loop->map != NULL)
            loop->map(t->n, t->a, t->b, t->c, t->out, t->p, t->q);
        else if (loop->reduce != NULL)
            loop->reduce(t->n, t->a, t->b, &partial);
        else if (loop->rows != NULL)
            loop->rows(t->rows, t->cols, t->a, NULL, NULL, t->out, t->p);
        else if (loop->bias != NULL)
            loop->bias(t->rows, t->cols, t->a, t->b, t->out);
        else if (loop->columns != NULL)
            loop->columns(t->rows, t->cols, t->a, t->cols, t->out);
        else
            loop->transpose(t->rows, t->cols, t->a, t->cols, t->out, t->rows);
}

static void run_sleef(void *self, size_t calls)
{
    const struct theirs *theirs = self;
    const struct trial *t = theirs->trial;

    for (size_t i = 0; i < calls; i++)
        theirs->sleef(t->n, t->a, NULL, NULL, t->out, 0, 0);
}

static void set_threads(void *self)
{
    const struct theirs *theirs = self;

    theirs->blas->set_threads(theirs->threads);
}

static void run_blas(void *self, size_t calls)
{
    const struct theirs *theirs = self;

    for (size_t i = 0; i < calls; i++)
        blas_run(theirs->blas, &theirs->call);
}

/* ---- a cell: one op at one size --------------------------------------------
 */

struct cell {
    const struct takt_kernel *kernel;
    size_t n;
    double one_ns, two_ns;
    double theirs_ns;
    char theirs[24]; /* who that was */
    double sleef_ns; /* 0: it has none */
};

struct program {
    takt_machine *machine;
    takt_ctx *one, *two;
    struct blas blas[2];
    size_t blas_count;
    const char *op, *dtype; /* wanted; NULL: all */
    bool is_exact;          /* without -Ofast */
    size_t last;            /* elements at most */
    struct cell *cells;
    size_t cell_count;
    struct takt_kernel rows[7]; /* reductions of rows, which cells point to */
    size_t row_count;
};

static double best_of_ours(const struct cell *cell)
{
    return cell->two_ns > 0 && cell->two_ns < cell->one_ns ? cell->two_ns
                                                           : cell->one_ns;
}

static struct bench_way *add_way(struct bench_way *ways, size_t *count,
                                 const char *name, void *self)
{
    struct bench_way *way = &ways[(*count)++];

    *way = (struct bench_way){.name = name, .self = self};
    return way;
}

static void add_loop(const struct plain_loop *list, const char *name,
                     const struct trial *t, struct theirs *theirs,
                     struct bench_way *ways, size_t *count)
{
    for (const struct plain_loop *loop = list; loop->op != NULL; loop++)
        if (strcmp(loop->op, t->kernel->op) == 0 &&
            loop->dtype == t->kernel->dtype) {
            *theirs = (struct theirs){.trial = t, .loop = loop};
            add_way(ways, count, name, theirs)->run = run_loop;
        }
}

static void add_blas(const struct program *program, const struct trial *t,
                     struct theirs *theirs, struct bench_way *ways,
                     size_t *count)
{
    static const char *const names[2][2] = {{"OpenBLAS", "OpenBLAS x2"},
                                            {"BLIS", "BLIS x2"}};

    for (size_t i = 0; i < program->blas_count; i++) {
        const struct blas *blas = &program->blas[i];
        const bool is_blis = strcmp(blas->name, "BLIS") == 0;
        blas->set_threads(1);
        const struct blas_call call = {
            t->kernel->op, t->kernel->dtype == TAKT_KERNEL_f64,
            (int)t->n,     t->p,
            t->a,          t->b,
            t->out};
        if (!blas_run(blas, &call))
            return;
        for (int threads = 1; threads <= 2; threads++, theirs++) {
            if (threads > 1 && t->n < 4096)
                continue; /* they use one thread as well */
            *theirs = (struct theirs){
                .trial = t, .blas = blas, .call = call, .threads = threads};
            struct bench_way *way =
                add_way(ways, count, names[is_blis][threads - 1], theirs);
            way->run = run_blas;
            way->prepare = set_threads;
            way->rest_ns = threads > 1 ? rest_ns : 0;
        }
    }
}

static size_t add_ways(const struct program *program, struct trial *t,
                       struct theirs *theirs, struct bench_way *ways)
{
    size_t count = 0;

    add_way(ways, &count, "kernel", t)->run =
        t->n > 1u << 16 ? run_one : run_kernel;
    add_loop(plain_loops_o3, "gcc -O3", t, &theirs[0], ways, &count);
    if (!program->is_exact)
        add_loop(plain_loops_ofast, "gcc -Ofast", t, &theirs[1], ways, &count);
    takt_map_kernel *sleef =
        sleef_loop(t->kernel->op, t->kernel->dtype,
                   takt_machine_best_isa(program->machine));
    if (sleef != NULL) {
        theirs[2] = (struct theirs){.trial = t, .sleef = sleef};
        add_way(ways, &count, "SLEEF", &theirs[2])->run = run_sleef;
    }
    add_blas(program, t, &theirs[3], ways, &count);
    if (t->two != NULL && t->n >= 1024)
        add_way(ways, &count, "two", t)->run = run_two;
    return count;
}

/* A slow spell can outlast a contest: what falls short gets another one. */
static bool falls_short(const struct cell *cell)
{
    return cell->theirs_ns / best_of_ours(cell) < goal;
}

static void judge(const struct bench_way *ways, size_t count, struct cell *cell)
{
    cell->theirs_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const struct bench_way *way = &ways[i];
        if (strcmp(way->name, "kernel") == 0)
            cell->one_ns = way->best_ns;
        else if (strcmp(way->name, "two") == 0)
            cell->two_ns = way->best_ns;
        else if (cell->theirs_ns == 0 || way->best_ns < cell->theirs_ns) {
            cell->theirs_ns = way->best_ns;
            snprintf(cell->theirs, sizeof cell->theirs, "%s", way->name);
        }
        if (strcmp(way->name, "SLEEF") == 0)
            cell->sleef_ns = way->best_ns;
    }
}

/* ---- operands --------------------------------------------------------------
 */

static void *make(const struct trial *t)
{
    return t->kernel->dtype == TAKT_KERNEL_f64 ? bench_doubles(t->n)
                                               : bench_floats(t->n);
}

/* Roots and logarithms of what is positive. */
static void make_positive(const struct trial *t, void *array)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->kernel->dtype == TAKT_KERNEL_f64)
            ((double *)array)[i] = fabs(((double *)array)[i]);
        else
            ((float *)array)[i] = fabsf(((float *)array)[i]);
}

static void set_values(struct trial *t)
{
    const char *op = t->kernel->op;

    t->p = 0.75;
    t->q = 1.25;
    if (strcmp(op, "axpy") == 0)
        t->p = 1e-6; /* y must stay in range */
    if (strcmp(op, "layernorm") == 0)
        t->p = 1e-5;
    if (strcmp(op, "sqrt") == 0 || strncmp(op, "log", 3) == 0)
        make_positive(t, t->a);
}

static void set_sizes(struct trial *t)
{
    t->rows = 1;
    t->cols = t->n;
    if (t->kernel->kind == TAKT_KERNEL_KIND_rows && t->n > 1024) {
        t->cols = 1024;
        t->rows = t->n / t->cols;
    }
    if (t->kernel->kind == TAKT_KERNEL_KIND_transpose ||
        t->kernel->kind == TAKT_KERNEL_KIND_bias ||
        t->kernel->kind == TAKT_KERNEL_KIND_columns) {
        t->rows = t->cols = (size_t)sqrt((double)t->n);
        t->n = t->rows * t->cols;
    }
}

static void describe(struct trial *t)
{
    takt_call *call = &t->call;

    call->op = takt_op_find(t->kernel->op);
    call->dtype = (takt_dtype)t->kernel->dtype;
    call->in[0] = t->a;
    call->in[1] = call->op->inputs > 1 ? t->b : NULL;
    call->in[2] = call->op->inputs > 2 ? t->c : NULL;
    call->out = t->out;
    call->alpha = t->p;
    call->beta = t->q;
    call->shape.rank = call->op->rank_min;
    call->shape.dim[0] = call->shape.rank == 1 ? t->n : t->rows;
    call->shape.dim[1] = t->cols;
}

static void time_cell(struct program *program, const struct takt_kernel *kernel,
                      size_t n)
{
    struct cell *cell = &program->cells[program->cell_count++];
    struct trial t = {.kernel = kernel,
                      .by_rows = find_by_rows(kernel->op),
                      .n = n,
                      .one = program->one,
                      .two = program->two};
    struct theirs theirs[most_ways];
    struct bench_way ways[most_ways];

    set_sizes(&t);
    t.a = make(&t);
    t.b = make(&t);
    t.c = make(&t);
    t.out = make(&t);
    if (strcmp(kernel->op, "axpy") == 0) { /* y is read and written */
        free(t.b);
        t.b = t.out;
    }
    set_values(&t);
    describe(&t);
    *cell = (struct cell){.kernel = kernel, .n = n};
    const size_t count = add_ways(program, &t, theirs, ways);
    const double budget_ns = n >= 1u << 20 ? 40e6 : 4e6;
    bench_contest(ways, count, budget_ns);
    judge(ways, count, cell);
    for (int i = 0; i < most_retries && falls_short(cell); i++) {
        bench_again(ways, count, budget_ns);
        judge(ways, count, cell);
    }
    free(t.a);
    if (t.b != t.out)
        free(t.b);
    free(t.c);
    free(t.out);
}

/* ---- output ----------------------------------------------------------------
 */

static size_t list_sizes(const struct program *program, size_t *sizes)
{
    size_t count = 0;

    for (size_t n = 16; n <= program->last; n *= 4)
        sizes[count++] = n;
    return count;
}

static void print_head(const size_t *sizes, size_t count)
{
    char text[24];

    printf("\nbest of theirs / ours; 1: one thread, +: the better of one and "
           "two\n%-14s",
           "");
    for (size_t i = 0; i < count; i++)
        printf("%7s", bench_size(sizes[i], text));
    putchar('\n');
}

static void print_row(const struct cell *cells, size_t count)
{
    static const char *const dtypes[] = {"f32", "f64"};

    printf("%-9s %s 1", cells[0].kernel->op, dtypes[cells[0].kernel->dtype]);
    for (size_t i = 0; i < count; i++)
        printf(" %6.2f", cells[i].theirs_ns / cells[i].one_ns);
    printf("\n%-13s +", "");
    for (size_t i = 0; i < count; i++)
        printf(" %6.2f", cells[i].theirs_ns / best_of_ours(&cells[i]));
    putchar('\n');
    if (cells[0].sleef_ns > 0) {
        printf("%-15s", "  SLEEF / 1");
        for (size_t i = 0; i < count; i++)
            printf(" %6.2f", cells[i].sleef_ns / cells[i].one_ns);
        putchar('\n');
    }
    fflush(stdout);
}

static int compare_cells(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    const double one = x->theirs_ns / best_of_ours(x);
    const double other = y->theirs_ns / best_of_ours(y);
    return (one > other) - (one < other);
}

static void print_worst(struct program *program)
{
    struct bench_mean mean = {0};
    size_t short_of = 0;
    char text[24];

    qsort(program->cells, program->cell_count, sizeof program->cells[0],
          compare_cells);
    for (size_t i = 0; i < program->cell_count; i++) {
        const struct cell *c = &program->cells[i];
        bench_mean_add(&mean, c->theirs_ns / best_of_ours(c));
        short_of += falls_short(c);
    }
    printf("\n%zu cells, geometric mean %.2f; %zu below %.2f:\n",
           program->cell_count, bench_mean_of(&mean), short_of, goal);
    for (size_t i = 0; i < short_of; i++) {
        const struct cell *c = &program->cells[i];
        printf("  %-9s %s %6s  %5.2f  ours %.1f ns, %s %.1f ns\n",
               c->kernel->op, c->kernel->dtype ? "f64" : "f32",
               bench_size(c->n, text), c->theirs_ns / best_of_ours(c),
               best_of_ours(c), c->theirs, c->theirs_ns);
    }
}

static bool is_listed(const char *list, const char *op)
{
    const size_t length = strlen(op);

    for (; *list != '\0'; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && strncmp(list, op, length) == 0)
            return true;
    return false;
}

static bool is_wanted(const struct program *program,
                      const struct takt_kernel *kernel)
{
    return kernel->isa ==
               (enum takt_kernel_isa)takt_machine_best_isa(program->machine) &&
           (kernel->kind == TAKT_KERNEL_KIND_map ||
            kernel->kind == TAKT_KERNEL_KIND_reduce ||
            kernel->kind == TAKT_KERNEL_KIND_rows ||
            kernel->kind == TAKT_KERNEL_KIND_bias ||
            kernel->kind == TAKT_KERNEL_KIND_columns ||
            kernel->kind == TAKT_KERNEL_KIND_transpose) &&
           (program->op == NULL || is_listed(program->op, kernel->op)) &&
           (program->dtype == NULL || (strcmp(program->dtype, "f64") == 0) ==
                                          (kernel->dtype == TAKT_KERNEL_f64));
}

static void time_op(struct program *program, const struct takt_kernel *kernel,
                    const size_t *sizes, size_t count)
{
    const struct cell *first = &program->cells[program->cell_count];

    if (!is_wanted(program, kernel))
        return;
    for (size_t i = 0; i < count; i++)
        time_cell(program, kernel, sizes[i]);
    print_row(first, count);
}

/* The kernel of vectors, under the name of the op that applies it to rows. */
static void time_by_rows(struct program *program,
                         const struct takt_kernel *kernel, const size_t *sizes,
                         size_t count)
{
    for (size_t i = 0; i < sizeof by_rows / sizeof by_rows[0]; i++)
        if (strcmp(kernel->op, by_rows[i].of_vectors) == 0 &&
            kernel->kind == TAKT_KERNEL_KIND_reduce) {
            struct takt_kernel *rows = &program->rows[program->row_count];
            *rows = *kernel;
            rows->op = by_rows[i].op;
            rows->kind = TAKT_KERNEL_KIND_columns; /* a matrix to a vector */
            if (is_wanted(program, rows))
                program->row_count++, time_op(program, rows, sizes, count);
        }
}

static void time_all(struct program *program)
{
    size_t sizes[most_sizes], count;
    const struct takt_kernel *table = takt__kernel_table(&count);
    const size_t size_count = list_sizes(program, sizes);

    print_head(sizes, size_count);
    for (size_t i = 0; i < count; i++)
        time_op(program, &table[i], sizes, size_count);
    for (size_t i = 0; i < count; i++)
        time_by_rows(program, &table[i], sizes, size_count);
    print_worst(program);
}

static bool read_words(int argc, char **argv, struct program *program)
{
    program->last = (size_t)1 << 24;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--full") == 0)
            program->last = (size_t)1 << 26;
        else if (strcmp(argv[i], "--exact") == 0)
            program->is_exact = true;
        else if (strcmp(argv[i], "--op") == 0 && i + 1 < argc)
            program->op = argv[++i];
        else if (strcmp(argv[i], "--dtype") == 0 && i + 1 < argc)
            program->dtype = argv[++i];
        else
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct program program = {0};

    if (!read_words(argc, argv, &program)) {
        fputs("usage: bench_kernels [--full] [--exact] [--op OP,...] "
              "[--dtype f32|f64]\n",
              stderr);
        return 2;
    }
    if (takt_machine_create(NULL, &program.machine) != TAKT_OK)
        return 1;
    program.one = bench_open_expert(program.machine, 1);
    program.two = bench_open_expert(program.machine, 2);
    program.blas_count = blas_open(program.blas);
    program.cells =
        calloc((size_t)most_rows * most_sizes, sizeof program.cells[0]);
    if (program.cells == NULL || program.one == NULL)
        return 1;
    bench_print_load();
    time_all(&program);
    free(program.cells);
    takt_ctx_destroy(program.two);
    takt_ctx_destroy(program.one);
    takt_machine_destroy(program.machine);
    return 0;
}
