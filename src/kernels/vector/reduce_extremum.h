/* SPDX-License-Identifier: MIT */
/*
 * reduce_extremum.h - the body of max, min, argmax and argmin, per type.
 *
 * Included by reduce_extremum.c after f32.h and after f64.h. The vector max of
 * x86 loses a NaN and does not order zeros. So a sweep compares pairs of
 * vectors for being unordered as it goes; zeros are looked at again, while
 * their chunk is in the first-level cache, and only when the extremum is zero
 * so far.
 *
 * argmax never tracks positions: it keeps the chunk that held the largest
 * so far and looks for the element at the end.
 */

struct F(extremum) {
    VREAL best; /* per lane, if there is no NaN */
    VMASK nan;  /* any lane: there was one */
};

VINLINE VREAL F(better)(enum goal goal, VREAL a, VREAL b)
{
    return goal == LARGEST ? V(max)(a, b) : V(min)(a, b);
}

VINLINE VMASK F(is_better)(enum goal goal, VREAL a, VREAL b)
{
    return goal == LARGEST ? V(gt)(a, b) : V(lt)(a, b);
}

VINLINE REAL F(across)(enum goal goal, VREAL v)
{
    return goal == LARGEST ? V(hmax)(v) : V(hmin)(v);
}

VINLINE struct F(extremum)
    F(join)(enum goal goal, struct F(extremum) a, struct F(extremum) b)
{
    return (struct F(extremum)){F(better)(goal, a.best, b.best),
                                M(or)(a.nan, b.nan)};
}

VINLINE struct F(extremum) F(pair)(enum goal goal, VREAL x, VREAL y)
{
    x = V(keep)(x);
    y = V(keep)(y);
    return (struct F(extremum)){F(better)(goal, x, y), V(unord)(x, y)};
}

VINLINE struct F(extremum) F(four)(enum goal goal, const REAL *a)
{
    const struct F(extremum) left =
        F(pair)(goal, V(load)(a), V(load)(a + LANES));
    v_order(); /* up through memory, as the prefetchers expect */
    return F(join)(
        goal, left,
        F(pair)(goal, V(load)(a + 2 * LANES), V(load)(a + 3 * LANES)));
}

/* Fewer than LANES elements; the first one fills the other lanes. */
VINLINE VREAL F(part)(const REAL *a, size_t n)
{
    return V(mix)(n, V(load_n)(a, n), V(set1)(a[0]));
}

/* Elements looked at twice change no extremum: the last vector overlaps. */
VINLINE struct F(extremum) F(sweep)(enum goal goal, size_t n, const REAL *a)
{
    const VREAL start = n < LANES ? F(part)(a, n) : V(load)(a);
    struct F(extremum) one = F(pair)(goal, start, start);
    struct F(extremum) two = one;
    size_t i = 0;

    for (; n - i >= 8 * LANES; i += 8 * LANES) {
        one = F(join)(goal, one, F(four)(goal, a + i));
        v_order();
        two = F(join)(goal, two, F(four)(goal, a + i + 4 * LANES));
        v_order();
    }
    for (; n - i > 2 * LANES; i += 2 * LANES)
        one = F(join)(goal, one,
                      F(pair)(goal, V(load)(a + i), V(load)(a + i + LANES)));
    if (i < n && n > LANES) {
        const VREAL next = V(load)(n - i < LANES ? a : a + i);
        const VREAL last = V(load)(a + n - LANES);
        two = F(join)(goal, two, F(pair)(goal, next, last));
    }
    return F(join)(goal, one, two);
}

/* Whether a chunk whose extremum is zero holds the zero that is beyond the
 * other: +0 for LARGEST, -0 for SMALLEST. All else has the other sign. */
