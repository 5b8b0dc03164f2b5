/* SPDX-License-Identifier: MIT */
/*
 * python_lower.h - lowers loops and comprehensions of Python to the form of
 * ir.h.
 *
 * Python does not say whether x is a number. So `+`, which joins texts and
 * lists, and `/`, which joins paths, count only where both sides are elements
 * or one is known to be a number; and elements come from names, not from calls
 * that may return anything.
 */
#pragma once

#include "judge.h"
#include "python.h"

enum {
    TAKT_PYTHON_LOCALS = 32,
    TAKT_PYTHON_ASSIGNED = 32,
    TAKT_PYTHON_DEEPEST = 24
};

struct takt_python_nest {
    const struct takt_source *source;
    TSNode first; /* the whole of it */
    unsigned locals, assigned;
    struct {
        struct takt_text name;
        unsigned times; /* that it is assigned in the nest */
        bool is_added;  /* by += and the like */
    } name[TAKT_PYTHON_ASSIGNED];
    struct {
        struct takt_text name;
        struct takt_ir_expr *value; /* what it stands for */
    } local[TAKT_PYTHON_LOCALS];
    struct takt_ir_nest ir;
};

/* NULL: not understood. `is_index`: anything that has no effect will do. */
struct takt_ir_expr *takt__python_expr(struct takt_python_nest *nest,
                                       TSNode node, bool is_index,
                                       unsigned depth);
/* Whether it is known to be a number, and not only an element of something. */
bool takt__python_is_fixed_number(const struct takt_python_nest *nest,
                                  TSNode node, const struct takt_ir_expr *e);

/* A loop over `right`, whose elements `left` names; what follows stands within.
 * false: it goes over something else. */
bool takt__python_open(struct takt_python_nest *nest, TSNode left, TSNode right,
                       unsigned depth);
/* The loops and the value of a comprehension or generator. */
struct takt_ir_expr *takt__python_items(struct takt_python_nest *nest,
                                        TSNode node, unsigned depth);
/* The same of map(lambda ..: .., ..). */
struct takt_ir_expr *takt__python_mapped(struct takt_python_nest *nest,
                                         TSNode call);
/* sum(..): of what a generator makes; NULL: it is something else. */
struct takt_ir_expr *takt__python_gathered(struct takt_python_nest *nest,
                                           TSNode call, unsigned depth);
/* [.. for ..] as an array of its own. */
struct takt_ir_expr *takt__python_collected(struct takt_python_nest *nest,
                                            TSNode node, unsigned depth);
bool takt__python_statement(struct takt_python_nest *nest, TSNode node,
                            unsigned depth);

/* ---- what it is ---------------------------------------------------------- */

/* The op of a list comprehension; NULL: none. */
const char *takt__python_map(const struct takt_source *source, TSNode node);
/* The op of what gathers the values of a comprehension, or of a map with a
 * lambda, or only stores them; NULL: none. */
const char *takt__python_reduced(const struct takt_source *source, TSNode over,
                                 enum takt_ir_effect effect);

/* From here on a name stands for a value; false: it is no name, or no value. */
bool takt__python_bind_local(struct takt_python_nest *nest, TSNode name,
                             struct takt_ir_expr *value);
