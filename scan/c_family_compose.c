/* SPDX-License-Identifier: MIT */
/*
 * c_family_compose.c - what loops make together with what stands beside them:
 * a sum that is divided is a mean; the largest, the exponentials and their sum,
 * and a division are a softmax; products around one are attention.
 */
#include "c_family_expr.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 8, BESIDE = 3, NODES = 256, STATEMENTS = 32 };

/* ---- what follows a loop ------------------------------------------------- */

static bool is_name(const struct takt_source *source, TSNode node,
                    struct takt_text name)
{
    node = takt__c_without_casts(source, node);
    return !ts_node_is_null(node) && takt__node_is(node, "identifier") &&
           takt__c_same_text(takt__node_text(source, node), name);
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
    if (!takt__node_is(node, "binary_expression") &&
        !takt__node_is(node, "assignment_expression"))
        return false;
    const struct takt_text sign =
        takt__node_text(place->source, takt__node_field(node, "operator"));
    return (takt__text_is(sign, "/") || takt__text_is(sign, "/=")) &&
           is_name(place->source, takt__node_field(node, "left"), total) &&
           is_count(place, takt__node_field(node, "right"));
}

static bool is_root(const struct takt_c_place *place, TSNode node,
                    struct takt_text total)
{
    static const char *const roots[] = {"sqrt", "sqrtf", "std::sqrt", "::sqrt",
                                        NULL};

