/* SPDX-License-Identifier: MIT */
/*
 * collect.h - a sink that keeps what it gets, for tests to look at.
 */
#pragma once

#include <pthread.h>

#include "support/tap.h"
#include "takt/takt.h"

enum { most_kept = 20000 };

struct kept_event {
    takt_event event; /* its strings are not to be used: */
    char op[32], expert[32], runner_up[32], refused[32], device[64];
};

/* What metrics said. */
struct gathered {
    uint64_t calls, durations, decisions[TAKT_REASONS], told, dropped;
    uint64_t explorations, fallbacks, drift_alarms;
    double duration_s;
    int is_hot;
    uint64_t times_hot;
};

struct collection {
    pthread_mutex_t lock;
    unsigned count;   /* of calls; the first most_kept are kept */
    unsigned sampled; /* of those: slow or drawn */
    unsigned drifts;  /* on a busy machine there may be some at any time */
    struct kept_event drift; /* the last one */
    struct kept_event *kept;
    int metrics_count, flushes, closes;
    struct gathered latest;  /* metrics come at any time: */
    struct gathered metrics; /* those of the last collect_all() */
    const char *of;          /* the op whose calls are wanted */
    int leaves_after;        /* so many events; 0: never */
    struct collection *next;
};

static struct collection *first_collection;

static inline void keep(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
}

static inline void keep_event(struct kept_event *kept, const takt_event *event)
{
    kept->event = *event;
    keep(kept->op, sizeof kept->op, event->op);
    keep(kept->expert, sizeof kept->expert, event->expert);
    keep(kept->runner_up, sizeof kept->runner_up, event->runner_up);
    keep(kept->refused, sizeof kept->refused, event->refused);
    keep(kept->device, sizeof kept->device, event->device);
}

static int collect_event(void *self, const takt_event *event)
{
    struct collection *all = self;

    pthread_mutex_lock(&all->lock);
    if (event->kind == TAKT_EVENT_DRIFT) {
        keep_event(&all->drift, event);
        all->drifts++;
        pthread_mutex_unlock(&all->lock);
        return 0;
    }
    if (all->count < most_kept)
        keep_event(&all->kept[all->count], event);
    all->sampled += (event->told & (TAKT_TOLD_SLOW | TAKT_TOLD_DRAWN)) != 0;
    const int leaves =
        ++all->count == (unsigned)all->leaves_after && all->leaves_after > 0;
    pthread_mutex_unlock(&all->lock);
    return leaves;
}

static struct gathered gather(const takt_metrics *metrics, const char *of)
{
    struct gathered sum = {.told = metrics->told,
                           .dropped = metrics->dropped,
                           .explorations = metrics->explorations,
                           .fallbacks = metrics->fallbacks,
                           .drift_alarms = metrics->drift_alarms};

    memcpy(sum.decisions, metrics->decisions, sizeof sum.decisions);
    for (size_t i = 0; i < metrics->op_count; i++)
        if (of == NULL || strcmp(metrics->op[i].op, of) == 0) {
            sum.calls += metrics->op[i].calls;
            sum.is_hot = metrics->op[i].is_hot;
            sum.times_hot = metrics->op[i].times_hot;
        }
    for (size_t i = 0; i < metrics->duration_count; i++) {
        const takt_duration_metric *duration = &metrics->duration[i];
        uint64_t in_classes = 0;
        for (int c = 0; c <= TAKT_DURATION_BOUNDS; c++)
            in_classes += duration->in_class[c];
        EXPECT_INT(in_classes, duration->calls);
        EXPECT(duration->least_s <= duration->most_s);
        if (of != NULL && strcmp(duration->op, of) != 0)
            continue;
        sum.durations += duration->calls;
        sum.duration_s += duration->seconds;
    }
    return sum;
}

static int collect_metrics(void *self, const takt_metrics *metrics)
{
    struct collection *all = self;

    pthread_mutex_lock(&all->lock);
    all->metrics_count++;
    all->latest = gather(metrics, all->of);
    pthread_mutex_unlock(&all->lock);
    return 0;
}

static void collect_flush(void *self, unsigned deadline_ms)
{
    struct collection *all = self;
    EXPECT(deadline_ms > 0);
    all->flushes++;
}

static void collect_close(void *self, unsigned deadline_ms)
{
    struct collection *all = self;
    (void)deadline_ms;
    all->closes++;
}

static void collect_report(void *self, takt_sink_report *out)
{
    struct collection *all = self;
    pthread_mutex_lock(&all->lock);
    *out = (takt_sink_report){.name = "test", .sent = all->count};
    pthread_mutex_unlock(&all->lock);
}

static inline struct collection *collection_make(const char *of)
{
    struct collection *all = calloc(1, sizeof *all);

    REQUIRE(all != NULL);
    all->kept = calloc(most_kept, sizeof *all->kept);
    REQUIRE(all->kept != NULL);
    pthread_mutex_init(&all->lock, NULL);
    all->of = of;
    all->next = first_collection;
    first_collection = all;
    return all;
}

static inline void collection_free(struct collection *all)
{
    struct collection **at = &first_collection;

    while (*at != all)
        at = &(*at)->next;
    *at = all->next;
    free(all->kept);
    free(all);
}

static inline takt_sink sink_of(struct collection *all)
{
    return (takt_sink){.self = all,
                       .metrics_ms = 50,
                       .event = collect_event,
                       .metrics = collect_metrics,
                       .flush = collect_flush,
                       .close = collect_close,
                       .report = collect_report};
}

/* Everything that was left until now is in the collections then. */
static inline void collect_all(takt_ctx *ctx)
{
    REQUIRE(takt_ctx_flush(ctx) == TAKT_OK);
    for (struct collection *at = first_collection; at != NULL; at = at->next) {
        pthread_mutex_lock(&at->lock);
        at->metrics = at->latest;
        pthread_mutex_unlock(&at->lock);
    }
}
