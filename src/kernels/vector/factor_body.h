/* SPDX-License-Identifier: MIT */
/*
 * factor_body.h - the steps of factors, on vectors that lie along rows.
 *
 * Included by factor_f32.c and factor_f64.c, after f32.h or f64.h.
 */
#include <math.h>

#include "kernels/factor.h"

#include "kernels/vector/reflect_body.h"

/* Best of 16, 32 and 48 with bench_solve. */
enum { BLOCK = 32 };

static bool is_finite(REAL x)
{
    return x - x == 0;
}

static REAL magnitude(REAL x)
{
    return x < 0 ? -x : x;
}

/* Whether 1 / x is neither infinite nor denormal, which flushing makes 0. */
static bool has_inverse(REAL x)
{
    const REAL least = (REAL)(sizeof x == sizeof(float) ? 0x1p-126 : 0x1p-1022);

    return magnitude(x) >= least && magnitude(x) <= 1 / least;
}

/* ---- rows ---------------------------------------------------------------- */

/* Some rows, each with a coefficient. */
struct F(terms) {
    size_t count;
    const REAL *factor;
    size_t step; /* from one coefficient to the next */
    const REAL *row;
    size_t ld;
};

/* Four vectors of `row`, less the terms. */
VINLINE void F(subtract_wide)(const struct F(terms) * terms, size_t j,
                              REAL *row)
{
    VREAL sum[4];

    for (int v = 0; v < 4; v++)
        sum[v] = V(load)(row + j + v * LANES);
    for (size_t k = 0; k < terms->count; k++) {
        const VREAL factor = V(set1)(terms->factor[k * terms->step]);
        const REAL *of = terms->row + k * terms->ld + j;
        for (int v = 0; v < 4; v++)
            sum[v] = V(fnma)(factor, V(load)(of + v * LANES), sum[v]);
    }
    for (int v = 0; v < 4; v++)
        V(store)(row + j + v * LANES, sum[v]);
}

VINLINE VREAL F(subtract_one)(const struct F(terms) * terms, size_t k, size_t j,
                              size_t n, VREAL sum)
{
    return V(fnma)(V(set1)(terms->factor[k * terms->step]),
                   V(load_up_to)(terms->row + k * terms->ld + j, n), sum);
}

/* Up to one vector. Four sums, as one alone would wait for itself. */
VINLINE void F(subtract_narrow)(const struct F(terms) * terms, size_t j,
                                size_t n, REAL *row)
{
    VREAL sum[4] = {V(load_up_to)(row + j, n), V(zero)(), V(zero)(), V(zero)()};
    size_t k = 0;

    for (; k + 4 <= terms->count; k += 4)
        for (unsigned i = 0; i < 4; i++)
            sum[i] = F(subtract_one)(terms, k + i, j, n, sum[i]);
    for (; k < terms->count; k++)
        sum[0] = F(subtract_one)(terms, k, j, n, sum[0]);
    const VREAL all = V(add)(V(add)(sum[0], sum[1]), V(add)(sum[2], sum[3]));
    if (n < LANES)
        V(store_n)(row + j, all, n);
    else
        V(store)(row + j, all);
}

static void F(subtract)(const struct F(terms) * terms, size_t cols, REAL *row)
{
    size_t j = 0;

    for (; j + 4 * LANES <= cols; j += 4 * LANES)
        F(subtract_wide)(terms, j, row);
    for (; j < cols; j += LANES)
        F(subtract_narrow)(terms, j, cols - j < LANES ? cols - j : LANES, row);
}

static void F(divide)(size_t cols, REAL *row, REAL by)
{
    const VREAL all = V(set1)(by);
    size_t j = 0;

    for (; j + LANES <= cols; j += LANES)
        V(store)(row + j, V(div)(V(load)(row + j), all));
    for (; j < cols; j++)
        row[j] /= by;
}

static void F(swap_rows)(size_t cols, REAL *a, REAL *b)
{
    size_t j = 0;

    for (; j + LANES <= cols; j += LANES) {
        const VREAL kept = V(load)(a + j);
        V(store)(a + j, V(load)(b + j));
        V(store)(b + j, kept);
    }
    for (; j < cols; j++) {
        const REAL kept = a[j];
        a[j] = b[j];
        b[j] = kept;
    }
}

/* ---- steps --------------------------------------------------------------- */

bool TAKT_K(F(cholesky))(size_t n, void *a, size_t ld)
{
    for (size_t i = 0; i < n; i++) {
        REAL *row = (REAL *)a + i * ld + i;
        const REAL *above = (const REAL *)a + i;
        const struct F(terms) terms = {i, above, ld, above, ld};

        F(subtract)(&terms, n - i, row);
        if (!(row[0] > 0) || !is_finite(row[0]))
            return false;
        row[0] = EITHER(sqrtf, sqrt)(row[0]);
        F(divide)(n - i - 1, row + 1, row[0]);
    }
    return true;
}

