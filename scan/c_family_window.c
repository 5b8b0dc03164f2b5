/* SPDX-License-Identifier: MIT */
/*
 * c_family_window.c - sizes of nests of loops, and the windows that
 * convolutions and pooling move over their input: in[y + ky][x + kx].
 */
#include "c_family_judge.h"

/* ---- sizes --------------------------------------------------------------- */

uint64_t takt__c_extent(const struct takt_c_nest *nest, uint32_t bit,
                        enum takt_size_source *source)
{
    for (unsigned i = 0; i < nest->loops; i++)
        if (nest->loop[i].is_active && nest->loop[i].bit == bit) {
            if (nest->loop[i].extent > 0)
                *source = nest->loop[i].source;
            return nest->loop[i].extent;
        }
    return 0;
}

/* The loops of a set, the outermost first. */
unsigned takt__c_bits_of(const struct takt_c_nest *nest, uint32_t set,
                         uint32_t *bit, unsigned most)
{
    unsigned count = 0;

    for (unsigned i = 0; i < nest->loops && count < most; i++) {
        const uint32_t own = nest->loop[i].bit;
        if (!nest->loop[i].is_active || (own & set) == 0)
            continue;
        set &= ~own;
        bit[count++] = own;
    }
    return count;
}

void takt__c_tell_sizes(struct takt_c_judged *j, const uint32_t *bit,
                        unsigned count)
{
    uint64_t dim[TAKT_SHAPE_MAX_RANK] = {0};
    enum takt_size_source source = TAKT_SIZE_UNKNOWN;

    for (unsigned i = 0; i < count; i++)
        dim[i] = takt__c_extent(j->nest, bit[i], &source);
    takt__c_tell_size(&j->out->size, source, count, dim);
}

/* All loops together: N. */
void takt__c_tell_product(struct takt_c_judged *j, uint32_t set)
{
    uint32_t bit[TAKT_C_LOOPS];
    const unsigned count = takt__c_bits_of(j->nest, set, bit, TAKT_C_LOOPS);
    enum takt_size_source source = TAKT_SIZE_UNKNOWN;
    uint64_t all = 1;

    for (unsigned i = 0; i < count; i++)
        if (__builtin_mul_overflow(
                all, takt__c_extent(j->nest, bit[i], &source), &all))
            all = 0;
    if (count > 0)
        takt__c_tell_size(&j->out->size, source, 1, &all);
}

/* ---- convolutions -------------------------------------------------------- */

/* Whether the loop runs as often as this says: i < k. */
static bool is_bound_of(const struct takt_c_nest *nest,
                        const struct takt_c_expr *e, uint32_t bit)
{
    for (unsigned i = 0; i < nest->loops; i++)
        if (nest->loop[i].bit == bit && !ts_node_is_null(nest->loop[i].bound))
            return takt__c_same_text(
                takt__node_text(nest->source, nest->loop[i].bound), e->text);
    return false;
}

static bool is_stride(const struct takt_c_judged *j,
                      const struct takt_c_expr *e, uint32_t window,
                      bool is_product)
{
    enum takt_size_source source;

    if (e->sort == TAKT_C_NUMBER)
        return e->number <= 4 &&
               (!is_product || (uint64_t)e->number !=
                                   takt__c_extent(j->nest, window, &source));
    if (!is_product && is_bound_of(j->nest, e, window))
        return true; /* windows that do not overlap */
    uint32_t bit[2]; /* with one loop alone, it is how far rows are apart */
    return e->sort == TAKT_C_NAME &&
           takt__c_bits_of(j->nest, j->bound, bit, 2) == 2 &&
           (takt__c_has(e->text, "stride") || takt__c_has(e->text, "step") ||
            takt__c_has(e->text, "dilation") || takt__c_has(e->text, "pool") ||
            takt__text_is(e->text, "s"));
}

/* The loop that a term counts with, by itself or in strides; 0: none. */
static uint32_t strided(const struct takt_c_judged *j,
                        const struct takt_c_expr *e, uint32_t window,
                        bool is_product)
{
    if (e->sort == TAKT_C_STEP)
        return e->steps;
    if (e->sort != TAKT_C_MUL)
        return 0;
    for (unsigned i = 0; i < 2; i++)
        if (e->part[i]->sort == TAKT_C_STEP && e->part[1 - i]->steps == 0 &&
            is_stride(j, e->part[1 - i], window, is_product))
            return e->part[i]->steps;
    return 0;
}

static unsigned terms_of(const struct takt_c_expr *e,
                         const struct takt_c_expr **term, unsigned most)
{
    if (e->sort == TAKT_C_ADD || e->sort == TAKT_C_SUB) {
        const unsigned left = terms_of(e->part[0], term, most);
        return left + terms_of(e->part[1], term + left, most - left);
    }
    if (most == 0 || e->steps == 0)
        return 0;
    *term = e;
    return 1;
}

