/* SPDX-License-Identifier: MIT */
/*
 * rust_loop.c - for loops and for_each: the statements of the innermost body
 * say what is computed, the levels around it say how often and where the whole
 * begins.
 */
#include "rust.h"

#include <string.h>

static const struct takt_rust_verdict NOTHING = {.op = NULL};

/* The levels that what is assigned to depends on: for a variable, those around
 * its declaration. */
static unsigned kept_levels(struct takt_rust *rust,
                            const struct takt_rust_levels *levels,
                            TSNode target)
{
    if (!rust_is(target, "identifier"))
        return takt__rust_depends(rust, levels, target, TAKT_RUST_DEPTH);
    const struct takt_rust_binding binding = takt__rust_binding(rust, target);
    if (binding.kind == TAKT_RUST_FOR || binding.kind == TAKT_RUST_CLOSURE)
        return takt__rust_depends(rust, levels, target, TAKT_RUST_DEPTH);
    if (binding.kind != TAKT_RUST_LET)
        return 0;
    struct takt_rust_levels around;
    takt__rust_levels(rust, binding.node, &around);
    return takt__rust_all_levels(&around);
}

static struct takt_rust_type step_type(struct takt_rust *rust,
                                       const struct takt_rust_step *step)
{
    struct takt_rust_type type =
        takt__rust_type_of(rust, step->value, TAKT_RUST_DEPTH);
    if ((type.leaf == TAKT_RUST_UNKNOWN || type.leaf == TAKT_RUST_FLOAT) &&
        !ts_node_is_null(step->target)) {
        const struct takt_rust_type other =
            takt__rust_type_of(rust, step->target, TAKT_RUST_DEPTH);
        if (other.leaf != TAKT_RUST_UNKNOWN && other.depth == 0)
            type = other;
    }
    return type;
}

static bool is_large(const char *op)
{
    return strstr(op, "matmul") != NULL || strcmp(op, "conv2d") == 0;
}

static struct takt_rust_verdict reduction(struct takt_rust *rust,
                                          const struct takt_rust_levels *levels,
                                          const struct takt_rust_step *step,
                                          unsigned kept)
{
    struct takt_rust_verdict out = {.type = step_type(rust, step)};
    const unsigned all = takt__rust_all_levels(levels);
    if (step->op == NULL || out.type.depth != 0 ||
        out.type.leaf == TAKT_RUST_INTEGER ||
        out.type.leaf == TAKT_RUST_OTHER ||
        !takt__rust_reads(rust, levels, step->value) ||
        !takt__rust_is_pure(rust, step->value) ||
        takt__rust_gathers(rust, levels, step->value, false, TAKT_RUST_DEPTH) ||
        takt__rust_feeds_back(rust, step->target, step->value, 8))
        return NOTHING;
    struct takt_rust_summand summand = {step->op, step->value,
                                        takt__rust_null(), false};
    if (strcmp(step->op, "sum") == 0)
        summand = takt__rust_summand(rust, levels, step->value);
    else if (strcmp(step->op, "dot") == 0) /* a.mul_add(b, s) */
        summand = (struct takt_rust_summand){
            "dot", takt__rust_receiver(step->value),
            takt__rust_argument(step->value, 0), false};
    if (!takt__rust_product(rust, levels, summand, kept, all & ~kept, &out) &&
        !takt__rust_scatters(rust, levels, summand, step->target, &out))
        return NOTHING;
    if (!rust_is_float(out.type) && !is_large(out.op))
        return NOTHING;
    if (strcmp(out.op, "sum") == 0 &&
        takt__rust_is_averaged(rust, out.anchor, step->target))
        out.op = "mean";
    return out;
}

/* The op of c[i] += value. */
static const char *compound_op(struct takt_rust *rust,
                               const struct takt_rust_levels *levels,
                               const struct takt_rust_step *step)
{
    const bool varies = takt__rust_varies(rust, levels, step->value);
    if (takt__text_is(step->sign, "*"))
        return varies ? "mul" : "scale";
    if (takt__text_is(step->sign, "/"))
        return varies ? "div" : "scale";
    const bool is_sum = takt__text_is(step->sign, "+");
    if (!is_sum && !takt__text_is(step->sign, "-"))
        return NULL;
    const TSNode value = takt__rust_bare(rust, step->value);
    if (rust_is(value, "binary_expression") &&
        takt__text_is(takt__rust_operator(rust, value), "*") && varies) {
        const bool left =
            takt__rust_varies(rust, levels, takt__rust_left(value));
        const bool right =
            takt__rust_varies(rust, levels, takt__rust_right(value));
        return left && right ? "fma" : "axpy";
    }
    return is_sum ? "add" : "sub";
}

