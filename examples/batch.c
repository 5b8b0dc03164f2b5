/* SPDX-License-Identifier: MIT */
/*
 * batch.c - a job of many ops in many sizes, from a cold start.
 *
 * The context keeps nothing (its store is ""), so it begins with what is known
 * of the processor alone. The job is done in two halves: the first one pays
 * for learning, the second one has the use of it.
 */
#include <math.h>

#include "tally.h"

enum { longest = 1 << 18, calls = 4000 };

static float a[longest], b[longest], out[longest];

/* As likely in each power of two, from 64 up. */
static size_t random_size(size_t most)
{
    const double share = (double)rand() / RAND_MAX;
    return (size_t)(64 * pow((double)most / 64, share));
}

static takt_call random_call(void)
{
    static const char *const maps[] = {"add",  "mul", "exp",
                                       "tanh", "sum", "dot"};
    const size_t n = random_size(longest), side = random_size(1 << 12) / 24;
    takt_call call = {.in = {a, b}, .out = out, .alpha = 1};

    switch (rand() % 4) {
    case 0:
        call.op = takt_op_find("matmul");
        call.shape = (takt_shape){3, {side, side, side}};
        break;
    case 1:
        call.op = takt_op_find("softmax");
        call.shape = (takt_shape){2, {n / 32, 32}};
        break;
    default:
        call.op = takt_op_find(maps[rand() % 6]);
        call.shape = (takt_shape){1, {n}};
    }
    return call;
}

static takt_status run_half(takt_ctx *ctx, const char *name)
{
    static float thrown_away[longest];
    struct tally tally = {.ctx = ctx, .thrown_away = thrown_away};
    takt_status status = TAKT_OK;

    for (int i = 0; i < calls / 2 && status == TAKT_OK; i++) {
        const takt_call call = random_call();
        status = tally_run(&tally, &call);
    }
    printf("%s half: ", name);
    if (status == TAKT_OK)
        tally_print(&tally);
    else
        printf("failed: %s\n", takt_status_text(status));
    return status;
}

int main(void)
{
    takt_ctx *ctx;
    takt_learning learning = {.samples = 0};
    takt_status status =
        takt_ctx_create(&(takt_ctx_options){.store = ""}, &ctx);

    for (size_t i = 0; i < longest; i++) {
        a[i] = sinf((float)i);
        b[i] = cosf((float)i);
    }
    if (status == TAKT_OK)
        status = run_half(ctx, "first");
    if (status == TAKT_OK)
        status = run_half(ctx, "second");
    if (status == TAKT_OK)
        status = takt_ctx_learning(ctx, &learning);
    printf("learned from %llu calls; trying others took %.2f ms\n",
           (unsigned long long)learning.samples, learning.explored_s * 1e3);
    takt_ctx_destroy(ctx);
    return status != TAKT_OK;
}
