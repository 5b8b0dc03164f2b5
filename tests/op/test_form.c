/* SPDX-License-Identifier: MIT */
/*
 * test_form.c - every form's entry is complete, and what follows from it
 * agrees: sizes, operands, work, key and parts.
 *
 * Shapes are drawn at random; nothing is computed, so operands are addresses
 * alone.
 */
#include "op/form.h"

#include <stdint.h>
#include <string.h>

#include "op/admit.h"
#include "op/key.h"
#include "op/part.h"
#include "support/tap.h"

enum { draws = 200 };

static uint64_t state = 1;

/* From 1 to `most`. */
static size_t draw(size_t most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 1 + (size_t)(state >> 33) % most;
}

static const struct takt_form_entry *form_at(size_t op)
{
    return takt__op_form(takt_op_at(op));
}

/* An admitted call of random sizes; false: its form says nothing of them. */
static bool draw_call(size_t op, takt_call *call)
{
    const struct takt_form_entry *form = form_at(op);
    const unsigned more = form->rank_max - form->rank_min;
    takt_status status;
    bool is_empty;

    if (form->is_opaque)
        return false;
    do {
        *call = (takt_call){.op = takt_op_at(op),
                            .alpha = 1,
                            .beta = 2,
                            .flags = (unsigned)draw(16) & form->flags};
        call->shape.rank = form->rank_min + (unsigned)draw(more + 1) - 1;
        for (unsigned i = 0; i < call->shape.rank; i++)
            call->shape.dim[i] = draw(i < 4 ? 40 : 4);
        if (form->is_square)
            call->shape.dim[1] = call->shape.dim[0];
        if (form->is_tall)
            call->shape.dim[0] += call->shape.dim[1];
        for (unsigned i = 0; i < 4; i++)
            if (i < call->op->inputs ||
                (form->in[i].is_optional && draw(2) == 1))
                call->in[i] = (char *)((uintptr_t)(i + 1) << 32);
        call->out = (char *)((uintptr_t)9 << 32);
        if (takt__op_id(call->op) == TAKT_OP_axpy)
            call->in[1] = call->out;
        status = takt__admit(call, &is_empty);
        EXPECT(status == TAKT_OK || form->window != NULL);
    } while (status != TAKT_OK); /* a window that does not fit */
    return true;
}

static double product_of(const struct takt_dim_list *dims, const size_t *d)
{
    double all = 1;

    for (unsigned i = 0; i < dims->count; i++)
        all *= (double)d[dims->of[i]];
    return all;
}

/* ---- the entries -----------------------------------------------------------
 */

/* Sizes in a shape text, without and with those in brackets. */
static void the_text_names_every_size(void)
{
    for (unsigned f = 0; f < TAKT_FORMS; f++) {
        const struct takt_form_entry *form = &takt__forms[f];
        unsigned least = 1, most = 1;
        bool is_optional = false;
        if (form->rank_max == TAKT_SHAPE_MAX_RANK && form->is_opaque)
            continue; /* any number of sizes */
        for (const char *c = form->shape; *c != '\0'; c++) {
            is_optional |= *c == '[';
            most += *c == 'x';
            least += *c == 'x' && !is_optional;
        }
        TAP_CHECK(least == form->rank_min && most == form->rank_max, "%s",
                  form->shape);
    }
}

static void operands_are_made_of_dimensions_that_are_there(void)
{
    for (unsigned f = 0; f < TAKT_FORMS; f++) {
        const struct takt_form_entry *form = &takt__forms[f];
        for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
            const struct takt_form_operand *is = takt__form_operand(form, i);
            for (unsigned j = 0; j < is->dims.count; j++)
                EXPECT(is->dims.of[j] < form->rank_min ||
                       (form->window != NULL &&
                        is->dims.of[j] >= TAKT_DIM_OUT_H &&
                        is->dims.of[j] < TAKT_DIM_SUM) ||
                       (form->has_sum && is->dims.of[j] == TAKT_DIM_SUM));
            EXPECT(!is->has_ld || is->dims.count == 2);
            EXPECT((is->swap & ~form->flags) == 0);
            EXPECT(is->swap == 0 || is->dims.count <= 2);
        }
        EXPECT(!form->is_cut ||
               (form->out.dims.count > 0 && form->out.dims.of[0] == 0));
    }
}

