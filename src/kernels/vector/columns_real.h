/* SPDX-License-Identifier: MIT */
/* columns_real.h - the kernels of columns.c for one dtype; see f32.h. */

/* Some columns of a matrix: `n` of them, LANES at most where there is one
 * vector. */
struct F(strip) {
    const REAL *at;
    size_t rows, ld, n;
};

VINLINE VREAL F(strip_load)(struct F(strip) s, size_t row, size_t vector)
{
    const REAL *at = s.at + row * s.ld + vector * LANES;
    return s.n < LANES ? V(load_n)(at, s.n) : V(load)(at);
}

/* ---- sums ---------------------------------------------------------------- */

/* Floats: the sums of both halves. Doubles: a sum and what it lost. */
struct F(column_sum) {
    vf64 a, b;
};

VINLINE struct F(column_sum) F(column_add)(struct F(column_sum) s, VREAL t)
{
#if EITHER(1, 0)
    return (struct F(column_sum)){vf64_add(s.a, vf32_widen_lo(t)),
                                  vf64_add(s.b, vf32_widen_hi(t))};
#else
    const vf64 a = vf64_add(s.a, t);
    const vf64 of_t = vf64_sub(a, s.a);
    const vf64 lost =
        vf64_add(vf64_sub(s.a, vf64_sub(a, of_t)), vf64_sub(t, of_t));
    return (struct F(column_sum)){a, vf64_add(s.b, lost)};
#endif
}

VINLINE VREAL F(column_total)(struct F(column_sum) s, double count)
{
    const vf64 by = vf64_set1(count);
#if EITHER(1, 0)
    return vf64_narrow(vf64_div(s.a, by), vf64_div(s.b, by));
#else
    return vf64_div(vf64_add(s.a, s.b), by);
#endif
}

VINLINE VREAL F(strip_tree)(struct F(strip) s, size_t row, size_t vector)
{
    VREAL x[TREE];

    for (size_t k = 0; k < TREE; k++)
        x[k] = F(strip_load)(s, row + k, vector);
    for (size_t width = TREE / 2; width > 0; width /= 2)
        for (size_t k = 0; k < width; k++)
            x[k] = V(add)(x[k], x[k + width]);
    return x[0];
}

/* One column by itself, in long double, which overflows nowhere. */
static __attribute__((noinline)) void F(sum_each)(struct F(strip) s, size_t n,
                                                  double count, REAL *out)
{
    for (size_t j = 0; j < n; j++) {
        long double sum = 0;
        for (size_t i = 0; i < s.rows; i++)
            sum += (long double)s.at[i * s.ld + j];
        out[j] = (REAL)(sum / (long double)count);
    }
}

/* `vectors` is a constant, so that the sums stay in registers. */
VINLINE void F(sum_strip)(struct F(strip) s, size_t vectors, double count,
                          REAL *out)
{
    const struct F(column_sum) none = {vf64_zero(), vf64_zero()};
    struct F(column_sum) sum[4] = {none, none, none, none};
    VREAL checked = V(zero)();
    size_t i = 0;

    for (; s.rows - i >= TREE; i += TREE)
        for (size_t k = 0; k < vectors; k++)
            sum[k] = F(column_add)(sum[k], F(strip_tree)(s, i, k));
    for (; i < s.rows; i++)
        for (size_t k = 0; k < vectors; k++)
            sum[k] = F(column_add)(sum[k], F(strip_load)(s, i, k));
    for (size_t k = 0; k < vectors; k++) {
        const VREAL total = F(column_total)(sum[k], count);
        checked = V(max)(V(abs)(total), checked);
        checked = V(select)(V(isnan)(total), V(set1)(INFINITY), checked);
        if (s.n < LANES)
            V(store_n)(out, total, s.n);
        else
            V(store)(out + k * LANES, total);
    }
    if (M(any)(V(eq)(checked, V(set1)(INFINITY))))
        F(sum_each)(s, s.n < LANES ? s.n : vectors * LANES, count, out);
}

