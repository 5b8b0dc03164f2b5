/* SPDX-License-Identifier: MIT */
/*
 * c_family_judge.c - what a nest of loops computes, told by which loops change
 * what is written and what is read: c[i][j] += a[i][k] * b[k][j] is a product
 * of matrices in whatever order the loops stand and however it is indexed.
 */
#include "c_family_judge.h"

#include <string.h>

/* ---- types --------------------------------------------------------------- */

static bool is_opaque(const struct takt_c_expr *e)
{
    if (e->sort == TAKT_C_OPAQUE && e->steps != 0)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (is_opaque(e->part[i]))
            return true;
    return false;
}

/* Whether all elements are floating-point numbers, and known to be. */
static bool is_typed(const struct takt_c_expr *e, bool *is_f64, bool *is_any)
{
    if (e->sort == TAKT_C_ACCESS) {
        *is_f64 |= e->type.element == TAKT_C_F64;
        *is_any = true;
        return takt__c_is_float(e->type) && !is_opaque(e) &&
               (e->type.kind != TAKT_C_PLAIN || e->parts == e->type.rank);
    }
    if (is_opaque(e) ||
        (e->sort == TAKT_C_NAME && e->is_varying &&
         (e->type.element == TAKT_C_INTEGER || e->type.rank > 0)))
        return false;
    for (unsigned i = 0; i < e->parts; i++)
        if (!is_typed(e->part[i], is_f64, is_any))
            return false;
    return true;
}

/* ---- products and reductions --------------------------------------------- */

/* An element; or one where there is one, and a number around the edges. */
static const struct takt_c_expr *taken(const struct takt_c_expr *e)
{
    if (e->sort == TAKT_C_PICK && !takt__c_has_access(e->part[0]))
        for (unsigned i = 1; i < 3; i++)
            if (e->part[3 - i]->sort == TAKT_C_NUMBER)
                e = e->part[i];
    return e->sort == TAKT_C_ACCESS ? e : NULL;
}

/* T += X * Y with loops that are reduced away. */
static const char *contraction(struct takt_c_judged *j,
                               const struct takt_c_expr *x,
                               const struct takt_c_expr *y)
{
    if (j->free != 0) {
        x = taken(x);
        y = taken(y);
        if (x == NULL || y == NULL)
            return NULL;
    }
    if (takt__c_windows(j, x, true) > 0 || takt__c_windows(j, y, true) > 0) {
        const struct takt_c_expr *image =
            takt__c_windows(j, x, true) > 0 ? x : y;
        takt__c_tell_convolution(j, (image == x ? y : x)->steps & j->free);
        return "conv2d";
    }
    if ((x->steps & y->steps & j->bound) != j->bound ||
        takt__c_is_mirrored(x) || takt__c_is_mirrored(y))
        return NULL;
    const uint32_t rows = x->steps & ~y->steps, cols = y->steps & ~x->steps;
    const uint32_t batch = x->steps & y->steps & j->free;
    if ((rows | cols | batch) != j->free)
        return NULL;
    uint32_t bit[TAKT_C_LOOPS];
    const unsigned frees = takt__c_bits_of(j->nest, j->free & ~batch, bit, 4);
    if (rows != 0 && cols != 0) {
        uint32_t size[4] = {batch, rows, cols, j->bound};
        if (batch == 0 && frees == 2 &&
            takt__c_bits_of(j->nest, j->bound, bit, 4) == 1)
            takt__c_tell_sizes(j, size + 1, 3);
        else if (takt__c_bits_of(j->nest, j->bound, bit, 4) == 1)
            takt__c_tell_sizes(j, size, 4);
        return batch == 0 ? "matmul" : "batched_matmul";
    }
    if (batch != 0)
        return NULL; /* each row by itself: what is inside is told */
    if (frees == 1) {
        const uint32_t size[2] = {bit[0], j->bound};
        takt__c_tell_sizes(j, size, 2);
        return "gemv";
    }
    if (j->free != 0)
        return NULL;
    takt__c_tell_product(j, j->bound);
    if (takt__c_same(x, y))
        j->out->role = TAKT_C_ROLE_SQUARES;
    return takt__c_sum_op(j->leaf->value);
}