static void ops_have_the_inputs_their_form_describes(void)
{
    for (size_t op = 0; op < TAKT_OP_COUNT; op++)
        for (unsigned i = 0; i < 4 && !form_at(op)->is_opaque; i++)
            TAP_CHECK(i >= takt_op_at(op)->inputs ||
                          (form_at(op)->in[i].dims.count > 0 &&
                           !form_at(op)->in[i].is_optional),
                      "%s, input %u", takt_op_at(op)->name, i);
}

static void layouts_are_as_many_as_their_names(void)
{
    for (unsigned f = 0; f < TAKT_FORMS; f++) {
        const struct takt_form_entry *form = &takt__forms[f];
        const unsigned prefixes =
            form->prefixes.count == 0 ? 1 : form->prefixes.count;
        const unsigned names = form->names.count == 0 ? 1 : form->names.count;
        EXPECT_INT(form->layouts, prefixes * names);
        EXPECT((form->layout == NULL) == (form->layouts == 1));
    }
}

/* ---- what follows ----------------------------------------------------------
 */

static void lengths_are_those_of_the_rows(void)
{
    takt_call call;

    for (size_t op = 0; op < TAKT_OP_COUNT; op++)
        for (unsigned n = 0; n < draws && draw_call(op, &call); n++) {
            struct takt_lengths lengths;
            takt__lengths_of(&call, &lengths);
            EXPECT(!lengths.overflow);
            for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
                const struct takt_rows rows = takt__rows_of(&call, i);
                EXPECT_INT(lengths.of[i], rows.rows * rows.cols);
                EXPECT_INT(rows.ld, rows.cols); /* no gaps were asked for */
            }
        }
}

static void work_is_that_of_the_operands(void)
{
    takt_call call;

    for (size_t op = 0; op < TAKT_OP_COUNT; op++)
        for (unsigned n = 0; n < draws && draw_call(op, &call); n++) {
            const struct takt_op_entry *entry = takt__op_entry(call.op);
            const struct takt_form_entry *form = form_at(op);
            size_t memory[TAKT_DIMS], most = 0;
            const size_t *d = takt__form_dims(form, &call.shape, memory);
            const double steps = product_of(&form->over, d);
            struct takt_lengths lengths;
            double elements, flops, all = 0;
            takt__lengths_of(&call, &lengths);
            takt__form_work(entry, &call.shape, &elements, &flops);
            for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
                if (i < TAKT_OUT && form->in[i].is_optional)
                    continue;
                all += (double)lengths.of[i];
                most = lengths.of[i] > most ? lengths.of[i] : most;
            }
            const double outputs = product_of(&form->out.dims, d);
            TAP_CHECK(elements == all, "%s: %g elements, not %g", call.op->name,
                      elements, all);
            TAP_CHECK(flops ==
                          entry->flops * outputs * steps +
                              form->more_flops * product_of(&form->more, d),
                      "%s: %g operations", call.op->name, flops);
            EXPECT_INT(takt_op_elements(call.op, &call.shape), most);
        }
}

