/* SPDX-License-Identifier: MIT */
/*
 * baseline_experts.h - the baseline library as an expert of the ops it has.
 */
#ifndef TAKT_DROPIN_BASELINE_EXPERTS_H
#define TAKT_DROPIN_BASELINE_EXPERTS_H

#include "route.h"

/* The output of the call that the baseline library ran last as an expert in
 * this thread: that of an intercepted call, or other memory in a shadow run.
 * (Not in static TLS: that is set aside when a program starts, and this library
 * may be loaded later.) */
extern _Thread_local const void *takt__baseline_wrote;

/* Adds it to the context of the route, as the default expert. */
void takt__add_baseline_experts(struct takt_route *route);

#endif
