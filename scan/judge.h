/* SPDX-License-Identifier: MIT */
/*
 * judge.h - what a nest of loops computes, told by which loops change what is
 * written and what is read: c[i][j] += a[i][k] * b[k][j] is a product of
 * matrices in whatever order the loops stand, however it is indexed, and
 * whatever language it is written in.
 */
#pragma once

#include "ir.h"

/* What loops in a row are to each other. */
enum takt_role {
    TAKT_ROLE_NONE,
    TAKT_ROLE_EXP,      /* e[i] = exp(..) */
    TAKT_ROLE_EXP_SUM,  /* e[i] = exp(..), s += e[i] */
    TAKT_ROLE_SQUARES,  /* s += x * x */
    TAKT_ROLE_NORMALIZE /* (a[i] - mean) * inverse ... */
};

/* What a loop, a call or an operator computes. */
struct takt_ir_verdict {
    const void *id; /* of the node */
    const char *op; /* NULL: nothing that we know */
    enum takt_role role;
    enum takt_certainty certainty;
    bool is_f32, is_f64;    /* neither: not known which */
    bool is_typed;          /* known to be floating-point numbers */
    bool is_either;         /* of them, f32 or f64: a macro decides */
    bool is_swallowed;      /* a part of what a loop before it is */
    bool is_fused;          /* several steps; op is the one that weighs most */
    struct takt_text total; /* the name that a loop adds up into */
    uint64_t extent;        /* of the outermost loop; 0: not known */
    enum takt_size_source extent_source;
    struct takt_found_size size;
};

/* What is asked for besides what is exact. */
enum takt_takes {
    TAKT_TAKES_EXACT = 0,
    TAKT_TAKES_MORE = 1,    /* loops that do more than the op */
    TAKT_TAKES_UNKNOWN = 2, /* products whose element type is not known */
    TAKT_TAKES_DOTS = 4,    /* these, and dot products */
    TAKT_TAKES_UNTYPED = 8, /* anything whose element type is not known */
    TAKT_TAKES_FUSED = 16   /* several steps for each element, in one store */
};
void takt__judge(struct takt_ir_nest *nest, unsigned takes,
                 struct takt_ir_verdict *out);

/* The op of out[i] = value; NULL: none. `target` is what is written, or NULL.
 * Also what a lambda does with its parameters. */
const char *takt__judge_element(const struct takt_ir_expr *target,
                                const struct takt_ir_expr *value);
/* The op of s += value, without what is done with s afterwards. */
const char *takt__judge_sum(const struct takt_ir_expr *value);
/* Whether one has the rows and columns of the other changed for each other. */
bool takt__judge_is_turned(const struct takt_ir_expr *a,
                           const struct takt_ir_expr *b);
bool takt__judge_is_normalizing(const struct takt_ir_expr *value);
/* a[i] * i: the counter itself is no array of ours. */
bool takt__judge_counts(const struct takt_ir_expr *value);

/* The op of a call of a function that compilers have no vector code for; and of
 * the first of them anywhere in an expression. */
const char *takt__judge_costly_call(const struct takt_ir_expr *call);
const char *takt__judge_costly(const struct takt_ir_expr *value);
/* The last step of an expression that is no op by itself, as seen by one loop,
 * and of what is added up there. */
const char *takt__judge_contains(const struct takt_ir_expr *value,
                                 uint32_t loop);
const char *takt__judge_contains_sum(const struct takt_ir_expr *value,
                                     uint32_t loop);

/* Whether a value is that op of elements and nothing else; and what is added
 * up for an op. */
bool takt__judge_is_whole(const char *op, const struct takt_ir_expr *value);
bool takt__judge_is_whole_sum(const char *op, const struct takt_ir_expr *value);

/* Loops in a row, and what they make together. */
enum { TAKT_ROW = 12 };
struct takt_row {
    unsigned count;
    struct takt_ir_verdict verdict[TAKT_ROW];
};
/* How many from the first on are *op together: softmax, layernorm, attention;
 * 0: they are none. */
unsigned takt__judge_row(const struct takt_row *row, const char **op);
/* Puts the op and its sizes into a verdict. `rows`: how many there are, or 0;
 * for attention, the queries. */
void takt__judge_tell_row(struct takt_ir_verdict *out,
                          const struct takt_row *row, const char *op,
                          uint64_t rows, enum takt_size_source of_rows);
