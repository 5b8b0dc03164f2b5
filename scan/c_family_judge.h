/* SPDX-License-Identifier: MIT */
/*
 * c_family_judge.h - a nest of loops while it is being judged: its sizes, the
 * windows that convolutions and pooling move over their input, and whether the
 * order of its steps matters.
 */
#ifndef TAKT_SCAN_C_FAMILY_JUDGE_H
#define TAKT_SCAN_C_FAMILY_JUDGE_H

#include "c_family_expr.h"

/* A nest that is one loop in another, and the one thing it does. */
struct takt_c_judged {
    struct takt_c_nest *nest;
    struct takt_c_verdict *out;
    uint32_t all;   /* the loops */
    uint32_t free;  /* that the target changes with */
    uint32_t bound; /* that are reduced away */
    const struct takt_c_leaf *leaf;
    const struct takt_c_expr *target; /* what is written in the end */
};

/* How often the loops of a bit run; 0: not known. Sets `source` if it is. */
uint64_t takt__c_extent(const struct takt_c_nest *nest, uint32_t bit,
                        enum takt_size_source *source);
/* The loops of a set, the outermost first; how many. */
unsigned takt__c_bits_of(const struct takt_c_nest *nest, uint32_t set,
                         uint32_t *bit, unsigned most);
/* These loops, one dimension each. */
void takt__c_tell_sizes(struct takt_c_judged *j, const uint32_t *bit,
                        unsigned count);
/* All loops of a set together: N. */
void takt__c_tell_product(struct takt_c_judged *j, uint32_t set);

/* Whether what is written is read elsewhere: then the order of the steps
 * matters. `is_ever`: also if it is read where it is written. */
bool takt__c_reads_its_own(const struct takt_c_expr *target,
                           const struct takt_c_expr *e, bool is_ever);
/* a[i][j] -= a[i][k] * a[k][j] from j = k + 1 on: [k] is not written. */
bool takt__c_starts_after(struct takt_c_judged *j);
/* x[i] -= l[i][k] * x[k] with k < i: what is read is not what is written. */
bool takt__c_ends_before(const struct takt_c_judged *j);
/* a[i - 1] + a[i] + a[i + 1]: many places of one array make a stencil. */
bool takt__c_is_stencil(const struct takt_c_expr *whole,
                        const struct takt_c_expr *e);
/* Whether one leaf reads, elsewhere, what another writes. */
bool takt__c_is_entangled(const struct takt_c_nest *nest,
                          const struct takt_c_leaf *leaf);
/* Whether another leaf writes into the same array: butterflies. */
bool takt__c_is_shared(const struct takt_c_nest *nest,
                       const struct takt_c_leaf *leaf);

/* How often a loop of the target meets, in an index, one that is reduced. */
unsigned takt__c_windows(const struct takt_c_judged *j,
                         const struct takt_c_expr *e, bool is_product);
void takt__c_tell_convolution(struct takt_c_judged *j, uint32_t filter);
void takt__c_tell_pooling(struct takt_c_judged *j);

#endif
