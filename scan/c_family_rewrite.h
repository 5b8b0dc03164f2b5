/* SPDX-License-Identifier: MIT */
/*
 * c_family_rewrite.h - the call that may stand in the place of a loop.
 *
 * What is written here computes what the loop does, so much less is understood
 * than for a finding: loops that count by one from 0 or an expression, indices
 * that are linear in them, arrays whose elements have one floating-point type
 * and lie side by side, and one statement. Anything else has no call.
 */
#pragma once

#include "c_family.h"

enum { TAKT_RW_LOOPS = 3, TAKT_RW_LOCALS = 8, TAKT_RW_TEXT = 240 };

/* Text that is put together; `is_cut`: there was no room. */
struct takt_rw_text {
    char at[TAKT_RW_TEXT];
    size_t used;
    bool is_cut;
};

struct takt_rw_loop {
    struct takt_text var;
    TSNode from, to; /* `from` is null: 0 */
    bool is_inclusive, is_declared;
};

/* What is declared in the loops: stands for its value, unless it is a sum that
 * begins with 0. */
struct takt_rw_local {
    struct takt_text name;
    TSNode value;
    enum takt_ir_element element;
    bool is_sum, is_pointer;
    unsigned depth; /* loops around it */
};

struct takt_rw_stmt {
    TSNode left, right;
    char sign[4]; /* "=", "+=", ... */
    unsigned depth;
    bool is_behind; /* the loop within */
};

struct takt_rw_nest {
    const struct takt_c_place *place;
    const struct takt_source *source;
    unsigned loops, locals, stmts;
    bool is_open[TAKT_RW_LOOPS + 1]; /* by depth: its inner loop was read */
    struct takt_rw_loop loop[TAKT_RW_LOOPS];
    struct takt_rw_local local[TAKT_RW_LOCALS];
    struct takt_rw_stmt stmt[3];
};

/* An element of an array, by its index: the sum of each loop's variable times
 * its coefficient, and the rest. "" is 0. */
struct takt_rw_access {
    struct takt_text base;
    unsigned rank;
    enum takt_ir_element element;
    struct takt_rw_text coefficient[TAKT_RW_LOOPS], rest;
};

void takt__rw_put(struct takt_rw_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads the loops; false: there is something else in them. */
bool takt__rw_read(struct takt_rw_nest *nest, TSNode loop);

/* Without parentheses, and what a local stands for. */
TSNode takt__rw_resolve(const struct takt_rw_nest *nest, TSNode node);
/* Whether it is the same in all rounds, and has no effect. */
bool takt__rw_is_invariant(const struct takt_rw_nest *nest, TSNode node);
/* The same, and a whole number. */
bool takt__rw_is_count(const struct takt_rw_nest *nest, TSNode node);
bool takt__rw_access(const struct takt_rw_nest *nest, TSNode node,
                     struct takt_rw_access *out);
const struct takt_rw_local *takt__rw_local(const struct takt_rw_nest *nest,
                                           TSNode name);

/* Whether a variable that is declared outside is not read behind the loop. */
bool takt__rw_is_dead_behind(const struct takt_c_place *place, TSNode loop,
                             struct takt_text name);

/* ---- what a call is made of ---- */

enum { TAKT_RW_FACTORS = 2 };

/* alpha * a * b. */
struct takt_rw_product {
    unsigned factors;
    struct takt_rw_access factor[TAKT_RW_FACTORS];
    struct takt_rw_text alpha; /* "": 1 */
};

/* A call in the making: its arguments are what the ops of takt/ops.h take. */
struct takt_rw_call {
    const struct takt_rw_nest *nest;
    struct takt_rw_access target; /* of a sum: rank 0 */
    enum takt_ir_element element;
    struct takt_rw_text arguments;
    const char *name; /* "add" */
};

/* How often a loop runs; false: that is not known. */
bool takt__rw_put_extent(struct takt_rw_text *out,
                         const struct takt_rw_nest *nest,
                         const struct takt_rw_loop *loop);
/* The address of the first element: &a[0], &a[offset], &a[0][0] + offset. */
void takt__rw_put_address(struct takt_rw_text *out,
                          const struct takt_rw_nest *nest,
                          const struct takt_rw_access *access);
bool takt__rw_is_same(const struct takt_rw_access *a,
                      const struct takt_rw_access *b);
bool takt__rw_is_same_base(const struct takt_rw_access *a,
                           const struct takt_rw_access *b);
bool takt__rw_is_one(const struct takt_rw_text *coefficient);
/* Reads the factors of a product of elements of one type, from depth 0 on. */
bool takt__rw_product(const struct takt_rw_nest *nest, TSNode node,
                      enum takt_ir_element element, unsigned depth,
                      struct takt_rw_product *out);

/* Each fills in the call; false: there is none. */
bool takt__rw_write_elements(struct takt_rw_call *call);
bool takt__rw_write_reduction(struct takt_rw_call *call);
bool takt__rw_write_matrices(struct takt_rw_call *call);

/* Fills in the call of an exact finding, if there is one. */
void takt__c_rewrite(const struct takt_c_place *place, TSNode loop,
                     struct takt_finding *out);
