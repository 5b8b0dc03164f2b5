/* SPDX-License-Identifier: MIT */
/*
 * gemm_gemv.h - matrix times vector: the matrix is read once, in order.
 *
 * Memory sets the pace, so both ways go along whatever is contiguous in A and
 * differ only in what they keep: dots keep a stretch of x, sums a stretch of
 * y. Stretches live on the stack, which also evens out strides of x and y.
 */

enum {
    STRETCH = 16384 / sizeof(real), /* half of a small first-level cache */
    DOT_ROWS = 4,                   /* rows of A that share a load of x */
    SUM_COLS = 4                    /* columns of A per pass over the sums */
};

/* y = term + beta * y, where y is not read if beta is 0. */
VINLINE void put(real *y, real term, real beta)
{
    *y = beta == 0 ? term : term + beta * *y;
}

/* to[j] = the dot product of row j of A and x, for `rows` rows. */
VINLINE void dot_rows(size_t rows, size_t n, const real *a, size_t a_row,
                      const real *x, real *to)
{
    vec acc[DOT_ROWS][2];
    size_t j = 0;

    EVERY for (size_t r = 0; r < rows; r++) acc[r][0] = acc[r][1] = vec_zero();
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        const vec x0 = vec_load(x + j), x1 = vec_load(x + j + LANES);
        EVERY for (size_t r = 0; r < rows; r++)
        {
            const real *from = a + r * a_row + j;
            acc[r][0] = vec_fma(vec_load(from), x0, acc[r][0]);
            acc[r][1] = vec_fma(vec_load(from + LANES), x1, acc[r][1]);
        }
    }
    for (; j < n; j += LANES) {
        const size_t lanes = n - j < LANES ? n - j : LANES;
        const vec x0 = vec_load_n(x + j, lanes);
        EVERY for (size_t r = 0; r < rows; r++) acc[r][0] =
            vec_fma(vec_load_n(a + r * a_row + j, lanes), x0, acc[r][0]);
    }
    EVERY for (size_t r = 0; r < rows; r++) to[r] =
        vec_sum(vec_add(acc[r][0], acc[r][1]));
}

/* One stretch of x, contiguous, against all rows. */
static void dot_stretch(const struct takt_gemv *call, const real *a,
                        const real *x, size_t n, real beta)
{
    const real alpha = (real)call->alpha;
    real *y = call->y;
    real dot[DOT_ROWS];
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
    real copy[STRETCH];
    const real *a = call->a, *x = call->x;

    for (size_t j = 0; j < call->n; j += STRETCH) {
        const size_t n = call->n - j < STRETCH ? call->n - j : STRETCH;
        const real *stretch = x + j * call->x_step;
        if (call->x_step != 1) {
            for (size_t l = 0; l < n; l++)
                copy[l] = stretch[l * call->x_step];
            stretch = copy;
        }
        dot_stretch(call, a + j, stretch, n, j == 0 ? (real)call->beta : 1);
    }
}

/* One vector of sums, or the first `lanes` of it, grows by `cols` columns. */
VINLINE vec add_columns(size_t cols, const real *a, size_t a_col, const vec *x,
                        vec sum, size_t lanes)
{
    EVERY for (size_t c = 0; c < cols; c++)
    {
        const real *from = a + c * a_col;
        const vec left =
            lanes == LANES ? vec_load(from) : vec_load_n(from, lanes);
        sum = vec_fma(left, x[c], sum);
    }
    return sum;
}

/* sums[i] += columns of A times their x, for `cols` columns. */
VINLINE void sum_columns(size_t cols, size_t m, const real *a, size_t a_col,
                         const vec *x, real *sums)
{
    const size_t whole = m / LANES * LANES;

    for (size_t i = 0; i < whole; i += LANES)
        vec_store(sums + i, add_columns(cols, a + i, a_col, x,
                                        vec_load(sums + i), LANES));
    if (whole < m)
        vec_store(sums + whole, add_columns(cols, a + whole, a_col, x,
                                            vec_load(sums + whole), m - whole));
}

/* All columns of A against one stretch of y. */
static void sum_stretch(const struct takt_gemv *call, const real *a, size_t m,
                        real *sums)
{
    const real *x = call->x;
    size_t j = 0;

    for (size_t i = 0; i < m; i += LANES)
        vec_store(sums + i, vec_zero());
    for (; j + SUM_COLS <= call->n; j += SUM_COLS) {
        vec factors[SUM_COLS];
        EVERY for (size_t c = 0; c < SUM_COLS; c++) factors[c] =
            vec_set1(x[(j + c) * call->x_step]);
        sum_columns(SUM_COLS, m, a + j * call->a_col, call->a_col, factors,
                    sums);
    }
    for (; j < call->n; j++) {
        const vec factor = vec_set1(x[j * call->x_step]);
        sum_columns(1, m, a + j * call->a_col, call->a_col, &factor, sums);
    }
}

/* The columns of A are contiguous. */
static void gemv_by_sums(const struct takt_gemv *call)
{
    real sums[STRETCH];
    const real *a = call->a;
    const real alpha = (real)call->alpha, beta = (real)call->beta;
    real *y = call->y;

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
    const real *x = call->x;
    real *y = call->y;

    for (size_t i = 0; i < call->m; i++) {
        const real *a = (const real *)call->a + i * call->a_row;
        real sum = 0;
        for (size_t j = 0; j < call->n; j++)
            sum += a[j * call->a_col] * x[j * call->x_step];
        put(y + i * call->y_step, (real)call->alpha * sum, (real)call->beta);
    }
}

void GEMV(const struct takt_gemv *call)
{
    if (call->n == 0 || call->alpha == 0)
        for (size_t i = 0; i < call->m; i++)
            put((real *)call->y + i * call->y_step, 0, (real)call->beta);
    else if (call->a_row == 1 && call->m > 1)
        gemv_by_sums(call);
    else if (call->a_col == 1)
        gemv_by_dots(call);
    else
        gemv_by_elements(call);
}
