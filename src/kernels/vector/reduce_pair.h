/* SPDX-License-Identifier: MIT */
/*
 * reduce_pair.h - sums of distances from a guess and of their squares, side by
 * side, for up to eight vectors.
 *
 * Included by reduce_moments.h after f32.h and after f64.h.
 */

struct F(pair) {
    VREAL apart, squares;
};

VINLINE struct F(pair) F(pair_add)(struct F(pair) a, struct F(pair) b)
{
    return (struct F(pair)){V(add)(a.apart, b.apart),
                            V(add)(a.squares, b.squares)};
}

VINLINE struct F(pair) F(pair_two)(const REAL *a, VREAL guess)
{
    const VREAL x = V(sub)(V(load)(a), guess);
    const VREAL y = V(sub)(V(load)(a + LANES), guess);
    return (struct F(pair)){V(add)(x, y), V(fma)(y, y, V(mul)(x, x))};
}

VINLINE struct F(pair) F(pair_four)(const REAL *a, VREAL guess)
{
    const struct F(pair) left = F(pair_two)(a, guess);
    return F(pair_add)(left, F(pair_two)(a + 2 * LANES, guess));
}

VINLINE struct F(pair) F(pair_eight)(const REAL *a, VREAL guess)
{
    const struct F(pair) left = F(pair_four)(a, guess);
    v_order(); /* up through memory, as the prefetchers expect */
    return F(pair_add)(left, F(pair_four)(a + 4 * LANES, guess));
}

/* The first n < LANES elements; the other lanes are zero. */
VINLINE struct F(pair) F(pair_part)(const REAL *a, size_t n, VREAL guess)
{
    const VREAL x = V(mix)(n, V(sub)(V(load_n)(a, n), guess), V(zero)());
    return (struct F(pair)){x, V(mul)(x, x)};
}

/* A first guess: the mean of the first vector, or a single element. */
VINLINE REAL F(guess)(size_t n, const REAL *a)
{
    return n < LANES ? a[0] : V(sum)(V(load)(a)) / LANES;
}
