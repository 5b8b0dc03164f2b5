/* SPDX-License-Identifier: MIT */
/*
 * rust.h - what the parts of the Rust scanner share.
 *
 * A query (patterns/rust.scm) proposes a call, a loop or an operator; the
 * question what it computes is answered here, from the inside out: what a name
 * is bound to (rust_names.c), what type an expression has as far as the file
 * shows it (rust_types.c), on which loops or closures it depends
 * (rust_levels.c), what is computed from the elements (rust_element.c), and
 * what that makes of the whole (rust_chain.c, rust_loop.c, rust_call.c,
 * rust_compose.c). What cannot be seen in the file is unknown, and unknown is
 * never a float.
 */
#ifndef TAKT_SCAN_RUST_H
#define TAKT_SCAN_RUST_H

#include "language.h"

enum {
    TAKT_RUST_PATH = 192,     /* nested nodes that are looked through */
    TAKT_RUST_LEVELS = 12,    /* nested loops and closures */
    TAKT_RUST_DEPTH = 24,     /* questions that lead to questions */
    TAKT_RUST_STEPS = 4000,   /* questions asked about one candidate */
    TAKT_RUST_FILE = 2000000, /* and about all of a file */
    TAKT_RUST_EXTENTS = 4
};

enum takt_rust_leaf {
    TAKT_RUST_UNKNOWN,
    TAKT_RUST_FLOAT, /* f32 or f64 */
    TAKT_RUST_F32,
    TAKT_RUST_F64,
    TAKT_RUST_INTEGER,
    TAKT_RUST_OTHER
};

enum takt_rust_shell {
    TAKT_RUST_PLAIN, /* a scalar, or arrays, slices, Vecs and iterators of them
                      */
    TAKT_RUST_NDARRAY,
    TAKT_RUST_NALGEBRA,
    TAKT_RUST_TENSOR,
    TAKT_RUST_SMALL, /* of a fixed handful of elements: Vector3 */
    TAKT_RUST_OWN,   /* a struct of this file */
    TAKT_RUST_CLOSED /* maps, sets, strings: no arrays */
};

struct takt_rust_extent {
    size_t count; /* 0: not known */
    enum takt_size_source source;
};

struct takt_rust_type {
    enum takt_rust_leaf leaf;
    enum takt_rust_shell shell;
    unsigned depth; /* of sequences in each other; the rank of a library's */
    struct takt_rust_extent extent[TAKT_RUST_EXTENTS];
    struct takt_text name; /* of a struct of this file */
};

enum takt_rust_kind {
    TAKT_RUST_CONST,
    TAKT_RUST_FIELD,
    TAKT_RUST_FUNCTION,
    TAKT_RUST_STRUCT,
    TAKT_RUST_ALIAS,
    TAKT_RUST_USE
};

struct takt_rust_name {
    enum takt_rust_kind kind;
    struct takt_text name, owner; /* owner: the struct, or of the impl */
    TSNode node;
};

enum takt_rust_bound {
    TAKT_RUST_UNBOUND,
    TAKT_RUST_LET,
    TAKT_RUST_FOR,
    TAKT_RUST_CLOSURE,
    TAKT_RUST_PARAMETER,
    TAKT_RUST_CONSTANT,
    TAKT_RUST_MATCHED /* if let, match: what it is cannot be told */
};

struct takt_rust_binding {
    enum takt_rust_bound kind;
    TSNode node;    /* the declaration, loop, closure or parameter */
    TSNode pattern; /* that binds it */
    TSNode name;    /* within the pattern */
    unsigned place; /* which of a closure's parameters */
};

/* Where what a loop or closure goes over comes from. */
enum takt_rust_drawn {
    TAKT_RUST_NOWHERE,
    TAKT_RUST_COUNTER,  /* a range, or the place that enumerate() counts */
    TAKT_RUST_ELEMENT,  /* of the sequence `node` */
    TAKT_RUST_STRETCH,  /* a slice of the sequence `node` */
    TAKT_RUST_WINDOW,   /* a slice that overlaps the next */
    TAKT_RUST_COMPUTED, /* the value of the expression `node` */
    TAKT_RUST_PAIR      /* of `node`, a zip, not taken apart */
};

struct takt_rust_item {
    enum takt_rust_drawn drawn;
    TSNode node;
};

/* A loop, or a closure that is called for each element. */
struct takt_rust_level {
    TSNode node;   /* the for_, while_ or closure_expression */
    TSNode source; /* what it goes over; of a while loop: its limit */
    struct takt_text counter; /* of a while loop: what it counts with */
    unsigned same;  /* the level that it is a part of (blocks), or itself */
    bool is_uneven; /* its range depends on an outer level's counter */
};

