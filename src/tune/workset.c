/* SPDX-License-Identifier: MIT */
/*
 * workset.c - the operands of a cell, laid out in one arena.
 *
 * The first access to a page costs more than most cells and would be part of
 * the first sample; so all cells share memory. Copies of a large call lie
 * behind one another, more than two last-level caches of them, so that the next
 * one is in no cache.
 */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "tune/inside.h"
#include "tune/operands.h"

/* The arena only grows; all of its pages have been written. */
static bool reserve(struct takt_workset *workset, size_t bytes)
{
    if (bytes <= workset->capacity)
        return true;
    free(workset->arena);
    workset->capacity = 0;
    workset->arena = aligned_alloc(4096, takt__size_round_up(bytes, 4096));
    if (workset->arena == NULL)
        return false;
    workset->capacity = bytes;
    memset(workset->arena, 0, bytes);
    return true;
}

/* One to be run again and again, and so many that the others drop out of a
 * cache until their turn comes again: out of the last one, or, where that would
 * take too many, out of the one before. */
static size_t copies_of(const struct takt_tuning *tuning, size_t bytes)
{
    const size_t l3 = tuning->machine->l3_bytes;
    const size_t l2 = tuning->machine->l2_bytes;
    const size_t cache = l3 > 0 && bytes > 2 * l3 / TAKT_TUNE_COPIES ? l3 : l2;
    const size_t copies = 2 * cache / (bytes + 1) + 2;

    return copies < TAKT_TUNE_COPIES ? copies : TAKT_TUNE_COPIES;
}

static bool call_of(const struct takt_tune_series *series,
                    const takt_shape *shape, takt_call *out,
                    struct takt_lengths *lengths)
{
    return takt__timed_call(series->op, series->dtype, shape,
                            series->family->flags, out, lengths) == TAKT_OK;
}

bool takt__workset_fill(struct takt_tuning *tuning,
                        const struct takt_tune_cell *cell)
{
    struct takt_workset *workset = &tuning->workset;
    const struct takt_tune_series *series = cell->series;
    const takt_shape low =
        takt__family_shape(series->family, series->family->low);
    struct takt_lengths lengths, small_lengths;
    struct takt_fill_pattern pattern;
    takt_call call;

    if (!call_of(series, &low, &workset->small, &small_lengths) ||
        !call_of(series, &cell->shape, &call, &lengths))
        return false;
    const size_t bytes = takt__operands_bytes(&lengths, series->dtype);
    const size_t small_bytes =
        takt__operands_bytes(&small_lengths, series->dtype);
    workset->copies = copies_of(tuning, bytes);
    if (!reserve(workset, workset->copies * bytes + small_bytes))
        return false;
    takt__pattern_make(series->op, series->dtype, &pattern);
    takt__operands_place(&workset->small, &small_lengths, &pattern,
                         workset->arena);
    for (size_t i = 0; i < workset->copies; i++) {
        workset->call[i] = call;
        takt__operands_place(&workset->call[i], &lengths, &pattern,
                             workset->arena + small_bytes + i * bytes);
    }
    for (int i = 0; i < TAKT_OUT; i++)
        workset->in_bytes[i] = lengths.of[i] * takt_dtype_size(series->dtype);
    return true;
}

/* Every word is read and written as it was; the compiler must not see that. */
double takt__workset_rewrite(struct takt_workset *workset, size_t copy)
{
    const double start = takt__tune_now();

    for (int i = 0; i < TAKT_OUT; i++) {
        uint64_t *word = (uint64_t *)(uintptr_t)workset->call[copy].in[i];
        for (size_t at = 0; at < workset->in_bytes[i] / sizeof *word; at++) {
            uint64_t value = word[at];
            __asm__ volatile("" : "+r"(value));
            word[at] = value;
        }
    }
    return takt__tune_now() - start;
}

/* ---- in buffers ---- */

/* A buffer for an operand; its address, or NULL: no memory. `call` is that of
 * the first input, else NULL. */
static void *make_buffer(struct takt_tuning *tuning, size_t bytes,
                         const struct takt_fill_pattern *pattern,
                         const takt_call *call, takt_buffer **out)
{
    void *host;

    if (takt_buffer_create(tuning->ctx, bytes, NULL, out) != TAKT_OK ||
        takt_buffer_map(*out, TAKT_MAP_WRITE | TAKT_MAP_DISCARD, &host) !=
            TAKT_OK)
        return NULL;
    takt__pattern_fill(pattern, host, bytes);
    if (call != NULL)
        takt__pattern_finish(call, host);
    takt_buffer_unmap(*out);
    return host;
}

/* A result as small as that of a reduction goes to the host, as in programs. */
bool takt__gpu_workset_fill(struct takt_tuning *tuning,
                            const struct takt_tune_cell *cell,
                            struct takt_gpu_workset *out)
{
    const struct takt_tune_series *series = cell->series;
    const size_t element = takt_dtype_size(series->dtype);
    struct takt_lengths lengths;
    struct takt_fill_pattern pattern;

    *out = (struct takt_gpu_workset){.is_async = true};
    if (!call_of(series, &cell->shape, &out->call, &lengths))
        return false;
    takt__pattern_make(series->op, series->dtype, &pattern);
    for (int i = 0; i < TAKT_OUT; i++) {
        if (lengths.of[i] == 0)
            continue;
        out->call.in[i] =
            make_buffer(tuning, lengths.of[i] * element, &pattern,
                        i == 0 ? &out->call : NULL, &out->buffer[i]);
        if (out->call.in[i] == NULL)
            return false;
    }
    const size_t out_bytes = lengths.of[TAKT_OUT] * element;
    out->is_async = out_bytes > sizeof out->result;
    if (takt__is_in_place(series->op)) {
        out->is_async = true;
        out->call.out = (void *)(uintptr_t)out->call.in[1];
    } else if (out->is_async) {
        out->call.out = make_buffer(tuning, out_bytes, &pattern, NULL,
                                    &out->buffer[TAKT_OUT]);
    } else {
        out->call.out = out->result;
    }
    return out->call.out != NULL;
}

void takt__gpu_workset_free(struct takt_gpu_workset *workset)
{
    for (int i = 0; i < TAKT_OPERANDS; i++)
        takt_buffer_destroy(workset->buffer[i]);
}
