/* SPDX-License-Identifier: MIT */
/*
 * c_family_same.c - compares expressions, and asks what is in one.
 */
#include "c_family_expr.h"

#include <math.h>

bool takt__c_same(const struct takt_c_expr *a, const struct takt_c_expr *b)
{
    if (a == NULL || b == NULL)
        return false;
    if (a == b)
        return true;
    if (a->sort != b->sort || a->parts != b->parts || a->steps != b->steps ||
        !takt__c_same_text(a->text, b->text))
        return false;
    if (a->sort == TAKT_C_NUMBER)
        return !(a->number < b->number) && !(a->number > b->number);
    if (a->sort == TAKT_C_OPAQUE)
        return false;
    for (unsigned i = 0; i < a->parts; i++)
        if (!takt__c_same(a->part[i], b->part[i]))
            return false;
    return true;
}

bool takt__c_mentions(const struct takt_c_expr *in,
                      const struct takt_c_expr *what)
{
    if (takt__c_same(in, what))
        return true;
    for (unsigned i = 0; i < in->parts; i++)
        if (takt__c_mentions(in->part[i], what))
            return true;
    return false;
}

/* Whether each term of one that changes is in the other. */
static bool has_steps_of(const struct takt_c_expr *whole,
                         const struct takt_c_expr *e)
{
    if (e->steps == 0)
        return true;
    if (e->sort == TAKT_C_ADD)
        return has_steps_of(whole, e->part[0]) &&
               has_steps_of(whole, e->part[1]);
    return takt__c_mentions(whole, e);
}

/* Whether a name that does not change is in one and not in the other. */
static bool has_more_names(const struct takt_c_expr *e,
                           const struct takt_c_expr *than)
{
    if (e->sort == TAKT_C_NAME)
        return !takt__c_mentions(than, e);
    for (unsigned i = 0; i < e->parts; i++)
        if (has_more_names(e->part[i], than))
            return true;
    return false;
}

bool takt__c_is_other_row(const struct takt_c_expr *a,
                          const struct takt_c_expr *b)
{
    if (a->steps == 0 && b->steps == 0)
        return true;
    return a->steps == b->steps && has_steps_of(a, b) && has_steps_of(b, a) &&
           has_more_names(a, b) && has_more_names(b, a);
}

bool takt__c_varies(const struct takt_c_expr *e)
{
    if (e->is_varying)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__c_varies(e->part[i]))
            return true;
    return false;
}

bool takt__c_has_access(const struct takt_c_expr *e)
{
    if (e->sort == TAKT_C_ACCESS)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__c_has_access(e->part[i]))
            return true;
    return false;
}

bool takt__c_is_gathered(const struct takt_c_expr *e)
{
    if (e->sort == TAKT_C_ACCESS)
        return e->steps != 0;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__c_is_gathered(e->part[i]))
            return true;
    return false;
}

bool takt__c_is_call(const struct takt_c_expr *e, const char *name)
{
    return e->sort == TAKT_C_CALL && takt__text_is(e->text, name);
}

bool takt__c_is_number(const struct takt_c_expr *e, double number)
{
    return e->sort == TAKT_C_NUMBER && fabs(e->number - number) < 1e-12;
}

unsigned takt__c_factors(const struct takt_c_expr *e,
                         const struct takt_c_expr **factor, unsigned most)
{
    if (e->sort == TAKT_C_MUL) {
        const unsigned left = takt__c_factors(e->part[0], factor, most);
        return left + takt__c_factors(e->part[1], factor + left, most - left);
    }
    if (e->sort == TAKT_C_NEG ||
        (e->sort == TAKT_C_DIV && e->part[1]->steps == 0))
        return takt__c_factors(e->part[0], factor, most);
    if (e->steps == 0 || most == 0)
        return 0;
    *factor = e;
    return 1;
}

static bool runs_back(const struct takt_c_expr *index)
{
    if (index->sort == TAKT_C_SUB && index->part[1]->steps != 0)
        return true;
    for (unsigned i = 0; i < index->parts; i++)
        if (runs_back(index->part[i]))
            return true;
    return false;
}

bool takt__c_is_mirrored(const struct takt_c_expr *e)
{
    for (unsigned i = 0; i < e->parts; i++)
        if (e->sort == TAKT_C_ACCESS ? runs_back(e->part[i])
                                     : takt__c_is_mirrored(e->part[i]))
            return true;
    return false;
}
