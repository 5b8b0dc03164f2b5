/* SPDX-License-Identifier: MIT */
/*
 * baseline_math.c - the routines, as their definitions have them, element by
 * element, for every letter and layout.
 *
 * What BLAS does not read is not read here either.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "baseline_request.h"

struct number {
    long double re, im;
};

static struct number get(const struct baseline_request *r, const void *from,
                         int64_t at)
{
    switch (r->letter) {
    case TAKT_S:
        return (struct number){(long double)((const float *)from)[at], 0};
    case TAKT_D:
        return (struct number){(long double)((const double *)from)[at], 0};
    case TAKT_C:
        return (struct number){(long double)((const float *)from)[2 * at],
                               (long double)((const float *)from)[2 * at + 1]};
    default:
        return (struct number){(long double)((const double *)from)[2 * at],
                               (long double)((const double *)from)[2 * at + 1]};
    }
}

static void set(const struct baseline_request *r, void *to, int64_t at,
                struct number value)
{
    if (r->letter == TAKT_S) {
        ((float *)to)[at] = (float)value.re;
    } else if (r->letter == TAKT_D) {
        ((double *)to)[at] = (double)value.re;
    } else if (r->letter == TAKT_C) {
        ((float *)to)[2 * at] = (float)value.re;
        ((float *)to)[2 * at + 1] = (float)value.im;
    } else {
        ((double *)to)[2 * at] = (double)value.re;
        ((double *)to)[2 * at + 1] = (double)value.im;
    }
}

/* Imaginary parts of real numbers stay 0, also beside NaN and infinity. */
static struct number times(const struct baseline_request *r, struct number a,
                           struct number b)
{
    if (r->letter <= TAKT_D)
        return (struct number){a.re * b.re, 0};
    return (struct number){a.re * b.re - a.im * b.im,
                           a.re * b.im + a.im * b.re};
}

static struct number plus(struct number a, struct number b)
{
    return (struct number){a.re + b.re, a.im + b.im};
}

static struct number minus(struct number a, struct number b)
{
    return (struct number){a.re - b.re, a.im - b.im};
}

static struct number over(const struct baseline_request *r, struct number a,
                          struct number b)
{
    const long double square = b.re * b.re + b.im * b.im;

    if (r->letter <= TAKT_D)
        return (struct number){a.re / b.re, 0};
    return (struct number){(a.re * b.re + a.im * b.im) / square,
                           (a.im * b.re - a.re * b.im) / square};
}

static struct number factor(const struct baseline_request *r,
                            const double *from)
{
    return (struct number){(long double)from[0],
                           r->letter > TAKT_D ? (long double)from[1] : 0};
}

static bool is_zero(struct number value)
{
    return value.re == 0 && value.im == 0;
}

/* ---- words --------------------------------------------------------------- */

static int upper(const struct baseline_request *r, int word)
{
    if (r->order != 0)
        return baseline_letter_of(word);
    return word >= 'a' && word <= 'z' ? word - 'a' + 'A' : word;
}

static int64_t place(const struct baseline_request *r, int64_t row,
                     int64_t column, int64_t ld)
{
    return r->order == BASELINE_BY_ROWS ? row * ld + column : row + column * ld;
}

/* Where an element of op(from) is. */
static int64_t place_in(const struct baseline_request *r, int64_t ld, int trans,
                        int64_t row, int64_t column)
{
    return trans == 'N' ? place(r, row, column, ld) : place(r, column, row, ld);
}

static struct number element(const struct baseline_request *r, const void *from,
                             int64_t ld, int trans, int64_t row, int64_t column)
{
    struct number value = get(r, from, place_in(r, ld, trans, row, column));

    if (trans == 'C')
        value.im = -value.im;
    return value;
}

/* A row or a column of op(from). */
struct line {
    const void *from;
    int64_t at, step;
    bool is_conjugate;
};

static struct line row_of(const struct baseline_request *r, const void *from,
                          int64_t ld, int trans, int64_t row)
{
    return (struct line){from, place_in(r, ld, trans, row, 0),
                         place_in(r, ld, trans, 0, 1), trans == 'C'};
}

static struct line column_of(const struct baseline_request *r, const void *from,
                             int64_t ld, int trans, int64_t column)
{
    return (struct line){from, place_in(r, ld, trans, 0, column),
                         place_in(r, ld, trans, 1, 0), trans == 'C'};
}

