/* SPDX-License-Identifier: MIT */
/* flags.c - what a result shows of the exceptions that were raised. */
#include "flags.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "takt/ops.h"

/* ---- operands ------------------------------------------------------------ */

/* Numbers of a type, by rows that lie apart by `row` elements, and elements of
 * a row by `col`. */
struct flags_matrix {
    const void *at;
    bool is_double;
    size_t row, col;
};

static double number(const struct flags_matrix *x, size_t i, size_t j)
{
    const size_t at = i * x->row + j * x->col;

    return x->is_double ? ((const double *)x->at)[at]
                        : (double)((const float *)x->at)[at];
}

/* A call as a product of m x k and k x n elements. Maps, which write over an
 * operand, and sums have no operands here: k is 0. */
struct flags_product {
    size_t m, n, k;
    bool adds; /* to what was there */
    struct flags_matrix a, b, c;
};

static struct flags_matrix matrix(const takt_call *call, const void *at,
                                  size_t ld, bool is_transposed)
{
    return (struct flags_matrix){at, call->dtype == TAKT_F64,
                                 is_transposed ? 1 : ld,
                                 is_transposed ? ld : 1};
}

static size_t distance(size_t ld, size_t without_gaps)
{
    return ld > 0 ? ld : without_gaps;
}

static struct flags_product read_matmul(const takt_call *call)
{
    const size_t m = call->shape.dim[0], n = call->shape.dim[1];
    const size_t k = call->shape.dim[2];
    const bool ta = (call->flags & TAKT_TRANS_A) != 0;
    const bool tb = (call->flags & TAKT_TRANS_B) != 0;

    return (struct flags_product){
        .m = m,
        .n = n,
        .k = k,
        .adds = call->beta != 0,
        .a = matrix(call, call->in[0], distance(call->ld[0], ta ? m : k), ta),
        .b = matrix(call, call->in[1], distance(call->ld[1], tb ? k : n), tb),
        .c = matrix(call, call->out, distance(call->ld[2], n), false)};
}

static struct flags_product read_gemv(const takt_call *call)
{
    const size_t rows = call->shape.dim[0], cols = call->shape.dim[1];
    const bool ta = (call->flags & TAKT_TRANS_A) != 0;

    return (struct flags_product){
        .m = ta ? cols : rows,
        .n = 1,
        .k = ta ? rows : cols,
        .adds = call->beta != 0,
        .a = matrix(call, call->in[0], distance(call->ld[0], cols), ta),
        .b = matrix(call, call->in[1], 1, false),
        .c = matrix(call, call->out, 1, false)};
}

static struct flags_product read_vectors(const takt_call *call)
{
    const size_t n = call->shape.dim[0];
    const bool is_map = call->out == call->in[0] || call->out == call->in[1];
    const bool is_dot = !is_map && call->in[1] != NULL;

    return (struct flags_product){.m = is_map ? n : 1,
                                  .n = 1,
                                  .k = is_dot ? n : 0,
                                  .a = matrix(call, call->in[0], 0, false),
                                  .b = matrix(call, call->in[1], 1, false),
                                  .c = matrix(call, call->out, 1, false)};
}

static struct flags_product read_call(const takt_call *call)
{
    return call->shape.rank == 3   ? read_matmul(call)
           : call->shape.rank == 2 ? read_gemv(call)
                                   : read_vectors(call);
}

/* ---- where a NaN is from --------------------------------------------------
 */

static bool has_nan(const struct flags_matrix *x, size_t i, size_t count)
{
    for (size_t j = 0; j < count; j++)
        if (isnan(number(x, i, j)))
            return true;
    return false;
}

static bool is_invalid_product(double x, double y)
{
    return (isinf(x) && y == 0) || (x == 0 && isinf(y));
}

static bool is_invalid_sum(double x, double y)
{
    return isinf(x) && isinf(y) && signbit(x) != signbit(y);
}

/* Whether it is the NaN that an invalid operation makes: one that was in an
 * operand is passed on with its own sign and digits. Programs write another
 * one on x86 (NAN, np.nan); one that was made earlier is taken for a new one,
 * and its flag was raised then. */
