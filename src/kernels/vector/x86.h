/* SPDX-License-Identifier: MIT */
/*
 * x86.h - the words that SSE2, AVX2 and AVX-512 have under the same names, but
 * for the width of the vectors.
 *
 * The header of an instruction set defines its types, V_PREFIX and V_WIDTH
 * before it includes this one, V_FUSED if it has fused multiply-add, and
 * V_MASK_REGISTERS if its masks are not vectors.
 */
#ifndef TAKT_KERNELS_VECTOR_X86_H
#define TAKT_KERNELS_VECTOR_X86_H

#define V_PASTE2(a_, b_) a_##b_
#define V_EXPAND2(a_, b_) V_PASTE2(a_, b_)
#define V_PASTE5(a_, b_, c_, d_, e_) a_##b_##c_##d_##e_
#define V_EXPAND5(a_, b_, c_, d_, e_) V_PASTE5(a_, b_, c_, d_, e_)

/* _mm256_add_ps, _mm256_and_si256, _mm256_castsi256_ps */
#define VX(name_) V_EXPAND2(V_PREFIX, name_)
#define VX_SI(name_) V_EXPAND5(V_PREFIX, name_, _si, V_WIDTH, )
#define VX_CAST_SI(to_) V_EXPAND5(V_PREFIX, castsi, V_WIDTH, _, to_)

/* clang-format off */
V_UNARY(vf32, vf32_load, const float *, VX(loadu_ps))
V_STORE(vf32_store, float *, vf32, VX(storeu_ps))
V_STORE(vf32_stream, float *, vf32, VX(stream_ps))
V_UNARY(vf32, vf32_set1, float, VX(set1_ps))
V_NULLARY(vf32, vf32_zero, VX(setzero_ps))
V_BINARY(vf32, vf32_add, vf32, VX(add_ps))
V_BINARY(vf32, vf32_sub, vf32, VX(sub_ps))
V_BINARY(vf32, vf32_mul, vf32, VX(mul_ps))
V_BINARY(vf32, vf32_div, vf32, VX(div_ps))
V_UNARY(vf32, vf32_sqrt, vf32, VX(sqrt_ps))
V_BINARY(vf32, vf32_min, vf32, VX(min_ps))
V_BINARY(vf32, vf32_max, vf32, VX(max_ps))
V_BINARY(vf32, vf32_and, vf32, VX(and_ps))
V_BINARY(vf32, vf32_or, vf32, VX(or_ps))
V_BINARY(vf32, vf32_xor, vf32, VX(xor_ps))
V_UNARY(vi32, vi32_set1, int32_t, VX(set1_epi32))
V_BINARY(vi32, vi32_add, vi32, VX(add_epi32))
V_BINARY(vi32, vi32_sub, vi32, VX(sub_epi32))
V_BINARY(vi32, vi32_and, vi32, VX_SI(and))
V_BINARY(vi32, vi32_or, vi32, VX_SI(or))
V_BINARY(vi32, vi32_xor, vi32, VX_SI(xor))
V_UNARY(vi32, vf32_to_i32, vf32, VX(cvtps_epi32))
V_UNARY(vf32, vi32_to_f32, vi32, VX(cvtepi32_ps))
V_UNARY(vi32, vf32_as_i32, vf32, VX_SI(castps))
V_UNARY(vf32, vi32_as_f32, vi32, VX_CAST_SI(ps))
V_UNARY(vf64, vf64_load, const double *, VX(loadu_pd))
V_STORE(vf64_store, double *, vf64, VX(storeu_pd))
V_STORE(vf64_stream, double *, vf64, VX(stream_pd))
V_UNARY(vf64, vf64_set1, double, VX(set1_pd))
V_NULLARY(vf64, vf64_zero, VX(setzero_pd))
V_BINARY(vf64, vf64_add, vf64, VX(add_pd))
V_BINARY(vf64, vf64_sub, vf64, VX(sub_pd))
V_BINARY(vf64, vf64_mul, vf64, VX(mul_pd))
V_BINARY(vf64, vf64_div, vf64, VX(div_pd))
V_UNARY(vf64, vf64_sqrt, vf64, VX(sqrt_pd))
V_BINARY(vf64, vf64_min, vf64, VX(min_pd))
V_BINARY(vf64, vf64_max, vf64, VX(max_pd))
V_BINARY(vf64, vf64_and, vf64, VX(and_pd))
V_BINARY(vf64, vf64_or, vf64, VX(or_pd))
V_BINARY(vf64, vf64_xor, vf64, VX(xor_pd))
V_BINARY(vi64, vi64_add, vi64, VX(add_epi64))
V_BINARY(vi64, vi64_sub, vi64, VX(sub_epi64))
V_BINARY(vi64, vi64_and, vi64, VX_SI(and))
V_BINARY(vi64, vi64_or, vi64, VX_SI(or))
V_BINARY(vi64, vi64_xor, vi64, VX_SI(xor))
V_UNARY(vi64, vf64_as_i64, vf64, VX_SI(castpd))
V_UNARY(vf64, vi64_as_f64, vi64, VX_CAST_SI(pd))
/* clang-format on */

