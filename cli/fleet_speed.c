/* SPDX-License-Identifier: MIT */
/*
 * fleet_speed.c - how fast this machine is, for finding machines like it.
 *
 * By what its store has, or else by a few runs now, a tenth of a second.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fleet.h"
#include "fleet/speed.h"
#include <takt/takt.h>

enum { edge = 640, elements = 16 << 20, runs = 4 };

static double best_s(takt_ctx *ctx, const takt_call *call)
{
    double best = INFINITY;

    for (int i = 0; i < runs; i++) {
        const uint64_t began_ns = takt__now_ns();
        if (takt_run(ctx, call, NULL) != TAKT_OK)
            return INFINITY;
        best = fmin(best, (double)(takt__now_ns() - began_ns) * 1e-9);
    }
    return best;
}

static void run_now(takt_ctx *ctx, float *x, struct takt_fleet_facts *facts)
{
    const size_t square = (size_t)edge * edge;
    const takt_call product = {.size = sizeof product,
                               .op = takt_op_find("matmul"),
                               .dtype = TAKT_F32,
                               .shape = {.rank = 3, .dim = {edge, edge, edge}},
                               .in = {x, x + square},
                               .out = x + 2 * square,
                               .ld = {edge, edge, edge},
                               .alpha = 1};
    const takt_call sum = {.size = sizeof sum,
                           .op = takt_op_find("add"),
                           .dtype = TAKT_F32,
                           .shape = {.rank = 1, .dim = {elements}},
                           .in = {x, x + elements},
                           .out = x + 2 * (size_t)elements};

    facts->peak =
        takt__fleet_millions(2.0 * edge * edge * edge / best_s(ctx, &product));
    facts->bandwidth =
        takt__fleet_millions(12.0 * elements / best_s(ctx, &sum));
}

/* Nothing of it is learned. */
static void measure_now(struct takt_fleet_facts *facts)
{
    const takt_ctx_options options = {.size = sizeof options,
                                      .policy = TAKT_POLICY_HEURISTIC,
                                      .store = "",
                                      .gpu = "",
                                      .telemetry = ""};
    float *x = malloc(3 * sizeof(float) * elements);
    takt_ctx *ctx;

    if (x == NULL || takt_ctx_create(&options, &ctx) != TAKT_OK) {
        free(x);
        return;
    }
    for (size_t i = 0; i < 3 * (size_t)elements; i++)
        x[i] = 1;
    run_now(ctx, x, facts);
    takt_ctx_destroy(ctx);
    free(x);
}

void fleet_find_speed(struct fleet_asking *asking)
{
    struct takt_fleet_facts *facts = &asking->member.facts;
    struct takt_fleet_pages pages;
    takt_diag diag;

    if (takt__fleet_gather(asking->store, asking->member.machine, &pages,
                           &diag) == TAKT_OK) {
        takt__fleet_speed(&pages, facts);
        takt__fleet_pages_free(&pages);
    }
    if ((facts->peak == 0 || facts->bandwidth == 0) &&
        !option_given(asking->invocation, "machine"))
        measure_now(facts);
}
