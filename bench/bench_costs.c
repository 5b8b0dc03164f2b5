/* SPDX-License-Identifier: MIT */
/*
 * bench_costs.c - what kernels take for the operations that the catalogue
 * counts, as times what so many multiply-adds take by the rates of the prior.
 *
 * One thread of each instruction set on operands that fit a cache, shortest of
 * many runs. The column `cost` of src/op/ops.def is about the geometric mean of
 * AVX2 and AVX-512 where that is more than moving the operands takes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "decide/decide.h"
#include "op/op_id.h"
#include "tune/operands.h"

enum { elements = 2048, runs = 60, calls = 20, expert_count = 4 };

static const struct {
    const char *name;
    takt_isa isa;
} experts[expert_count] = {{"scalar", TAKT_ISA_SCALAR},
                           {"simd.sse2", TAKT_ISA_SSE2},
                           {"simd.avx2", TAKT_ISA_AVX2},
                           {"simd.avx512", TAKT_ISA_AVX512}};

/* Seconds of a call; 0: there is no such expert here. */
static double time_on(takt_ctx *ctx, const takt_call *call, const char *name)
{
    size_t expert = 0;
    double best_ns = INFINITY;

    while (takt_ctx_expert(ctx, expert, NULL) != NULL &&
           strcmp(takt_ctx_expert(ctx, expert, NULL), name) != 0)
        expert++;
    for (int run = 0; run < runs; run++) {
        const double start = bench_now_ns();
        for (int i = 0; i < calls; i++)
            if (takt_run_on(ctx, call, expert) != TAKT_OK)
                return 0;
        best_ns = fmin(best_ns, (bench_now_ns() - start) / calls);
    }
    return best_ns * 1e-9;
}

static double cost_of(double seconds, const takt_work *work, takt_isa isa)
{
    static const takt_machine machine = {.l2_bytes = 1 << 20,
                                         .l3_bytes = 32 << 20};
    const struct takt_expert expert = {.isa = isa, .threads = 1};
    const struct takt_rates rates = takt__prior_rates(&expert, &machine);

    return (seconds - rates.call_s) / (work->flops * rates.s_per_flop);
}

static void report(takt_ctx *ctx, const takt_op *op, takt_dtype dtype)
{
    const takt_shape shape = {.rank = 1, .dim = {elements}};
    struct takt_lengths lengths;
    takt_call call;
    takt_work work;

    if (takt__operands_make(op, dtype, &shape, &call, &lengths) != TAKT_OK ||
        takt_op_work(op, dtype, &shape, &work) != TAKT_OK)
        exit(2);
    printf("%-10s %s  %9.0f", op->name, takt_dtype_name(dtype),
           takt__op_entry(op)->cost[dtype]);
    for (int i = 0; i < expert_count; i++) {
        const double seconds = time_on(ctx, &call, experts[i].name);
        printf("  %11.2f",
               seconds > 0 ? cost_of(seconds, &work, experts[i].isa) : NAN);
    }
    printf("\n");
    takt__operands_free(&call);
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "");
    takt_ctx *ctx;

    if (takt_ctx_create(&(takt_ctx_options){.store = ""}, &ctx) != TAKT_OK)
        return 2;
    bench_print_load();
    printf("%-10s       catalogue", "");
    for (int i = 0; i < expert_count; i++)
        printf("  %11s", experts[i].name);
    printf("\n");
    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        const bool is_vector =
            strcmp(op->shape, "N") == 0 && takt__op_entry(op)->flops > 0;
        for (int dtype = TAKT_F32; dtype <= TAKT_F64 && is_vector; dtype++)
            if ((op->dtypes >> dtype & 1) != 0)
                report(ctx, op, (takt_dtype)dtype);
    }
    takt_ctx_destroy(ctx);
    return 0;
}