VINLINE vf32 vf32_neg(vf32 a)
{
    return VX(xor_ps)(a, VX(set1_ps)(-0.0F));
}

VINLINE vf64 vf64_neg(vf64 a)
{
    return VX(xor_pd)(a, VX(set1_pd)(-0.0));
}

#ifdef V_FUSED

/* clang-format off */
V_TERNARY(vf32, vf32_fma, vf32, VX(fmadd_ps))
V_TERNARY(vf32, vf32_fnma, vf32, VX(fnmadd_ps))
V_TERNARY(vf32, vf32_fused, vf32, VX(fmadd_ps))
V_TERNARY(vf64, vf64_fma, vf64, VX(fmadd_pd))
V_TERNARY(vf64, vf64_fnma, vf64, VX(fnmadd_pd))
V_TERNARY(vf64, vf64_fused, vf64, VX(fmadd_pd))
/* clang-format on */

#endif

#ifndef V_MASK_REGISTERS

/* clang-format off */
V_BINARY(vm32, vm32_and, vm32, VX(and_ps))
V_BINARY(vm32, vm32_or, vm32, VX(or_ps))
V_BINARY(vm64, vm64_and, vm64, VX(and_pd))
V_BINARY(vm64, vm64_or, vm64, VX(or_pd))
V_UNARY(vi64, vi64_set1, int64_t, VX(set1_epi64x))
/* clang-format on */

VINLINE vf32 vf32_abs(vf32 a)
{
    return VX(andnot_ps)(VX(set1_ps)(-0.0F), a);
}

VINLINE vf32 vf32_copysign(vf32 size, vf32 sign)
{
    const vf32 bit = VX(set1_ps)(-0.0F);
    return VX(or_ps)(VX(and_ps)(bit, sign), VX(andnot_ps)(bit, size));
}

VINLINE vm32 vm32_not(vm32 m)
{
    return VX(xor_ps)(m, VX_CAST_SI(ps)(VX(set1_epi32)(-1)));
}

VINLINE unsigned vm32_bits(vm32 m)
{
    return (unsigned)VX(movemask_ps)(m);
}

VINLINE bool vm32_any(vm32 m)
{
    return VX(movemask_ps)(m) != 0;
}

VINLINE vi32 vi32_load(const int32_t *p)
{
    return VX_SI(loadu)((const vi32 *)(const void *)p);
}

VINLINE void vi32_store(int32_t *p, vi32 v)
{
    VX_SI(storeu)((vi32 *)(void *)p, v);
}

VINLINE vi32 vi32_shl(vi32 a, int by)
{
    return VX(slli_epi32)(a, by);
}

VINLINE vi32 vi32_shr(vi32 a, int by)
{
    return VX(srli_epi32)(a, by);
}

VINLINE vi32 vi32_sar(vi32 a, int by)
{
    return VX(srai_epi32)(a, by);
}

VINLINE vm32 vi32_eq(vi32 a, vi32 b)
{
    return VX_CAST_SI(ps)(VX(cmpeq_epi32)(a, b));
}

VINLINE vm32 vi32_gt(vi32 a, vi32 b)
{
    return VX_CAST_SI(ps)(VX(cmpgt_epi32)(a, b));
}

VINLINE vf64 vf64_abs(vf64 a)
{
    return VX(andnot_pd)(VX(set1_pd)(-0.0), a);
}

VINLINE vf64 vf64_copysign(vf64 size, vf64 sign)
{
    const vf64 bit = VX(set1_pd)(-0.0);
    return VX(or_pd)(VX(and_pd)(bit, sign), VX(andnot_pd)(bit, size));
}

VINLINE vm64 vm64_not(vm64 m)
{
    return VX(xor_pd)(m, VX_CAST_SI(pd)(VX(set1_epi32)(-1)));
}

VINLINE unsigned vm64_bits(vm64 m)
{
    return (unsigned)VX(movemask_pd)(m);
}

VINLINE bool vm64_any(vm64 m)
{
    return VX(movemask_pd)(m) != 0;
}

VINLINE vi64 vi64_load(const int64_t *p)
{
    return VX_SI(loadu)((const vi32 *)(const void *)p);
}

VINLINE void vi64_store(int64_t *p, vi64 v)
{
    VX_SI(storeu)((vi32 *)(void *)p, v);
}

VINLINE vi64 vi64_shl(vi64 a, int by)
{
    return VX(slli_epi64)(a, by);
}

VINLINE vi64 vi64_shr(vi64 a, int by)
{
    return VX(srli_epi64)(a, by);
}

#endif

/* Memory order. */

VINLINE void v_fence(void)
{
    _mm_sfence();
}

VINLINE void v_prefetch(const void *p)
{
    _mm_prefetch((const char *)p, _MM_HINT_T0);
}

#endif
