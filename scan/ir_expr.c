/* SPDX-License-Identifier: MIT */
/*
 * ir_expr.c - makes expressions: arithmetic, elements with their base and
 * indices, choices in the form of the function that makes them.
 */
#include "ir.h"

#include <stdlib.h>
#include <string.h>

struct takt_ir_expr *takt__ir_new(struct takt_ir_nest *nest,
                                  enum takt_ir_sort sort)
{
    if (nest->expr_count == TAKT_IR_EXPRS)
        return NULL;
    struct takt_ir_expr *e = &nest->expr[nest->expr_count++];
    *e = (struct takt_ir_expr){.sort = sort, .text = {"", 0}};
    return e;
}

struct takt_ir_expr *takt__ir_part(struct takt_ir_expr *e,
                                   struct takt_ir_expr *part)
{
    if (e == NULL || part == NULL || e->parts == TAKT_IR_PARTS)
        return NULL;
    e->part[e->parts++] = part;
    e->loops |= part->loops;
    return e;
}

bool takt__ir_operator(struct takt_text sign, enum takt_ir_sort *out)
{
    static const struct {
        const char *sign;
        enum takt_ir_sort sort;
    } signs[] = {{"+", TAKT_IR_ADD},     {"-", TAKT_IR_SUB},
                 {"*", TAKT_IR_MUL},     {"/", TAKT_IR_DIV},
                 {"<", TAKT_IR_LESS},    {"<=", TAKT_IR_LESS},
                 {">", TAKT_IR_GREATER}, {">=", TAKT_IR_GREATER}};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (takt__text_is(sign, signs[i].sign)) {
            *out = signs[i].sort;
            return true;
        }
    return false;
}

struct takt_ir_expr *takt__ir_pair(struct takt_ir_nest *nest,
                                   enum takt_ir_sort sort,
                                   struct takt_ir_expr *a,
                                   struct takt_ir_expr *b)
{
    return takt__ir_part(takt__ir_part(takt__ir_new(nest, sort), a), b);
}

struct takt_ir_expr *takt__ir_name(struct takt_ir_nest *nest,
                                   struct takt_text text,
                                   struct takt_ir_type type)
{
    struct takt_ir_expr *e = takt__ir_new(nest, TAKT_IR_NAME);

    if (e != NULL) {
        e->text = text;
        e->type = type;
    }
    return e;
}

struct takt_ir_expr *takt__ir_opaque(struct takt_ir_nest *nest, uint32_t steps)
{
    struct takt_ir_expr *e = takt__ir_new(nest, TAKT_IR_OPAQUE);

    if (e != NULL)
        e->loops = steps;
    return e;
}

struct takt_ir_expr *takt__ir_field(struct takt_ir_nest *nest,
                                    const struct takt_source *source,
                                    const struct takt_ir_expr *of,
                                    struct takt_text name,
                                    struct takt_ir_type type)
{
    const struct takt_text part[] = {of->text, {".", 1}, name};
    struct takt_ir_expr *e = takt__ir_new(nest, TAKT_IR_ACCESS);

    if (e == NULL)
        return NULL;
    const char *text = takt__source_keep(source, part, 3);
    *e = *of;
    e->sort = TAKT_IR_ACCESS;
    e->text = (struct takt_text){text, strlen(text)};
    e->type = type;
    e->type.rank += e->parts;
    e->is_field = true;
    return e;
}

struct takt_ir_expr *takt__ir_typed(struct takt_ir_nest *nest,
                                    struct takt_ir_expr *e,
                                    struct takt_ir_type type)
{
    if (e->sort != TAKT_IR_NAME && e->sort != TAKT_IR_ADDRESS)
        return e;
    struct takt_ir_expr *typed = takt__ir_new(nest, e->sort);
    if (typed != NULL) {
        *typed = *e;
        typed->type = type;
    }
    return typed;
}