/* y + ky: an index where a loop of the target meets one that is reduced. The
 * result counts how often. */
static unsigned windows(const struct takt_c_judged *j,
                        const struct takt_c_expr *e, uint32_t ours,
                        uint32_t theirs, bool is_product)
{
    const struct takt_c_expr *term[8];
    const unsigned count = terms_of(e, term, 8);
    unsigned found = 0;

    for (unsigned a = 0; a < count; a++)
        for (unsigned b = 0; b < count; b++) {
            if (a == b || term[b]->sort != TAKT_C_STEP ||
                (term[b]->steps & theirs) == 0)
                continue;
            const uint32_t at = strided(j, term[a], term[b]->steps, is_product);
            found += (at & ours) != 0;
        }
    for (unsigned a = 0; a < count; a++)
        for (unsigned i = 0; term[a]->sort != TAKT_C_STEP && i < term[a]->parts;
             i++)
            if (term[a]->part[i]->steps != 0)
                found += windows(j, term[a]->part[i], ours, theirs, is_product);
    return found;
}

static unsigned times_counted(const struct takt_c_expr *e, uint32_t bit)
{
    unsigned count = e->sort == TAKT_C_STEP && (e->steps & bit) != 0;

    for (unsigned i = 0; i < e->parts; i++)
        count += times_counted(e->part[i], bit);
    return count;
}

/* Whether a loop that is reduced counts more than once: no window moves so. */
static bool is_twisted(const struct takt_c_judged *j,
                       const struct takt_c_expr *e)
{
    uint32_t bit[TAKT_C_LOOPS];
    const unsigned count =
        takt__c_bits_of(j->nest, j->bound, bit, TAKT_C_LOOPS);

    for (unsigned i = 0; i < count; i++)
        if (times_counted(e, bit[i]) > 1)
            return true;
    return false;
}

unsigned takt__c_windows(const struct takt_c_judged *j,
                         const struct takt_c_expr *e, bool is_product)
{
    unsigned found = 0;

    if (e->sort == TAKT_C_ACCESS && is_twisted(j, e))
        return 0;
    for (unsigned i = 0; i < e->parts; i++)
        found += e->sort == TAKT_C_ACCESS
                     ? windows(j, e->part[i], j->free, j->bound, is_product)
                     : takt__c_windows(j, e->part[i], is_product);
    return found;
}

/* NxCxHxWxKxRxS as far as the loops tell: without strides the input is as
 * large as the output and the window together. */
void takt__c_tell_convolution(struct takt_c_judged *j, uint32_t filter)
{
    uint32_t out[4], in[4];
    const unsigned outs = takt__c_bits_of(j->nest, j->free, out, 4);
    const unsigned ins = takt__c_bits_of(j->nest, j->bound, in, 4);
    enum takt_size_source source = TAKT_SIZE_UNKNOWN;
    uint64_t dim[7] = {1, 1, 1, 1, 1, 1, 1};

    if (outs == 0 || ins == 0)
        return;
    dim[6] = takt__c_extent(j->nest, in[ins - 1], &source);
    if (ins > 1)
        dim[5] = takt__c_extent(j->nest, in[ins - 2], &source);
    if (ins > 2)
        dim[1] = takt__c_extent(j->nest, in[0], &source);
    const uint64_t wide = takt__c_extent(j->nest, out[outs - 1], &source);
    dim[3] = wide > 0 && dim[6] > 0 ? wide + dim[6] - 1 : 0;
    if (outs > 1 && ins > 1) {
        const uint64_t high = takt__c_extent(j->nest, out[outs - 2], &source);
        dim[2] = high > 0 && dim[5] > 0 ? high + dim[5] - 1 : 0;
    }
    if (filter != 0)
        dim[4] = takt__c_extent(j->nest, filter, &source);
    if (source != TAKT_SIZE_UNKNOWN)
        takt__c_tell_size(&j->out->size, source, 7, dim);
}

void takt__c_tell_pooling(struct takt_c_judged *j)
{
    uint32_t out[4], in[4];
    const unsigned outs = takt__c_bits_of(j->nest, j->free, out, 4);
    const unsigned ins = takt__c_bits_of(j->nest, j->bound, in, 4);
    enum takt_size_source source = TAKT_SIZE_UNKNOWN;
    uint64_t dim[5] = {1, 1, 0, 0, 0};

    if (outs < 2 || ins == 0)
        return;
    dim[4] = takt__c_extent(j->nest, in[ins - 1], &source);
    for (unsigned i = 0; i < 2; i++)
        dim[2 + i] =
            takt__c_extent(j->nest, out[outs - 2 + i], &source) * dim[4];
    if (outs == 3)
        dim[1] = takt__c_extent(j->nest, out[0], &source);
    if (source != TAKT_SIZE_UNKNOWN)
        takt__c_tell_size(&j->out->size, source, 5, dim);
}
