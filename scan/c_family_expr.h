/* SPDX-License-Identifier: MIT */
/*
 * c_family_expr.h - lowers the loops of C and C++ to the form of ir.h: two
 * looks at the syntax, one for the loops and the names that they change, one
 * for the statements.
 */
#pragma once

#include "c_family.h"

enum { TAKT_C_NAMES = 32 };

/* A name that the nest changes or declares. */
struct takt_c_local {
    struct takt_text text;
    bool is_stepped;  /* by ++, --, += in the loops `stepped` */
    bool is_strided;  /* by more than one */
    bool is_backward; /* by -- */
    bool is_assigned; /* otherwise */
    bool is_declared;
    bool is_reset; /* set anew in the loops `declared`, as good as declared */
    bool is_read;  /* before that */
    bool is_stale; /* what its value was read from has been written since */
    bool is_reference; /* double &x = a[i]: what is assigned is the element */
    bool is_bound;     /* a parameter of a function that is read in its place */
    uint32_t stepped, declared; /* in these loops */
    struct takt_c_type type;
    struct takt_ir_expr *value; /* what it was declared with */
};

/* A loop's syntax. */
struct takt_c_head {
    TSNode node;
    TSNode start, bound; /* may be null */
    TSNode leaving;      /* if (i >= n) break; that stands first in the body of
                            a loop without a condition; may be null */
    bool is_over_range;
};

/* A nest that is being lowered. */
struct takt_c_nest {
    const struct takt_c_place *place;
    const struct takt_source *source;
    unsigned locals;
    unsigned hidden;  /* locals that are not seen: those of a caller */
    unsigned inlined; /* functions that are being read in their place */
    bool is_choosing; /* reads what an if leads to */
    struct takt_c_head head[TAKT_IR_LOOPS];
    struct takt_c_local local[TAKT_C_NAMES];
    struct takt_ir_nest ir;
};

/* false: there is something in it that we do not understand. */
bool takt__c_survey(struct takt_c_nest *nest, TSNode loop);
bool takt__c_collect(struct takt_c_nest *nest, TSNode loop);

/* Whether it is what leaves a loop instead of a condition. */
bool takt__c_is_leaving(const struct takt_c_nest *nest, TSNode node);
/* s = 0 in the head of a loop, of a number: it counts with something else. */
bool takt__c_is_number_start(const struct takt_c_nest *nest, TSNode node);

/* What one statement does; the statements of a block from one on. */
bool takt__c_collect_within(struct takt_c_nest *nest, TSNode node,
                            uint32_t around, unsigned depth);
bool takt__c_collect_from(struct takt_c_nest *nest, TSNode block,
                          uint32_t first, uint32_t around, unsigned depth);
bool takt__c_collect_choice(struct takt_c_nest *nest, TSNode node,
                            uint32_t around, unsigned depth);
/* test ? yes : no. */
struct takt_ir_expr *takt__c_choice(struct takt_c_nest *nest, TSNode node,
                                    bool is_index, unsigned depth);
/* What a statement sets that is only a name for what comes next; or NULL. */
struct takt_c_local *takt__c_passing(struct takt_c_nest *nest, TSNode node,
                                     uint32_t around);
/* if (..) continue, told by an element: the rest is done only otherwise. */
bool takt__c_is_passing_over(struct takt_c_nest *nest, TSNode node);
bool takt__c_collect_rest(struct takt_c_nest *nest, TSNode block, uint32_t at,
                          uint32_t around, unsigned depth);

/* takt__ir_add(); what was read from there before is not what is there now. */
bool takt__c_add(struct takt_c_nest *nest, struct takt_ir_stmt stmt);
/* What a loop counts with; for the second look. */
bool takt__c_read_head(struct takt_c_nest *nest, unsigned loop);

/* NULL: not understood. `is_index`: anything that has no effect will do. */
struct takt_ir_expr *takt__c_expr(struct takt_c_nest *nest, TSNode node,
                                  bool is_index, unsigned depth);
struct takt_ir_expr *takt__c_expr_name(struct takt_c_nest *nest,
                                       struct takt_text text,
                                       struct takt_c_type type);
/* Whether it is another name for an element, also where it is written. */
bool takt__c_is_element(const struct takt_c_local *local);
/* What a name stands for here. */
struct takt_ir_expr *takt__c_expr_named(struct takt_c_nest *nest,
                                        struct takt_text text);
struct takt_ir_expr *takt__c_expr_call(struct takt_c_nest *nest, TSNode node,
                                       bool is_index, unsigned depth);
/* What a function or macro of this file, that only returns something, makes of
 * its arguments; NULL: it is none of these. */
struct takt_ir_expr *takt__c_expr_inlined(struct takt_c_nest *nest,
                                          TSNode callee, TSNode arguments,
                                          unsigned depth);
/* A function or lambda that a name stands for, or the node itself if it is
 * one; a null node: none that can be seen. */
TSNode takt__c_function_named(const struct takt_c_place *place, TSNode name);
/* What a function or lambda returns, if it does nothing else. */
TSNode takt__c_returned(const struct takt_source *source, TSNode function);
/* The parameters of a function or lambda, or a null node. */
TSNode takt__c_parameters(TSNode function);
/* A macro's text, its parameters bound; NULL: not understood. */
struct takt_ir_expr *takt__c_expr_macro(struct takt_c_nest *nest,
                                        struct takt_text body);
/* The same of one that assigns: s += x; or do { ... } while (0). */
bool takt__c_macro_statements(struct takt_c_nest *nest, struct takt_text body,
                              uint32_t around);
/* What a call of a macro does that assigns. */
enum { TAKT_C_ARGUMENTS = 6 };
struct takt_ir_expr *takt__c_expr_expanded(struct takt_c_nest *nest,
                                           struct takt_text name,
                                           struct takt_ir_expr **argument,
                                           unsigned count);
bool takt__c_collect_setter(struct takt_c_nest *nest, TSNode call,
                            uint32_t around);
bool takt__c_collect_macro(struct takt_c_nest *nest, TSNode call,
                           uint32_t around);
/* A call of a function of mathematics by its name, without its arguments. */
struct takt_ir_expr *takt__c_expr_function(struct takt_c_nest *nest,
                                           struct takt_text name);
/* a->b, of something that does not change. */
struct takt_ir_expr *takt__c_expr_field(struct takt_c_nest *nest,
                                        const struct takt_ir_expr *of,
                                        const char *sign,
                                        struct takt_text field);
/* The same name or address, of that type. */
struct takt_ir_expr *takt__c_expr_typed(struct takt_c_nest *nest,
                                        struct takt_ir_expr *e,
                                        struct takt_c_type type);
struct takt_c_local *takt__c_local(struct takt_c_nest *nest,
                                   struct takt_text text);
/* The same, which is made if it is not there; NULL: there are too many. */
struct takt_c_local *takt__c_local_named(struct takt_c_nest *nest,
                                         struct takt_text text);
/* The loop that counts with a name, the innermost that was read; -1: none. */
int takt__c_loop_of(const struct takt_c_nest *nest, struct takt_text var);
