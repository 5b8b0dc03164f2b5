/* SPDX-License-Identifier: MIT */
/*
 * rust_lower.h - lowers the loops and iterator chains of Rust to the form of
 * ir.h. A chain is a loop: what it goes over gives each round its elements,
 * closures are read in their place, and its end says what becomes of them.
 */
#pragma once

#include "judge.h"
#include "rust.h"

enum {
    TAKT_RUST_LOCALS = 48,
    TAKT_RUST_PARTS = 96,
    TAKT_RUST_ASSIGNED = 24,
    TAKT_RUST_DEEPEST = 40
};

/* What a pattern takes apart: one value, or a pair. */
struct takt_rust_part {
    struct takt_ir_expr *value;
    struct takt_rust_part *of[2]; /* NULL: it is one value */
};

/* A name that the nest binds. */
struct takt_rust_local {
    struct takt_text name;
    struct takt_rust_part *part; /* what it stands for */
    bool is_assigned;            /* in loops within: a name of its own */
    bool is_let;
    bool is_counted;   /* of a loop: its steps are no statements */
    uint32_t declared; /* the loops around its declaration */
};

struct takt_rust_nest {
    struct takt_rust *rust;
    uint32_t start, end; /* of what is lowered, in the file */
    unsigned locals, hidden, parts, assigned, inlined;
    struct takt_text name[TAKT_RUST_ASSIGNED]; /* that are assigned */
    struct takt_rust_local local[TAKT_RUST_LOCALS];
    struct takt_rust_part part[TAKT_RUST_PARTS];
    struct takt_ir_nest ir;
};

/* A loop, or a call that ends a chain: whole, as a nest of its own. false:
 * something in it is not understood. */
bool takt__rust_lower(struct takt_rust_nest *nest, TSNode node);

/* ---- between the parts --------------------------------------------------- */

/* NULL: not understood. `is_index`: anything that has no effect will do. */
struct takt_ir_expr *takt__rust_expr(struct takt_rust_nest *nest, TSNode node,
                                     bool is_index, unsigned depth);
/* The same, of what may be a pair. */
struct takt_rust_part *takt__rust_part_of(struct takt_rust_nest *nest,
                                          TSNode node, unsigned depth);
struct takt_rust_part *takt__rust_one(struct takt_rust_nest *nest,
                                      struct takt_ir_expr *value);
struct takt_rust_part *takt__rust_pair(struct takt_rust_nest *nest,
                                       struct takt_rust_part *a,
                                       struct takt_rust_part *b);
/* What a node is called, as something that does not change. */
struct takt_ir_expr *takt__rust_named(struct takt_rust_nest *nest, TSNode node);
/* An element by a list of indices: m[(i, j)], m[[i, j]], m.get(i, j). */
struct takt_ir_expr *takt__rust_at(struct takt_rust_nest *nest,
                                   const struct takt_ir_expr *base, TSNode list,
                                   unsigned depth);
/* Elements of a type of the crate: what an index or a method returns. */
struct takt_ir_expr *takt__rust_told(struct takt_rust_nest *nest, TSNode node,
                                     struct takt_ir_expr *e);
struct takt_ir_expr *takt__rust_called(struct takt_rust_nest *nest, TSNode call,
                                       bool is_index, unsigned depth);
struct takt_ir_type takt__rust_ir_type(struct takt_rust_type type);
/* A function of mathematics with its arguments; NULL: it is none. */
struct takt_ir_expr *takt__rust_function(struct takt_rust_nest *nest,
                                         struct takt_text name,
                                         struct takt_ir_expr **argument,
                                         unsigned count);

/* Elements of unknown type in it are floating-point numbers. */
void takt__rust_set_float(struct takt_ir_expr *e, enum takt_ir_element element);

/* Binds the names of a pattern; false: it takes apart what is not. */
bool takt__rust_bind(struct takt_rust_nest *nest, TSNode pattern,
                     struct takt_rust_part *part);
