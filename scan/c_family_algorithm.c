/* SPDX-License-Identifier: MIT */
/*
 * c_family_algorithm.c - calls of the standard library's algorithms: what they
 * run over, and what the function that they are given does with it.
 */
#include "c_family_expr.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

struct call {
    const struct takt_c_place *place;
    TSNode node;
    struct takt_text name;
    bool is_ranges;
    unsigned count;
    TSNode argument[MOST];
    struct takt_ir_verdict *out;
};

/* ---- reading the call ---------------------------------------------------- */

/* The last part of a::b::name, without template arguments. */
static struct takt_text last_name(const struct takt_source *source, TSNode node)
{
    for (unsigned i = 0; i < 8 && !ts_node_is_null(node); i++) {
        const TSNode name = takt__node_field(node, "name");
        if (ts_node_is_null(name))
            return takt__node_text(source, node);
        node = name;
    }
    return (struct takt_text){"", 0};
}

/* std::name, or a plain name of what begins with a container's begin(). */
static bool is_of_std(const struct call *call, TSNode callee)
{
    const struct takt_text text = takt__node_text(call->place->source, callee);
    const struct takt_c_notes *notes = call->place->source->notes;

    if (text.size > 5 && memcmp(text.at, "std::", 5) == 0)
        return true;
    if (!takt__node_is(callee, "identifier") || call->count == 0)
        return false;
    return notes->is_std_used ||
           takt__c_has(takt__node_text(call->place->source, call->argument[0]),
                       "begin()");
}

static bool read_call(struct call *call)
{
    const TSNode callee = takt__node_field(call->node, "function");
    const TSNode list = takt__node_field(call->node, "arguments");

    if (ts_node_is_null(callee) || ts_node_is_null(list))
        return false;
    const uint32_t count = ts_node_named_child_count(list);
    for (uint32_t i = 0; i < count && call->count < MOST; i++) {
        const TSNode one = ts_node_named_child(list, i);
        if (takt__node_is(one, "comment") ||
            (call->count == 0 &&
             (takt__c_has(takt__node_text(call->place->source, one),
                          "execution::") ||
              takt__c_has(takt__node_text(call->place->source, one),
                          "policy"))))
            continue;
        call->argument[call->count++] = one;
    }
    call->name = last_name(call->place->source, callee);
    call->is_ranges =
        takt__c_has(takt__node_text(call->place->source, callee), "ranges::");
    return is_of_std(call, callee);
}

/* What an argument runs over: v.begin(), p, std::begin(v). */
static struct takt_c_type range_type(const struct call *call, unsigned at)
{
    const struct takt_c_type none = {.element = TAKT_IR_UNKNOWN};

    if (at >= call->count)
        return none;
    TSNode node = call->argument[at];
    if (takt__node_is(node, "call_expression")) {
        const TSNode callee = takt__node_field(node, "function");
        const struct takt_text name = last_name(call->place->source, callee);
        if (!takt__node_is(callee, "field_expression") &&
            (takt__text_in(name, "begin cbegin")))
            node = takt__c_first(takt__node_field(node, "arguments"));
    }
    return takt__c_expression_type(call->place, node, 0);
}

static bool is_over_floats(struct call *call)
{
    const struct takt_c_type type = range_type(call, 0);

    if (!takt__c_is_float(type) || type.rank != 1)
        return false;
    call->out->is_typed = true;
    call->out->is_f64 = type.element == TAKT_IR_F64;
    call->out->is_either = type.element == TAKT_IR_FLOAT;
    takt__tell_size(&call->out->size, TAKT_SIZE_TYPE, 1, type.dim);
    return true;
}

/* ---- functions that are given -------------------------------------------- */

/* The parameters of a lambda become elements of one loop; the first of `own`
 * parameters is what was gathered so far. */
static unsigned bind(struct takt_c_nest *nest, TSNode lambda, bool has_total,
                     enum takt_ir_element element)
{
    const TSNode list = takt__c_parameters(lambda);
    const uint32_t count =
        ts_node_is_null(list) ? 0 : ts_node_named_child_count(list);
    unsigned bound = 0;

