/* SPDX-License-Identifier: MIT */
/* gemm_limits.h - what bench_gemm compares with beside the BLAS libraries. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <takt/machine.h>

typedef void xsmm_kernel(const void *a, const void *b, void *c);

/* libxsmm's kernel for a product; NULL: it has none, or is not linked. */
xsmm_kernel *xsmm_find(bool is_double, size_t m, size_t n, size_t k);

/* Floating-point operations a second that threads reach at best while so many
 * run, in all: the sum of measure_flops() on each. */
double measure_flops_together(const takt_machine *machine, unsigned threads);
