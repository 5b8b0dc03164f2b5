/* SPDX-License-Identifier: MIT */
/*
 * optimize_check.h - whether experts compute on this machine what scalar code
 * does, within the tolerances of docs/numerics.md.
 */
#ifndef TAKT_CLI_OPTIMIZE_CHECK_H
#define TAKT_CLI_OPTIMIZE_CHECK_H

#include "optimize.h"

enum { most_checks = 256 };

/* One op at one size. */
struct check {
    const takt_op *op;
    takt_dtype dtype;
    takt_shape shape;
    bool is_found;     /* the size is one of the sources'; else a typical one */
    unsigned backends; /* that were recommended: bits 1 << backend */
    /* What came of it: */
    unsigned experts;                  /* that were compared */
    double worst;                      /* share of what is allowed */
    char failed[TAKT_EXPERT_NAME_MAX]; /* empty: none */
    char why[160];
};

struct checks {
    struct check check[most_checks];
    size_t count;
    uint64_t left_out; /* sizes beyond these */
};

/* Adds the op, the size and the backends of a finding. */
void add_check(struct checks *checks, const struct takt_finding *finding,
               const struct advice *advice);

/* Compares all experts that the check asks for. False: one of them is wrong, or
 * there is no memory for the operands: see `failed` and `why`. */
bool run_check(takt_ctx *ctx, struct check *check);

#endif
