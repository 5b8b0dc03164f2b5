/* SPDX-License-Identifier: MIT */
/*
 * cublas.h - NVIDIA's own products, where their library is installed.
 *
 * A device does without it: what is not taken here is computed by our kernels.
 * Every function is called with the lock of the device held and its context
 * current.
 */
#pragma once

#include <stdbool.h>

#include "takt/call.h"

struct takt_cuda;
struct takt_cublas;

/* The library, on the computing stream of a device that works already: it goes
 * to cuda->cublas, or NULL does. */
void takt__cublas_open(struct takt_cuda *cuda);
void takt__cublas_close(struct takt_cuda *cuda);

/* An admitted matmul, batched_matmul or gemv whose operands are at these
 * addresses of the device. False: not taken, and nothing was begun; it is
 * absent, or the call has what it cannot do, or would do otherwise than
 * docs/numerics.md says. True: *status says how it went. It is TAKT_ELOST
 * whenever something may have been written that should not have been, because
 * with a beta that is not 0 the call could then not be run again. */
bool takt__cublas_gemm(struct takt_cuda *cuda, const takt_call *call,
                       uint64_t a, uint64_t b, uint64_t c, takt_status *status);
bool takt__cublas_batched(struct takt_cuda *cuda, const takt_call *call,
                          uint64_t a, uint64_t b, uint64_t c,
                          takt_status *status);
bool takt__cublas_gemv(struct takt_cuda *cuda, const takt_call *call,
                       uint64_t a, uint64_t x, uint64_t y, takt_status *status);

/* The transpose of a matrix of `rows` x `cols` by columns, without gaps.
 * False: it could not be begun. */
bool takt__cublas_transpose(struct takt_cuda *cuda, takt_dtype dtype,
                            size_t rows, size_t cols, uint64_t from,
                            uint64_t to);
