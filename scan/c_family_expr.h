/* SPDX-License-Identifier: MIT */
/*
 * c_family_expr.h - the inside of loops as expressions that can be compared:
 * parentheses and casts are gone, names that stand for others are replaced by
 * what they stand for, and each expression knows which loops it changes with.
 */
#ifndef TAKT_SCAN_C_FAMILY_EXPR_H
#define TAKT_SCAN_C_FAMILY_EXPR_H

#include "c_family.h"

enum takt_c_sort {
    TAKT_C_NUMBER,
    TAKT_C_NAME,    /* does not change in the loops, unless is_varying */
    TAKT_C_STEP,    /* counts with a loop */
    TAKT_C_ACCESS,  /* an element: base and indices */
    TAKT_C_ADDRESS, /* of one */
    TAKT_C_ADD,
    TAKT_C_SUB,
    TAKT_C_MUL,
    TAKT_C_DIV,
    TAKT_C_NEG,
    TAKT_C_CALL, /* of a function of mathematics: its name without f and std */
    TAKT_C_PICK, /* part[0] ? part[1] : part[2] */
    TAKT_C_LESS,
    TAKT_C_GREATER,
    TAKT_C_OPAQUE /* of an index: whatever it is, it changes with `steps` */
};

enum { TAKT_C_PARTS = 5 };

struct takt_c_expr {
    enum takt_c_sort sort;
    uint32_t steps; /* the loops it changes with */
    double number;
    struct takt_text text; /* the name, the callee or the base */
    struct takt_c_type type;
    bool is_varying; /* a name that the loops assign */
    unsigned parts;
    struct takt_c_expr *part[TAKT_C_PARTS];
};

enum { TAKT_C_LOOPS = 10, TAKT_C_LEAVES = 24, TAKT_C_NAMES = 32 };
enum { TAKT_C_EXPRS = 400 };

struct takt_c_loop {
    TSNode node;
    uint32_t around; /* the loops around it and itself */
    uint32_t bit;    /* shared by loops that count together: tiles */
    struct takt_text var;
    TSNode start, bound; /* may be null */
    bool is_inclusive, is_downward, is_over_range;
    uint64_t extent; /* how often it runs; 0: not known */
    enum takt_size_source source;
    uint64_t stride; /* of the variable; 0: not known */
    bool is_active;  /* has something in it that counts */
};

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
    bool is_bound; /* a parameter of a function that is read in its place */
    uint32_t stepped, declared; /* in these loops */
    struct takt_c_type type;
    struct takt_c_expr *value; /* what it was declared with */
};

enum takt_c_effect {
    TAKT_C_STORE,
    TAKT_C_SUM,
    TAKT_C_DIFFERENCE,
    TAKT_C_PRODUCT,
    TAKT_C_QUOTIENT,
    TAKT_C_MAX,
    TAKT_C_MIN,
    TAKT_C_ARGMAX,
    TAKT_C_ARGMIN
};

struct takt_c_leaf {
    enum takt_c_effect effect;
    struct takt_c_expr *target, *value;
    uint32_t around;
    bool is_declaration;
    bool is_appended; /* where the target ends is not known */
};

struct takt_c_nest {
    const struct takt_c_place *place;
    const struct takt_source *source;
    unsigned loops, leaves, locals, exprs, next_loop;
    unsigned hidden;  /* locals that are not seen: those of a caller */
    unsigned inlined; /* functions that are being read in their place */
    bool is_choosing; /* reads what an if leads to */
    bool is_guarded;  /* not for all steps: where, not what, decides */
    struct takt_c_loop loop[TAKT_C_LOOPS];
    struct takt_c_leaf leaf[TAKT_C_LEAVES];
    struct takt_c_local local[TAKT_C_NAMES];
    struct takt_c_expr expr[TAKT_C_EXPRS];
};

/* false: there is something in it that we do not understand. */
bool takt__c_survey(struct takt_c_nest *nest, TSNode loop);
bool takt__c_collect(struct takt_c_nest *nest, TSNode loop);

/* What one statement does; the statements of a block from one on. */
bool takt__c_collect_within(struct takt_c_nest *nest, TSNode node,
                            uint32_t around, unsigned depth);
bool takt__c_collect_from(struct takt_c_nest *nest, TSNode block,
                          uint32_t first, uint32_t around, unsigned depth);
bool takt__c_collect_choice(struct takt_c_nest *nest, TSNode node,
                            uint32_t around, unsigned depth);
/* if (..) continue, told by an element: the rest is done only otherwise. */
bool takt__c_is_passing_over(struct takt_c_nest *nest, TSNode node);
bool takt__c_collect_rest(struct takt_c_nest *nest, TSNode block, uint32_t at,
                          uint32_t around, unsigned depth);

/* Puts a leaf with the others, unless there is something missing in it. */
bool takt__c_add_leaf(struct takt_c_nest *nest, struct takt_c_leaf leaf);
/* s = s + x is s += x, s = max(s, x) takes the largest, and so on. */
void takt__c_simplify(struct takt_c_nest *nest, struct takt_c_leaf *leaf);

/* What a loop counts with; for the second look. */
bool takt__c_read_head(struct takt_c_nest *nest, struct takt_c_loop *loop);

/* NULL: not understood. `is_index`: anything that has no effect will do. */
struct takt_c_expr *takt__c_expr(struct takt_c_nest *nest, TSNode node,
                                 bool is_index, unsigned depth);
struct takt_c_expr *takt__c_expr_new(struct takt_c_nest *nest,
                                     enum takt_c_sort sort);
