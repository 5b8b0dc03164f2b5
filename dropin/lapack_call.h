/* SPDX-License-Identifier: MIT */
/* lapack_call.h - a call of LAPACK by one of our names. */
#pragma once

#include "arguments.h"
#include "base/fpenv.h"
#include "baseline.h"

struct takt_lapack_call {
    struct takt_blas_entry *entry;
    const struct takt_target *target;
    enum takt_lapack routine;
    enum takt_blas_type type;
    void *const *argument;
    double work;
    struct takt_fpenv *fpenv; /* the program's, outside of the call's work */
};

/* An argument that is an integer. */
static inline int64_t takt__lapack_number(const struct takt_lapack_call *call,
                                          unsigned i)
{
    return takt__by_address(call->target, call->argument[i]);
}