struct takt_rust_levels {
    unsigned count; /* the outermost first */
    struct takt_rust_level at[TAKT_RUST_LEVELS];
};

/* What a candidate computes. */
struct takt_rust_verdict {
    const char *op; /* NULL: nothing that is ours */
    TSNode anchor;  /* what is to be reported for it */
    struct takt_rust_type type;
    unsigned rank;
    struct takt_rust_extent
        extent[TAKT_RUST_EXTENTS]; /* in the order of op->shape */
};

struct takt_rust;
typedef struct takt_rust_verdict takt_rust_judgement(struct takt_rust *rust,
                                                     TSNode node);

struct takt_rust_composition {
    const void *function; /* the node it is about */
    const char *op;       /* NULL: none */
    TSNode anchor;
    TSNode part[2]; /* nodes that are a part of it */
    /* Names: max or mean; the sum; one by that. */
    struct takt_text shift, divisor, inverse;
};

/* What is known about a file. */
struct takt_rust {
    const struct takt_source *source;
    struct takt_rust_name *name;
    size_t name_count, name_room;
    struct takt_rust_trail {
        unsigned count;
        TSNode node[TAKT_RUST_PATH];
    } * trail; /* the path that was asked for last */
    struct takt_rust_memo *memo;
    unsigned steps, all_steps;
    bool is_in_own;   /* looks into a function that is called */
    bool has_arrays;  /* the name of a library's array stands in the file */
    const void *last; /* the node that `verdict` is about */
    struct takt_rust_verdict verdict;
    struct takt_rust_composition composition;
};

static inline bool rust_is(TSNode node, const char *type)
{
    return takt__node_is(node, type);
}
static inline struct takt_text rust_text(const struct takt_rust *rust,
                                         TSNode node)
{
    return takt__node_text(rust->source, node);
}
static inline bool rust_is_float(struct takt_rust_type type)
{
    return type.leaf == TAKT_RUST_FLOAT || type.leaf == TAKT_RUST_F32 ||
           type.leaf == TAKT_RUST_F64;
}
bool takt__rust_same(struct takt_text a, struct takt_text b);
bool takt__rust_same_text(const struct takt_rust *rust, TSNode a, TSNode b);
bool takt__rust_any(struct takt_text text, const char *const *words);
bool takt__rust_is_any(const struct takt_rust *rust, TSNode node,
                       const char *const *words);
TSNode takt__rust_null(void);
/* Parentheses, references, dereferences and ? taken off. */
TSNode takt__rust_bare(const struct takt_rust *rust, TSNode node);
/* The same, and casts to a float. */
TSNode takt__rust_value(const struct takt_rust *rust, TSNode node);
/* One step of the allowance; false: it is used up. */
bool takt__rust_step(struct takt_rust *rust);

/* rust_names.c */
bool takt__rust_begin(struct takt_source *source);
void takt__rust_end(struct takt_source *source);
unsigned takt__rust_path(const struct takt_rust *rust, TSNode node,
                         TSNode path[TAKT_RUST_PATH]);
TSNode takt__rust_above(const struct takt_rust *rust, TSNode node,
                        const char *type);
struct takt_rust_binding takt__rust_look_up(struct takt_rust *rust,
                                            TSNode identifier);
const struct takt_rust_name *takt__rust_find(const struct takt_rust *rust,
                                             enum takt_rust_kind kind,
                                             struct takt_text owner,
                                             struct takt_text name);
/* Whether a `use` of the file has that word. */
bool takt__rust_uses(const struct takt_rust *rust, const char *word);
/* The name of what an impl is for; empty: no impl. */
struct takt_text takt__rust_owner(const struct takt_rust *rust, TSNode node);

/* rust_memo.c */
bool takt__rust_memo_open(struct takt_rust *rust); /* false: no memory */
void takt__rust_memo_close(struct takt_rust *rust);
/* What `judge` says, or said not long ago. */
struct takt_rust_verdict takt__rust_once(struct takt_rust *rust,
                                         takt_rust_judgement *judge,
                                         TSNode node);
/* What takt__rust_look_up() says, in the same way. */
struct takt_rust_binding takt__rust_binding(struct takt_rust *rust,
                                            TSNode identifier);

/* rust_syntax.c: method calls are nodes within nodes. */
/* The name of the method that a call is of; a null node: of none. */
TSNode takt__rust_method(TSNode call);
bool takt__rust_calls(const struct takt_rust *rust, TSNode call,
                      const char *method);
