/* SPDX-License-Identifier: MIT */
/*
 * c_family_expr.c - makes expressions of syntax: elements with their base and
 * indices, arithmetic, functions of mathematics. What has an effect, or is not
 * understood, makes none.
 */
#include "c_family_expr.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 40 };

/* ---- names and types ------------------------------------------------------
 */

/* What the form needs to know of a type. */
static struct takt_ir_type ir_type(struct takt_c_type type)
{
    struct takt_ir_type out = {.element = type.element,
                               .kind = type.kind,
                               .rank = type.rank,
                               .fields = type.fields};

    if (type.is_volatile)
        out.element = TAKT_IR_OTHER;
    if (type.kind != TAKT_IR_PLAIN && type.rank > 0 && type.fields == NULL)
        out.rank++; /* of several matrices, each is no number */
    memcpy(out.dim, type.dim, sizeof out.dim);
    return out;
}

struct takt_ir_expr *takt__c_expr_name(struct takt_c_nest *nest,
                                       struct takt_text text,
                                       struct takt_c_type type)
{
    return takt__ir_name(&nest->ir, text, ir_type(type));
}

struct takt_ir_expr *takt__c_expr_typed(struct takt_c_nest *nest,
                                        struct takt_ir_expr *e,
                                        struct takt_c_type type)
{
    return takt__ir_typed(&nest->ir, e, ir_type(type));
}

/* ---- elements ------------------------------------------------------------ */

static struct takt_ir_expr *macro_index(struct takt_c_nest *nest, TSNode index,
                                        const struct takt_ir_expr *base,
                                        unsigned depth)
{
    static const char words[] =
        "idx IDX index INDEX IX ix IDX2 IDX2C IDX3 at AT ij IJ offset OFFSET";
    const TSNode callee = takt__node_field(index, "function");
    const TSNode list = takt__node_field(index, "arguments");
    struct takt_ir_expr *e = takt__ir_address(&nest->ir, base);

    if (e == NULL || ts_node_is_null(callee) || ts_node_is_null(list) ||
        !takt__text_in(takt__node_text(nest->source, callee), words))
        return NULL;
    const uint32_t count = ts_node_named_child_count(list);
    for (uint32_t i = 0; i < count && i < 3; i++)
        e = takt__ir_part(e, takt__c_expr(nest, ts_node_named_child(list, i),
                                          true, depth + 1));
    if (e != NULL) {
        e->sort = TAKT_IR_ACCESS;
        e->type.rank = e->parts; /* the macro makes one index of them */
    }
    return e;
}

static struct takt_ir_expr *subscript(struct takt_c_nest *nest, TSNode node,
                                      unsigned depth)
{
    TSNode index = takt__node_field(node, "index");

    if (ts_node_is_null(index)) /* C++ has a list */
        index = takt__c_first(takt__node_field(node, "indices"));
    struct takt_ir_expr *base = takt__c_expr(
        nest, takt__node_field(node, "argument"), false, depth + 1);
    if (base == NULL || ts_node_is_null(index))
        return NULL;
    if (takt__node_is(index, "call_expression")) {
        struct takt_ir_expr *e = macro_index(nest, index, base, depth);
        if (e != NULL)
            return e;
    }
    struct takt_ir_expr *at = takt__c_expr(nest, index, true, depth + 1);
    if (!takt__ir_is_plain_index(at))
        return NULL;
    struct takt_ir_expr *e = takt__ir_element(&nest->ir, base, at);
    if (e != NULL && e->type.kind == TAKT_IR_PLAIN &&
        e->parts == e->type.rank + 1 &&
        (e->type.element == TAKT_IR_GENERIC ||
         (takt__ir_is_float(e->type.element) && e->type.fields != NULL)))
        e->type.rank++; /* of a class or parameter, which holds some */
    return e;
}

