/* SPDX-License-Identifier: MIT */
/* columns_real.h - the kernels of columns.c for one dtype; see f32.h. */

/* Some columns of a matrix. */
struct F(strip) {
    const REAL *at;
    size_t rows, ld, n;
};

/* Where the k-th vector of n columns begins: what is left in the end is taken
 * with columns before it, if there are enough. */
VINLINE size_t F(place)(size_t n, size_t k)
{
    return (k + 1) * LANES <= n ? k * LANES : n < LANES ? 0 : n - LANES;
}

VINLINE VREAL F(get)(const REAL *at, size_t n)
{
    return n < LANES ? V(load_n)(at, n) : V(load)(at);
}

VINLINE void F(put)(REAL *out, VREAL result, size_t n)
{
    if (n < LANES)
        V(store_n)(out, result, n);
    else
        V(store)(out, result);
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

#define TREE EITHER(4, 8)

VINLINE struct F(column_sum) F(add_rows)(struct F(column_sum) s, const REAL *at,
                                         size_t ld, size_t rows, size_t n)
{
    VREAL x[TREE];

    for (size_t k = 0; k < rows; k++)
        x[k] = F(get)(at + k * ld, n);
    for (size_t width = rows / 2; width > 0; width /= 2)
        for (size_t k = 0; k < width; k++)
            x[k] = V(add)(x[k], x[k + width]);
    return F(column_add)(s, x[0]);
}

#define KNOWN struct F(column_sum)
#define TAKE F(add_rows)
#define W(name_) F(sum_##name_)
#include "kernels/vector/columns_walk.h"

/* Columns whose sum is no number so far, or all of them, each by itself in long
 * double, which overflows nowhere. */
static __attribute__((noinline)) void
F(sum_each)(struct F(strip) s, size_t n, bool is_all, double count, REAL *out)
{
    for (size_t j = 0; j < n; j++) {
        long double sum = 0;
        if (!is_all && isfinite(out[j]))
            continue;
        for (size_t i = 0; i < s.rows; i++)
            sum += (long double)s.at[i * s.ld + j];
        out[j] = (REAL)(sum / (long double)count);
    }
}

VINLINE void F(put_sums)(struct F(strip) s, const struct F(column_sum) * sum,
                         double count, REAL *out)
{
    const bool is_all = EITHER(1, 0) && !takt__rounds_to_nearest();
    VMASK odd = V(lt)(V(zero)(), V(zero)());

    for (size_t k = 0; k * LANES < s.n; k++) {
        const size_t at = F(place)(s.n, k);
        const VREAL total = F(column_total)(sum[k], count);
        odd = M(or)(odd, V(isnan)(total));
        odd = M(or)(odd, V(eq)(V(abs)(total), V(set1)(INFINITY)));
        F(put)(out + at, total, s.n - at);
    }
    if (is_all || M(any)(odd))
        F(sum_each)(s, s.n, is_all, count, out);
}

static __attribute__((noinline)) void F(sum_blocks)(struct F(strip) all,
                                                    double count, REAL *out)
{
    enum { block = KNOWN_BYTES / sizeof(struct F(column_sum)) * LANES };
    const struct F(column_sum) none = {vf64_zero(), vf64_zero()};
    struct F(column_sum) sum[block / LANES];

    for (size_t j = 0; j < all.n; j += block) {
        const size_t n = all.n - j < block ? all.n - j : block;
        const struct F(strip) s = {all.at + j, all.rows, all.ld, n};
        F(sum_walk)(s, none, sum);
        F(put_sums)(s, sum, count, out + j);
    }
}

VINLINE void F(sum_columns)(struct F(strip) s, double count, REAL *out)
{
    const struct F(column_sum) none = {vf64_zero(), vf64_zero()};
    struct F(column_sum) sum[STRIP] = {none, none, none, none};

    if (s.n > STRIP * LANES) {
        F(sum_blocks)(s, count, out);
        return;
    }
    F(sum_narrow)(s, sum);
    F(put_sums)(s, sum, count, out);
}

/* ---- maxima -------------------------------------------------------------- */

/* +0 is larger than -0: looked for only where -0 would be the result. */
static __attribute__((noinline)) void F(zeros_each)(struct F(strip) s, size_t n,
                                                    REAL *out)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; out[j] == 0 && signbit(out[j]) && i < s.rows; i++)
            if (s.at[i * s.ld + j] == 0 && !signbit(s.at[i * s.ld + j]))
                out[j] = 0;
}

#define TREE 4

/* A NaN stays: max() returns the second of its operands if that is one. */
VINLINE VREAL F(compare_rows)(VREAL most, const REAL *at, size_t ld,
                              size_t rows, size_t n)
{
    VREAL x[TREE];
    VMASK nan;

    for (size_t k = 0; k < rows; k++)
        x[k] = F(get)(at + k * ld, n);
    nan = V(unord)(x[0], x[rows / 2]);
    for (size_t k = 1; k < rows / 2; k++)
        nan = M(or)(nan, V(unord)(x[k], x[k + rows / 2]));
    for (size_t width = rows / 2; width > 0; width /= 2)
        for (size_t k = 0; k < width; k++)
            x[k] = V(max)(x[k], x[k + width]);
    return V(select)(nan, V(set1)((REAL)NAN), V(max)(x[0], most));
}

#define KNOWN VREAL
#define TAKE F(compare_rows)
#define W(name_) F(max_##name_)
#include "kernels/vector/columns_walk.h"

VINLINE void F(put_maxima)(struct F(strip) s, const VREAL *most, REAL *out)
{
    VMASK zero = V(lt)(V(zero)(), V(zero)());

    for (size_t k = 0; k * LANES < s.n; k++) {
        const size_t at = F(place)(s.n, k);
        zero = M(or)(zero, V(eq)(most[k], V(zero)()));
        F(put)(out + at, most[k], s.n - at);
    }
    if (M(any)(zero))
        F(zeros_each)(s, s.n, out);
}

static __attribute__((noinline)) void F(max_blocks)(struct F(strip) all,
                                                    REAL *out)
{
    enum { block = KNOWN_BYTES / sizeof(VREAL) * LANES };
    VREAL most[block / LANES];

    for (size_t j = 0; j < all.n; j += block) {
        const size_t n = all.n - j < block ? all.n - j : block;
        const struct F(strip) s = {all.at + j, all.rows, all.ld, n};
        F(max_walk)(s, V(set1)(-(REAL)INFINITY), most);
        F(put_maxima)(s, most, out + j);
    }
}

VINLINE void F(max_columns)(struct F(strip) s, REAL *out)
{
    const VREAL none = V(set1)(-(REAL)INFINITY);
    VREAL most[STRIP] = {none, none, none, none};

    if (s.n > STRIP * LANES) {
        F(max_blocks)(s, out);
        return;
    }
    F(max_narrow)(s, most);
    F(put_maxima)(s, most, out);
}

/* ---- kernels ------------------------------------------------------------- */

#define COLUMNS(name_, run_)                                                   \
    takt_columns_kernel TAKT_K(F(name_));                                      \
    void TAKT_K(F(name_))(size_t rows, size_t cols, const void *in, size_t ld, \
                          void *out)                                           \
    {                                                                          \
        const struct F(strip) s = {in, rows, ld, cols};                        \
        run_;                                                                  \
    }
/* clang-format off */
COLUMNS(col_sum, F(sum_columns)(s, 1.0, out))
COLUMNS(col_mean, F(sum_columns)(s, (double)rows, out))
COLUMNS(col_max, F(max_columns)(s, out))
/* clang-format on */
#undef COLUMNS