    if (!takt__node_is(node, "call_expression"))
        return false;
    return takt__c_is_any(takt__node_text(place->source,
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

void takt__c_judge_loop(const struct takt_c_place *place, TSNode loop,
                        struct takt_c_verdict *out)
{
    struct takt_c_nest *nest = calloc(1, sizeof *nest);

    if (nest == NULL)
        return;
    nest->place = place;
    nest->source = place->source;
    if (takt__c_survey(nest, loop) && takt__c_collect(nest, loop)) {
        out->extent = nest->loop[0].extent;
        out->extent_source = nest->loop[0].source;
        takt__c_judge_nest(nest, out);
    }
    free(nest);
    if (out->op == NULL || out->total.size == 0)
        return;
    if (!strcmp(out->op, "sum") &&
        holds_after(place, loop, out->total, is_division))
        out->op = "mean";
    else if (!strcmp(out->op, "dot") && out->role == TAKT_C_ROLE_SQUARES &&
             holds_after(place, loop, out->total, is_root))
        out->op = "norm2";
}

/* ---- several ------------------------------------------------------------- */

struct row {
    unsigned count;
    TSNode loop[MOST];
    struct takt_c_verdict verdict[MOST];
};

static bool is_op(const struct row *row, unsigned at, const char *op)
{
    return at < row->count && row->verdict[at].op != NULL &&
           !strcmp(row->verdict[at].op, op);
}

static bool is_role(const struct row *row, unsigned at, enum takt_c_role role)
{
    return at < row->count && row->verdict[at].role == role;
}

/* How many loops from `at` are a softmax; 0: they are none. */
static unsigned softmax(const struct row *row, unsigned at)
{
    unsigned next = at + is_op(row, at, "max");

    if (is_role(row, next, TAKT_C_ROLE_EXP_SUM))
        next += 1;
    else if (is_role(row, next, TAKT_C_ROLE_EXP) && is_op(row, next + 1, "sum"))
        next += 2;
    else
        return 0;
    return is_op(row, next, "scale") || is_op(row, next, "div") ? next + 1 - at
                                                                : 0;
}

/* The mean may have been had without a loop. */
static unsigned layernorm(const struct row *row, unsigned at)
{
    const unsigned next =
        at + (is_op(row, at, "mean") || is_op(row, at, "sum"));

    return is_op(row, next, "variance") &&
                   is_role(row, next + 1, TAKT_C_ROLE_NORMALIZE)
               ? next + 2 - at
               : 0;
}

static bool is_product(const struct row *row, unsigned at)
{
    return is_op(row, at, "gemv") || is_op(row, at, "matmul");
}

/* Scores may be in rows of their own: a softmax that is a verdict already. */
static unsigned attention(const struct row *row, unsigned at)
{
    if (!is_product(row, at))
        return 0;
    unsigned next = at + 1;
    next += is_op(row, next, "scale");
    const unsigned middle =
        is_op(row, next, "softmax") ? 1 : softmax(row, next);
    return middle > 0 && is_product(row, next + middle) ? next + middle + 1 - at
                                                        : 0;
}

/* What may stand between loops: declarations and assignments. */
static bool is_between(TSNode node)
{
    return takt__node_is(node, "declaration") ||
           takt__node_is(node, "comment") ||
           takt__node_is(node, "expression_statement");
}

static void gather(const struct takt_source *source, TSNode first,
                   struct row *row)
{
    unsigned left = STATEMENTS; /* a sibling is found from the first on */

    row->count = 0;
    for (TSNode at = first;
         !ts_node_is_null(at) && row->count < MOST && left > 0;
         at = ts_node_next_named_sibling(at), left--) {
        if (takt__c_is_loop(at)) {
            row->loop[row->count] = at;
            row->verdict[row->count++] = takt__c_own_verdict(source, at);
        } else if (!is_between(at))
            return;
    }
}

static unsigned composed(const struct row *row, const char **op)
{
    unsigned count;

    *op = NULL;
    if (row->count < 2)
        return 0;
    if ((count = attention(row, 0)) > 0)
        *op = "attention";
    else if ((count = softmax(row, 0)) > 0)
        *op = "softmax";
    else if ((count = layernorm(row, 0)) > 0)
        *op = "layernorm";
    return count;
}

static size_t known(const struct takt_found_size *size, unsigned at)
{
    return at < size->shape.rank ? size->shape.dim[at] : 0;
}

/* rows: how many there are, or 0; for attention, the queries. */
static void tell(struct takt_c_verdict *out, const struct row *row,
                 const char *op, uint64_t rows, enum takt_size_source of_rows)
{
    const struct takt_found_size *first = &row->verdict[0].size;
    const struct takt_found_size *size =
        first->shape.rank > 0 ? first : &row->verdict[1].size;
    const enum takt_size_source source =
        size->shape.rank > 0 ? size->source : of_rows;

    out->op = op;
    out->role = TAKT_C_ROLE_NONE;
    out->is_typed = true;
    out->is_f64 = row->verdict[row->count - 1].is_f64;
    memset(&out->size, 0, sizeof out->size);
    if (strcmp(op, "attention") != 0)
        takt__c_tell_size(&out->size, source, 2,
                          (uint64_t[]){rows, known(size, 0)});
    else if (is_op(row, 0, "gemv"))
        takt__c_tell_size(
            &out->size, source, 5,
            (uint64_t[]){1, 1, rows, known(first, 0), known(first, 1)});
    else
        takt__c_tell_size(&out->size, source, 5,
                          (uint64_t[]){1, 1, known(first, 0), known(first, 1),
                                       known(first, 2)});
    if (known(size, 0) == 0 && (rows == 0 || of_rows == TAKT_SIZE_UNKNOWN))
        out->size = (struct takt_found_size){0};
}

void takt__c_judge_within(const struct takt_c_place *place, TSNode loop,
                          struct takt_c_verdict *out)
{
    const TSNode body = takt__node_field(loop, "body");
    struct row row;
    const char *op;

    if (ts_node_is_null(body) || !takt__node_is(body, "compound_statement"))
        return;
    gather(place->source, takt__c_first(body), &row);
    if (composed(&row, &op) == row.count && op != NULL)
        tell(out, &row, op, out->extent, out->extent_source);
}

/* Whether a loop like this is a part of anything. */
static bool may_be_part(const struct takt_c_verdict *verdict)
{
    static const char *const ops[] = {"max",    "sum",     "scale", "div",
                                      "mean",   "softmax", "gemv",  "variance",
                                      "matmul", NULL};

    if (verdict->role != TAKT_C_ROLE_NONE &&
        verdict->role != TAKT_C_ROLE_SQUARES)
        return true;
    return verdict->op != NULL &&
           takt__c_is_any((struct takt_text){verdict->op, strlen(verdict->op)},
                          ops);
}

void takt__c_judge_row(const struct takt_c_place *place, TSNode loop,
                       struct takt_c_verdict *out)
{
    TSNode before[MOST], at = loop;
    unsigned count = 0;
    struct row row;
    const char *op;

    if (!may_be_part(out))
        return;
    for (unsigned left = STATEMENTS; count < MOST && left > 0; left--) {
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
        if (composed(&row, &op) >= count + 1) {
            out->op = NULL;
            out->is_swallowed = true;
            return;
        }
        count--;
    }
    gather(place->source, loop, &row);
    if (composed(&row, &op) > 0)
        tell(out, &row, op, 1, TAKT_SIZE_UNKNOWN);
}