TSNode takt__rust_receiver(TSNode call);
TSNode takt__rust_argument(TSNode call, unsigned place);
unsigned takt__rust_argument_count(TSNode call);
/* The type in ::<..> of a call; a null node: there is none. */
TSNode takt__rust_turbofish(TSNode call);
/* The last part of the path of a called function. */
TSNode takt__rust_callee(TSNode call);
/* zip(a, b) of the standard library or itertools, a function: its parts. */
bool takt__rust_zip(const struct takt_rust *rust, TSNode call, TSNode part[2]);
TSNode takt__rust_left(TSNode node);
TSNode takt__rust_right(TSNode node);
/* The operator of a binary, unary or compound expression: + or +=. */
struct takt_text takt__rust_operator(const struct takt_rust *rust, TSNode node);
bool takt__rust_is_op(const struct takt_rust *rust, TSNode node,
                      const char *sign);
/* The value of a block, a closure body or anything else. */
TSNode takt__rust_tail(TSNode body);
/* The call that a method chain ends with. */
TSNode takt__rust_chain_end(const struct takt_rust *rust, TSNode call);
bool takt__rust_literal_is(const struct takt_rust *rust, TSNode node,
                           double value);

/* rust_types.c, rust_values.c */
struct takt_rust_type takt__rust_scalar(enum takt_rust_leaf leaf);
struct takt_rust_type takt__rust_sequence(struct takt_rust_type inner,
                                          struct takt_rust_extent count);
struct takt_rust_type takt__rust_type_of(struct takt_rust *rust,
                                         TSNode expression, unsigned depth);
struct takt_rust_type takt__rust_type_named(struct takt_rust *rust, TSNode type,
                                            unsigned depth);
struct takt_rust_type takt__rust_bound_type(struct takt_rust *rust,
                                            struct takt_rust_binding binding,
                                            unsigned depth);

/* rust_sizes.c */
struct takt_rust_extent takt__rust_count(struct takt_rust *rust,
                                         TSNode expression, unsigned depth);
struct takt_rust_extent takt__rust_range_count(struct takt_rust *rust,
                                               TSNode range, unsigned depth);
struct takt_rust_extent
takt__rust_level_count(struct takt_rust *rust,
                       const struct takt_rust_level *level);

/* rust_levels.c */
struct takt_rust_item takt__rust_item(struct takt_rust *rust, TSNode source,
                                      TSNode pattern, TSNode name,
                                      unsigned depth);
struct takt_rust_item takt__rust_bound_item(struct takt_rust *rust,
                                            struct takt_rust_binding binding,
                                            unsigned depth);
struct takt_rust_type takt__rust_item_type(struct takt_rust *rust,
                                           TSNode source, unsigned depth);
void takt__rust_levels(struct takt_rust *rust, TSNode node,
                       struct takt_rust_levels *out);
unsigned takt__rust_depends(struct takt_rust *rust,
                            const struct takt_rust_levels *levels,
                            TSNode expression, unsigned depth);
unsigned takt__rust_all_levels(const struct takt_rust_levels *levels);
/* Whether it is another at each turn of the innermost level. */
bool takt__rust_varies(struct takt_rust *rust,
                       const struct takt_rust_levels *levels,
                       TSNode expression);
/* The range of (0..n), (0..n).rev(), .step_by(..); a null node: none. */
TSNode takt__rust_range(const struct takt_rust *rust, TSNode source);

/* rust_element.c */
/* An element of an array: x, *x, a[i], m.get(i, j). */
bool takt__rust_is_element(struct takt_rust *rust,
                           const struct takt_rust_levels *levels,
                           TSNode expression);
bool takt__rust_reads(struct takt_rust *rust,
                      const struct takt_rust_levels *levels, TSNode expression);
/* Reads where elements say: x[places[i]]. */
bool takt__rust_gathers(struct takt_rust *rust,
                        const struct takt_rust_levels *levels,
                        TSNode expression, bool is_index, unsigned depth);
/* Takes one of each chunk or row, as p[0] of pixels: they lie apart. */
bool takt__rust_picks(struct takt_rust *rust,
                      const struct takt_rust_levels *levels, TSNode expression,
                      unsigned depth);
/* Calls nothing but arithmetic. */
bool takt__rust_is_pure(struct takt_rust *rust, TSNode expression);
/* What becomes of the elements; NULL: nothing of the catalogue. */
const char *takt__rust_element_op(struct takt_rust *rust,
                                  const struct takt_rust_levels *levels,
                                  TSNode expression);
/* The op that a function of one element is, by its name: f32::sqrt. */
const char *takt__rust_function_op(const struct takt_rust *rust,
                                   TSNode function);

