/* SPDX-License-Identifier: MIT */
/*
 * rust.c - Rust as a language of the scanner: its query's one question, and
 * what is told about a finding.
 */
#include "memory.h"
#include "rust_lower.h"

#include <stdlib.h>
#include <string.h>

const TSLanguage *tree_sitter_rust(void);

/* What a nest computes, as a verdict about its outermost loop. */
static struct takt_rust_verdict told(const struct takt_ir_verdict *from,
                                     TSNode node)
{
    struct takt_rust_verdict out = {
        .op = from->op, .anchor = node, .is_nest = true};
    const takt_shape *shape = &from->size.shape;

    out.type.leaf = from->is_f64   ? TAKT_RUST_F64
                    : from->is_f32 ? TAKT_RUST_F32
                                   : TAKT_RUST_FLOAT;
    out.role = from->role;
    out.total = from->total;
    out.certainty = from->certainty;
    out.rank = shape->rank <= TAKT_RUST_EXTENTS ? shape->rank : 0;
    for (unsigned i = 0; i < out.rank; i++)
        out.extent[i] =
            (struct takt_rust_extent){shape->dim[i], from->size.source};
    return out;
}

/* A loop or a chain. */
static struct takt_rust_verdict nest_of(struct takt_rust *rust, TSNode node)
{
    struct takt_rust_verdict out = {.op = NULL};
    struct takt_ir_verdict verdict = {.op = NULL};
    struct takt_rust_nest *nest = takt__scan_zeros(1, sizeof *nest);

    nest->rust = rust;
    if (takt__rust_lower(nest, node))
        takt__judge(&nest->ir, TAKT_TAKES_MORE | TAKT_TAKES_DOTS, &verdict);
    const bool is_kept = nest->ir.stmt_count == 0 ||
                         !takt__ir_is_collected(nest->ir.stmt[0].target);
    free(nest);
    if (verdict.op == NULL || (!is_kept && strcmp(verdict.op, "copy") == 0))
        return out; /* what only hands elements on is no copy of an array */
    return told(&verdict, node);
}

static struct takt_rust_verdict raw(struct takt_rust *rust, TSNode node)
{
    struct takt_rust_verdict out = {.op = NULL};

    if (takt__node_in(node, "for_expression while_expression")) {
        out = nest_of(rust, node);
        if (out.op != NULL && strcmp(out.op, "sum") == 0 &&
            takt__rust_is_averaged(rust, node, out.total))
            out.op = "mean";
        return out;
    }
    if (rust_is(node, "binary_expression")) {
        /* A mean is a sum and the division around it. */
        const TSNode left = takt__rust_bare(rust, takt__rust_left(node));
        if (takt__rust_is_op(rust, node, "/") &&
            takt__rust_calls(rust, left, "sum") &&
            takt__rust_is_count(rust, takt__rust_right(node)))
            out = takt__rust_raw(rust, left);
        if (out.op != NULL && strcmp(out.op, "sum") == 0)
            out.op = "mean";
        if (out.op != NULL && (takt__word_in(out.op, "mean variance"))) {
            out.anchor = node;
            return out;
        }
        return takt__rust_operation(rust, node);
    }
    if (rust_is(node, "compound_assignment_expr"))
        return takt__rust_operation(rust, node);
    if (rust_is(node, "macro_invocation"))
        return takt__rust_macro(rust, node);
    if (takt__rust_calls(rust, node, "sqrt")) {
        const TSNode inner = takt__rust_bare(rust, takt__rust_receiver(node));
        if (takt__rust_calls(rust, inner, "sum"))
            out = takt__rust_raw(rust, inner);
        if (out.op != NULL && strcmp(out.op, "dot") == 0) {
            out.op = "norm2";
            out.anchor = node;
            return out;
        }
        out.op = NULL;
    }
    if (takt__rust_may_end_chain(rust, node))
        out = nest_of(rust, node);
    if (out.op == NULL)
        out = takt__rust_call(rust, node);
    return out;
}

struct takt_rust_verdict takt__rust_raw(struct takt_rust *rust, TSNode node)
{
    return takt__rust_once(rust, raw, node);
}

struct takt_rust_verdict takt__rust_judge(struct takt_rust *rust, TSNode node)
{
    if (rust->last == node.id)
        return rust->verdict;
    rust->steps = TAKT_RUST_STEPS;
    struct takt_rust_verdict verdict = takt__rust_raw(rust, node);
    if (verdict.op != NULL && !ts_node_eq(verdict.anchor, node))
        verdict.op = NULL;
    takt__rust_compose(rust, node, &verdict);
    rust->last = node.id;
    rust->verdict = verdict;
    return verdict;
}

/* (#computes? @finding "op" ...) */
static bool computes(const struct takt_match *match,
                     const struct takt_scan_operand *operand, unsigned count)
{
    struct takt_rust *rust = match->source->notes;

    if (count == 0 || !operand[0].is_node || rust == NULL ||
        ts_node_is_null(operand[0].node))
        return false;
    const char *op = takt__rust_judge(rust, operand[0].node).op;
    for (unsigned i = 1; i < count && op != NULL; i++)
        if (!operand[i].is_node && strcmp(op, operand[i].word) == 0)
            return true;
    return false;
}

