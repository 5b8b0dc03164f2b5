/* SPDX-License-Identifier: MIT */
/*
 * triangular.c - cuts a triangle into two halves and the square between them,
 * and the halves again.
 *
 * No copies are needed: the steps come in such an order that what is written
 * over was read before. Every element of the result is scaled once, by the
 * first step that writes it; later steps add to it.
 */
#include "triangular.h"

enum { TILE = 64 }; /* a multiple of what kernels compute at a time */

/* Some of the rows, or of the columns, of the triangle. */
struct index_range {
    size_t begin, count;
};

/* The square between the halves. */
struct square {
    struct index_range rows, columns;
};

static bool reads_b(const struct takt_triangular *call)
{
    return call->routine == TAKT_SYMM || call->routine == TAKT_SYR2K;
}

/* Large triangles are cut where a tile ends; of small ones that would make one
 * half much larger than the other. */
static size_t middle_of(size_t order)
{
    const size_t unit = order < 4 * TILE ? 1 : TILE;

    return (order / 2 + unit / 2) / unit * unit;
}

static size_t bytes_of(const struct takt_triangular *call, size_t elements)
{
    return elements * (call->is_double ? sizeof(double) : sizeof(float));
}

/* The offset of an element of the triangle, in bytes. */
static size_t offset_of(const struct takt_triangular *call, size_t row,
                        size_t column)
{
    const size_t ld = takt__writes_triangle(call) ? call->ldc : call->lda;

    return bytes_of(call, row * ld + column);
}

/* The offset into another matrix of the rows or columns that belong to a range
 * of the triangle, in bytes. */
static size_t strip_offset(const struct takt_triangular *call,
                           struct index_range range, size_t ld)
{
    const bool are_columns =
        takt__writes_triangle(call) ? call->is_transposed : call->is_right;

    return bytes_of(call, range.begin * (are_columns ? 1 : ld));
}

/* The same call for one half of the triangle. */
static struct takt_triangular half_of(const struct takt_triangular *call,
                                      struct index_range range)
{
    struct takt_triangular half = *call;
    const size_t corner = offset_of(call, range.begin, range.begin);

    if (takt__writes_triangle(call)) {
        half.a = (const char *)call->a + strip_offset(call, range, call->lda);
        half.c = (char *)call->c + corner;
    } else {
        half.a = (const char *)call->a + corner;
        half.c = (char *)call->c + strip_offset(call, range, call->ldc);
    }
    if (reads_b(call))
        half.b = (const char *)call->b + strip_offset(call, range, call->ldb);
    *(takt__writes_triangle(call) || call->is_right ? &half.n : &half.m) =
        range.count;
    return half;
}

/* syrk, syr2k: the square of the result. */
static void fill(const struct takt_triangular *call,
                 const struct square *square, const struct takt_steps *steps)
{
    const bool is_twice = call->routine == TAKT_SYR2K;
    const char *const a = call->a, *const b = is_twice ? call->b : a;
    const size_t lda = call->lda, ldb = is_twice ? call->ldb : lda;
    const struct index_range rows = square->rows, columns = square->columns;
    struct takt_product product = {
        .is_double = call->is_double,
        .m = rows.count,
        .n = columns.count,
        .k = call->k,
        .is_a_transposed = call->is_transposed,
        .is_b_transposed = !call->is_transposed,
        .alpha = call->alpha,
        .beta = call->beta,
        .a = a + strip_offset(call, rows, lda),
        .b = b + strip_offset(call, columns, ldb),
        .c = (char *)call->c + offset_of(call, rows.begin, columns.begin),
        .lda = lda,
        .ldb = ldb,
        .ldc = call->ldc};

    steps->product(steps->self, &product);
    if (!is_twice)
        return;
    product.a = b + strip_offset(call, rows, ldb);
    product.b = a + strip_offset(call, columns, lda);
    product.lda = ldb;
    product.ldb = lda;
    product.beta = 1;
    steps->product(steps->self, &product);
}

