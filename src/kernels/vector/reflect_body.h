/* SPDX-License-Identifier: MIT */
/*
 * reflect_body.h - Householder reflections of a panel, on vectors that lie
 * along its rows.
 *
 * Included by factor_body.h.
 */
#include "kernels/reflection.h"

enum { REFLECT_VECTORS = TAKT_PANEL_COLS / LANES };

static double F(factor_of)(size_t n, const REAL *x, size_t ld)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        const double size = fabs((double)x[i * ld]);
        most = size > most ? size : most;
    }
    return takt__safe_factor(most);
}

/* Of n elements, `ld` apart, each times a factor. */
static double F(norm)(size_t n, const REAL *x, size_t ld, double factor)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        const double scaled = (double)x[i * ld] * factor;
        sum += scaled * scaled;
    }
    return sqrt(sum);
}

/* tau times the sums of the columns, each element times that of v; 0 up to and
 * including column k, so that whole vectors can be subtracted. v is 1 in row k
 * and lies below it. */
VINLINE void F(sum_columns)(size_t rows, size_t k, const REAL *a, size_t ld,
                            REAL tau, VREAL out[REFLECT_VECTORS])
{
    for (size_t v = 0; v < REFLECT_VECTORS; v++)
        out[v] = V(load)(a + k * ld + v * LANES);
    for (size_t i = k + 1; i < rows; i++) {
        const VREAL factor = V(set1)(a[i * ld + k]);
        for (size_t v = 0; v < REFLECT_VECTORS; v++)
            out[v] = V(fma)(factor, V(load)(a + i * ld + v * LANES), out[v]);
    }
    for (size_t v = 0; v < REFLECT_VECTORS; v++) {
        const size_t first = v * LANES;
        const size_t zeros = k < first           ? 0
                             : k - first < LANES ? k - first + 1
                                                 : LANES;
        out[v] = V(mix)(zeros, V(zero)(), V(mul)(V(set1)(tau), out[v]));
    }
}

static void F(apply)(size_t rows, size_t k, REAL *a, size_t ld, REAL tau)
{
    VREAL sum[REFLECT_VECTORS];

    F(sum_columns)(rows, k, a, ld, tau, sum);
    for (size_t i = k; i < rows; i++) {
        const VREAL factor = V(set1)(i == k ? 1 : a[i * ld + k]);
        for (size_t v = 0; v < REFLECT_VECTORS; v++) {
            REAL *to = a + i * ld + v * LANES;
            V(store)(to, V(fnma)(factor, sum[v], V(load)(to)));
        }
    }
}

void TAKT_K(F(reflect))(size_t rows, size_t cols, size_t all, void *a,
                        size_t ld, void *tau)
{
    REAL *of = a;

    (void)all;
    for (size_t k = 0; k < cols; k++) {
        const size_t below = rows - k - 1;
        REAL *x = of + k * ld + k;
        const double factor = F(factor_of)(below + 1, x, ld);
        const struct takt_reflection r = takt__reflection(
            (double)x[0] * factor, F(norm)(below, x + ld, ld, factor));

        for (size_t i = 1; i <= below; i++)
            x[i * ld] = (REAL)((double)x[i * ld] * factor * r.scale);
        ((REAL *)tau)[k] = (REAL)r.tau;
        if (k + 1 < cols)
            F(apply)(rows, k, of, ld, (REAL)r.tau);
        x[0] = (REAL)(r.beta / factor);
    }
}
