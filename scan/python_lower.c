/* SPDX-License-Identifier: MIT */
/*
 * python_lower.c - the statements of loops, comprehensions, and what gathers
 * their values.
 */
#include "python_lower.h"
#include "memory.h"
#include "python_notes.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STATEMENTS = 64 }; /* comments, most of them */

/* ---- comprehensions ------------------------------------------------------ */

struct takt_ir_expr *takt__python_items(struct takt_python_nest *nest,
                                        TSNode node, unsigned depth)
{
    const unsigned count = takt__node_children(node);

    for (unsigned i = 1; i < count; i++) {
        const TSNode clause = takt__node_child(node, i);
        if (takt__node_is(clause, "for_in_clause") &&
            !takt__python_open(nest, takt__node_field(clause, "left"),
                               takt__node_field(clause, "right"), depth))
            return NULL;
    }
    return takt__python_expr(nest, takt__node_field(node, "body"), false,
                             depth + 1);
}

struct takt_ir_expr *takt__python_collected(struct takt_python_nest *nest,
                                            TSNode node, unsigned depth)
{
    struct takt_ir_nest *ir = &nest->ir;
    const uint32_t around = nest->ir.around;
    const unsigned locals = nest->locals, prefixes = nest->ir.prefixes;

    if (prefixes == 3 || takt__node_children(node) != 2 ||
        ir->loop_count == TAKT_IR_LOOPS)
        return NULL;
    nest->ir.prefix[nest->ir.prefixes++] = takt__ir_count(
        ir, (struct takt_text){"", 0}, UINT32_C(1) << ir->loop_count);
    struct takt_ir_expr *value = takt__python_items(nest, node, depth);
    struct takt_ir_expr *to = takt__ir_collected(&nest->ir, NULL);
    const bool is_stored =
        value != NULL && to != NULL &&
        (takt__ir_is_collected(value) ||
         takt__ir_store(&nest->ir, TAKT_IR_STORE, to, value));
    nest->ir.around = around;
    nest->locals = locals;
    nest->ir.prefixes = prefixes;
    return is_stored ? to : NULL;
}

struct takt_ir_expr *takt__python_gathered(struct takt_python_nest *nest,
                                           TSNode call, unsigned depth)
{
    const struct takt_source *source = nest->source;
    const TSNode over = takt__python_argument(source, call, 0, NULL);
    const uint32_t around = nest->ir.around;
    const unsigned locals = nest->locals;

    if ((!takt__node_in(over, "generator_expression list_comprehension")) ||
        takt__python_argument_count(call) != 1 ||
        !takt__python_names(source, takt__node_field(call, "function"),
                            "builtins.sum"))
        return NULL;
    struct takt_ir_expr *to = takt__ir_result(
        &nest->ir, (struct takt_ir_type){.element = TAKT_IR_UNKNOWN});
    const bool is_stored = takt__ir_store(
        &nest->ir, TAKT_IR_SUM, to, takt__python_items(nest, over, depth));
    nest->ir.around = around;
    nest->locals = locals;
    return is_stored ? to : NULL;
}

/* ---- names that are assigned --------------------------------------------- */

static void note_assigned(struct takt_python_nest *nest, TSNode name,
                          bool is_added)
{
    const struct takt_text text = takt__node_text(nest->source, name);

    if (!takt__node_is(name, "identifier"))
        return;
    for (unsigned i = 0; i < nest->assigned; i++)
        if (takt__ir_same_text(nest->name[i].name, text)) {
            nest->name[i].times++;
            nest->name[i].is_added |= is_added;
            return;
        }
    if (nest->assigned == TAKT_PYTHON_ASSIGNED)
        return;
    nest->name[nest->assigned].name = text;
    nest->name[nest->assigned].times = 1;
    nest->name[nest->assigned++].is_added = is_added;
}

static void find_assigned(struct takt_python_nest *nest, TSNode node,
                          unsigned depth)
{
    const TSNode left = takt__node_field(node, "left");
    const unsigned count = takt__node_children(node);

    if (depth > TAKT_PYTHON_DEEPEST)
        return;
    if (takt__node_is(node, "augmented_assignment"))
        note_assigned(nest, left, true);
    else if (takt__node_is(node, "assignment") &&
             takt__node_is(left, "pattern_list"))
        for (unsigned i = 0; i < takt__node_children(left); i++)
            note_assigned(nest, takt__node_child(left, i), true);
    else if (takt__node_is(node, "assignment"))
        note_assigned(nest, left, false);
    for (unsigned i = 0; i < count && i < MOST_STATEMENTS; i++)
        find_assigned(nest, takt__node_child(node, i), depth + 1);
}

