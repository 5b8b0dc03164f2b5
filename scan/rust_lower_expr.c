/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_expr.c - expressions: names, elements and arithmetic.
 */
#include "rust_lower.h"

#include <stdlib.h>
#include <string.h>

struct takt_ir_expr *takt__rust_named(struct takt_rust_nest *nest, TSNode node)
{
    return takt__ir_name(&nest->ir, rust_text(nest->rust, node),
                         takt__rust_ir_type(takt__rust_type_of(
                             nest->rust, node, TAKT_RUST_DEPTH)));
}

/* ---- names and pairs ----------------------------------------------------- */

struct takt_rust_part *takt__rust_one(struct takt_rust_nest *nest,
                                      struct takt_ir_expr *value)
{
    if (value == NULL || nest->parts == TAKT_RUST_PARTS)
        return NULL;
    struct takt_rust_part *part = &nest->part[nest->parts++];
    *part = (struct takt_rust_part){.value = value};
    return part;
}

struct takt_rust_part *takt__rust_pair(struct takt_rust_nest *nest,
                                       struct takt_rust_part *a,
                                       struct takt_rust_part *b)
{
    if (a == NULL || b == NULL || nest->parts == TAKT_RUST_PARTS)
        return NULL;
    struct takt_rust_part *part = &nest->part[nest->parts++];
    *part = (struct takt_rust_part){.of = {a, b}};
    return part;
}

const struct takt_rust_local *
takt__rust_local(const struct takt_rust_nest *nest, struct takt_text name)
{
    for (unsigned i = nest->locals; i > nest->hidden; i--)
        if (takt__ir_same_text(nest->local[i - 1].name, name))
            return &nest->local[i - 1];
    return NULL;
}

static bool is_assigned(const struct takt_rust_nest *nest,
                        struct takt_text name)
{
    for (unsigned i = 0; i < nest->assigned; i++)
        if (takt__ir_same_text(nest->name[i], name))
            return true;
    return false;
}

static struct takt_rust_part *identifier(struct takt_rust_nest *nest,
                                         TSNode node)
{
    const struct takt_text name = rust_text(nest->rust, node);
    const struct takt_rust_local *local = takt__rust_local(nest, name);

    if (local != NULL && !local->is_assigned)
        return local->part;
    struct takt_ir_expr *e = takt__rust_named(nest, node);
    if (e != NULL)
        e->is_varying = local != NULL || is_assigned(nest, name);
    return takt__rust_one(nest, e);
}

/* p.x of an element that is a struct: an array of its own. */
static struct takt_ir_expr *field_of_element(struct takt_rust_nest *nest,
                                             TSNode node,
                                             const struct takt_ir_expr *of)
{
    const TSNode name = takt__node_field(node, "field");
    struct takt_ir_type type = takt__rust_ir_type(
        takt__rust_type_of(nest->rust, node, TAKT_RUST_DEPTH));

    if (type.element == TAKT_IR_UNKNOWN && /* of structs, and no array */
        !rust_is(name, "integer_literal"))
        type.element = TAKT_IR_OTHER;
    return takt__ir_field(&nest->ir, nest->rust->source, of,
                          rust_text(nest->rust, name), type);
}

static struct takt_rust_part *field(struct takt_rust_nest *nest, TSNode node,
                                    unsigned depth)
{
    const TSNode of =
        takt__rust_bare(nest->rust, takt__node_field(node, "value"));
    const TSNode name = takt__node_field(node, "field");

    if (rust_is(of, "self"))
        return takt__rust_one(nest, takt__rust_named(nest, node));
    const struct takt_rust_part *part = takt__rust_part_of(nest, of, depth + 1);
    if (part == NULL)
        return NULL;
    if (part->of[0] != NULL) {
        if (!rust_is(name, "integer_literal"))
            return NULL;
        return part->of[*rust_text(nest->rust, name).at == '1'];
    }
    const struct takt_ir_expr *e = part->value;
    if (e->sort == TAKT_IR_ACCESS && e->loops != 0)
        return takt__rust_one(nest, field_of_element(nest, node, e));
    if (e->loops != 0 || e->is_varying)
        return NULL;
    return takt__rust_one(nest, takt__rust_named(nest, node));
}

/* ---- elements ------------------------------------------------------------ */

static struct takt_ir_expr *index_part(struct takt_rust_nest *nest,
                                       struct takt_ir_expr *base, TSNode node,
                                       unsigned depth)
{
    struct takt_ir_expr *at = takt__rust_expr(nest, node, true, depth + 1);

    return takt__ir_is_plain_index(at) ? takt__ir_part(base, at) : NULL;
}

