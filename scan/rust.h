/* SPDX-License-Identifier: MIT */
/*
 * rust.h - what the parts of the Rust scanner share.
 *
 * A query (patterns/rust.scm) proposes a call, a loop or an operator; the
 * question what it computes is answered here, from the inside out: what a name
 * is bound to (rust_names.c), what type an expression has as far as the file
 * shows it (rust_types.c), the form of a loop or chain (rust_lower.h), calls
 * (rust_call.c), and what several make together (rust_compose.c). What cannot
 * be seen in the file is unknown, and unknown is never a float.
 */
#pragma once

#include "judge.h"

enum {
    TAKT_RUST_PATH = 192,     /* nested nodes that are looked through */
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
    TAKT_RUST_GENERIC, /* of a type parameter that may be another number */
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
    struct takt_text name; /* of a struct of this file; its leaf, depth and
                              `given` are those of what it has for its
                              parameter: Grid<f64>, Shared<Array1<f32>> */
    enum takt_rust_shell given;
    TSNode tuple; /* of its elements; no tree: they are none */
};

enum takt_rust_kind {
    TAKT_RUST_CONST,
    TAKT_RUST_FIELD,
    TAKT_RUST_FUNCTION,
    TAKT_RUST_STRUCT,
    TAKT_RUST_ALIAS,
    TAKT_RUST_TRAIT,
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
    TSNode pattern; /* what is left of the pattern, for an element */
};

/* A loop or chain: what it goes over. */
struct takt_rust_level {
    TSNode source;
};

/* What a candidate computes. */
struct takt_rust_verdict {
    const char *op;      /* NULL: nothing that is ours */
    TSNode anchor;       /* what is to be reported for it */
    bool is_nest;        /* a loop or a chain, which stands for what is in it */
    enum takt_role role; /* in a row */
    struct takt_text total; /* the name that a loop adds up into */
    enum takt_certainty certainty;
    struct takt_rust_type type;
    unsigned rank;
    struct takt_rust_extent
        extent[TAKT_RUST_EXTENTS]; /* in the order of op->shape */
};

struct takt_rust;
typedef struct takt_rust_verdict takt_rust_judgement(struct takt_rust *rust,
                                                     TSNode node);