bool takt__rust_bind_name(struct takt_rust_nest *nest, struct takt_text name,
                          struct takt_rust_part *part);
const struct takt_rust_local *
takt__rust_local(const struct takt_rust_nest *nest, struct takt_text name);
/* A block's or closure's value, after the lets before it. */
struct takt_rust_part *takt__rust_block(struct takt_rust_nest *nest,
                                        TSNode body, unsigned depth);

/* The function or closure that a name stands for; a null node: it is not of
 * this file. */
TSNode takt__rust_function_of(struct takt_rust_nest *nest, TSNode name);
/* What that makes of `count` arguments. */
struct takt_rust_part *takt__rust_applied(struct takt_rust_nest *nest,
                                          TSNode function,
                                          struct takt_rust_part **part,
                                          unsigned count, unsigned depth);

/* The value that a function or closure makes of what is handed to it. */
struct takt_rust_part *takt__rust_mapped(struct takt_rust_nest *nest,
                                         TSNode function,
                                         struct takt_rust_part *part,
                                         unsigned depth);
/* A loop over `source`, within which what follows stands; its elements. NULL:
 * not understood. */
struct takt_rust_part *takt__rust_open(struct takt_rust_nest *nest,
                                       TSNode source, unsigned depth);
/* Whether a call ends a chain by its name alone. */
bool takt__rust_may_end_chain(const struct takt_rust *rust, TSNode call);
/* Whether a call ends a chain, and what it leaves: a number that the nest
 * gathers, or an array. */
bool takt__rust_ends_chain(struct takt_rust_nest *nest, TSNode call);
struct takt_ir_expr *takt__rust_chain_value(struct takt_rust_nest *nest,
                                            TSNode call, unsigned depth);
struct takt_ir_expr *takt__rust_condition(struct takt_rust_nest *nest,
                                          TSNode test, unsigned depth);
bool takt__rust_if(struct takt_rust_nest *nest, TSNode node, unsigned depth);
/* if x < 0.0 { continue; }: the rest is done only otherwise. The condition, or
 * a null node. */
TSNode takt__rust_passed_over(struct takt_rust_nest *nest, TSNode node,
                              unsigned depth);
/* Methods that call a closure for what it does with each element. */
#define TAKT_RUST_EACH \
    "for_each par_for_each map_inplace zip_mut_with apply zip_apply"
/* Opens the loop of takt__rust_zipped(), and binds the parameters of a closure
 * from the first-th on to the elements. */
bool takt__rust_bind_zipped(struct takt_rust_nest *nest, TSNode call,
                            TSNode list, uint32_t first, unsigned depth);
/* Zip::from(a).and(b).map_collect(..), a.zip_map(&b, ..): the array made. */
struct takt_ir_expr *takt__rust_zip_map(struct takt_rust_nest *nest,
                                        TSNode call, unsigned depth);
/* An array that is made by a function of its indices. */
struct takt_ir_expr *takt__rust_from_function(struct takt_rust_nest *nest,
                                              TSNode call, unsigned depth);
/* A call that is a statement. */
bool takt__rust_effect(struct takt_rust_nest *nest, TSNode call,
                       unsigned depth);
bool takt__rust_for(struct takt_rust_nest *nest, TSNode node, unsigned depth);
bool takt__rust_while(struct takt_rust_nest *nest, TSNode node, unsigned depth);
/* let mut i = 0; while i < n: what a loop beside it counts with. */
bool takt__rust_is_counter(const struct takt_rust_nest *nest, TSNode block,
                           struct takt_text name);
/* A step of what a loop counts with. */
bool takt__rust_is_stepping(const struct takt_rust_nest *nest, TSNode node);
/* The statements of a body. */
bool takt__rust_statement(struct takt_rust_nest *nest, TSNode node,
                          unsigned depth);
bool takt__rust_store(struct takt_rust_nest *nest, enum takt_ir_effect effect,
                      struct takt_ir_expr *target, struct takt_ir_expr *value);
