/* SPDX-License-Identifier: MIT */
/*
 * judge_window.c - sizes of nests of loops, and the windows that
 * convolutions and pooling move over their input: in[y + ky][x + kx].
 */
#include "judge.h"

#include <ctype.h>
#include <string.h>

/* ---- sizes --------------------------------------------------------------- */

void takt__tell_size(struct takt_found_size *size, enum takt_size_source source,
                     unsigned rank, const uint64_t *dim)
{
    bool is_known = false;

    for (unsigned i = 0; i < rank; i++)
        is_known |= dim[i] > 0;
    if (!is_known)
        return;
    size->source = source;
    size->shape.rank = rank;
    for (unsigned i = 0; i < rank; i++)
        size->shape.dim[i] = (size_t)dim[i];
}

uint64_t takt__judge_extent(const struct takt_ir_nest *nest, uint32_t bit,
                            enum takt_size_source *source)
{
    for (unsigned i = 0; i < nest->loop_count; i++)
        if (nest->loop[i].is_active && nest->loop[i].bit == bit) {
            if (nest->loop[i].extent > 0)
                *source = nest->loop[i].source;
            return nest->loop[i].extent;
        }
    return 0;
}

/* The loops of a set, the outermost first. */
unsigned takt__judge_bits(const struct takt_ir_nest *nest, uint32_t set,
                          uint32_t *bit, unsigned most)
{
    unsigned count = 0;

    for (unsigned i = 0; i < nest->loop_count && count < most; i++) {
        const uint32_t own = nest->loop[i].bit;
        if (!nest->loop[i].is_active || (own & set) == 0)
            continue;
        set &= ~own;
        bit[count++] = own;
    }
    return count;
}

void takt__judge_tell_sizes(struct takt_judged *j, const uint32_t *bit,
                            unsigned count)
{
    uint64_t dim[TAKT_SHAPE_MAX_RANK] = {0};
    enum takt_size_source source = TAKT_SIZE_UNKNOWN;

    for (unsigned i = 0; i < count; i++)
        dim[i] = takt__judge_extent(j->nest, bit[i], &source);
    takt__tell_size(&j->out->size, source, count, dim);
}

/* All loops together: N. */
void takt__judge_tell_product(struct takt_judged *j, uint32_t set)
{
    uint32_t bit[TAKT_IR_LOOPS];
    const unsigned count = takt__judge_bits(j->nest, set, bit, TAKT_IR_LOOPS);
    enum takt_size_source source = TAKT_SIZE_UNKNOWN;
    uint64_t all = 1;

    for (unsigned i = 0; i < count; i++)
        if (__builtin_mul_overflow(
                all, takt__judge_extent(j->nest, bit[i], &source), &all))
            all = 0;
    if (count > 0)
        takt__tell_size(&j->out->size, source, 1, &all);
}

/* ---- convolutions -------------------------------------------------------- */

/* Whether the loop runs as often as this says: i < k. */
static bool is_bound_of(const struct takt_ir_nest *nest,
                        const struct takt_ir_expr *e, uint32_t bit)
{
    for (unsigned i = 0; i < nest->loop_count; i++)
        if (nest->loop[i].bit == bit && nest->loop[i].to != NULL)
            return takt__ir_same(nest->loop[i].to, e);
    return false;
}

/* Whether the word is part of the text, without regard to case. */
static bool has(struct takt_text text, const char *word)
{
    const size_t size = strlen(word);

    for (size_t i = 0; i + size <= text.size; i++) {
        size_t k = 0;
        while (k < size && tolower((unsigned char)text.at[i + k]) == word[k])
            k++;
        if (k == size)
            return true;
    }
    return false;
}

static bool is_stride(const struct takt_judged *j, const struct takt_ir_expr *e,
                      uint32_t window, enum takt_window kind)
{
    enum takt_size_source source;

    if (e->sort == TAKT_IR_NUMBER)
        return e->number <= 4 &&
               (kind != TAKT_WINDOW_PRODUCT ||
                (uint64_t)e->number !=
                    takt__judge_extent(j->nest, window, &source));
    if (kind == TAKT_WINDOW_POOL && is_bound_of(j->nest, e, window))
        return true; /* windows that do not overlap */
    uint32_t bit[2]; /* with one loop alone, it is how far rows are apart */
    return e->sort == TAKT_IR_NAME &&
           takt__judge_bits(j->nest, j->bound, bit, 2) == 2 &&
           (has(e->text, "stride") || has(e->text, "step") ||
            has(e->text, "dilation") || has(e->text, "pool") ||
            takt__text_is(e->text, "s"));
}

/* The loop that a term counts with, by itself or in strides; 0: none. */
static uint32_t strided(const struct takt_judged *j,
                        const struct takt_ir_expr *e, uint32_t window,
                        enum takt_window kind)
{
    if (e->sort == TAKT_IR_COUNT)
        return e->loops;
    if (e->sort != TAKT_IR_MUL)
        return 0;
    for (unsigned i = 0; i < 2; i++)
        if (e->part[i]->sort == TAKT_IR_COUNT && e->part[1 - i]->loops == 0 &&
            is_stride(j, e->part[1 - i], window, kind))
            return e->part[i]->loops;
    return 0;
}

