/* SPDX-License-Identifier: MIT */
/*
 * takt/policy.h - the static routing rules: moe, cost, heuristic.
 *
 * The answer depends on the arguments alone, not on a machine: GPU means that
 * the rule says GPU, also where there is none. takt_select() in takt/context.h
 * answers for a machine.
 *
 * Every comparison is strict, nothing is allocated, nothing is locked.
 *
 *     takt_cost_model model = takt_cost_model_default();
 *
 *     if (takt_cost_model_set(&model, 64e9, 60e12, 5) != TAKT_OK)
 *         return 1;
 *     puts(takt_backend_name(takt_cost_select_matmul(&model, 512, 512, 512)));
 *     puts(takt_backend_name(takt_heuristic_select("dot_product", 1000)));
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_POLICY_H
#define TAKT_POLICY_H

#include <stddef.h>

#include <takt/backend.h>
#include <takt/export.h>
#include <takt/op.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- moe: complexity and number of elements ----------------------------
 *
 * The answer of the moe rule:
 *
 *   Low     SIMD above 1,000,000, never GPU
 *   Medium  SIMD above    10,000, GPU above 100,000
 *   High    SIMD above     1,000, GPU above  10,000
 */
TAKT_API takt_backend takt_moe_select(takt_complexity complexity,
                                      size_t elements);

/* The largest number of elements that stays below a backend: above it the rule
 * answers `backend` or more. SIZE_MAX: never reached; 0 for Scalar. */
TAKT_API size_t takt_moe_threshold(takt_complexity complexity,
                                   takt_backend backend);

/* ---- cost: bytes over the link against operations on the device --------
 *
 * The figures of the cost rule: GPU when flops / gpu_flops > ratio * bytes /
 * pcie_bandwidth, else SIMD. A model of NULL is the default one.
 */
typedef struct takt_cost_model {
    double pcie_bandwidth; /* bytes per second */
    double gpu_flops;      /* operations per second */
    double dispatch_ratio; /* how many times the transfer must be repaid */
} takt_cost_model;

/* The default cost model: 32e9 B/s (PCIe 4.0 x16), 20e12 FLOP/s, ratio 5. */
TAKT_API takt_cost_model takt_cost_model_default(void);

/* Sets the figures of a cost model.
 * TAKT_EINVAL: bandwidth or throughput is not finite and > 0, or the ratio is
 *   not finite and >= 0; *model is unchanged. */
TAKT_API takt_status takt_cost_model_set(takt_cost_model *model,
                                         double pcie_bandwidth,
                                         double gpu_flops,
                                         double dispatch_ratio);

/* The answer of the cost rule for the work of a call. */
TAKT_API takt_backend takt_cost_select(const takt_cost_model *model,
                                       takt_work work);

/* The answer of the cost rule for a matmul: (mk + kn + mn) * 4 bytes, 2mnk
 * operations. */
TAKT_API takt_backend takt_cost_select_matmul(const takt_cost_model *model,
                                              size_t m, size_t n, size_t k);

/* The answer of the cost rule for vectors: 12n bytes, n * ops_per_element
 * operations. */
TAKT_API takt_backend takt_cost_select_vector(const takt_cost_model *model,
                                              size_t n, double ops_per_element);

/* The answer of the cost rule for element-wise work, which is bound by memory:
 * SIMD above 1,000,000, else Scalar. */
TAKT_API takt_backend takt_cost_select_elementwise(size_t n);

/* ---- heuristic: the name of an op and its elements ----------------------
 *
 * The answer of the heuristic rule:
 *
 * matrix_multiply, matrix_add, matrix_transpose: GPU above 10,000.
 * convolution, pooling: GPU above 1,000.
 * vector_add, vector_multiply, vector_scale, dot_product, elementwise_add,
 * elementwise_multiply, sum, mean, max, min: SIMD.
 * Everything else: Scalar.
 *
 * The catalogue's names for these ops (matmul, transpose, conv2d, add, mul,
 * scale, dot) get the same answers. NULL is Scalar.
 */
TAKT_API takt_backend takt_heuristic_select(const char *op, size_t elements);

#ifdef __cplusplus
}
#endif

#endif
