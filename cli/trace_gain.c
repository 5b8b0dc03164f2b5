/* SPDX-License-Identifier: MIT */
/*
 * trace_gain.c - what one thread of SIMD would have taken, by the model.
 *
 * The same call comes again and again, so answers are kept.
 */
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "trace.h"

enum { most_estimates = 128 };

void gauge_open(struct gauge *gauge, const char *store)
{
    /* No other experts are asked about, so none are loaded. */
    const takt_ctx_options options = {.store = store,
                                      .store_is_foreign =
                                          is_foreign_store(store),
                                      .exploration = -1,
                                      .blas = "",
                                      .gpu = "",
                                      .telemetry = ""};
    const char *name;

    *gauge = (struct gauge){.price = calloc(most_prices, sizeof(struct price))};
    if (gauge->price == NULL ||
        takt_ctx_create(&options, &gauge->ctx) != TAKT_OK)
        return;
    for (size_t i = 0; (name = takt_ctx_expert(gauge->ctx, i, NULL)) != NULL;
         i++)
        if (gauge->expert[0] == '\0' && strncmp(name, "simd.", 5) == 0 &&
            expert_threads(name) == 1) /* the widest comes first */
            snprintf(gauge->expert, sizeof gauge->expert, "%s", name);
}

void gauge_close(struct gauge *gauge)
{
    takt_ctx_destroy(gauge->ctx);
    free(gauge->price);
}

static double ask(struct gauge *gauge, const takt_event *event)
{
    const takt_request request = {.op = takt_op_find(event->op),
                                  .dtype = event->dtype,
                                  .shape = event->shape};
    takt_estimate all[most_estimates] = {{.size = sizeof all[0]}};
    size_t count;

    if (request.op == NULL || takt_explain(gauge->ctx, &request, all,
                                           most_estimates, &count) != TAKT_OK)
        return -1;
    for (size_t i = 0; i < count && i < most_estimates; i++)
        if (strcmp(all[i].expert, gauge->expert) == 0)
            return all[i].predicted_s;
    return -1;
}

static size_t hash_of(const takt_event *event)
{
    uint64_t hash = (uint64_t)event->dtype + event->shape.rank;

    for (const char *at = event->op; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    for (unsigned i = 0; i < event->shape.rank; i++)
        hash = (hash ^ event->shape.dim[i]) * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32) & (most_prices - 1);
}

static bool is_price_of(const struct price *price, const takt_event *event)
{
    return price->dtype == event->dtype &&
           price->shape.rank == event->shape.rank &&
           memcmp(price->shape.dim, event->shape.dim,
                  event->shape.rank * sizeof *event->shape.dim) == 0 &&
           strcmp(price->op, event->op) == 0;
}

double one_thread_s(struct gauge *gauge, const takt_event *event)
{
    if (gauge->ctx == NULL || gauge->expert[0] == '\0' ||
        event->shape.rank == 0 || strlen(event->op) >= sizeof gauge->price->op)
        return -1;
    struct price *price = &gauge->price[hash_of(event)];
    if (!is_price_of(price, event)) {
        *price = (struct price){.dtype = event->dtype,
                                .shape = event->shape,
                                .seconds = ask(gauge, event)};
        memcpy(price->op, event->op, strlen(event->op) + 1);
    }
    return price->seconds;
}
