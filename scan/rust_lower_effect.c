/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_effect.c - calls that are statements: out.push(x), m.set(i, j, x),
 * v.swap(i, j), .for_each(..).
 */
#include "rust_lower.h"

/* out.push(x): the next element is written. */
static bool lower_push(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    struct takt_ir_nest *ir = &nest->ir;
    struct takt_ir_expr *to =
        takt__rust_expr(nest, takt__rust_receiver(call), false, depth + 1);
    const unsigned prefixes = nest->ir.prefixes;

    struct takt_ir_expr *at = takt__ir_rounds(ir);
    if (to == NULL || to->sort != TAKT_IR_NAME || at == NULL || prefixes == 3)
        return false;
    nest->ir.prefix[nest->ir.prefixes++] = at;
    struct takt_ir_expr *value =
        takt__rust_expr(nest, takt__rust_argument(call, 0), false, depth + 1);
    nest->ir.prefixes = prefixes;
    if (takt__ir_is_collected(value))
        return true;
    struct takt_ir_expr *target = takt__ir_new(ir, TAKT_IR_ACCESS);
    if (target == NULL)
        return false;
    target->text = to->text;
    target->type = to->type;
    if (!takt__ir_is_float(to->type.element))
        target->type = (struct takt_ir_type){.kind = TAKT_IR_ARRAY,
                                             .element = TAKT_IR_UNKNOWN};
    return takt__rust_store(nest, TAKT_IR_STORE, takt__ir_part(target, at),
                            value);
}

/* m.set((i, j), x), m.set(i, j, x): an element is written. */
static bool lower_set(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    const unsigned count = takt__rust_argument_count(call);
    const TSNode first = takt__rust_argument(call, 0);
    struct takt_ir_expr *e = takt__ir_address(
        &nest->ir,
        takt__rust_expr(nest, takt__rust_receiver(call), false, depth + 1));
    const bool is_pair = rust_is(first, "tuple_expression");
    const uint32_t parts = is_pair ? takt__node_children(first) : count - 1;

    for (uint32_t i = 0; i < parts && e != NULL; i++) {
        struct takt_ir_expr *at = takt__rust_expr(
            nest,
            is_pair ? takt__node_child(first, i) : takt__rust_argument(call, i),
            true, depth + 1);
        e = takt__ir_is_plain_index(at) ? takt__ir_part(e, at) : NULL;
    }
    if (e == NULL || parts == 0)
        return false;
    e->sort = TAKT_IR_ACCESS;
    e->type.kind = TAKT_IR_ARRAY;
    return takt__rust_store(
        nest, TAKT_IR_STORE, e,
        takt__rust_expr(nest, takt__rust_argument(call, count - 1), false,
                        depth + 1));
}

/* v.swap(i, j), std::mem::swap(&mut a[i], &mut b[i]). */
static bool lower_swap(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    struct takt_ir_expr *side[2];
    const TSNode of = takt__rust_receiver(call);
    struct takt_ir_expr *base =
        ts_node_is_null(of) ? NULL
                            : takt__rust_expr(nest, of, false, depth + 1);

    for (unsigned i = 0; i < 2; i++) {
        const TSNode argument = takt__rust_argument(call, i);
        side[i] = takt__rust_expr(nest, argument, base != NULL, depth + 1);
        if (base != NULL && side[i] != NULL)
            side[i] = takt__ir_element(&nest->ir, base, side[i]);
    }
    return takt__rust_store(nest, TAKT_IR_SWAP, side[0], side[1]);
}

static bool lower_each(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    const TSNode closure =
        takt__rust_argument(call, takt__rust_argument_count(call) - 1);
    const TSNode list = takt__node_field(closure, "parameters");
    const uint32_t around = nest->ir.around;
    const unsigned locals = nest->locals;
    bool is_read = false;

    if (!rust_is(closure, "closure_expression") ||
        (takt__rust_calls(nest->rust, call, "apply") &&
         !takt__rust_is_array(takt__rust_type_of(
             nest->rust, takt__rust_receiver(call), TAKT_RUST_DEPTH))))
        return false;
    if (takt__node_children(list) != 1 ||
        takt__rust_calls(nest->rust, takt__rust_receiver(call), "and"))
        is_read = takt__rust_bind_zipped(nest, call, list, 0, depth);
    else
        is_read = takt__rust_bind(
            nest, takt__node_child(list, 0),
            takt__rust_open(nest, takt__rust_receiver(call), depth));
    is_read =
        is_read && takt__rust_statement(nest, takt__node_field(closure, "body"),
                                        depth + 1);
    nest->ir.around = around;
    nest->locals = locals;
    return is_read;
}

bool takt__rust_effect(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    const TSNode callee = takt__rust_callee(call);

    if (takt__rust_calls(nest->rust, call, "push") &&
        takt__rust_argument_count(call) == 1)
        return lower_push(nest, call, depth);
    if (takt__rust_is_any(nest->rust, takt__rust_method(call),
                          TAKT_RUST_EACH) &&
        takt__rust_argument_count(call) > 0)
        return lower_each(nest, call, depth);
    static const char setters[] = "set set_value set_element";
    if (takt__rust_is_any(nest->rust, takt__rust_method(call), setters) &&
        takt__rust_argument_count(call) > 1)
        return lower_set(nest, call, depth);
    if (takt__rust_argument_count(call) == 2 &&
        (takt__rust_calls(nest->rust, call, "swap") ||
         (!ts_node_is_null(callee) &&
          takt__text_is(rust_text(nest->rust, callee), "swap"))))
        return lower_swap(nest, call, depth);
    return takt__rust_ends_chain(nest, call) &&
           takt__rust_chain_value(nest, call, depth) != NULL;
}