/* y = f(x), once: a name for what comes next. */
static bool is_alias(const struct takt_python_nest *nest, TSNode name,
                     const struct takt_ir_expr *value)
{
    const struct takt_text text = takt__node_text(nest->source, name);
    const struct takt_ir_expr own = {.sort = TAKT_IR_NAME, .text = text};

    if (nest->ir.is_choosing || takt__ir_mentions(value, &own))
        return false;
    for (unsigned i = 0; i < nest->assigned; i++)
        if (takt__ir_same_text(nest->name[i].name, text))
            return nest->name[i].times == 1 && !nest->name[i].is_added;
    return false;
}

/* Whether a name is a number when the loop begins. */
static bool starts_as_number(const struct takt_python_nest *nest, TSNode name)
{
    const struct takt_python_binding *binding =
        takt__python_lookup(nest->source, takt__node_text(nest->source, name),
                            ts_node_start_byte(name));

    return binding != NULL && binding->binds == TAKT_PYTHON_VALUE &&
           takt__python_value(nest->source, name).kind == TAKT_PYTHON_NUMBER;
}

/* Whether the nest itself gave it a value before. */
static bool is_started(const struct takt_python_nest *nest, TSNode name)
{
    const struct takt_text text = takt__node_text(nest->source, name);

    for (unsigned i = 0; i < nest->ir.stmt_count; i++)
        if (nest->ir.stmt[i].target->sort == TAKT_IR_NAME &&
            takt__ir_same_text(nest->ir.stmt[i].target->text, text))
            return true;
    return false;
}

/* ---- statements ---------------------------------------------------------- */

static bool assign(struct takt_python_nest *nest, TSNode left,
                   struct takt_ir_expr *value, unsigned depth)
{
    if (value == NULL)
        return false;
    if (takt__node_is(left, "identifier") && is_alias(nest, left, value))
        return takt__python_bind_local(nest, left, value);
    const bool is_start = !takt__ir_varies(value) &&
                          (value->loops == 0 || value->sort == TAKT_IR_ACCESS);
    if (takt__node_is(left, "identifier") && !is_start &&
        !nest->ir.is_choosing && !starts_as_number(nest, left) &&
        !is_started(nest, left))
        return false;
    return takt__ir_store(&nest->ir, TAKT_IR_STORE,
                          takt__python_expr(nest, left, false, depth + 1),
                          value);
}

/* best, at = x, i */
static bool assign_pair(struct takt_python_nest *nest, TSNode left,
                        TSNode right, unsigned depth)
{
    const unsigned count = takt__node_children(left);

    if (!takt__node_is(right, "expression_list") ||
        takt__node_children(right) != count || count > 4)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!assign(nest, takt__node_child(left, i),
                    takt__python_expr(nest, takt__node_child(right, i), false,
                                      depth + 1),
                    depth))
            return false;
    return true;
}

static bool lower_assignment(struct takt_python_nest *nest, TSNode node,
                             unsigned depth)
{
    const TSNode left = takt__node_field(node, "left");
    const TSNode right = takt__node_field(node, "right");

    if (ts_node_is_null(right))
        return false;
    if (takt__node_is(left, "pattern_list"))
        return assign_pair(nest, left, right, depth);
    if (takt__node_is(left, "identifier") && takt__node_is(right, "list") &&
        takt__node_children(right) == 0) /* a row that is filled below */
        return takt__python_bind_local(nest, left,
                                       takt__ir_collected(&nest->ir, NULL));
    return assign(nest, left, takt__python_expr(nest, right, false, depth + 1),
                  depth);
}

/* x[i] += 1 and x[i] += name: only what is known to be a number. */
static bool lower_change(struct takt_python_nest *nest, TSNode node,
                         unsigned depth)
{
    const TSNode left = takt__node_field(node, "left");
    const TSNode right = takt__node_field(node, "right");
    struct takt_ir_expr *value =
        takt__python_expr(nest, right, false, depth + 1);
    enum takt_ir_effect effect;

    if (value == NULL ||
        !takt__ir_effect(
            takt__node_text(nest->source, takt__node_field(node, "operator")),
            &effect) ||
        (takt__node_is(left, "identifier") && !starts_as_number(nest, left)))
        return false;
    if ((effect == TAKT_IR_SUM || effect == TAKT_IR_DIFFERENCE) &&
        value->loops == 0 && !value->is_varying &&
        !takt__python_is_fixed_number(nest, right, value))
        return false;
    if (takt__python_value(nest->source, right).kind == TAKT_PYTHON_THING)
        return false;
    return takt__ir_store(&nest->ir, effect,
                          takt__python_expr(nest, left, false, depth + 1),
                          value);
}

