/* SPDX-License-Identifier: MIT */
/*
 * judge_order.c - whether the order of the steps of a loop matters: what one
 * step writes and another reads.
 */
#include "judge.h"

/* Whether what is written is read elsewhere: then the order of the steps
 * matters. Rows that the loops do not change are other rows. */
bool takt__judge_reads_its_own(const struct takt_ir_expr *target,
                               const struct takt_ir_expr *e, bool is_ever)
{
    if (e->sort == TAKT_IR_ACCESS &&
        takt__ir_same_text(e->text, target->text)) {
        if (is_ever || e->parts != target->parts)
            return true;
        for (unsigned i = 0; i < e->parts; i++)
            if (!takt__ir_same(e->part[i], target->part[i]) &&
                !takt__ir_is_other_row(e->part[i], target->part[i]))
                return true;
    }
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__judge_reads_its_own(target, e->part[i], is_ever))
            return true;
    return false;
}

/* Whether all that is read of what is written are elements of it or of other
 * rows, or places that do not change and have this name in them. */
static bool reads_only_at(const struct takt_ir_expr *target,
                          const struct takt_ir_expr *e,
                          const struct takt_ir_expr *name)
{
    if (e->sort == TAKT_IR_ACCESS && takt__ir_same_text(e->text, target->text))
        return e->loops == 0 ? takt__ir_mentions(e, name)
                             : !takt__judge_reads_its_own(target, e, false);
    for (unsigned i = 0; i < e->parts; i++)
        if (!reads_only_at(target, e->part[i], name))
            return false;
    return true;
}

/* a[i][j] -= a[i][k] * a[k][j] from j = k + 1 on: [k] is not written. */
bool takt__judge_starts_after(const struct takt_judged *j)
{
    const struct takt_ir_loop *loop = &j->nest->loop[0];

    const struct takt_ir_expr *start = loop->from;

    return j->nest->loop_count == 1 && start != NULL &&
           start->sort == TAKT_IR_ADD && start->part[0]->sort == TAKT_IR_NAME &&
           start->part[1]->sort == TAKT_IR_NUMBER &&
           start->part[1]->number > 0 &&
           !takt__ir_mentions(j->stmt->target, start->part[0]) &&
           reads_only_at(j->stmt->target, j->stmt->value, start->part[0]);
}

/* How many places of the same array, other than this one, are in it. */
static unsigned other_places(const struct takt_ir_expr *e,
                             const struct takt_ir_expr *place)
{
    unsigned count = e->sort == TAKT_IR_ACCESS &&
                     takt__ir_same_text(e->text, place->text) &&
                     !takt__ir_same(e, place);

    for (unsigned i = 0; i < e->parts; i++)
        count += other_places(e->part[i], place);
    return count;
}

/* a[i - 1] + a[i] + a[i + 1]: many places of one array make a stencil. */
bool takt__judge_is_stencil(const struct takt_ir_expr *whole,
                            const struct takt_ir_expr *e, unsigned most)
{
    if (e->sort == TAKT_IR_ACCESS && e->loops != 0 &&
        other_places(whole, e) >= most)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__judge_is_stencil(whole, e->part[i], most))
            return true;
    return false;
}

/* x[i] -= l[i][k] * x[k] with k < i, or with k from i + 1 on: what is read is
 * not what is written. */
bool takt__judge_is_outside(const struct takt_judged *j)
{
    const struct takt_ir_loop *loop = &j->nest->loop[0];
    const struct takt_ir_expr *target = j->target, *start = loop->from;

    if (j->nest->loop_count != 1 || target->sort != TAKT_IR_ACCESS ||
        target->parts != 1 || target->part[0]->sort != TAKT_IR_NAME ||
        loop->is_downward)
        return false;
    if (start != NULL && start->sort == TAKT_IR_ADD &&
        takt__ir_same(start->part[0], target->part[0]) &&
        start->part[1]->sort == TAKT_IR_NUMBER && start->part[1]->number > 0)
        return true;
    return !loop->is_inclusive && takt__ir_same(loop->to, target->part[0]);
}

/* Whether one stmt reads, elsewhere, what another writes. */
bool takt__judge_is_entangled(const struct takt_ir_nest *nest,
                              const struct takt_ir_stmt *stmt)
{
    for (unsigned i = 0; i < nest->stmt_count; i++) {
        const struct takt_ir_stmt *other = &nest->stmt[i];
        if (other != stmt && other->target->sort == TAKT_IR_ACCESS &&
            takt__judge_reads_its_own(other->target, stmt->value, false))
            return true;
    }
    return false;
}

/* Whether another stmt writes elsewhere into the same array: butterflies. */
bool takt__judge_is_shared(const struct takt_ir_nest *nest,
                           const struct takt_ir_stmt *stmt)
{
    for (unsigned i = 0; i < nest->stmt_count; i++)
        if (&nest->stmt[i] != stmt &&
            nest->stmt[i].target->sort == TAKT_IR_ACCESS &&
            takt__ir_same_text(nest->stmt[i].target->text,
                               stmt->target->text) &&
            !takt__ir_same(nest->stmt[i].target, stmt->target))
            return true;
    return false;
}

bool takt__judge_is_running(const struct takt_ir_nest *nest,
                            const struct takt_ir_stmt *stmt)
{
    for (unsigned i = 0; i < nest->stmt_count; i++) {
        const struct takt_ir_stmt *other = &nest->stmt[i];
        if (other != stmt && stmt->target->sort == TAKT_IR_NAME &&
            other->around == stmt->around &&
            other->target->sort == TAKT_IR_ACCESS &&
            takt__ir_mentions(other->value, stmt->target))
            return true;
    }
    return false;
}

/* 2 * i, of a number that is not 1. */
static bool is_strided(const struct takt_ir_expr *index, uint32_t loop)
{
    if (index->sort == TAKT_IR_MUL)
        for (unsigned i = 0; i < 2; i++)
            if (index->part[i]->sort == TAKT_IR_NUMBER &&
                !takt__ir_is_number(index->part[i], 1) &&
                index->part[1 - i]->sort == TAKT_IR_COUNT &&
                (index->part[1 - i]->loops & loop) != 0)
                return true;
    if (index->sort != TAKT_IR_ADD && index->sort != TAKT_IR_SUB)
        return false;
    return is_strided(index->part[0], loop) || is_strided(index->part[1], loop);
}

bool takt__judge_is_apart(const struct takt_ir_expr *e, uint32_t loop)
{
    if (e->sort == TAKT_IR_ACCESS) {
        if ((e->loops & loop) == 0 || e->parts == 0)
            return false;
        const struct takt_ir_expr *last = e->part[e->parts - 1];
        return e->is_field || last->sort == TAKT_IR_NUMBER ||
               is_strided(last, loop);
    }
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__judge_is_apart(e->part[i], loop))
            return true;
    return false;
}