struct takt_c_expr *takt__c_expr_pair(struct takt_c_nest *nest,
                                      enum takt_c_sort sort,
                                      struct takt_c_expr *a,
                                      struct takt_c_expr *b);
/* The same; to a pointer, something is added as an index. */
struct takt_c_expr *takt__c_expr_offset(struct takt_c_nest *nest,
                                        enum takt_c_sort sort,
                                        struct takt_c_expr *a,
                                        struct takt_c_expr *b);
/* `e` with one part more, or NULL. */
struct takt_c_expr *takt__c_expr_part(struct takt_c_expr *e,
                                      struct takt_c_expr *part);
struct takt_c_expr *takt__c_expr_name(struct takt_c_nest *nest,
                                      struct takt_text text,
                                      struct takt_c_type type);
/* What a name stands for here. */
struct takt_c_expr *takt__c_expr_named(struct takt_c_nest *nest,
                                       struct takt_text text);
struct takt_c_expr *takt__c_expr_call(struct takt_c_nest *nest, TSNode node,
                                      bool is_index, unsigned depth);
/* What a function or macro of this file, that only returns something, makes of
 * its arguments; NULL: it is none of these. */
struct takt_c_expr *takt__c_expr_inlined(struct takt_c_nest *nest,
                                         TSNode callee, TSNode arguments,
                                         unsigned depth);
/* A function or lambda that a name stands for, or the node itself if it is
 * one; a null node: none that can be seen. */
TSNode takt__c_function_named(const struct takt_c_place *place, TSNode name);
/* What a function or lambda returns, if it does nothing else. */
TSNode takt__c_returned(TSNode function);
/* The parameters of a function or lambda, or a null node. */
TSNode takt__c_parameters(TSNode function);
/* A macro's text, its parameters bound; NULL: not understood. */
struct takt_c_expr *takt__c_expr_macro(struct takt_c_nest *nest,
                                       struct takt_text body);
/* An element of what a name, an address or a row is. */
struct takt_c_expr *takt__c_expr_element(struct takt_c_nest *nest,
                                         const struct takt_c_expr *base,
                                         struct takt_c_expr *index);
/* A call of a function of mathematics by its name, without its arguments. */
struct takt_c_expr *takt__c_expr_function(struct takt_c_nest *nest,
                                          struct takt_text name);
/* test ? yes : no, or the function that does the same: max, min, abs. */
struct takt_c_expr *takt__c_expr_pick(struct takt_c_nest *nest,
                                      struct takt_c_expr *test,
                                      struct takt_c_expr *yes,
                                      struct takt_c_expr *no);
/* a->b, of something that does not change. */
struct takt_c_expr *takt__c_expr_field(struct takt_c_nest *nest,
                                       const struct takt_c_expr *of,
                                       struct takt_text whole,
                                       struct takt_text field);
/* Whether an index is not looked up in another array. */
bool takt__c_is_plain_index(const struct takt_c_expr *e);
/* The same name or address, of that type. */
struct takt_c_expr *takt__c_expr_typed(struct takt_c_nest *nest,
                                       struct takt_c_expr *e,
                                       struct takt_c_type type);
struct takt_c_local *takt__c_local(struct takt_c_nest *nest,
                                   struct takt_text text);
/* The same, which is made if it is not there; NULL: there are too many. */
struct takt_c_local *takt__c_local_named(struct takt_c_nest *nest,
                                         struct takt_text text);
const struct takt_c_loop *takt__c_loop_of(const struct takt_c_nest *nest,
                                          struct takt_text var);

bool takt__c_same(const struct takt_c_expr *a, const struct takt_c_expr *b);
bool takt__c_mentions(const struct takt_c_expr *in,
                      const struct takt_c_expr *what);
/* Whether two indices differ by more than a number, and only in what the loops
 * do not change: i * n + t and j * n + t. */
bool takt__c_is_other_row(const struct takt_c_expr *a,
                          const struct takt_c_expr *b);
/* Whether a name that the loops assign is in it. */
bool takt__c_varies(const struct takt_c_expr *e);
bool takt__c_has_access(const struct takt_c_expr *e);
/* Whether an array in it is read or written backwards: a[n - i]. */
bool takt__c_is_mirrored(const struct takt_c_expr *e);
/* Whether elements are looked up in it that change with the loops. */
bool takt__c_is_gathered(const struct takt_c_expr *e);
bool takt__c_is_call(const struct takt_c_expr *e, const char *name);
bool takt__c_is_number(const struct takt_c_expr *e, double number);

/* The op of out[i] = value; NULL: none. `target` is what is written, or NULL.
 * Also what a lambda does with its parameters. */
const char *takt__c_element_op(const struct takt_c_expr *target,
                               const struct takt_c_expr *value);
/* Whether one has the rows and columns of the other changed for each other. */
bool takt__c_is_turned(const struct takt_c_expr *a,
                       const struct takt_c_expr *b);
/* The op of s += value, without what is done with s afterwards. */
const char *takt__c_sum_op(const struct takt_c_expr *value);
bool takt__c_is_normalizing(const struct takt_c_expr *value);
/* The factors of a product that change with loops; how many. */
unsigned takt__c_factors(const struct takt_c_expr *e,
                         const struct takt_c_expr **factor, unsigned most);

/* ---- a nest of loops, all in one another --------------------------------- */

void takt__c_judge_nest(struct takt_c_nest *nest, struct takt_c_verdict *out);

#endif
