/* SPDX-License-Identifier: MIT */
/*
 * neon_real.h - the words of AArch64 for one dtype.
 *
 * Included by neon.h for each dtype (see f32.h), with the intrinsics for it:
 * NX(name) and NU(name), on the elements and on unsigned integers as wide, and
 * NX_FROM_U and NU_FROM_X, which keep the bits.
 */

/* There is no portable streaming store: an ordinary one keeps the meaning. */
/* clang-format off */
V_UNARY(VREAL, V(load), const REAL *, NX(ld1q))
V_STORE(V(store), REAL *, VREAL, NX(st1q))
V_STORE(V(stream), REAL *, VREAL, NX(st1q))
V_UNARY(VREAL, V(set1), REAL, NX(dupq_n))
V_BINARY(VREAL, V(add), VREAL, NX(addq))
V_BINARY(VREAL, V(sub), VREAL, NX(subq))
V_BINARY(VREAL, V(mul), VREAL, NX(mulq))
V_BINARY(VREAL, V(div), VREAL, NX(divq))
V_UNARY(VREAL, V(sqrt), VREAL, NX(sqrtq))
V_UNARY(VREAL, V(abs), VREAL, NX(absq))
V_UNARY(VREAL, V(neg), VREAL, NX(negq))
V_BINARY(VMASK, V(lt), VREAL, NX(cltq))
V_BINARY(VMASK, V(gt), VREAL, NX(cgtq))
V_BINARY(VMASK, V(eq), VREAL, NX(ceqq))
V_BINARY(VMASK, M(or), VMASK, NU(orrq))
V_UNARY(REAL, V(hmax), VREAL, NX(maxnmvq))
V_UNARY(REAL, V(hmin), VREAL, NX(minnmvq))
/* clang-format on */

VINLINE VREAL V(zero)(void)
{
    return NX(dupq_n)(0);
}

VINLINE VREAL V(min)(VREAL a, VREAL b)
{
    return NX(bslq)(NX(cltq)(a, b), a, b);
}

VINLINE VREAL V(max)(VREAL a, VREAL b)
{
    return NX(bslq)(NX(cgtq)(a, b), a, b);
}

VINLINE VREAL V(fma)(VREAL a, VREAL b, VREAL c)
{
    return NX(fmaq)(c, a, b);
}

VINLINE VREAL V(fnma)(VREAL a, VREAL b, VREAL c)
{
    return NX(fmsq)(c, a, b);
}

VINLINE VREAL V(fused)(VREAL a, VREAL b, VREAL c)
{
    return NX(fmaq)(c, a, b);
}

VINLINE VREAL V (and)(VREAL a, VREAL b)
{
    return NX_FROM_U(NU(andq)(NU_FROM_X(a), NU_FROM_X(b)));
}

VINLINE VREAL V(or)(VREAL a, VREAL b)
{
    return NX_FROM_U(NU(orrq)(NU_FROM_X(a), NU_FROM_X(b)));
}

VINLINE VREAL V (xor)(VREAL a, VREAL b)
{
    return NX_FROM_U(NU(eorq)(NU_FROM_X(a), NU_FROM_X(b)));
}

VINLINE VREAL V(flip)(VREAL a, VREAL sign)
{
    return V(xor)(a, V(and)(sign, NX(dupq_n)((REAL)-0.0)));
}

VINLINE VREAL V(copysign)(VREAL size, VREAL sign)
{
    return NX(bslq)(NU_FROM_X(NX(dupq_n)((REAL)-0.0)), sign, size);
}

VINLINE VREAL V(select)(VMASK m, VREAL a, VREAL b)
{
    return NX(bslq)(m, a, b);
}

VINLINE VMASK V(isnan)(VREAL a)
{
    return ~NX(ceqq)(a, a);
}

VINLINE VMASK V(unord)(VREAL a, VREAL b)
{
    return V(isnan)(NX(maxq)(a, b));
}

VINLINE VREAL V(keep)(VREAL v)
{
    __asm__("" : "+w"(v));
    return v;
}
