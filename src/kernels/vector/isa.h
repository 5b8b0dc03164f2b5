/* SPDX-License-Identifier: MIT */
/*
 * isa.h - the vector vocabulary that every vector kernel is written in.
 *
 * A kernel file is compiled once per instruction set with -DTAKT_ISA=<isa>;
 * this header brings in <isa>.h, which defines the same words for it:
 *
 *   vf32 vf64          VF32_LANES floats, VF64_LANES doubles
 *   vi32 vi64          signed integers, as many lanes
 *   vm32 vm64          masks, one truth per lane
 *
 *   load, store        any alignment; _n touches the first n <= LANES elements
 *                      only, lanes not loaded are zero
 *   load_up_to         _n where n < LANES, else the whole vector
 *   stream             vector-aligned, past the caches; v_fence() ends it
 *   V_MASKS            1 where _n costs no more than a whole vector
 *   V_FUSES            1 where fma is fused
 *   min, max           a < b ? a : b and a > b ? a : b: b if either is NaN
 *   fma, fnma          a*b + c, c - a*b: fused where the ISA can (not on sse2)
 *   fused              a*b + c with one rounding, at any price
 *   lt gt eq           quiet; false with a NaN
 *   unord              true where a or b is NaN
 *   odd                true where the lowest bit of an integer is set
 *   select(m, a, b)    m ? a : b
 *   flip(a, b)         a, its sign changed where b has one
 *   mix(n, a, b)       the first n lanes of a, elsewhere b
 *   sum, hmax, hmin    across lanes; the extrema are unspecified with a NaN
 *   to_i32             to nearest, ties to even
 *   as_i32, as_f32     the same bits
 *   keep               stays in a register, is not loaded once per use
 *   shl, sar, shr      shifts of integers; shr brings in zeros
 *   ldexp(x, k)        x * 2^k, rounded once; k whole, |k| <= 252 (2044)
 *   ratio(a, c, x)     a / (c + x) as if c + x were exact, and rounded once or
 *                      nearly; c/2 <= c + x <= 2c
 *   transpose(v)       the square tile v[LANES], in registers
 *   mantissa(x)        x > 0 is mantissa * 2^exponent(x, mantissa), with the
 *                      mantissa in [0.75, 1.5); denormals are welcome
 *   V_PICKS            1 where there is pick(of, m): one of 16 doubles by the
 *                      first four bits of a mantissa
 *
 *   V_TILE_ROWS        rows of a matrix product that registers can hold, two
 *                      vectors each, beside two vectors of the right side and
 *                      one of the left
 *   V_EACH_TILE_ROWS(X)  X(1) to X(V_TILE_ROWS)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VINLINE static inline __attribute__((always_inline))

/* Words that are one intrinsic. */
#define V_NULLARY(to_, name_, of_) \
    VINLINE to_ name_(void)        \
    {                              \
        return of_();              \
    }
#define V_UNARY(to_, name_, from_, of_) \
    VINLINE to_ name_(from_ a)          \
    {                                   \
        return of_(a);                  \
    }
#define V_BINARY(to_, name_, from_, of_) \
    VINLINE to_ name_(from_ a, from_ b)  \
    {                                    \
        return of_(a, b);                \
    }
#define V_TERNARY(to_, name_, from_, of_)        \
    VINLINE to_ name_(from_ a, from_ b, from_ c) \
    {                                            \
        return of_(a, b, c);                     \
    }
#define V_STORE(name_, to_, from_, of_) \
    VINLINE void name_(to_ p, from_ v)  \
    {                                   \
        of_(p, v);                      \
    }

/* The compiler moves no load across it. */
VINLINE void v_order(void)
{
    __asm__ volatile("" ::: "memory");
}

/* The first cache line in a scratch that has 63 bytes more than needed. */
VINLINE void *v_line(void *scratch)
{
    return (void *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
}

/* Names of kernels: takt__k_add_f32_avx2, and with _nt the variant that
 * writes past the caches. */
#define TAKT_K_PASTE(name, isa) takt__k_##name##_##isa
#define TAKT_K_NT_PASTE(name, isa) takt__k_##name##_##isa##_nt
#define TAKT_K_EXPAND(name, isa) TAKT_K_PASTE(name, isa)
#define TAKT_K_NT_EXPAND(name, isa) TAKT_K_NT_PASTE(name, isa)
#define TAKT_K(name) TAKT_K_EXPAND(name, TAKT_ISA)
#define TAKT_K_NT(name) TAKT_K_NT_EXPAND(name, TAKT_ISA)

#define TAKT_ISA_QUOTE(file) #file
#define TAKT_ISA_HEADER(isa) TAKT_ISA_QUOTE(isa.h)
#include TAKT_ISA_HEADER(TAKT_ISA)

VINLINE vf32 vf32_load_up_to(const float *p, size_t n)
{
    return n < VF32_LANES ? vf32_load_n(p, n) : vf32_load(p);
}

VINLINE vf64 vf64_load_up_to(const double *p, size_t n)
{
    return n < VF64_LANES ? vf64_load_n(p, n) : vf64_load(p);
}

VINLINE vf32 vf32_mix(size_t n, vf32 a, vf32 b)
{
    static const float lane[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                 8, 9, 10, 11, 12, 13, 14, 15};
    return vf32_select(vf32_lt(vf32_load(lane), vf32_set1((float)n)), a, b);
}

VINLINE vf64 vf64_mix(size_t n, vf64 a, vf64 b)
{
    static const double lane[] = {0, 1, 2, 3, 4, 5, 6, 7};
    return vf64_select(vf64_lt(vf64_load(lane), vf64_set1((double)n)), a, b);
}
