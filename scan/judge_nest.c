/* SPDX-License-Identifier: MIT */
/*
 * judge_nest.c - prepares a nest of loops, and calls the judges of statements,
 * rows and windows what it computes.
 */
#include "judge.h"

#include <string.h>

/* ---- the nest ------------------------------------------------------------ */

/* What only fills arrays says nothing about the rest. */
static void drop_fills(struct takt_ir_nest *nest)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < nest->stmt_count; i++) {
        const struct takt_ir_stmt *stmt = &nest->stmt[i];
        if (stmt->effect == TAKT_IR_STORE &&
            stmt->target->sort == TAKT_IR_ACCESS &&
            stmt->value->sort == TAKT_IR_NUMBER)
            continue;
        nest->stmt[kept++] = *stmt;
    }
    nest->stmt_count = kept;
}

/* c[i][j] *= beta in a loop before c[i][j] += ..: only the start of it. */
static bool starts_sum(const struct takt_ir_nest *nest,
                       const struct takt_ir_stmt *stmt)
{
    if ((stmt->effect != TAKT_IR_PRODUCT && stmt->effect != TAKT_IR_QUOTIENT) ||
        stmt->target->sort != TAKT_IR_ACCESS || stmt->value->loops != 0 ||
        takt__ir_varies(stmt->value))
        return false;
    for (unsigned i = 0; i < nest->stmt_count; i++) {
        const struct takt_ir_stmt *sum = &nest->stmt[i];
        if (sum > stmt && sum->effect == TAKT_IR_SUM &&
            sum->target->sort == TAKT_IR_ACCESS &&
            sum->around != stmt->around &&
            takt__ir_same_text(sum->target->text, stmt->target->text) &&
            sum->target->parts == stmt->target->parts)
            return true;
    }
    return false;
}

static bool drop_start(struct takt_ir_nest *nest)
{
    for (unsigned i = 0; i < nest->stmt_count; i++)
        if (starts_sum(nest, &nest->stmt[i])) {
            nest->stmt_count--;
            memmove(&nest->stmt[i], &nest->stmt[i + 1],
                    (nest->stmt_count - i) * sizeof nest->stmt[0]);
            return true;
        }
    return false;
}

/* lost = ((s + y) - s) - y, where y = x - lost is added to s: what rounding
 * loses is added later. */
static bool is_correction(const struct takt_ir_stmt *stmt,
                          const struct takt_ir_stmt *sum)
{
    const struct takt_ir_expr *e = stmt->value, *y = sum->value;

    return stmt->effect == TAKT_IR_STORE && y->sort == TAKT_IR_SUB &&
           takt__ir_same(stmt->target, y->part[1]) && e->sort == TAKT_IR_SUB &&
           takt__ir_same(e->part[1], y) && e->part[0]->sort == TAKT_IR_SUB &&
           takt__ir_same(e->part[0]->part[1], sum->target) &&
           e->part[0]->part[0]->sort == TAKT_IR_ADD;
}

static bool drop_correction(struct takt_ir_nest *nest)
{
    for (unsigned i = 0; i < nest->stmt_count; i++)
        for (unsigned k = 0; k < nest->stmt_count; k++) {
            struct takt_ir_stmt *sum = &nest->stmt[i];
            if (sum->effect != TAKT_IR_SUM ||
                !is_correction(&nest->stmt[k], sum))
                continue;
            sum->value = sum->value->part[0];
            nest->stmt[k] = nest->stmt[--nest->stmt_count];
            return true;
        }
    return false;
}

/* false: there are loops beside each other. */
static bool find_chain(struct takt_ir_nest *nest, uint32_t *deepest)
{
    uint32_t around = 0, all = 0;

    for (unsigned i = 0; i < nest->stmt_count; i++)
        all |= nest->stmt[i].around;
    for (unsigned i = 0; i < nest->loop_count; i++) {
        struct takt_ir_loop *loop = &nest->loop[i];
        loop->is_active = (all & (UINT32_C(1) << i)) != 0;
        if (!loop->is_active)
            continue;
        if ((loop->around & around) != around)
            return false;
        around = loop->around;
    }
    *deepest = around;
    return around != 0;
}

