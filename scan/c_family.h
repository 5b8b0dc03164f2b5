/* SPDX-License-Identifier: MIT */
/*
 * c_family.h - what C and C++ share: what a file declares, the types of names,
 * constants, loops as expressions that can be compared, and what they compute.
 *
 * The order is that of the work: names of a file (once), the place of a
 * candidate, types and constants seen from there, the nest of loops, a verdict.
 */
#pragma once

#include "judge.h"

/* ---- names: what a file declares outside of functions ------------------- */

enum takt_c_what {
    TAKT_C_VALUE,    /* a declaration's declarator */
    TAKT_C_FIELD,    /* the same, of a class or struct */
    TAKT_C_TYPE,     /* typedef or using: the whole definition */
    TAKT_C_CLASS,    /* class or struct, with a body */
    TAKT_C_MACRO,    /* #define NAME text */
    TAKT_C_CONSTANT, /* an enumerator */
    TAKT_C_FUNCTION, /* a function's declarator, declared or defined */
    TAKT_C_LOCAL,    /* a declaration in a block */
    TAKT_C_BLOCK     /* a block whose declarations were gathered */
};

struct takt_c_name {
    struct takt_text text;
    enum takt_c_what what;
    TSNode node;       /* the declarator; for others the whole */
    TSNode holder;     /* what has the type: the declaration */
    const void *block; /* of a local: the node of its block; of a field: of
                          its class, or NULL for the first of that name */
    bool is_twice;     /* there are others of that name */
};

/* What is known about a file. */
struct takt_c_notes {
    struct takt_c_name *name; /* a hash table */
    size_t name_count, name_room;
    struct takt_ir_verdict *verdict; /* a hash table by node */
    size_t verdict_count, verdict_room;
    bool is_test_path, is_std_used;
    bool is_arma_used;      /* Armadillo's names are short: mat, vec */
    const void *named_call; /* the call that was asked for last, and its name */
    struct takt_text telling_name;
    unsigned nesting;  /* of declarations that are being looked at */
    bool is_in_class;  /* looks at the fields of one */
    bool has_matrices; /* mentions a matrix type at all */
};

/* The parts of a text that are parsed. */
size_t takt__c_ranges(const char *text, size_t size, TSRange *range,
                      size_t most);
/* The next place where a macro stands for []: KOKKOS_LAMBDA(int i) {. */
const char *takt__c_lambda(const char *text, const char *at, const char *end);
void takt__c_begin(struct takt_source *source);
void takt__c_end(struct takt_source *source);
/* NULL: there is none. What is found stays until the next look into a block. */
const struct takt_c_name *takt__c_find(const struct takt_source *source,
                                       struct takt_text text,
                                       enum takt_c_what what);

/* The declaration of a name in a block. */
const struct takt_c_name *takt__c_find_local(const struct takt_source *source,
                                             TSNode block,
                                             struct takt_text text);

/* A field of a class, which may be NULL: of any. */
const struct takt_c_name *takt__c_find_field(const struct takt_source *source,
                                             const void *class,
                                             struct takt_text text);

/* The first word of a text; whether there is nothing else. */
struct takt_text takt__c_first_word(struct takt_text text, bool *is_all);
/* Whether the word is part of the text, without regard to case. */
bool takt__c_has(struct takt_text text, const char *word);

/* The name that a declarator declares, without what is around it; a null
 * node: none. Sets `is_function` when a parameter list is in between. */
TSNode takt__c_declared_name(TSNode declarator, bool *is_function);
/* What a declaration or parameter declares, from its *at-th child on; false:
 * nothing more. */
struct takt_c_declared {
    TSNode declarator, name; /* a null node: it has none */
    bool is_function;
};
bool takt__c_next_declared(TSNode declaration, uint32_t *at,
                           struct takt_c_declared *out);
/* The first named child, or a null node. */
TSNode takt__c_first(TSNode node);
/* Without parentheses around it. */
TSNode takt__c_bare(TSNode node);
/* Without casts around it, either. */
TSNode takt__c_without_casts(const struct takt_source *source, TSNode node);

/* ---- outlines: what a header declares for others ------------------------- */

void takt__c_outline(struct takt_project *project, const char *text,
                     size_t size);
void takt__c_links(const char *text, size_t size, takt_link *link, void *self);

/* ---- place: where in a file something stands ---------------------------- */

enum { TAKT_C_DEPTH = 192 };

struct takt_c_place {
    const struct takt_source *source;
    unsigned depth;
    TSNode at[TAKT_C_DEPTH]; /* from the root to the node itself */
};

/* false: it is too deep to say. */
bool takt__c_place(const struct takt_source *source, TSNode node,
                   struct takt_c_place *place);
/* Whether it is in what the preprocessor stmts out: #if 0. */
bool takt__c_is_dead(const struct takt_c_place *place);
/* The innermost function, or a null node. */
TSNode takt__c_function(const struct takt_c_place *place);
/* The class whose method this is in; NULL: none that is known. */
const struct takt_c_name *
takt__c_class_around(const struct takt_c_place *place);
/* Its name with that of its class: written to `out`, cut to `size`. */
void takt__c_function_name(const struct takt_c_place *place, char *out,
                           size_t size);
bool takt__c_is_test(const struct takt_c_place *place);