static bool F(has_outer_zero)(enum goal goal, size_t n, const REAL *a)
{
    VREAL signs = V(set1)(a[0]);

    for (size_t i = 0; i < n; i += LANES) {
        const VREAL x = n - i < LANES ? F(part)(a + i, n - i) : V(load)(a + i);
        signs = goal == LARGEST ? V(and)(signs, x) : V(or)(signs, x);
    }
    const VMASK minus = V(lt)(V(copysign)(V(set1)(1), signs), V(zero)());
    return goal == LARGEST ? !M(all)(minus) : M(any)(minus);
}

VINLINE void F(extreme)(enum goal goal, size_t n, const REAL *a,
                        struct takt_partial *out)
{
    const size_t chunk = 256 * LANES;
    VREAL best = V(set1)(a[0]);
    bool outer = false;

    for (size_t i = 0; i < n; i += chunk) {
        const size_t some = n - i < chunk ? n - i : chunk;
        const struct F(extremum) next = F(sweep)(goal, some, a + i);
        if (M(any)(next.nan)) {
            *out = (struct takt_partial){(double)NAN, 0.0, 0, n};
            return;
        }
        best = F(better)(goal, next.best, best);
        if (!outer && !M(any)(F(is_better)(goal, best, V(zero)())) &&
            M(any)(V(eq)(next.best, V(zero)())))
            outer = F(has_outer_zero)(goal, some, a + i);
    }
    double value = (double)F(across)(goal, best);
    if (value == 0.0)
        value = outer == (goal == LARGEST) ? 0.0 : -0.0;
    *out = (struct takt_partial){value, 0.0, 0, n};
}

/* Position of the first of n elements that equals `wanted`; there is one. */
VINLINE size_t F(find)(size_t n, const REAL *a, VREAL wanted)
{
    size_t i = 0;

    for (; n - i >= 4 * LANES; i += 4 * LANES) {
        const VMASK x = V(eq)(V(load)(a + i), wanted);
        const VMASK y = V(eq)(V(load)(a + i + LANES), wanted);
        const VMASK z = V(eq)(V(load)(a + i + 2 * LANES), wanted);
        const VMASK w = V(eq)(V(load)(a + i + 3 * LANES), wanted);
        if (M(any)(M(or)(M(or)(x, y), M(or)(z, w))))
            break;
    }
    for (; n - i >= LANES; i += LANES) {
        const unsigned hits = M(bits)(V(eq)(V(load)(a + i), wanted));
        if (hits != 0)
            return i + (size_t)__builtin_ctz(hits);
    }
    const VREAL last = F(part)(a + i, n - i);
    return i + (size_t)__builtin_ctz(M(bits)(V(eq)(last, wanted)));
}

static void F(set_first_nan)(const REAL *a, size_t from, size_t n,
                             struct takt_partial *out)
{
    while (!isnan(a[from]))
        from++;
    *out = (struct takt_partial){(double)NAN, 0.0, from, n};
}

VINLINE void F(locate)(enum goal goal, size_t n, const REAL *a,
                       struct takt_partial *out)
{
    const size_t chunk = 64 * LANES;
    VREAL best = V(set1)(a[0]);
    size_t where = 0;

    for (size_t i = 0; i < n; i += chunk) {
        const size_t some = n - i < chunk ? n - i : chunk;
        const struct F(extremum) next = F(sweep)(goal, some, a + i);
        if (M(any)(next.nan)) {
            F(set_first_nan)(a, i, n, out);
            return;
        }
        if (M(any)(F(is_better)(goal, next.best, best))) {
            best = V(set1)(F(across)(goal, next.best));
            where = i;
        }
    }
    where += F(find)(n - where, a + where, best);
    *out = (struct takt_partial){(double)a[where], 0.0, where, n};
}

/* clang-format off */
TAKT_REDUCE(TAKT_K(F(max)), F(extreme)(LARGEST, n, a, out))
TAKT_REDUCE(TAKT_K(F(min)), F(extreme)(SMALLEST, n, a, out))
TAKT_REDUCE(TAKT_K(F(argmax)), F(locate)(LARGEST, n, a, out))
TAKT_REDUCE(TAKT_K(F(argmin)), F(locate)(SMALLEST, n, a, out))
/* clang-format on */