/* Whether a loop like this is a part of anything. */
bool takt__judge_may_be_part(const struct takt_ir_verdict *verdict);

/* Sizes that are 0 in all places are not known at all. */
void takt__tell_size(struct takt_found_size *size, enum takt_size_source source,
                     unsigned rank, const uint64_t *dim);

/* ---- between the parts of the judge -------------------------------------- */

/* A nest that is one loop in another, and the one thing it does. */
struct takt_judged {
    struct takt_ir_nest *nest;
    struct takt_ir_verdict *out;
    unsigned takes;
    uint32_t all;   /* the loops */
    uint32_t free;  /* that the target changes with */
    uint32_t bound; /* that are reduced away */
    const struct takt_ir_stmt *stmt;
    const struct takt_ir_expr *target; /* what is written in the end */
    bool
        has_more; /* around the innermost loop, than a start at 0 and a store */
};

/* What is known of the elements of a statement. */
struct takt_elements {
    bool is_any, is_f32, is_f64, is_either, is_unknown, is_generic;
};
/* Whether all elements are floating-point numbers, or may be. */
bool takt__judge_is_typed(const struct takt_ir_expr *e,
                          struct takt_elements *out);
void takt__judge_tell_type(struct takt_ir_verdict *out,
                           const struct takt_elements *elements);
/* The op of j->stmt, and its sizes; NULL: none. */
const char *takt__judge_stmt(struct takt_judged *j);

/* How often the loops of a bit run; 0: not known. Sets `source` if it is. */
uint64_t takt__judge_extent(const struct takt_ir_nest *nest, uint32_t bit,
                            enum takt_size_source *source);
/* The loops of a set, the outermost first; how many. */
unsigned takt__judge_bits(const struct takt_ir_nest *nest, uint32_t set,
                          uint32_t *bit, unsigned most);
/* These loops, one dimension each. */
void takt__judge_tell_sizes(struct takt_judged *j, const uint32_t *bit,
                            unsigned count);
/* All loops of a set together: N. */
void takt__judge_tell_product(struct takt_judged *j, uint32_t set);

/* Whether what is written is read elsewhere: then the order of the rounds
 * matters. `is_ever`: also if it is read where it is written. */
bool takt__judge_reads_its_own(const struct takt_ir_expr *target,
                               const struct takt_ir_expr *e, bool is_ever);
/* a[i][j] -= a[i][k] * a[k][j] from j = k + 1 on: [k] is not written. */
bool takt__judge_starts_after(const struct takt_judged *j);
/* x[i] -= l[i][k] * x[k] with k < i or k > i: what is read is not what is
 * written. */
bool takt__judge_is_outside(const struct takt_judged *j);
/* a[i - 1] + a[i] + a[i + 1]: more than `most` places of one array make a
 * stencil. */
bool takt__judge_is_stencil(const struct takt_ir_expr *whole,
                            const struct takt_ir_expr *e, unsigned most);
/* Whether one statement reads, elsewhere, what another writes. */
bool takt__judge_is_entangled(const struct takt_ir_nest *nest,
                              const struct takt_ir_stmt *stmt);
/* s += x; out[i] = s: what is gathered so far is kept. */
bool takt__judge_is_running(const struct takt_ir_nest *nest,
                            const struct takt_ir_stmt *stmt);
/* Whether elements that follow each other lie apart: a[2 * i], p[i].x,
 * p[i][0]. */
bool takt__judge_is_apart(const struct takt_ir_expr *e, uint32_t loop);
/* Whether another statement writes elsewhere into the same array:
 * butterflies. */
bool takt__judge_is_shared(const struct takt_ir_nest *nest,
                           const struct takt_ir_stmt *stmt);

enum takt_window {
    TAKT_WINDOW_PRODUCT, /* of a convolution */
    TAKT_WINDOW_POOL,    /* may lie side by side: y * k + ky, for ky < k */
    TAKT_WINDOW_LINE     /* of one dimension: rows are none */
};
/* How often a loop of the target meets, in an index, one that is reduced. */
unsigned takt__judge_windows(const struct takt_judged *j,
                             const struct takt_ir_expr *e,
                             enum takt_window kind);
void takt__judge_tell_convolution(struct takt_judged *j, uint32_t filter);
void takt__judge_tell_pooling(struct takt_judged *j);
