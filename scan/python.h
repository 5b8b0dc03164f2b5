/* SPDX-License-Identifier: MIT */
/*
 * python.h - what the files of the Python language know of each other.
 *
 * Names first (python_names.c): who binds a name, in which scope, from where
 * on. Then values (python_values.c): which of them are arrays, of what shape.
 * Then calls (python_calls.c): which library function is meant. On these stand
 * expressions (python_compose.c), and loops and comprehensions, which are
 * lowered to the form of ir.h (python_lower.h).
 */
#pragma once

#include "language.h"

/* ---- names --------------------------------------------------------------- */

enum takt_python_binds {
    TAKT_PYTHON_OTHER,     /* a loop, an exception ... : unknown */
    TAKT_PYTHON_MODULE,    /* an import: `module` is its dotted name */
    TAKT_PYTHON_STAR,      /* from module import * */
    TAKT_PYTHON_VALUE,     /* name = value, or the part of a tuple */
    TAKT_PYTHON_ITEM,      /* for name in value */
    TAKT_PYTHON_PARAMETER, /* with what it defaults to as value */
    TAKT_PYTHON_CHANGE,    /* name += value: still the same, but no constant */
    TAKT_PYTHON_CLASS,     /* class name: `value` is the definition */
    TAKT_PYTHON_FUNCTION,  /* def name: the same */
    TAKT_PYTHON_SHOWN,     /* binds nothing: is used as only arrays are ... */
    TAKT_PYTHON_TABLE,     /* ... as only tables of pandas are ... */
    TAKT_PYTHON_COMPARED   /* ... and as only numbers are */
};

enum { TAKT_PYTHON_RANK = 4, TAKT_PYTHON_RANK_UNKNOWN = 255 };

enum takt_python_kind {
    TAKT_PYTHON_UNKNOWN,
    TAKT_PYTHON_NUMBER,
    TAKT_PYTHON_ARRAY,
    TAKT_PYTHON_THING /* something that is neither: a text, a list ... */
};

struct takt_python_value {
    enum takt_python_kind kind;
    bool is_torch, is_dtype_known;
    bool is_doubtful; /* the product of what is unknown: may be a number */
    takt_dtype dtype;
    enum takt_size_source source;
    unsigned rank;
    size_t dim[TAKT_PYTHON_RANK]; /* 0: unknown */
};

struct takt_python_binding {
    struct takt_text name;
    unsigned scope;
    uint32_t from; /* the byte from which on it holds */
    enum takt_python_binds binds;
    int part;           /* of a tuple; -1: all of it */
    TSNode value, type; /* null: none */
    const char *module;
    size_t next; /* of the same hash, an earlier one */
    bool is_weighed, is_being_weighed;
    struct takt_python_value weighed; /* python_values.c */
};

struct takt_python_notes;

void takt__python_begin(struct takt_source *source);
void takt__python_end(struct takt_source *source);

/* Who binds that name for an expression at that byte; NULL: nobody in this
 * file, it is a builtin or a mistake. */
struct takt_python_binding *
takt__python_lookup(const struct takt_source *source, struct takt_text name,
                    uint32_t at);

/* The only binding of self.NAME in the class around `at`; NULL. */
struct takt_python_binding *takt__python_own(const struct takt_source *source,
                                             struct takt_text name,
                                             uint32_t at);

/* What the use of a name shows: x.shape and x[:, 0] an array, x.groupby() a
 * thing, if x > 0 a number; else unknown. */
enum takt_python_kind
takt__python_shown(const struct takt_source *source,
                   const struct takt_python_binding *binding);

/* Whether it names a class of this file that is derived from no other: then
 * the file says what its operators do. */
bool takt__python_is_own_class(const struct takt_source *source, TSNode node);

/* Whether nothing else binds that name in the same scope. */
bool takt__python_is_constant(const struct takt_source *source,
                              const struct takt_python_binding *binding);

/* What an expression names: "numpy.linalg.norm", "builtins.sum"; false: it is
 * no name of a module's. */
