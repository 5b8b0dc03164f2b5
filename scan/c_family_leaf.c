/* SPDX-License-Identifier: MIT */
/*
 * c_family_leaf.c - single things that a nest of loops does, brought into the
 * form that is judged: s = s + x as s += x, and what is done several times at
 * once as what is done once.
 */
#include "c_family_expr.h"

static bool reads_from(const struct takt_c_expr *e, struct takt_text base)
{
    if (e->sort == TAKT_C_ACCESS && takt__c_same_text(e->text, base))
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (reads_from(e->part[i], base))
            return true;
    return false;
}

/* What was read from there before is not what is there now. */
bool takt__c_add_leaf(struct takt_c_nest *nest, struct takt_c_leaf leaf)
{
    if (leaf.target == NULL || leaf.value == NULL ||
        nest->leaves == TAKT_C_LEAVES)
        return false;
    nest->leaf[nest->leaves++] = leaf;
    for (unsigned i = 0; i < nest->locals; i++)
        if (leaf.target->sort == TAKT_C_ACCESS &&
            nest->local[i].value != NULL &&
            reads_from(nest->local[i].value, leaf.target->text))
            nest->local[i].is_stale = true;
    return true;
}

/* s = s + x is s += x; s = max(s, x) takes the largest. */
static void simplify(struct takt_c_leaf *leaf)
{
    struct takt_c_expr *v = leaf->value;

    if (leaf->effect != TAKT_C_STORE)
        return;
    const bool is_max = takt__c_is_call(v, "fmax");
    if ((v->sort == TAKT_C_ADD || is_max || takt__c_is_call(v, "fmin")) &&
        v->parts == 2)
        for (unsigned i = 0; i < 2; i++)
            if (takt__c_same(v->part[i], leaf->target)) {
                leaf->effect = v->sort == TAKT_C_ADD ? TAKT_C_SUM
                               : is_max              ? TAKT_C_MAX
                                                     : TAKT_C_MIN;
                leaf->value = v->part[1 - i];
                return;
            }
    if (v->sort == TAKT_C_SUB && takt__c_same(v->part[0], leaf->target)) {
        leaf->effect = TAKT_C_DIFFERENCE;
        leaf->value = v->part[1];
    }
}

/* Without a number that is added. */
static const struct takt_c_expr *unshifted(const struct takt_c_expr *e)
{
    while (e->sort == TAKT_C_ADD) {
        if (e->part[1]->sort == TAKT_C_NUMBER)
            e = e->part[0];
        else if (e->part[0]->sort == TAKT_C_NUMBER)
            e = e->part[1];
        else
            break;
    }
    return e;
}

/* Whether both are the same but for numbers in their indices. */
static bool is_shifted(const struct takt_c_expr *a, const struct takt_c_expr *b)
{
    if (a->sort != b->sort || a->parts != b->parts ||
        !takt__c_same_text(a->text, b->text))
        return false;
    if (a->sort != TAKT_C_ACCESS && a->parts == 0)
        return takt__c_same(a, b);
    for (unsigned i = 0; i < a->parts; i++) {
        const struct takt_c_expr *x = a->part[i], *y = b->part[i];
        if (a->sort != TAKT_C_ACCESS
                ? !is_shifted(x, y)
                : !takt__c_same(x, y) &&
                      !takt__c_same(unshifted(x), unshifted(y)))
            return false;
    }
    return true;
}

/* s += a[i] * b[i] + a[i + 1] * b[i + 1], two at a time: how many there are in
 * it that are the first, further on; 0: others are, too. */
static unsigned repeats(const struct takt_c_expr *e,
                        const struct takt_c_expr *first)
{
    if (e->sort != TAKT_C_ADD)
        return e == first || (!takt__c_same(e, first) && is_shifted(e, first));
    const unsigned left = repeats(e->part[0], first);
    const unsigned right = repeats(e->part[1], first);
    return left == 0 || right == 0 ? 0 : left + right;
}

static void roll_up(const struct takt_c_nest *nest, struct takt_c_leaf *leaf)
{
    struct takt_c_expr *first = leaf->value;
    const struct takt_c_loop *loop = &nest->loop[nest->next_loop - 1];

    while (first->sort == TAKT_C_ADD)
        first = first->part[0];
    if (leaf->effect == TAKT_C_SUM && leaf->target->sort == TAKT_C_NAME &&
        first != leaf->value && loop->stride != 1 &&
        repeats(leaf->value, first) > 0)
        leaf->value = first;
}

/* fma(a, b, s) into s adds a * b. */
static void simplify_fma(struct takt_c_nest *nest, struct takt_c_leaf *leaf)
{
    struct takt_c_expr *v = leaf->value;

    if (leaf->effect != TAKT_C_STORE || !takt__c_is_call(v, "fma") ||
        v->parts != 3 || !takt__c_same(v->part[2], leaf->target))
        return;
    struct takt_c_expr *product =
        takt__c_expr_pair(nest, TAKT_C_MUL, v->part[0], v->part[1]);
    if (product != NULL) {
        leaf->effect = TAKT_C_SUM;
        leaf->value = product;
    }
}

void takt__c_simplify(struct takt_c_nest *nest, struct takt_c_leaf *leaf)
{
    simplify(leaf);
    roll_up(nest, leaf);
    simplify_fma(nest, leaf);
}
