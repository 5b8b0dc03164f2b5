/* SPDX-License-Identifier: MIT */
/*
 * judge_nest.c - what a nest of loops computes, told by which loops change
 * what is written and what is read: c[i][j] += a[i][k] * b[k][j] is a product
 * of matrices in whatever order the loops stand and however it is indexed.
 */
#include "judge.h"

#include <string.h>

/* ---- types --------------------------------------------------------------- */

static bool is_opaque(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_OPAQUE && e->loops != 0)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (is_opaque(e->part[i]))
            return true;
    return false;
}

/* Whether all elements are floating-point numbers, and known to be. */
static bool is_typed(const struct takt_ir_expr *e, bool *is_f64, bool *is_any)
{
    if (e->sort == TAKT_IR_ACCESS) {
        *is_f64 |= e->type.element == TAKT_IR_F64;
        *is_any = true;
        return takt__ir_is_float(e->type.element) && !is_opaque(e) &&
               (e->type.kind != TAKT_IR_PLAIN || e->parts == e->type.rank);
    }
    if (is_opaque(e) ||
        (e->sort == TAKT_IR_NAME && e->is_varying &&
         (e->type.element == TAKT_IR_INTEGER || e->type.rank > 0)))
        return false;
    for (unsigned i = 0; i < e->parts; i++)
        if (!is_typed(e->part[i], is_f64, is_any))
            return false;
    return true;
}

/* ---- products and reductions --------------------------------------------- */

/* An element; or one where there is one, and a number around the edges. */
static const struct takt_ir_expr *taken(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_PICK && !takt__ir_has_access(e->part[0]))
        for (unsigned i = 1; i < 3; i++)
            if (e->part[3 - i]->sort == TAKT_IR_NUMBER)
                e = e->part[i];
    return e->sort == TAKT_IR_ACCESS ? e : NULL;
}

/* T += X * Y with loops that are reduced away. */
static const char *contraction(struct takt_judged *j,
                               const struct takt_ir_expr *x,
                               const struct takt_ir_expr *y)
{
    if (j->free != 0) {
        x = taken(x);
        y = taken(y);
        if (x == NULL || y == NULL)
            return NULL;
    }
    if (takt__judge_windows(j, x, true) > 0 ||
        takt__judge_windows(j, y, true) > 0) {
        const struct takt_ir_expr *image =
            takt__judge_windows(j, x, true) > 0 ? x : y;
        takt__judge_tell_convolution(j, (image == x ? y : x)->loops & j->free);
        return "conv2d";
    }
    if ((x->loops & y->loops & j->bound) != j->bound ||
        takt__ir_is_mirrored(x) || takt__ir_is_mirrored(y))
        return NULL;
    const uint32_t rows = x->loops & ~y->loops, cols = y->loops & ~x->loops;
    const uint32_t batch = x->loops & y->loops & j->free;
    if ((rows | cols | batch) != j->free)
        return NULL;
    uint32_t bit[TAKT_IR_LOOPS];
    const unsigned frees = takt__judge_bits(j->nest, j->free & ~batch, bit, 4);
    if (rows != 0 && cols != 0) {
        uint32_t size[4] = {batch, rows, cols, j->bound};
        if (batch == 0 && frees == 2 &&
            takt__judge_bits(j->nest, j->bound, bit, 4) == 1)
            takt__judge_tell_sizes(j, size + 1, 3);
        else if (takt__judge_bits(j->nest, j->bound, bit, 4) == 1)
            takt__judge_tell_sizes(j, size, 4);
        return batch == 0 ? "matmul" : "batched_matmul";
    }
    if (batch != 0)
        return NULL; /* each row by itself: what is inside is told */
    if (frees == 1) {
        const uint32_t size[2] = {bit[0], j->bound};
        takt__judge_tell_sizes(j, size, 2);
        return "gemv";
    }
    if (j->free != 0)
        return NULL;
    takt__judge_tell_product(j, j->bound);
    if (takt__ir_same(x, y))
        j->out->role = TAKT_ROLE_SQUARES;
    return takt__judge_sum(j->stmt->value);
}

static const char *sum_op(struct takt_judged *j)
{
    const struct takt_ir_expr *factor[4], *value = j->stmt->value;
    const unsigned count = takt__ir_factors(value, factor, 4);

    if (j->target->sort == TAKT_IR_ACCESS && j->bound == 0 && count == 2 &&
        factor[0]->sort == TAKT_IR_ACCESS &&
        factor[1]->sort == TAKT_IR_ACCESS &&
        (factor[0]->loops & factor[1]->loops) == 0) {
        /* out[i + j] += a[i] * b[j] */
        struct takt_judged turned = *j;
        turned.free = factor[0]->loops;
        turned.bound = factor[1]->loops;
        return takt__judge_windows(&turned, j->target, true) > 0 ? "conv2d"
                                                                 : NULL;
    }
    if (count == 2 && value->sort != TAKT_IR_NEG)
        return contraction(j, factor[0], factor[1]);
    if (j->free != 0 && takt__judge_windows(j, value, false) > 1) {
        takt__judge_tell_pooling(j);
        return "pooling";
    }
    if (j->free != 0 || (value->loops & j->all) != j->all)
        return NULL;
    takt__judge_tell_product(j, j->all);
    if (takt__ir_is_call(value, "pow"))
        j->out->role = TAKT_ROLE_SQUARES;
    return takt__judge_sum(value);
}

