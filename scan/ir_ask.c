/* SPDX-License-Identifier: MIT */
/*
 * ir_ask.c - compares expressions, and looks what is in one.
 */
#include "ir.h"

#include <math.h>
#include <string.h>

bool takt__ir_is_float(enum takt_ir_element element)
{
    return element == TAKT_IR_F32 || element == TAKT_IR_F64 ||
           element == TAKT_IR_FLOAT;
}

bool takt__ir_same_text(struct takt_text a, struct takt_text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

bool takt__ir_same(const struct takt_ir_expr *a, const struct takt_ir_expr *b)
{
    if (a == NULL || b == NULL)
        return false;
    if (a == b)
        return true;
    if (a->sort != b->sort || a->parts != b->parts || a->loops != b->loops ||
        !takt__ir_same_text(a->text, b->text))
        return false;
    if (a->sort == TAKT_IR_NUMBER)
        return !(a->number < b->number) && !(a->number > b->number);
    if (a->sort == TAKT_IR_OPAQUE)
        return false;
    for (unsigned i = 0; i < a->parts; i++)
        if (!takt__ir_same(a->part[i], b->part[i]))
            return false;
    return true;
}

bool takt__ir_mentions(const struct takt_ir_expr *in,
                       const struct takt_ir_expr *what)
{
    if (takt__ir_same(in, what))
        return true;
    for (unsigned i = 0; i < in->parts; i++)
        if (takt__ir_mentions(in->part[i], what))
            return true;
    return false;
}

/* Whether each term of one that changes is in the other. */
static bool has_steps_of(const struct takt_ir_expr *whole,
                         const struct takt_ir_expr *e)
{
    if (e->loops == 0)
        return true;
    if (e->sort == TAKT_IR_ADD)
        return has_steps_of(whole, e->part[0]) &&
               has_steps_of(whole, e->part[1]);
    return takt__ir_mentions(whole, e);
}

/* Whether a name that does not change is in one and not in the other. */
static bool has_more_names(const struct takt_ir_expr *e,
                           const struct takt_ir_expr *than)
{
    if (e->sort == TAKT_IR_NAME)
        return !takt__ir_mentions(than, e);
    for (unsigned i = 0; i < e->parts; i++)
        if (has_more_names(e->part[i], than))
            return true;
    return false;
}

bool takt__ir_is_other_row(const struct takt_ir_expr *a,
                           const struct takt_ir_expr *b)
{
    if (a->loops == 0 && b->loops == 0)
        return true;
    return a->loops == b->loops && has_steps_of(a, b) && has_steps_of(b, a) &&
           has_more_names(a, b) && has_more_names(b, a);
}

bool takt__ir_varies(const struct takt_ir_expr *e)
{
    if (e->is_varying)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__ir_varies(e->part[i]))
            return true;
    return false;
}

bool takt__ir_has_access(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_ACCESS)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__ir_has_access(e->part[i]))
            return true;
    return false;
}

bool takt__ir_is_gathered(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_ACCESS)
        return e->loops != 0;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__ir_is_gathered(e->part[i]))
            return true;
    return false;
}

bool takt__ir_reads(const struct takt_ir_expr *e, struct takt_text base)
{
    if (e->sort == TAKT_IR_ACCESS && takt__ir_same_text(e->text, base))
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__ir_reads(e->part[i], base))
            return true;
    return false;
}

bool takt__ir_is_plain_index(const struct takt_ir_expr *e)
{
    return e != NULL && !takt__ir_is_gathered(e) && !takt__ir_varies(e);
}

bool takt__ir_is_comparison(const struct takt_ir_expr *e)
{
    return e != NULL && (e->sort == TAKT_IR_LESS || e->sort == TAKT_IR_GREATER);
}

bool takt__ir_is_call(const struct takt_ir_expr *e, const char *name)
{
    return e->sort == TAKT_IR_CALL && takt__text_is(e->text, name);
}

bool takt__ir_is_number(const struct takt_ir_expr *e, double number)
{
    return e->sort == TAKT_IR_NUMBER && fabs(e->number - number) < 1e-12;
}

unsigned takt__ir_factors(const struct takt_ir_expr *e,
                          const struct takt_ir_expr **factor, unsigned most)
{
    if (e->sort == TAKT_IR_MUL) {
        const unsigned left = takt__ir_factors(e->part[0], factor, most);
        return left + takt__ir_factors(e->part[1], factor + left, most - left);
    }
    if (e->sort == TAKT_IR_NEG ||
        (e->sort == TAKT_IR_DIV && e->part[1]->loops == 0))
        return takt__ir_factors(e->part[0], factor, most);
    if (e->loops == 0 || most == 0)
        return 0;
    *factor = e;
    return 1;
}

static bool runs_back(const struct takt_ir_expr *index)
{
    if (index->sort == TAKT_IR_SUB && index->part[1]->loops != 0)
        return true;
    for (unsigned i = 0; i < index->parts; i++)
        if (runs_back(index->part[i]))
            return true;
    return false;
}

bool takt__ir_is_mirrored(const struct takt_ir_expr *e)
{
    for (unsigned i = 0; i < e->parts; i++)
        if (e->sort == TAKT_IR_ACCESS ? runs_back(e->part[i])
                                      : takt__ir_is_mirrored(e->part[i]))
            return true;
    return false;
}
