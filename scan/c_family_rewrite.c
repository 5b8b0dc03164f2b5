/* SPDX-License-Identifier: MIT */
/*
 * c_family_rewrite.c - which call does what the loops do, and with what.
 *
 * The loops stay where they are, for what the call refuses (arrays that
 * overlap, sizes that make no sense): it has touched nothing then. So the call
 * needs not be right about what only shows when it runs.
 */
#include "c_family_rewrite.h"

#include <stdio.h>
#include <string.h>

static const char *suffix_of(enum takt_ir_element element)
{
    return element == TAKT_IR_F64 ? "f64" : "f32";
}

static bool write_call(struct takt_rw_call *call)
{
    const struct takt_rw_nest *nest = call->nest;

    if (nest->loops > 1)
        return takt__rw_write_matrices(call);
    if (nest->stmts != 1)
        return false;
    return takt__node_is(nest->stmt[0].left, "identifier")
               ? takt__rw_local(nest, nest->stmt[0].left) == NULL &&
                     takt__rw_write_reduction(call)
               : takt__rw_write_elements(call);
}

/* A float in between would round what doubles hold, and the other way round. */
static bool do_locals_fit(const struct takt_rw_call *call)
{
    for (unsigned i = 0; i < call->nest->locals; i++)
        if (!call->nest->local[i].is_pointer &&
            call->nest->local[i].element != call->element)
            return false;
    return true;
}

/* What stands around the loop must take another statement in its place, and
 * what counts must not be read behind it. */
static bool may_replace(const struct takt_rw_nest *nest, TSNode loop)
{
    const struct takt_c_place *place = nest->place;
    bool is_around = false;

    if (place->depth < 2 ||
        !takt__node_is(place->at[place->depth - 2], "compound_statement"))
        return false;
    for (unsigned i = 0; i + 1 < place->depth; i++)
        is_around |= takt__c_is_loop(place->at[i]);
    for (unsigned i = 0; i < nest->loops; i++)
        if (!nest->loop[i].is_declared &&
            (is_around ||
             !takt__rw_is_dead_behind(place, loop, nest->loop[i].var)))
            return false;
    return true;
}

void takt__c_rewrite(const struct takt_c_place *place, TSNode loop,
                     struct takt_finding *out)
{
    struct takt_rw_nest nest = {.place = place, .source = place->source};
    struct takt_rw_call call = {.nest = &nest};
    char before[3 * TAKT_RW_TEXT];
    struct takt_text text = {before, 0};

    if (out->certainty != TAKT_EXACT || !out->is_dtype_known ||
        takt__word_in(out->op->name,
                      "softmax layernorm attention conv2d pooling variance") ||
        !takt__rw_read(&nest, loop) || !may_replace(&nest, loop) ||
        !write_call(&call) || !do_locals_fit(&call))
        return;
    const struct takt_text target =
        takt__node_text(place->source, nest.stmt[0].left);
    const char *suffix = suffix_of(call.element);
    int length;
    if (call.target.rank > 0 || nest.loops > 1)
        length =
            snprintf(before, sizeof before, "if (takt_%s_%s(%s) != TAKT_OK)",
                     call.name, suffix, call.arguments.at);
    else
        length = snprintf(
            before, sizeof before,
            "{\n    %s takt_total;\n    if (takt_%s_%s(%s, &takt_total) == "
            "TAKT_OK)\n        %.*s += takt_total;\n    else",
            call.element == TAKT_IR_F64 ? "double" : "float", call.name, suffix,
            call.arguments.at, (int)target.size, target.at);
    text.size = (size_t)length;
    if (length > 0 && (size_t)length < sizeof before)
        out->rewrite = takt__source_keep(place->source, &text, 1);
}