struct takt_ir_expr *takt__rust_at(struct takt_rust_nest *nest,
                                   const struct takt_ir_expr *base, TSNode list,
                                   unsigned depth)
{
    const TSNode only = takt__node_child(list, 0);
    if (takt__node_children(list) == 1 && /* m.get((i, j)) */
        (takt__node_in(only, "tuple_expression array_expression")))
        list = only;
    struct takt_ir_expr *e = takt__ir_address(&nest->ir, base);
    const uint32_t count = takt__node_children(list);

    if (e == NULL || count == 0 || count > 3)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        e = e == NULL ? NULL
                      : index_part(nest, e, takt__node_child(list, i), depth);
    if (e != NULL) {
        e->sort = TAKT_IR_ACCESS;
        e->type.kind = TAKT_IR_ARRAY;
    }
    return e;
}

/* a[i..], a[i * n..(i + 1) * n]: a row that begins there. */
static struct takt_ir_expr *slice(struct takt_rust_nest *nest,
                                  struct takt_ir_expr *base, TSNode range,
                                  unsigned depth)
{
    const TSNode first = takt__node_child(range, 0);

    if (ts_node_is_null(first) ||
        ts_node_start_byte(first) != ts_node_start_byte(range))
        return base; /* ..n */
    struct takt_ir_expr *from = takt__rust_expr(nest, first, true, depth + 1);
    if (!takt__ir_is_plain_index(from))
        return NULL;
    if (from->sort == TAKT_IR_NUMBER && from->number < 0.5)
        return base;
    if (base->sort == TAKT_IR_ACCESS) /* a row of rows: one index more */
        return takt__ir_part(takt__ir_address(&nest->ir, base), from);
    return takt__ir_moved(&nest->ir, takt__ir_address(&nest->ir, base), from);
}

struct takt_ir_expr *takt__rust_told(struct takt_rust_nest *nest, TSNode node,
                                     struct takt_ir_expr *e)
{
    if (e != NULL && e->type.element == TAKT_IR_UNKNOWN)
        e->type.element =
            takt__rust_ir_type(
                takt__rust_type_of(nest->rust, node, TAKT_RUST_DEPTH))
                .element;
    return e;
}

static struct takt_ir_expr *indexed(struct takt_rust_nest *nest, TSNode node,
                                    unsigned depth)
{
    const TSNode index = takt__node_child(node, 1);
    struct takt_ir_expr *base =
        takt__rust_expr(nest, takt__node_child(node, 0), false, depth + 1);

    if (base == NULL || ts_node_is_null(index))
        return NULL;
    if (rust_is(index, "range_expression"))
        return slice(nest, base, index, depth);
    if (takt__node_in(index, "tuple_expression array_expression"))
        return takt__rust_told(nest, node,
                               takt__rust_at(nest, base, index, depth));
    struct takt_ir_expr *at = takt__rust_expr(nest, index, true, depth + 1);
    return takt__ir_is_plain_index(at) ? takt__ir_element(&nest->ir, base, at)
                                       : NULL;
}

/* ---- operators ----------------------------------------------------------- */

static struct takt_ir_expr *binary(struct takt_rust_nest *nest, TSNode node,
                                   bool is_index, unsigned depth)
{
    struct takt_ir_expr *a =
        takt__rust_expr(nest, takt__rust_left(node), is_index, depth + 1);
    struct takt_ir_expr *b =
        takt__rust_expr(nest, takt__rust_right(node), is_index, depth + 1);

    return takt__ir_binary(&nest->ir, takt__rust_operator(nest->rust, node), a,
                           b, is_index);
}

static struct takt_ir_expr *number(struct takt_rust_nest *nest, TSNode node)
{
    struct takt_ir_expr *e =
        takt__ir_literal(&nest->ir, rust_text(nest->rust, node));
    if (e != NULL) /* what it is computed with is a float, too */
        e->type.element =
            takt__rust_ir_type(
                takt__rust_type_of(nest->rust, node, TAKT_RUST_DEPTH))
                .element;
    return e;
}

