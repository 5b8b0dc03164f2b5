/* SPDX-License-Identifier: MIT */
/*
 * c_family_inline.c - functions, lambdas and macros of the file itself that
 * only return something: a call of one is what it returns, of its arguments.
 */
#include "c_family_expr.h"

#include <string.h>

enum { NESTED = 3, MOST = TAKT_C_ARGUMENTS };

/* ---- functions ----------------------------------------------------------- */

TSNode takt__c_function_named(const struct takt_c_place *place, TSNode name)
{
    struct takt_c_declaration held;

    if (takt__node_is(name, "lambda_expression"))
        return name;
    const bool is_of_namespace = takt__node_is(name, "qualified_identifier");
    if (is_of_namespace)
        name = takt__c_last_part(name);
    if (!takt__node_is(name, "identifier"))
        return (TSNode){0};
    const struct takt_text text = takt__node_text(place->source, name);
    if (!is_of_namespace && takt__c_declared(place, text, &held))
        return !ts_node_is_null(held.value) &&
                       takt__node_is(held.value, "lambda_expression")
                   ? held.value
                   : (TSNode){0};
    const struct takt_c_name *found =
        takt__c_find(place->source, text, TAKT_C_FUNCTION);
    return found != NULL && takt__node_is(found->holder, "function_definition")
               ? found->holder
               : (TSNode){0};
}

/* assert(i < n); */
static bool is_assertion(const struct takt_source *source, TSNode node)
{
    const TSNode call = takt__c_first(node);

    return takt__node_is(node, "expression_statement") &&
           takt__node_is(call, "call_expression") &&
           takt__text_is(
               takt__node_text(source, takt__node_field(call, "function")),
               "assert");
}

/* Whether a condition is about indices: no elements, nothing is called. */
static bool is_about_indices(TSNode node, unsigned depth)
{
    const uint32_t count = ts_node_named_child_count(node);

    if (depth == 0 ||
        takt__node_in(node, "subscript_expression call_expression "
                            "assignment_expression update_expression "
                            "pointer_expression"))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!is_about_indices(ts_node_named_child(node, i), depth - 1))
            return false;
    return true;
}

/* if (x < 0 || x >= w) return 0; */
static bool is_limit(TSNode node)
{
    TSNode then = takt__node_field(node, "consequence");

    if (!takt__node_is(node, "if_statement") ||
        !ts_node_is_null(takt__node_field(node, "alternative")) ||
        !is_about_indices(takt__node_field(node, "condition"), 12))
        return false;
    if (takt__node_is(then, "compound_statement") &&
        ts_node_named_child_count(then) == 1)
        then = takt__c_first(then);
    return takt__node_is(then, "return_statement") &&
           (ts_node_named_child_count(then) == 0 ||
            takt__node_is(takt__c_first(then), "number_literal"));
}

/* The one statement of a function besides assertions, and limits where there
 * may be: *limits says how many there are. */
static TSNode only_statement(const struct takt_source *source, TSNode function,
                             unsigned *limits)
{
    const TSNode body = takt__node_field(function, "body");
    const uint32_t count =
        ts_node_is_null(body) ? 0 : ts_node_named_child_count(body);
    TSNode only = {0};

    for (uint32_t i = 0; i < count && i < 8; i++) {
        const TSNode one = ts_node_named_child(body, i);
        if (takt__node_is(one, "comment") || is_assertion(source, one))
            continue;
        if (limits != NULL && ts_node_is_null(only) && is_limit(one)) {
            ++*limits;
            continue;
        }
        if (!ts_node_is_null(only))
            return (TSNode){0};
        only = one;
    }
    return only;
}

static TSNode value_of(TSNode statement)
{
    return takt__node_is(statement, "return_statement")
               ? takt__c_first(statement)
               : (TSNode){0};
}

TSNode takt__c_returned(const struct takt_source *source, TSNode function)
{
    return value_of(only_statement(source, function, NULL));
}

TSNode takt__c_parameters(TSNode function)
{
    TSNode at = takt__node_field(function, "declarator");

    for (unsigned i = 0; i < 8 && !ts_node_is_null(at); i++) {
        const TSNode list = takt__node_field(at, "parameters");
        if (!ts_node_is_null(list))
            return list;
        at = takt__node_is(at, "reference_declarator") /* float &at(int i) */
                 ? takt__c_first(at)
                 : takt__node_field(at, "declarator");
    }
    return at;
}

/* ---- arguments ----------------------------------------------------------- */

/* The names in a list, of a function's parameters or a macro's. */
static unsigned names_of(const struct takt_c_nest *nest, TSNode list,
                         struct takt_text *name)
{
    const uint32_t count = ts_node_named_child_count(list);

    for (uint32_t i = 0; i < count && i < MOST; i++) {
        const TSNode one = ts_node_named_child(list, i);
        const TSNode declarator = takt__node_field(one, "declarator");
        bool is_function = false;
        const TSNode text =
            takt__node_is(one, "identifier")
                ? one
                : takt__c_declared_name(declarator, &is_function);
        if (ts_node_is_null(text) || is_function)
            return 0;
        name[i] = takt__node_text(nest->source, text);
    }
    return count > MOST ? 0 : count;
}

static bool bind_values(struct takt_c_nest *nest, TSNode parameters,
                        struct takt_ir_expr **value, unsigned count)
{
    struct takt_text name[MOST];

    if (names_of(nest, parameters, name) != count || count == 0 ||
        nest->locals + count > TAKT_C_NAMES)
        return false;
    for (unsigned i = 0; i < count; i++)
        nest->local[nest->locals++] = (struct takt_c_local){
            .text = name[i], .is_bound = true, .value = value[i]};
    return true;
}

