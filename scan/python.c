/* SPDX-License-Identifier: MIT */
/*
 * python.c - Python: which patterns mean what, and what is said of a finding.
 *
 * The query finds shapes; a pattern's own predicate tests whether names, values
 * and loops make an op of it. The op itself is told by that answer.
 */
#include "python_notes.h"

#include <string.h>

const TSLanguage *tree_sitter_python(void);

/* ---- the predicates ------------------------------------------------------ */

static const char *loop_op(const struct takt_source *source, TSNode node)
{
    struct takt_found_size size;
    return takt__python_loop(source, node, &size);
}

/* x.T; x.T[i] only reads it the other way round. */
static const char *turned_op(const struct takt_source *source, TSNode node)
{
    if (takt__node_is(ts_node_parent(node), "subscript"))
        return NULL;
    return takt__python_value(source, takt__node_field(node, "object")).kind ==
                   TAKT_PYTHON_ARRAY
               ? "transpose"
               : NULL;
}

/* The kinds of findings, by the predicate that tests for them. Of two at one
 * place, the one that stands first is meant. */
enum kind { LOOP, COMPREHENSION, COMPOSITION, BUILTIN, CALL, ARITHMETIC, TURN };

static const struct {
    const char *setting;
    const char *(*op)(const struct takt_source *source, TSNode node);
} kinds[] = {
    [LOOP] = {"loop", loop_op},
    [COMPREHENSION] = {"comprehension", takt__python_comprehension},
    [COMPOSITION] = {"composition", takt__python_composition},
    [BUILTIN] = {"builtin", takt__python_builtin},
    [CALL] = {"call", takt__python_call_op},
    [ARITHMETIC] = {"arithmetic", takt__python_arithmetic},
    [TURN] = {"turn", turned_op},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static enum kind kind_of(const struct takt_match *match)
{
    const char *kind = takt__match_setting(match, "kind");

    for (unsigned i = 0; kind != NULL && i < KINDS; i++)
        if (strcmp(kinds[i].setting, kind) == 0)
            return (enum kind)i;
    return TURN;
}

static const char *op_of(const struct takt_match *match)
{
    TSNode node = takt__match_node(match, "finding");

    struct takt_python_notes *notes = match->source->notes;

    notes->certainty = TAKT_EXACT;
    if (takt__python_is_claimed(match->source, node))
        return NULL;
    return kinds[kind_of(match)].op(match->source, node);
}

/* #computes? @finding: it is an op, by its kind. */
static bool computes(const struct takt_match *match,
                     const struct takt_scan_operand *operand, unsigned count)
{
    (void)operand;
    (void)count;
    return op_of(match) != NULL;
}

static const struct takt_named_predicate predicates[] = {
    {"computes", computes},
    {NULL, NULL},
};

/* ---- of two, which ------------------------------------------------------- */

/* What a composition is made of, and does by itself. */
static bool has_within(const struct takt_match *outer,
                       const struct takt_match *inner)
{
    static const struct {
        const char *op, *parts;
    } made_of[] = {
        {"dot", "sum mul dot"},
        {"norm1", "sum abs"},
        {"norm2", "sum mul dot sqrt"},
        {"mean", "sum"},
        {"sum", "mul"},
        {"relu", "max"},
        {"clamp", "relu"},
        {"abs", ""},
        {"sigmoid", "exp add neg div sub"},
    };

    for (size_t i = 0; i < sizeof made_of / sizeof made_of[0]; i++)
        if (strcmp(outer->op, made_of[i].op) == 0)
            return takt__word_in(inner->op, made_of[i].parts);
    return true; /* softmax, attention, ...: all of it */
}

/* Whether only arithmetic is between the two: then they are one expression. */
static bool is_same_expression(TSNode outer, TSNode inner)
{
    for (unsigned i = 0; i < 64; i++) {
        if (ts_node_is_null(inner) || ts_node_eq(inner, outer))
            return !ts_node_is_null(inner);
        if (!takt__node_in(
                inner,
                "binary_operator unary_operator parenthesized_expression"))
            return false;
        inner = ts_node_parent(inner);
    }
    return false;
}

static const char products[] = "matmul gemv dot batched_matmul";

/* x.T @ y: a product takes its operands either way round. */
static bool is_operand(const struct takt_match *product,
                       const struct takt_match *operand)
{
    return takt__word_in(product->op, products) &&
           strcmp(operand->op, "transpose") == 0;
}

static int prefer(const struct takt_match *first,
                  const struct takt_match *second)
{
    TSNode outer = takt__match_node(first, "finding");
    TSNode inner = takt__match_node(second, "finding");
    const enum kind a = kind_of(first), b = kind_of(second);

    if (ts_node_eq(outer, inner))
        return a <= b ? 1 : -1;
    switch (a) {
    case LOOP:
    case COMPREHENSION:
        return 1;
    case COMPOSITION:
        return has_within(first, second);
    case BUILTIN:
        return b == BUILTIN || b == COMPREHENSION ||
               (b == COMPOSITION && has_within(first, second));
    case ARITHMETIC:
        if (b == COMPOSITION && strcmp(second->op, "layernorm") == 0)
            return -1; /* its gain and bias */
        return is_operand(first, second) ||
               (b == ARITHMETIC && !takt__word_in(second->op, products) &&
                is_same_expression(outer, inner));
    case CALL:
        return is_operand(first, second);
    case TURN:
        return 0;
    }
    return 0;
}

/* ---- where it is --------------------------------------------------------- */

static bool starts(struct takt_text text, const char *with)
{
    return text.size >= strlen(with) &&
           memcmp(text.at, with, strlen(with)) == 0;
}

static bool ends(struct takt_text text, const char *with)
{
    return text.size >= strlen(with) &&
           memcmp(text.at + text.size - strlen(with), with, strlen(with)) == 0;
}

/* test_x.py, x_test.py, conftest.py, and all of test/ and tests/ */
static bool is_test_path(const char *path)
{
    for (const char *at = path;;) {
        const struct takt_text part = {at, strcspn(at, "/")};
        const bool is_last = at[part.size] == '\0';
        if (is_last)
            return starts(part, "test_") || ends(part, "_test.py") ||
                   takt__text_is(part, "conftest.py");
        if (takt__text_in(part, "test tests"))
            return true;
        at += part.size + 1;
    }
}

static bool is_test_class(const struct takt_source *source, TSNode node)
{
    TSNode bases = takt__node_field(node, "superclasses");

    if (starts(takt__node_text(source, takt__node_field(node, "name")), "Test"))
        return true;
    for (unsigned i = 0; i < takt__node_children(bases) && i < 16; i++)
        if (ends(takt__node_text(source, takt__node_child(bases, i)),
                 "TestCase"))
            return true;
    return false;
}

/* The function it is in, with its class: Block.forward. */
static void describe_place(const struct takt_source *source, TSNode node,
                           struct takt_finding *out)
{
    struct takt_text name[3] = {{"", 0}, {"", 0}, {"", 0}};

    out->is_test = is_test_path(source->path);
    for (node = ts_node_parent(node); !ts_node_is_null(node);
         node = ts_node_parent(node)) {
        const bool is_class = takt__node_is(node, "class_definition");
        if (!is_class && !takt__node_is(node, "function_definition"))
            continue;
        const struct takt_text own =
            takt__node_text(source, takt__node_field(node, "name"));
        out->is_test |=
            is_class ? is_test_class(source, node) : starts(own, "test_");
        if (is_class && name[2].size > 0 && name[0].size == 0) {
            name[0] = own;
            name[1] = (struct takt_text){".", 1};
        } else if (!is_class && name[2].size == 0) {
            name[2] = own;
        }
    }
    if (name[2].size > 0)
        out->function = takt__source_keep(source, name, 3);
}

static void describe(const struct takt_match *match, struct takt_finding *out)
{
    TSNode node = takt__match_node(match, "finding");
    const enum kind kind = kind_of(match);
    const char *op = op_of(match);

    const struct takt_python_notes *notes = match->source->notes;
    out->certainty = notes->certainty;
    out->op = op == NULL ? NULL : takt_op_find(op);
    if (out->op == NULL)
        return;
    if (kind == LOOP)
        takt__python_loop(match->source, node, &out->size);
    else if (kind != COMPREHENSION)
        takt__python_describe(match->source, node, out);
    describe_place(match->source, node, out);
}

/* ---- the language -------------------------------------------------------- */

static const char *const extensions[] = {".py", ".pyw", NULL};

/* Loops have no word of their own that texts without arithmetic lack; these
 * are what the arithmetic in them is written with. */
static const char *const words[] = {
    "numpy", "torch",   "scipy",  "math", "statistics", "sum(", "max(", "min(",
    "abs(",  "reduce(", "range(", "zip(", " += ",       " * ",  " / ",  NULL};

const struct takt_language takt__language_python = {
    .id = TAKT_SCAN_PYTHON,
    .family = TAKT_SCAN_PYTHON,
    .extensions = extensions,
    .grammar = tree_sitter_python,
    .query = takt__query_python,
    .words = words,
    .predicates = predicates,
    .begin = takt__python_begin,
    .end = takt__python_end,
    .describe = describe,
    .prefer = prefer,
};