/* What is accumulated: `op` is "sum", "dot", "norm1", "variance". */
struct takt_rust_summand {
    const char *op;
    TSNode left, right; /* of a product, else left alone */
    bool is_square;
};
struct takt_rust_summand
takt__rust_summand(struct takt_rust *rust,
                   const struct takt_rust_levels *levels, TSNode expression);

/* rust_step.c: a statement that is run for each element. */
struct takt_rust_step {
    const char *op;        /* of a reduction: "sum", "max" ...; or NULL */
    TSNode target;         /* what is assigned */
    TSNode value;          /* what is accumulated, or the element's new value */
    struct takt_text sign; /* of a compound assignment: "+" */
    bool is_reduction;
};
bool takt__rust_step_of(struct takt_rust *rust,
                        const struct takt_rust_levels *levels, TSNode statement,
                        struct takt_rust_step *out);
/* |acc, x| body as a reduction: what it does and to what. */
const char *takt__rust_folds(struct takt_rust *rust,
                             struct takt_text accumulator, TSNode body,
                             TSNode *value);

/* rust_nest.c */
/* What a reduction of `summand` within these levels is: dot, gemv, matmul ... ;
 * `kept`: the levels that the result depends on. */
bool takt__rust_product(struct takt_rust *rust,
                        const struct takt_rust_levels *levels,
                        struct takt_rust_summand summand, unsigned kept,
                        unsigned reduced, struct takt_rust_verdict *out);
/* y[i + j] += x[i] * h[j]: a convolution that adds to where it goes. */
bool takt__rust_scatters(struct takt_rust *rust,
                         const struct takt_rust_levels *levels,
                         struct takt_rust_summand summand, TSNode target,
                         struct takt_rust_verdict *out);
TSNode takt__rust_level_anchor(const struct takt_rust *rust,
                               const struct takt_rust_level *level);

/* rust_source.c */
/* The chain goes over something that can be an array: no map, no string. */
bool takt__rust_is_array_chain(struct takt_rust *rust, TSNode receiver);
/* Goes over something that is known to lie in memory, not a generator. */
bool takt__rust_is_in_memory(struct takt_rust *rust, TSNode source);
/* The .collect() of v.windows(n).map(|w| ..) where `call` reduces w; a null
 * node: it does not. */
TSNode takt__rust_pool(struct takt_rust *rust, TSNode call);

/* rust_turn.c */
/* Reads other elements of the array that it writes: v[i] = v[i - 1], also
 * by a name that was given to one. */
bool takt__rust_feeds_back(struct takt_rust *rust, TSNode target, TSNode node,
                           unsigned depth);
/* Whether a value uses a variable that the same body assigns: each turn then
 * needs the one before. */
bool takt__rust_is_carried(struct takt_rust *rust,
                           const struct takt_rust_levels *levels, TSNode body,
                           TSNode target, TSNode node, unsigned depth);
/* Whether `target` stands somewhere in a node. */
bool takt__rust_mentions(struct takt_rust *rust, TSNode node, TSNode target,
                         unsigned depth);
/* Whether another statement than `step` stores or passes on what was gathered
 * so far. */
bool takt__rust_is_handed_on(struct takt_rust *rust, TSNode body, TSNode step,
                             TSNode target);
/* Whether what a loop gathered is divided by a count, and before that not
 * used. */
bool takt__rust_is_averaged(struct takt_rust *rust, TSNode loop, TSNode target);

/* rust_chain.c, rust_loop.c, rust_call.c: what a node computes by itself. */
struct takt_rust_verdict takt__rust_chain(struct takt_rust *rust, TSNode call);
/* The divisor of a mean: a count made a float. */
bool takt__rust_is_count(struct takt_rust *rust, TSNode node);
struct takt_rust_verdict takt__rust_body(struct takt_rust *rust, TSNode body,
                                         TSNode anchor);
struct takt_rust_verdict takt__rust_loop(struct takt_rust *rust, TSNode loop);
struct takt_rust_verdict takt__rust_call(struct takt_rust *rust, TSNode call);
struct takt_rust_verdict takt__rust_operation(struct takt_rust *rust,
                                              TSNode binary);
struct takt_rust_verdict takt__rust_macro(struct takt_rust *rust,
                                          TSNode invocation);

/* rust_compose.c */
/* Softmax, layernorm and attention, of which a candidate may be the heart or a
 * part: the first changes the verdict, the second takes it away. */
void takt__rust_compose(struct takt_rust *rust, TSNode node,
                        struct takt_rust_verdict *verdict);

/* rust.c */
struct takt_rust_verdict takt__rust_judge(struct takt_rust *rust, TSNode node);
struct takt_rust_verdict takt__rust_raw(struct takt_rust *rust, TSNode node);

#endif
