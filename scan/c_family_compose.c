/* SPDX-License-Identifier: MIT */
/*
 * c_family_compose.c - what loops make together with what stands beside them:
 * a sum that is divided is a mean; the largest, the exponentials and their sum,
 * and a division are a softmax; products around one are attention.
 */
#include "c_family_expr.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { BESIDE = 3, NODES = 256, STATEMENTS = 32 };

/* ---- what follows a loop ------------------------------------------------- */

static bool is_name(const struct takt_source *source, TSNode node,
                    struct takt_text name)
{
    node = takt__c_without_casts(source, node);
    return takt__node_is(node, "identifier") &&
           takt__ir_same_text(takt__node_text(source, node), name);
}

/* A count: of elements, and not another measured number. */
static bool is_count(const struct takt_c_place *place, TSNode node)
{
    node = takt__c_without_casts(place->source, node);
    if (ts_node_is_null(node))
        return false;
    return takt__node_is(node, "number_literal") ||
           !takt__c_is_float(takt__c_expression_type(place, node, 0));
}

/* total / n, total /= n. */
static bool is_division(const struct takt_c_place *place, TSNode node,
                        struct takt_text total)
{
    if (!takt__node_in(node, "binary_expression assignment_expression"))
        return false;
    const struct takt_text sign =
        takt__node_text(place->source, takt__node_field(node, "operator"));
    return (takt__text_in(sign, "/ /=")) &&
           is_name(place->source, takt__node_field(node, "left"), total) &&
           is_count(place, takt__node_field(node, "right"));
}

static bool is_root(const struct takt_c_place *place, TSNode node,
                    struct takt_text total)
{
    static const char roots[] = "sqrt sqrtf std::sqrt ::sqrt";

    if (!takt__node_is(node, "call_expression"))
        return false;
    return takt__text_in(takt__node_text(place->source,
                                         takt__node_field(node, "function")),
                         roots) &&
           is_name(place->source,
                   takt__c_first(takt__node_field(node, "arguments")), total);
}

/* total = .., total += ..: of whatever it is made then. */
static bool is_change(const struct takt_c_place *place, TSNode node,
                      struct takt_text total)
{
    return takt__node_is(node, "assignment_expression") &&
           is_name(place->source, takt__node_field(node, "left"), total);
}

typedef bool test(const struct takt_c_place *place, TSNode node,
                  struct takt_text total);

static bool holds_within(const struct takt_c_place *place, TSNode node,
                         struct takt_text total, test *holds, unsigned *left)
{
    if (*left == 0)
        return false;
    --*left;
    if (holds(place, node, total))
        return true;
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count && i < 16; i++)
        if (holds_within(place, ts_node_named_child(node, i), total, holds,
                         left))
            return true;
    return false;
}

static bool holds_after(const struct takt_c_place *place, TSNode loop,
                        struct takt_text total, test *holds)
{
    TSNode next = ts_node_next_named_sibling(loop);

    for (unsigned i = 0; i < BESIDE && !ts_node_is_null(next); i++) {
        unsigned left = NODES;
        if (takt__c_is_loop(next))
            return false;
        if (holds_within(place, next, total, holds, &left))
            return true;
        left = NODES;
        if (holds_within(place, next, total, is_change, &left))
            return false; /* from here on it is something else */
        next = ts_node_next_named_sibling(next);
    }
    return false;
}

/* ---- a loop by itself ---------------------------------------------------- */

/* Elements that change with the loops: of arrays, and of fields of structs. */
static void count_elements(const struct takt_ir_expr *e, unsigned of[2])
{
    if (e->sort == TAKT_IR_ACCESS && e->loops != 0)
        of[e->is_field]++;
    for (unsigned i = 0; i < e->parts; i++)
        count_elements(e->part[i], of);
}

/* Structs that are gone through for one of their fields are records, and no
 * arrays of numbers; a field beside an array is one factor of a product. */
static bool is_of_records(const struct takt_ir_nest *nest)
{
    for (unsigned i = 0; i < nest->stmt_count; i++) {
        unsigned of[2] = {0, 0};
        count_elements(nest->stmt[i].value, of);
        if (of[true] > 0 && of[false] == 0)
            return true;
    }
    return false;
}

void takt__c_judge_loop(const struct takt_c_place *place, TSNode loop,
                        struct takt_ir_verdict *out)
{
    struct takt_c_nest *nest = takt__scan_zeros(1, sizeof *nest);

    nest->place = place;
    nest->source = place->source;
    if (takt__c_survey(nest, loop) && takt__c_collect(nest, loop) &&
        !is_of_records(&nest->ir))
        takt__judge(&nest->ir, TAKT_TAKES_UNKNOWN | TAKT_TAKES_FUSED, out);
    free(nest);
    if (out->op == NULL || out->total.size == 0)
        return;
    if (!strcmp(out->op, "sum") &&
        holds_after(place, loop, out->total, is_division))
        out->op = "mean";
    else if (!strcmp(out->op, "dot") && out->role == TAKT_ROLE_SQUARES &&
             holds_after(place, loop, out->total, is_root))
        out->op = "norm2";
}

/* ---- several ------------------------------------------------------------- */

/* What may stand between loops: declarations and assignments. */
static bool is_between(TSNode node)
{
    return takt__node_in(node, "declaration comment expression_statement");
}

static void gather(const struct takt_source *source, TSNode first,
                   struct takt_row *row)
{
    unsigned left = STATEMENTS; /* a sibling is found from the first on */

    row->count = 0;
    for (TSNode at = first;
         !ts_node_is_null(at) && row->count < TAKT_ROW && left > 0;
         at = ts_node_next_named_sibling(at), left--) {
        if (takt__c_is_loop(at))
            row->verdict[row->count++] = takt__c_own_verdict(source, at);
        else if (!is_between(at))
            return;
    }
}

void takt__c_judge_within(const struct takt_c_place *place, TSNode loop,
                          struct takt_ir_verdict *out)
{
    const TSNode body = takt__node_field(loop, "body");
    struct takt_row row;
    const char *op;

    if (!takt__node_is(body, "compound_statement"))
        return;
    gather(place->source, takt__c_first(body), &row);
    if (takt__judge_row(&row, &op) == row.count && op != NULL)
        takt__judge_tell_row(out, &row, op, out->extent, out->extent_source);
}

void takt__c_judge_row(const struct takt_c_place *place, TSNode loop,
                       struct takt_ir_verdict *out)
{
    TSNode before[TAKT_ROW], at = loop;
    unsigned count = 0;
    struct takt_row row;
    const char *op;

    if (!takt__judge_may_be_part(out))
        return;
    for (unsigned left = STATEMENTS; count < TAKT_ROW && left > 0; left--) {
        at = ts_node_prev_named_sibling(at);
        if (ts_node_is_null(at))
            break;
        if (takt__c_is_loop(at))
            before[count++] = at;
        else if (!is_between(at))
            break;
    }
    while (count > 0) { /* from the farthest: it would be the whole */
        gather(place->source, before[count - 1], &row);
        if (takt__judge_row(&row, &op) >= count + 1) {
            out->op = NULL;
            out->is_swallowed = true;
            return;
        }
        count--;
    }
    gather(place->source, loop, &row);
    if (takt__judge_row(&row, &op) > 0)
        takt__judge_tell_row(out, &row, op, 1, TAKT_SIZE_UNKNOWN);
}