static const char *sum_op(struct takt_c_judged *j)
{
    const struct takt_c_expr *factor[4], *value = j->leaf->value;
    const unsigned count = takt__c_factors(value, factor, 4);

    if (j->target->sort == TAKT_C_ACCESS && j->bound == 0 && count == 2 &&
        factor[0]->sort == TAKT_C_ACCESS && factor[1]->sort == TAKT_C_ACCESS &&
        (factor[0]->steps & factor[1]->steps) == 0) {
        /* out[i + j] += a[i] * b[j] */
        struct takt_c_judged turned = *j;
        turned.free = factor[0]->steps;
        turned.bound = factor[1]->steps;
        return takt__c_windows(&turned, j->target, true) > 0 ? "conv2d" : NULL;
    }
    if (count == 2 && value->sort != TAKT_C_NEG)
        return contraction(j, factor[0], factor[1]);
    if (j->free != 0 && takt__c_windows(j, value, false) > 1) {
        takt__c_tell_pooling(j);
        return "pooling";
    }
    if (j->free != 0 || (value->steps & j->all) != j->all)
        return NULL;
    takt__c_tell_product(j, j->all);
    if (takt__c_is_call(value, "pow"))
        j->out->role = TAKT_C_ROLE_SQUARES;
    return takt__c_sum_op(value);
}

static const char *largest_op(struct takt_c_judged *j)
{
    static const char *const names[] = {
        [TAKT_C_MAX] = "max",
        [TAKT_C_MIN] = "min",
        [TAKT_C_ARGMAX] = "argmax",
        [TAKT_C_ARGMIN] = "argmin",
    };
    const struct takt_c_expr *value = j->leaf->value;

    if (j->free != 0 && takt__c_windows(j, value, false) > 1) {
        takt__c_tell_pooling(j);
        return "pooling";
    }
    if (j->free != 0 || value->steps != j->all ||
        value->sort != TAKT_C_ACCESS || takt__c_is_mirrored(value))
        return NULL;
    takt__c_tell_product(j, j->all);
    return names[j->leaf->effect];
}

/* ---- elements ------------------------------------------------------------ */

static uint32_t innermost(const struct takt_c_judged *j)
{
    uint32_t bit = 0;

    for (unsigned i = 0; i < j->nest->loops; i++)
        if (j->nest->loop[i].is_active)
            bit = j->nest->loop[i].bit;
    return bit;
}

/* a[i][j] * d[i]: to the innermost loop, d[i] is a number. */
static bool is_fixed_within(const struct takt_c_expr *e, uint32_t bit)
{
    if (e->sort == TAKT_C_ACCESS)
        return e->steps != 0 && (e->steps & bit) == 0;
    for (unsigned i = 0; i < e->parts; i++)
        if (is_fixed_within(e->part[i], bit))
            return true;
    return false;
}

/* a[0][i] = -a[1][i], and what only changes the type. */
static bool is_moved(const struct takt_c_leaf *leaf,
                     const struct takt_c_expr *value)
{
    const struct takt_c_expr *of =
        value->sort == TAKT_C_NEG ? value->part[0] : value;

    if (of->sort != TAKT_C_ACCESS)
        return false;
    return of->type.element != leaf->target->type.element ||
           (takt__c_same_text(of->text, leaf->target->text) &&
            !takt__c_same(of, leaf->target));
}

static const char *element_op(struct takt_c_judged *j)
{
    static const enum takt_c_sort sorts[] = {[TAKT_C_SUM] = TAKT_C_ADD,
                                             [TAKT_C_DIFFERENCE] = TAKT_C_SUB,
                                             [TAKT_C_PRODUCT] = TAKT_C_MUL,
                                             [TAKT_C_QUOTIENT] = TAKT_C_DIV};
    const struct takt_c_leaf *leaf = j->leaf;
    struct takt_c_expr *value = leaf->value;

    if (leaf->target->sort != TAKT_C_ACCESS || j->bound != 0 ||
        leaf->is_appended || is_fixed_within(value, innermost(j)) ||
        takt__c_varies(value) ||
        (takt__c_reads_its_own(leaf->target, value, false) &&
         !takt__c_starts_after(j)) ||
        takt__c_is_stencil(value, value))
        return NULL;
    if (leaf->effect == TAKT_C_MAX || leaf->effect == TAKT_C_MIN) {
        if (leaf->value->steps != 0)
            return NULL;
        takt__c_tell_product(j, j->all);
        return leaf->effect == TAKT_C_MAX && takt__c_is_number(leaf->value, 0)
                   ? "relu"
                   : "clamp";
    }
    if (leaf->effect != TAKT_C_STORE)
        value = takt__c_expr_pair(j->nest, sorts[leaf->effect], leaf->target,
                                  value);
    if (value == NULL)
        return NULL;
    if (takt__c_is_normalizing(value))
        j->out->role = TAKT_C_ROLE_NORMALIZE;
    else if (takt__c_is_call(value, "exp"))
        j->out->role = TAKT_C_ROLE_EXP;
    /* x[i] += 1, x[i] = i: nothing that is worth a call */
    const char *op = takt__c_element_op(leaf->target, value);
    if (op == NULL || takt__c_is_mirrored(value) ||
        takt__c_is_mirrored(leaf->target) || is_moved(leaf, value))
        return NULL;
    if (!strcmp(op, "transpose")) {
        uint32_t bit[2];
        if (takt__c_bits_of(j->nest, j->all, bit, 2) == 2)
            takt__c_tell_sizes(j, bit, 2);
    } else
        takt__c_tell_product(j, j->all);
    return op;
}

