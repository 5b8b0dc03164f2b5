/* SPDX-License-Identifier: MIT */
/*
 * test_triangular.c - every routine, side, triangle and order, with products
 * and rests that are computed by their definitions.
 *
 * Whatever must not be read is NaN: gaps between rows, the other triangle, the
 * diagonal where it is 1, and C where beta is 0. Whatever must not be written
 * is compared, bit by bit.
 */
#include "triangular.h"

#include <float.h>

#include "baseline_reference.h"
#include "support/random.h"
#include "support/tap.h"

/* What steps there were. A product counts two for each multiplication with its
 * addition, a rest as count() has it. */
struct tally {
    double of_products, of_rests;
    unsigned products, rests;
};

/* A call, its matrices as they were, and what came of it. */
struct subject {
    struct takt_triangular call;
    struct takt_steps steps;
    void *a, *b;
    void *a_before, *b_before, *c_before;
    size_t a_bytes, b_bytes, c_bytes;
    struct tally tally;
};

static const char *const names[TAKT_ROUTINES] = {[TAKT_SYMM] = "symm",
                                                 [TAKT_SYRK] = "syrk",
                                                 [TAKT_SYR2K] = "syr2k",
                                                 [TAKT_TRMM] = "trmm",
                                                 [TAKT_TRSM] = "trsm"};

static uint64_t random_state = 8;
static double worst_share; /* of what is allowed */

/* ---- steps --------------------------------------------------------------- */

/* What a call computes, when a triangle counts as half a square. */
static double count(const struct takt_triangular *call)
{
    const double order = (double)plain_order(call);
    const bool is_twice =
        call->routine == TAKT_SYMM || call->routine == TAKT_SYR2K;
    const size_t other = plain_writes_triangle(call) ? call->k
                         : call->is_right            ? call->m
                                                     : call->n;

    return (is_twice ? 2 : 1) * order * order * (double)other;
}

static void count_product(void *self, const struct takt_product *p)
{
    struct subject *subject = self;

    subject->tally.of_products +=
        2 * (double)p->m * (double)p->n * (double)p->k;
    subject->tally.products++;
}

static void count_rest(void *self, const struct takt_triangular *part)
{
    struct subject *subject = self;

    EXPECT(part->routine == subject->call.routine);
    EXPECT(plain_order(part) >= 1);
    EXPECT(plain_order(part) < subject->steps.least);
    subject->tally.of_rests += count(part);
    subject->tally.rests++;
}

static void run_product(void *self, const struct takt_product *product)
{
    count_product(self, product);
    plain_product(product);
}

static void run_rest(void *self, const struct takt_triangular *part)
{
    count_rest(self, part);
    plain_triangular(part);
}

/* ---- subjects ------------------------------------------------------------ */

/* The bits of a variant of a call. */
enum { RIGHT = 1, UPPER = 2, TRANSPOSED = 4, UNIT = 8, VARIANTS = 16 };

static bool has_variant(enum takt_routine routine, unsigned variant)
{
    if (routine == TAKT_SYMM)
        return (variant & (TRANSPOSED | UNIT)) == 0;
    if (routine == TAKT_SYRK || routine == TAKT_SYR2K)
        return (variant & (RIGHT | UNIT)) == 0;
    return true;
}

static size_t width_of(bool is_double)
{
    return is_double ? sizeof(double) : sizeof(float);
}

/* Not a byte more than its elements take; all NaN. */
static void *make_matrix(bool is_double, size_t rows, size_t ld, size_t columns,
                         size_t *bytes)
{
    *bytes = ((rows - 1) * ld + columns) * width_of(is_double);

    void *matrix = malloc(*bytes);
    REQUIRE(matrix != NULL);
    memset(matrix, 0xFF, *bytes);
    return matrix;
}

static void *copy_of(const void *matrix, size_t bytes)
{
    void *copy = malloc(bytes);

    REQUIRE(copy != NULL);
    return memcpy(copy, matrix, bytes);
}

static void fill(bool is_double, void *matrix, size_t rows, size_t ld,
                 size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            plain_set(is_double, matrix, i * ld + j,
                      2 * random_unit(&random_state) - 1);
}

