/* SPDX-License-Identifier: MIT */
/*
 * x86_real.h - the words of x86 for one dtype.
 *
 * Included by x86.h for each dtype (see f32.h), with VX(name), the
 * intrinsics of the instruction set for that dtype, and VX_CMP, which compares.
 */

/* clang-format off */
V_UNARY(VREAL, V(load), const REAL *, VX(loadu))
V_STORE(V(store), REAL *, VREAL, VX(storeu))
V_STORE(V(stream), REAL *, VREAL, VX(stream))
V_UNARY(VREAL, V(set1), REAL, VX(set1))
V_NULLARY(VREAL, V(zero), VX(setzero))
V_BINARY(VREAL, V(add), VREAL, VX(add))
V_BINARY(VREAL, V(sub), VREAL, VX(sub))
V_BINARY(VREAL, V(mul), VREAL, VX(mul))
V_BINARY(VREAL, V(div), VREAL, VX(div))
V_UNARY(VREAL, V(sqrt), VREAL, VX(sqrt))
V_BINARY(VREAL, V(min), VREAL, VX(min))
V_BINARY(VREAL, V(max), VREAL, VX(max))
V_BINARY(VREAL, V(and), VREAL, VX(and))
V_BINARY(VREAL, V(or), VREAL, VX(or))
V_BINARY(VREAL, V(xor), VREAL, VX(xor))
/* clang-format on */

VINLINE VREAL V(neg)(VREAL a)
{
    return VX(xor)(a, VX(set1)((REAL)-0.0));
}

#if V_WIDTH == 128
#define V_COMPARE(name_, how_) V_BINARY(VMASK, V(name_), VREAL, VX(cmp##name_))
#else
#define V_COMPARE(name_, how_)               \
    VINLINE VMASK V(name_)(VREAL a, VREAL b) \
    {                                        \
        return VX_CMP(a, b, _CMP_##how_);    \
    }
#endif
/* clang-format off */
V_COMPARE(lt, LT_OQ)
V_COMPARE(gt, GT_OQ)
V_COMPARE(eq, EQ_OQ)
V_COMPARE(unord, UNORD_Q)
/* clang-format on */
#undef V_COMPARE

VINLINE VMASK V(isnan)(VREAL a)
{
    return V(unord)(a, a);
}

#if V_WIDTH == 512

/* clang-format off */
V_UNARY(VREAL, V(abs), VREAL, VX(abs))
/* clang-format on */

VINLINE VMASK M(first)(size_t n)
{
    return (VMASK)((1U << n) - 1U);
}

VINLINE VREAL V(load_n)(const REAL *p, size_t n)
{
    return VX(maskz_loadu)(M(first)(n), p);
}

VINLINE void V(store_n)(REAL *p, VREAL v, size_t n)
{
    VX(mask_storeu)(p, M(first)(n), v);
}

VINLINE VREAL V(select)(VMASK m, VREAL a, VREAL b)
{
    return VX(mask_blend)(m, b, a);
}

VINLINE VMASK M(or)(VMASK a, VMASK b)
{
    return (VMASK)(a | b);
}

VINLINE unsigned M(bits)(VMASK m)
{
    return m;
}

#else

VINLINE VREAL V(abs)(VREAL a)
{
    return VX(andnot)(VX(set1)((REAL)-0.0), a);
}

VINLINE VREAL V(copysign)(VREAL size, VREAL sign)
{
    const VREAL bit = VX(set1)((REAL)-0.0);
    return VX(or)(VX(and)(bit, sign), VX(andnot)(bit, size));
}

VINLINE VREAL V(flip)(VREAL a, VREAL sign)
{
    return VX(xor)(a, VX(and)(sign, VX(set1)((REAL)-0.0)));
}

/* clang-format off */
V_BINARY(VMASK, M(or), VMASK, VX(or))
/* clang-format on */

VINLINE unsigned M(bits)(VMASK m)
{
    return (unsigned)VX(movemask)(m);
}

VINLINE VREAL V(select)(VMASK m, VREAL a, VREAL b)
{
#if V_WIDTH == 256
    return VX(blendv)(b, a, m);
#else
    return VX(or)(VX(and)(m, a), VX(andnot)(m, b));
#endif
}

#endif

VINLINE bool M(any)(VMASK m)
{
    return M(bits)(m) != 0;
}

VINLINE bool M(all)(VMASK m)
{
    return M(bits)(m) == (1U << LANES) - 1;
}

#if V_WIDTH > 128

/* clang-format off */
V_TERNARY(VREAL, V(fma), VREAL, VX(fmadd))
V_TERNARY(VREAL, V(fnma), VREAL, VX(fnmadd))
V_TERNARY(VREAL, V(fused), VREAL, VX(fmadd))
/* clang-format on */

#else

VINLINE VREAL V(fma)(VREAL a, VREAL b, VREAL c)
{
    return VX(add)(VX(mul)(a, b), c);
}

VINLINE VREAL V(fnma)(VREAL a, VREAL b, VREAL c)
{
    return VX(sub)(c, VX(mul)(a, b));
}

/* One rounding, by libm for each lane. */
VINLINE VREAL V(fused)(VREAL a, VREAL b, VREAL c)
{
    REAL x[LANES], y[LANES], z[LANES];

    V(store)(x, a);
    V(store)(y, b);
    V(store)(z, c);
    for (int i = 0; i < LANES; i++)
        x[i] = _Generic(x[i], float : fmaf, double : fma)(x[i], y[i], z[i]);
    return V(load)(x);
}

#endif

VINLINE VREAL V(keep)(VREAL v)
{
#if V_WIDTH == 512
    __asm__("" : "+v"(v));
#else
    __asm__("" : "+x"(v));
#endif
    return v;
}
