/* SPDX-License-Identifier: MIT */
/*
 * ask.c - ask Takt where calls would run: ops of the catalogue by shape, an op
 * of your own by the work it declares, and the pure rules without a machine.
 */
#include <stdio.h>

#include <takt/takt.h>

/* A fast Fourier transform of n points: 5 n log2(n) operations. */
static takt_work fft_work(const takt_shape *shape, takt_dtype dtype, void *self)
{
    const double n = (double)shape->dim[0];
    double log2n = 0;

    (void)self;
    for (double size = n; size > 1; size /= 2)
        log2n++;
    return (takt_work){.bytes = 4 * n * (double)takt_dtype_size(dtype),
                       .flops = 5 * n * log2n};
}

static void ask(takt_ctx *ctx, const char *op, takt_shape shape)
{
    const takt_request request = {
        .policy = TAKT_POLICY_MOE,
        .op = takt_ctx_find_op(ctx, op),
        .shape = shape,
    };
    takt_decision decision = {.size = sizeof decision};
    const takt_status status = takt_select(ctx, &request, &decision);

    if (status != TAKT_OK)
        printf("%-8s %s\n", op, takt_status_text(status));
    else
        printf("%-8s %10zu elements: %-6s (%s, %s)\n", op, decision.elements,
               takt_backend_name(decision.backend), decision.expert,
               takt_reason_name(decision.reason));
}

int main(void)
{
    const takt_op_spec fft = {
        .name = "fft", .complexity = TAKT_COMPLEXITY_HIGH, .work = fft_work};
    const takt_op *defined;
    takt_ctx *ctx;

    if (takt_ctx_create(NULL, &ctx) != TAKT_OK ||
        takt_ctx_define_op(ctx, &fft, &defined) != TAKT_OK)
        return 1;
    ask(ctx, "add", (takt_shape){.rank = 1, .dim = {2000000}});
    ask(ctx, "sum", (takt_shape){.rank = 1, .dim = {50000}});
    ask(ctx, "matmul", (takt_shape){.rank = 3, .dim = {512, 512, 512}});
    ask(ctx, "fft", (takt_shape){.rank = 1, .dim = {4096}});
    takt_ctx_destroy(ctx);

    const takt_cost_model model = takt_cost_model_default();
    printf("the 5x rule sends a matmul of 18751 cubed to the %s\n",
           takt_backend_name(
               takt_cost_select_matmul(&model, 18751, 18751, 18751)));
    return 0;
}