static void keys_lie_in_the_series_of_their_op(void)
{
    takt_call call;

    for (size_t op = 0; op < TAKT_OP_COUNT; op++)
        for (unsigned n = 0; n < draws && draw_call(op, &call); n++) {
            const struct takt_form_entry *form = form_at(op);
            takt_work work;
            enum takt_op_id id;
            unsigned user_op;
            takt_dtype dtype;
            char layout[TAKT_LAYOUT_NAME];
            EXPECT_INT(takt_op_work(call.op, call.dtype, &call.shape, &work),
                       TAKT_OK);
            const struct takt_key key = takt__key_of(
                call.op, call.dtype, &call.shape, call.flags, &work);
            takt__series_name(key.series, &id, &user_op, &dtype, layout);
            EXPECT_INT(id, op);
            EXPECT_INT(dtype, call.dtype);
            EXPECT_INT(takt__series_find(call.op, dtype, layout), key.series);
            EXPECT_INT(
                key.bucket,
                takt__bucket_of(form->counts_flops ? work.flops : work.bytes));
        }
}

/* ---- parts -----------------------------------------------------------------
 */

static const char *address_of(const takt_call *call, unsigned operand)
{
    return operand == TAKT_OUT ? call->out : call->in[operand];
}

static void the_parts_of_a_call_are_the_call(void)
{
    takt_call call;

    for (size_t op = 0; op < TAKT_OP_COUNT; op++)
        for (unsigned n = 0; n < draws && draw_call(op, &call); n++) {
            const unsigned cut = takt__call_cut(&call);
            const size_t all = call.shape.dim[0], first = draw(all) - 1;
            struct takt_lengths whole, left, right;
            takt_work work, here, there;
            if (cut == 0)
                continue;
            const takt_call a = takt__call_slice(&call, 0, 0, first);
            const takt_call b = takt__call_slice(&call, 0, first, all - first);
            takt__lengths_of(&call, &whole);
            takt__lengths_of(&a, &left);
            takt__lengths_of(&b, &right);
            for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
                const bool is_cut = (cut >> i & 1) != 0;
                EXPECT_INT(whole.of[i],
                           is_cut ? left.of[i] + right.of[i] : right.of[i]);
                EXPECT(address_of(&a, i) == address_of(&call, i));
                EXPECT_INT(address_of(&b, i) - address_of(&call, i),
                           is_cut ? left.of[i] * sizeof(float) : 0);
            }
            takt_op_work(call.op, call.dtype, &call.shape, &work);
            takt_op_work(a.op, a.dtype, &a.shape, &here);
            takt_op_work(b.op, b.dtype, &b.shape, &there);
            EXPECT(work.flops == here.flops + there.flops);
        }
}

static takt_status count_rows(void *self, const takt_call *part)
{
    const struct takt_rows out = takt__rows_of(part, TAKT_OUT);
    const char **next = self;

    EXPECT((const char *)part->out == *next);
    *next += out.rows * out.cols * sizeof(float);
    return TAKT_OK;
}

/* What comes out without gaps is covered in order, whatever it is cut at. */
static void the_rows_of_a_call_are_its_output(void)
{
    takt_call call;

    for (size_t op = 0; op < TAKT_OP_COUNT; op++)
        for (unsigned n = 0; n < draws && draw_call(op, &call); n++) {
            const struct takt_rows out = takt__rows_of(&call, TAKT_OUT);
            const size_t first = draw(out.rows) - 1;
            const char *next = call.out;
            if (!form_at(op)->accumulates)
                continue;
            takt__call_rows(&call, 0, first, count_rows, &next);
            takt__call_rows(&call, first, out.rows - first, count_rows, &next);
            EXPECT_INT(next - (const char *)call.out,
                       out.rows * out.cols * sizeof(float));
        }
}

int main(void)
{
    RUN(the_text_names_every_size);
    RUN(operands_are_made_of_dimensions_that_are_there);
    RUN(ops_have_the_inputs_their_form_describes);
    RUN(layouts_are_as_many_as_their_names);
    RUN(lengths_are_those_of_the_rows);
    RUN(work_is_that_of_the_operands);
    RUN(keys_lie_in_the_series_of_their_op);
    RUN(the_parts_of_a_call_are_the_call);
    RUN(the_rows_of_a_call_are_its_output);
    return tap_done();
}
