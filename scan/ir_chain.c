/* SPDX-License-Identifier: MIT */
/*
 * ir_chain.c - loops that are expressions: what iterator chains and
 * comprehensions gather into one number, or collect into an array.
 */
#include "ir.h"

/* The text of what is collected; no name of a program's. */
static const char collected[] = "(collected)";

bool takt__ir_is_collected(const struct takt_ir_expr *e)
{
    return e != NULL && e->text.at == collected;
}

struct takt_ir_loop *takt__ir_open(struct takt_ir_nest *nest)
{
    if (nest->loop_count == TAKT_IR_LOOPS)
        return NULL;
    const uint32_t bit = UINT32_C(1) << nest->loop_count;
    struct takt_ir_loop *loop = &nest->loop[nest->loop_count++];
    nest->around |= bit;
    nest->open = nest->loop_count;
    *loop =
        (struct takt_ir_loop){.bit = bit, .around = nest->around, .stride = 1};
    return loop;
}

bool takt__ir_store(struct takt_ir_nest *nest, enum takt_ir_effect effect,
                    struct takt_ir_expr *target, struct takt_ir_expr *value)
{
    struct takt_ir_stmt stmt = {.effect = effect,
                                .target = target,
                                .value = value,
                                .around = nest->around};

    if (target == NULL || value == NULL ||
        (target->sort != TAKT_IR_NAME && target->sort != TAKT_IR_ACCESS))
        return false;
    if (nest->loop_count > 0)
        takt__ir_simplify(nest, &stmt);
    return takt__ir_add(nest, stmt);
}

struct takt_ir_expr *takt__ir_result(struct takt_ir_nest *nest,
                                     struct takt_ir_type type)
{
    static const char names[] = "(0)(1)(2)(3)(4)(5)(6)(7)";
    const struct takt_text text = {names + 3 * (nest->results++ % 8), 3};

    type.rank = 0;
    struct takt_ir_expr *e = takt__ir_name(nest, text, type);
    if (e == NULL)
        return NULL;
    e->is_varying = true;
    return nest->around == 0 || takt__ir_store(nest, TAKT_IR_STORE, e,
                                               takt__ir_number(nest, 0))
               ? e
               : NULL;
}

struct takt_ir_expr *takt__ir_collected(struct takt_ir_nest *nest,
                                        struct takt_ir_expr *at)
{
    struct takt_ir_expr *e = takt__ir_new(nest, TAKT_IR_ACCESS);

    for (unsigned i = 0; i < nest->prefixes; i++)
        e = takt__ir_part(e, nest->prefix[i]);
    if (at != NULL)
        e = takt__ir_part(e, at);
    if (e != NULL) {
        e->text = (struct takt_text){collected, sizeof collected - 1};
        e->type.kind = TAKT_IR_ARRAY;
    }
    return e;
}

struct takt_ir_expr *takt__ir_rounds(struct takt_ir_nest *nest)
{
    uint32_t loops = 0;

    for (unsigned i = 0; i < nest->loop_count; i++)
        if (nest->around & (UINT32_C(1) << i))
            loops |= nest->loop[i].bit;
    return takt__ir_count(nest, (struct takt_text){"", 0}, loops);
}
