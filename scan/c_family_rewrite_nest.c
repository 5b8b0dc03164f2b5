/* SPDX-License-Identifier: MIT */
/* c_family_rewrite_nest.c - the loops, and what is in them, read strictly. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "c_family_rewrite.h"

enum { DEEPEST = 24 };

void takt__rw_put(struct takt_rw_text *text, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    const int length = vsnprintf(text->at + text->used,
                                 sizeof text->at - text->used, format, values);
    va_end(values);
    if (length < 0 || (size_t)length >= sizeof text->at - text->used)
        text->is_cut = true;
    else
        text->used += (size_t)length;
}

static bool is_text(const struct takt_source *source, TSNode node,
                    const char *word)
{
    return !ts_node_is_null(node) &&
           takt__text_is(takt__node_text(source, node), word);
}

static bool same_text(struct takt_text a, struct takt_text b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* ---- names ---- */

const struct takt_rw_local *takt__rw_local(const struct takt_rw_nest *nest,
                                           TSNode name)
{
    const struct takt_text text = takt__node_text(nest->source, name);

    if (!takt__node_is(name, "identifier"))
        return NULL;
    for (unsigned i = 0; i < nest->locals; i++)
        if (same_text(nest->local[i].name, text))
            return &nest->local[i];
    return NULL;
}

static bool is_loop_variable(const struct takt_rw_nest *nest, TSNode name)
{
    const struct takt_text text = takt__node_text(nest->source, name);

    for (unsigned i = 0; i < nest->loops; i++)
        if (same_text(nest->loop[i].var, text))
            return true;
    return false;
}

/* Whether a statement of the nest writes to that name. */
static bool is_assigned(const struct takt_rw_nest *nest, TSNode name)
{
    const struct takt_text text = takt__node_text(nest->source, name);

    for (unsigned i = 0; i < nest->stmts; i++)
        if (takt__node_is(nest->stmt[i].left, "identifier") &&
            same_text(takt__node_text(nest->source, nest->stmt[i].left), text))
            return true;
    return false;
}

TSNode takt__rw_resolve(const struct takt_rw_nest *nest, TSNode node)
{
    for (unsigned i = 0; i < DEEPEST; i++) {
        const struct takt_rw_local *local = takt__rw_local(nest, node);
        if (takt__node_is(node, "parenthesized_expression"))
            node = takt__c_first(node);
        else if (local != NULL && !local->is_sum)
            node = local->value;
        else
            break;
    }
    return node;
}

/* ---- what does not change ---- */

/* v.size(), of a name: C++ alone has it. */
static bool is_size_call(const struct takt_rw_nest *nest, TSNode node)
{
    if (!takt__node_is(node, "call_expression") ||
        ts_node_named_child_count(takt__node_field(node, "arguments")) != 0)
        return false;
    const TSNode callee = takt__node_field(node, "function");
    return takt__node_is(callee, "field_expression") &&
           is_text(nest->source, takt__node_field(callee, "field"), "size") &&
           takt__node_is(takt__node_field(callee, "argument"), "identifier");
}

static bool is_invariant(const struct takt_rw_nest *nest, TSNode node,
                         unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node))
        return false;
    if (takt__node_is(node, "number_literal"))
        return true;
    if (takt__node_is(node, "identifier"))
        return !is_loop_variable(nest, node) &&
               takt__rw_local(nest, node) == NULL && !is_assigned(nest, node);
    if (is_size_call(nest, node))
        return is_invariant(
            nest,
            takt__node_field(takt__node_field(node, "function"), "argument"),
            depth - 1);
    if (takt__node_is(node, "field_expression"))
        return is_invariant(nest, takt__node_field(node, "argument"),
                            depth - 1);
    if (!takt__node_in(node, "binary_expression parenthesized_expression"))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (!is_invariant(nest, ts_node_named_child(node, i), depth - 1))
            return false;
    return true;
}

bool takt__rw_is_invariant(const struct takt_rw_nest *nest, TSNode node)
{
    return is_invariant(nest, node, DEEPEST);
}