static struct number at_line(const struct baseline_request *r,
                             const struct line *line, int64_t i)
{
    struct number value = get(r, line->from, line->at + i * line->step);

    if (line->is_conjugate)
        value.im = -value.im;
    return value;
}

/* Four sums, since each addition waits for the one before: tests call products
 * often. */
#define SUM_OF(x, y)                                        \
    do {                                                    \
        long double part[4] = {0, 0, 0, 0};                 \
        int64_t i = 0;                                      \
        for (; i + 4 <= count; i += 4) {                    \
            part[0] += PRODUCT(x, y, i);                    \
            part[1] += PRODUCT(x, y, i + 1);                \
            part[2] += PRODUCT(x, y, i + 2);                \
            part[3] += PRODUCT(x, y, i + 3);                \
        }                                                   \
        for (; i < count; i++)                              \
            part[0] += PRODUCT(x, y, i);                    \
        sum.re = (part[0] + part[1]) + (part[2] + part[3]); \
    } while (0)
#define PRODUCT(x, y, i) \
    ((long double)(x)[(i)*a.step] * (long double)(y)[(i)*b.step])

/* The sum of the products of the elements of two lines. Real ones do without
 * what complex ones need. */
static struct number sum_of(const struct baseline_request *r, struct line a,
                            struct line b, int64_t count)
{
    struct number sum = {0, 0};

    if (r->letter == TAKT_S) {
        const float *x = (const float *)a.from + a.at;
        const float *y = (const float *)b.from + b.at;
        SUM_OF(x, y);
    } else if (r->letter == TAKT_D) {
        const double *x = (const double *)a.from + a.at;
        const double *y = (const double *)b.from + b.at;
        SUM_OF(x, y);
    } else {
        for (int64_t i = 0; i < count; i++)
            sum = plus(sum, times(r, at_line(r, &a, i), at_line(r, &b, i)));
    }
    return sum;
}

/* alpha sum + beta c, at an element of c. */
static void finish(const struct baseline_request *r, int64_t at,
                   struct number sum)
{
    const struct number beta = factor(r, r->beta);
    struct number value = times(r, factor(r, r->alpha), sum);

    if (is_zero(factor(r, r->alpha))) /* what was read does not matter */
        value = (struct number){0, 0};
    if (!is_zero(beta))
        value = plus(value, times(r, beta, get(r, r->c, at)));
    set(r, r->c, at, value);
}

/* With alpha 0, or nothing to sum up, and beta 1 nothing is touched. */
static bool is_done(const struct baseline_request *r, int64_t terms)
{
    const struct number beta = factor(r, r->beta);

    return (is_zero(factor(r, r->alpha)) || terms == 0) && beta.re == 1 &&
           beta.im == 0;
}

/* ---- level 3 ------------------------------------------------------------- */

static void gemm(struct baseline_request *r)
{
    const int ta = upper(r, r->transa), tb = upper(r, r->transb);
    const bool is_read = !is_zero(factor(r, r->alpha));

    if (is_done(r, r->k))
        return;
    for (int64_t i = 0; i < r->m; i++)
        for (int64_t j = 0; j < r->n; j++) {
            const struct number sum =
                sum_of(r, row_of(r, r->a, r->lda, ta, i),
                       column_of(r, r->b, r->ldb, tb, j), is_read ? r->k : 0);
            finish(r, place(r, i, j, r->ldc), sum);
        }
}

static bool is_inside(const struct baseline_request *r, int64_t row,
                      int64_t column)
{
    return row == column || (upper(r, r->uplo) == 'U') == (column > row);
}

/* Of A, of which a triangle counts: symmetric, or zero elsewhere. */
static struct number in_triangle(const struct baseline_request *r, int64_t row,
                                 int64_t column)
{
    const int trans = r->routine == TAKT_SYMM ? 'N' : upper(r, r->transa);
    const bool is_turned = trans != 'N';
    int64_t i = is_turned ? column : row, j = is_turned ? row : column;

    if (r->routine != TAKT_SYMM && i == j && upper(r, r->diag) == 'U')
        return (struct number){1, 0};
    if (!is_inside(r, i, j)) {
        if (r->routine != TAKT_SYMM)
            return (struct number){0, 0};
        const int64_t mirrored = i;
        i = j;
        j = mirrored;
    }
    struct number value = get(r, r->a, place(r, i, j, r->lda));
    if (trans == 'C')
        value.im = -value.im;
    return value;
}

