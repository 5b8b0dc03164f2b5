/* SPDX-License-Identifier: MIT */
/*
 * reduce_tree.h - adding up to 32 vectors as a balanced tree.
 *
 * Included by reduce_f32.c and reduce_f64.c after f32.h or f64.h, and after L,
 * the lanes of a vector.
 */

enum term { PLAIN, SIZE, PRODUCT }; /* x, |x|, x*y */

VINLINE VREAL first(enum term term, VREAL x, VREAL y)
{
    switch (term) {
    case SIZE:
        return V(abs)(x);
    case PRODUCT:
        return V(mul)(x, y);
    case PLAIN:
        break;
    }
    return x;
}

VINLINE VREAL more(enum term term, VREAL x, VREAL y, VREAL sum)
{
    return term == PRODUCT ? V(fma)(x, y, sum) : V(add)(sum, first(term, x, y));
}

/* Trees are written left before right: loads then go up through memory, as
 * the prefetchers expect (measured: a third of the bandwidth otherwise). */
VINLINE VREAL tree2(enum term term, const REAL *a, const REAL *b)
{
    const VREAL left = first(term, V(load)(a), V(load)(b));
    v_order();
    return more(term, V(load)(a + L), V(load)(b + L), left);
}

#define TREE(size_, half_)                                                    \
    VINLINE VREAL tree##size_(enum term term, const REAL *a, const REAL *b)   \
    {                                                                         \
        const VREAL left = tree##half_(term, a, b);                           \
        v_order();                                                            \
        return V(add)(left, tree##half_(term, a + half_ * L, b + half_ * L)); \
    }
/* clang-format off */
TREE(4, 2)
TREE(8, 4)
TREE(16, 8)
TREE(32, 16)
/* clang-format on */
#undef TREE

/* Whole groups of four vectors, fewer than eight of them. */
VINLINE VREAL fours(enum term term, size_t n, const REAL *a, const REAL *b)
{
    VREAL sum = V(zero)();
    size_t i = 0;

    if ((n & (16 * L)) != 0) {
        sum = tree16(term, a, b);
        i = 16 * L;
    }
    if ((n & (8 * L)) != 0) {
        sum = V(add)(sum, tree8(term, a + i, b + i));
        i += 8 * L;
    }
    if ((n & (4 * L)) != 0)
        sum = V(add)(sum, tree4(term, a + i, b + i));
    return sum;
}

/* Fewer than 32 vectors: one branch per size, the shortest with fewest, then
 * what is less than one vector. */
VINLINE VREAL tail(enum term term, size_t n, const REAL *a, const REAL *b)
{
    VREAL sum = V(zero)();
    size_t i = 0;

    if (n >= 4 * L) {
        sum = fours(term, n, a, b);
        i = n & ~(size_t)(4 * L - 1);
    }
    if ((n & (2 * L)) != 0) {
        sum = V(add)(sum, tree2(term, a + i, b + i));
        i += 2 * L;
    }
    if ((n & L) != 0) {
        sum = more(term, V(load)(a + i), V(load)(b + i), sum);
        i += L;
    }
    if (i == n)
        return sum;
    return more(term, V(load_n)(a + i, n - i), V(load_n)(b + i, n - i), sum);
}

/* Fetches the block of the second operand before the loads of the first:
 * two streams that advance by turns get less out of the prefetchers. */
VINLINE void fetch(const REAL *b)
{
    for (size_t i = 0; i < 32 * L; i += 64 / sizeof *b)
        v_prefetch(b + i);
}