/* ---- the nest ------------------------------------------------------------ */

/* What only fills arrays says nothing about the rest. */
static void drop_fills(struct takt_c_nest *nest)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < nest->leaves; i++) {
        const struct takt_c_leaf *leaf = &nest->leaf[i];
        if (leaf->effect == TAKT_C_STORE &&
            leaf->target->sort == TAKT_C_ACCESS &&
            leaf->value->sort == TAKT_C_NUMBER)
            continue;
        nest->leaf[kept++] = *leaf;
    }
    nest->leaves = kept;
}

/* false: there are loops beside each other. */
static bool find_chain(struct takt_c_nest *nest, uint32_t *deepest)
{
    uint32_t around = 0, all = 0;

    for (unsigned i = 0; i < nest->leaves; i++)
        all |= nest->leaf[i].around;
    for (unsigned i = 0; i < nest->loops; i++) {
        struct takt_c_loop *loop = &nest->loop[i];
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
static bool is_of_another(const struct takt_c_judged *j,
                          const struct takt_c_leaf *glue, uint32_t deepest)
{
    const struct takt_c_expr *own = j->leaf->target;

    for (unsigned i = 0; i < j->nest->leaves; i++) {
        const struct takt_c_leaf *leaf = &j->nest->leaf[i];
        if (leaf->around == deepest && leaf->target->sort == TAKT_C_NAME &&
            !takt__c_same(leaf->target, own) &&
            (takt__c_same(glue->target, leaf->target) ||
             takt__c_mentions(glue->value, leaf->target)))
            return !takt__c_mentions(glue->value, own) &&
                   !takt__c_same(glue->target, own);
    }
    return false;
}

/* What stands around the innermost loop must begin or end what it does. */
static bool read_glue(struct takt_c_judged *j, uint32_t deepest)
{
    const struct takt_c_expr *own = j->leaf->target;
    bool is_begun = false, is_ended = false;

    j->target = own;
    for (unsigned i = 0; i < j->nest->leaves; i++) {
        const struct takt_c_leaf *leaf = &j->nest->leaf[i];
        if (leaf->around == deepest || is_of_another(j, leaf, deepest))
            continue;
        if (leaf < j->leaf && leaf->effect == TAKT_C_STORE &&
            takt__c_same(leaf->target, own) && !takt__c_varies(leaf->value))
            is_begun = true;
        else if (leaf > j->leaf && own->sort == TAKT_C_NAME &&
                 takt__c_mentions(leaf->value, own) &&
                 leaf->target->sort == TAKT_C_ACCESS && !is_ended) {
            is_ended = true;
            j->target = leaf->target;
        } else if (leaf < j->leaf || is_ended || own->sort != TAKT_C_NAME ||
                   !takt__c_same(leaf->target, own))
            return false; /* else s *= alpha, before it is put away */
    }
    if (own->sort == TAKT_C_NAME)
        return is_begun == is_ended;
    return !is_ended;
}

static const char *leaf_op(struct takt_c_judged *j, uint32_t deepest)
{
    const struct takt_c_leaf *leaf = j->leaf;
    bool is_f64 = false, is_any = false;

    if (!read_glue(j, deepest))
        return NULL;
    const bool is_place = /* the target counts, and is an integer */
        leaf->effect == TAKT_C_ARGMAX || leaf->effect == TAKT_C_ARGMIN;
    if (!is_place && (!is_typed(leaf->target, &is_f64, &is_any) ||
                      !is_typed(j->target, &is_f64, &is_any)))
        return NULL;
    if (!is_typed(leaf->value, &is_f64, &is_any) || !is_any)
        return NULL;
    j->out->is_f64 = is_f64;
    j->out->is_typed = true;
    j->free = j->target->sort == TAKT_C_ACCESS ? j->target->steps & j->all : 0;
    j->bound = j->all & ~j->free;
    if (leaf->effect >= TAKT_C_MAX &&
        (leaf->target->sort == TAKT_C_NAME || j->bound != 0))
        return takt__c_reads_its_own(j->target, leaf->value, true)
                   ? NULL
                   : largest_op(j);
    const bool is_sum =
        leaf->effect == TAKT_C_SUM || leaf->effect == TAKT_C_DIFFERENCE;
    if (!is_sum || (j->bound == 0 && leaf->effect != TAKT_C_SUM))
        return element_op(j);
    if (takt__c_varies(leaf->value))
        return NULL;
    if (j->bound != 0)
        return takt__c_reads_its_own(j->target, leaf->value, true) &&
                       !takt__c_ends_before(j)
                   ? NULL
                   : sum_op(j);
    const char *op = sum_op(j); /* only a convolution writes everywhere */
    return op != NULL && !strcmp(op, "conv2d") ? op : element_op(j);
}

/* e[i] = exp(..); s += e[i]: the middle of a softmax. */
static bool is_exp_sum(const struct takt_c_leaf *a, const struct takt_c_leaf *b)
{
    if (a->effect != TAKT_C_STORE) {
        const struct takt_c_leaf *other = a;
        a = b;
        b = other;
    }
    return a->effect == TAKT_C_STORE && a->target->sort == TAKT_C_ACCESS &&
           takt__c_is_call(a->value, "exp") && b->effect == TAKT_C_SUM &&
           b->target->sort == TAKT_C_NAME &&
           (takt__c_same(b->value, a->target) ||
            takt__c_same(b->value, a->value));
}

static void judge_exp_sum(struct takt_c_judged *j,
                          const struct takt_c_leaf *store)
{
    bool is_f64 = false, is_any = false;

    if (!is_typed(store->target, &is_f64, &is_any) ||
        !is_typed(store->value, &is_f64, &is_any))
        return;
    j->out->role = TAKT_C_ROLE_EXP_SUM;
    j->out->is_f64 = is_f64;
    j->out->is_typed = true;
    takt__c_tell_product(j, j->all);
}

/* t = a; a = b; b = t. */
static bool is_exchange(struct takt_c_nest *nest)
{
    if (nest->leaves != 2 || nest->leaf[0].around != nest->leaf[1].around)
        return false;
    const struct takt_c_leaf *first = &nest->leaf[0], *last = first + 1;
    const struct takt_c_local *kept = takt__c_local(nest, last->value->text);
    return first->effect == TAKT_C_STORE && last->effect == TAKT_C_STORE &&
           last->value->sort == TAKT_C_NAME && kept != NULL && kept->is_stale &&
           takt__c_same(first->value, last->target) &&
           takt__c_same(first->target, kept->value);
}

/* Of the halves of one matrix, that transposes it where it is. */
static void judge_exchange(struct takt_c_judged *j)
{
    const struct takt_c_leaf *leaf = &j->nest->leaf[0];
    bool is_any = false;

    if (takt__c_same_text(leaf->target->text, leaf->value->text) &&
        is_typed(leaf->target, &j->out->is_f64, &is_any) &&
        is_typed(leaf->value, &j->out->is_f64, &is_any) &&
        takt__c_is_turned(leaf->target, leaf->value)) {
        j->out->is_typed = true;
        j->out->op = "transpose";
    }
}

/* All that is done in the innermost loop must be understood; what it does first
 * is what it is called. */
static void judge_leaves(struct takt_c_judged *j, uint32_t deepest)
{
    const struct takt_c_nest *nest = j->nest;
    struct takt_c_verdict *out = j->out, other;
    const char *first = NULL;

    for (unsigned i = 0; i < nest->leaves; i++) {
        if (nest->leaf[i].around != deepest)
            continue;
        j->leaf = &nest->leaf[i];
        if (takt__c_is_entangled(nest, j->leaf))
            return;
        const char *op = leaf_op(j, deepest);
        if (op == NULL)
            return;
        const bool is_window = !strcmp(op, "conv2d") || !strcmp(op, "pooling");
        if (nest->is_guarded && !is_window)
            return;
        if (first != NULL && strcmp(op, first) != 0 &&
            takt__c_is_shared(nest, j->leaf))
            return;
        if (first == NULL) {
            first = op;
            if (j->leaf->target->sort == TAKT_C_NAME && j->free == 0)
                out->total = j->leaf->target->text;
            other = *out;
            j->out = &other;
        }
    }
    out->op = first;
}

void takt__c_judge_nest(struct takt_c_nest *nest, struct takt_c_verdict *out)
{
    uint32_t deepest = 0;
    struct takt_c_judged j = {.nest = nest, .out = out};

    drop_fills(nest);
    if (nest->leaves == 0 || !find_chain(nest, &deepest))
        return;
    for (unsigned i = 0; i < nest->loops; i++)
        if (nest->loop[i].is_active)
            j.all |= nest->loop[i].bit;
    if (!nest->loop[0].is_active)
        return;
    if (nest->leaves == 2 && nest->leaf[0].around == deepest &&
        nest->leaf[1].around == deepest &&
        is_exp_sum(&nest->leaf[0], &nest->leaf[1])) {
        judge_exp_sum(
            &j, nest->leaf[nest->leaf[0].effect != TAKT_C_STORE].target->sort ==
                        TAKT_C_ACCESS
                    ? &nest->leaf[nest->leaf[0].effect != TAKT_C_STORE]
                    : &nest->leaf[0]);
        return;
    }
    if (is_exchange(nest)) {
        judge_exchange(&j);
        return;
    }
    judge_leaves(&j, deepest);
}
