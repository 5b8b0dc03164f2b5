/* SPDX-License-Identifier: MIT */
/*
 * attention.cuh - scaled dot product attention.
 *
 * Keys are taken a tile at a time. What was added up before is scaled whenever
 * a higher score is met, so that no score is kept; the values of a tile are
 * added up by themselves first, so that the error does not grow with the keys.
 * What a query does not see is left out, not multiplied by 0: a NaN there has
 * no influence.
 */
#ifndef TAKT_CUDA_DEVICE_ATTENTION_CUH
#define TAKT_CUDA_DEVICE_ATTENTION_CUH

#include "cuda/device/common.cuh"

/* The call of one head. */
struct head {
    const float *q, *k, *v, *mask;
    float *out;
    uint64_t queries, keys;
    unsigned depth;
    float scale;
    bool is_causal;

    __device__ __forceinline__ head(const args_t &args, uint64_t number)
    {
        queries = args.dim[2];
        keys = args.dim[3];
        depth = (unsigned)args.dim[4];
        scale = (float)args.alpha;
        is_causal = (args.flags & TAKT_CUDA_CAUSAL) != 0;
        q = pointer<const float>(args.in[0]) + number * queries * depth;
        k = pointer<const float>(args.in[1]) + number * keys * depth;
        v = pointer<const float>(args.in[2]) + number * keys * depth;
        mask = (args.has & 8) != 0 ? pointer<const float>(args.in[3]) : nullptr;
        out = pointer<float>(args.out) + number * queries * depth;
    }
    /* How many keys, the first ones, a query sees. */
    __device__ __forceinline__ uint64_t visible(uint64_t query) const
    {
        const uint64_t end = query + 1 + keys;
        if (!is_causal)
            return keys;
        return end <= queries ? 0 : end - queries < keys ? end - queries : keys;
    }
    __device__ __forceinline__ float score(float sum, uint64_t query,
                                           uint64_t key) const
    {
        const float s = sum * scale;
        return mask == nullptr ? s : s + mask[query * keys + key];
    }
};

/* How what was added up below `before` counts below `now` >= before. */
__device__ __forceinline__ float fade(float before, float now)
{
    return before == -INFINITY ? 0.0F : exp_of(before - now);
}

/* The weight of a score; where all are -inf, they are compared with 0. */
__device__ __forceinline__ float weight(float score, float most)
{
    return exp_of(score - (most == -INFINITY ? 0.0F : most));
}

/* ---- 64 queries against tiles of 64 keys ------------------------------------
 */

enum {
    queries_each = TAKT_CUDA_ATTENTION_QUERIES,
    keys_each = 64,
    slab = 32,          /* of the depth, for the scores */
    panel_row = 64 + 4, /* of a panel: 64 and a gap */
    four = 4            /* rows and columns of a thread */
};

/* Panels: scores from two of `slab` rows, values in one of 64 rows. */
union attention_room {
    struct {
        float q[slab][panel_row], k[slab][panel_row];
    } slabs;
    float v[keys_each][panel_row];
};

/* Rows of `depth` elements become columns; what is outside is 0. */
__device__ __forceinline__ void load_slab(float (*to)[panel_row],
                                          const float *from, uint64_t rows,
                                          unsigned depth, unsigned at)
{
    const unsigned c = threadIdx.x % slab;

#pragma unroll 4
    for (unsigned i = threadIdx.x / slab; i < 64; i += 256 / slab)
        to[c][i] = i < rows && at + c < depth
                       ? from[(uint64_t)i * depth + at + c]
                       : 0.0F;
}

__device__ __forceinline__ void load_values(float (*to)[panel_row],
                                            const float *from, uint64_t rows,
                                            unsigned depth, unsigned at)
{
    const unsigned c = threadIdx.x % 64;

#pragma unroll 4
    for (unsigned i = threadIdx.x / 64; i < keys_each; i += 4)
        to[i][c] = i < rows && at + c < depth
                       ? from[(uint64_t)i * depth + at + c]
                       : 0.0F;
}

__device__ __forceinline__ void read_four(const float *from, float *to)
{
    const float4 all = *(const float4 *)from;
    to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
}

struct square {
    float of[four][four];
};

