/* SPDX-License-Identifier: MIT */
/*
 * c_family_survey.c - the first look at a nest of loops: which loops there are,
 * and which names they declare, step and assign.
 */
#include "c_family_expr.h"

#include <string.h>

enum { DEEPEST = 40 };

bool takt__c_is_loop(TSNode node)
{
    return takt__node_in(
        node, "for_statement while_statement do_statement for_range_loop");
}

struct takt_c_local *takt__c_local_named(struct takt_c_nest *nest,
                                         struct takt_text text)
{
    struct takt_c_local *local = takt__c_local(nest, text);

    if (local != NULL)
        return local;
    if (nest->locals == TAKT_C_NAMES)
        return NULL;
    local = &nest->local[nest->locals++];
    *local = (struct takt_c_local){.text = text};
    local->type = takt__c_type_of(nest->place, text);
    return local;
}

static bool step_name(struct takt_c_nest *nest, TSNode update, uint32_t around)
{
    const TSNode name = takt__c_bare(takt__node_field(update, "argument"));
    const TSNode sign = takt__node_field(update, "operator");

    if (!takt__node_is(name, "identifier"))
        return false;
    struct takt_c_local *local =
        takt__c_local_named(nest, takt__node_text(nest->source, name));
    if (local == NULL || (local->type.element == TAKT_IR_OTHER &&
                          local->type.rank == 0)) /* an atomic, say */
        return false;
    local->is_stepped = true;
    local->is_backward |=
        takt__text_is(takt__node_text(nest->source, sign), "--");
    local->stepped |= around;
    return true;
}

/* Whether a step is told by an element, or by what a function returns: then it
 * is none. */
static bool is_told(TSNode by, unsigned depth)
{
    if (takt__node_in(by, "subscript_expression call_expression") ||
        depth > DEEPEST)
        return true;
    if (takt__node_is(by, "pointer_expression"))
        return !takt__node_is(takt__node_field(by, "argument"), "identifier");
    const uint32_t count = ts_node_named_child_count(by);
    for (uint32_t i = 0; i < count; i++)
        if (is_told(ts_node_named_child(by, i), depth + 1))
            return true;
    return false;
}

/* p += n steps a pointer or a counter; s += x adds to a number. */
static bool survey_assignment(struct takt_c_nest *nest, TSNode node,
                              uint32_t around)
{
    const TSNode left = takt__c_bare(takt__node_field(node, "left"));
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(node, "operator"));

    if (!takt__node_is(left, "identifier"))
        return true;
    struct takt_c_local *local =
        takt__c_local_named(nest, takt__node_text(nest->source, left));
    if (local == NULL || local->is_reference)
        return local != NULL;
    const bool is_counter =
        local->type.rank > 0 || local->type.element == TAKT_IR_INTEGER;
    if (is_counter && (takt__text_in(sign, "+= -=")) &&
        !is_told(takt__node_field(node, "right"), 0)) {
        local->is_stepped = true;
        local->is_strided |= !takt__text_is(
            takt__node_text(nest->source, takt__node_field(node, "right")),
            "1");
        local->stepped |= around;
    } else if (takt__text_is(sign, "=") && !local->is_declared &&
               !local->is_assigned) {
        local->is_declared = local->is_reset = true;
        local->declared = around;
    } else if (!local->is_declared || local->declared != around ||
               local->is_reset)
        local->is_assigned = true; /* else a name for what comes next */
    return true;
}

static bool survey_declaration(struct takt_c_nest *nest, TSNode node,
                               uint32_t around)
{
    struct takt_c_declared one;

    for (uint32_t at = 0; takt__c_next_declared(node, &at, &one);) {
        if (ts_node_is_null(one.name) || one.is_function ||
            nest->locals == TAKT_C_NAMES)
            return false;
        struct takt_c_local *local = &nest->local[nest->locals++];
        struct takt_c_declaration held = {.holder = node,
                                          .declarator = one.declarator};
        if (takt__node_is(one.declarator, "init_declarator"))
            held.value = takt__node_field(one.declarator, "value");
        *local = (struct takt_c_local){
            .text = takt__node_text(nest->source, one.name),
            .is_declared = true,
            .is_reference =
                takt__node_is(takt__node_field(one.declarator, "declarator"),
                              "reference_declarator"),
            .declared = around,
            .type = takt__c_declared_type(nest->place, &held, 0)};
    }
    return true;
}

static bool survey(struct takt_c_nest *nest, TSNode node, uint32_t around,
                   unsigned depth);

bool takt__c_is_number_start(const struct takt_c_nest *nest, TSNode node)
{
    const TSNode left = takt__node_field(node, "left");

    if (!takt__node_is(node, "assignment_expression") ||
        !takt__node_is(left, "identifier"))
        return false;
    const struct takt_c_type type =
        takt__c_type_of(nest->place, takt__node_text(nest->source, left));
    return type.rank == 0 &&
           (takt__c_is_float(type) || type.element == TAKT_IR_GENERIC);
}