/* An element of the triangle times `b`, or the other way round. */
static struct number inner(const struct baseline_request *r, const void *b,
                           int64_t ld, int64_t row, int64_t column)
{
    const bool is_right = upper(r, r->side) == 'R';
    const int64_t order = is_right ? r->n : r->m;
    struct number sum = {0, 0};

    for (int64_t l = 0; l < order; l++)
        sum = plus(sum, is_right ? times(r, element(r, b, ld, 'N', row, l),
                                         in_triangle(r, l, column))
                                 : times(r, in_triangle(r, row, l),
                                         element(r, b, ld, 'N', l, column)));
    return sum;
}

static void symm(struct baseline_request *r)
{
    const bool is_read = !is_zero(factor(r, r->alpha));

    if (is_done(r, 1))
        return;
    for (int64_t i = 0; i < r->m; i++)
        for (int64_t j = 0; j < r->n; j++)
            finish(r, place(r, i, j, r->ldc),
                   is_read ? inner(r, r->b, r->ldb, i, j)
                           : (struct number){0, 0});
}

static void syrk(struct baseline_request *r)
{
    const bool is_twice = r->routine == TAKT_SYR2K;
    const void *b = is_twice ? r->b : r->a;
    const int64_t ldb = is_twice ? r->ldb : r->lda;
    const int trans = upper(r, r->transa) == 'N' ? 'N' : 'T';
    const int64_t terms = is_zero(factor(r, r->alpha)) ? 0 : r->k;

    if (is_done(r, r->k))
        return;
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < r->n; j++) {
            if (!is_inside(r, i, j))
                continue;
            struct number sum = sum_of(r, row_of(r, r->a, r->lda, trans, i),
                                       row_of(r, b, ldb, trans, j), terms);
            if (is_twice)
                sum =
                    plus(sum, sum_of(r, row_of(r, b, ldb, trans, i),
                                     row_of(r, r->a, r->lda, trans, j), terms));
            finish(r, place(r, i, j, r->ldc), sum);
        }
}

static void *copy_of_c(const struct baseline_request *r)
{
    const int64_t lines = r->order == BASELINE_BY_ROWS ? r->m : r->n;
    const int64_t across = r->order == BASELINE_BY_ROWS ? r->n : r->m;
    static const size_t width[] = {4, 8, 8, 16};
    const size_t bytes =
        (size_t)((lines - 1) * r->ldc + across) * width[r->letter];
    void *copy = malloc(bytes);

    if (copy == NULL)
        abort();
    return memcpy(copy, r->c, bytes);
}

static void trmm(struct baseline_request *r)
{
    const struct number alpha = factor(r, r->alpha);

    if (r->m == 0 || r->n == 0)
        return;
    void *before = copy_of_c(r);
    for (int64_t i = 0; i < r->m; i++)
        for (int64_t j = 0; j < r->n; j++)
            set(r, r->c, place(r, i, j, r->ldc),
                is_zero(alpha)
                    ? alpha
                    : times(r, alpha, inner(r, before, r->ldc, i, j)));
    free(before);
}

/* One column (or row, from the right) of the solution. */
static void solve(struct baseline_request *r, int64_t line)
{
    const bool is_right = upper(r, r->side) == 'R';
    const bool is_backward =
        (upper(r, r->uplo) == 'U') ^ (upper(r, r->transa) != 'N') ^ is_right;
    const int64_t order = is_right ? r->n : r->m;

    for (int64_t done = 0; done < order; done++) {
        const int64_t i = is_backward ? order - 1 - done : done;
        const int64_t at =
            is_right ? place(r, line, i, r->ldc) : place(r, i, line, r->ldc);
        struct number x = times(r, factor(r, r->alpha), get(r, r->c, at));
        for (int64_t k = 0; k < done; k++) {
            const int64_t l = is_backward ? order - 1 - k : k;
            x = minus(x, is_right
                             ? times(r, in_triangle(r, l, i),
                                     element(r, r->c, r->ldc, 'N', line, l))
                             : times(r, in_triangle(r, i, l),
                                     element(r, r->c, r->ldc, 'N', l, line)));
        }
        set(r, r->c, at, over(r, x, in_triangle(r, i, i)));
    }
}

static void trsm(struct baseline_request *r)
{
    if (is_zero(factor(r, r->alpha))) {
        for (int64_t i = 0; i < r->m; i++)
            for (int64_t j = 0; j < r->n; j++)
                set(r, r->c, place(r, i, j, r->ldc), (struct number){0, 0});
        return;
    }
    for (int64_t i = 0; i < (upper(r, r->side) == 'R' ? r->m : r->n); i++)
        solve(r, i);
}