/* For trsm the diagonal is large and the rest small: else solutions would grow
 * with the order beyond all bounds. */
static void fill_triangle(const struct takt_triangular *call, void *matrix,
                          size_t ld)
{
    const size_t order = plain_order(call);
    const bool is_tame = call->routine == TAKT_TRSM;

    for (size_t i = 0; i < order; i++) {
        for (size_t j = 0; j < order; j++) {
            const double value = 2 * random_unit(&random_state) - 1;
            if (i == j ? call->is_unit : !plain_is_inside(call, i, j))
                continue;
            plain_set(call->is_double, matrix, i * ld + j,
                      !is_tame ? value
                      : i == j ? value + copysign(1, value)
                               : value / (double)order);
        }
    }
}

static size_t pad(void)
{
    return (size_t)(random_next(&random_state) % 4);
}

/* Operands that are no triangle: B, and A of syrk and syr2k. */
static void *make_operand(const struct takt_triangular *call, size_t *ld,
                          size_t *bytes)
{
    const bool is_square = plain_writes_triangle(call);
    size_t rows = is_square ? call->n : call->m;
    size_t columns = is_square ? call->k : call->n;

    if (is_square && call->is_transposed) {
        rows = call->k;
        columns = call->n;
    }
    *ld = columns + pad();

    void *matrix = make_matrix(call->is_double, rows, *ld, columns, bytes);
    fill(call->is_double, matrix, rows, *ld, columns);
    return matrix;
}

static void make_c(struct subject *subject)
{
    struct takt_triangular *call = &subject->call;
    const size_t rows = plain_rows(call);

    call->ldc = call->n + pad();
    call->c = make_matrix(call->is_double, rows, call->ldc, call->n,
                          &subject->c_bytes);
    if (call->routine == TAKT_TRMM || call->routine == TAKT_TRSM)
        call->beta = NAN; /* there is none */
    if (call->beta == 0)
        return;
    if (plain_writes_triangle(call))
        fill_triangle(call, call->c, call->ldc);
    else
        fill(call->is_double, call->c, rows, call->ldc, call->n);
}

/* Fills in the matrices of a call of which everything else is set. */
static void make_subject(struct subject *subject)
{
    struct takt_triangular *call = &subject->call;
    const size_t order = plain_order(call);

    if (plain_writes_triangle(call)) {
        subject->a = make_operand(call, &call->lda, &subject->a_bytes);
    } else {
        call->lda = order + pad();
        subject->a = make_matrix(call->is_double, order, call->lda, order,
                                 &subject->a_bytes);
        fill_triangle(call, subject->a, call->lda);
    }
    if (call->routine == TAKT_SYMM || call->routine == TAKT_SYR2K)
        subject->b = make_operand(call, &call->ldb, &subject->b_bytes);
    make_c(subject);
    call->a = subject->a;
    call->b = subject->b;
    subject->a_before = copy_of(subject->a, subject->a_bytes);
    if (subject->b != NULL)
        subject->b_before = copy_of(subject->b, subject->b_bytes);
    subject->c_before = copy_of(call->c, subject->c_bytes);
}

static void free_subject(struct subject *subject)
{
    free(subject->a);
    free(subject->b);
    free(subject->call.c);
    free(subject->a_before);
    free(subject->b_before);
    free(subject->c_before);
}

/* The order is that of the triangle, `other` the size that has no triangle. */
static struct takt_triangular make_call(enum takt_routine routine,
                                        unsigned variant, size_t order,
                                        size_t other)
{
    const bool is_right = (variant & RIGHT) != 0;
    const bool is_square = routine == TAKT_SYRK || routine == TAKT_SYR2K;

    return (struct takt_triangular){.routine = routine,
                                    .is_right = is_right,
                                    .is_upper = (variant & UPPER) != 0,
                                    .is_transposed =
                                        (variant & TRANSPOSED) != 0,
                                    .is_unit = (variant & UNIT) != 0,
                                    .m = is_right ? other : order,
                                    .n = is_right || is_square ? order : other,
                                    .k = other};
}

/* ---- checking ------------------------------------------------------------ */

