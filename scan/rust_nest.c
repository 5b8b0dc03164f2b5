/* SPDX-License-Identifier: MIT */
/*
 * rust_nest.c - what a sum of products in nested levels is. With K the levels
 * that are summed over, a factor that depends on nothing else is a vector; one
 * that depends on one more level is a matrix. Two matrices with different
 * levels: a matrix product; a level that both share: a batch of them. A factor
 * whose index is the sum of a kept and a summed counter slides: a convolution.
 */
#include "rust.h"

TSNode takt__rust_level_anchor(const struct takt_rust *rust,
                               const struct takt_rust_level *level)
{
    if (!rust_is(level->node, "closure_expression"))
        return level->node;
    TSNode path[TAKT_RUST_PATH];
    const unsigned count = takt__rust_path(rust, level->node, path);
    if (count < 2)
        return takt__rust_null();
    return takt__rust_chain_end(rust, path[count - 2]);
}

/* A closure level ends a nest, unless its results are collected. */
static bool is_collected(const struct takt_rust *rust,
                         const struct takt_rust_level *level)
{
    static const char *const ends[] = {
        "collect", "for_each", "collect_vec", "collect_into_vec",
        "extend",  "flat_map", "to_vec",      NULL};
    if (!rust_is(level->node, "closure_expression"))
        return true;
    const TSNode end = takt__rust_level_anchor(rust, level);
    return takt__rust_is_any(rust, takt__rust_method(end), ends);
}

static unsigned bits_in(unsigned bits)
{
    return (unsigned)__builtin_popcount(bits);
}

static unsigned lowest(unsigned bits)
{
    return (unsigned)__builtin_ctz(bits);
}

/* An index in which counters of both sets are added, none of them scaled. */
static bool slides(struct takt_rust *rust,
                   const struct takt_rust_levels *levels, TSNode node,
                   unsigned kept, unsigned reduced, unsigned depth)
{
    if (ts_node_is_null(node) || depth == 0 || !takt__rust_step(rust))
        return false;
    if (rust_is(node, "identifier")) {
        const struct takt_rust_binding binding = takt__rust_binding(rust, node);
        if (binding.kind == TAKT_RUST_LET)
            return slides(rust, levels, takt__node_field(binding.node, "value"),
                          kept, reduced, depth - 1);
        if (binding.kind != TAKT_RUST_CLOSURE && binding.kind != TAKT_RUST_FOR)
            return false;
        const struct takt_rust_item item =
            takt__rust_bound_item(rust, binding, TAKT_RUST_DEPTH);
        if (item.drawn == TAKT_RUST_WINDOW)
            return true;
        return item.drawn == TAKT_RUST_ELEMENT &&
               slides(rust, levels, item.node, kept, reduced, depth - 1);
    }
    if (rust_is(node, "binary_expression")) {
        const struct takt_text sign = takt__rust_operator(rust, node);
        const unsigned left =
            takt__rust_depends(rust, levels, takt__rust_left(node), 6);
        const unsigned right =
            takt__rust_depends(rust, levels, takt__rust_right(node), 6);
        if ((takt__text_is(sign, "+") || takt__text_is(sign, "-")) &&
            ((left & kept && right & reduced && !(left & reduced)) ||
             (left & reduced && right & kept && !(right & reduced)))) {
            const TSNode a = takt__rust_bare(rust, takt__rust_left(node));
            const TSNode b = takt__rust_bare(rust, takt__rust_right(node));
            const bool is_scaled_row =
                rust_is(a, "binary_expression") &&
                takt__text_is(takt__rust_operator(rust, a), "*") &&
                !takt__rust_literal_is(rust, takt__rust_left(a), 2) &&
                !takt__rust_literal_is(rust, takt__rust_right(a), 2);
            if (!is_scaled_row &&
                !(rust_is(b, "binary_expression") &&
                  takt__text_is(takt__rust_operator(rust, b), "*")))
                return true;
        }
    }
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (slides(rust, levels, ts_node_named_child(node, i), kept, reduced,
                   depth - 1))
            return true;
    return false;
}

/* An index that is no place in rows and columns: t[i * j % n], t[k & mask].
 * What is read so is a table. */
static bool is_table(struct takt_rust *rust,
                     const struct takt_rust_levels *levels, TSNode node,
                     bool is_index, unsigned depth)
{
    static const char *const folding[] = {"%", "&", "|", "^", "<<", ">>", NULL};
    if (ts_node_is_null(node) || depth == 0 || !takt__rust_step(rust))
        return false;
    if (is_index && rust_is(node, "binary_expression")) {
        const unsigned left = takt__rust_depends(
            rust, levels, takt__rust_left(node), TAKT_RUST_DEPTH);
        const unsigned right = takt__rust_depends(
            rust, levels, takt__rust_right(node), TAKT_RUST_DEPTH);
        const bool is_product = takt__rust_is_op(rust, node, "*");
        if ((is_product && left != 0 && right != 0) ||
            ((left | right) != 0 &&
             takt__rust_any(takt__rust_operator(rust, node), folding)))
            return true;
    }
    is_index |= rust_is(node, "index_expression");
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (is_table(rust, levels, ts_node_named_child(node, i), is_index,
                     depth - 1))
            return true;
    return false;
}

