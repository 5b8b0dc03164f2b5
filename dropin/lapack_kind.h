/* SPDX-License-Identifier: MIT */
/* lapack_kind.h - the table of kinds of LAPACK calls. */
#pragma once

#include "routine.h"
#include "team_choice.h"

struct takt_lapack_key {
    enum takt_lapack routine;
    enum takt_blas_type type;
    char option[3];   /* letters; 0: none */
    unsigned threads; /* of the program */
    double work;
};

/* NULL: there are too many. */
struct takt_team_kind *takt__lapack_kind(const struct takt_lapack_key *key);

/* What the nearest kind of a similar amount of work prefers; 0: nothing is
 * known. */
unsigned takt__lapack_hint(const struct takt_lapack_key *key);