/* Two rows at a time: what begins or ends another sum is not of this one. */
static bool is_of_another(const struct takt_judged *j,
                          const struct takt_ir_stmt *glue, uint32_t deepest)
{
    const struct takt_ir_expr *own = j->stmt->target;

    for (unsigned i = 0; i < j->nest->stmt_count; i++) {
        const struct takt_ir_stmt *stmt = &j->nest->stmt[i];
        if (stmt->around == deepest && stmt->target->sort == TAKT_IR_NAME &&
            !takt__ir_same(stmt->target, own) &&
            (takt__ir_same(glue->target, stmt->target) ||
             takt__ir_mentions(glue->value, stmt->target)))
            return !takt__ir_mentions(glue->value, own) &&
                   !takt__ir_same(glue->target, own);
    }
    return false;
}

/* What stands around the innermost loop must begin or end what it does. */
static bool read_glue(struct takt_judged *j, uint32_t deepest)
{
    const struct takt_ir_expr *own = j->stmt->target;
    bool is_begun = false, is_ended = false;

    j->target = own;
    j->has_more = false;
    for (unsigned i = 0; i < j->nest->stmt_count; i++) {
        const struct takt_ir_stmt *stmt = &j->nest->stmt[i];
        if (stmt->around == deepest || is_of_another(j, stmt, deepest))
            continue;
        if (stmt < j->stmt && stmt->effect == TAKT_IR_STORE &&
            takt__ir_same(stmt->target, own) && !takt__ir_varies(stmt->value)) {
            is_begun = true;
            j->has_more |= j->stmt->effect < TAKT_IR_MAX &&
                           !takt__ir_is_number(stmt->value, 0);
        } else if (stmt > j->stmt && own->sort == TAKT_IR_NAME &&
                   takt__ir_mentions(stmt->value, own) &&
                   stmt->target->sort == TAKT_IR_ACCESS && !is_ended) {
            is_ended = true;
            j->target = stmt->target;
            j->has_more |= stmt->effect != TAKT_IR_STORE ||
                           !takt__ir_same(stmt->value, own);
        } else if (stmt < j->stmt || is_ended || own->sort != TAKT_IR_NAME ||
                   !takt__ir_same(stmt->target, own))
            return false;
        else
            j->has_more = true; /* s *= alpha, before it is put away */
    }
    if (own->sort == TAKT_IR_NAME)
        return is_begun == is_ended;
    return !is_ended;
}

/* e[i] = exp(..); s += e[i]: the middle of a softmax. */
static bool is_exp_sum(const struct takt_ir_stmt *a,
                       const struct takt_ir_stmt *b)
{
    if (a->effect != TAKT_IR_STORE) {
        const struct takt_ir_stmt *other = a;
        a = b;
        b = other;
    }
    return a->effect == TAKT_IR_STORE && a->target->sort == TAKT_IR_ACCESS &&
           takt__ir_is_call(a->value, "exp") && b->effect == TAKT_IR_SUM &&
           b->target->sort == TAKT_IR_NAME &&
           (takt__ir_same(b->value, a->target) ||
            takt__ir_same(b->value, a->value) ||
            (b->value->sort == TAKT_IR_NAME && b->value->is_varying));
}

static void judge_exp_sum(struct takt_judged *j,
                          const struct takt_ir_stmt *store)
{
    struct takt_elements elements = {0};

    if (!takt__judge_is_typed(store->target, &elements) ||
        !takt__judge_is_typed(store->value, &elements) || elements.is_unknown)
        return;
    j->out->role = TAKT_ROLE_EXP_SUM;
    if ((j->takes & (TAKT_TAKES_MORE | TAKT_TAKES_FUSED)) != 0) {
        j->out->op = "exp";
        j->out->is_fused = (j->takes & TAKT_TAKES_MORE) == 0;
        j->out->certainty = TAKT_CONTAINS;
    }
    takt__judge_tell_type(j->out, &elements);
    takt__judge_tell_product(j, j->all);
}

