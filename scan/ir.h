/* SPDX-License-Identifier: MIT */
/*
 * ir.h - loops of any language in one form: a nest of loops, and the statements
 * in it as expressions that can be compared. Parentheses and casts are gone,
 * names that stand for others are replaced by what they stand for, and each
 * expression says which loops it changes with.
 *
 * A language lowers its syntax to this form; judge.h says what it computes.
 */
#pragma once

#include "language.h"

/* ---- types --------------------------------------------------------------- */

enum takt_ir_element {
    TAKT_IR_UNKNOWN,
    TAKT_IR_F32,
    TAKT_IR_F64,
    TAKT_IR_FLOAT,   /* one of these two */
    TAKT_IR_GENERIC, /* a parameter of a template */
    TAKT_IR_INTEGER,
    TAKT_IR_OTHER /* known, and no number that we have ops for */
};

enum takt_ir_kind {
    TAKT_IR_PLAIN,  /* a scalar, an array, a pointer, a container of these */
    TAKT_IR_MATRIX, /* * is the product of matrices */
    TAKT_IR_VECTOR, /* the same, one column or row */
    TAKT_IR_ARRAY   /* * is element by element */
};

struct takt_ir_type {
    enum takt_ir_element element;
    enum takt_ir_kind kind;
    unsigned rank;      /* subscripts down to an element */
    uint64_t dim[3];    /* 0: not known */
    const void *fields; /* of a struct: the language's own */
};

bool takt__ir_is_float(enum takt_ir_element element);

/* ---- expressions --------------------------------------------------------- */

enum takt_ir_sort {
    TAKT_IR_NUMBER,
    TAKT_IR_NAME,    /* does not change in the loops, unless is_varying */
    TAKT_IR_COUNT,   /* counts with a loop */
    TAKT_IR_ACCESS,  /* an element: base and indices */
    TAKT_IR_ADDRESS, /* of one; also a row or slice that starts there */
    TAKT_IR_ADD,
    TAKT_IR_SUB,
    TAKT_IR_MUL,
    TAKT_IR_DIV,
    TAKT_IR_NEG,
    TAKT_IR_CALL, /* of a function of mathematics, by C's name for doubles */
    TAKT_IR_PICK, /* part[0] ? part[1] : part[2] */
    TAKT_IR_LESS,
    TAKT_IR_GREATER,
    TAKT_IR_OPAQUE /* of an index: whatever it is, it changes with `loops` */
};

enum { TAKT_IR_PARTS = 5 };

struct takt_ir_expr {
    enum takt_ir_sort sort;
    uint32_t loops; /* the loops it changes with */
    double number;
    struct takt_text text; /* the name, the function or the base */
    struct takt_ir_type type;
    bool is_varying; /* a name that the loops assign */
    bool is_field;   /* an element: a field of one that is a struct */
    unsigned parts;
    struct takt_ir_expr *part[TAKT_IR_PARTS];
};

/* ---- loops and statements ------------------------------------------------ */

enum { TAKT_IR_LOOPS = 10, TAKT_IR_STMTS = 24, TAKT_IR_EXPRS = 400 };

struct takt_ir_loop {
    uint32_t around; /* the loops around it and itself, a bit each */
    uint32_t bit;    /* shared by loops that count together: tiles */
    struct takt_text var;
    struct takt_ir_expr *from, *to; /* may be NULL */
    bool is_inclusive, is_downward;
    uint64_t extent; /* how often it runs; 0: not known */
    enum takt_size_source source;
    uint64_t stride; /* of the variable; 0: not known */
    bool is_active;  /* has something in it that counts */
};

enum takt_ir_effect {
    TAKT_IR_STORE,
    TAKT_IR_SUM,
    TAKT_IR_DIFFERENCE,
    TAKT_IR_PRODUCT,
    TAKT_IR_QUOTIENT,
    TAKT_IR_MAX,
    TAKT_IR_MIN,
    TAKT_IR_ARGMAX,
    TAKT_IR_ARGMIN,
    TAKT_IR_SWAP /* target and value are exchanged */
};

struct takt_ir_stmt {
    enum takt_ir_effect effect;
    struct takt_ir_expr *target, *value;
    uint32_t around;
    bool is_appended; /* where the target ends is not known */
};

