/* SPDX-License-Identifier: MIT */
/*
 * gemm_gemv.h - matrix times vector: the matrix is read once, in order.
 *
 * Memory sets the pace, so both ways go along whatever is contiguous in A and
 * differ only in what they keep: dots keep a stretch of x, sums a stretch of
 * y. Stretches live on the stack, which also evens out strides of x and y.
 */

enum {
    STRETCH = 16384 / sizeof(REAL), /* half of a small first-level cache */
    DOT_ROWS = 4,                   /* rows of A that share a load of x */
    SUM_COLS = 4                    /* columns of A per pass over the sums */
};

/* y = term + beta * y, where y is not read if beta is 0. */
VINLINE void put(REAL *y, REAL term, REAL beta)
{
    *y = beta == 0 ? term : term + beta * *y;
}

/* to[j] = the dot product of row j of A and x, for `rows` rows. */
VINLINE void dot_rows(size_t rows, size_t n, const REAL *a, size_t a_row,
                      const REAL *x, REAL *to)
{
    VREAL acc[DOT_ROWS][2];
    size_t j = 0;

    EVERY for (size_t r = 0; r < rows; r++) acc[r][0] = acc[r][1] = V(zero)();
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        const VREAL x0 = V(load)(x + j), x1 = V(load)(x + j + LANES);
        EVERY for (size_t r = 0; r < rows; r++)
        {
            const REAL *from = a + r * a_row + j;
            acc[r][0] = V(fma)(V(load)(from), x0, acc[r][0]);
            acc[r][1] = V(fma)(V(load)(from + LANES), x1, acc[r][1]);
        }
    }
    for (; j < n; j += LANES) {
        const size_t lanes = n - j < LANES ? n - j : LANES;
        const VREAL x0 = V(load_n)(x + j, lanes);
        EVERY for (size_t r = 0; r < rows; r++) acc[r][0] =
            V(fma)(V(load_n)(a + r * a_row + j, lanes), x0, acc[r][0]);
    }
    EVERY for (size_t r = 0; r < rows; r++) to[r] =
        V(sum)(V(add)(acc[r][0], acc[r][1]));
}

/* One stretch of x, contiguous, against all rows. */
static void dot_stretch(const struct takt_gemv *call, const REAL *a,
                        const REAL *x, size_t n, REAL beta)
{
    const REAL alpha = (REAL)call->alpha;
    REAL *y = call->y;
    REAL dot[DOT_ROWS];
    size_t i = 0;

    for (; i + DOT_ROWS <= call->m; i += DOT_ROWS) {
        dot_rows(DOT_ROWS, n, a + i * call->a_row, call->a_row, x, dot);
        EVERY for (size_t r = 0; r < DOT_ROWS; r++)
            put(y + (i + r) * call->y_step, alpha * dot[r], beta);
    }
    for (; i < call->m; i++) {
        dot_rows(1, n, a + i * call->a_row, call->a_row, x, dot);
        put(y + i * call->y_step, alpha * dot[0], beta);
    }
}

/* The rows of A are contiguous. */
static void gemv_by_dots(const struct takt_gemv *call)
{
    REAL copy[STRETCH];
    const REAL *a = call->a, *x = call->x;

    for (size_t j = 0; j < call->n; j += STRETCH) {
        const size_t n = call->n - j < STRETCH ? call->n - j : STRETCH;
        const REAL *stretch = x + j * call->x_step;
        if (call->x_step != 1) {
            for (size_t l = 0; l < n; l++)
                copy[l] = stretch[l * call->x_step];
            stretch = copy;
        }
        dot_stretch(call, a + j, stretch, n, j == 0 ? (REAL)call->beta : 1);
    }
}

/* One vector of sums, or the first `lanes` of it, grows by `cols` columns. */
VINLINE VREAL add_columns(size_t cols, const REAL *a, size_t a_col,
                          const VREAL *x, VREAL sum, size_t lanes)
{
    EVERY for (size_t c = 0; c < cols; c++)
    {
        const REAL *from = a + c * a_col;
        const VREAL left =
            lanes == LANES ? V(load)(from) : V(load_n)(from, lanes);
        sum = V(fma)(left, x[c], sum);
    }
    return sum;
}

/* sums[i] += columns of A times their x, for `cols` columns. */
VINLINE void sum_columns(size_t cols, size_t m, const REAL *a, size_t a_col,
                         const VREAL *x, REAL *sums)
{
    const size_t whole = m / LANES * LANES;

    for (size_t i = 0; i < whole; i += LANES)
        V(store)
    (sums + i, add_columns(cols, a + i, a_col, x, V(load)(sums + i), LANES));
    if (whole < m)
        V(store)
    (sums + whole,
     add_columns(cols, a + whole, a_col, x, V(load)(sums + whole), m - whole));
}

/* All columns of A against one stretch of y. */
static void sum_stretch(const struct takt_gemv *call, const REAL *a, size_t m,
                        REAL *sums)
{
    const REAL *x = call->x;
    size_t j = 0;

    for (size_t i = 0; i < m; i += LANES)
        V(store)(sums + i, V(zero)());
    for (; j + SUM_COLS <= call->n; j += SUM_COLS) {
        VREAL factors[SUM_COLS];
        EVERY for (size_t c = 0; c < SUM_COLS; c++) factors[c] =
            V(set1)(x[(j + c) * call->x_step]);
        sum_columns(SUM_COLS, m, a + j * call->a_col, call->a_col, factors,
                    sums);
    }
    for (; j < call->n; j++) {
        const VREAL factor = V(set1)(x[j * call->x_step]);
        sum_columns(1, m, a + j * call->a_col, call->a_col, &factor, sums);
    }
}

/* The columns of A are contiguous. */
static void gemv_by_sums(const struct takt_gemv *call)
{
    REAL sums[STRETCH];
    const REAL *a = call->a;
    const REAL alpha = (REAL)call->alpha, beta = (REAL)call->beta;
    REAL *y = call->y;

    for (size_t i = 0; i < call->m; i += STRETCH) {
        const size_t m = call->m - i < STRETCH ? call->m - i : STRETCH;
        sum_stretch(call, a + i, m, sums);
        for (size_t l = 0; l < m; l++)
            put(y + (i + l) * call->y_step, alpha * sums[l], beta);
    }
}

/* Neither is: one sum at a time. */
static void gemv_by_elements(const struct takt_gemv *call)
{
    const REAL *x = call->x;
    REAL *y = call->y;

    for (size_t i = 0; i < call->m; i++) {
        const REAL *a = (const REAL *)call->a + i * call->a_row;
        REAL sum = 0;
        for (size_t j = 0; j < call->n; j++)
            sum += a[j * call->a_col] * x[j * call->x_step];
        put(y + i * call->y_step, (REAL)call->alpha * sum, (REAL)call->beta);
    }
}

void TAKT_K(F(gemv))(const struct takt_gemv *call)
{
    if (call->n == 0 || call->alpha == 0)
        for (size_t i = 0; i < call->m; i++)
            put((REAL *)call->y + i * call->y_step, 0, (REAL)call->beta);
    else if (call->a_row == 1 && (call->m > 1 || call->a_col != 1))
        gemv_by_sums(call); /* a single row too: it may be a thread's share */
    else if (call->a_col == 1)
        gemv_by_dots(call);
    else
        gemv_by_elements(call);
}