/* ---- vectors ------------------------------------------------------------- */

/* Of element i of n; with a negative step the first one comes last. */
static int64_t step_to(int64_t i, int64_t n, int64_t step)
{
    return step < 0 ? (i - n + 1) * step : i * step;
}

static void gemv(struct baseline_request *r)
{
    const int trans = upper(r, r->transa);
    const int64_t rows = trans == 'N' ? r->m : r->n;
    const int64_t columns = trans == 'N' ? r->n : r->m;
    const bool is_read = !is_zero(factor(r, r->alpha));

    if (r->m == 0 || r->n == 0 || is_done(r, 1))
        return;
    for (int64_t i = 0; i < rows; i++) {
        struct number sum = {0, 0};
        for (int64_t j = 0; j < columns && is_read; j++)
            sum = plus(sum, times(r, element(r, r->a, r->lda, trans, i, j),
                                  get(r, r->b, step_to(j, columns, r->ldb))));
        finish(r, step_to(i, rows, r->ldc), sum);
    }
}

static void ger(struct baseline_request *r)
{
    const struct number alpha = factor(r, r->alpha);

    if (is_zero(alpha))
        return;
    for (int64_t i = 0; i < r->m; i++)
        for (int64_t j = 0; j < r->n; j++) {
            const int64_t at = place(r, i, j, r->ldc);
            const struct number x = get(r, r->a, step_to(i, r->m, r->lda));
            const struct number y = get(r, r->b, step_to(j, r->n, r->ldb));
            set(r, r->c, at,
                plus(get(r, r->c, at), times(r, alpha, times(r, x, y))));
        }
}

static void axpy(struct baseline_request *r)
{
    const struct number alpha = factor(r, r->alpha);

    if (is_zero(alpha))
        return;
    for (int64_t i = 0; i < r->n; i++) {
        const int64_t at = step_to(i, r->n, r->ldc);
        const struct number x = get(r, r->b, step_to(i, r->n, r->ldb));
        set(r, r->c, at, plus(get(r, r->c, at), times(r, alpha, x)));
    }
}

static void scal(struct baseline_request *r)
{
    for (int64_t i = 0; i < r->n && r->ldc > 0; i++)
        set(r, r->c, i * r->ldc,
            times(r, factor(r, r->alpha), get(r, r->c, i * r->ldc)));
}

static void dot(struct baseline_request *r)
{
    long double sum = 0;

    for (int64_t i = 0; i < r->n; i++)
        sum += get(r, r->b, step_to(i, r->n, r->ldb)).re *
               get(r, r->c, step_to(i, r->n, r->ldc)).re;
    r->sum = (double)sum;
}

/* nrm2 and asum; a long double has room for every square of a double. */
static void norm(struct baseline_request *r)
{
    long double sum = 0;

    for (int64_t i = 0; i < r->n && r->ldb > 0; i++) {
        const long double x = get(r, r->b, i * r->ldb).re;
        sum += r->routine == TAKT_NRM2 ? x * x : fabsl(x);
    }
    r->sum = (double)(r->routine == TAKT_NRM2 ? sqrtl(sum) : sum);
}

/* The first of the largest, counted from 1 in Fortran; 0: there is none. */
static void iamax(struct baseline_request *r)
{
    long double most = -1;
    int64_t at = 0;

    for (int64_t i = 0; i < r->n && r->ldb > 0; i++) {
        const long double x = fabsl(get(r, r->b, i * r->ldb).re);
        if (x > most) {
            most = x;
            at = i + 1;
        }
    }
    r->index = r->order != 0 && at > 0 ? at - 1 : at;
}

void baseline_perform(struct baseline_request *r)
{
    static void (*const perform[TAKT_ROUTINES])(struct baseline_request *) = {
        [TAKT_GEMM] = gemm,  [TAKT_SYMM] = symm,  [TAKT_SYRK] = syrk,
        [TAKT_SYR2K] = syrk, [TAKT_TRMM] = trmm,  [TAKT_TRSM] = trsm,
        [TAKT_GEMV] = gemv,  [TAKT_GER] = ger,    [TAKT_AXPY] = axpy,
        [TAKT_DOT] = dot,    [TAKT_SCAL] = scal,  [TAKT_NRM2] = norm,
        [TAKT_ASUM] = norm,  [TAKT_IAMAX] = iamax};

    r->sum = 0;
    r->index = 0;
    perform[r->routine](r);
}