/* out.append(x): the next element is written. */
static bool lower_append(struct takt_python_nest *nest, TSNode call,
                         unsigned depth)
{
    const TSNode function = takt__node_field(call, "function");
    const unsigned prefixes = nest->ir.prefixes;

    if (takt__python_argument_count(call) != 1 || prefixes == 3 ||
        !takt__text_is(takt__node_text(nest->source,
                                       takt__node_field(function, "attribute")),
                       "append"))
        return false;
    struct takt_ir_expr *at = takt__ir_rounds(&nest->ir);
    const struct takt_ir_expr *to = takt__python_expr(
        nest, takt__node_field(function, "object"), false, depth + 1);
    if (to == NULL ||
        (to->sort != TAKT_IR_NAME && !takt__ir_is_collected(to)) || at == NULL)
        return false;
    nest->ir.prefix[nest->ir.prefixes++] = at;
    struct takt_ir_expr *value = takt__python_expr(
        nest, takt__python_argument(nest->source, call, 0, NULL), false,
        depth + 1);
    nest->ir.prefixes = prefixes;
    if (value == NULL || takt__ir_reads(value, to->text))
        return false; /* of what was appended before: it runs on */
    if (takt__ir_is_collected(value))
        return true;
    return takt__ir_store(&nest->ir, TAKT_IR_STORE,
                          takt__ir_collected(&nest->ir, at), value);
}

static bool lower_body(struct takt_python_nest *nest, TSNode body,
                       unsigned depth)
{
    const unsigned count = takt__node_children(body);

    for (unsigned i = 0; i < count; i++)
        if (i == MOST_STATEMENTS ||
            !takt__python_statement(nest, takt__node_child(body, i), depth + 1))
            return false;
    return count > 0;
}

/* v[i] > v[best]: not to be read as it stands. */
static struct takt_ir_expr *against_best(struct takt_python_nest *nest,
                                         TSNode test, unsigned depth)
{
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(test, "operators"));

    if (!takt__node_is(test, "comparison_operator") || sign.size == 0 ||
        (*sign.at != '<' && *sign.at != '>'))
        return NULL;
    for (unsigned i = 0; i < 2; i++) {
        const TSNode other = takt__node_child(test, 1 - i);
        struct takt_ir_expr *e = takt__python_expr(
            nest, takt__node_child(test, i), false, depth + 1);
        if (e != NULL && takt__node_is(other, "subscript"))
            return takt__ir_pair(
                &nest->ir,
                (*sign.at == '>') == (i == 0) ? TAKT_IR_GREATER : TAKT_IR_LESS,
                e,
                takt__python_expr(nest, takt__node_field(other, "value"), false,
                                  depth + 1));
    }
    return NULL;
}

static bool lower_if(struct takt_python_nest *nest, TSNode node, unsigned depth)
{
    const TSNode test = takt__python_bare(takt__node_field(node, "condition"));
    const unsigned first = nest->ir.stmt_count;
    const bool was_choosing = nest->ir.is_choosing;
    struct takt_ir_expr *condition =
        takt__python_expr(nest, test, true, depth + 1);

    if (condition == NULL)
        condition = against_best(nest, test, depth);
    if (!ts_node_is_null(takt__node_field(node, "alternative")) ||
        !takt__ir_is_comparison(condition) || takt__ir_is_guard(condition))
        return false;
    nest->ir.is_choosing = true;
    const bool is_read =
        lower_body(nest, takt__node_field(node, "consequence"), depth);
    nest->ir.is_choosing = was_choosing;
    return is_read && nest->ir.stmt_count > first &&
           takt__ir_fold_choice(&nest->ir, condition, first,
                                nest->ir.stmt_count - first);
}

static bool lower_for(struct takt_python_nest *nest, TSNode node,
                      unsigned depth)
{
    const uint32_t around = nest->ir.around;
    const unsigned locals = nest->locals;
    const bool is_read =
        ts_node_is_null(takt__node_field(node, "alternative")) &&
        takt__python_open(nest, takt__node_field(node, "left"),
                          takt__node_field(node, "right"), depth) &&
        lower_body(nest, takt__node_field(node, "body"), depth);

    nest->ir.around = around;
    nest->locals = locals;
    return is_read;
}