static struct takt_ir_expr *choice(struct takt_rust_nest *nest, TSNode node,
                                   unsigned depth)
{
    const TSNode other = takt__node_field(node, "alternative");
    struct takt_ir_expr *test = takt__rust_expr(
        nest, takt__node_field(node, "condition"), true, depth + 1);

    if (test == NULL || ts_node_is_null(other))
        return NULL;
    const struct takt_rust_part *yes = takt__rust_block(
        nest, takt__node_field(node, "consequence"), depth + 1);
    const struct takt_rust_part *no =
        takt__rust_block(nest, takt__node_child(other, 0), depth + 1);
    if (yes == NULL || no == NULL)
        return NULL;
    return takt__ir_pick(&nest->ir, test, yes->value, no->value);
}

/* A cast to an integer changes what is computed, unless it is of an index. */
static struct takt_ir_expr *cast(struct takt_rust_nest *nest, TSNode node,
                                 bool is_index, unsigned depth)
{
    const struct takt_rust_type type = takt__rust_type_named(
        nest->rust, takt__node_field(node, "type"), TAKT_RUST_DEPTH);
    struct takt_ir_expr *e = takt__rust_expr(
        nest, takt__node_field(node, "value"), is_index, depth + 1);

    return e != NULL && type.leaf == TAKT_RUST_INTEGER && !is_index &&
                   takt__ir_has_access(e)
               ? NULL
               : e;
}

static struct takt_ir_expr *plain(struct takt_rust_nest *nest, TSNode node,
                                  bool is_index, unsigned depth)
{
    if (takt__node_in(node, "float_literal integer_literal"))
        return number(nest, node);
    if (rust_is(node, "index_expression"))
        return indexed(nest, node, depth);
    if (rust_is(node, "binary_expression"))
        return binary(nest, node, is_index, depth);
    if (rust_is(node, "unary_expression")) {
        struct takt_ir_expr *e = takt__rust_expr(
            nest, takt__node_child(node, 0), is_index, depth + 1);
        return takt__text_is(takt__rust_operator(nest->rust, node), "-")
                   ? takt__ir_negative(&nest->ir, e)
                   : NULL;
    }
    if (rust_is(node, "type_cast_expression"))
        return cast(nest, node, is_index, depth);
    if (rust_is(node, "call_expression"))
        return takt__rust_called(nest, node, is_index, depth);
    if (rust_is(node, "if_expression"))
        return choice(nest, node, depth);
    if (takt__node_in(node, "scoped_identifier self"))
        return takt__rust_named(nest, node);
    return NULL;
}

/* *p.add(i): the element there. */
static struct takt_ir_expr *followed(const struct takt_rust_nest *nest,
                                     TSNode node, struct takt_ir_expr *e)
{
    while (rust_is(node, "parenthesized_expression"))
        node = ts_node_named_child(node, 0);
    if (e != NULL && e->sort == TAKT_IR_ADDRESS &&
        rust_is(node, "unary_expression") &&
        takt__text_is(takt__rust_operator(nest->rust, node), "*"))
        e->sort = TAKT_IR_ACCESS;
    return e;
}

struct takt_rust_part *takt__rust_part_of(struct takt_rust_nest *nest,
                                          TSNode node, unsigned depth)
{
    const TSNode whole = node;

    node = takt__rust_bare(nest->rust, node);
    if (ts_node_is_null(node) || depth > TAKT_RUST_DEEPEST ||
        !takt__rust_step(nest->rust))
        return NULL;
    if (rust_is(node, "identifier"))
        return identifier(nest, node);
    if (rust_is(node, "field_expression"))
        return field(nest, node, depth);
    if (takt__node_in(node, "block unsafe_block"))
        return takt__rust_block(nest, node, depth + 1);
    if (rust_is(node, "tuple_expression") && takt__node_children(node) == 2)
        return takt__rust_pair(
            nest,
            takt__rust_part_of(nest, takt__node_child(node, 0), depth + 1),
            takt__rust_part_of(nest, takt__node_child(node, 1), depth + 1));
    return takt__rust_one(
        nest, followed(nest, whole, plain(nest, node, false, depth)));
}

struct takt_ir_expr *takt__rust_expr(struct takt_rust_nest *nest, TSNode node,
                                     bool is_index, unsigned depth)
{
    const TSNode whole = node;

    node = takt__rust_bare(nest->rust, node);
    if (is_index && !takt__node_in(node, "identifier field_expression block")) {
        if (ts_node_is_null(node) || depth > TAKT_RUST_DEEPEST ||
            !takt__rust_step(nest->rust))
            return NULL;
        return plain(nest, node, true, depth);
    }
    const struct takt_rust_part *part = takt__rust_part_of(nest, whole, depth);
    return part == NULL ? NULL : part->value;
}