/* An address of what a name or another address points to. */
struct takt_ir_expr *takt__ir_address(struct takt_ir_nest *nest,
                                      const struct takt_ir_expr *of)
{
    if (of == NULL || of->is_varying ||
        (of->sort != TAKT_IR_NAME && of->sort != TAKT_IR_ADDRESS &&
         of->sort != TAKT_IR_ACCESS))
        return NULL;
    struct takt_ir_expr *e = takt__ir_new(nest, TAKT_IR_ADDRESS);
    if (e == NULL)
        return NULL;
    *e = *of;
    e->sort = TAKT_IR_ADDRESS;
    return e;
}

/* The address moved by an offset, in its last index. */
struct takt_ir_expr *takt__ir_moved(struct takt_ir_nest *nest,
                                    struct takt_ir_expr *from,
                                    struct takt_ir_expr *by)
{
    if (from == NULL || by == NULL)
        return NULL;
    if (from->parts == 0)
        return takt__ir_part(from, by);
    struct takt_ir_expr *sum =
        takt__ir_pair(nest, TAKT_IR_ADD, from->part[from->parts - 1], by);
    if (sum == NULL)
        return NULL;
    from->part[from->parts - 1] = sum;
    from->loops |= sum->loops;
    return from;
}

/* The element at an index. An address that was moved takes it into its last
 * index; an element that is a row has one index more. */
struct takt_ir_expr *takt__ir_element(struct takt_ir_nest *nest,
                                      const struct takt_ir_expr *base,
                                      struct takt_ir_expr *index)
{
    struct takt_ir_expr *e = takt__ir_address(nest, base);

    if (e == NULL || index == NULL)
        return NULL;
    if (base->sort == TAKT_IR_ADDRESS && base->parts > 0)
        e = takt__ir_moved(nest, e, index);
    else
        e = takt__ir_part(e, index);
    if (e != NULL)
        e->sort = TAKT_IR_ACCESS;
    return e;
}

struct takt_ir_expr *takt__ir_offset(struct takt_ir_nest *nest,
                                     enum takt_ir_sort sort,
                                     struct takt_ir_expr *a,
                                     struct takt_ir_expr *b)
{
    if (a == NULL || b == NULL)
        return NULL;

    const bool is_pointer = a->sort == TAKT_IR_ADDRESS ||
                            (a->sort == TAKT_IR_NAME && a->type.rank > 0);

    if (!is_pointer || sort != TAKT_IR_ADD)
        return takt__ir_pair(nest, sort, a, b);
    return takt__ir_moved(nest, takt__ir_address(nest, a), b);
}

/* ---- values -------------------------------------------------------------- */

/* -x, x * -1. */
static bool is_negative(const struct takt_ir_expr *e,
                        const struct takt_ir_expr *x)
{
    if (e->sort == TAKT_IR_NEG)
        return takt__ir_same(e->part[0], x);
    return e->sort == TAKT_IR_MUL && ((takt__ir_is_number(e->part[1], -1) &&
                                       takt__ir_same(e->part[0], x)) ||
                                      (takt__ir_is_number(e->part[0], -1) &&
                                       takt__ir_same(e->part[1], x)));
}

static struct takt_ir_expr *call(struct takt_ir_nest *nest, const char *name,
                                 struct takt_ir_expr *a, struct takt_ir_expr *b)
{
    struct takt_ir_expr *e = takt__ir_part(takt__ir_call(nest, name), a);

    return b == NULL ? e : takt__ir_part(e, b);
}

static bool is_limit_of(const struct takt_ir_expr *e,
                        const struct takt_ir_expr *x)
{
    return (takt__ir_is_call(e, "fmax") || takt__ir_is_call(e, "fmin")) &&
           takt__ir_mentions(e, x);
}

