/* SPDX-License-Identifier: MIT */
/*
 * tune_stage.c - the operands of a cell, laid out in one arena.
 *
 * Pages that nobody touched yet would be paid for by whoever is timed first,
 * and touching them takes longer than most cells; so all cells share memory.
 * Copies of a large call lie behind one another, more than two last-level
 * caches of them, so that the next one is cold.
 */
#include <stdlib.h>
#include <string.h>

#include "bench_operands.h"
#include "tune.h"

enum { align_bytes = 64, pattern_elements = 4096, apart_bytes = 4160 };

static size_t rounded(size_t bytes)
{
    return (bytes + align_bytes - 1) / align_bytes * align_bytes;
}

/* Values of ordinary size: see bench_operands.c. */
static void make_pattern(takt_dtype dtype, bool has_signs,
                         unsigned char pattern[pattern_elements * 8])
{
    uint32_t state = 12345;

    for (size_t i = 0; i < pattern_elements; i++) {
        state = state * 1664525u + 1013904223u;
        double value = 0.5 + (double)(state >> 8) * 0x1p-24;
        if (has_signs && (state >> 7 & 1) != 0)
            value = -value;
        const float rough = (float)value;
        if (dtype == TAKT_F64)
            memcpy(pattern + 8 * i, &value, sizeof value);
        else
            memcpy(pattern + 4 * i, &rough, sizeof rough);
    }
}

static bool is_signed(const takt_op *op)
{
    return strcmp(op->name, "sqrt") != 0 && strcmp(op->name, "log") != 0;
}

static void fill(unsigned char *out, size_t bytes, const unsigned char *pattern,
                 size_t pattern_bytes)
{
    for (size_t at = 0; at < bytes; at += pattern_bytes)
        memcpy(out + at, pattern,
               bytes - at < pattern_bytes ? bytes - at : pattern_bytes);
}

/* The arena only grows; its pages are all there. */
static bool reserve(struct stage *stage, size_t bytes)
{
    if (bytes <= stage->room)
        return true;
    free(stage->arena);
    stage->room = 0;
    stage->arena = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (stage->arena == NULL)
        return false;
    stage->room = bytes;
    memset(stage->arena, 0, bytes);
    return true;
}

/* Bytes of one copy with gaps: arrays whose addresses agree in their lower
 * twelve bits slow some loops down, and programs seldom have that. */
static size_t footprint(const struct operand_lengths *lengths, takt_dtype dtype)
{
    const size_t element = takt_dtype_size(dtype);
    size_t bytes = rounded(lengths->out * element + 8) + apart_bytes;

    for (int i = 0; i < 4; i++)
        if (lengths->in[i] > 0)
            bytes += rounded(lengths->in[i] * element) + apart_bytes;
    return rounded(bytes);
}

static void place(takt_call *call, const struct operand_lengths *lengths,
                  unsigned char *at, const unsigned char *pattern)
{
    const size_t element = takt_dtype_size(call->dtype);

    for (int i = 0; i < 4; i++) {
        if (lengths->in[i] == 0)
            continue;
        call->in[i] = at;
        fill(at, lengths->in[i] * element, pattern, pattern_elements * element);
        at += rounded(lengths->in[i] * element) + rounded(apart_bytes);
    }
    call->out = at;
    if (strcmp(call->op->name, "axpy") == 0)
        call->out = (void *)(uintptr_t)call->in[1];
}

static takt_call call_of(const struct series *series, takt_shape shape,
                         struct operand_lengths *lengths)
{
    takt_call call = {.op = series->op,
                      .dtype = series->dtype,
                      .flags = series->family->flags};

    *lengths = find_lengths(series->op, &shape);
    if (strcmp(series->op->name, "gemv") == 0 &&
        (call.flags & TAKT_TRANS_A) != 0) {
        const size_t m = lengths->out;
        lengths->out = lengths->in[1];
        lengths->in[1] = m;
    }
    call.shape = shape;
    set_values(series->op, &call);
    return call;
}

/* One to be run again and again, and so many that the others drop out of a
 * cache until their turn comes again: out of the last one, or, where that would
 * take too many, out of the one before. */