    for (uint32_t i = 0; i < count && i < 3; i++) {
        bool is_function = false;
        const TSNode name = takt__c_declared_name(
            takt__node_field(ts_node_named_child(list, i), "declarator"),
            &is_function);
        struct takt_ir_expr *e = takt__ir_new(&nest->ir, TAKT_IR_ACCESS);
        if (ts_node_is_null(name) || e == NULL)
            return 0;
        e->text = takt__node_text(nest->source, name);
        e->type.element = element;
        e->loops = 1;
        if (has_total && i == 0) {
            e->sort = TAKT_IR_NAME;
            e->loops = 0;
            e->is_varying = true;
        }
        nest->local[nest->locals++] = (struct takt_c_local){
            .text = e->text, .is_declared = true, .value = e};
        bound++;
    }
    return bound;
}

static struct takt_c_nest *open_lambda(const struct call *call, TSNode lambda,
                                       bool has_total, unsigned parameters)
{
    struct takt_c_nest *nest = takt__scan_zeros(1, sizeof *nest);

    nest->place = call->place;
    nest->source = call->place->source;
    if (bind(nest, lambda, has_total,
             call->out->is_f64 ? TAKT_IR_F64 : TAKT_IR_F32) == parameters)
        return nest;
    free(nest);
    return NULL;
}

/* What a lambda or function returns, as an expression of its parameters. */
static struct takt_ir_expr *returned(struct takt_c_nest *nest, TSNode lambda)
{
    const TSNode result = takt__c_returned(nest->source, lambda);

    return ts_node_is_null(result) ? NULL
                                   : takt__c_expr(nest, result, false, 0);
}

/* s + f(x), max(s, x). */
static const char *folding_op(const struct takt_ir_expr *e)
{
    if (e == NULL || e->parts != 2)
        return NULL;
    for (unsigned i = 0; i < 2; i++) {
        const struct takt_ir_expr *other = e->part[1 - i];
        if (!e->part[i]->is_varying || takt__ir_varies(other) ||
            other->loops == 0)
            continue;
        if (e->sort == TAKT_IR_ADD)
            return takt__judge_sum(other);
        if (takt__ir_is_call(e, "fmax"))
            return "max";
        return takt__ir_is_call(e, "fmin") ? "min" : NULL;
    }
    return NULL;
}

/* std::plus<>(), plus<float>{}. */
static bool is_functor(const struct call *call, TSNode function,
                       const char *name)
{
    const struct takt_c_notes *notes = call->place->source->notes;
    struct takt_text text = takt__node_text(call->place->source, function);
    const size_t size = strlen(name);

    if (text.size > 5 && memcmp(text.at, "std::", 5) == 0)
        text = (struct takt_text){text.at + 5, text.size - 5};
    else if (!notes->is_std_used)
        return false;
    return text.size > size && memcmp(text.at, name, size) == 0 &&
           text.at[size] == '<';
}

static const char *fold_with(const struct call *call, TSNode function)
{
    const TSNode of = takt__c_function_named(call->place, function);

    if (ts_node_is_null(of))
        return is_functor(call, function, "plus") ? "sum" : NULL;
    struct takt_c_nest *nest = open_lambda(call, of, true, 2);
    if (nest == NULL)
        return NULL;
    const char *op = folding_op(returned(nest, of));
    free(nest);
    return op;
}

static const char *map_with(const struct call *call, TSNode function,
                            unsigned parameters, bool is_summed)
{
    static const char *const named[][2] = {{"plus", "add"},
                                           {"minus", "sub"},
                                           {"multiplies", "mul"},
                                           {"divides", "div"},
                                           {"negate", "neg"}};
    static const char *const plain[][2] = {
        {"exp", "exp"},   {"log", "log"},   {"sqrt", "sqrt"}, {"fabs", "abs"},
        {"tanh", "tanh"}, {"expf", "exp"},  {"logf", "log"},  {"sqrtf", "sqrt"},
        {"fabsf", "abs"}, {"tanhf", "tanh"}};
    const TSNode of = takt__c_function_named(call->place, function);

    if (ts_node_is_null(of)) {
        for (size_t i = 0; i < sizeof named / sizeof *named; i++)
            if (is_functor(call, function, named[i][0]))
                return named[i][1];
        const struct takt_text last = last_name(call->place->source, function);
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
            if (takt__text_is(last, plain[i][0]))
                return plain[i][1];
        return NULL;
    }
    struct takt_c_nest *nest = open_lambda(call, of, false, parameters);
    if (nest == NULL)
        return NULL;
    const struct takt_ir_expr *e = returned(nest, of);
    const char *op = e == NULL || takt__ir_varies(e) ? NULL
                     : is_summed                     ? takt__judge_sum(e)
                                 : takt__judge_element(NULL, e);
    free(nest);
    return op;
}