struct takt_ir_nest {
    unsigned loop_count, stmt_count, expr_count;
    unsigned open;   /* loops whose heads were read */
    uint32_t around; /* the loops around what is being read */
    unsigned results, prefixes;
    bool is_choosing;               /* what an if leads to is being read */
    struct takt_ir_expr *prefix[3]; /* counts of the collected around this */
    bool is_guarded;  /* not for all rounds: where, not what, decides */
    bool is_optional; /* for all rounds or none of these loops */
    struct takt_ir_loop loop[TAKT_IR_LOOPS];
    struct takt_ir_stmt stmt[TAKT_IR_STMTS];
    struct takt_ir_expr expr[TAKT_IR_EXPRS];
};

/* ---- making them; each is NULL if a part is NULL or there is no room ------
 */

struct takt_ir_expr *takt__ir_new(struct takt_ir_nest *nest,
                                  enum takt_ir_sort sort);
struct takt_ir_expr *takt__ir_number(struct takt_ir_nest *nest, double number);
struct takt_ir_expr *takt__ir_name(struct takt_ir_nest *nest,
                                   struct takt_text text,
                                   struct takt_ir_type type);
struct takt_ir_expr *takt__ir_count(struct takt_ir_nest *nest,
                                    struct takt_text text, uint32_t loops);
struct takt_ir_expr *takt__ir_opaque(struct takt_ir_nest *nest, uint32_t loops);
/* What an operator of most languages is here; false: it is none of these. */
bool takt__ir_operator(struct takt_text sign, enum takt_ir_sort *out);
/* a sign b; of an index, whatever it does with what is no element. NULL: it is
 * not read. */
struct takt_ir_expr *takt__ir_binary(struct takt_ir_nest *nest,
                                     struct takt_text sign,
                                     struct takt_ir_expr *a,
                                     struct takt_ir_expr *b, bool is_index);
/* A number as it is written, with _ and a suffix. */
struct takt_ir_expr *takt__ir_literal(struct takt_ir_nest *nest,
                                      struct takt_text text);

struct takt_ir_expr *takt__ir_pair(struct takt_ir_nest *nest,
                                   enum takt_ir_sort sort,
                                   struct takt_ir_expr *a,
                                   struct takt_ir_expr *b);
/* The same; to an address or an array, something is added as an index. */
struct takt_ir_expr *takt__ir_offset(struct takt_ir_nest *nest,
                                     enum takt_ir_sort sort,
                                     struct takt_ir_expr *a,
                                     struct takt_ir_expr *b);
/* -x, of a number the number. */
struct takt_ir_expr *takt__ir_negative(struct takt_ir_nest *nest,
                                       struct takt_ir_expr *e);
/* `e` with one part more. */
struct takt_ir_expr *takt__ir_part(struct takt_ir_expr *e,
                                   struct takt_ir_expr *part);
/* A function by its name, without its arguments. */
struct takt_ir_expr *takt__ir_call(struct takt_ir_nest *nest, const char *name);
/* An address of what a name or another address points to. */
struct takt_ir_expr *takt__ir_address(struct takt_ir_nest *nest,
                                      const struct takt_ir_expr *of);
/* The address moved by an offset, in its last index. */
struct takt_ir_expr *takt__ir_moved(struct takt_ir_nest *nest,
                                    struct takt_ir_expr *from,
                                    struct takt_ir_expr *by);
/* An element of what a name, an address or a row is. */
struct takt_ir_expr *takt__ir_element(struct takt_ir_nest *nest,
                                      const struct takt_ir_expr *base,
                                      struct takt_ir_expr *index);
/* A field of an element that is a struct: an element of an array of its own,
 * which does not lie without gaps. */
struct takt_ir_expr *takt__ir_field(struct takt_ir_nest *nest,
                                    const struct takt_source *source,
                                    const struct takt_ir_expr *of,
                                    struct takt_text name,
                                    struct takt_ir_type type);
/* The same name or address, of that type. */
struct takt_ir_expr *takt__ir_typed(struct takt_ir_nest *nest,
                                    struct takt_ir_expr *e,
                                    struct takt_ir_type type);
/* test ? yes : no, or the function that does the same: max, min, abs. */
struct takt_ir_expr *takt__ir_pick(struct takt_ir_nest *nest,
                                   struct takt_ir_expr *test,
                                   struct takt_ir_expr *yes,
                                   struct takt_ir_expr *no);
/* a < b for a > b, and the other way round. */
struct takt_ir_expr *takt__ir_opposite(struct takt_ir_nest *nest,
                                       const struct takt_ir_expr *e);

