/* SPDX-License-Identifier: MIT */
/*
 * attention.c - scaled dot product attention of floats.
 *
 * For a block of queries Q and all blocks of keys K and values V: the scores
 * are K Q', their weights W go into the sums V' W (attention.h). Only the
 * scores of one block against another ever exist.
 */
#include "kernels/kernel.h"
#include "kernels/layers.h"

#include <stdint.h>
#include <string.h>

#include "base/size.h"
#include "kernels/vector/attention.h"
#include "kernels/vector/attention_single.h"
#include "kernels/vector/isa.h"

takt_transpose_kernel TAKT_K(transpose_f32);

static takt_transpose_kernel *const transpose = TAKT_K(transpose_f32);
static takt_gemm_kernel *const multiply = TAKT_K(gemm_f32);

/* Keys whose scores are looked at together: with 64 queries they just fit the
 * first-level cache. 56 to 168 make little difference. */
enum { KEYS_EACH = 112 };

static bool is_single(const struct attention_block *is)
{
    return is->pitch == 1;
}

static size_t whole_lines(size_t n)
{
    return takt__size_round_up(n, 16);
}

/* Floats of scratch that each part of a block takes: whole cache lines. */
struct attention_buffers {
    size_t line, turned, sums;
    size_t scores, offsets;
};

static struct attention_buffers share_of(const struct attention_block *is)
{
    const size_t depth = is->call->depth;
    const size_t line = whole_lines(is->pitch);

    return (struct attention_buffers){
        .line = line,
        .turned =
            is_single(is) ? 0 : whole_lines(takt__size_mul(depth, is->pitch)),
        .sums = whole_lines(takt__size_mul(depth + 1, is->pitch)),
        .scores = KEYS_EACH * line,
        .offsets = is->mask == NULL ? 0 : KEYS_EACH * line,
    };
}

static size_t share_room(struct attention_buffers each)
{
    const size_t few = 2 * each.line + each.scores + each.offsets;
    return takt__size_add(takt__size_add(few, each.turned),
                          takt__size_mul(3, each.sums));
}

static void place(struct attention_block *is, float *scratch)
{
    const struct attention_buffers each = share_of(is);

    is->most = scratch;
    is->factors = is->most + each.line;
    is->turned = is->factors + each.line;
    is->sums = is->turned + each.turned;
    is->lost = is->sums + each.sums;
    is->parts = is->lost + each.sums;
    is->scores = is->parts + each.sums;
    is->offsets = is->scores + each.scores;
    is->rest = is->offsets + each.offsets;
}

/* Scores of some keys: scale * K Q'. */
static struct takt_gemm scores_product(const struct attention_block *is,
                                       struct keys keys)
{
    const size_t depth = is->call->depth;

    return (struct takt_gemm){
        .m = keys.count,
        .n = is->pitch,
        .k = depth,
        .a = takt__layer_at(is->k, keys.key * depth),
        .a_row = depth,
        .a_col = 1,
        .b = is_single(is) ? is->q : is->turned,
        .b_row = is->pitch,
        .b_col = 1,
        .c = is->scores,
        .ldc = is->pitch,
        .alpha = (double)is->call->scale,
        .beta = 0,
    };
}

/* Weighted values of those keys: V' W. */
static struct takt_gemm values_product(const struct attention_block *is,
                                       struct keys keys)
{
    const size_t depth = is->call->depth;

    return (struct takt_gemm){
        .m = depth,
        .n = is->pitch,
        .k = keys.count,
        .a = takt__layer_at(is->v, keys.key * depth),
        .a_row = 1,
        .a_col = depth,
        .b = is->scores,
        .b_row = is->pitch,
        .b_col = 1,
        .c = is->parts,
        .ldc = is->pitch,
        .alpha = 1,
        .beta = 0,
    };
}

static void add_mask(const struct attention_block *is, struct keys keys)
{
    const size_t ld = is->call->keys;
    const float *mask = is->mask + is->first * ld + keys.key;

    if (is_single(is)) {
        for (size_t j = 0; j < keys.count; j++)
            is->scores[j] += mask[j];
    } else {
        transpose(is->queries, keys.count, mask, ld, is->offsets, is->pitch);
        add_offsets(is, keys.count);
    }
}

static bool are_finite(const float *x, size_t n)
{
    vf32 zeros = vf32_zero();
    size_t i = 0;

    for (; n - i >= VF32_LANES; i += VF32_LANES)
        zeros = vf32_fma(vf32_load(x + i), vf32_zero(), zeros);
    if (i < n)
        zeros = vf32_fma(vf32_load_n(x + i, n - i), vf32_zero(), zeros);
    return !vm32_any(vf32_isnan(zeros));
}

/* The values' product without keys that a query does not see: a weight of 0
 * would not keep their infinities and NaN away. */
static void add_visible_values(const struct attention_block *is,
                               struct keys keys)
{
    const size_t depth = is->call->depth;

    memset(is->parts, 0, depth * is->pitch * sizeof(float));
    for (size_t i = 0; i < is->queries; i++) {
        const size_t end = takt__attention_visible(is->call, is->first + i);
        for (size_t j = 0; j < keys.count && keys.key + j < end; j++)
            for (size_t c = 0; c < depth; c++)
                is->parts[c * is->pitch + i] +=
                    is->scores[j * is->pitch + i] *
                    is->v[(keys.key + j) * depth + c];
    }
}

static void add_values(const struct attention_block *is, struct keys keys,
                       bool is_edge)
{
    const size_t depth = is->call->depth;
    const float *v = takt__layer_at(is->v, keys.key * depth);
    const struct takt_gemm gemm = values_product(is, keys);

    if (is_edge && !are_finite(v, keys.count * depth))
        add_visible_values(is, keys);
    else
        multiply(&gemm, is->blocks, is->rest);
}