static struct takt_ir_expr *pointed(struct takt_c_nest *nest, TSNode node,
                                    unsigned depth)
{
    const TSNode of = takt__node_field(node, "argument");
    const bool is_address = takt__node_text(nest->source, node).at[0] == '&';
    struct takt_ir_expr *e = takt__c_expr(nest, of, false, depth + 1);

    if (e == NULL)
        return NULL;
    if (is_address)
        return e->sort == TAKT_IR_ACCESS ? takt__ir_address(&nest->ir, e)
                                         : NULL;
    if (e->sort == TAKT_IR_ADDRESS) {
        e = takt__ir_address(&nest->ir, e);
        if (e != NULL)
            e->sort = TAKT_IR_ACCESS;
        return e;
    }
    if (e->sort == TAKT_IR_NAME && takt__text_is(e->text, "this"))
        return e;
    struct takt_ir_expr *zero = takt__ir_new(&nest->ir, TAKT_IR_NUMBER);
    return takt__ir_element(&nest->ir, e, zero);
}

/* ---- names --------------------------------------------------------------- */

struct takt_c_local *takt__c_local(struct takt_c_nest *nest,
                                   struct takt_text text)
{
    for (unsigned i = nest->locals; i > nest->hidden; i--)
        if (takt__ir_same_text(nest->local[i - 1].text, text))
            return &nest->local[i - 1];
    return NULL;
}

int takt__c_loop_of(const struct takt_c_nest *nest, struct takt_text var)
{
    /* the innermost of those that were read so far */
    for (unsigned i = nest->ir.open; i > 0 && nest->hidden == 0; i--)
        if (takt__ir_same_text(nest->ir.loop[i - 1].var, var) && var.size > 0)
            return (int)i - 1;
    return -1;
}

/* The loops that a name steps in count for it, and what it started from. A
 * pointer that is set anew in a loop does not depend on that loop's rounds. */
static struct takt_ir_expr *stepping(struct takt_c_nest *nest,
                                     const struct takt_c_local *local)
{
    uint32_t steps = local->stepped;

    if (local->is_declared)
        steps &= ~local->declared;
    uint32_t bits = 0;
    for (unsigned i = 0; i < nest->ir.loop_count; i++)
        if (steps & (UINT32_C(1) << i))
            bits |= nest->ir.loop[i].bit;
    const bool is_placed =
        local->type.rank > 0 && local->value != NULL &&
        (local->value->sort == TAKT_IR_ADDRESS ||
         (local->value->sort == TAKT_IR_NAME && !local->value->is_varying));
    if (local->value != NULL && !is_placed)
        bits |= local->value->loops;
    struct takt_ir_expr *count = takt__ir_count(&nest->ir, local->text, bits);
    if (local->type.rank == 0)
        return count;
    if (local->is_strided) { /* by whole rows: not one after the other */
        const struct takt_text row = {"", 0};
        count = takt__ir_pair(
            &nest->ir, TAKT_IR_MUL, count,
            takt__c_expr_name(nest, row, (struct takt_c_type){.rank = 0}));
    }
    if (is_placed && local->is_backward)
        count = takt__ir_pair(&nest->ir, TAKT_IR_SUB,
                              takt__ir_new(&nest->ir, TAKT_IR_NUMBER), count);
    return takt__ir_moved(
        &nest->ir,
        takt__ir_address(
            &nest->ir, is_placed
                           ? local->value
                           : takt__c_expr_name(nest, local->text, local->type)),
        count);
}

bool takt__c_is_element(const struct takt_c_local *local)
{
    return local->is_reference && local->value != NULL &&
           local->value->sort == TAKT_IR_ACCESS;
}

struct takt_ir_expr *takt__c_expr_named(struct takt_c_nest *nest,
                                        struct takt_text text)
{
    const int loop = takt__c_loop_of(nest, text);
    struct takt_c_local *local = takt__c_local(nest, text);

