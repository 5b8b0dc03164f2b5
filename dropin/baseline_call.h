/* SPDX-License-Identifier: MIT */
/*
 * baseline_call.h - calls by rows, as everywhere in Takt, in the baseline
 * library, which must have the function; and that library as an expert.
 */
#pragma once

#include "route.h"
#include "triangular.h"

/* A factor as BLAS takes it: by address, in its own type. */
union takt_factor {
    float f32;
    double f64;
};

static inline union takt_factor takt__factor_of(bool is_double, double value)
{
    return is_double ? (union takt_factor){.f64 = value}
                     : (union takt_factor){.f32 = (float)value};
}

void takt__baseline_product(const struct takt_baseline *baseline,
                            const struct takt_product *product);
void takt__baseline_triangular(const struct takt_baseline *baseline,
                               const struct takt_triangular *call);

/* The output of the call that the baseline library ran last as an expert in
 * this thread: that of an intercepted call, or other memory in a shadow run.
 * (Not in static TLS: that is set aside when a program starts, and this library
 * may be loaded later.) */
extern _Thread_local const void *takt__baseline_wrote;

/* Adds the library to the context of the route: as an expert that is observed,
 * or, with --same-bits, as the default one. */
void takt__add_baseline_experts(struct takt_route *route);