enum { TAKT_PYTHON_DOTTED = 96 };
bool takt__python_dotted(const struct takt_source *source, TSNode node,
                         char out[TAKT_PYTHON_DOTTED]);

/* Whether the file imports a module that has arrays. */
bool takt__python_has_arrays(const struct takt_source *source);
bool takt__python_has_torch(const struct takt_source *source);

/* The parts of a composition that stand in other lines are claimed, so that
 * they are not found by themselves. */
void takt__python_claim(const struct takt_source *source, TSNode node);
bool takt__python_is_claimed(const struct takt_source *source, TSNode node);

/* ---- syntax ---------------------------------------------------------------*/

/* Without the parentheses around it. */
TSNode takt__python_bare(TSNode node);
/* The operator of a binary operator or assignment: '+', '@', '*', 'p' for **;
 * 0: some other. */
char takt__python_operator(const struct takt_source *source, TSNode node);
/* An argument by its position and, if it is not NULL, its keyword. */
TSNode takt__python_argument(const struct takt_source *source, TSNode call,
                             unsigned position, const char *keyword);
unsigned takt__python_argument_count(TSNode call);
/* x[:, i], x[..., None]: several indices, one of which leaves a dimension. */
bool takt__python_is_sliced(TSNode subscript);
bool takt__python_same(const struct takt_source *source, TSNode a, TSNode b);
bool takt__python_names(const struct takt_source *source, TSNode node,
                        const char *dotted);
/* A name's value, where it is bound to one and only by that; else the node. */
TSNode takt__python_follow(const struct takt_source *source, TSNode node);
bool takt__python_is_literal(const struct takt_source *source, TSNode node,
                             double number);

/* ---- values and calls -----------------------------------------------------*/

struct takt_python_value takt__python_value(const struct takt_source *source,
                                            TSNode node);
/* What is known of all items of a list: numbers that are measured; things that
 * are no numbers, texts, money ... ; else unknown. */
struct takt_python_value takt__python_item(const struct takt_source *source,
                                           TSNode over);
/* Whether its items may be numbers: nothing speaks against it. In a file that
 * computes with symbols that has to be known. */
bool takt__python_may_hold_numbers(const struct takt_source *source,
                                   TSNode over);
/* A size that is written there, or a constant. */
bool takt__python_size(const struct takt_source *source, TSNode node,
                       size_t *out, enum takt_size_source *how);

/* The op of the catalogue that a call of a library or of an array's method
 * is; NULL: it is none. */
const char *takt__python_call_op(const struct takt_source *source, TSNode call);
/* Of a dotted name alone; and of a method of arrays. */
const char *takt__python_function_op(const char *dotted);
const char *takt__python_method_op(bool is_torch, struct takt_text name);
/* Whether it is a function of a library that is known here. */
bool takt__python_is_known(const char *dotted);
/* The array that a call of either kind works on, and the other one. */
TSNode takt__python_operand(const struct takt_source *source, TSNode call,
                            unsigned index);
/* matmul, gemv, dot or batched_matmul, by what is known of the operands. */
const char *takt__python_product_op(const struct takt_source *source,
                                    TSNode left, TSNode right);

/* Sizes and dtype of a finding, as far as its operands are known. */
void takt__python_describe(const struct takt_source *source, TSNode node,
                           struct takt_finding *out);

/* ---- findings ------------------------------------------------------------ */

/* Each returns the op that the node is, or NULL. */
const char *takt__python_arithmetic(const struct takt_source *source,
                                    TSNode node);
const char *takt__python_composition(const struct takt_source *source,
                                     TSNode node);
const char *takt__python_builtin(const struct takt_source *source, TSNode call);
const char *takt__python_comprehension(const struct takt_source *source,
                                       TSNode node);
const char *takt__python_loop(const struct takt_source *source, TSNode node,
                              struct takt_found_size *size);

bool takt__python_sounds_like_counts(struct takt_text name);