/* What the steps of a function are together. */
enum { TAKT_RUST_COMPOSED = 32 };
struct takt_rust_composition {
    const void *function; /* the node it is about */
    unsigned count;
    struct {
        TSNode node;
        const char *op; /* of the whole, at its heart; NULL: only a part */
    } part[TAKT_RUST_COMPOSED];
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
    bool is_in_own;    /* looks into a function that is called */
    const char *macro; /* that `macro_leaf` is of: where it stands */
    enum takt_rust_leaf macro_leaf;
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
/* What is known of its elements is that they are some number, at most. */
static inline bool takt__rust_is_open(struct takt_rust_type type)
{
    return type.leaf == TAKT_RUST_UNKNOWN || type.leaf == TAKT_RUST_GENERIC;
}
bool takt__rust_contains(struct takt_text text, const char *word);
bool takt__rust_same_text(const struct takt_rust *rust, TSNode a, TSNode b);
bool takt__rust_is_any(const struct takt_rust *rust, TSNode node,
                       const char *words);
TSNode takt__rust_null(void);
/* Parentheses, references, dereferences and ? taken off. */
TSNode takt__rust_bare(const struct takt_rust *rust, TSNode node);
/* One step of the allowance; false: it is used up. */
bool takt__rust_step(struct takt_rust *rust);

/* rust_outline.c */
void takt__rust_outline(struct takt_project *project, const char *text,
                        size_t size);

/* rust_ranges.c */
size_t takt__rust_ranges(const char *text, size_t size, TSRange *range,
                         size_t most);
/* $t in a macro, by what the macro is called with in this file. */
enum takt_rust_leaf takt__rust_macro_leaf(struct takt_rust *rust,
                                          struct takt_text type);

/* rust_names.c */
void takt__rust_begin(struct takt_source *source);
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
void takt__rust_memo_open(struct takt_rust *rust);
void takt__rust_memo_close(struct takt_rust *rust);
/* What `judge` says, or said not long ago. */
struct takt_rust_verdict takt__rust_once(struct takt_rust *rust,
                                         takt_rust_judgement *judge,
                                         TSNode node);
/* What takt__rust_look_up() says, in the same way. */
struct takt_rust_binding takt__rust_binding(struct takt_rust *rust,
                                            TSNode identifier);

/* Whether that holds for a node of a tree, outer ones first. */
typedef bool takt_rust_test(struct takt_rust *rust, TSNode node, void *about);
bool takt__rust_any(struct takt_rust *rust, TSNode node, takt_rust_test *holds,
                    void *about, unsigned depth);

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
/* mut x, ref x, &x: x. */
TSNode takt__rust_bare_pattern(TSNode pattern);
/* The value of a block, a closure body or anything else. */
TSNode takt__rust_tail(TSNode body);
bool takt__rust_literal_is(const struct takt_rust *rust, TSNode node,
                           double value);

/* rust_types.c, rust_bound.c, rust_values.c */
/* Where the parameter of a struct stands, what it was given for it. */
struct takt_rust_type takt__rust_given(struct takt_rust_type type,
                                       struct takt_rust_type owner);
/* What a method makes of an array of a library: a part of it, or a number. */
struct takt_rust_type takt__rust_array_method(struct takt_rust_type type,
                                              struct takt_text name);
/* What a struct of the crate has a Vec of, for m[(i, j)]. */
struct takt_rust_type takt__rust_own_element(struct takt_rust *rust,
                                             struct takt_rust_type type);
/* What one index leads to. */
struct takt_rust_type takt__rust_element(struct takt_rust_type type);
/* A floating-point array of ndarray or nalgebra. */
bool takt__rust_is_array(struct takt_rust_type type);
struct takt_rust_type takt__rust_scalar(enum takt_rust_leaf leaf);
struct takt_rust_type takt__rust_sequence(struct takt_rust_type inner,
                                          struct takt_rust_extent count);
struct takt_rust_type takt__rust_type_of(struct takt_rust *rust,
                                         TSNode expression, unsigned depth);
struct takt_rust_type takt__rust_type_named(struct takt_rust *rust, TSNode type,
                                            unsigned depth);
/* What the items around a node say of a type parameter: FLOAT, GENERIC for some
 * number, or UNKNOWN. */
enum takt_rust_leaf takt__rust_leaf_at(const struct takt_rust *rust,
                                       TSNode node, TSNode type);
struct takt_rust_type takt__rust_bound_type(struct takt_rust *rust,
                                            struct takt_rust_binding binding,
                                            unsigned depth);

/* match x { A => y, B => z }: of the first arm whose type is known. */
struct takt_rust_type takt__rust_match_type(struct takt_rust *rust, TSNode node,
                                            unsigned depth);

/* rust_sizes.c */
struct takt_rust_extent takt__rust_count(struct takt_rust *rust,
                                         TSNode expression, unsigned depth);
struct takt_rust_extent takt__rust_range_count(struct takt_rust *rust,
                                               TSNode range, unsigned depth);
struct takt_rust_extent
takt__rust_level_count(struct takt_rust *rust,
                       const struct takt_rust_level *level);

/* rust_items.c */
/* Methods that go over the rows or columns of a library's array. */
#define TAKT_RUST_LINES                                                      \
    "outer_iter axis_iter row_iter column_iter rows columns rows_mut "       \
    "columns_mut outer_iter_mut axis_iter_mut row_iter_mut column_iter_mut " \
    "genrows genrows_mut"
/* Those that hand on what they are given. */
#define TAKT_RUST_PASSING                                                     \
    "iter iter_mut into_iter par_iter par_iter_mut into_par_iter copied "     \
    "cloned take by_ref peekable chain filter skip_while take_while inspect " \
    "with_min_len with_max_len into_par_iter_mut as_slice as_mut_slice drain"
#define TAKT_RUST_CHUNKS                                          \
    "chunks chunks_exact chunks_mut chunks_exact_mut par_chunks " \
    "par_chunks_mut par_chunks_exact"
/* What these hand out is no array in memory. */
#define TAKT_RUST_UNSTORED                                                  \
    "values values_mut into_values keys into_keys chars bytes lines split " \
    "split_whitespace char_indices entries"
struct takt_rust_item takt__rust_item(struct takt_rust *rust, TSNode source,
                                      TSNode pattern, TSNode name,
                                      unsigned depth);
struct takt_rust_item takt__rust_bound_item(struct takt_rust *rust,
                                            struct takt_rust_binding binding,
                                            unsigned depth);
struct takt_rust_type takt__rust_item_type(struct takt_rust *rust,
                                           TSNode source, unsigned depth);
/* Which part of (a, b, ..) a name is in; `count`: it is not taken apart. */
unsigned takt__rust_side(TSNode pattern, TSNode name, unsigned count);
/* The range of (0..n), (0..n).rev(), .step_by(..); a null node: none. */
TSNode takt__rust_range(const struct takt_rust *rust, TSNode source);

/* Zip::from(a).and(b), also by a name, and a.zip_map(&b, ..): the arrays that a
 * closure of that call is handed elements of; 0: it is none. */
enum { TAKT_RUST_ZIPPED = 6 };
unsigned takt__rust_zipped(struct takt_rust *rust, TSNode call,
                           TSNode part[TAKT_RUST_ZIPPED]);

/* rust_source.c */
/* The chain goes over something that can be an array: no map, no string. */
bool takt__rust_is_array_chain(struct takt_rust *rust, TSNode receiver);
/* Goes over something that is known to lie in memory, not a generator. */
bool takt__rust_is_in_memory(struct takt_rust *rust, TSNode source);
/* rust_mean.c */
/* The divisor of a mean: a count made a float. */
bool takt__rust_is_count(struct takt_rust *rust, TSNode node);
/* Whether what a loop gathered is divided by a count, and before that not
 * used. */
bool takt__rust_is_averaged(struct takt_rust *rust, TSNode loop,
                            struct takt_text target);

/* rust_call.c, rust_operation.c: what a node computes by itself. */
struct takt_rust_verdict takt__rust_call(struct takt_rust *rust, TSNode call);
/* Sets the sizes of what `out->op` makes of a and b. */
void takt__rust_matrix_sizes(struct takt_rust_verdict *out,
                             struct takt_rust_type a, struct takt_rust_type b);
/* Whether the op is found in the body of that function; NULL: no. */
bool takt__rust_is_found_in(struct takt_rust *rust,
                            const struct takt_rust_name *own, const char *op);
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