/* q k' of a thread's queries and keys. */
__device__ __forceinline__ void find_scores(const head &h, uint64_t query,
                                            uint64_t key, unsigned down,
                                            unsigned across,
                                            attention_room &room, square &s)
{
    s = {};
#pragma unroll 1
    for (unsigned at = 0; at < h.depth; at += slab) {
        __syncthreads();
        load_slab(room.slabs.q, h.q + query * h.depth, h.queries - query,
                  h.depth, at);
        load_slab(room.slabs.k, h.k + key * h.depth, h.keys - key, h.depth, at);
        __syncthreads();
#pragma unroll 4
        for (int c = 0; c < slab; c++) {
            float x[four], y[four];
            read_four(&room.slabs.q[c][down * four], x);
            read_four(&room.slabs.k[c][across * four], y);
#pragma unroll
            for (int i = 0; i < four; i++)
#pragma unroll
                for (int j = 0; j < four; j++)
                    s.of[i][j] = fmaf(x[i], y[j], s.of[i][j]);
        }
    }
}

/* Weighted values of one tile; `seen` of its keys for each query. */
__device__ __forceinline__ void weigh_values(const float (*weights)[panel_row],
                                             const float (*values)[panel_row],
                                             unsigned down, unsigned across,
                                             const int *seen, bool is_whole,
                                             square &sum)
{
    sum = {};
#pragma unroll 2
    for (int key = 0; key < keys_each; key++) {
        float w[four], v[four];
        read_four(&weights[key][down * four], w);
        read_four(&values[key][across * four], v);
#pragma unroll
        for (int i = 0; i < four; i++)
#pragma unroll
            for (int j = 0; j < four; j++)
                if (is_whole || key < seen[i])
                    sum.of[i][j] = fmaf(w[i], v[j], sum.of[i][j]);
    }
}

/* What a thread knows of its four queries, and of its columns of the output:
 * four of every 64. */
template <int blocks> struct attention_state {
    float most[four], total[four];
    square sum[blocks];
};

/* Turns scores into weights, and fades what came before. */
template <int blocks>
__device__ __forceinline__ void
weigh(const head &h, uint64_t query, uint64_t key, unsigned down,
      unsigned across, const int *seen, square &s, float (*weights)[panel_row],
      attention_state<blocks> &state)
{
#pragma unroll
    for (int i = 0; i < four; i++) {
        float most = state.most[i], total = 0.0F;
#pragma unroll
        for (int j = 0; j < four; j++) {
            const int at = across * four + j;
            s.of[i][j] =
                at < seen[i]
                    ? h.score(s.of[i][j], query + down * four + i, key + at)
                    : -INFINITY;
            most = fmaxf(most, s.of[i][j]);
        }
        most = max_lanes<16>(most);
        const float faded = fade(state.most[i], most);
#pragma unroll
        for (int j = 0; j < four; j++) {
            const int at = across * four + j;
            s.of[i][j] = at < seen[i] ? weight(s.of[i][j], most) : 0.0F;
            total += s.of[i][j];
            weights[at][down * four + i] = s.of[i][j];
        }
        state.total[i] = state.total[i] * faded + sum_lanes<16>(total);
        state.most[i] = most;
#pragma unroll
        for (int b = 0; b < blocks; b++)
#pragma unroll
            for (int j = 0; j < four; j++)
                state.sum[b].of[i][j] *= faded;
    }
}

template <int blocks>
__device__ __forceinline__ void
store_attention(const head &h, uint64_t query, unsigned column, unsigned down,
                unsigned across, const attention_state<blocks> &state)
{
#pragma unroll
    for (int i = 0; i < four; i++) {
        const uint64_t at = query + down * four + i;
        const float total = state.total[i];
        if (at >= h.queries)
            continue;
#pragma unroll
        for (int b = 0; b < blocks; b++)
#pragma unroll
            for (int j = 0; j < four; j++) {
                const unsigned c = column + b * 64 + across * four + j;
                if (c < h.depth)
                    h.out[at * h.depth + c] =
                        total == 0.0F ? 0.0F : state.sum[b].of[i][j] / total;
            }
    }
}

/* How many keys of the tile at `key` a query sees. */
__device__ __forceinline__ int seen_of(const head &h, uint64_t query,
                                       uint64_t key)
{
    const uint64_t visible = query < h.queries ? h.visible(query) : 0;

    if (visible <= key)
        return 0;
    return visible - key < keys_each ? (int)(visible - key) : (int)keys_each;
}

/* 64 * blocks columns of the output from column blockIdx.y of as many on: a
 * deeper head is computed in several pieces, each with all scores. */
