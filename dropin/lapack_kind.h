/* SPDX-License-Identifier: MIT */
/* lapack_kind.h - the table of kinds of LAPACK calls. */
#pragma once

#include "routine.h"
#include "team_choice.h"

/* The last letter of loops that have matrices by rows (linalg.h). */
enum { TAKT_LETTER_BY_ROWS = 'P' };

struct takt_lapack_key {
    enum takt_lapack routine;
    enum takt_blas_type type;
    char option[3];   /* letters; 0: none */
    unsigned threads; /* of the program */
    double work;
};

/* NULL: there are too many. */
struct takt_team_kind *takt__lapack_kind(const struct takt_lapack_key *key);

/* The key of a kind in the table, with the least work of its half octave. */
struct takt_lapack_key takt__lapack_key(const struct takt_team_kind *kind);

/* Two keys of the same kind, whatever number of threads the program has. */
bool takt__lapack_is_same(const struct takt_lapack_key *a,
                          const struct takt_lapack_key *b);

/* What the nearest kind of a similar amount of work prefers; 0: nothing is
 * known. */
unsigned takt__lapack_hint(const struct takt_lapack_key *key);
