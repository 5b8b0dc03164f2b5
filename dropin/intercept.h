/* SPDX-License-Identifier: MIT */
/*
 * intercept.h - a call that came through one of our names, on its way.
 *
 * An entry (entries_*.c) passes small calls on at once. Of the others it makes
 * a intercept: what is asked for, by rows as everywhere in Takt. If the
 * intercept routes it, the call is done. Otherwise the entry runs it in the
 * baseline library, as it came, between takt__pass_begin() and _end().
 */
#ifndef TAKT_DROPIN_INTERCEPT_H
#define TAKT_DROPIN_INTERCEPT_H

#include <stdint.h>

#include "baseline.h"
#include "stats.h"
#include "triangular.h"

/* y = alpha op(A) x + beta y. A is stored as m rows of n elements. */
struct takt_matvec {
    size_t m, n;
    bool is_transposed;
    double alpha, beta;
    const void *a, *x;
    void *y;
    size_t lda;
};

/* Of axpy, dot, scal, nrm2 and asum; all elements side by side. */
struct takt_vectors {
    size_t n;
    double alpha;
    const void *x; /* not of scal */
    void *y;       /* what is written; of dot, what is read too */
};

/* Where on the stack the call is that this thread is in, of those that came
 * through us; 0: in none. A program may have jumped out of it: who is not
 * deeper is not in it. */
extern _Thread_local uintptr_t takt__inside;

static inline bool takt__is_inside(const void *frame)
{
    return takt__inside != 0 && (uintptr_t)frame < takt__inside;
}

struct takt_intercept {
    struct takt_baseline
        *baseline; /* NULL: a library that cannot be described */
    enum takt_routine routine;
    enum takt_blas_type type;
    double work;       /* multiply-adds, or elements */
    enum takt_why why; /* it was not routed */
    bool is_nested;    /* the baseline library made it, in another call */
    uint64_t start_ns; /* 0: it is not timed */
    uintptr_t outer;   /* takt__inside before it */
};

/* Below this a call is passed on without a thought: it is done sooner than
 * somebody is asked. */
enum {
    TAKT_LEAST_PRODUCT = 48 * 48 * 48,
    TAKT_LEAST_MATVEC = 128 * 128,
    TAKT_LEAST_VECTOR = 8192,
    TAKT_LEAST_ORDER = 1024 /* of a triangle, and of what is cut of it */
};

/* True: the call is done. False: intercept->why says why not, and nothing was
 * touched. */
bool takt__intercept_product(struct takt_intercept *intercept,
                             const struct takt_product *product);
bool takt__intercept_matvec(struct takt_intercept *intercept,
                            const struct takt_matvec *matvec);
/* The result of dot, nrm2 and asum goes to *result: a float or a double. */
bool takt__intercept_vectors(struct takt_intercept *intercept,
                             const struct takt_vectors *vectors, void *result);
bool takt__intercept_triangular(struct takt_intercept *intercept,
                                const struct takt_triangular *call);

void takt__pass_begin(struct takt_intercept *intercept);
void takt__pass_end(const struct takt_intercept *intercept);

#endif
