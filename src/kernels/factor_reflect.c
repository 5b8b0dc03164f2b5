/* SPDX-License-Identifier: MIT */
/*
 * factor_reflect.c - reflections of any number of columns: panels, and what is
 * on their right by products.
 *
 * The reflections of a panel are I - V T V' together, where T is triangular, so
 * they are applied to the other columns by three products. Columns do not
 * depend on each other: each thread takes some of them through all three, and
 * threads are joined once per panel.
 */
#include <string.h>

#include "base/size.h"
#include "kernels/factor.h"
#include "kernels/gemm.h"

enum { P = TAKT_PANEL_COLS };

/* V without gaps, `width` columns; V'V and T, as wide and as high; two products
 * of so many rows. */
struct reflect_work {
    size_t width;
    char *v, *square, *t, *w, *w2;
};

/* How many columns are applied to the others together. Deep products are
 * faster, but T takes its time. (With bench_solve: wide ones lose at 384, and
 * gain at 512.) */
static size_t width_of(size_t cols)
{
    return cols < 512 ? P : 4 * P;
}

size_t takt__factor_reflect_room(size_t rows, size_t all)
{
    const size_t sums = takt__size_add(rows, takt__size_mul(2, all));
    const size_t width = width_of(all);

    return takt__size_add(takt__size_mul(width, sums), 2 * width * width);
}

