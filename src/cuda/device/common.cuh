/* SPDX-License-Identifier: MIT */
/*
 * common.cuh - what all kernels share: vectors of 16 bytes, sums over warps and
 * blocks, and the block that finishes last.
 */
#ifndef TAKT_CUDA_DEVICE_COMMON_CUH
#define TAKT_CUDA_DEVICE_COMMON_CUH

#include "cuda/device/functions.cuh"
#include "cuda/kernels.h"

typedef struct takt_cuda_args args_t;

/* As many elements as one load moves. */
template <class T> struct vector_of;
template <> struct vector_of<float> {
    typedef float4 type;
    enum { width = 4 };
};
template <> struct vector_of<double> {
    typedef double2 type;
    enum { width = 2 };
};

template <class T> union pack {
    typename vector_of<T>::type whole;
    T element[vector_of<T>::width];
};

template <class T> __device__ __forceinline__ pack<T> load_pack(const T *at)
{
    pack<T> all;
    all.whole = *(const typename vector_of<T>::type *)at;
    return all;
}

template <class T>
__device__ __forceinline__ void store_pack(T *at, const pack<T> &all)
{
    *(typename vector_of<T>::type *)at = all.whole;
}

template <class T> __device__ __forceinline__ T *pointer(uint64_t address)
{
    return (T *)address;
}

__device__ __forceinline__ float fused(float a, float b, float c)
{
    return fmaf(a, b, c);
}

__device__ __forceinline__ double fused(double a, double b, double c)
{
    return fma(a, b, c);
}

/* Any plain struct from another lane. */
template <class S>
__device__ __forceinline__ S from_lane_below(const S &mine, unsigned apart)
{
    enum { words = sizeof(S) / 4 };
    uint32_t word[words];

    memcpy(word, &mine, sizeof mine);
#pragma unroll
    for (int i = 0; i < words; i++)
        word[i] = __shfl_down_sync(0xFFFFFFFFu, word[i], apart);
    S other;
    memcpy(&other, word, sizeof other);
    return other;
}

/* The sum of `mine` over each group of `lanes` lanes, in all of them. */
template <int lanes, class T> __device__ __forceinline__ T sum_lanes(T mine)
{
#pragma unroll
    for (int apart = lanes / 2; apart > 0; apart /= 2)
        mine += __shfl_xor_sync(0xFFFFFFFFu, mine, apart);
    return mine;
}

template <int lanes> __device__ __forceinline__ float max_lanes(float mine)
{
#pragma unroll
    for (int apart = lanes / 2; apart > 0; apart /= 2)
        mine = fmaxf(mine, __shfl_xor_sync(0xFFFFFFFFu, mine, apart));
    return mine;
}

/* Over a whole block of full warps, in all threads; `room` has an element for
 * each warp. */
template <class T> __device__ __forceinline__ T sum_block(T mine, T *room)
{
    const unsigned warps = blockDim.x / 32;

    mine = sum_lanes<32>(mine);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        room[threadIdx.x / 32] = mine;
    __syncthreads();
    T all = room[0];
#pragma unroll 1
    for (unsigned i = 1; i < warps; i++)
        all += room[i];
    return all;
}

__device__ __forceinline__ float max_block(float mine, float *room)
{
    const unsigned warps = blockDim.x / 32;

    mine = max_lanes<32>(mine);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        room[threadIdx.x / 32] = mine;
    __syncthreads();
    float all = room[0];
#pragma unroll 1
    for (unsigned i = 1; i < warps; i++)
        all = fmaxf(all, room[i]);
    return all;
}

/* Whether this block is the last of `blocks` to come here: then it sees what
 * all of them wrote before. The counter is 0 again afterwards. */
__device__ __forceinline__ bool is_last_block(uint32_t *counter,
                                              unsigned blocks)
{
    __shared__ bool is_last;

    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicAdd(counter, 1u) == blocks - 1;
        if (is_last)
            *counter = 0;
    }
    __syncthreads();
    if (is_last)
        __threadfence();
    return is_last;
}

template <class T> __device__ __forceinline__ T *parts(const args_t &args)
{
    return pointer<T>(args.scratch + TAKT_CUDA_PARTS_AT);
}

__device__ __forceinline__ uint32_t *counter(const args_t &args, unsigned index)
{
    return pointer<uint32_t>(args.scratch) + index;
}

#endif
