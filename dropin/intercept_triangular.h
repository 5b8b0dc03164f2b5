/* SPDX-License-Identifier: MIT */
/*
 * intercept_triangular.h - routes symm, syrk, syr2k, trmm and trsm: cut into
 * ordinary products (triangular.h), each of which is routed by itself.
 */
#ifndef TAKT_DROPIN_INTERCEPT_TRIANGULAR_H
#define TAKT_DROPIN_INTERCEPT_TRIANGULAR_H

#include "arguments.h"
#include "intercepted.h"

/* True: the call is done. False: intercept->why says why not, and nothing was
 * touched. */
bool takt__route_triangular(struct takt_intercept *intercept,
                            const struct takt_arguments *arguments);

#endif