/* #[test], #[tokio::test], #[cfg(test)], #[bench] before an item. */
static bool has_test_attribute(const struct takt_rust *rust, TSNode item)
{
    for (TSNode at = ts_node_prev_named_sibling(item); !ts_node_is_null(at);
         at = ts_node_prev_named_sibling(at)) {
        if (takt__node_in(at, "line_comment block_comment"))
            continue;
        if (!rust_is(at, "attribute_item"))
            return false;
        const struct takt_text text = rust_text(rust, at);
        if (takt__rust_contains(text, "[test") ||
            takt__rust_contains(text, "::test") ||
            takt__rust_contains(text, "rstest") ||
            takt__rust_contains(text, "[bench") ||
            takt__rust_contains(text, "quickcheck") ||
            (takt__rust_contains(text, "cfg(") &&
             takt__rust_contains(text, "test") &&
             !takt__rust_contains(text, "not(test")))
            return true;
    }
    return false;
}

/* tests/ and benches/ of a crate: the folder, or the one above it. */
static bool is_test_path(const char *path)
{
    const char *end = strrchr(path, '/');
    for (unsigned i = 0; i < 2 && end != NULL; i++) {
        const char *start = end;
        while (start > path && start[-1] != '/')
            start--;
        const struct takt_text folder = {start, (size_t)(end - start)};
        if (takt__text_in(folder, "tests benches"))
            return true;
        end = start > path ? start - 1 : NULL;
    }
    return false;
}

static void describe_place(const struct takt_rust *rust, TSNode node,
                           struct takt_finding *out)
{
    TSNode path[TAKT_RUST_PATH];
    TSNode function = takt__rust_null(), impl = takt__rust_null();
    out->is_test = is_test_path(rust->source->path);
    const unsigned count = takt__rust_path(rust, node, path);
    for (unsigned i = 0; i < count; i++) {
        if (rust_is(path[i], "impl_item")) {
            impl = path[i];
        } else if (rust_is(path[i], "mod_item")) {
            out->is_test |= has_test_attribute(rust, path[i]);
        } else if (rust_is(path[i], "function_item")) {
            function = path[i];
            out->is_test |= has_test_attribute(rust, path[i]);
        }
    }
    if (ts_node_is_null(function))
        return;
    struct takt_text parts[3] = {{"", 0}, {"", 0}, {"", 0}};
    parts[2] = rust_text(rust, takt__node_field(function, "name"));
    if (!ts_node_is_null(impl)) {
        parts[0] = takt__rust_owner(rust, function);
        parts[1] = (struct takt_text){"::", 2};
    }
    out->function = takt__source_keep(rust->source, parts, 3);
}

static void describe(const struct takt_match *match, struct takt_finding *out)
{
    struct takt_rust *rust = match->source->notes;
    const TSNode node = takt__match_node(match, "finding");
    const struct takt_rust_verdict verdict = takt__rust_judge(rust, node);
    if (verdict.op != NULL && match->op[0] == '\0')
        out->op = takt_op_find(verdict.op);
    out->certainty = verdict.certainty;
    describe_place(rust, node, out);
    out->is_dtype_known = verdict.type.leaf == TAKT_RUST_F32 ||
                          verdict.type.leaf == TAKT_RUST_F64;
    out->dtype = verdict.type.leaf == TAKT_RUST_F64 ? TAKT_F64 : TAKT_F32;
    for (unsigned i = 0; i < verdict.rank; i++) {
        if (verdict.extent[i].count == 0)
            continue;
        out->size.source = verdict.extent[i].source;
        out->size.shape.rank = verdict.rank;
    }
    for (unsigned i = 0; i < out->size.shape.rank; i++)
        out->size.shape.dim[i] = verdict.extent[i].count;
}

/* A loop or chain stands for the loops and chains in it. */
static int prefer(const struct takt_match *first,
                  const struct takt_match *second)
{
    const TSNode outer = takt__match_node(first, "finding");
    const TSNode inner = takt__match_node(second, "finding");

    struct takt_rust *rust = first->source->notes;
    return ts_node_eq(outer, inner) || (takt__rust_raw(rust, outer).is_nest &&
                                        takt__rust_raw(rust, inner).is_nest);
}

static const char *const extensions[] = {".rs", NULL};

/* A file that has none of these shows no floats and names no op. */
static const char *const words[] = {
    "f32",     "f64",       "0.0",           "Float",      "atrix",
    "Tensor",  "ndarray",   "nalgebra",      "gemm",       "matmul",
    "mat_mul", "bmm",       "gemv",          "matvec",     "conv1d",
    "conv2d",  "convol",    "softmax",       "flash_attn", "pool2d",
    "tensor",  "attention", "dot_product",   "layer_norm", "mat_vec",
    "axpy",    "_matrices", "inner_product", NULL};

static const struct takt_named_predicate predicates[] = {{"computes", computes},
                                                         {NULL, NULL}};

const struct takt_language takt__language_rust = {
    .id = TAKT_SCAN_RUST,
    .family = TAKT_SCAN_RUST,
    .outlined = extensions,
    .outline = takt__rust_outline,
    .extensions = extensions,
    .grammar = tree_sitter_rust,
    .ranges = takt__rust_ranges,
    .query = takt__query_rust,
    .words = words,
    .predicates = predicates,
    .begin = takt__rust_begin,
    .end = takt__rust_end,
    .describe = describe,
    .prefer = prefer,
};