/* At the edge some of the queries do not see some of the keys. */
static void add_keys(const struct attention_block *is, struct keys keys,
                     bool is_edge)
{
    const struct takt_gemm gemm = scores_product(is, keys);

    multiply(&gemm, is->blocks, is->rest);
    if (is->mask != NULL)
        add_mask(is, keys);
    if (is_edge)
        hide_later(is, keys);
    if (is_single(is))
        weigh_single(is, keys.count);
    else
        weigh(is, keys.count);
    add_values(is, keys, is_edge);
    if (is_single(is))
        add_parts_single(is);
    else
        add_parts(is);
}

static void add_all_keys(const struct attention_block *is)
{
    const size_t last = is->first + is->queries - 1;
    const size_t shared = takt__attention_visible(is->call, is->first);
    const size_t end = takt__attention_visible(is->call, last);
    struct keys keys = {0, 0};

    for (; keys.key < end; keys.key += keys.count) {
        const bool is_edge = keys.key >= shared;
        const size_t left = (is_edge ? end : shared) - keys.key;
        keys.count = left < KEYS_EACH ? left : KEYS_EACH;
        add_keys(is, keys, is_edge);
    }
}

/* Turns the queries; lanes that are none become zeros. */
static void turn_queries(const struct attention_block *is)
{
    const size_t depth = is->call->depth, none = is->pitch - is->queries;

    for (size_t c = 0; c < depth && none > 0; c++)
        memset(is->turned + c * is->pitch + is->queries, 0,
               none * sizeof(float));
    transpose(is->queries, depth, is->q, depth, is->turned, is->pitch);
    if (is->mask != NULL && none > 0)
        memset(is->offsets, 0, KEYS_EACH * is->pitch * sizeof(float));
}

static void begin(const struct attention_block *is)
{
    const size_t room = share_of(is).sums * sizeof(float);

    for (size_t i = 0; i < is->pitch; i++)
        is->most[i] = -INFINITY;
    memset(is->sums, 0, room);
    memset(is->lost, 0, room);
    memset(is->parts, 0, room); /* vectors reach beyond what is written */
    if (!is_single(is))
        turn_queries(is);
}

static void finish(const struct attention_block *is)
{
    const size_t depth = is->call->depth;

    if (is_single(is)) {
        divide_single(is);
        memcpy(is->out, is->sums, depth * sizeof(float));
    } else {
        divide(is);
        transpose(depth, is->queries, is->sums, is->pitch, is->out, depth);
    }
}

static void attend(const struct attention_block *is)
{
    const size_t last = is->first + is->queries - 1;

    if (takt__attention_visible(is->call, last) == 0) {
        memset(is->out, 0, is->queries * is->call->depth * sizeof(float));
        return;
    }
    begin(is);
    add_all_keys(is);
    finish(is);
}

static size_t pitch_of(size_t queries)
{
    const size_t lanes = VF32_LANES;
    return queries == 1 ? 1 : (queries + lanes - 1) / lanes * lanes;
}

static struct attention_block block_at(const struct takt_attention_call *call,
                                       struct takt_attention_piece piece)
{
    const size_t at = (piece.head * call->queries + piece.first) * call->depth;
    const size_t keys_at = piece.head * call->keys * call->depth;

    return (struct attention_block){
        .call = call,
        .first = piece.first,
        .queries = piece.count,
        .pitch = pitch_of(piece.count),
        .q = takt__layer_at(call->q, at),
        .k = takt__layer_at(call->k, keys_at),
        .v = takt__layer_at(call->v, keys_at),
        .mask = call->mask,
        .out = call->out + at,
    };
}

/* What both products against some keys need. */
static size_t keys_room(const struct attention_block *is, struct keys keys,
                        const struct takt_gemm_blocks *blocks)
{
    const struct takt_gemm scores = scores_product(is, keys);
    const struct takt_gemm values = values_product(is, keys);
    const size_t a = TAKT_K(gemm_room_f32)(&scores, blocks);
    const size_t b = TAKT_K(gemm_room_f32)(&values, blocks);
    return a > b ? a : b;
}

/* The most that any number of keys needs. Mostly nothing is copied, and
 * then fewer keys need no room either. */
static size_t products_room(const struct attention_block *is,
                            const struct takt_gemm_blocks *blocks)
{
    struct keys keys = {0, KEYS_EACH};
    size_t most = keys_room(is, keys, blocks);

    for (keys.count = 1; most > 0 && keys.count < KEYS_EACH; keys.count++) {
        const size_t room = keys_room(is, keys, blocks);
        most = room > most ? room : most;
    }
    return most;
}

/* The first unit's block is the largest; the last one, in the second unit,
 * may have other proportions. */
size_t TAKT_K(attention_room_f32)(const struct takt_attention_call *call,
                                  const struct takt_gemm_blocks *blocks)
{
    const size_t units = takt__attention_units(call);
    size_t most = 0;

    for (size_t u = 0; u < units && u < 2; u++) {
        const struct attention_block is =
            block_at(call, takt__attention_piece(call, u));
        const size_t shares =
            takt__size_mul(share_room(share_of(&is)), sizeof(float));
        const size_t room = takt__size_add(
            takt__size_add(shares, products_room(&is, blocks)), 63);
        most = room > most ? room : most;
    }
    return most;
}

void TAKT_K(attention_f32)(const struct takt_attention_call *call, size_t first,
                           size_t count, const struct takt_gemm_blocks *blocks,
                           void *scratch)
{
    for (size_t u = first; u < first + count; u++) {
        struct attention_block is =
            block_at(call, takt__attention_piece(call, u));
        is.blocks = blocks;
        place(&is, v_line(scratch));
        attend(&is);
    }
}