/* Puts expressions for parameters behind the locals; false: they do not fit. */
static bool bind(struct takt_c_nest *nest, TSNode parameters, TSNode arguments,
                 unsigned depth)
{
    struct takt_ir_expr *value[MOST];
    const uint32_t count = ts_node_named_child_count(arguments);

    if (count > MOST)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        value[i] = takt__c_expr(nest, ts_node_named_child(arguments, i), false,
                                depth + 1);
        if (value[i] == NULL)
            return false;
    }
    return bind_values(nest, parameters, value, count);
}

static struct takt_ir_expr *function(struct takt_c_nest *nest, TSNode callee,
                                     TSNode arguments, unsigned depth)
{
    const TSNode of = takt__c_function_named(nest->place, callee);
    const unsigned hidden = nest->hidden, locals = nest->locals;

    if (ts_node_is_null(of))
        return NULL;
    unsigned limits = 0;
    const TSNode result = value_of(only_statement(nest->source, of, &limits));
    const TSNode parameters = takt__c_parameters(of);
    if (ts_node_is_null(result) || ts_node_is_null(parameters) ||
        !bind(nest, parameters, arguments, depth))
        return NULL;
    if (takt__node_is(of, "function_definition"))
        nest->hidden = locals;
    struct takt_ir_expr *e = takt__c_expr(nest, result, false, depth + 1);
    nest->hidden = hidden;
    nest->locals = locals;
    return limits == 0 || e == NULL || e->sort == TAKT_IR_PICK
               ? e
               : takt__ir_pick(&nest->ir, takt__ir_opaque(&nest->ir, 0),
                               takt__ir_number(&nest->ir, 0), e);
}

/* set(m, i, j, x), whose one statement writes an element. */
bool takt__c_collect_setter(struct takt_c_nest *nest, TSNode call,
                            uint32_t around)
{
    const TSNode of =
        takt__c_function_named(nest->place, takt__node_field(call, "function"));
    const unsigned hidden = nest->hidden, locals = nest->locals;
    unsigned limits = 0;

    if (ts_node_is_null(of) || !takt__node_is(of, "function_definition") ||
        nest->inlined == NESTED)
        return false;
    const TSNode only = only_statement(nest->source, of, &limits);
    const TSNode parameters = takt__c_parameters(of);
    if (!takt__node_is(only, "expression_statement") ||
        !takt__node_is(takt__c_first(only), "assignment_expression") ||
        !takt__node_is(takt__node_field(takt__c_first(only), "left"),
                       "subscript_expression") ||
        ts_node_is_null(parameters) ||
        !bind(nest, parameters, takt__node_field(call, "arguments"), 0))
        return false;
    nest->hidden = locals;
    nest->inlined++;
    const bool is_read = takt__c_collect_within(nest, only, around, 0);
    nest->inlined--;
    nest->hidden = hidden;
    nest->locals = locals;
    return is_read;
}

/* The text of a macro, its parameters bound; empty: it is none. */
static struct takt_text macro_text(struct takt_c_nest *nest, TSNode callee,
                                   TSNode arguments, unsigned depth)
{
    const struct takt_c_name *found = takt__c_find(
        nest->source, takt__node_text(nest->source, callee), TAKT_C_MACRO);
    struct takt_text none = {"", 0};

    if (found == NULL)
        return none;
    const TSNode parameters = takt__node_field(found->node, "parameters");
    const TSNode body = takt__node_field(found->node, "value");
    if (ts_node_is_null(parameters) || ts_node_is_null(body) ||
        !bind(nest, parameters, arguments, depth))
        return none;
    return takt__node_text(nest->source, body);
}

bool takt__c_collect_macro(struct takt_c_nest *nest, TSNode call,
                           uint32_t around)
{
    const unsigned locals = nest->locals;
    const struct takt_text body =
        macro_text(nest, takt__node_field(call, "function"),
                   takt__node_field(call, "arguments"), 0);
    const bool is_read =
        body.size > 0 && takt__c_macro_statements(nest, body, around);

    nest->locals = locals;
    return is_read;
}

struct takt_ir_expr *takt__c_expr_inlined(struct takt_c_nest *nest,
                                          TSNode callee, TSNode arguments,
                                          unsigned depth)
{
    if (!takt__node_in(callee, "identifier qualified_identifier") ||
        nest->inlined == NESTED)
        return NULL;
    nest->inlined++;
    const unsigned locals = nest->locals;
    const struct takt_text body = macro_text(nest, callee, arguments, depth);
    struct takt_ir_expr *e =
        body.size > 0 ? takt__c_expr_macro(nest, body) : NULL;
    nest->locals = locals;
    if (e == NULL)
        e = function(nest, callee, arguments, depth);
    nest->inlined--;
    return e;
}

/* A macro within the text of another. */
struct takt_ir_expr *takt__c_expr_expanded(struct takt_c_nest *nest,
                                           struct takt_text name,
                                           struct takt_ir_expr **argument,
                                           unsigned count)
{
    const unsigned locals = nest->locals;
    const struct takt_c_name *found =
        takt__c_find(nest->source, name, TAKT_C_MACRO);
    struct takt_ir_expr *e = NULL;

    if (found == NULL || nest->inlined == NESTED)
        return NULL;
    const TSNode parameters = takt__node_field(found->node, "parameters");
    const TSNode body = takt__node_field(found->node, "value");
    nest->inlined++;
    if (!ts_node_is_null(parameters) && !ts_node_is_null(body) &&
        bind_values(nest, parameters, argument, count))
        e = takt__c_expr_macro(nest, takt__node_text(nest->source, body));
    nest->inlined--;
    nest->locals = locals;
    return e;
}