/* Numbers are set before the loop that counts. */
static bool survey_start(struct takt_c_nest *nest, TSNode node,
                         const struct takt_ir_loop *loop, uint32_t around,
                         unsigned depth)
{
    if (takt__c_is_number_start(nest, node))
        return around == 0 || survey_assignment(nest, node, around);
    if (!takt__node_is(node, "comma_expression"))
        return survey(nest, node, loop->around, depth);
    return depth < DEEPEST &&
           survey_start(nest, takt__node_field(node, "left"), loop, around,
                        depth + 1) &&
           survey_start(nest, takt__node_field(node, "right"), loop, around,
                        depth + 1);
}

bool takt__c_is_leaving(const struct takt_c_nest *nest, TSNode node)
{
    for (unsigned i = 0; i < nest->ir.loop_count; i++)
        if (!ts_node_is_null(nest->head[i].leaving) &&
            ts_node_eq(nest->head[i].leaving, node))
            return true;
    return false;
}

/* for (;;) and while (1). */
static bool is_endless(const struct takt_c_nest *nest, TSNode loop)
{
    static const char always[] = "1 true";
    const TSNode condition = takt__node_field(loop, "condition");

    return takt__node_is(loop, "for_statement")
               ? ts_node_is_null(condition) &&
                     ts_node_is_null(takt__node_field(loop, "update"))
               : takt__node_is(loop, "while_statement") &&
                     takt__text_in(
                         takt__node_text(nest->source, takt__c_bare(condition)),
                         always);
}

/* The if (i >= n) break; of such a loop, or a null node. */
static TSNode leaving_of(const struct takt_c_nest *nest, TSNode loop)
{
    const TSNode body = takt__node_field(loop, "body");
    const uint32_t count =
        is_endless(nest, loop) ? ts_node_named_child_count(body) : 0;

    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = ts_node_named_child(body, i);
        TSNode then = takt__node_field(one, "consequence");
        if (takt__node_in(one, "comment declaration"))
            continue;
        if (!takt__node_is(one, "if_statement") ||
            !ts_node_is_null(takt__node_field(one, "alternative")))
            break;
        if (takt__node_is(then, "compound_statement") &&
            ts_node_named_child_count(then) == 1)
            then = takt__c_first(then);
        return takt__node_is(then, "break_statement") ? one : (TSNode){0};
    }
    return (TSNode){0};
}

/* A loop; of a lambda, one for each parameter. */
static struct takt_ir_loop *add_loops(struct takt_c_nest *nest, TSNode node,
                                      uint32_t around)
{
    const unsigned count = takt__node_is(node, "lambda_expression")
                               ? takt__node_children(takt__c_parameters(node))
                               : 1;
    struct takt_ir_loop *loop = NULL;

    for (unsigned i = 0; i < count; i++) {
        if (nest->ir.loop_count == TAKT_IR_LOOPS)
            return NULL;
        const unsigned index = nest->ir.loop_count++;
        loop = &nest->ir.loop[index];
        *loop = (struct takt_ir_loop){.bit = UINT32_C(1) << index};
        nest->head[index] = (struct takt_c_head){
            .node = node, .leaving = leaving_of(nest, node)};
        around |= loop->bit;
        loop->around = around;
    }
    return loop;
}

static bool survey_loop(struct takt_c_nest *nest, TSNode node, uint32_t around,
                        unsigned depth)
{
    const struct takt_ir_loop *loop = add_loops(nest, node, around);

    if (loop == NULL)
        return false;
    const TSNode start = takt__node_field(node, "initializer");
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = ts_node_named_child(node, i);
        const bool is_start = !ts_node_is_null(start) && ts_node_eq(one, start);
        if (!(is_start ? survey_start(nest, one, loop, around, depth + 1)
                       : survey(nest, one, loop->around, depth + 1)))
            return false;
    }
    return true;
}

static bool survey(struct takt_c_nest *nest, TSNode node, uint32_t around,
                   unsigned depth)
{
    /* What ends a loop early, or does what we cannot follow. */
    static const char forbidden[] =
        "break_statement goto_statement return_statement switch_statement "
        "throw_statement lambda_expression try_statement labeled_statement "
        "new_expression delete_expression string_literal co_await_expression "
        "co_yield_statement gnu_asm_expression ERROR";
    const char *type = ts_node_type(node);

    if (depth > DEEPEST || takt__word_in(type, forbidden))
        return false;
    if (takt__c_is_leaving(nest, node))
        return true;
    if (takt__c_is_loop(node) && depth > 0)
        return survey_loop(nest, node, around, depth);
    if (!strcmp(type, "update_expression"))
        return step_name(nest, node, around);
    if (!strcmp(type, "declaration") && !survey_declaration(nest, node, around))
        return false;
    if (!strcmp(type, "assignment_expression") &&
        !survey_assignment(nest, node, around))
        return false;
    const uint32_t count = ts_node_named_child_count(node);
    if (count > 64)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!survey(nest, ts_node_named_child(node, i), around, depth + 1))
            return false;
    return true;
}

bool takt__c_survey(struct takt_c_nest *nest, TSNode loop)
{
    return survey_loop(nest, loop, 0, 0);
}
