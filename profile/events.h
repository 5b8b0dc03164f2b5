/* SPDX-License-Identifier: MIT */
/* events.h - stretches of time of threads, in any order, that lie in each
 * other: whose time is whose own. */
#pragma once

#include "profile/reader.h"

struct takt_trace_event {
    uint64_t thread; /* process and thread */
    double from, to; /* `to` of one that is only closed by another: infinite */
    size_t order;    /* in the file */
    int place;
    bool is_end; /* closes the innermost that is open */
};

/* Adds the own time of each to its place, or to the one around it if it is
 * foreign. Changes the order of the events. TAKT_ENOMEM. */
takt_status takt__events_add(const struct takt_profile_reading *reading,
                             struct takt_trace_event *event, size_t count);