/* Every name and number in it is a whole one. */
static bool is_whole(const struct takt_rw_nest *nest, TSNode node,
                     unsigned depth)
{
    enum takt_size_source source;
    int64_t value;

    if (depth == 0)
        return false;
    if (takt__c_constant(nest->place, node, &value, &source))
        return value >= 0;
    if (is_size_call(nest, node))
        return true;
    if (takt__node_in(node, "identifier field_expression")) {
        const struct takt_c_type type =
            takt__c_expression_type(nest->place, node, 0);
        return type.element == TAKT_IR_INTEGER && type.rank == 0 &&
               !type.is_volatile;
    }
    const bool is_sum = takt__node_is(node, "binary_expression");
    if (!is_sum && !takt__node_is(node, "parenthesized_expression"))
        return false;
    if (is_sum &&
        is_text(nest->source, takt__node_field(node, "operator"), "<<"))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
        if (!is_whole(nest, ts_node_named_child(node, i), depth - 1))
            return false;
    return true;
}

bool takt__rw_is_count(const struct takt_rw_nest *nest, TSNode node)
{
    return takt__rw_is_invariant(nest, node) && is_whole(nest, node, DEEPEST);
}

/* ---- loops ---- */

static bool read_start(struct takt_rw_nest *nest, struct takt_rw_loop *loop,
                       TSNode start)
{
    TSNode name = {0}, value = {0};

    if (ts_node_is_null(start))
        return false;
    if (takt__node_is(start, "declaration")) {
        const TSNode declarator = takt__node_field(start, "declarator");
        if (!takt__node_is(declarator, "init_declarator") ||
            !ts_node_eq(ts_node_named_child(
                            start, ts_node_named_child_count(start) - 1),
                        declarator))
            return false;
        name = takt__node_field(declarator, "declarator");
        value = takt__node_field(declarator, "value");
        loop->is_declared = true;
    } else if (takt__node_is(start, "assignment_expression") &&
               is_text(nest->source, takt__node_field(start, "operator"),
                       "=")) {
        name = takt__node_field(start, "left");
        value = takt__node_field(start, "right");
    }
    if (!takt__node_is(name, "identifier") || ts_node_is_null(value))
        return false;
    loop->var = takt__node_text(nest->source, name);
    loop->from = value;
    if (is_text(nest->source, value, "0"))
        loop->from = (TSNode){0};
    return true;
}

static bool is_variable(const struct takt_rw_nest *nest,
                        const struct takt_rw_loop *loop, TSNode node)
{
    return takt__node_is(node, "identifier") &&
           same_text(takt__node_text(nest->source, node), loop->var);
}

static bool read_condition(struct takt_rw_nest *nest, struct takt_rw_loop *loop,
                           TSNode condition)
{
    if (!takt__node_is(condition, "binary_expression") ||
        !is_variable(nest, loop, takt__node_field(condition, "left")))
        return false;
    const TSNode sign = takt__node_field(condition, "operator");
    loop->is_inclusive = is_text(nest->source, sign, "<=");
    loop->to = takt__node_field(condition, "right");
    return loop->is_inclusive || is_text(nest->source, sign, "<");
}

static bool is_step(const struct takt_rw_nest *nest,
                    const struct takt_rw_loop *loop, TSNode update)
{
    if (ts_node_is_null(update))
        return false;
    const TSNode sign = takt__node_field(update, "operator");
    if (takt__node_is(update, "update_expression"))
        return is_text(nest->source, sign, "++") &&
               is_variable(nest, loop, takt__node_field(update, "argument"));
    return takt__node_is(update, "assignment_expression") &&
           is_text(nest->source, sign, "+=") &&
           is_text(nest->source, takt__node_field(update, "right"), "1") &&
           is_variable(nest, loop, takt__node_field(update, "left"));
}

/* ---- statements ---- */

static enum takt_ir_element element_of(const struct takt_source *source,
                                       TSNode type)
{
    if (is_text(source, type, "float"))
        return TAKT_IR_F32;
    return is_text(source, type, "double") ? TAKT_IR_F64 : TAKT_IR_OTHER;
}

static bool is_zero(const struct takt_source *source, TSNode node)
{
    return takt__text_in(takt__node_text(source, node),
                         "0 0.0 0.0f 0. 0.0F 0.f 0.F");
}