static struct reflect_work lay_out(char *work, size_t width, size_t rows,
                                   size_t all, size_t size)
{
    struct reflect_work to = {.width = width, .v = work};

    to.square = to.v + rows * width * size;
    to.t = to.square + width * width * size;
    to.w = to.t + width * width * size;
    to.w2 = to.w + width * all * size;
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

/* V of some columns, with ones on its diagonal, zeros above it and behind it.
 */
static void copy_v(size_t rows, size_t cols, const void *a, size_t ld,
                   size_t size, const struct reflect_work *work)
{
    const size_t width = work->width;

    memset(work->v, 0, rows * width * size);
    for (size_t i = 0; i < rows; i++) {
        memcpy(work->v + i * width * size, (const char *)a + i * ld * size,
               takt__size_min(i, cols) * size);
        if (i < cols)
            put(work->v, size, i * width + i, 1);
    }
}

/* Column j of T is -tau[j] T V'v[j], and tau[j] on the diagonal; `square` is
 * -V'V. */
static void make_t(size_t cols, const void *tau, size_t size,
                   const struct reflect_work *work)
{
    const size_t width = work->width;

    memset(work->t, 0, width * width * size);
    for (size_t j = 0; j < cols; j++) {
        const double factor = get(tau, size, j);
        for (size_t i = 0; i < j; i++) {
            double sum = 0;
            for (size_t k = i; k < j; k++)
                sum += get(work->t, size, i * width + k) *
                       get(work->square, size, k * width + j);
            put(work->t, size, i * width + j, factor * sum);
        }
        put(work->t, size, j * width + j, factor);
    }
}

/* -A B, `rows` x cols without gaps; A(i,k) is at a[i * a_row + k * a_col]. */
static struct takt_gemm negative(size_t rows, size_t depth, const void *a,
                                 size_t a_row, size_t a_col, const void *b,
                                 size_t ld_b, size_t cols, void *c)
{
    return (struct takt_gemm){.m = rows,
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
                              .alpha = -1};
}

/* V and T of the columns at `a`. Without tau it is a plan. */
static void make_block(const struct takt_factoring *how,
                       const struct reflect_work *work, size_t rows,
                       size_t cols, const void *a, size_t ld, const void *tau)
{
    const size_t size = how->kernels->size, width = work->width;
    const struct takt_gemm square = negative(
        width, rows, work->v, 1, width, work->v, width, width, work->square);

    if (tau != NULL)
        copy_v(rows, cols, a, ld, size, work);
    how->multiply(how->self, &square);
    if (tau != NULL)
        make_t(cols, tau, size, work);
}

struct reflect_apply {
    const struct takt_factoring *how;
    const struct reflect_work *work;
    bool is_turned; /* T' for T */
    size_t rows, cols, ld;
    char *c;
};

/* C = (I - V T V') C, for some columns of it: W = -V'C, then W2 = T V'C, whose
 * columns lie together. */
static void apply_columns(void *self, size_t first, size_t count, void *scratch)
{
    const struct reflect_apply *to = self;
    const struct takt_factoring *how = to->how;
    const size_t size = how->kernels->size, width = to->work->width;
    char *c = to->c + first * size;
    char *w = to->work->w + first * width * size;
    char *w2 = to->work->w2 + first * width * size;
    const struct takt_gemm into_w =
        negative(width, to->rows, to->work->v, 1, width, c, to->ld, count, w);
    const struct takt_gemm into_w2 =
        negative(width, width, to->work->t, to->is_turned ? 1 : width,
                 to->is_turned ? width : 1, w, count, count, w2);
    struct takt_gemm into_c =
        negative(to->rows, width, to->work->v, width, 1, w2, count, count, c);

    into_c.ldc = to->ld;
    into_c.beta = 1;
    how->multiply_part(how->self, &into_w, scratch);
    how->multiply_part(how->self, &into_w2, scratch);
    how->multiply_part(how->self, &into_c, scratch);
}

static void apply(const struct reflect_apply *to)
{
    const double work =
        2 * (double)to->rows * (double)to->cols * (double)to->work->width;

    to->how->run_columns(to->how->self, to->cols, work, apply_columns,
                         (void *)(uintptr_t)to);
}

static void *after(const void *tau, size_t elements, size_t size)
{
    return tau == NULL ? NULL : (char *)(uintptr_t)tau + elements * size;
}

/* Applies the reflections of `cols` columns to those on their right, which
 * begin with column `width`. */
static void apply_block(const struct takt_factoring *how,
                        const struct reflect_work *work, size_t rows,
                        size_t cols, size_t all, char *a, size_t ld,
                        const void *tau)
{
    if (work->width >= all)
        return;
    make_block(how, work, rows, cols, a, ld, tau);
    apply(&(struct reflect_apply){.how = how,
                                  .work = work,
                                  .is_turned = true,
                                  .rows = rows,
                                  .cols = all - work->width,
                                  .ld = ld,
                                  .c = a + work->width * how->kernels->size});
}

/* Panel by panel, within the first `all` columns. */
static void reflect_block(const struct takt_factoring *how, size_t rows,
                          size_t cols, size_t all, char *a, size_t ld,
                          void *tau, char *work)
{
    const size_t size = how->kernels->size;
    const struct reflect_work parts = lay_out(work, P, rows, all, size);

    for (size_t j = 0; j < cols; j += P) {
        const size_t width = takt__size_min(P, cols - j);
        char *panel = a + (j * ld + j) * size;
        how->kernels->reflect(rows - j, width, width, panel, ld,
                              after(tau, j, size));
        apply_block(how, &parts, rows - j, width, all - j, panel, ld,
                    after(tau, j, size));
    }
}

void takt__factor_reflect(const struct takt_factoring *how, size_t rows,
                          size_t cols, size_t all, void *a, size_t ld,
                          void *tau, void *work)
{
    const size_t size = how->kernels->size, width = width_of(cols);
    const struct reflect_work parts = lay_out(work, width, rows, all, size);

    if (how->kernels->block == 0) {
        how->kernels->reflect(rows, cols, all, a, ld, tau);
        return;
    }
    for (size_t j = 0; j < cols; j += width) {
        const size_t now = takt__size_min(width, cols - j);
        char *block = (char *)a + (j * ld + j) * size;
        reflect_block(how, rows - j, now, takt__size_min(width, all - j), block,
                      ld, after(tau, j, size), work);
        apply_block(how, &parts, rows - j, now, all - j, block, ld,
                    after(tau, j, size));
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
    const size_t size = how->kernels->size, width = width_of(cols);
    const struct reflect_work parts = lay_out(work, width, rows, cols, size);

    if (how->kernels->block == 0) {
        if (tau != NULL)
            how->kernels->unfold(rows, cols, a, ld, tau, q, ld_q);
        return;
    }
    if (tau != NULL)
        set_identity(rows, cols, size, q, ld_q);
    for (size_t block = takt__size_ceil_div(cols, width); block-- > 0;) {
        const size_t j = block * width;
        make_block(how, &parts, rows - j, takt__size_min(width, cols - j),
                   (const char *)a + (j * ld + j) * size, ld,
                   after(tau, j, size));
        apply(&(struct reflect_apply){.how = how,
                                      .work = &parts,
                                      .rows = rows - j,
                                      .cols = cols - j,
                                      .ld = ld_q,
                                      .c = (char *)q + (j * ld_q + j) * size});
    }
}