/* The first two counters that stand in an index, in their order. */
static unsigned index_order(struct takt_rust *rust,
                            const struct takt_rust_levels *levels, TSNode node,
                            unsigned order[2], unsigned count)
{
    if (rust_is(node, "identifier")) {
        const struct takt_rust_binding binding = takt__rust_binding(rust, node);
        for (unsigned i = 0; i < levels->count && count < 2; i++)
            if (binding.kind == TAKT_RUST_FOR &&
                ts_node_eq(levels->at[i].node, binding.node))
                order[count++] = i;
        return count;
    }
    const uint32_t all = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < all && i < 16 && count < 2; i++)
        count = index_order(rust, levels, ts_node_named_child(node, i), order,
                            count);
    return count;
}

/* t[j][i] = a[i][j] */
static bool is_transpose(struct takt_rust *rust,
                         const struct takt_rust_levels *levels,
                         const struct takt_rust_step *step)
{
    unsigned to[2], from[2];
    const TSNode value = takt__rust_bare(rust, step->value);
    return rust_is(value, "index_expression") &&
           rust_is(step->target, "index_expression") &&
           index_order(rust, levels, step->target, to, 0) == 2 &&
           index_order(rust, levels, value, from, 0) == 2 && to[0] == from[1] &&
           to[1] == from[0] && to[0] != to[1];
}

/* Whether a loop does nothing but what its one inner loop does. */
static bool is_only_loop(struct takt_rust *rust, TSNode loop)
{
    const TSNode body = takt__node_field(loop, "body");
    unsigned statements = 0;
    const uint32_t count = ts_node_named_child_count(body);
    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = ts_node_named_child(body, i);
        const bool is_let = rust_is(one, "let_declaration");
        if (is_let && !takt__rust_is_pure(rust, one))
            return false;
        statements += !ts_node_is_extra(one) && !is_let;
    }
    return statements == 1;
}

/* The outermost loop of a nest that only visits all elements. */
static void place_elements(struct takt_rust *rust,
                           const struct takt_rust_levels *levels, unsigned bits,
                           TSNode anchor, struct takt_rust_verdict *out)
{
    unsigned first = levels->count - 1;
    out->rank = 1;
    out->extent[0] = takt__rust_level_count(rust, &levels->at[first]);
    while (first > 0 && rust_is(levels->at[first - 1].node, "for_expression") &&
           rust_is(levels->at[first].node, "for_expression") &&
           (bits >> levels->at[first - 1].same & 1) != 0 &&
           is_only_loop(rust, levels->at[first - 1].node)) {
        first--;
        const struct takt_rust_extent more =
            takt__rust_level_count(rust, &levels->at[first]);
        if (__builtin_mul_overflow(out->extent[0].count, more.count,
                                   &out->extent[0].count))
            out->extent[0].count = 0;
    }
    out->anchor = first + 1 == levels->count ? anchor : levels->at[first].node;
    if (strcmp(out->op, "transpose") == 0) {
        out->rank = 2;
        for (unsigned i = 0; i < 2; i++)
            out->extent[i] = takt__rust_level_count(
                rust, &levels->at[levels->count - 2 + i]);
    }
}

/* Whether the innermost counter runs through an index backwards or in steps:
 * a[n - 1 - i], a[2 * i]. No op of ours takes its elements so. */
static bool is_strided(struct takt_rust *rust,
                       const struct takt_rust_levels *levels, TSNode node,
                       bool is_index, unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(rust))
        return false;
    if (is_index && rust_is(node, "binary_expression")) {
        const struct takt_text sign = takt__rust_operator(rust, node);
        const TSNode left = takt__rust_bare(rust, takt__rust_left(node));
        const TSNode right = takt__rust_bare(rust, takt__rust_right(node));
        const bool is_counter = takt__rust_varies(rust, levels, right);
        if (takt__text_is(sign, "-") && is_counter)
            return true;
        if (takt__text_is(sign, "*") &&
            ((rust_is(left, "integer_literal") && is_counter) ||
             (rust_is(right, "integer_literal") &&
              takt__rust_varies(rust, levels, left))))
            return true;
    }
    is_index |= rust_is(node, "index_expression");
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (is_strided(rust, levels, ts_node_named_child(node, i), is_index,
                       depth - 1))
            return true;
    return false;
}