template <int blocks> __device__ __forceinline__ void attend(const args_t &args)
{
    __shared__ __align__(16) attention_room room;
    __shared__ __align__(16) float weights[keys_each][panel_row];
    const uint64_t tiles = (args.dim[2] + queries_each - 1) / queries_each;
    const head h(args, blockIdx.x / tiles);
    const uint64_t query = blockIdx.x % tiles * queries_each;
    const unsigned down = threadIdx.x / 16, across = threadIdx.x % 16;
    const uint64_t last =
        query + queries_each < h.queries ? query + queries_each : h.queries;
    const unsigned column = blockIdx.y * (64 * blocks);
    const uint64_t end = h.visible(last - 1), least = h.visible(query);
    attention_state<blocks> state = {};

#pragma unroll
    for (int i = 0; i < four; i++)
        state.most[i] = -INFINITY;
#pragma unroll 1
    for (uint64_t key = 0; key < end; key += keys_each) {
        int seen[four];
        square s;
#pragma unroll
        for (int i = 0; i < four; i++)
            seen[i] = seen_of(h, query + down * four + i, key);
        find_scores(h, query, key, down, across, room, s);
        weigh(h, query, key, down, across, seen, s, weights, state);
#pragma unroll
        for (int b = 0; b < blocks; b++) { /* those are registers */
            __syncthreads();
            load_values(room.v, h.v + key * h.depth, h.keys - key, h.depth,
                        column + b * 64);
            __syncthreads();
            weigh_values(weights, room.v, down, across, seen,
                         least >= key + keys_each, s);
#pragma unroll
            for (int i = 0; i < four; i++)
#pragma unroll
                for (int j = 0; j < four; j++)
                    state.sum[b].of[i][j] += s.of[i][j];
        }
    }
    store_attention(h, query, column, down, across, state);
}

/* ---- one query at a time, any depth
 * ------------------------------------------
 */

enum { keys_at_once = TAKT_CUDA_LAYER_THREADS };

/* The score of a key, in all lanes of a warp. */
__device__ __forceinline__ float score_of(const head &h, uint64_t query,
                                          uint64_t key)
{
    const float *q = h.q + query * h.depth, *k = h.k + key * h.depth;
    float sum = 0.0F;

    for (unsigned c = threadIdx.x % 32; c < h.depth; c += 32)
        sum = fmaf(q[c], k[c], sum);
    return h.score(sum_lanes<32>(sum), query, key);
}

/* The sums so far lie in the output. */
__device__ __forceinline__ void add_values(const head &h, float *out,
                                           uint64_t key, unsigned keys,
                                           const float *weights, float faded,
                                           float by)
{
    for (unsigned c = threadIdx.x; c < h.depth; c += blockDim.x) {
        const float *v = h.v + key * h.depth + c;
        float sum = 0.0F;
#pragma unroll 8
        for (unsigned j = 0; j < keys; j++)
            sum = fmaf(weights[j], v[(uint64_t)j * h.depth], sum);
        out[c] = key == 0 ? sum * by : (out[c] * faded + sum) * by;
    }
}

__device__ __forceinline__ void attend_each(const args_t &args)
{
    __shared__ float scores[keys_at_once], room[32];
    const head h(args, blockIdx.x / args.dim[2]);
    const uint64_t query = blockIdx.x % args.dim[2];
    const uint64_t end = h.visible(query);
    float *out = h.out + query * h.depth;
    float most = -INFINITY, total = 0.0F;

    for (uint64_t key = 0; key < end; key += keys_at_once) {
        const unsigned keys =
            end - key < keys_at_once ? (unsigned)(end - key) : keys_at_once;
        __syncthreads();
        for (unsigned j = threadIdx.x / 32; j < keys; j += keys_at_once / 32) {
            const float s = score_of(h, query, key + j);
            if (threadIdx.x % 32 == 0)
                scores[j] = s;
        }
        __syncthreads();
        const float mine = threadIdx.x < keys ? scores[threadIdx.x] : -INFINITY;
        const float now = max_block(fmaxf(most, mine), room);
        const float faded = fade(most, now);
        const float w = threadIdx.x < keys ? weight(mine, now) : 0.0F;
        scores[threadIdx.x] = w;
        total = total * faded + sum_block(w, room);
        most = now;
        const bool is_last = key + keys_at_once >= end;
        add_values(h, out, key, keys, scores, faded,
                   is_last && total != 0.0F ? 1.0F / total : 1.0F);
    }
    for (unsigned c = threadIdx.x; c < h.depth && total == 0.0F;
         c += blockDim.x)
        out[c] = 0.0F;
}

#endif
