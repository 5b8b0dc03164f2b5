/* SPDX-License-Identifier: MIT */
/* arguments.h - a call as the kernels for products take it. */
#pragma once

#include "blas/blas.h"
#include "kernels/gemm.h"
#include "takt/call.h"

/* `call` is an admitted matmul. */
struct takt_gemm takt__gemm_of(const takt_call *call);

/* Item `index` of an admitted batched matmul. */
struct takt_gemm takt__gemm_of_batch(const takt_call *call, size_t index);

/* `call` is an admitted axpy. */
struct takt_axpy takt__axpy_of(const takt_call *call);

/* `call` is an admitted gemv. */
struct takt_gemv takt__gemv_of(const takt_call *call);