    if (local != NULL && (local->is_bound || takt__c_is_element(local)))
        return local->value;
    if (loop >= 0 && nest->head[loop].is_over_range)
        return local == NULL ? NULL : local->value;
    if (loop >= 0 && (local == NULL || local->type.rank == 0))
        return takt__ir_count(&nest->ir, text, nest->ir.loop[loop].bit);
    if (local != NULL && local->is_stepped && !local->is_assigned)
        return stepping(nest, local);
    if (local != NULL && local->is_declared && !local->is_assigned &&
        local->value != NULL && !local->is_stale)
        return local->value;
    struct takt_ir_expr *e =
        takt__c_expr_name(nest, text,
                          local != NULL && local->is_declared
                              ? local->type
                              : takt__c_type_of(nest->place, text));
    if (e != NULL)
        e->is_varying = local != NULL;
    if (local != NULL)
        local->is_read = true;
    return e;
}

/* a[i].x, p->x of a pointer that steps: of an array of structs. */
static struct takt_ir_expr *field_of_element(struct takt_c_nest *nest,
                                             TSNode node,
                                             const struct takt_ir_expr *of)
{
    const struct takt_text name =
        takt__node_text(nest->source, takt__node_field(node, "field"));
    const struct takt_c_type type =
        takt__c_field_type(nest->place, of->type.fields, name);

    if (of->parts != of->type.rank || of->type.fields == NULL)
        return NULL; /* of pointers to structs */
    return takt__ir_field(&nest->ir, nest->source, of, name, ir_type(type));
}

static struct takt_ir_expr *field(struct takt_c_nest *nest, TSNode node,
                                  unsigned depth)
{
    const TSNode of = takt__node_field(node, "argument");
    const struct takt_ir_expr *e = takt__c_expr(nest, of, true, depth + 1);
    const bool is_pointed = takt__text_is(
        takt__node_text(nest->source, takt__node_field(node, "operator")),
        "->");

    if (e == NULL || e->is_varying)
        return NULL;
    if (e->loops != 0)
        return e->sort == (is_pointed ? TAKT_IR_ADDRESS : TAKT_IR_ACCESS)
                   ? field_of_element(nest, node, e)
                   : NULL;
    if (e->sort == TAKT_IR_NAME && /* a parameter that stands for another */
        !takt__ir_same_text(e->text, takt__node_text(nest->source, of)))
        return takt__c_expr_field(
            nest, e, is_pointed ? "->" : ".",
            takt__node_text(nest->source, takt__node_field(node, "field")));
    return takt__c_expr_name(nest, takt__node_text(nest->source, node),
                             takt__c_expression_type(nest->place, node, 0));
}

struct takt_ir_expr *takt__c_expr_field(struct takt_c_nest *nest,
                                        const struct takt_ir_expr *of,
                                        const char *sign,
                                        struct takt_text field)
{
    const struct takt_text part[] = {of->text, {sign, strlen(sign)}, field};

    if (of->loops != 0 || of->is_varying)
        return NULL;
    const char *whole = takt__source_keep(nest->source, part, 3);
    return takt__c_expr_name(
        nest, (struct takt_text){whole, strlen(whole)},
        takt__c_field_type(nest->place, of->type.fields, field));
}

/* ---- operators ----------------------------------------------------------- */

static struct takt_ir_expr *binary(struct takt_c_nest *nest, TSNode node,
                                   bool is_index, unsigned depth)
{
    struct takt_ir_expr *a =
        takt__c_expr(nest, takt__node_field(node, "left"), is_index, depth + 1);
    struct takt_ir_expr *b = takt__c_expr(nest, takt__node_field(node, "right"),
                                          is_index, depth + 1);
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(node, "operator"));

    return takt__ir_binary(&nest->ir, sign, a, b, is_index);
}