/* [](float &x) { x *= 2; }, [&](float x) { s += x; } */
static const char *change_with(const struct call *call, TSNode lambda)
{
    lambda = takt__c_function_named(call->place, lambda);
    const TSNode body = takt__node_field(lambda, "body");
    TSNode statement = ts_node_is_null(body) ? body : takt__c_first(body);

    if (ts_node_is_null(statement) || ts_node_named_child_count(body) != 1 ||
        !takt__node_is(statement, "expression_statement"))
        return NULL;
    statement = takt__c_first(statement);
    struct takt_c_nest *nest = open_lambda(call, lambda, false, 1);
    if (nest == NULL || !takt__node_is(statement, "assignment_expression")) {
        free(nest);
        return NULL;
    }
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(statement, "operator"));
    struct takt_ir_expr *target =
        takt__c_expr(nest, takt__node_field(statement, "left"), false, 0);
    struct takt_ir_expr *value =
        takt__c_expr(nest, takt__node_field(statement, "right"), false, 0);
    const char *op = NULL;
    if (target != NULL && value != NULL && target->loops == 0) {
        if (target->sort == TAKT_IR_NAME && takt__text_is(sign, "+="))
            op = takt__judge_sum(value); /* into what was captured */
        value = NULL;
    }
    enum takt_ir_effect effect;
    if (value != NULL && target != NULL && takt__ir_effect(sign, &effect))
        value = takt__ir_after(&nest->ir, effect, target, value);
    if (target != NULL && value != NULL)
        op = takt__judge_element(NULL, value);
    free(nest);
    return op;
}

/* ---- the algorithms ------------------------------------------------------ */

static TSNode around(const struct call *call, unsigned levels)
{
    const struct takt_c_place *place = call->place;
    unsigned at = place->depth;

    while (levels > 0 && at > 1) {
        at--;
        if (!takt__node_in(place->at[at - 1],
                           "argument_list parenthesized_expression"))
            levels--;
    }
    return at == 0 ? (TSNode){0} : place->at[at - 1];
}

/* sum / n is a mean, sqrt(a . a) a norm, max - begin a position. */
static const char *in_context(const struct call *call, const char *op)
{
    const TSNode outer = around(call, 1);

    if (op == NULL || ts_node_is_null(outer))
        return op;
    const struct takt_source *source = call->place->source;
    const bool is_call = takt__node_is(outer, "call_expression");
    const struct takt_text callee =
        is_call ? takt__node_text(source, takt__node_field(outer, "function"))
                : (struct takt_text){"", 0};
    const bool is_binary = takt__node_is(outer, "binary_expression");
    const struct takt_text sign =
        is_binary ? takt__node_text(source, takt__node_field(outer, "operator"))
                  : (struct takt_text){"", 0};
    if (!strcmp(op, "sum") && takt__text_is(sign, "/") &&
        !takt__c_is_float(takt__c_expression_type(
            call->place,
            takt__c_without_casts(source, takt__node_field(outer, "right")),
            0)))
        return "mean";
    if (!strcmp(op, "dot") && takt__c_has(callee, "sqrt") && call->count >= 3 &&
        takt__ir_same_text(takt__node_text(source, call->argument[0]),
                           takt__node_text(source, call->argument[2])))
        return "norm2";
    const bool is_position =
        takt__c_has(callee, "distance") || takt__text_is(sign, "-");
    if (!strcmp(op, "max") && is_position)
        return "argmax";
    return !strcmp(op, "min") && is_position ? "argmin" : op;
}

