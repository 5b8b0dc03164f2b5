/* SPDX-License-Identifier: MIT */
/*
 * columns_walk.h - goes over a matrix for one reduction of its columns, of one
 * dtype: included once for each.
 *
 *   TREE     rows at a time
 *   KNOWN    what is known of a vector of columns
 *   TAKE     KNOWN TAKE(KNOWN, const REAL *at, size_t ld, size_t rows,
 *            size_t n): with so many rows more, TREE or 1, of n <= LANES
 *            columns; both are constants
 *   W(name)  the name with that of the reduction
 */

/* All rows of a few vectors, a constant: what is known stays in registers. */
VINLINE void W(down)(struct F(strip) s, size_t vectors, KNOWN *known)
{
    const size_t n = s.n < LANES ? s.n : LANES;
    const REAL *at = s.at;
    KNOWN here[STRIP];
    size_t left = s.rows;

    for (size_t k = 0; k < vectors; k++)
        here[k] = known[k];
    for (; left >= TREE; left -= TREE, at += TREE * s.ld)
        for (size_t k = 0; k < vectors; k++)
            here[k] = TAKE(here[k], at + F(place)(s.n, k), s.ld, TREE, n);
    for (; left > 0; left--, at += s.ld)
        for (size_t k = 0; k < vectors; k++)
            here[k] = TAKE(here[k], at + F(place)(s.n, k), s.ld, 1, n);
    for (size_t k = 0; k < vectors; k++)
        known[k] = here[k];
}

VINLINE void W(narrow)(struct F(strip) s, KNOWN *known)
{
    const struct F(strip) whole = {s.at, s.rows, s.ld, LANES};

    if (s.n < LANES)
        W(down)(s, 1, known);
    else if (s.n == LANES)
        W(down)(whole, 1, known);
    else if (s.n <= 2 * LANES)
        W(down)(s, 2, known);
    else if (s.n <= 3 * LANES)
        W(down)(s, 3, known);
    else
        W(down)(s, STRIP, known);
}

/* A few rows, a constant, of LANES columns or more; `is_far`: those that
 * follow are asked for, since they come from memory. */
VINLINE void W(across)(struct F(strip) s, size_t rows, bool is_far,
                       KNOWN *known)
{
    const size_t whole = s.n / LANES;

    for (size_t k = 0; k < whole; k++) {
        const REAL *at = s.at + k * LANES;
        for (size_t i = 0; is_far && i < rows; i++)
            __builtin_prefetch(at + (rows + i) * s.ld, 0, 2);
        known[k] = TAKE(known[k], at, s.ld, rows, LANES);
    }
    if (whole * LANES < s.n)
        known[whole] =
            TAKE(known[whole], s.at + s.n - LANES, s.ld, rows, LANES);
}

/* Few rows at a time, each in a long stretch: many of them, a power of two
 * apart, would displace each other in the caches. */
VINLINE void W(wide)(struct F(strip) s, KNOWN *known)
{
    size_t left = s.rows;

    if (s.rows * s.ld * sizeof(REAL) > FAR_BYTES)
        for (; left >= 2 * TREE; left -= TREE, s.at += TREE * s.ld)
            W(across)(s, TREE, true, known);
    for (; left >= TREE; left -= TREE, s.at += TREE * s.ld)
        W(across)(s, TREE, false, known);
    for (; left > 0; left--, s.at += s.ld)
        W(across)(s, 1, false, known);
}

VINLINE void W(walk)(struct F(strip) s, KNOWN none, KNOWN *known)
{
    for (size_t k = 0; k * LANES < s.n; k++)
        known[k] = none;
    if (s.n <= STRIP * LANES)
        W(narrow)(s, known);
    else
        W(wide)(s, known);
}

#undef TREE
#undef KNOWN
#undef TAKE
#undef W
