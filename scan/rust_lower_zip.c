/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_zip.c - closures that a library's arrays call for each element:
 * Zip::from(a).and(b), a.zip_map(&b, ..), and Array::from_shape_fn(..), whose
 * closure is handed the indices.
 */
#include "rust_lower.h"

bool takt__rust_bind_zipped(struct takt_rust_nest *nest, TSNode call,
                            TSNode list, uint32_t first, unsigned depth)
{
    TSNode array[TAKT_RUST_ZIPPED];
    const unsigned count = takt__rust_zipped(nest->rust, call, array);

    if (count == 0 || takt__node_children(list) != first + count)
        return false;
    struct takt_rust_part *part = takt__rust_open(nest, array[0], depth);
    if (part == NULL || part->value == NULL || part->value->parts == 0 ||
        !takt__rust_bind(nest, takt__node_child(list, first), part))
        return false;
    struct takt_ir_expr *at = part->value->part[part->value->parts - 1];
    for (unsigned i = 1; i < count; i++) {
        struct takt_ir_expr *e =
            takt__rust_expr(nest, array[i], false, depth + 1);
        if (e == NULL ||
            !takt__rust_bind(
                nest, takt__node_child(list, first + i),
                takt__rust_one(nest, takt__ir_element(&nest->ir, e, at))))
            return false;
    }
    return true;
}

struct takt_ir_expr *takt__rust_zip_map(struct takt_rust_nest *nest,
                                        TSNode call, unsigned depth)
{
    const TSNode closure =
        takt__rust_argument(call, takt__rust_argument_count(call) - 1);
    const TSNode list = takt__node_field(closure, "parameters");

    if (!takt__rust_bind_zipped(nest, call, list, 0, depth))
        return NULL;
    const struct takt_rust_part *value =
        takt__rust_block(nest, takt__node_field(closure, "body"), depth + 1);
    struct takt_ir_expr *to =
        takt__ir_collected(&nest->ir, takt__ir_rounds(&nest->ir));
    return value != NULL &&
                   takt__rust_store(nest, TAKT_IR_STORE, to, value->value)
               ? to
               : NULL;
}

/* One loop: as often as a size says. */
static struct takt_ir_expr *count_to(struct takt_rust_nest *nest, TSNode size)
{
    struct takt_ir_loop *loop = takt__ir_open(&nest->ir);

    if (loop == NULL)
        return NULL;
    const struct takt_rust_extent extent =
        takt__rust_count(nest->rust, size, TAKT_RUST_DEPTH);
    loop->extent = extent.count;
    loop->source = extent.source;
    return takt__ir_count(&nest->ir, rust_text(nest->rust, size), loop->bit);
}

/* from_shape_fn((m, n), |(i, j)| ..), from_fn(m, n, |i, j| ..). */
struct takt_ir_expr *takt__rust_from_function(struct takt_rust_nest *nest,
                                              TSNode call, unsigned depth)
{
    const unsigned last = takt__rust_argument_count(call) - 1;
    const TSNode closure = takt__rust_argument(call, last);
    const TSNode shape = takt__rust_argument(call, 0);
    const bool is_tuple = rust_is(shape, "tuple_expression");
    const unsigned rank = is_tuple ? takt__node_children(shape) : last;
    TSNode list = takt__node_field(closure, "parameters");

    if (is_tuple && rust_is(takt__node_child(list, 0), "tuple_pattern"))
        list = takt__node_child(list, 0);
    struct takt_ir_expr *to = takt__ir_collected(&nest->ir, NULL);
    if (rank == 0 || rank > 3 || takt__node_children(list) != rank)
        return NULL;
    for (unsigned i = 0; i < rank; i++) {
        struct takt_ir_expr *at =
            count_to(nest, is_tuple ? takt__node_child(shape, i)
                                    : takt__rust_argument(call, i));
        to = takt__ir_part(to, at);
        if (to == NULL || !takt__rust_bind(nest, takt__node_child(list, i),
                                           takt__rust_one(nest, at)))
            return NULL;
    }
    const struct takt_rust_part *value =
        takt__rust_block(nest, takt__node_field(closure, "body"), depth + 1);
    return value != NULL &&
                   takt__rust_store(nest, TAKT_IR_STORE, to, value->value)
               ? to
               : NULL;
}