static bool is_made(double nan)
{
#if defined(__x86_64__)
    static const uint64_t made = UINT64_C(0xfff8000000000000);
#else
    static const uint64_t made = UINT64_C(0x7ff8000000000000);
#endif
    uint64_t bits;

    memcpy(&bits, &nan, sizeof bits);
    return bits == made;
}

/* The sum of one element, from the first product to the last. A NaN without a
 * cause here was in what it was added to; to an infinite sum that may also have
 * been the other infinity. */
static bool is_invalid(const struct flags_product *p, size_t i, size_t j)
{
    double sum = 0;

    for (size_t k = 0; k < p->k; k++) {
        const double x = number(&p->a, i, k), y = number(&p->b, k, j);
        if (is_invalid_product(x, y) || is_invalid_sum(sum, x * y))
            return true;
        sum += x * y;
    }
    return isinf(sum) && is_made(number(&p->c, i, j));
}

/* Columns that are looked at together. */
enum { width = 256 };

struct flags_columns {
    size_t first, count;
    bool has_nan[width];
};

static void read_columns(const struct flags_product *p,
                         struct flags_columns *columns)
{
    const struct flags_matrix turned = {p->b.at, p->b.is_double, p->b.col,
                                        p->b.row};

    for (size_t j = 0; j < columns->count; j++)
        columns->has_nan[j] = has_nan(&turned, columns->first + j, p->k);
}

/* Whether a NaN of this row came from an invalid operation. One whose operands
 * have no NaN did; others are computed again, as far as `left` goes. */
static bool is_row_invalid(const struct flags_product *p, size_t i,
                           const struct flags_columns *columns, size_t *left)
{
    int has_row_nan = -1;

    for (size_t j = 0; j < columns->count; j++) {
        const size_t at = columns->first + j;
        if (!isnan(number(&p->c, i, at)))
            continue;
        if (has_row_nan < 0)
            has_row_nan = has_nan(&p->a, i, p->k);
        if (has_row_nan == 0 && !columns->has_nan[j] && !p->adds)
            return true;
        if (*left < p->k)
            continue;
        *left -= p->k;
        if (is_invalid(p, i, at))
            return true;
    }
    return false;
}

/* A NaN in an operand is no invalid operation, nor is what becomes of it. */
static bool has_invalid(const struct flags_product *p)
{
    size_t left = 1 << 22; /* multiplications: some milliseconds */

    for (size_t first = 0; first < p->n; first += width) {
        struct flags_columns columns = {
            first, p->n - first < width ? p->n - first : width, {false}};
        read_columns(p, &columns);
        for (size_t i = 0; i < p->m; i++)
            if (is_row_invalid(p, i, &columns, &left))
                return true;
    }
    return false;
}

/* ---- flags ----------------------------------------------------------------
 */

/* What exceptions a result may have come from. */
static uint32_t possible_of(const struct flags_product *p)
{
    uint32_t possible = 0;

    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            const double x = number(&p->c, i, j);
            possible |= isnan(x)      ? FE_INVALID | FE_OVERFLOW
                        : isfinite(x) ? 0
                                      : FE_OVERFLOW;
        }
    return possible;
}

/* By the operation itself, which a trap notices: feraiseexcept() is not in
 * libc. */
static void raise_again(uint32_t flags)
{
    volatile double zero = 0, most = DBL_MAX;

    if ((flags & FE_INVALID) != 0)
        zero = zero / zero;
    if ((flags & FE_OVERFLOW) != 0)
        most = most * most;
    (void)zero, (void)most;
}

void takt__flags_correct(const struct takt_flags *flags, struct takt_fpenv now,
                         const takt_call *call)
{
    const struct flags_product product = read_call(call);
    uint32_t raised = now.flags & ~flags->before.flags;
    uint32_t possible = possible_of(&product);

    if ((raised & possible & FE_INVALID) != 0 && product.k > 0 &&
        !has_invalid(&product))
        possible &= ~(uint32_t)FE_INVALID;
    raised &= possible & (FE_INVALID | FE_OVERFLOW);
    takt__fpenv_set((struct takt_fpenv){
        flags->before.control,
        (now.flags & ~(uint32_t)(FE_INVALID | FE_OVERFLOW)) |
            flags->before.flags});
    raise_again(raised);
}
