/* SPDX-License-Identifier: MIT */
/*
 * gemm_pack.h - copies operands into the order in which tiles read them.
 *
 * A panel is a few rows of A or columns of B ("lines"), stored step by step
 * along the sum: all lines of step 0, then all of step 1. A and B differ only
 * in their strides. What lies between the last line and the width of a panel
 * is never used.
 */

struct panel {
    size_t lines, depth;
    const REAL *from;
    size_t line_step, depth_step;
    size_t width; /* of one step in the copy: at least `lines` */
};

static void pack_scattered(const struct panel *is, REAL *to)
{
    for (size_t p = 0; p < is->depth; p++, to += is->width)
        for (size_t i = 0; i < is->lines; i++)
            to[i] = is->from[i * is->line_step + p * is->depth_step];
}

/* Lines lie side by side in memory: copies vectors. */
static void pack_side_by_side(const struct panel *is, REAL *to)
{
    const size_t whole = is->lines / LANES * LANES;
    const REAL *from = is->from;

    for (size_t p = 0; p < is->depth; p++) {
        for (size_t i = 0; i < whole; i += LANES)
            V(store)(to + i, V(load)(from + i));
        if (whole < is->lines)
            V(store)(to + whole, V(load_n)(from + whole, is->lines - whole));
        from += is->depth_step;
        to += is->width;
    }
}

/* LANES steps of up to LANES lines, or fewer where the panel ends. */
static void pack_square(const struct panel *is, size_t line, size_t p, REAL *to)
{
    const size_t step = is->width;
    const size_t lines = is->lines - line, depth = is->depth - p;
    const REAL *from = is->from + line * is->line_step + p;
    VREAL x[LANES];

    if (lines >= LANES && depth >= LANES) {
        EVERY for (size_t i = 0; i < LANES; i++) x[i] =
            V(load)(from + i * is->line_step);
        V(transpose)(x);
        EVERY for (size_t i = 0; i < LANES; i++)
            V(store)(to + (p + i) * step + line, x[i]);
        return;
    }
    const size_t lanes = depth < LANES ? depth : LANES;
    for (size_t i = 0; i < LANES; i++)
        x[i] =
            i < lines ? V(load_n)(from + i * is->line_step, lanes) : V(zero)();
    V(transpose)(x);
    for (size_t i = 0; i < lanes; i++)
        V(store)(to + (p + i) * step + line, x[i]);
}

/* Each line lies along the sum in memory: transposes squares. */
static void pack_end_to_end(const struct panel *is, REAL *to)
{
    for (size_t p = 0; p < is->depth; p += LANES)
        for (size_t line = 0; line < is->lines; line += LANES)
            pack_square(is, line, p, to);
}

static void pack(const struct panel *is, REAL *to)
{
    if (is->line_step == 1)
        pack_side_by_side(is, to);
    else if (is->depth_step == 1)
        pack_end_to_end(is, to);
    else
        pack_scattered(is, to);
}