struct takt_ir_expr *takt__ir_pick(struct takt_ir_nest *nest,
                                   struct takt_ir_expr *test,
                                   struct takt_ir_expr *yes,
                                   struct takt_ir_expr *no)
{
    if (test == NULL || yes == NULL || no == NULL)
        return NULL;
    if (takt__ir_is_comparison(test)) {
        struct takt_ir_expr *a = test->part[0], *b = test->part[1];
        const bool is_less = test->sort == TAKT_IR_LESS;
        if (takt__ir_same(yes, a) && takt__ir_same(no, b))
            return call(nest, is_less ? "fmin" : "fmax", a, b);
        if (takt__ir_same(yes, b) &&
            (takt__ir_same(no, a) || is_limit_of(no, a)))
            return call(nest, is_less ? "fmax" : "fmin", no, b);
        if (takt__ir_is_number(b, 0) && takt__ir_same(is_less ? no : yes, a) &&
            is_negative(is_less ? yes : no, a))
            return call(nest, "fabs", a, NULL);
    }
    return takt__ir_part(takt__ir_pair(nest, TAKT_IR_PICK, test, yes), no);
}

struct takt_ir_expr *takt__ir_number(struct takt_ir_nest *nest, double number)
{
    struct takt_ir_expr *e = takt__ir_new(nest, TAKT_IR_NUMBER);

    if (e != NULL)
        e->number = number;
    return e;
}

struct takt_ir_expr *takt__ir_count(struct takt_ir_nest *nest,
                                    struct takt_text text, uint32_t loops)
{
    struct takt_ir_expr *e = takt__ir_new(nest, TAKT_IR_COUNT);

    if (e != NULL) {
        e->loops = loops;
        e->text = text;
    }
    return e;
}

struct takt_ir_expr *takt__ir_call(struct takt_ir_nest *nest, const char *name)
{
    struct takt_ir_expr *e = takt__ir_new(nest, TAKT_IR_CALL);

    if (e != NULL)
        e->text = (struct takt_text){name, strlen(name)};
    return e;
}

struct takt_ir_expr *takt__ir_negative(struct takt_ir_nest *nest,
                                       struct takt_ir_expr *e)
{
    if (e != NULL && e->sort == TAKT_IR_NUMBER)
        return takt__ir_number(nest, -e->number);
    return takt__ir_part(takt__ir_new(nest, TAKT_IR_NEG), e);
}

struct takt_ir_expr *takt__ir_opposite(struct takt_ir_nest *nest,
                                       const struct takt_ir_expr *e)
{
    if (e != NULL && takt__ir_is_call(e, "asked"))
        return takt__ir_part(
            takt__ir_part(takt__ir_call(nest, "asked"), e->part[1]),
            e->part[0]);
    return takt__ir_is_comparison(e)
               ? takt__ir_pair(nest,
                               e->sort == TAKT_IR_LESS ? TAKT_IR_GREATER
                                                       : TAKT_IR_LESS,
                               e->part[0], e->part[1])
               : NULL;
}

struct takt_ir_expr *takt__ir_binary(struct takt_ir_nest *nest,
                                     struct takt_text sign,
                                     struct takt_ir_expr *a,
                                     struct takt_ir_expr *b, bool is_index)
{
    enum takt_ir_sort sort;

    if (a == NULL || b == NULL)
        return NULL;
    if (takt__ir_operator(sign, &sort))
        return takt__ir_offset(nest, sort, a, b);
    return is_index && !takt__ir_has_access(a) && !takt__ir_has_access(b)
               ? takt__ir_opaque(nest, a->loops | b->loops)
               : NULL;
}

struct takt_ir_expr *takt__ir_literal(struct takt_ir_nest *nest,
                                      struct takt_text text)
{
    char digits[48];
    size_t size = 0;

    for (size_t i = 0; i < text.size && size + 1 < sizeof digits; i++)
        if (text.at[i] != '_')
            digits[size++] = text.at[i];
    digits[size] = '\0';
    return takt__ir_number(nest, strtod(digits, NULL));
}