static const char *largest_op(struct takt_judged *j)
{
    static const char *const names[] = {
        [TAKT_IR_MAX] = "max",
        [TAKT_IR_MIN] = "min",
        [TAKT_IR_ARGMAX] = "argmax",
        [TAKT_IR_ARGMIN] = "argmin",
    };
    const struct takt_ir_expr *value = j->stmt->value;

    if (j->free != 0 && takt__judge_windows(j, value, false) > 1) {
        takt__judge_tell_pooling(j);
        return "pooling";
    }
    if (j->free != 0 || value->loops != j->all ||
        value->sort != TAKT_IR_ACCESS || takt__ir_is_mirrored(value))
        return NULL;
    takt__judge_tell_product(j, j->all);
    return names[j->stmt->effect];
}

/* ---- elements ------------------------------------------------------------ */

static uint32_t innermost(const struct takt_judged *j)
{
    uint32_t bit = 0;

    for (unsigned i = 0; i < j->nest->loop_count; i++)
        if (j->nest->loop[i].is_active)
            bit = j->nest->loop[i].bit;
    return bit;
}

/* a[i][j] * d[i]: to the innermost loop, d[i] is a number. */
static bool is_fixed_within(const struct takt_ir_expr *e, uint32_t bit)
{
    if (e->sort == TAKT_IR_ACCESS)
        return e->loops != 0 && (e->loops & bit) == 0;
    for (unsigned i = 0; i < e->parts; i++)
        if (is_fixed_within(e->part[i], bit))
            return true;
    return false;
}

/* a[0][i] = -a[1][i], and what only changes the type. */
static bool is_moved(const struct takt_ir_stmt *stmt,
                     const struct takt_ir_expr *value)
{
    const struct takt_ir_expr *of =
        value->sort == TAKT_IR_NEG ? value->part[0] : value;

    if (of->sort != TAKT_IR_ACCESS)
        return false;
    return of->type.element != stmt->target->type.element ||
           (takt__ir_same_text(of->text, stmt->target->text) &&
            !takt__ir_same(of, stmt->target));
}

static const char *element_op(struct takt_judged *j)
{
    static const enum takt_ir_sort sorts[] = {[TAKT_IR_SUM] = TAKT_IR_ADD,
                                              [TAKT_IR_DIFFERENCE] =
                                                  TAKT_IR_SUB,
                                              [TAKT_IR_PRODUCT] = TAKT_IR_MUL,
                                              [TAKT_IR_QUOTIENT] = TAKT_IR_DIV};
    const struct takt_ir_stmt *stmt = j->stmt;
    struct takt_ir_expr *value = stmt->value;

    if (stmt->target->sort != TAKT_IR_ACCESS || j->bound != 0 ||
        stmt->is_appended || is_fixed_within(value, innermost(j)) ||
        takt__ir_varies(value) ||
        (takt__judge_reads_its_own(stmt->target, value, false) &&
         !takt__judge_starts_after(j)) ||
        takt__judge_is_stencil(value, value))
        return NULL;
    if (stmt->effect == TAKT_IR_MAX || stmt->effect == TAKT_IR_MIN) {
        if (stmt->value->loops != 0)
            return NULL;
        takt__judge_tell_product(j, j->all);
        return stmt->effect == TAKT_IR_MAX && takt__ir_is_number(stmt->value, 0)
                   ? "relu"
                   : "clamp";
    }
    if (stmt->effect != TAKT_IR_STORE)
        value =
            takt__ir_pair(j->nest, sorts[stmt->effect], stmt->target, value);
    if (value == NULL)
        return NULL;
    if (takt__judge_is_normalizing(value))
        j->out->role = TAKT_ROLE_NORMALIZE;
    else if (takt__ir_is_call(value, "exp"))
        j->out->role = TAKT_ROLE_EXP;
    /* x[i] += 1, x[i] = i: nothing that is worth a call */
    const char *op = takt__judge_element(stmt->target, value);
    if (op == NULL || takt__ir_is_mirrored(value) ||
        takt__ir_is_mirrored(stmt->target) || is_moved(stmt, value))
        return NULL;
    if (!strcmp(op, "transpose")) {
        uint32_t bit[2];
        if (takt__judge_bits(j->nest, j->all, bit, 2) == 2)
            takt__judge_tell_sizes(j, bit, 2);
    } else
        takt__judge_tell_product(j, j->all);
    return op;
}

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
    for (unsigned i = 0; i < j->nest->stmt_count; i++) {
        const struct takt_ir_stmt *stmt = &j->nest->stmt[i];
        if (stmt->around == deepest || is_of_another(j, stmt, deepest))
            continue;
        if (stmt < j->stmt && stmt->effect == TAKT_IR_STORE &&
            takt__ir_same(stmt->target, own) && !takt__ir_varies(stmt->value))
            is_begun = true;
        else if (stmt > j->stmt && own->sort == TAKT_IR_NAME &&
                 takt__ir_mentions(stmt->value, own) &&
                 stmt->target->sort == TAKT_IR_ACCESS && !is_ended) {
            is_ended = true;
            j->target = stmt->target;
        } else if (stmt < j->stmt || is_ended || own->sort != TAKT_IR_NAME ||
                   !takt__ir_same(stmt->target, own))
            return false; /* else s *= alpha, before it is put away */
    }
    if (own->sort == TAKT_IR_NAME)
        return is_begun == is_ended;
    return !is_ended;
}

