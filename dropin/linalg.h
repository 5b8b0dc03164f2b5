/* SPDX-License-Identifier: MIT */
/*
 * linalg.h - numpy.linalg's own loops, each of which copies a matrix into the
 * order of Fortran, calls LAPACK and copies the result back. From n = 1024 on
 * these copies take longer than a GPU takes for all. A GPU and Takt's kernels
 * read and write the arrays as they lie, by rows.
 *
 * A loop runs as it is, or by other code, by what either took (team_choice.h).
 * What that refuses, NumPy's own loop runs on the same operands: errors are its
 * own.
 */
#pragma once

#include "baseline.h"
#include "loop_split.h"
#include "takt/solver.h"

enum { TAKT_LINALGS = 48 };

struct takt_linalg;

/* The operands of a loop for one matrix, as a GPU takes them. False: they do
 * not lie by rows. */
typedef bool takt_linalg_read(const struct takt_linalg *self, char **args,
                              const ptrdiff_t *dimensions,
                              const ptrdiff_t *steps, takt_solver_call *out);

/* The loop of one function for one type. */
struct takt_linalg {
    takt_inner_loop *own; /* NumPy's */
    takt_linalg_read *read;
    enum takt_lapack routine; /* that it calls */
    takt_dtype dtype;
    char job, uplo;
};
extern struct takt_linalg takt__linalgs[TAKT_LINALGS];

/* A function of numpy.linalg._umath_linalg. */
struct takt_linalg_function {
    const char *name;
    unsigned operands;
    takt_linalg_read *read;
    enum takt_lapack routine;
    char job, uplo;
};

/* Number i of them; NULL: there are no more. */
const struct takt_linalg_function *takt__linalg_function(unsigned i);

/* Loops run where a context of that library says. */
void takt__linalg_open(const struct takt_baseline *library);

void takt__linalg_run(struct takt_linalg *self, char **args,
                      const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                      void *data);
