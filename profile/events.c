/* SPDX-License-Identifier: MIT */
#include "profile/events.h"

#include <stdlib.h>

enum { DEEPEST = 4096 };

/* The stretches that are open, outermost first. */
struct open_events {
    struct {
        double to;
        int place;
    } at[DEEPEST];
    size_t depth;
    double now;
};

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

/* By thread and time; of those that begin together, the longest first. */
static int compare(const void *left, const void *right)
{
    const struct takt_trace_event *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->from != b->from)
        return compare_numbers(a->from, b->from);
    if (!a->is_end && !b->is_end && a->to != b->to)
        return compare_numbers(b->to, a->to);
    return a->order < b->order ? -1 : a->order > b->order;
}

static void pass_time(const struct takt_profile_reading *reading,
                      struct open_events *open, double until)
{
    if (open->depth > 0)
        takt__profile_add(reading, open->at[open->depth - 1].place,
                          until - open->now);
    open->now = until;
}

/* Closes what ends before. */
static void close_until(const struct takt_profile_reading *reading,
                        struct open_events *open, double from)
{
    while (open->depth > 0 && open->at[open->depth - 1].to <= from) {
        pass_time(reading, open, open->at[open->depth - 1].to);
        open->depth--;
    }
    pass_time(reading, open, from);
}

static void push(struct open_events *open, const struct takt_trace_event *event)
{
    int place = event->place;
    double to = event->to;

    if (open->depth == DEEPEST)
        return;
    if (open->depth > 0) {
        if (place == TAKT_FRAME_FOREIGN)
            place = open->at[open->depth - 1].place;
        if (to > open->at[open->depth - 1].to)
            to = open->at[open->depth - 1].to; /* they lie in each other */
    }
    open->at[open->depth].place = place;
    open->at[open->depth++].to = to;
}

/* What was never closed has no end: its own time is not known. */
static void end_thread(const struct takt_profile_reading *reading,
                       struct open_events *open)
{
    while (open->depth > 0) {
        if (open->at[open->depth - 1].to < 1e300)
            pass_time(reading, open, open->at[open->depth - 1].to);
        open->depth--;
    }
}

takt_status takt__events_add(const struct takt_profile_reading *reading,
                             struct takt_trace_event *event, size_t count)
{
    struct open_events *open = calloc(1, sizeof *open);

    if (open == NULL)
        return TAKT_ENOMEM;
    if (count > 0)
        qsort(event, count, sizeof *event, compare);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && event[i].thread != event[i - 1].thread)
            end_thread(reading, open);
        close_until(reading, open, event[i].from);
        if (!event[i].is_end)
            push(open, &event[i]);
        else if (open->depth > 0)
            open->depth--;
    }
    end_thread(reading, open);
    free(open);
    return TAKT_OK;
}
