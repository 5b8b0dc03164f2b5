/* SPDX-License-Identifier: MIT */
/* test_size.c - sizes against the same arithmetic in wider integers. */
#include "base/size.h"

#include "support/random.h"
#include "support/tap.h"

__extension__ typedef unsigned __int128 wide;

static size_t cut_off(wide size)
{
    return size > SIZE_MAX ? SIZE_MAX : (size_t)size;
}

static void sums_and_products_are_exact_or_the_largest_size(void)
{
    uint64_t state = 1;

    for (int i = 0; i < 100000; i++) {
        const size_t a = random_size(&state), b = random_size(&state);
        EXPECT(takt__size_add(a, b) == cut_off((wide)a + b));
        EXPECT(takt__size_mul(a, b) == cut_off((wide)a * b));
    }
    EXPECT(takt__size_add(SIZE_MAX, 0) == SIZE_MAX);
    EXPECT(takt__size_add(SIZE_MAX, SIZE_MAX) == SIZE_MAX);
    EXPECT(takt__size_mul(SIZE_MAX, SIZE_MAX) == SIZE_MAX);
}

static void rounding_up_never_goes_down(void)
{
    uint64_t state = 1;

    for (int i = 0; i < 100000; i++) {
        const size_t a = random_size(&state);
        const size_t unit = (size_t)1 << random_next(&state) % 63;
        const size_t up = takt__size_round_up(a, unit);
        EXPECT(up >= a &&
               (up == SIZE_MAX || (up % unit == 0 && up - a < unit)));
    }
    EXPECT(takt__size_round_up(SIZE_MAX, 64) == SIZE_MAX);
    EXPECT(takt__size_round_up(SIZE_MAX - 62, 64) == SIZE_MAX);
    EXPECT(takt__size_round_up(SIZE_MAX - 127, 64) == SIZE_MAX - 127);
}

static void one_zero_makes_a_product_zero(void)
{
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX, 0, 2};

    EXPECT_INT(takt__size_product(sizes, 4), 0);
    EXPECT(takt__size_product(sizes, 2) == SIZE_MAX);
    EXPECT_INT(takt__size_product(sizes + 3, 1), 2);
    EXPECT_INT(takt__size_product(sizes, 0), 1);
}

int main(void)
{
    RUN(sums_and_products_are_exact_or_the_largest_size);
    RUN(rounding_up_never_goes_down);
    RUN(one_zero_makes_a_product_zero);
    return tap_done();
}
