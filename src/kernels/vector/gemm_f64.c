/* SPDX-License-Identifier: MIT */
/* gemm_f64.c - matrix products of doubles: the words for gemm_body.h. */
#include "kernels/vector/isa.h"

#define real double
#define vec vf64
#define LANES VF64_LANES
#define vec_load vf64_load
#define vec_load_n vf64_load_n
#define vec_store vf64_store
#define vec_store_n vf64_store_n
#define vec_set1 vf64_set1
#define vec_zero vf64_zero
#define vec_add vf64_add
#define vec_mul vf64_mul
#define vec_fma vf64_fma
#define vec_sum vf64_sum
#define vec_zip_lo vf64_zip_lo
#define vec_zip_hi vf64_zip_hi

#define GEMM TAKT_K(gemm_f64)
#define GEMM_ROOM TAKT_K(gemm_room_f64)
#define GEMM_TUNE TAKT_K(gemm_tune_f64)
#define GEMV TAKT_K(gemv_f64)

#include "kernels/vector/gemm_body.h"
