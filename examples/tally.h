/* SPDX-License-Identifier: MIT */
/*
 * tally.h - for the examples: who ran the calls, and what that gained.
 *
 * Every few calls, the same call is made once more, routed and on each expert
 * of the context in turn, with its result thrown away. So what routing gained
 * is measured on the calls of the program itself, under the same load.
 */
#ifndef TAKT_EXAMPLES_TALLY_H
#define TAKT_EXAMPLES_TALLY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <takt/takt.h>

enum { tally_experts = 32, tally_every = 7 };

struct tally_share {
    char expert[TAKT_EXPERT_NAME_MAX];
    double calls, seconds;
};

struct tally {
    takt_ctx *ctx;
    struct tally_share share[tally_experts]; /* of the program's own calls */
    size_t count;
    double calls, seconds, explored;

    void *thrown_away;             /* where compared calls write */
    double compared, routed_s;     /* calls made again, routed ... */
    double fixed_s[tally_experts]; /* ... and on each expert */
    int is_unable[tally_experts];  /* it could not run all of them */
};

static inline double tally_now(void)
{
    struct timespec now;

    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void tally_add(struct tally *tally, const takt_decision *decision)
{
    size_t i = 0;

    while (i < tally->count &&
           strcmp(tally->share[i].expert, decision->expert) != 0)
        i++;
    if (i == tally_experts)
        return;
    if (i == tally->count) {
        memset(&tally->share[i], 0, sizeof tally->share[i]);
        strcpy(tally->share[i].expert, decision->expert);
        tally->count++;
    }
    tally->share[i].calls++;
    tally->share[i].seconds += decision->actual_s;
    tally->calls++;
    tally->seconds += decision->actual_s;
    tally->explored += decision->reason == TAKT_REASON_EXPLORE;
}

/* The same call on everybody, beginning with another one each time. */
static inline takt_status tally_compare(struct tally *tally,
                                        const takt_call *call)
{
    takt_call again = *call;
    size_t experts = 0;

    while (experts < tally_experts &&
           takt_ctx_expert(tally->ctx, experts, NULL) != NULL)
        experts++;
    again.out = tally->thrown_away;
    for (int i = 0; i < 4; i++) /* what is in place stays in place */
        if (call->in[i] == call->out)
            again.in[i] = tally->thrown_away;
    for (size_t i = 0; i <= experts; i++) {
        const size_t who = (i + (size_t)tally->compared) % (experts + 1);
        const double start = tally_now();
        const takt_status status = who == experts
                                       ? takt_run(tally->ctx, &again, NULL)
                                       : takt_run_on(tally->ctx, &again, who);
        const double seconds = tally_now() - start;
        if (who == experts && status != TAKT_OK)
            return status;
        if (who == experts)
            tally->routed_s += seconds;
        else if (status == TAKT_OK)
            tally->fixed_s[who] += seconds;
        else
            tally->is_unable[who] = 1;
    }
    tally->compared++;
    return TAKT_OK;
}

/* Runs a call of the program: routed, counted, and now and then compared. */
static inline takt_status tally_run(struct tally *tally, const takt_call *call)
{
    takt_decision decision = {.size = sizeof decision};
    takt_status status = takt_run(tally->ctx, call, &decision);

    if (status != TAKT_OK)
        return status;
    tally_add(tally, &decision);
    if ((size_t)tally->calls % tally_every == 0)
        status = tally_compare(tally, call);
    return status;
}

static inline void tally_print(const struct tally *tally)
{
    printf("%.0f calls took %.2f ms, %.0f of them to learn:\n", tally->calls,
           tally->seconds * 1e3, tally->explored);
    for (size_t i = 0; i < tally->count; i++)
        printf("  %-24s %5.1f%% of calls %5.1f%% of time\n",
               tally->share[i].expert,
               100 * tally->share[i].calls / tally->calls,
               100 * tally->share[i].seconds / tally->seconds);
    printf("%.0f of them, made again on everybody in turn: routed %.2f ms\n",
           tally->compared, tally->routed_s * 1e3);
    for (size_t i = 0; i < tally_experts; i++) {
        const char *name = takt_ctx_expert(tally->ctx, i, NULL);
        if (name == NULL)
            break;
        if (tally->is_unable[i] || tally->routed_s <= 0)
            continue;
        printf("  always %-17s %9.2f ms, %.2f times as long\n", name,
               tally->fixed_s[i] * 1e3, tally->fixed_s[i] / tally->routed_s);
    }
}

#endif