static unsigned terms_of(const struct takt_ir_expr *e,
                         const struct takt_ir_expr **term, unsigned most)
{
    if (e->sort == TAKT_IR_ADD || e->sort == TAKT_IR_SUB) {
        const unsigned left = terms_of(e->part[0], term, most);
        return left + terms_of(e->part[1], term + left, most - left);
    }
    if (most == 0 || e->loops == 0)
        return 0;
    *term = e;
    return 1;
}

/* y + ky: an index where a loop of the target meets one that is reduced. The
 * result counts how often. */
static unsigned windows(const struct takt_judged *j,
                        const struct takt_ir_expr *e, uint32_t ours,
                        uint32_t theirs, enum takt_window kind)
{
    const struct takt_ir_expr *term[8];
    const unsigned count = terms_of(e, term, 8);
    unsigned found = 0;

    for (unsigned a = 0; a < count; a++)
        for (unsigned b = 0; b < count; b++) {
            if (a == b || term[b]->sort != TAKT_IR_COUNT ||
                (term[b]->loops & theirs) == 0)
                continue;
            const uint32_t at = strided(j, term[a], term[b]->loops, kind);
            found += (at & ours) != 0;
        }
    for (unsigned a = 0; a < count; a++)
        for (unsigned i = 0;
             term[a]->sort != TAKT_IR_COUNT && i < term[a]->parts; i++)
            if (term[a]->part[i]->loops != 0)
                found += windows(j, term[a]->part[i], ours, theirs, kind);
    return found;
}

static unsigned times_counted(const struct takt_ir_expr *e, uint32_t bit)
{
    unsigned count = e->sort == TAKT_IR_COUNT && (e->loops & bit) != 0;

    for (unsigned i = 0; i < e->parts; i++)
        count += times_counted(e->part[i], bit);
    return count;
}

/* Whether a loop that is reduced counts more than once: no window moves so. */
static bool is_twisted(const struct takt_judged *j,
                       const struct takt_ir_expr *e)
{
    uint32_t bit[TAKT_IR_LOOPS];
    const unsigned count =
        takt__judge_bits(j->nest, j->bound, bit, TAKT_IR_LOOPS);

    for (unsigned i = 0; i < count; i++)
        if (times_counted(e, bit[i]) > 1)
            return true;
    return false;
}

unsigned takt__judge_windows(const struct takt_judged *j,
                             const struct takt_ir_expr *e,
                             enum takt_window kind)
{
    unsigned found = 0;

    if (e->sort == TAKT_IR_ACCESS && is_twisted(j, e))
        return 0;
    for (unsigned i = 0; i < e->parts; i++)
        found += e->sort == TAKT_IR_ACCESS
                     ? windows(j, e->part[i], j->free, j->bound, kind)
                     : takt__judge_windows(j, e->part[i], kind);
    return found;
}

/* NxCxHxWxKxRxS as far as the loops tell: without strides the input is as
 * large as the output and the window together. */
void takt__judge_tell_convolution(struct takt_judged *j, uint32_t filter)
{
    uint32_t out[4], in[4];
    const unsigned outs = takt__judge_bits(j->nest, j->free, out, 4);
    const unsigned ins = takt__judge_bits(j->nest, j->bound, in, 4);
    enum takt_size_source source = TAKT_SIZE_UNKNOWN;
    uint64_t dim[7] = {1, 1, 1, 1, 1, 1, 1};

    if (outs == 0 || ins == 0)
        return;
    dim[6] = takt__judge_extent(j->nest, in[ins - 1], &source);
    if (ins > 1)
        dim[5] = takt__judge_extent(j->nest, in[ins - 2], &source);
    if (ins > 2)
        dim[1] = takt__judge_extent(j->nest, in[0], &source);
    const uint64_t wide = takt__judge_extent(j->nest, out[outs - 1], &source);
    dim[3] = wide > 0 && dim[6] > 0 ? wide + dim[6] - 1 : 0;
    if (outs > 1 && ins > 1) {
        const uint64_t high =
            takt__judge_extent(j->nest, out[outs - 2], &source);
        dim[2] = high > 0 && dim[5] > 0 ? high + dim[5] - 1 : 0;
    }
    if (filter != 0)
        dim[4] = takt__judge_extent(j->nest, filter, &source);
    if (source != TAKT_SIZE_UNKNOWN)
        takt__tell_size(&j->out->size, source, 7, dim);
}

void takt__judge_tell_pooling(struct takt_judged *j)
{
    uint32_t out[4], in[4];
    const unsigned outs = takt__judge_bits(j->nest, j->free, out, 4);
    const unsigned ins = takt__judge_bits(j->nest, j->bound, in, 4);
    enum takt_size_source source = TAKT_SIZE_UNKNOWN;
    uint64_t dim[5] = {1, 1, 0, 0, 0};

    if (outs < 2 || ins == 0)
        return;
    dim[4] = takt__judge_extent(j->nest, in[ins - 1], &source);
    for (unsigned i = 0; i < 2; i++)
        dim[2 + i] =
            takt__judge_extent(j->nest, out[outs - 2 + i], &source) * dim[4];
    if (outs == 3)
        dim[1] = takt__judge_extent(j->nest, out[0], &source);
    if (source != TAKT_SIZE_UNKNOWN)
        takt__tell_size(&j->out->size, source, 5, dim);
}
