/* SPDX-License-Identifier: MIT */
/*
 * test_products.c - products of integers and halves beside plain loops: tiles
 * of every instruction set, all types, any steps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "product.h"
#include "support/random.h"
#include "support/tap.h"

/* ---- halves ---- */

static double value_of_half(uint16_t half)
{
    const int exponent = half >> 10 & 0x1f, rest = half & 0x3ff;
    const double value =
        exponent == 0 ? ldexp(rest, -24) : ldexp(1024 + rest, exponent - 25);

    return half & 0x8000 ? -value : value;
}

static void every_half_is_a_float_and_back(void)
{
    for (uint32_t half = 0; half < 0x10000; half++) {
        const float value = takt__float_of_half((uint16_t)half);
        int raised = 0;
        EXPECT_INT(takt__half_of_float(value, &raised), half);
        EXPECT_INT(raised, 0);
        if ((half & 0x7c00) == 0x7c00)
            EXPECT((half & 0x3ff) != 0 ? isnan(value) : isinf(value));
        else
            EXPECT(value == (float)value_of_half((uint16_t)half));
    }
}

static uint16_t rounded(double value, int *raised)
{
    *raised = 0;
    return takt__half_of_float((float)value, raised);
}

static void floats_are_rounded_to_the_nearest_half(void)
{
    int raised;

    for (uint16_t half = 0; half < 0x7bff; half++) {
        const double low = value_of_half(half);
        const double high = value_of_half((uint16_t)(half + 1));
        const double middle = (low + high) / 2;
        const uint16_t even = half % 2 == 0 ? half : (uint16_t)(half + 1);
        EXPECT_INT(rounded(middle, &raised), even);
        EXPECT_INT(raised, half < 0x400 ? TAKT_ROUNDING_UNDERFLOWS : 0);
        EXPECT_INT(rounded(-middle, &raised), even | 0x8000);
        EXPECT_INT(rounded(nextafterf((float)middle, 0), &raised), half);
        EXPECT_INT(rounded(nextafterf((float)middle, 1e9f), &raised), half + 1);
    }
    EXPECT_INT(rounded(65519.99, &raised), 0x7bff);
    EXPECT_INT(raised, 0);
    EXPECT_INT(rounded(65520, &raised), 0x7c00);
    EXPECT_INT(raised, TAKT_ROUNDING_OVERFLOWS);
    EXPECT_INT(rounded(-1e30, &raised), 0xfc00);
    EXPECT_INT(raised, TAKT_ROUNDING_OVERFLOWS);
    EXPECT_INT(rounded(1e-30, &raised), 0);
    EXPECT_INT(raised, TAKT_ROUNDING_UNDERFLOWS);
}

/* ---- tiles ---- */

static bool has_isa(unsigned number)
{
#if defined(__x86_64__)
    return number == 0   ? true
           : number == 1 ? __builtin_cpu_supports("avx2")
                         : __builtin_cpu_supports("avx512dq");
#else
    return number == 0;
#endif
}

static const struct takt_product_tile *tiles_of(unsigned number)
{
#if defined(__x86_64__)
    return number == 0   ? takt__product_tiles_base
           : number == 1 ? takt__product_tiles_avx2
                         : takt__product_tiles_avx512;
#else
    (void)number;
    return takt__product_tiles_base;
#endif
}

enum { steps = 5, most_rows = 16, most_cols = 96 };