static size_t copies_of(const struct tune *tune, size_t bytes)
{
    const size_t l3 = tune->machine->l3_bytes;
    const size_t l2 = tune->machine->l2_bytes;
    const size_t cache = l3 > 0 && bytes > 2 * l3 / most_copies ? l3 : l2;
    const size_t copies = 2 * cache / (bytes + 1) + 2;

    return copies < most_copies ? copies : most_copies;
}

bool set_stage(struct tune *tune, const struct cell_plan *cell)
{
    struct stage *stage = &tune->stage;
    const struct series *series = cell->series;
    unsigned char pattern[pattern_elements * 8];
    struct operand_lengths lengths, small_lengths;
    const takt_call call = call_of(series, cell->shape, &lengths);

    stage->small =
        call_of(series, family_shape(series->family, series->family->low),
                &small_lengths);
    const size_t bytes = footprint(&lengths, series->dtype);
    const size_t small_bytes = footprint(&small_lengths, series->dtype);
    stage->copies = copies_of(tune, bytes);
    if (!reserve(stage, stage->copies * bytes + small_bytes))
        return false;
    make_pattern(series->dtype, is_signed(series->op), pattern);
    place(&stage->small, &small_lengths, stage->arena, pattern);
    for (size_t i = 0; i < stage->copies; i++) {
        stage->call[i] = call;
        place(&stage->call[i], &lengths, stage->arena + small_bytes + i * bytes,
              pattern);
    }
    stage->bytes = (double)bytes;
    for (int i = 0; i < 4; i++)
        stage->in_bytes[i] = lengths.in[i] * takt_dtype_size(series->dtype);
    return true;
}

void free_stage(struct stage *stage)
{
    free(stage->arena);
}

/* ---- in buffers ---------------------------------------------------------- */

/* A buffer for an operand; its address, or NULL: no memory. */
static void *make_buffer(struct tune *tune, size_t bytes,
                         const unsigned char *pattern, size_t pattern_bytes,
                         takt_buffer **out)
{
    void *host;

    if (takt_buffer_create(tune->ctx, bytes, NULL, out) != TAKT_OK ||
        takt_buffer_map(*out, TAKT_MAP_WRITE | TAKT_MAP_DISCARD, &host) !=
            TAKT_OK)
        return NULL;
    fill(host, bytes, pattern, pattern_bytes);
    takt_buffer_unmap(*out);
    return host;
}

/* A result as small as that of a reduction goes to the host, as in programs. */
bool set_resident_stage(struct tune *tune, const struct cell_plan *cell,
                        struct resident_stage *out)
{
    const struct series *series = cell->series;
    const size_t element = takt_dtype_size(series->dtype);
    const size_t pattern_bytes = pattern_elements * element;
    unsigned char pattern[pattern_elements * 8];
    struct operand_lengths lengths;

    *out = (struct resident_stage){.is_async = true};
    out->call = call_of(series, cell->shape, &lengths);
    make_pattern(series->dtype, is_signed(series->op), pattern);
    for (int i = 0; i < 4; i++) {
        if (lengths.in[i] == 0)
            continue;
        out->call.in[i] = make_buffer(tune, lengths.in[i] * element, pattern,
                                      pattern_bytes, &out->buffer[i]);
        if (out->call.in[i] == NULL)
            return false;
    }
    if (strcmp(series->op->name, "axpy") == 0) {
        out->call.out = (void *)(uintptr_t)out->call.in[1];
        return true;
    }
    out->is_async = lengths.out * element > sizeof out->result;
    out->call.out = !out->is_async
                        ? out->result
                        : make_buffer(tune, lengths.out * element, pattern,
                                      pattern_bytes, &out->buffer[4]);
    return out->call.out != NULL;
}

void free_resident_stage(struct resident_stage *stage)
{
    for (int i = 0; i < 5; i++)
        takt_buffer_destroy(stage->buffer[i]);
}

/* Every word is read and written as it was; the compiler must not see that. */
double rewrite_inputs(struct stage *stage, size_t copy)
{
    const double start = tune_now();

    for (int i = 0; i < 4; i++) {
        uint64_t *word = (uint64_t *)(uintptr_t)stage->call[copy].in[i];
        for (size_t at = 0; at < stage->in_bytes[i] / sizeof *word; at++) {
            uint64_t value = word[at];
            __asm__ volatile("" : "+r"(value));
            word[at] = value;
        }
    }
    return tune_now() - start;
}
