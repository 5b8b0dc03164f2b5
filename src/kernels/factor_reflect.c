/* SPDX-License-Identifier: MIT */
/*
 * factor_reflect.c - reflections of any number of columns: panels, and what is
 * on their right by products.
 *
 * The reflections of a panel are I - V T V' together, where T is triangular, so
 * they are applied to the other columns by three products.
 */
#include <string.h>

#include "base/size.h"
#include "kernels/factor.h"
#include "kernels/gemm.h"

enum { P = TAKT_PANEL_COLS };

/* V without gaps, P columns; V'V and T, P x P; two products, P rows each. */
struct reflect_work {
    char *v, *square, *t, *w, *w2;
};

size_t takt__factor_reflect_room(size_t rows, size_t all)
{
    const size_t sums = takt__size_add(rows, takt__size_mul(2, all));

    return takt__size_add(takt__size_mul(P, sums), 2 * P * P);
}

static struct reflect_work lay_out(char *work, size_t rows, size_t all,
                                   size_t size)
{
    struct reflect_work to = {.v = work};

    to.square = to.v + rows * P * size;
    to.t = to.square + P * P * size;
    to.w = to.t + P * P * size;
    to.w2 = to.w + P * all * size;
    return to;
}

static double get(const void *array, size_t size, size_t i)
{
    return size == sizeof(float) ? (double)((const float *)array)[i]
                                 : ((const double *)array)[i];
}

static void put(void *array, size_t size, size_t i, double number)
{
    if (size == sizeof(float))
        ((float *)array)[i] = (float)number;
    else
        ((double *)array)[i] = number;
}

/* V of a panel, with ones on its diagonal, zeros above it and behind it. */
static void copy_v(size_t rows, size_t cols, const void *a, size_t ld,
                   size_t size, void *v)
{
    memset(v, 0, rows * P * size);
    for (size_t i = 0; i < rows; i++) {
        memcpy((char *)v + i * P * size, (const char *)a + i * ld * size,
               takt__size_min(i, cols) * size);
        if (i < cols)
            put(v, size, i * P + i, 1);
    }
}

/* Column j of T is -tau[j] T V'v[j], and tau[j] on the diagonal; `minus` is
 * -V'V. */
static void make_t(size_t cols, const void *minus, const void *tau, size_t size,
                   void *t)
{
    memset(t, 0, P * P * size);
    for (size_t j = 0; j < cols; j++) {
        const double factor = get(tau, size, j);
        for (size_t i = 0; i < j; i++) {
            double sum = 0;
            for (size_t k = i; k < j; k++)
                sum += get(t, size, i * P + k) * get(minus, size, k * P + j);
            put(t, size, i * P + j, factor * sum);
        }
        put(t, size, j * P + j, factor);
    }
}

/* C = C - A B, where C is P x cols without gaps; A(i,k) is at
 * a[i * a_row + k * a_col]. */
static void subtract(const struct takt_factoring *how, size_t depth,
                     const void *a, size_t a_row, size_t a_col, const void *b,
                     size_t ld_b, size_t cols, void *c)
{
    const struct takt_gemm product = {.m = P,
                                      .n = cols,
                                      .k = depth,
                                      .a = a,
                                      .a_row = a_row,
                                      .a_col = a_col,
                                      .b = b,
                                      .b_row = ld_b,
                                      .b_col = 1,
                                      .c = c,
                                      .ldc = cols,
                                      .alpha = -1,
                                      .beta = 1};

    how->multiply(how->self, &product);
}

/* V and T of the panel at `a`. Without tau it is a plan. */
static void make_panel(const struct takt_factoring *how,
                       const struct reflect_work *work, size_t rows,
                       size_t cols, const void *a, size_t ld, const void *tau)
{
    const size_t size = how->kernels->size;

    if (tau != NULL) {
        copy_v(rows, cols, a, ld, size, work->v);
        memset(work->square, 0, P * P * size);
    }
    subtract(how, rows, work->v, 1, P, work->v, P, P, work->square);
    if (tau != NULL)
        make_t(cols, work->square, tau, size, work->t);
}

/* C = (I - V T V') C, or with T' for T: W = -V'C, then W2 = T V'C. */
static void apply(const struct takt_factoring *how,
                  const struct reflect_work *work, bool is_plan, bool is_turned,
                  size_t rows, size_t cols, void *c, size_t ld)
{
    const size_t bytes = is_plan ? 0 : P * cols * how->kernels->size;
    const struct takt_gemm product = {.m = rows,
                                      .n = cols,
                                      .k = P,
                                      .a = work->v,
                                      .a_row = P,
                                      .a_col = 1,
                                      .b = work->w2,
                                      .b_row = cols,
                                      .b_col = 1,
                                      .c = c,
                                      .ldc = ld,
                                      .alpha = -1,
                                      .beta = 1};

    memset(work->w, 0, bytes);
    memset(work->w2, 0, bytes);
    subtract(how, rows, work->v, 1, P, c, ld, cols, work->w);
    subtract(how, P, work->t, is_turned ? 1 : P, is_turned ? P : 1, work->w,
             cols, cols, work->w2);
    how->multiply(how->self, &product);
}

void takt__factor_reflect(const struct takt_factoring *how, size_t rows,
                          size_t cols, size_t all, void *a, size_t ld,
                          void *tau, void *work)
{
    const size_t size = how->kernels->size;
    const struct reflect_work parts = lay_out(work, rows, all, size);

    if (how->kernels->block == 0) {
        how->kernels->reflect(rows, cols, all, a, ld, tau);
        return;
    }
    for (size_t j = 0; j < cols; j += P) {
        const size_t width = takt__size_min(P, cols - j);
        char *panel = (char *)a + (j * ld + j) * size;
        char *own = tau == NULL ? NULL : (char *)tau + j * size;
        how->kernels->reflect(rows - j, width, width, panel, ld, own);
        if (j + P >= all)
            continue;
        make_panel(how, &parts, rows - j, width, panel, ld, own);
        apply(how, &parts, tau == NULL, true, rows - j, all - j - P,
              panel + P * size, ld);
    }
}

static void set_identity(size_t rows, size_t cols, size_t size, void *q,
                         size_t ld)
{
    for (size_t i = 0; i < rows; i++) {
        memset((char *)q + i * ld * size, 0, cols * size);
        if (i < cols)
            put(q, size, i * ld + i, 1);
    }
}

void takt__factor_unfold(const struct takt_factoring *how, size_t rows,
                         size_t cols, const void *a, size_t ld, const void *tau,
                         void *q, size_t ld_q, void *work)
{
    const size_t size = how->kernels->size;
    const struct reflect_work parts = lay_out(work, rows, cols, size);

    if (how->kernels->block == 0) {
        if (tau != NULL)
            how->kernels->unfold(rows, cols, a, ld, tau, q, ld_q);
        return;
    }
    if (tau != NULL)
        set_identity(rows, cols, size, q, ld_q);
    for (size_t panel = takt__size_ceil_div(cols, P); panel-- > 0;) {
        const size_t j = panel * P;
        make_panel(how, &parts, rows - j, takt__size_min(P, cols - j),
                   (const char *)a + (j * ld + j) * size, ld,
                   tau == NULL ? NULL : (const char *)tau + j * size);
        apply(how, &parts, tau == NULL, false, rows - j, cols - j,
              (char *)q + (j * ld_q + j) * size, ld_q);
    }
}