/* float s = 0; const float x = a[i]; const float *row = a + i * n; */
static bool read_declaration(struct takt_rw_nest *nest, TSNode node,
                             unsigned depth)
{
    const TSNode declarator = takt__node_field(node, "declarator");

    if (nest->locals == TAKT_RW_LOCALS ||
        !takt__node_is(declarator, "init_declarator") ||
        !ts_node_eq(
            ts_node_named_child(node, ts_node_named_child_count(node) - 1),
            declarator))
        return false;
    TSNode name = takt__node_field(declarator, "declarator");
    const bool is_pointer = takt__node_is(name, "pointer_declarator");
    if (is_pointer)
        name = takt__node_field(name, "declarator");
    if (!takt__node_is(name, "identifier"))
        return false;
    struct takt_rw_local *local = &nest->local[nest->locals++];
    *local = (struct takt_rw_local){
        .name = takt__node_text(nest->source, name),
        .value = takt__node_field(declarator, "value"),
        .element = element_of(nest->source, takt__node_field(node, "type")),
        .is_pointer = is_pointer,
        .depth = depth};
    local->is_sum = !is_pointer && is_zero(nest->source, local->value);
    /* An integer or another float type would change what is computed. */
    return local->element != TAKT_IR_OTHER || is_pointer;
}

static bool read_assignment(struct takt_rw_nest *nest, TSNode node,
                            unsigned depth)
{
    const TSNode e = takt__c_first(node);

    if (nest->stmts == 3 || !takt__node_is(e, "assignment_expression"))
        return false;
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(e, "operator"));
    struct takt_rw_stmt *stmt = &nest->stmt[nest->stmts++];
    if (sign.size >= sizeof stmt->sign)
        return false;
    *stmt = (struct takt_rw_stmt){.left = takt__node_field(e, "left"),
                                  .right = takt__node_field(e, "right"),
                                  .depth = depth,
                                  .is_behind = nest->is_open[depth]};
    memcpy(stmt->sign, sign.at, sign.size);
    return true;
}

static bool read_body(struct takt_rw_nest *nest, TSNode node, unsigned depth)
{
    if (ts_node_is_null(node))
        return false;
    if (takt__node_is(node, "comment"))
        return true;
    if (takt__node_is(node, "for_statement")) {
        if (nest->is_open[depth])
            return false;
        nest->is_open[depth] = true;
        return takt__rw_read(nest, node);
    }
    if (takt__node_is(node, "declaration"))
        return !nest->is_open[depth] && read_declaration(nest, node, depth);
    if (takt__node_is(node, "expression_statement"))
        return read_assignment(nest, node, depth);
    if (!takt__node_is(node, "compound_statement"))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        const TSNode one = ts_node_named_child(node, i);
        if (takt__node_is(one, "compound_statement") ||
            !read_body(nest, one, depth))
            return false;
    }
    return true;
}

bool takt__rw_read(struct takt_rw_nest *nest, TSNode node)
{
    if (nest->loops == TAKT_RW_LOOPS || !takt__node_is(node, "for_statement") ||
        ts_node_has_error(node))
        return false;
    struct takt_rw_loop *loop = &nest->loop[nest->loops];
    *loop = (struct takt_rw_loop){.is_declared = false};
    if (!read_start(nest, loop, takt__node_field(node, "initializer")) ||
        !read_condition(nest, loop, takt__node_field(node, "condition")) ||
        !is_step(nest, loop, takt__node_field(node, "update")))
        return false;
    nest->loops++;
    return read_body(nest, takt__node_field(node, "body"), nest->loops);
}

/* ---- behind the loop ---- */

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool takt__rw_is_dead_behind(const struct takt_c_place *place, TSNode loop,
                             struct takt_text name)
{
    const TSNode function = takt__c_function(place);
    const struct takt_source *source = place->source;

    if (ts_node_is_null(function))
        return false;
    const char *at = source->text + ts_node_end_byte(loop);
    const char *end = source->text + ts_node_end_byte(function);
    for (; at + name.size < end; at++) {
        if (memcmp(at, name.at, name.size) != 0 || is_name_byte(at[-1]) ||
            is_name_byte(at[name.size]))
            continue;
        at += name.size;
        while (at < end && isspace((unsigned char)*at))
            at++;
        return at + 1 < end && at[0] == '=' && at[1] != '=';
    }
    return true;
}