static bool goes_in_steps(struct takt_rust *rust,
                          const struct takt_rust_levels *levels,
                          const struct takt_rust_step *step)
{
    const struct takt_rust_level *inner = &levels->at[levels->count - 1];
    return (!ts_node_is_null(step->target) &&
            is_strided(rust, levels, step->target, false, TAKT_RUST_DEPTH)) ||
           is_strided(rust, levels, step->value, false, TAKT_RUST_DEPTH) ||
           takt__rust_gathers(rust, levels, step->value, false,
                              TAKT_RUST_DEPTH) ||
           takt__rust_picks(rust, levels, step->value, TAKT_RUST_DEPTH) ||
           takt__rust_calls(rust, takt__rust_bare(rust, inner->source),
                            "step_by");
}

static struct takt_rust_verdict elements(struct takt_rust *rust,
                                         const struct takt_rust_levels *levels,
                                         const struct takt_rust_step *step,
                                         TSNode anchor)
{
    struct takt_rust_verdict out = {.type = step_type(rust, step)};
    const bool is_push = ts_node_is_null(step->target);
    if (!rust_is_float(out.type) || out.type.depth != 0 ||
        out.type.shell != TAKT_RUST_PLAIN ||
        !takt__rust_is_pure(rust, step->value) ||
        takt__rust_feeds_back(rust, step->target, step->value, 8))
        return NOTHING;
    if ((!is_push && !takt__rust_is_element(rust, levels, step->target)) ||
        goes_in_steps(rust, levels, step))
        return NOTHING;
    if (step->sign.size > 0)
        out.op = compound_op(rust, levels, step);
    else if (step->op != NULL && strcmp(step->op, "relu") == 0)
        out.op = step->op;
    else if (takt__rust_reads(rust, levels, step->value))
        out.op = takt__rust_element_op(rust, levels, step->value);
    /* What is pushed as it is, is passed on; nobody copies an array so. */
    if (out.op == NULL || (is_push && strcmp(out.op, "copy") == 0))
        return NOTHING;
    if (levels->count >= 2 && strcmp(out.op, "copy") == 0 &&
        is_transpose(rust, levels, step))
        out.op = "transpose";
    const unsigned bits = takt__rust_depends(
        rust, levels, is_push ? step->value : step->target, TAKT_RUST_DEPTH);
    place_elements(rust, levels, bits, anchor, &out);
    return out;
}

/* if outside { continue; } */
static bool is_guard(TSNode node)
{
    if (rust_is(node, "expression_statement"))
        node = ts_node_named_child(node, 0);
    if (!rust_is(node, "if_expression") ||
        !ts_node_is_null(takt__node_field(node, "alternative")))
        return false;
    const TSNode tail = takt__rust_tail(takt__node_field(node, "consequence"));
    return rust_is(tail, "continue_expression");
}

/* if inside { .. } */
static TSNode guarded_block(TSNode node)
{
    if (rust_is(node, "expression_statement"))
        node = ts_node_named_child(node, 0);
    if (!rust_is(node, "if_expression") ||
        !ts_node_is_null(takt__node_field(node, "alternative")))
        return takt__rust_null();
    return takt__node_field(node, "consequence");
}