static bool is_float_start(const struct call *call, unsigned at)
{
    const struct takt_c_type type =
        takt__c_expression_type(call->place, call->argument[at], 0);

    return type.element != TAKT_IR_INTEGER && type.element != TAKT_IR_OTHER;
}

static const char *reduction(struct call *call)
{
    const bool is_accumulate = takt__text_is(call->name, "accumulate");

    if (call->count < (is_accumulate ? 3u : 2u) || call->count > 4 ||
        (call->count > 2 && !is_float_start(call, 2)))
        return NULL;
    return call->count == 4 ? fold_with(call, call->argument[3]) : "sum";
}

static const char *two_ranges(struct call *call)
{
    const struct takt_c_type other = range_type(call, 2);

    if (call->count == 4)
        return (other.rank == 0 && !takt__c_is_float(other)) ||
                       !is_float_start(call, 3)
                   ? NULL
                   : "dot";
    const unsigned plus = call->count - 2; /* after one range, or two */
    if ((call->count != 5 && call->count != 6) ||
        !takt__text_is(call->name, "transform_reduce") ||
        !is_functor(call, call->argument[plus], "plus"))
        return NULL;
    return map_with(call, call->argument[plus + 1], plus - 2, true);
}

/* Into elements that are there, and of the same kind. */
static bool is_copied(const struct call *call, unsigned to)
{
    const struct takt_c_type from = range_type(call, 0);
    const struct takt_c_type type = range_type(call, to);

    return type.rank == 1 && type.element == from.element;
}

static const char *algorithm_op(struct call *call)
{
    const struct takt_text name = call->name;

    if (takt__text_in(name, "accumulate reduce"))
        return reduction(call);
    if (takt__text_in(name, "inner_product transform_reduce"))
        return two_ranges(call);
    const unsigned ends = call->is_ranges ? 1 : 2;
    if (takt__text_is(name, "max_element") && call->count == ends)
        return "max";
    if (takt__text_is(name, "min_element") && call->count == ends)
        return "min";
    if (takt__text_is(name, "for_each") && call->count == ends + 1)
        return change_with(call, call->argument[ends]);
    if (takt__text_is(name, "copy") && call->count == ends + 1)
        return is_copied(call, ends) ? "copy" : NULL;
    if (takt__text_is(name, "transform") && call->count == ends + 2)
        return map_with(call, call->argument[ends + 1], 1, false);
    if (takt__text_is(name, "transform") && call->count == 2 * ends + 1)
        return map_with(call, call->argument[2 * ends], 2, false);
    return NULL;
}

/* parallel_for, ParallelFor, forall<policy>: what calls a lambda in a loop. */
bool takt__c_is_parallel(const struct takt_source *source, TSNode callee)
{
    if (takt__node_is(callee, "template_function"))
        callee = takt__node_field(callee, "name");
    const struct takt_text name =
        takt__node_text(source, takt__c_last_part(callee));

    return (name.size > 2 &&
            takt__c_has((struct takt_text){name.at + name.size - 3, 3},
                        "for")) ||
           (name.size > 5 &&
            takt__c_has((struct takt_text){name.at + name.size - 6, 6},
                        "forall"));
}

/* tbb::parallel_for(0, n, [&](int i) { y[i] = 2 * x[i]; }): a loop. */
static void judge_parallel(const struct call *call)
{
    const TSNode list = takt__node_field(call->node, "arguments");
    const uint32_t count = takt__node_children(list);
    const TSNode lambda =
        count == 0 ? list : ts_node_named_child(list, count - 1);

    if (takt__node_is(lambda, "lambda_expression") &&
        takt__c_is_parallel(call->place->source,
                            takt__node_field(call->node, "function")))
        takt__c_judge_loop(call->place, lambda, call->out);
}

void takt__c_judge_algorithm(const struct takt_c_place *place, TSNode node,
                             struct takt_ir_verdict *out)
{
    struct call call = {.place = place, .node = node, .out = out};

    const bool is_of_std = read_call(&call);
    judge_parallel(&call);
    if (!is_of_std || out->op != NULL || !is_over_floats(&call))
        return;
    out->op = in_context(&call, algorithm_op(&call));
}