/* A declaration of a name that is seen from a place. */
struct takt_c_declaration {
    TSNode holder;     /* what has the type */
    TSNode declarator; /* null: it is the holder's only name */
    TSNode value;      /* what it starts with, or null */
    TSNode range;      /* what it runs over, if it is of a range-for */
    bool is_parameter;
};
bool takt__c_declared(const struct takt_c_place *place, struct takt_text name,
                      struct takt_c_declaration *out);
/* Whether it is of a template around the place: template <typename T>. */
bool takt__c_is_type_parameter(const struct takt_c_place *place,
                               struct takt_text name);

/* ---- types -------------------------------------------------------------- */

struct takt_c_type {
    enum takt_ir_element element;
    enum takt_ir_kind kind;
    unsigned rank;   /* subscripts down to an element */
    uint64_t dim[3]; /* of arrays and fixed matrices; 0: not known */
    bool is_auto, is_volatile;
    bool is_iterator;    /* of a container: rank 1, but no array */
    bool is_own;         /* a class of this file */
    bool is_open;        /* the parameter of a template: it may hold some */
    bool is_container;   /* a class of elsewhere, by its name */
    const void *fields;  /* the node of the class that it is, or NULL */
    struct takt_text of; /* its name */
};

bool takt__c_is_float(struct takt_c_type type);
struct takt_c_type takt__c_type_of(const struct takt_c_place *place,
                                   struct takt_text name);
struct takt_c_type
takt__c_declared_type(const struct takt_c_place *place,
                      const struct takt_c_declaration *declaration,
                      unsigned depth);
/* Whether a declaration has one of these words, such as const. */
bool takt__c_is_qualified(const struct takt_source *source, TSNode holder,
                          const char *words);
/* Of a type's own node, with the names of the file. */
struct takt_c_type takt__c_named_type(const struct takt_c_place *place,
                                      TSNode type, unsigned depth);
/* Of a class of the project, by what it holds: a kind of matrix, if it is
 * called so; what else it may be, we cannot say. */
struct takt_c_type takt__c_class_type(const struct takt_c_place *place,
                                      TSNode class, struct takt_text name,
                                      unsigned depth);
/* Whether it is named after floating-point numbers: real, Float_, HYPRE_Real,
 * WorkDouble, scalar_t, RealType. */
bool takt__c_ends_like_float(struct takt_text name);
/* Of a field of a class, which may be NULL: of any. */
struct takt_c_type takt__c_field_type(const struct takt_c_place *place,
                                      const void *class,
                                      struct takt_text field);
/* Of a whole expression, as far as declarations tell. */
struct takt_c_type takt__c_expression_type(const struct takt_c_place *place,
                                           TSNode node, unsigned depth);

/* ---- constants ---------------------------------------------------------- */

/* The value of a constant expression and how it came to be known. */
bool takt__c_constant(const struct takt_c_place *place, TSNode node,
                      int64_t *value, enum takt_size_source *source);

/* ---- verdicts ----------------------------------------------------------- */

/* What it computes: from the notes, or worked out now. */
struct takt_ir_verdict takt__c_verdict(const struct takt_source *source,
                                       TSNode node);
/* The same without regard to what is beside it. */
struct takt_ir_verdict takt__c_own_verdict(const struct takt_source *source,
                                           TSNode node);

/* What a loop computes by itself. */
void takt__c_judge_loop(const struct takt_c_place *place, TSNode loop,
                        struct takt_ir_verdict *out);
/* What the loops in a loop make together. */
void takt__c_judge_within(const struct takt_c_place *place, TSNode loop,
                          struct takt_ir_verdict *out);
/* What loops in a row make together: this is the first of them, or one of the
 * others, which then has no op of its own. */
void takt__c_judge_row(const struct takt_c_place *place, TSNode loop,
                       struct takt_ir_verdict *out);
/* Calls of the standard library's algorithms. */
void takt__c_judge_algorithm(const struct takt_c_place *place, TSNode call,
                             struct takt_ir_verdict *out);
/* Whether a call of it runs a lambda in a loop: parallel_for, ParallelFor. */
bool takt__c_is_parallel(const struct takt_source *source, TSNode callee);
/* Operators and methods of matrix types. */
void takt__c_judge_matrix(const struct takt_c_place *place, TSNode node,
                          struct takt_ir_verdict *out);
bool takt__c_is_loop(TSNode node);

/* Whether it may compute something at all: a quick look. */
bool takt__c_is_worth_it(const struct takt_source *source, TSNode node);

/* ---- calls by name ------------------------------------------------------ */

/* The last part of a callee's name: a::b, a.b, a<T>. */
TSNode takt__c_last_part(TSNode callee);
/* The same without what people put around it: naive_, _f32; "" if a call has
 * no name. */
struct takt_text takt__c_telling_name(const struct takt_source *source,
                                      TSNode call);
/* Whether a call by a telling name may be meant: live, with arguments that
 * could be arrays, and not of a function that is known to be another. */
bool takt__c_is_telling_call(const struct takt_c_place *place, TSNode call);
/* The op of a call of BLAS; NULL: it is none. */
const char *takt__c_blas_op(const struct takt_source *source, TSNode call);
/* Sizes and dtype of a call, from its arguments. */
void takt__c_describe_call(const struct takt_c_place *place, TSNode call,
                           const char *op, struct takt_finding *out);
