/* SPDX-License-Identifier: MIT */
/*
 * kernels.h - the device code as the host sees it: what a kernel is given, and
 * where the loaded kernels are.
 *
 * Every kernel has one parameter, the struct below, whatever it computes. The
 * device code includes this file too, so it is C and C++ alike.
 */
#pragma once

#include <stdint.h>

/* A call, as kernels read it: sizes, flags and factors are those of the
 * takt_call, complete (no 0 for "the default"). */
struct takt_cuda_args {
    uint64_t in[4]; /* addresses on the device; 0: nothing is there */
    uint64_t out;
    uint64_t scratch; /* see enum takt_cuda_scratch */
    uint64_t dim[10];
    uint64_t ld[3];
    double alpha, beta;
    uint32_t flags;  /* TAKT_TRANS_*, TAKT_CALL_* */
    uint32_t has;    /* bit i is set: in[i] is there */
    uint32_t cut[4]; /* how the work is spread: kernels.def */
};

/* The flags that kernels look at, as in takt/ops.h and takt/call.h. */
enum {
    TAKT_CUDA_TRANS_A = 1,
    TAKT_CUDA_TRANS_B = 2,
    TAKT_CUDA_CAUSAL = 4,
    TAKT_CUDA_MEAN_POOL = 8
};

/* Scratch: counters of finished blocks, zero between launches; a mean; then
 * what blocks leave for the last of them to put together. */
enum takt_cuda_scratch {
    TAKT_CUDA_COUNTERS = 16384,
    TAKT_CUDA_MEAN_AT = TAKT_CUDA_COUNTERS * 4,
    TAKT_CUDA_PARTS_AT = TAKT_CUDA_MEAN_AT + 256,
    TAKT_CUDA_PARTS_BYTES = 32 << 20,
    TAKT_CUDA_SCRATCH_BYTES = TAKT_CUDA_PARTS_AT + TAKT_CUDA_PARTS_BYTES
};

/* How large the pieces are that one block computes. */
enum takt_cuda_piece {
    TAKT_CUDA_MAP_VECTORS = 4, /* of 16 bytes, for each thread */
    TAKT_CUDA_REDUCE_THREADS = 256,
    TAKT_CUDA_SHORT_ROW = 1024,   /* elements that a warp keeps */
    TAKT_CUDA_ROW_VECTORS = 8,    /* of 16 bytes that a thread keeps of a row */
    TAKT_CUDA_ROW_THREADS = 1024, /* of a block for a row, at most */
    TAKT_CUDA_TRANSPOSE_SIDE = 32,
    TAKT_CUDA_GEMV_THREADS = 256,
    TAKT_CUDA_GEMV_COLUMNS = 32, /* of a transposed matrix */
    TAKT_CUDA_GEMM_THREADS = 256,
    TAKT_CUDA_GEMM_DEEP = 16,
    TAKT_CUDA_GEMM_SIDE = 128,
    TAKT_CUDA_GEMM_SMALL_SIDE = 64,
    TAKT_CUDA_ATTENTION_QUERIES = 64,
    TAKT_CUDA_ATTENTION_DEPTH = 64,
    TAKT_CUDA_ATTENTION_DEEP = 128, /* columns */
    TAKT_CUDA_LAYER_THREADS = 256
};

enum takt_cuda_module {
#define TAKT_CUDA_MODULE(module) TAKT_CUDA_MODULE_##module,
#include "cuda/kernels.def"
    TAKT_CUDA_MODULES
};

enum takt_cuda_kernel {
#define TAKT_CUDA_KERNEL(module, op, dtype) TAKT_CUDA_##op##_##dtype,
#define TAKT_CUDA_VARIANT(module, op, dtype, variant, role) \
    TAKT_CUDA_##op##_##dtype##_##variant,
#include "cuda/kernels.def"
    TAKT_CUDA_KERNELS
};

struct takt_cuda_code {
    void *module[TAKT_CUDA_MODULES]; /* CUmodule; NULL: not loaded */
    void *kernel[TAKT_CUDA_KERNELS]; /* CUfunction */
};

/* The text of a module, which the driver translates. */
const char *takt__cuda_code_text(enum takt_cuda_module module);