#define DEFINE_CHECK(name_, type_)                                             \
    static void check_##name_(const struct takt_product_tile *tile)            \
    {                                                                          \
        static type_ a[steps * most_rows], b[steps * most_cols];               \
        static type_ sums[most_rows * most_cols], want[most_rows * most_cols]; \
        uint64_t random = 3;                                                   \
                                                                               \
        for (size_t i = 0; i < steps * most_rows; i++)                         \
            a[i] = (type_)(random_next(&random) >> 40);                        \
        for (size_t i = 0; i < steps * most_cols; i++)                         \
            b[i] = (type_)(random_next(&random) >> 40);                        \
        for (size_t i = 0; i < most_rows * most_cols; i++)                     \
            want[i] = sums[i] = (type_)i;                                      \
        for (size_t i = 0; i < tile->rows; i++)                                \
            for (size_t j = 0; j < tile->cols; j++)                            \
                for (size_t p = 0; p < steps; p++) {                           \
                    const type_ product =                                      \
                        a[p * tile->rows + i] * b[p * tile->cols + j];         \
                    want[i * most_cols + j] += product;                        \
                }                                                              \
        tile->add(steps, a, b, sums, most_cols);                               \
        EXPECT(memcmp(sums, want, sizeof sums) == 0);                          \
    }
DEFINE_CHECK(u32, uint32_t)
DEFINE_CHECK(u64, uint64_t)
DEFINE_CHECK(f32, float)

static void tiles_of_all_instruction_sets_add_up(void)
{
    const struct takt_product_tile *best = NULL;

    for (unsigned i = 0; i < 3; i++) {
        const struct takt_product_tile *tile = tiles_of(i);
        if (!has_isa(i))
            continue;
        best = tile;
        for (unsigned sum = 0; sum < TAKT_SUMS; sum++) {
            REQUIRE(tile[sum].rows <= most_rows);
            REQUIRE(tile[sum].cols <= most_cols);
            EXPECT_INT(TAKT_BLOCK_ROWS % tile[sum].rows, 0);
            EXPECT_INT(TAKT_BLOCK_BYTES % (tile[sum].cols * tile[sum].size), 0);
        }
        check_u32(&tile[TAKT_SUM_U32]);
        check_u64(&tile[TAKT_SUM_U64]);
        check_f32(&tile[TAKT_SUM_F32]);
    }
    EXPECT(takt__product_tile(TAKT_SUM_U64) == &best[TAKT_SUM_U64]);
}

/* ---- products ---- */

static const size_t number_size[] = {1, 1, 2, 4, 8, 2};

static uint64_t read_number(const char *at, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, at, size);
    return value;
}

static float read_half(const char *at)
{
    return takt__float_of_half((uint16_t)read_number(at, 2));
}

/* One place of the result, as NumPy computes it. */
static uint64_t place_of(const struct takt_number_product *p, size_t i,
                         size_t j)
{
    const size_t size = number_size[p->number];
    uint64_t sum = 0;
    float real = 0;
    int raised = 0;

    for (size_t s = 0; s < p->k; s++) {
        const char *a =
            p->a + (ptrdiff_t)i * p->a_row + (ptrdiff_t)s * p->a_col;
        const char *b =
            p->b + (ptrdiff_t)s * p->b_row + (ptrdiff_t)j * p->b_col;
        if (p->number == TAKT_NUMBER_HALF) {
            const float product = read_half(a) * read_half(b);
            real += product;
        } else if (p->number == TAKT_NUMBER_BOOL)
            sum |= read_number(a, 1) != 0 && read_number(b, 1) != 0;
        else
            sum += read_number(a, size) * read_number(b, size);
    }
    if (p->number == TAKT_NUMBER_HALF)
        return takt__half_of_float(real, &raised);
    return size == 8 ? sum : sum & ((UINT64_C(1) << 8 * size) - 1);
}

static uint16_t random_half(uint64_t *random)
{
    int raised = 0;

    return takt__half_of_float((float)(random_unit(random) - 0.5), &raised);
}

static void fill(enum takt_number number, char *at, size_t bytes,
                 uint64_t *random)
{
    for (size_t i = 0; i < bytes; i += 2) {
        const uint16_t value =
            number == TAKT_NUMBER_HALF
                ? random_half(random)
                : (uint16_t)(random_next(random) >>
                             (number == TAKT_NUMBER_BOOL ? 62 : 20));
        memcpy(at + i, &value, 2);
    }
}