/* Of the halves of one matrix, that transposes it where it is. */
static void judge_exchange(struct takt_judged *j)
{
    const struct takt_ir_stmt *stmt = &j->nest->stmt[0];
    struct takt_elements elements = {0};

    if (takt__ir_same_text(stmt->target->text, stmt->value->text) &&
        takt__judge_is_typed(stmt->target, &elements) &&
        takt__judge_is_typed(stmt->value, &elements) && !elements.is_unknown &&
        takt__judge_is_turned(stmt->target, stmt->value)) {
        takt__judge_tell_type(j->out, &elements);
        j->out->op = "transpose";
    }
}

static int weight(const char *op)
{
    const takt_op *found = takt_op_find(op);

    return found == NULL ? 0 : (int)found->complexity;
}

/* Whether the op of one statement may be called what the loop does. */
static bool is_told(const struct takt_judged *j, const char *op,
                    const char *first)
{
    const bool is_window = takt__word_in(op, "conv2d pooling");

    if (j->nest->is_guarded && !is_window)
        return false;
    return first == NULL || !strcmp(op, first) ||
           !takt__judge_is_shared(j->nest, j->stmt);
}

/* All that is done in the innermost loop must be understood; what it does first
 * is what it is called. What contains more is called by what weighs most. */
static void judge_stmts(struct takt_judged *j, uint32_t deepest)
{
    const struct takt_ir_nest *nest = j->nest;
    struct takt_ir_verdict *out = j->out;
    const struct takt_ir_verdict none = *out;
    unsigned count = 0;
    bool is_whole = true;

    for (unsigned i = 0; i < nest->stmt_count; i++) {
        struct takt_ir_verdict one = none;

        if (nest->stmt[i].around != deepest)
            continue;
        count++;
        j->stmt = &nest->stmt[i];
        j->out = &one;
        one.op = takt__judge_is_entangled(nest, j->stmt) ||
                         takt__judge_is_running(nest, j->stmt) ||
                         !read_glue(j, deepest)
                     ? NULL
                     : takt__judge_stmt(j);
        if (one.op != NULL && !is_told(j, one.op, out->op))
            one.op = NULL;
        is_whole &= one.op != NULL;
        if (one.op == NULL && (j->takes & TAKT_TAKES_MORE) == 0) {
            one.role = out->role != TAKT_ROLE_NONE ? out->role : one.role;
            *out = none;
            out->role = one.role;
            return;
        }
        if (one.op == NULL ||
            (out->op != NULL && ((j->takes & TAKT_TAKES_MORE) == 0 ||
                                 weight(one.op) <= weight(out->op))))
            continue;
        if (j->stmt->target->sort == TAKT_IR_NAME && j->free == 0)
            one.total = j->stmt->target->text;
        *out = one;
    }
    if ((!is_whole || count > 1 || nest->is_optional) &&
        out->certainty == TAKT_EXACT)
        out->certainty = TAKT_CONTAINS;
}

void takt__judge(struct takt_ir_nest *nest, unsigned takes,
                 struct takt_ir_verdict *out)
{
    uint32_t deepest = 0;
    struct takt_judged j = {.nest = nest, .out = out, .takes = takes};

    out->extent = nest->loop[0].extent;
    out->extent_source = nest->loop[0].source;
    drop_fills(nest);
    if (drop_start(nest) ||
        ((takes & TAKT_TAKES_MORE) != 0 && drop_correction(nest)))
        out->certainty = TAKT_CONTAINS;
    if (nest->stmt_count == 0 || !find_chain(nest, &deepest))
        return;
    for (unsigned i = 0; i < nest->loop_count; i++)
        if (nest->loop[i].is_active)
            j.all |= nest->loop[i].bit;
    if (!nest->loop[0].is_active)
        return;
    if (nest->stmt_count == 2 && nest->stmt[0].around == deepest &&
        nest->stmt[1].around == deepest &&
        is_exp_sum(&nest->stmt[0], &nest->stmt[1])) {
        judge_exp_sum(
            &j,
            nest->stmt[nest->stmt[0].effect != TAKT_IR_STORE].target->sort ==
                    TAKT_IR_ACCESS
                ? &nest->stmt[nest->stmt[0].effect != TAKT_IR_STORE]
                : &nest->stmt[0]);
        return;
    }
    if (nest->stmt[0].effect == TAKT_IR_SWAP) {
        if (nest->stmt_count == 1)
            judge_exchange(&j);
        return;
    }
    judge_stmts(&j, deepest);
}
