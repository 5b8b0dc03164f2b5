/* SPDX-License-Identifier: MIT */
/*
 * rust_compose.c - softmax, layernorm and attention are several steps of one
 * function, as judge.h knows them in a row. The step at the heart is reported
 * for the whole: the exponentials of a softmax, the scaling of a layernorm, the
 * last product of an attention; the other steps are then a part of it.
 */
#include "rust.h"

#include <string.h>

enum { STEPS = 96 };

/* What a function does, in the order in which it does it. */
struct steps {
    unsigned count;
    TSNode node[STEPS];
    struct takt_ir_verdict verdict[STEPS];
};

static void add(struct steps *steps, TSNode node, const char *op,
                enum takt_role role)
{
    if (steps->count == STEPS)
        return;
    steps->node[steps->count] = node;
    steps->verdict[steps->count++] = (struct takt_ir_verdict){
        .op = op,
        .role = !strcmp(op, "exp") && role == TAKT_ROLE_NONE ? TAKT_ROLE_EXP
                                                             : role};
}

/* softmax_rows(..), weights.matmul(..), of which nothing is known but the name;
 * NULL: it is none. */
static const char *called(const struct takt_rust *rust, TSNode call)
{
    static const char *const ops[] = {"softmax", "matmul"};
    const TSNode method = takt__rust_method(call);
    const TSNode name =
        ts_node_is_null(method) ? takt__rust_callee(call) : method;
    const struct takt_text text = takt__node_text(rust->source, name);

    for (unsigned i = 0; i < 2; i++)
        if (text.size >= strlen(ops[i]) &&
            memcmp(text.at, ops[i], strlen(ops[i])) == 0)
            return ops[i];
    return NULL;
}

/* Arguments and receivers before the call. */
static void gather(struct takt_rust *rust, TSNode node, struct steps *steps,
                   unsigned depth)
{
    struct takt_rust_verdict verdict = {.op = NULL};

    if (depth == 0 || !takt__rust_step(rust) || rust_is(node, "function_item"))
        return;
    if (takt__node_in(node, "for_expression while_expression call_expression "
                            "binary_expression compound_assignment_expr"))
        verdict = takt__rust_raw(rust, node);
    const uint32_t count =
        verdict.op != NULL && verdict.is_nest ? 0 : takt__node_children(node);
    for (uint32_t i = 0; i < count; i++)
        gather(rust, takt__node_child(node, i), steps, depth - 1);
    if (verdict.op == NULL && rust_is(node, "call_expression"))
        verdict.op = called(rust, node);
    if (verdict.op != NULL)
        add(steps, node, verdict.op, verdict.role);
}

/* A name that is declared from that byte on. */
static bool is_since(struct takt_rust *rust, TSNode node, void *byte)
{
    if (!rust_is(node, "identifier"))
        return false;
    const struct takt_rust_binding binding = takt__rust_binding(rust, node);
    return binding.kind == TAKT_RUST_LET &&
           ts_node_end_byte(binding.node) > *(const uint32_t *)byte;
}

/* Whether a product that is a call has to do with what was made before it: it
 * may be of another layer. */
static bool is_tied(struct takt_rust *rust, TSNode last, TSNode before)
{
    uint32_t byte = ts_node_start_byte(before);

    return !rust_is(last, "call_expression") ||
           ts_node_start_byte(last) <= byte ||
           takt__rust_any(rust, last, is_since, &byte, 2 * TAKT_RUST_DEPTH);
}

static void keep(struct takt_rust_composition *out, const struct steps *steps,
                 unsigned first, unsigned count, const char *op)
{
    unsigned heart = first + count - 1;

    if (count > 0 && !strcmp(op, "softmax"))
        for (heart = first; steps->verdict[heart].role != TAKT_ROLE_EXP &&
                            steps->verdict[heart].role != TAKT_ROLE_EXP_SUM;)
            heart++;
    for (unsigned i = first;
         i < first + count && out->count < TAKT_RUST_COMPOSED; i++) {
        out->part[out->count].node = steps->node[i];
        out->part[out->count++].op = i == heart ? op : NULL;
    }
}

static void compose(struct takt_rust *rust, TSNode function)
{
    struct takt_rust_composition *out = &rust->composition;
    struct steps steps = {.count = 0};

    *out = (struct takt_rust_composition){.function = function.id};
    rust->steps = TAKT_RUST_FILE / 100;
    gather(rust, takt__node_field(function, "body"), &steps,
           2 * TAKT_RUST_DEPTH);
    rust->steps = TAKT_RUST_STEPS;
    for (unsigned i = 0; i < steps.count;) {
        struct takt_row row = {.count = steps.count - i};
        const char *op;
        if (row.count > TAKT_ROW)
            row.count = TAKT_ROW;
        memcpy(row.verdict, steps.verdict + i, row.count * sizeof *row.verdict);
        unsigned count = takt__judge_row(&row, &op);
        if (count > 0 && !strcmp(op, "attention") &&
            !is_tied(rust, steps.node[i + count - 1],
                     steps.node[i + count - 2]))
            count = 0;
        keep(out, &steps, i, count, op);
        i += count > 0 ? count : 1;
    }
}

void takt__rust_compose(struct takt_rust *rust, TSNode node,
                        struct takt_rust_verdict *verdict)
{
    const TSNode function = takt__rust_above(rust, node, "function_item");
    const struct takt_rust_composition *all = &rust->composition;

    if (verdict->op == NULL || ts_node_is_null(function))
        return;
    if (all->function != function.id)
        compose(rust, function);
    for (unsigned i = 0; i < all->count; i++) {
        const TSNode part = all->part[i].node;
        const bool is_it = ts_node_eq(part, node);
        if (is_it && all->part[i].op != NULL) {
            verdict->op = all->part[i].op;
            verdict->rank = 0;
            return;
        }
        if (is_it || (takt__rust_raw(rust, part).is_nest &&
                      ts_node_start_byte(part) <= ts_node_start_byte(node) &&
                      ts_node_end_byte(part) >= ts_node_end_byte(node))) {
            verdict->op = NULL;
            return;
        }
    }
}