static struct takt_rust_verdict statement(struct takt_rust *rust, TSNode body,
                                          TSNode node, TSNode anchor,
                                          bool *is_known)
{
    struct takt_rust_levels levels;
    struct takt_rust_step step;
    takt__rust_levels(rust, node, &levels);
    *is_known =
        levels.count > 0 && takt__rust_step_of(rust, &levels, node, &step);
    if (!*is_known || takt__rust_is_carried(rust, &levels, body, step.target,
                                            step.value, TAKT_RUST_DEPTH))
        return NOTHING;
    const unsigned kept = ts_node_is_null(step.target)
                              ? takt__rust_all_levels(&levels)
                              : kept_levels(rust, &levels, step.target);
    const unsigned inner = 1u << levels.at[levels.count - 1].same;
    if ((kept & inner) == 0) {
        /* s += a * (x - s) is a filter, s += x; out.push(s) a running sum. */
        const bool has_target = step.op == NULL || strcmp(step.op, "dot") != 0;
        if ((has_target && takt__rust_mentions(rust, step.value, step.target,
                                               TAKT_RUST_DEPTH)) ||
            takt__rust_is_handed_on(rust, body, node, step.target))
            return NOTHING;
        return reduction(rust, &levels, &step, kept);
    }
    /* c[i][j] += a[i][k] * b[k][j] with k outside: summed by another level. */
    if (step.op != NULL && strcmp(step.op, "sum") == 0) {
        const struct takt_rust_verdict out =
            reduction(rust, &levels, &step, kept);
        if (out.op != NULL && (is_large(out.op) || strcmp(out.op, "gemv") == 0))
            return out;
    }
    if (step.is_reduction && step.sign.size == 0) {
        if (rust_is(node, "expression_statement"))
            node = ts_node_named_child(node, 0);
        if (!rust_is(node, "assignment_expression"))
            return NOTHING;
        step.value = takt__rust_right(node);
        step.op = NULL;
    }
    return elements(rust, &levels, &step, anchor);
}

/* Among the statements of a body, the weightiest. */
static bool is_better(const struct takt_rust_verdict *one,
                      const struct takt_rust_verdict *other)
{
    if (other->op == NULL)
        return true;
    const takt_op *a = takt_op_find(one->op), *b = takt_op_find(other->op);
    return a != NULL && b != NULL && a->complexity > b->complexity;
}

struct takt_rust_verdict takt__rust_body(struct takt_rust *rust, TSNode body,
                                         TSNode anchor)
{
    struct takt_rust_verdict best = NOTHING;
    bool is_guarded = false;
    if (!rust_is(body, "block")) {
        bool is_known;
        return statement(rust, body, body, anchor, &is_known);
    }
    const uint32_t count = ts_node_named_child_count(body);
    for (uint32_t i = 0; i < count; i++) {
        const TSNode node = ts_node_named_child(body, i);
        bool is_known;
        if (ts_node_is_extra(node))
            continue;
        if (rust_is(node, "let_declaration")) {
            const TSNode value = takt__node_field(node, "value");
            if (ts_node_is_null(value) || !takt__rust_is_pure(rust, value))
                return NOTHING;
            continue;
        }
        if (is_guard(node)) {
            is_guarded = true;
            continue;
        }
        struct takt_rust_verdict one =
            statement(rust, body, node, anchor, &is_known);
        if (!is_known) {
            const TSNode inner = guarded_block(node);
            if (ts_node_is_null(inner))
                return NOTHING;
            is_guarded = true;
            one = takt__rust_body(rust, inner, anchor);
        }
        if (one.op != NULL && is_better(&one, &best))
            best = one;
    }
    if (is_guarded && best.op != NULL && strcmp(best.op, "conv2d") != 0 &&
        strcmp(best.op, "pooling") != 0)
        return NOTHING;
    return best;
}

static struct takt_rust_verdict loop_body(struct takt_rust *rust, TSNode loop)
{
    return takt__rust_body(rust, takt__node_field(loop, "body"), loop);
}

/* The chains and inner loops of a node whose nest begins at `loop`. */
static struct takt_rust_verdict within(struct takt_rust *rust, TSNode node,
                                       TSNode loop, unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(rust))
        return NOTHING;
    struct takt_rust_verdict found = NOTHING;
    if (rust_is(node, "for_expression") || rust_is(node, "while_expression"))
        found = takt__rust_once(rust, loop_body, node);
    else if (takt__rust_calls(rust, node, "sum") ||
             takt__rust_calls(rust, node, "fold"))
        found = takt__rust_chain(rust, node);
    if (found.op != NULL && ts_node_eq(found.anchor, loop))
        return found;
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++) {
        found = within(rust, ts_node_named_child(node, i), loop, depth - 1);
        if (found.op != NULL)
            return found;
    }
    return NOTHING;
}

struct takt_rust_verdict takt__rust_loop(struct takt_rust *rust, TSNode loop)
{
    return within(rust, loop, loop, 2 * TAKT_RUST_DEPTH);
}