static void complain(const struct subject *subject, size_t row, size_t column,
                     const char *what)
{
    const struct takt_triangular *call = &subject->call;

    tap_failures++;
    printf("# %c%s%s%s%s%s %zu %zu %zu least %zu alpha %g beta %g: %s at "
           "%zu, %zu\n",
           call->is_double ? 'd' : 's', names[call->routine],
           call->is_right ? " right" : "", call->is_upper ? " upper" : " lower",
           call->is_transposed ? " transposed" : "",
           call->is_unit ? " unit" : "", call->m, call->n, call->k,
           subject->steps.least, call->alpha, call->beta, what, row, column);
}

/* An element is a sum of so many terms, each of which is rounded, added to one
 * at a time and scaled; once more for each time the triangle was cut, since the
 * sum is stored then. So is what it is compared with, and an eps is twice what
 * a rounding is off. */
static double roundings(const struct takt_triangular *call)
{
    const size_t order = plain_order(call);
    double terms = (double)order;

    if (plain_writes_triangle(call))
        terms = (double)call->k * (call->routine == TAKT_SYR2K ? 2 : 1);
    return terms + ceil(log2((double)order)) + 4;
}

/* Of trsm, the right-hand side is compared: the backward error is bounded
 * whatever the triangle is. */
static bool is_right_at(const struct subject *subject, size_t i, size_t j)
{
    const struct takt_triangular *call = &subject->call;
    const double eps = call->is_double ? DBL_EPSILON : (double)FLT_EPSILON;
    const size_t at = i * call->ldc + j;
    double off, magnitude;

    if (call->routine == TAKT_TRSM) {
        const double right_side =
            plain_get(call->is_double, subject->c_before, at);
        const struct plain_sum sum =
            plain_scale(plain_inner(call, call->c, call->ldc, i, j), 1,
                        -call->alpha, right_side);
        off = fabs(sum.value);
        magnitude = sum.magnitude;
    } else {
        const struct plain_sum want =
            plain_result(call, subject->c_before, i, j);
        off = fabs(plain_get(call->is_double, call->c, at) - want.value);
        magnitude = want.magnitude;
    }
    const double share = off / (roundings(call) * eps * magnitude);
    worst_share = fmax(worst_share, share);
    return share <= 1;
}

static void check_result(const struct subject *subject)
{
    const struct takt_triangular *call = &subject->call;
    const size_t width = width_of(call->is_double);
    const char *const now = call->c, *const before = subject->c_before;

    for (size_t at = 0; at < subject->c_bytes / width; at++) {
        const size_t i = at / call->ldc, j = at % call->ldc;
        if (!plain_is_result(call, i, j)) {
            if (memcmp(now + at * width, before + at * width, width) != 0) {
                complain(subject, i, j, "written");
                return;
            }
        } else if (!is_right_at(subject, i, j)) {
            complain(subject, i, j, "wrong");
            return;
        }
    }
}

static void check(struct takt_triangular call, size_t least)
{
    struct subject subject = {.call = call,
                              .steps = {.self = &subject,
                                        .product = run_product,
                                        .rest = run_rest,
                                        .least = least}};

    make_subject(&subject);
    takt__by_halves(&subject.call, &subject.steps);
    check_result(&subject);
    EXPECT(memcmp(subject.a, subject.a_before, subject.a_bytes) == 0);
    if (subject.b != NULL)
        EXPECT(memcmp(subject.b, subject.b_before, subject.b_bytes) == 0);
    EXPECT(subject.tally.of_products + subject.tally.of_rests == count(&call));
    free_subject(&subject);
}

static const struct {
    double alpha, beta;
} scales[] = {{1, 0}, {-0.5, 0}, {1, 1}, {-0.5, 1}, {1, -0.5}, {0.7, -0.3}};