bool takt__python_statement(struct takt_python_nest *nest, TSNode node,
                            unsigned depth)
{
    if (takt__node_is(node, "expression_statement") &&
        takt__node_children(node) == 1)
        node = takt__node_child(node, 0);
    if (depth > TAKT_PYTHON_DEEPEST)
        return false;
    if (takt__node_is(node, "comment"))
        return true;
    if (takt__node_is(node, "for_statement"))
        return lower_for(nest, node, depth);
    if (takt__node_is(node, "assignment"))
        return lower_assignment(nest, node, depth);
    if (takt__node_is(node, "augmented_assignment"))
        return lower_change(nest, node, depth);
    if (takt__node_is(node, "if_statement"))
        return lower_if(nest, node, depth);
    return takt__node_is(node, "call") && lower_append(nest, node, depth);
}

/* ---- what it is ---------------------------------------------------------- */

static struct takt_python_nest *open_nest(const struct takt_source *source,
                                          TSNode node)
{
    struct takt_python_nest *nest = takt__scan_zeros(1, sizeof *nest);

    nest->source = source;
    nest->first = node;
    return nest;
}

/* x + 1: only moves a position. */
static bool is_offset(const struct takt_ir_expr *e)
{
    if (e->sort != TAKT_IR_ADD && e->sort != TAKT_IR_SUB)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (e->part[i]->sort == TAKT_IR_NUMBER &&
            e->part[i]->type.element == TAKT_IR_INTEGER)
            return true;
    return false;
}

/* What has no type is an op where it computes; lists hold anything, and only
 * of numbers is it worth saying that they move. */
static const char *op_of(struct takt_python_nest *nest,
                         struct takt_ir_verdict *out)
{
    struct takt_python_notes *notes = nest->source->notes;

    takt__judge(&nest->ir, TAKT_TAKES_MORE | TAKT_TAKES_UNTYPED, out);
    notes->certainty = out->certainty;
    if (out->op == NULL)
        return NULL;
    for (unsigned i = 0; i < nest->ir.stmt_count; i++) {
        const struct takt_ir_stmt *stmt = &nest->ir.stmt[i];
        if (stmt->target->sort == TAKT_IR_ACCESS && is_offset(stmt->value))
            return NULL;
        if (strcmp(out->op, "copy") == 0 &&
            (takt__ir_is_collected(stmt->target) ||
             (stmt->target->type.element == TAKT_IR_UNKNOWN &&
              stmt->value->type.element == TAKT_IR_UNKNOWN)))
            return NULL;
    }
    return out->op;
}

const char *takt__python_loop(const struct takt_source *source, TSNode node,
                              struct takt_found_size *size)
{
    struct takt_python_nest *nest = open_nest(source, node);
    struct takt_ir_verdict verdict = {.op = NULL};
    const char *op = NULL;

    find_assigned(nest, node, 0);
    if (takt__python_statement(nest, node, 0))
        op = op_of(nest, &verdict);
    free(nest);
    *size = verdict.size;
    return op;
}

const char *takt__python_map(const struct takt_source *source, TSNode node)
{
    struct takt_python_nest *nest = open_nest(source, node);
    struct takt_ir_verdict verdict = {.op = NULL};
    const char *op = NULL;

    if (takt__python_collected(nest, node, 0) != NULL)
        op = op_of(nest, &verdict);
    free(nest);
    return op;
}

const char *takt__python_reduced(const struct takt_source *source, TSNode over,
                                 enum takt_ir_effect effect)
{
    struct takt_python_nest *nest = open_nest(source, over);
    struct takt_ir_verdict verdict = {.op = NULL};
    struct takt_ir_expr *value = NULL;
    const char *op = NULL;

    struct takt_ir_expr *to = takt__ir_result(
        &nest->ir, (struct takt_ir_type){.element = TAKT_IR_UNKNOWN});
    value = takt__node_is(over, "call") ? takt__python_mapped(nest, over)
                                        : takt__python_items(nest, over, 0);
    /* the largest of names alone may be of anything */
    const bool is_plain = value != NULL && value->sort == TAKT_IR_ACCESS;
    if (effect == TAKT_IR_STORE)
        to = takt__ir_collected(
            &nest->ir, takt__ir_count(&nest->ir, (struct takt_text){"", 0}, 1));
    if (takt__ir_store(&nest->ir, effect, to, value) &&
        (effect == TAKT_IR_SUM || !is_plain))
        op = op_of(nest, &verdict);
    free(nest);
    return op;
}
