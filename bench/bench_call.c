/* SPDX-License-Identifier: MIT */
/*
 * bench_call.c - what routing adds to a call, in nanoseconds.
 *
 * The bare kernel, the one-line call and takt_run() in turns, on the same
 * operands. The default context gets one thread and no library, so that all
 * three end in the same kernel and the difference is the way to it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <takt/takt.h>

#include "bench.h"
#include "expert/kernel_set.h"

static struct takt_kernel_set kernel_set[TAKT_KERNEL_ISAS];

struct trial {
    const struct takt_kernel_set *kernel_set;
    size_t n; /* elements; of a product: rows and columns */
    float *a, *b, *c;
    takt_call call;
};

static void bare_add(void *self, size_t calls)
{
    const struct trial *t = self;
    takt_map_kernel *kernel = t->kernel_set->map[TAKT_F32][TAKT_OP_add];

    for (size_t i = 0; i < calls; i++)
        kernel(t->n, t->a, t->b, NULL, t->c, 0, 0);
}

static void call_add(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        takt_add_f32(t->n, t->a, t->b, t->c);
}

static void bare_sum(void *self, size_t calls)
{
    const struct trial *t = self;
    takt_reduce_kernel *kernel = t->kernel_set->reduce[TAKT_F32][TAKT_OP_sum];
    struct takt_partial partial;

    for (size_t i = 0; i < calls; i++)
        kernel(t->n, t->a, NULL, &partial);
}

static void call_sum(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        takt_sum_f32(t->n, t->a, t->c);
}

static void bare_matmul(void *self, size_t calls)
{
    const struct trial *t = self;
    const size_t n = t->n;
    const struct takt_gemm_blocks *blocks = &t->kernel_set->blocks[TAKT_F32];
    const struct takt_gemm gemm = {n, n, n,    t->a, n, 1, t->b,
                                   n, 1, t->c, n,    1, 0};
    const size_t room = t->kernel_set->gemm[TAKT_F32]->room(&gemm, blocks);
    void *scratch = room > 0 ? malloc(room) : NULL;

    for (size_t i = 0; i < calls; i++)
        t->kernel_set->gemm[TAKT_F32]->run(&gemm, blocks, scratch);
    free(scratch);
}

static void call_matmul(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        takt_matmul_f32(t->n, t->n, t->n, t->a, t->b, t->c);
}

static void run_call(void *self, size_t calls)
{
    const struct trial *t = self;

    for (size_t i = 0; i < calls; i++)
        takt_run(NULL, &t->call, NULL);
}

static const struct {
    const char *op;
    void (*bare)(void *self, size_t calls);
    void (*call)(void *self, size_t calls);
    size_t first, last, step;
} rows[] = {
    {"add", bare_add, call_add, 16, 65536, 4},
    {"sum", bare_sum, call_sum, 16, 65536, 4},
    {"matmul", bare_matmul, call_matmul, 4, 256, 2},
};

static void describe(const char *op, struct trial *t)
{
    t->call = (takt_call){
        .op = takt_op_find(op), .in = {t->a, t->b}, .out = t->c, .alpha = 1};
    t->call.shape.rank = t->call.op->rank_min;
    for (unsigned i = 0; i < t->call.shape.rank; i++)
        t->call.shape.dim[i] = t->n;
}

static void time_row(size_t row, struct trial *t)
{
    describe(rows[row].op, t);
    struct bench_way ways[] = {
        {.name = "kernel", .run = rows[row].bare, .self = t},
        {.name = "one line", .run = rows[row].call, .self = t},
        {.name = "takt_run", .run = run_call, .self = t},
    };
    bench_contest(ways, 3, 30e6);
    printf("%-8s %6zu %11.1f %11.1f %11.1f %9.1f %9.1f\n", rows[row].op, t->n,
           ways[0].best_ns, ways[1].best_ns, ways[2].best_ns,
           ways[1].best_ns - ways[0].best_ns,
           ways[2].best_ns - ways[0].best_ns);
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "");
    takt_machine *machine;

    setenv("TAKT_THREADS", "1", 1);
    setenv("TAKT_BLAS", "", 1);
    if (takt_machine_create(NULL, &machine) != TAKT_OK)
        return 1;
    const struct takt_gemm_caches caches = {
        machine->l1d_bytes, machine->l2_bytes, machine->l3_bytes};
    takt__kernel_sets_fill(kernel_set, machine->isas, &caches);
    struct trial t = {.kernel_set = &kernel_set[takt_machine_best_isa(machine)],
                      .a = bench_floats(65536),
                      .b = bench_floats(65536),
                      .c = bench_floats(65536)};
    bench_print_load();
    printf("what routing adds, ns per call (best of many samples)\n"
           "%-8s %6s %11s %11s %11s %9s %9s\n",
           "op", "n", "kernel", "one line", "takt_run", "+line", "+run");
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++)
        for (t.n = rows[row].first; t.n <= rows[row].last;
             t.n *= rows[row].step)
            time_row(row, &t);
    free(t.a);
    free(t.b);
    free(t.c);
    takt_machine_destroy(machine);
    return 0;
}