/* Every variant, of numbers of either kind. */
static void check_order(enum takt_routine routine, size_t order, size_t least)
{
    for (unsigned variant = 0; variant < 2 * VARIANTS; variant++) {
        const uint64_t any = random_next(&random_state);
        const size_t scale = any % (sizeof scales / sizeof *scales);
        if (!has_variant(routine, variant % VARIANTS))
            continue;
        struct takt_triangular call =
            make_call(routine, variant % VARIANTS, order, 1 + (any >> 32) % 9);
        call.is_double = variant >= VARIANTS;
        call.alpha = scales[scale].alpha;
        call.beta = scales[scale].beta;
        check(call, least);
    }
}

static void check_routine(enum takt_routine routine)
{
    static const size_t leasts[] = {2, 5, 64};
    static const size_t large[] = {127, 131, 257, 321};

    for (size_t i = 0; i < sizeof leasts / sizeof *leasts; i++)
        for (size_t order = 1; order <= 70; order++)
            check_order(routine, order, leasts[i]);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        check_order(routine, large[i], leasts[i % 3]);
}

/* ---- the tests ----------------------------------------------------------- */

static void symm_is_right_for_every_order(void)
{
    check_routine(TAKT_SYMM);
}

static void syrk_is_right_for_every_order(void)
{
    check_routine(TAKT_SYRK);
}

static void syr2k_is_right_for_every_order(void)
{
    check_routine(TAKT_SYR2K);
}

static void trmm_is_right_for_every_order(void)
{
    check_routine(TAKT_TRMM);
}

static void trsm_is_right_for_every_order(void)
{
    check_routine(TAKT_TRSM);
}

/* Runs a call of which the steps only count. */
static struct tally count_steps(enum takt_routine routine, unsigned variant,
                                size_t order, size_t least)
{
    struct subject subject = {.call = make_call(routine, variant, order, 3),
                              .steps = {.self = &subject,
                                        .product = count_product,
                                        .rest = count_rest,
                                        .least = least}};

    subject.call.alpha = subject.call.beta = 1;
    make_subject(&subject);
    takt__by_halves(&subject.call, &subject.steps);
    EXPECT(subject.tally.of_products + subject.tally.of_rests ==
           count(&subject.call));
    free_subject(&subject);
    return subject.tally;
}

static void nearly_all_work_is_in_products(void)
{
    for (int routine = TAKT_SYMM; routine <= TAKT_TRSM; routine++) {
        const struct tally large =
            count_steps((enum takt_routine)routine, 0, 512, 64);
        const double all = large.of_products + large.of_rests;
        TAP_CHECK(large.of_products >= 0.93 * all, "%s: %g of %g",
                  names[routine], large.of_products, all);
    }
}

static void a_small_triangle_is_not_cut(void)
{
    for (int routine = TAKT_SYMM; routine <= TAKT_TRSM; routine++) {
        const struct tally small =
            count_steps((enum takt_routine)routine, UPPER, 63, 64);
        EXPECT_INT(small.products, 0);
        EXPECT_INT(small.rests, 1);
    }
}

static void expect_tile(void *self, const struct takt_triangular *part)
{
    const struct subject *subject = self;
    const ptrdiff_t bytes =
        (const char *)part->c - (const char *)subject->call.c;
    const size_t row = (size_t)bytes / (subject->call.ldc * sizeof(float));

    TAP_CHECK(row % 64 == 0, "a part begins at %zu", row);
}

static void large_triangles_are_cut_where_tiles_end(void)
{
    struct subject subject = {.call = make_call(TAKT_TRMM, 0, 3001, 2),
                              .steps = {.self = &subject,
                                        .product = count_product,
                                        .rest = expect_tile,
                                        .least = 256}};

    subject.call.alpha = 1;
    make_subject(&subject);
    takt__by_halves(&subject.call, &subject.steps);
    EXPECT(subject.tally.products > 8);
    free_subject(&subject);
}

int main(void)
{
    RUN(symm_is_right_for_every_order);
    RUN(syrk_is_right_for_every_order);
    RUN(syr2k_is_right_for_every_order);
    RUN(trmm_is_right_for_every_order);
    RUN(trsm_is_right_for_every_order);
    RUN(nearly_all_work_is_in_products);
    RUN(a_small_triangle_is_not_cut);
    RUN(large_triangles_are_cut_where_tiles_end);
    printf("# up to %.2f of what is allowed\n", worst_share);
    return tap_done();
}