static struct takt_rust_extent extent_of(struct takt_rust *rust,
                                         const struct takt_rust_levels *levels,
                                         unsigned bits)
{
    struct takt_rust_extent all = {1, TAKT_SIZE_UNKNOWN};
    for (; bits != 0; bits &= bits - 1) {
        const struct takt_rust_extent one =
            takt__rust_level_count(rust, &levels->at[lowest(bits)]);
        if (one.count == 0 ||
            __builtin_mul_overflow(all.count, one.count, &all.count))
            return (struct takt_rust_extent){0, TAKT_SIZE_UNKNOWN};
        all.source = one.source;
    }
    return all;
}

static void put_sizes(struct takt_rust *rust,
                      const struct takt_rust_levels *levels,
                      struct takt_rust_verdict *out, const unsigned *bits,
                      unsigned rank)
{
    out->rank = rank;
    for (unsigned i = 0; i < rank; i++)
        out->extent[i] = extent_of(rust, levels, bits[i]);
}

/* The levels that are a nest with the innermost: nothing but loops, and
 * closures whose results are collected. */
static unsigned in_nest(const struct takt_rust *rust,
                        const struct takt_rust_levels *levels)
{
    unsigned bits = 0;
    for (unsigned i = levels->count; i > 0; i--) {
        const struct takt_rust_level *level = &levels->at[i - 1];
        if (i < levels->count && !is_collected(rust, level))
            break;
        if (level->is_uneven && i < levels->count)
            break;
        bits |= 1u << level->same | 1u << (i - 1);
        if (level->is_uneven)
            break;
    }
    return bits;
}

/* The ops of one summand: over the reduced levels alone. */
static bool plain(struct takt_rust *rust, const struct takt_rust_levels *levels,
                  struct takt_rust_summand summand, unsigned over,
                  unsigned kept, struct takt_rust_verdict *out)
{
    const unsigned all = over | kept;
    const bool is_pool =
        bits_in(kept) >= 1 && bits_in(over) >= 1 &&
        slides(rust, levels, summand.left, kept, over, TAKT_RUST_DEPTH);
    out->op = is_pool ? "pooling" : summand.op;
    const unsigned first = lowest(is_pool ? all : over);
    out->anchor = takt__rust_level_anchor(rust, &levels->at[first]);
    if (!is_pool)
        put_sizes(rust, levels, out, &over, 1);
    return true;
}

bool takt__rust_product(struct takt_rust *rust,
                        const struct takt_rust_levels *levels,
                        struct takt_rust_summand summand, unsigned kept,
                        unsigned reduced, struct takt_rust_verdict *out)
{
    const unsigned nest = in_nest(rust, levels);
    const unsigned p =
        nest & takt__rust_depends(rust, levels, summand.left, TAKT_RUST_DEPTH);
    if (ts_node_is_null(summand.right) || summand.is_square) {
        const unsigned over = p & reduced & ~kept;
        return over != 0 &&
               plain(rust, levels, summand, over, p & kept & ~over, out);
    }
    const unsigned q =
        nest & takt__rust_depends(rust, levels, summand.right, TAKT_RUST_DEPTH);
    const unsigned over = (p | q) & reduced & ~kept;
    if (over == 0)
        return false;
    const unsigned rows = p & kept & ~q, cols = q & kept & ~p;
    const unsigned batch = p & q & kept;
    const bool is_sliding =
        slides(rust, levels, summand.left, kept, over, TAKT_RUST_DEPTH) ||
        slides(rust, levels, summand.right, kept, over, TAKT_RUST_DEPTH);
    unsigned first = lowest(over);
    unsigned sizes[4] = {over};
    unsigned rank = 1;
    out->op = "dot";
    if (is_sliding) {
        out->op = "conv2d";
        first = lowest(p | q);
        rank = 0;
    } else if (is_table(rust, levels, summand.left, false, TAKT_RUST_DEPTH) ||
               is_table(rust, levels, summand.right, false, TAKT_RUST_DEPTH)) {
        return false;
    } else if ((p & over) != over || (q & over) != over) {
        out->op = "dot";
    } else if (bits_in(rows) == 1 && bits_in(cols) == 1) {
        const bool is_batch = batch != 0;
        out->op = is_batch ? "batched_matmul" : "matmul";
        first = lowest(p | q);
        sizes[0] = is_batch ? batch : rows;
        sizes[1] = is_batch ? rows : cols;
        sizes[2] = is_batch ? cols : over;
        sizes[3] = over;
        rank = is_batch ? 4 : 3;
    } else if (bits_in(rows | cols) == 1 && batch == 0) {
        out->op = "gemv";
        first = lowest(p | q);
        sizes[0] = rows | cols;
        sizes[1] = over;
        rank = 2;
    }
    out->anchor = takt__rust_level_anchor(rust, &levels->at[first]);
    put_sizes(rust, levels, out, sizes, rank);
    return true;
}

bool takt__rust_scatters(struct takt_rust *rust,
                         const struct takt_rust_levels *levels,
                         struct takt_rust_summand summand, TSNode target,
                         struct takt_rust_verdict *out)
{
    if (ts_node_is_null(summand.right) || !rust_is(target, "index_expression"))
        return false;
    const unsigned nest = in_nest(rust, levels);
    const unsigned p =
        nest & takt__rust_depends(rust, levels, summand.left, TAKT_RUST_DEPTH);
    const unsigned q =
        nest & takt__rust_depends(rust, levels, summand.right, TAKT_RUST_DEPTH);
    if (p == 0 || q == 0 || (p & q) != 0 ||
        !slides(rust, levels, target, p, q, TAKT_RUST_DEPTH))
        return false;
    out->op = "conv2d";
    out->anchor = takt__rust_level_anchor(rust, &levels->at[lowest(p | q)]);
    return true;
}