static takt_status run_parts(takt_ctx *ctx, unsigned parts, takt_part run,
                             void *job)
{
    (void)ctx;
    while (parts-- > 0)
        run(job, parts, 0);
    return TAKT_OK;
}

static const struct takt_libtakt libtakt = {.run_parts = run_parts};
static const struct takt_route route = {.takt = &libtakt, .team = 3};

/* Rows of twice the length, or columns; backwards with a sign. */
static char *place(char *memory, size_t rows, size_t cols, size_t size,
                   unsigned how, ptrdiff_t *row, ptrdiff_t *col)
{
    const ptrdiff_t number = (ptrdiff_t)size;

    *row = how % 2 == 0 ? 2 * (ptrdiff_t)cols * number : number;
    *col = how % 2 == 0 ? number : 2 * (ptrdiff_t)rows * number;
    if (how / 2 % 2 == 0)
        return memory;
    memory += (ptrdiff_t)(rows - 1) * *row;
    *row = -*row;
    return memory;
}

static void check_product(enum takt_number number, size_t m, size_t k, size_t n,
                          unsigned how, uint64_t *random)
{
    const size_t size = number_size[number];
    const size_t room[] = {2 * m * k * size, 2 * k * n * size,
                           2 * m * n * size};
    char *memory[3];
    struct takt_number_product p = {.number = number, .m = m, .n = n, .k = k};

    for (unsigned i = 0; i < 3; i++) {
        memory[i] = malloc(room[i]);
        REQUIRE(memory[i] != NULL);
        fill(number, memory[i], room[i], random);
    }
    p.a = place(memory[0], m, k, size, how, &p.a_row, &p.a_col);
    p.b = place(memory[1], k, n, size, how / 4, &p.b_row, &p.b_col);
    p.c = place(memory[2], m, n, size, how / 3, &p.c_row, &p.c_col);
    EXPECT(takt__product_run(&p, how % 3 == 0 ? NULL : &route, how % 3 + 1));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            if (read_number(p.c + (ptrdiff_t)i * p.c_row +
                                (ptrdiff_t)j * p.c_col,
                            size) != place_of(&p, i, j)) {
                EXPECT_INT(number, -1);
                i = m - 1;
                break;
            }
    for (unsigned i = 0; i < 3; i++)
        free(memory[i]);
}

static void products_are_those_of_a_plain_loop(void)
{
    static const size_t shape[][3] = {{1, 1, 1},    {8, 1, 48},
                                      {7, 5, 3},    {65, 130, 9},
                                      {9, 300, 97}, {70, 17, 210}};
    uint64_t random = 11;
    unsigned how = 0;

    for (enum takt_number number = TAKT_NUMBER_BOOL; number <= TAKT_NUMBER_HALF;
         number++)
        for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
            for (unsigned times = 0; times < 3; times++)
                check_product(number, shape[i][0], shape[i][1], shape[i][2],
                              how += 5, &random);
}

/* A number that is repeated takes no memory, but its copies would. */
static void what_does_not_fit_is_refused(void)
{
    static uint64_t one = 1, c[16];
    const struct takt_number_product p = {.number = TAKT_NUMBER_64,
                                          .m = 4,
                                          .n = 4,
                                          .k = (size_t)1 << 50,
                                          .a = (char *)&one,
                                          .b = (char *)&one,
                                          .c = (char *)c,
                                          .c_row = 32,
                                          .c_col = 8};

    EXPECT(!takt__product_run(&p, NULL, 1));
    EXPECT_INT(c[0], 0);
}

int main(void)
{
    RUN(every_half_is_a_float_and_back);
    RUN(floats_are_rounded_to_the_nearest_half);
    RUN(tiles_of_all_instruction_sets_add_up);
    RUN(products_are_those_of_a_plain_loop);
    RUN(what_does_not_fit_is_refused);
    return tap_done();
}