/* symm, trmm, trsm: what the square of A, or its transpose, brings from one
 * strip of B to the other strip of C. */
static struct takt_product carry(const struct takt_triangular *call,
                                 const struct square *square,
                                 bool is_transposed, double alpha, double beta)
{
    const bool is_right = call->is_right, is_flipped = is_right ^ is_transposed;
    const struct index_range to = is_flipped ? square->columns : square->rows;
    const struct index_range from = is_flipped ? square->rows : square->columns;
    const size_t ld = reads_b(call) ? call->ldb : call->ldc;
    const char *const of_a =
        (const char *)call->a +
        offset_of(call, square->rows.begin, square->columns.begin);
    const char *const of_b = (const char *)(reads_b(call) ? call->b : call->c) +
                             strip_offset(call, from, ld);

    return (struct takt_product){.is_double = call->is_double,
                                 .m = is_right ? call->m : to.count,
                                 .n = is_right ? to.count : call->n,
                                 .k = from.count,
                                 .is_a_transposed = !is_right && is_transposed,
                                 .is_b_transposed = is_right && is_transposed,
                                 .alpha = alpha,
                                 .beta = beta,
                                 .a = is_right ? of_b : of_a,
                                 .b = is_right ? of_a : of_b,
                                 .c = (char *)call->c +
                                      strip_offset(call, to, call->ldc),
                                 .lda = is_right ? ld : call->lda,
                                 .ldb = is_right ? call->lda : ld,
                                 .ldc = call->ldc};
}

/* The square counts on both sides of the diagonal. It comes first: with beta 0,
 * the large products then need not read C. */
static void run_symm(const struct takt_triangular *call,
                     const struct square *square,
                     struct takt_triangular *halves,
                     const struct takt_steps *steps)
{
    for (int i = 0; i < 2; i++) {
        const struct takt_product product =
            carry(call, square, i == 1, call->alpha, call->beta);
        steps->product(steps->self, &product);
    }
    for (int i = 0; i < 2; i++) {
        halves[i].beta = 1;
        takt__by_halves(&halves[i], steps);
    }
}

/* The square reads one strip of B and adds to the other. trmm needs what it
 * reads as it was, so the other strip comes first; trsm needs the solution
 * there, so the other comes last. */
static void run_in_place(const struct takt_triangular *call,
                         const struct square *square,
                         struct takt_triangular *halves,
                         const struct takt_steps *steps)
{
    const bool is_solved = call->routine == TAKT_TRSM;
    const struct takt_product product =
        carry(call, square, call->is_transposed, is_solved ? -1 : call->alpha,
              is_solved ? call->alpha : 1);
    const int to = product.c == call->c ? 0 : 1;

    if (is_solved)
        halves[to].alpha = 1; /* the product has scaled it */
    takt__by_halves(&halves[is_solved ? 1 - to : to], steps);
    steps->product(steps->self, &product);
    takt__by_halves(&halves[is_solved ? to : 1 - to], steps);
}

void takt__by_halves(const struct takt_triangular *call,
                     const struct takt_steps *steps)
{
    const size_t order = takt__triangle_order(call);

    if (order < steps->least) {
        steps->rest(steps->self, call);
        return;
    }

    const size_t middle = middle_of(order);
    const struct index_range low = {0, middle}, high = {middle, order - middle};
    const struct square square = {call->is_upper ? low : high,
                                  call->is_upper ? high : low};
    struct takt_triangular halves[] = {half_of(call, low), half_of(call, high)};

    if (call->routine == TAKT_SYMM) {
        run_symm(call, &square, halves, steps);
    } else if (!takt__writes_triangle(call)) {
        run_in_place(call, &square, halves, steps);
    } else {
        fill(call, &square, steps);
        takt__by_halves(&halves[0], steps);
        takt__by_halves(&halves[1], steps);
    }
}