VINLINE void F(sum_columns)(size_t rows, size_t cols, const REAL *in, size_t ld,
                            double count, REAL *out)
{
    size_t j = 0;

    for (; cols - j >= 4 * LANES; j += 4 * LANES)
        F(sum_strip)
    ((struct F(strip)){in + j, rows, ld, LANES}, 4, count, out + j);
    for (; j < cols; j += LANES) {
        const size_t n = cols - j < LANES ? cols - j : LANES;
        F(sum_strip)((struct F(strip)){in + j, rows, ld, n}, 1, count, out + j);
    }
}

/* ---- maxima -------------------------------------------------------------- */

/* The largest so far, and where there was a NaN. */
struct F(column_max) {
    VREAL most;
    VMASK nan;
};

/* +0 is larger than -0: looked for only where -0 would be the result. */
static __attribute__((noinline)) void F(zeros_each)(struct F(strip) s, size_t n,
                                                    REAL *out)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; out[j] == 0 && signbit(out[j]) && i < s.rows; i++)
            if (s.at[i * s.ld + j] == 0 && !signbit(s.at[i * s.ld + j]))
                out[j] = 0;
}

VINLINE void F(max_strip)(struct F(strip) s, size_t vectors, REAL *out)
{
    struct F(column_max) max[4];
    bool has_zero = false;
    size_t i = 1;

    for (size_t k = 0; k < vectors; k++) {
        const VREAL x = F(strip_load)(s, 0, k);
        max[k] = (struct F(column_max)){x, V(isnan)(x)};
    }
    for (; s.rows - i >= 2; i += 2)
        for (size_t k = 0; k < vectors; k++) {
            const VREAL x = F(strip_load)(s, i, k);
            const VREAL y = F(strip_load)(s, i + 1, k);
            max[k].nan = M(or)(max[k].nan, V(unord)(x, y));
            max[k].most = V(max)(V(max)(x, y), max[k].most);
        }
    for (size_t k = 0; i < s.rows && k < vectors; k++) {
        const VREAL x = F(strip_load)(s, i, k);
        max[k].nan = M(or)(max[k].nan, V(isnan)(x));
        max[k].most = V(max)(x, max[k].most);
    }
    for (size_t k = 0; k < vectors; k++) {
        const VREAL most =
            V(select)(max[k].nan, V(set1)((REAL)NAN), max[k].most);
        has_zero |= M(any)(V(eq)(most, V(zero)()));
        if (s.n < LANES)
            V(store_n)(out, most, s.n);
        else
            V(store)(out + k * LANES, most);
    }
    if (has_zero)
        F(zeros_each)(s, s.n < LANES ? s.n : vectors * LANES, out);
}

VINLINE void F(max_columns)(size_t rows, size_t cols, const REAL *in, size_t ld,
                            REAL *out)
{
    size_t j = 0;

    for (; cols - j >= 4 * LANES; j += 4 * LANES)
        F(max_strip)((struct F(strip)){in + j, rows, ld, LANES}, 4, out + j);
    for (; j < cols; j += LANES) {
        const size_t n = cols - j < LANES ? cols - j : LANES;
        F(max_strip)((struct F(strip)){in + j, rows, ld, n}, 1, out + j);
    }
}

/* ---- kernels ------------------------------------------------------------- */

#define COLUMNS(name_, run_)                                                   \
    takt_columns_kernel TAKT_K(F(name_));                                      \
    void TAKT_K(F(name_))(size_t rows, size_t cols, const void *in, size_t ld, \
                          void *out)                                           \
    {                                                                          \
        run_;                                                                  \
    }
/* clang-format off */
COLUMNS(col_sum, F(sum_columns)(rows, cols, in, ld, 1.0, out))
COLUMNS(col_mean, F(sum_columns)(rows, cols, in, ld, (double)rows, out))
COLUMNS(col_max, F(max_columns)(rows, cols, in, ld, out))
/* clang-format on */
#undef COLUMNS
