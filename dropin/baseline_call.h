/* SPDX-License-Identifier: MIT */
/*
 * baseline_call.h - calls by rows, as everywhere in Takt, in the baseline
 * library. It must have the function.
 */
#ifndef TAKT_DROPIN_BASELINE_CALL_H
#define TAKT_DROPIN_BASELINE_CALL_H

#include "baseline.h"
#include "triangular.h"

/* A factor as BLAS wants it: by address, in its own type. */
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

#endif
