/* SPDX-License-Identifier: MIT */
/*
 * own_kernels.c - your own code, routed by Takt in two ways.
 *
 * The op is a moving average over 64 elements. First Takt runs it: two
 * functions are given to it, and it finds out which one to call when. Then the
 * program runs it: Takt says on what, and is told what that took.
 */
#include "tally.h"

enum { window = 64, longest = 20000 };

static float in[longest], out[longest];

/* Adds up each window by itself: many operations, all of them alike. */
static takt_status run_direct(const takt_call *call, void *self)
{
    const float *from = call->in[0];
    float *to = call->out;

    (void)self;
    for (size_t i = 0; i + window <= call->shape.dim[0]; i++) {
        float sum = 0;
        for (size_t j = 0; j < window; j++)
            sum += from[i + j];
        to[i] = sum / window;
    }
    return TAKT_OK;
}

/* Adds what enters the window and takes off what leaves it. */
static takt_status run_running(const takt_call *call, void *self)
{
    const float *from = call->in[0];
    float *to = call->out;
    double sum = 0;

    (void)self;
    for (size_t i = 0; i < call->shape.dim[0]; i++) {
        sum += (double)from[i];
        if (i + 1 < window)
            continue;
        to[i + 1 - window] = (float)(sum / window);
        sum -= (double)from[i + 1 - window];
    }
    return TAKT_OK;
}

/* It needs a window to begin with. */
static int can_run_running(const takt_call *call, void *self)
{
    (void)self;
    return call->shape.dim[0] >= window;
}

/* With its work, Takt has an idea of the first call already. */
static takt_work average_work(const takt_shape *shape, takt_dtype dtype,
                              void *self)
{
    const double n = (double)shape->dim[0];

    (void)self;
    return (takt_work){.bytes = 2 * n * (double)takt_dtype_size(dtype),
                       .flops = 2 * n};
}

static takt_status add_experts(takt_ctx *ctx, const takt_op *op)
{
    takt_status status =
        takt_ctx_add_expert(ctx, op,
                            &(takt_expert_spec){.name = "direct",
                                                .backend = TAKT_BACKEND_SCALAR,
                                                .run = run_direct});

    if (status == TAKT_OK)
        status = takt_ctx_add_expert(
            ctx, op,
            &(takt_expert_spec){.name = "running",
                                .backend = TAKT_BACKEND_SCALAR,
                                .run = run_running,
                                .can_run = can_run_running});
    return status;
}

static takt_status let_takt_run(takt_ctx *ctx, const takt_op *op)
{
    struct tally tally = {.ctx = ctx};
    takt_decision decision = {.size = sizeof decision};

    for (int i = 0; i < 300; i++) {
        const takt_call call = {
            .op = op, .shape = {1, {32u << i % 9}}, .in = {in}, .out = out};
        const takt_status status = takt_run(ctx, &call, &decision);
        if (status != TAKT_OK)
            return status;
        tally_add(&tally, &decision);
    }
    puts("Takt ran it on");
    for (size_t i = 0; i < tally.count; i++)
        printf("  %-14s %3.0f times\n", tally.share[i].expert,
               tally.share[i].calls);
    return TAKT_OK;
}

static takt_status run_it_yourself(takt_ctx *ctx, const takt_op *op)
{
    const takt_call call = {
        .op = op, .shape = {1, {longest}}, .in = {in}, .out = out};
    const takt_request request = {.op = op, .shape = call.shape};
    takt_measurement measured = {.request = &request};
    takt_decision decision = {.size = sizeof decision};
    takt_status status = TAKT_OK;

    for (int i = 0; i < 20 && status == TAKT_OK; i++) {
        status = takt_select(ctx, &request, &decision);
        const double start = tally_now();
        if (strcmp(decision.expert, "user.direct") == 0)
            run_direct(&call, NULL);
        else
            run_running(&call, NULL);
        measured.seconds = tally_now() - start;
        measured.expert = decision.expert;
        if (status == TAKT_OK && measured.seconds > 0)
            status = takt_record(ctx, &measured);
    }
    takt_history_row best = {.size = sizeof best};
    if (status == TAKT_OK)
        status = takt_history_best(ctx, measured.request, &best);
    if (status == TAKT_OK)
        printf("you ran it best on %s: %.1f us, by %.0f measurements\n",
               best.expert, best.mean_s * 1e6, best.samples);
    return status;
}

int main(void)
{
    takt_ctx *ctx;
    const takt_op *op;
    takt_status status = takt_ctx_create(NULL, &ctx);

    for (size_t i = 0; i < longest; i++)
        in[i] = (float)(i % 100);
    if (status == TAKT_OK)
        status = takt_ctx_define_op(
            ctx,
            &(takt_op_spec){.name = "moving_average", .work = average_work},
            &op);
    if (status == TAKT_OK)
        status = add_experts(ctx, op);
    if (status == TAKT_OK)
        status = let_takt_run(ctx, op);
    if (status == TAKT_OK)
        status = run_it_yourself(ctx, op);
    if (status != TAKT_OK)
        printf("failed: %s\n", takt_status_text(status));
    takt_ctx_destroy(ctx);
    return status != TAKT_OK;
}
