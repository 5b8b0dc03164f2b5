/* SPDX-License-Identifier: MIT */
/* trig_real.h - the functions of trig.h for one dtype; see f32.h. */

/* Beyond it, libm computes. */
#define TRIG_FAR V(set1)(EITHER(0x1p15F, 0x1p30))

/* What is left of x, and how many quarters of a turn were taken off, in the low
 * bits of a number. */
struct V(turn_parts) {
    VREAL r, count;
};

VINLINE struct V(turn_parts) V(turn_parts)(VREAL x)
{
    const VREAL magic = V(set1)(EITHER(0x1.8p23F, 0x1.8p52));
    const VREAL per = V(set1)(EITHER(0x1.45f306p-1F, 0x1.45f306dc9c883p-1));
    const VREAL first = V(set1)(EITHER(0x1.921fb6p0F, 0x1.921fb54442d18p0));
    const VREAL second =
        V(set1)(EITHER(-0x1.777a5cp-25F, 0x1.1a62633145c07p-54));
    const VREAL third =
        V(set1)(EITHER(-0x1.ee59dap-50F, -0x1.f1976b7ed8fbcp-110));

    const VREAL count = V(fma)(x, per, magic);
    const VREAL k = V(sub)(count, magic);
    const VREAL r = V(fnma)(k, second, V(fnma)(k, first, x));
    return (struct V(turn_parts)){V(fnma)(k, third, r), count};
}

/* One step of a polynomial in z. */
#define TRIG_STEP(f32_, f64_) q = V(fma)(q, z, V(set1)(EITHER(f32_, f64_)))

VINLINE VREAL V(sin_near)(VREAL r, VREAL z)
{
    VREAL q = V(set1)(EITHER(-0x1.9942d8p-13F, 0x1.5da2dcbfe104fp-33));
#if EITHER(0, 1)
    TRIG_STEP(, -0x1.ae5ea4e1cabf2p-26);
    TRIG_STEP(, 0x1.71de35d5b327bp-19);
    TRIG_STEP(, -0x1.a01a019c958cp-13);
#endif
    TRIG_STEP(0x1.110738p-7F, 0x1.111111110fdc8p-7);
    TRIG_STEP(-0x1.555546p-3F, -0x1.555555555554ep-3);
    return V(fma)(V(mul)(r, z), q, r);
}

VINLINE VREAL V(cos_near)(VREAL z)
{
    VREAL q = V(set1)(EITHER(0x1.9a3f08p-16F, -0x1.8fe9cd4d2d12ap-37));
#if EITHER(0, 1)
    TRIG_STEP(, 0x1.1eea69800b14ep-29);
    TRIG_STEP(, -0x1.27e4f8d7a33d9p-22);
    TRIG_STEP(, 0x1.a01a019df4473p-16);
#endif
    TRIG_STEP(-0x1.6c0d8ap-10F, -0x1.6c16c16c16075p-10);
    TRIG_STEP(0x1.55554cp-5F, 0x1.5555555555554p-5);
    TRIG_STEP(-0.5F, -0.5);
    return V(fma)(q, z, V(set1)(1));
}

/* The sine of r and so many quarters: one bit of the count chooses the
 * function, the next one the sign. */
VINLINE VREAL V(sin_of)(VREAL r, VINT count, VREAL sign)
{
    enum { second = 8 * sizeof(REAL) - 2 };
    const VREAL z = V(mul)(r, r);
    const VREAL y = V(select)(M(odd)(count), V(cos_near)(z), V(sin_near)(r, z));
    const VREAL turn = AS_REAL(I(shl)(count, second));
    return V(flip)(y, V(xor)(turn, sign));
}

VINLINE VREAL V(sin_inside)(VREAL x)
{
    const struct V(turn_parts) x4 = V(turn_parts)(V(abs)(x));
    return V(sin_of)(x4.r, AS_INT(x4.count), x);
}

VINLINE VREAL V(cos_inside)(VREAL x)
{
    const struct V(turn_parts) x4 = V(turn_parts)(V(abs)(x));
    const VREAL next = V(add)(x4.count, V(set1)(1));
    return V(sin_of)(x4.r, AS_INT(next), V(zero)());
}

/* Where a lane is far away, libm computes it. */
#define TRIG(name_)                                                 \
    static __attribute__((noinline)) VREAL V(name_##_each)(VREAL x) \
    {                                                               \
        REAL of[LANES];                                             \
                                                                    \
        V(store)(of, x);                                            \
        for (int i = 0; i < LANES; i++)                             \
            of[i] = EITHER(name_##f, name_)(of[i]);                 \
        return V(load)(of);                                         \
    }                                                               \
    VINLINE VREAL V(name_)(VREAL x)                                 \
    {                                                               \
        const VMASK far = V(gt)(V(abs)(x), TRIG_FAR);               \
                                                                    \
        if (!V_FUSES)                                               \
            return V(name_##_each)(x);                              \
        if (M(any)(far)) {                                          \
            const VREAL near =                                      \
                V(name_##_inside)(V(select)(far, V(zero)(), x));    \
            return V(select)(far, V(name_##_each)(x), near);        \
        }                                                           \
        return V(name_##_inside)(x);                                \
    }
TRIG(sin)
TRIG(cos)

#undef TRIG_FAR
#undef TRIG_STEP
#undef TRIG
