/* SPDX-License-Identifier: MIT */
/*
 * triangular_run.h - runs a triangular call in parts: products by the router or
 * on one expert, what is left in the baseline library or as products too.
 */
#pragma once

#include "route.h"
#include "triangular.h"

/* No expert is named: the router decides. */
#define TAKT_ANY_EXPERT SIZE_MAX

struct takt_parts {
    const struct takt_route *route;
    size_t expert;             /* of products, or TAKT_ANY_EXPERT */
    bool has_stats;            /* the rest is wanted */
    bool used_gpu, used_other; /* than the baseline library */
    double transfer_s, wait_s; /* of all products */
};

/* Cut in halves down to `least`; the rests run in the baseline library. */
void takt__run_halves(struct takt_parts *parts,
                      const struct takt_triangular *call, size_t least);

/* syrk, altogether as products: those on the diagonal are computed whole, in
 * scratch memory, and their triangle is copied. False: there is no memory for
 * that, and nothing was touched. */
bool takt__run_as_products(struct takt_parts *parts,
                           const struct takt_triangular *call);

/* The first product that cutting makes. */
takt_shape takt__first_product(const struct takt_triangular *call);