static const char *leaf_op(struct takt_judged *j, uint32_t deepest)
{
    const struct takt_ir_stmt *stmt = j->stmt;
    bool is_f64 = false, is_any = false;

    if (!read_glue(j, deepest))
        return NULL;
    const bool is_place = /* the target counts, and is an integer */
        stmt->effect == TAKT_IR_ARGMAX || stmt->effect == TAKT_IR_ARGMIN;
    if (!is_place && (!is_typed(stmt->target, &is_f64, &is_any) ||
                      !is_typed(j->target, &is_f64, &is_any)))
        return NULL;
    if (!is_typed(stmt->value, &is_f64, &is_any) || !is_any)
        return NULL;
    j->out->is_f64 = is_f64;
    j->out->is_typed = true;
    j->free = j->target->sort == TAKT_IR_ACCESS ? j->target->loops & j->all : 0;
    j->bound = j->all & ~j->free;
    if (stmt->effect >= TAKT_IR_MAX &&
        (stmt->target->sort == TAKT_IR_NAME || j->bound != 0))
        return takt__judge_reads_its_own(j->target, stmt->value, true)
                   ? NULL
                   : largest_op(j);
    const bool is_sum =
        stmt->effect == TAKT_IR_SUM || stmt->effect == TAKT_IR_DIFFERENCE;
    if (!is_sum || (j->bound == 0 && stmt->effect != TAKT_IR_SUM))
        return element_op(j);
    if (takt__ir_varies(stmt->value))
        return NULL;
    if (j->bound != 0)
        return takt__judge_reads_its_own(j->target, stmt->value, true) &&
                       !takt__judge_ends_before(j)
                   ? NULL
                   : sum_op(j);
    const char *op = sum_op(j); /* only a convolution writes everywhere */
    return op != NULL && !strcmp(op, "conv2d") ? op : element_op(j);
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
            takt__ir_same(b->value, a->value));
}

static void judge_exp_sum(struct takt_judged *j,
                          const struct takt_ir_stmt *store)
{
    bool is_f64 = false, is_any = false;

    if (!is_typed(store->target, &is_f64, &is_any) ||
        !is_typed(store->value, &is_f64, &is_any))
        return;
    j->out->role = TAKT_ROLE_EXP_SUM;
    j->out->is_f64 = is_f64;
    j->out->is_typed = true;
    takt__judge_tell_product(j, j->all);
}

/* Of the halves of one matrix, that transposes it where it is. */
static void judge_exchange(struct takt_judged *j)
{
    const struct takt_ir_stmt *stmt = &j->nest->stmt[0];
    bool is_any = false;

    if (takt__ir_same_text(stmt->target->text, stmt->value->text) &&
        is_typed(stmt->target, &j->out->is_f64, &is_any) &&
        is_typed(stmt->value, &j->out->is_f64, &is_any) &&
        takt__judge_is_turned(stmt->target, stmt->value)) {
        j->out->is_typed = true;
        j->out->op = "transpose";
    }
}

/* All that is done in the innermost loop must be understood; what it does first
 * is what it is called. */
static void judge_leaves(struct takt_judged *j, uint32_t deepest)
{
    const struct takt_ir_nest *nest = j->nest;
    struct takt_verdict *out = j->out, other;
    const char *first = NULL;

    for (unsigned i = 0; i < nest->stmt_count; i++) {
        if (nest->stmt[i].around != deepest)
            continue;
        j->stmt = &nest->stmt[i];
        if (takt__judge_is_entangled(nest, j->stmt))
            return;
        const char *op = leaf_op(j, deepest);
        if (op == NULL)
            return;
        const bool is_window = !strcmp(op, "conv2d") || !strcmp(op, "pooling");
        if (nest->is_guarded && !is_window)
            return;
        if (first != NULL && strcmp(op, first) != 0 &&
            takt__judge_is_shared(nest, j->stmt))
            return;
        if (first == NULL) {
            first = op;
            if (j->stmt->target->sort == TAKT_IR_NAME && j->free == 0)
                out->total = j->stmt->target->text;
            other = *out;
            j->out = &other;
        }
    }
    out->op = first;
}

void takt__judge(struct takt_ir_nest *nest, struct takt_verdict *out)
{
    uint32_t deepest = 0;
    struct takt_judged j = {.nest = nest, .out = out};

    out->extent = nest->loop[0].extent;
    out->extent_source = nest->loop[0].source;
    drop_fills(nest);
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
    judge_leaves(&j, deepest);
}