void TAKT_K(F(substitute))(const struct takt_triangle *t, size_t cols, void *b,
                           size_t ld)
{
    const REAL *of = t->at;

    for (size_t done = 0; done < t->n; done++) {
        const size_t i = t->is_lower ? done : t->n - 1 - done;
        const size_t first = t->is_lower ? 0 : i + 1;
        REAL *row = (REAL *)b + i * ld;
        const struct F(terms)
            terms = {done, of + i * t->row + first * t->col, t->col,
                     (const REAL *)b + first * ld, ld};

        F(subtract)(&terms, cols, row);
        if (!t->is_unit)
            F(divide)(cols, row, of[i * t->row + i * t->col]);
    }
}

void TAKT_K(F(swap))(size_t count, size_t first, const size_t *pivot,
                     size_t cols, void *a, size_t ld)
{
    for (size_t k = 0; k < count; k++) {
        const size_t other = pivot[k] - first;
        if (other != k)
            F(swap_rows)(cols, (REAL *)a + k * ld, (REAL *)a + other * ld);
    }
}

void TAKT_K(F(mirror))(size_t n, void *a, size_t ld)
{
    REAL *of = a;

    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            of[j * ld + i] = of[i * ld + j];
            of[i * ld + j] = 0;
        }
}

/* ---- LU ------------------------------------------------------------------ */

enum { PANEL = TAKT_PANEL_COLS / LANES };

VINLINE void F(swap_panel)(REAL *a, REAL *b)
{
    for (size_t v = 0; v < PANEL; v++) {
        const VREAL kept = V(load)(a + v * LANES);
        V(store)(a + v * LANES, V(load)(b + v * LANES));
        V(store)(b + v * LANES, kept);
    }
}

static size_t F(largest)(size_t rows, const REAL *a, size_t ld)
{
    size_t best = 0;

    for (size_t i = 1; i < rows; i++)
        if (magnitude(a[i * ld]) > magnitude(a[best * ld]))
            best = i;
    return best;
}

/* Row k with zeros up to and including column k: what is multiplied by them
 * stays as it is, so that vectors can be whole. */
VINLINE void F(clear_left)(const REAL *row, size_t k, VREAL out[PANEL])
{
    for (size_t v = 0; v < PANEL; v++) {
        const size_t first = v * LANES;
        const size_t zeros = k < first           ? 0
                             : k - first < LANES ? k - first + 1
                                                 : LANES;
        out[v] = V(mix)(zeros, V(zero)(), V(load)(row + first));
    }
}

/* Subtracts a multiple of row k from each row below it. Returns the row that
 * has the largest element of the next column. The quotient is stored after the
 * vector that it lies in: a load of both would wait for it. */
static size_t F(eliminate)(size_t rows, size_t k, REAL *a, size_t ld)
{
    const REAL pivot = a[k * ld + k];
    const bool is_safe = has_inverse(pivot);
    /* Compilers would divide first and choose then: an overflow. */
    const volatile REAL divisor = is_safe ? pivot : 1;
    const REAL inverse = 1 / divisor;
    REAL best = -1;
    size_t row = k + 1;
    VREAL above[PANEL];

    F(clear_left)(a + k * ld, k, above);
    for (size_t i = k + 1; i < rows; i++) {
        REAL *at = a + i * ld;
        const REAL factor = is_safe ? at[k] * inverse : at[k] / pivot;
        const VREAL all = V(set1)(factor);
        for (size_t v = (k + 1) / LANES; v < PANEL; v++) {
            REAL *to = at + v * LANES;
            V(store)(to, V(fnma)(all, above[v], V(load)(to)));
        }
        at[k] = factor;
        if (k + 1 < TAKT_PANEL_COLS && magnitude(at[k + 1]) > best) {
            best = magnitude(at[k + 1]);
            row = i;
        }
    }
    return row;
}

bool TAKT_K(F(lu))(size_t rows, size_t cols, void *a, size_t ld, size_t first,
                   size_t *pivot)
{
    REAL *of = a;
    size_t next = F(largest)(rows, of, ld);

    for (size_t k = 0; k < cols; k++) {
        pivot[k] = first + next;
        if (next != k)
            F(swap_panel)(of + k * ld, of + next * ld);
        const REAL found = of[k * ld + k];
        if (found == 0 || !is_finite(found))
            return false;
        next = F(eliminate)(rows, k, of, ld);
    }
    return true;
}

const struct takt_factor_kernels TAKT_K(F(factor)) = {
    .cholesky = TAKT_K(F(cholesky)),
    .substitute = TAKT_K(F(substitute)),
    .lu = TAKT_K(F(lu)),
    .swap = TAKT_K(F(swap)),
    .mirror = TAKT_K(F(mirror)),
    .reflect = TAKT_K(F(reflect)),
    .size = sizeof(REAL),
    .block = BLOCK};