/* ---- asking them --------------------------------------------------------- */

bool takt__ir_same_text(struct takt_text a, struct takt_text b);
bool takt__ir_same(const struct takt_ir_expr *a, const struct takt_ir_expr *b);
bool takt__ir_mentions(const struct takt_ir_expr *in,
                       const struct takt_ir_expr *what);
/* Whether two indices differ by more than a number, and only in what the loops
 * do not change: i * n + t and j * n + t. */
bool takt__ir_is_other_row(const struct takt_ir_expr *a,
                           const struct takt_ir_expr *b);
/* Whether a name that the loops assign is in it. */
bool takt__ir_varies(const struct takt_ir_expr *e);
bool takt__ir_has_access(const struct takt_ir_expr *e);
/* Whether an array in it is read or written backwards: a[n - i]. */
bool takt__ir_is_mirrored(const struct takt_ir_expr *e);
/* Whether elements are looked up in it that change with the loops. */
bool takt__ir_is_gathered(const struct takt_ir_expr *e);
/* Whether an element of that array is in it. */
bool takt__ir_reads(const struct takt_ir_expr *e, struct takt_text base);
/* Whether an index is not looked up in another array. */
bool takt__ir_is_plain_index(const struct takt_ir_expr *e);
bool takt__ir_is_call(const struct takt_ir_expr *e, const char *name);
bool takt__ir_is_number(const struct takt_ir_expr *e, double number);
bool takt__ir_is_comparison(const struct takt_ir_expr *e);
/* The factors of a product that change with loops; how many. */
unsigned takt__ir_factors(const struct takt_ir_expr *e,
                          const struct takt_ir_expr **factor, unsigned most);

/* ---- chains and comprehensions ------------------------------------------- */

/* A loop within those around, which then is around, too; NULL: no room. */
struct takt_ir_loop *takt__ir_open(struct takt_ir_nest *nest);
/* A name for what a chain gathers, which starts anew for each round around. */
struct takt_ir_expr *takt__ir_result(struct takt_ir_nest *nest,
                                     struct takt_ir_type type);
/* An element of what a chain collects, at `at`, which may be NULL, within what
 * is collected around it. */
struct takt_ir_expr *takt__ir_collected(struct takt_ir_nest *nest,
                                        struct takt_ir_expr *at);
bool takt__ir_is_collected(const struct takt_ir_expr *e);
/* A count of all rounds of the loops around: where something is appended. */
struct takt_ir_expr *takt__ir_rounds(struct takt_ir_nest *nest);

/* ---- statements ---------------------------------------------------------- */

/* A statement within the loops around, simplified. */
bool takt__ir_store(struct takt_ir_nest *nest, enum takt_ir_effect effect,
                    struct takt_ir_expr *target, struct takt_ir_expr *value);

/* What = += -= *= /= do; false: the sign is none of these. */
bool takt__ir_effect(struct takt_text sign, enum takt_ir_effect *out);
/* What a target that was `to` is after that. */
struct takt_ir_expr *takt__ir_after(struct takt_ir_nest *nest,
                                    enum takt_ir_effect effect,
                                    struct takt_ir_expr *to,
                                    struct takt_ir_expr *value);

/* Puts a statement with the others, unless there is something missing in it. */
bool takt__ir_add(struct takt_ir_nest *nest, struct takt_ir_stmt stmt);
/* s = s + x is s += x, s = max(s, x) takes the largest, and so on. */
void takt__ir_simplify(struct takt_ir_nest *nest, struct takt_ir_stmt *stmt);
/* `count` statements from `first` on are done only if: becomes the statement
 * that does the same. if (x > m) { m = x; at = i; } is an argmax,
 * if (x[i] < 0) x[i] = 0 is x[i] = x[i] < 0 ? 0 : x[i]. */
bool takt__ir_fold_choice(struct takt_ir_nest *nest,
                          struct takt_ir_expr *condition, unsigned first,
                          unsigned count);
/* The statement behind it is done if not: x = b, if, and x = c, if not; or two
 * limits. */
bool takt__ir_fold_either(struct takt_ir_nest *nest,
                          struct takt_ir_expr *condition, unsigned first);
/* Where, and not what, decides. */
bool takt__ir_is_guard(const struct takt_ir_expr *condition);
/* What follows is done only if such a condition holds. */
void takt__ir_guard(struct takt_ir_nest *nest,
                    const struct takt_ir_expr *condition);
