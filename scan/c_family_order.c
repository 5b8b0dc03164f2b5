/* SPDX-License-Identifier: MIT */
/*
 * c_family_order.c - whether the order of the steps of a loop matters: what one
 * step writes and another reads.
 */
#include "c_family_judge.h"

/* Whether what is written is read elsewhere: then the order of the steps
 * matters. Rows that the loops do not change are other rows. */
bool takt__c_reads_its_own(const struct takt_c_expr *target,
                           const struct takt_c_expr *e, bool is_ever)
{
    if (e->sort == TAKT_C_ACCESS && takt__c_same_text(e->text, target->text)) {
        if (is_ever || e->parts != target->parts)
            return true;
        for (unsigned i = 0; i < e->parts; i++)
            if (!takt__c_same(e->part[i], target->part[i]) &&
                !takt__c_is_other_row(e->part[i], target->part[i]))
                return true;
    }
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__c_reads_its_own(target, e->part[i], is_ever))
            return true;
    return false;
}

/* Whether all that is read of what is written are elements of it, or places
 * that do not change and have this name in them. */
static bool reads_only_at(const struct takt_c_expr *target,
                          const struct takt_c_expr *e,
                          const struct takt_c_expr *name)
{
    if (e->sort == TAKT_C_ACCESS && takt__c_same_text(e->text, target->text))
        return takt__c_mentions(e, name) &&
               (e->steps == 0 || !takt__c_reads_its_own(target, e, false));
    for (unsigned i = 0; i < e->parts; i++)
        if (!reads_only_at(target, e->part[i], name))
            return false;
    return true;
}

/* a[i][j] -= a[i][k] * a[k][j] from j = k + 1 on: [k] is not written. */
bool takt__c_starts_after(struct takt_c_judged *j)
{
    const struct takt_c_loop *loop = &j->nest->loop[0];

    if (j->nest->loops != 1 || ts_node_is_null(loop->start))
        return false;
    const struct takt_c_expr *start =
        takt__c_expr(j->nest, loop->start, true, 0);
    return start != NULL && start->sort == TAKT_C_ADD &&
           start->part[0]->sort == TAKT_C_NAME &&
           start->part[1]->sort == TAKT_C_NUMBER &&
           start->part[1]->number > 0 &&
           !takt__c_mentions(j->leaf->target, start->part[0]) &&
           reads_only_at(j->leaf->target, j->leaf->value, start->part[0]);
}

/* How many places of the same array, other than this one, are in it. */
static unsigned other_places(const struct takt_c_expr *e,
                             const struct takt_c_expr *place)
{
    unsigned count = e->sort == TAKT_C_ACCESS &&
                     takt__c_same_text(e->text, place->text) &&
                     !takt__c_same(e, place);

    for (unsigned i = 0; i < e->parts; i++)
        count += other_places(e->part[i], place);
    return count;
}

/* a[i - 1] + a[i] + a[i + 1]: many places of one array make a stencil. */
bool takt__c_is_stencil(const struct takt_c_expr *whole,
                        const struct takt_c_expr *e)
{
    if (e->sort == TAKT_C_ACCESS && e->steps != 0 && other_places(whole, e) > 1)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__c_is_stencil(whole, e->part[i]))
            return true;
    return false;
}

/* x[i] -= l[i][k] * x[k] with k < i: what is read is not what is written. */
bool takt__c_ends_before(const struct takt_c_judged *j)
{
    const struct takt_c_loop *loop = &j->nest->loop[0];
    const struct takt_c_expr *target = j->target;

    return j->nest->loops == 1 && target->sort == TAKT_C_ACCESS &&
           target->parts == 1 && target->part[0]->sort == TAKT_C_NAME &&
           !ts_node_is_null(loop->bound) && !loop->is_inclusive &&
           !loop->is_downward &&
           takt__c_same_text(takt__node_text(j->nest->source, loop->bound),
                             target->part[0]->text);
}

/* Whether one leaf reads, elsewhere, what another writes. */
bool takt__c_is_entangled(const struct takt_c_nest *nest,
                          const struct takt_c_leaf *leaf)
{
    for (unsigned i = 0; i < nest->leaves; i++) {
        const struct takt_c_leaf *other = &nest->leaf[i];
        if (other != leaf && other->target->sort == TAKT_C_ACCESS &&
            takt__c_reads_its_own(other->target, leaf->value, false))
            return true;
    }
    return false;
}

/* Whether another leaf writes into the same array: butterflies. */
bool takt__c_is_shared(const struct takt_c_nest *nest,
                       const struct takt_c_leaf *leaf)
{
    for (unsigned i = 0; i < nest->leaves; i++)
        if (&nest->leaf[i] != leaf &&
            nest->leaf[i].target->sort == TAKT_C_ACCESS &&
            takt__c_same_text(nest->leaf[i].target->text, leaf->target->text))
            return true;
    return false;
}
