/* SPDX-License-Identifier: MIT */
/*
 * x86.h - the words that SSE2, AVX2 and AVX-512 have under the same names, but
 * for the width of the vectors.
 *
 * The header of an instruction set defines its types, V_PREFIX, V_WIDTH and,
 * but for SSE2, V_CMP before it includes this one. The words of one dtype are
 * in x86_real.h.
 */
#pragma once

#define V_PASTE3(a_, b_, c_) a_##b_##c_
#define V_EXPAND3(a_, b_, c_) V_PASTE3(a_, b_, c_)
#define V_PASTE5(a_, b_, c_, d_, e_) a_##b_##c_##d_##e_
#define V_EXPAND5(a_, b_, c_, d_, e_) V_PASTE5(a_, b_, c_, d_, e_)

/* _mm256_add_epi32, _mm256_castps_si256, _mm256_castsi256_ps */
#define VX_INT(name_) V_EXPAND3(V_PREFIX, name_, )
#define VX_TO_SI(from_) V_EXPAND5(V_PREFIX, cast, from_, _si, V_WIDTH)
#define VX_FROM_SI(to_) V_EXPAND5(V_PREFIX, castsi, V_WIDTH, _, to_)

/* VX(add) is _mm256_add_ps, and then _mm256_add_pd. */
#include "kernels/vector/f32.h"
#define VX(name_) V_EXPAND3(V_PREFIX, name_, _ps)
#define VX_CMP V_CMP(ps)
#include "kernels/vector/x86_real.h"
#undef VX
#undef VX_CMP
#include "kernels/vector/f64.h"
#define VX(name_) V_EXPAND3(V_PREFIX, name_, _pd)
#define VX_CMP V_CMP(pd)
#include "kernels/vector/x86_real.h"
#undef VX
#undef VX_CMP
#include "kernels/vector/no_dtype.h"

/* Shifts by a variable: those by a constant are macros without optimisation,
 * which take no parameter of a function. */
#define V_SHIFT(to_, name_, of_)              \
    VINLINE to_ name_(to_ a, int by)          \
    {                                         \
        return of_(a, _mm_cvtsi32_si128(by)); \
    }

/* clang-format off */
V_UNARY(vi32, vi32_set1, int32_t, VX_INT(set1_epi32))
V_BINARY(vi32, vi32_add, vi32, VX_INT(add_epi32))
V_BINARY(vi32, vi32_sub, vi32, VX_INT(sub_epi32))
V_SHIFT(vi32, vi32_shl, VX_INT(sll_epi32))
V_SHIFT(vi32, vi32_sar, VX_INT(sra_epi32))
V_UNARY(vi32, vf32_to_i32, vf32, VX_INT(cvtps_epi32))
V_UNARY(vf32, vi32_to_f32, vi32, VX_INT(cvtepi32_ps))
V_UNARY(vi32, vf32_as_i32, vf32, VX_TO_SI(ps))
V_UNARY(vf32, vi32_as_f32, vi32, VX_FROM_SI(ps))
V_BINARY(vi64, vi64_add, vi64, VX_INT(add_epi64))
V_BINARY(vi64, vi64_sub, vi64, VX_INT(sub_epi64))
V_SHIFT(vi64, vi64_shl, VX_INT(sll_epi64))
V_SHIFT(vi64, vi64_shr, VX_INT(srl_epi64))
V_UNARY(vi64, vf64_as_i64, vf64, VX_TO_SI(pd))
V_UNARY(vf64, vi64_as_f64, vi64, VX_FROM_SI(pd))
/* clang-format on */

/* Across four floats and two doubles, the end of all longer ways: the upper
 * half joins the lower one. */
#define V_FOLD(name_, op_)                                                \
    VINLINE float fold4_##name_(__m128 v)                                 \
    {                                                                     \
        v = _mm_##op_##_ps(v, _mm_movehl_ps(v, v));                       \
        return _mm_cvtss_f32(_mm_##op_##_ss(v, _mm_shuffle_ps(v, v, 1))); \
    }                                                                     \
    VINLINE double fold2_##name_(__m128d v)                               \
    {                                                                     \
        return _mm_cvtsd_f64(_mm_##op_##_sd(v, _mm_unpackhi_pd(v, v)));   \
    }
/* clang-format off */
V_FOLD(sum, add)
V_FOLD(hmax, max)
V_FOLD(hmin, min)
/* clang-format on */

/* Memory order. */

VINLINE void v_fence(void)
{
    _mm_sfence();
}

VINLINE void v_prefetch(const void *p)
{
    _mm_prefetch((const char *)p, _MM_HINT_T0);
}
