/* SPDX-License-Identifier: MIT */
/*
 * visit.h - a call that came through one of our names, on its way.
 *
 * An entry (entries_*.c) passes small calls on at once. Of the others it makes
 * a visit: what is asked for, by rows as everywhere in Takt. If the visit
 * routes it, the call is done. Otherwise the entry runs it in the plain
 * library, as it came, between takt__straight_begin() and _end().
 */
#ifndef TAKT_DROPIN_VISIT_H
#define TAKT_DROPIN_VISIT_H

#include <stdint.h>

#include "board.h"
#include "plain.h"
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

struct takt_visit {
    struct takt_plain *plain; /* NULL: a library that cannot be described */
    enum takt_routine routine;
    enum takt_letter letter;
    double work;       /* multiply-adds, or elements */
    enum takt_why why; /* it was not routed */
    bool is_nested;    /* the plain library made it, in another call */
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

/* True: the call is done. False: visit->why says why not, and nothing was
 * touched. */
bool takt__visit_product(struct takt_visit *visit,
                         const struct takt_product *product);
bool takt__visit_matvec(struct takt_visit *visit,
                        const struct takt_matvec *matvec);
/* The result of dot, nrm2 and asum goes to *result: a float or a double. */
bool takt__visit_vectors(struct takt_visit *visit,
                         const struct takt_vectors *vectors, void *result);
bool takt__visit_triangular(struct takt_visit *visit,
                            const struct takt_triangular *call);

void takt__straight_begin(struct takt_visit *visit);
void takt__straight_end(const struct takt_visit *visit);

#endif