static struct takt_ir_expr *unary(struct takt_c_nest *nest, TSNode node,
                                  bool is_index, unsigned depth)
{
    struct takt_ir_expr *of = takt__c_expr(
        nest, takt__node_field(node, "argument"), is_index, depth + 1);
    const char sign = *takt__node_text(nest->source, node).at;

    if (of == NULL || sign == '+')
        return of;
    if (sign != '-')
        return is_index ? takt__ir_opaque(&nest->ir, of->loops) : NULL;
    return takt__ir_negative(&nest->ir, of);
}

/* A cast to an integer changes what is computed, unless it is of an index. */
static struct takt_ir_expr *cast(struct takt_c_nest *nest, TSNode node,
                                 bool is_index, unsigned depth)
{
    const struct takt_c_type type =
        takt__c_named_type(nest->place, takt__node_field(node, "type"), 0);
    struct takt_ir_expr *of = takt__c_expr(
        nest, takt__node_field(node, "value"), is_index, depth + 1);

    if (of == NULL)
        return NULL;
    if (type.rank > 0) /* what it points to is what the cast says */
        return takt__c_expr_typed(nest, of, type);
    if (type.element == TAKT_IR_INTEGER && takt__ir_has_access(of))
        return NULL;
    return of;
}

static struct takt_ir_expr *number(struct takt_c_nest *nest, TSNode node)
{
    const struct takt_text text = takt__node_text(nest->source, node);
    char copy[48];
    struct takt_ir_expr *e = takt__ir_new(&nest->ir, TAKT_IR_NUMBER);

    if (e == NULL || text.size >= sizeof copy)
        return NULL;
    memcpy(copy, text.at, text.size);
    copy[text.size] = '\0';
    e->number = strtod(copy, NULL);
    return e;
}

struct takt_ir_expr *takt__c_expr(struct takt_c_nest *nest, TSNode node,
                                  bool is_index, unsigned depth)
{
    node = takt__c_bare(node);
    if (ts_node_is_null(node) || depth > DEEPEST)
        return NULL;
    const char *type = ts_node_type(node);
    if (!strcmp(type, "number_literal"))
        return number(nest, node);
    if (!strcmp(type, "null"))
        return takt__ir_number(&nest->ir, 0);
    if (!strcmp(type, "identifier"))
        return takt__c_expr_named(nest, takt__node_text(nest->source, node));
    if (!strcmp(type, "subscript_expression"))
        return subscript(nest, node, depth);
    if (!strcmp(type, "binary_expression"))
        return binary(nest, node, is_index, depth);
    if (!strcmp(type, "pointer_expression"))
        return pointed(nest, node, depth);
    if (!strcmp(type, "unary_expression"))
        return unary(nest, node, is_index, depth);
    if (!strcmp(type, "update_expression")) /* *p++: it steps with its loop */
        return takt__c_expr(nest, takt__node_field(node, "argument"), is_index,
                            depth + 1);
    if (!strcmp(type, "call_expression"))
        return takt__c_expr_call(nest, node, is_index, depth);
    if (!strcmp(type, "field_expression"))
        return field(nest, node, depth);
    if (!strcmp(type, "cast_expression"))
        return cast(nest, node, is_index, depth);
    if (!strcmp(type, "conditional_expression"))
        return takt__c_choice(nest, node, is_index, depth);
    if (!strcmp(type, "compound_literal_expression")) /* size_t{0} */
        return takt__c_expr(nest, takt__node_field(node, "value"), is_index,
                            depth + 1);
    if (takt__word_in(type, "initializer_list argument_list")) /* i(0) */
        return ts_node_named_child_count(node) == 0
                   ? takt__ir_new(&nest->ir, TAKT_IR_NUMBER)
                   : takt__c_expr(nest, takt__c_first(node), is_index,
                                  depth + 1);
    if (takt__word_in(type, "qualified_identifier this sizeof_expression"))
        return takt__c_expr_name(
            nest, takt__node_text(nest->source, node),
            (struct takt_c_type){.element = TAKT_IR_UNKNOWN});
    return NULL;
}
