/* SPDX-License-Identifier: MIT */
/* gemm_f32.c - matrix products of floats: the words for gemm_body.h. */
#include "kernels/vector/isa.h"

#define real float
#define vec vf32
#define LANES VF32_LANES
#define vec_load vf32_load
#define vec_load_n vf32_load_n
#define vec_store vf32_store
#define vec_store_n vf32_store_n
#define vec_set1 vf32_set1
#define vec_zero vf32_zero
#define vec_add vf32_add
#define vec_mul vf32_mul
#define vec_fma vf32_fma
#define vec_sum vf32_sum
#define vec_zip_lo vf32_zip_lo
#define vec_zip_hi vf32_zip_hi

#define GEMM TAKT_K(gemm_f32)
#define GEMM_ROOM TAKT_K(gemm_room_f32)
#define GEMM_TUNE TAKT_K(gemm_tune_f32)
#define GEMV TAKT_K(gemv_f32)

#include "kernels/vector/gemm_body.h"
