/* SPDX-License-Identifier: MIT */
/*
 * gemm_parts.h - the steps of a product by themselves, for threads that share
 * the copies of A and B: see kernels/gemm.h.
 *
 * Included by gemm_body.h, whose words it uses.
 */

static void copy_a(const struct takt_gemm *piece, void *to)
{
    struct gemm_block is = {*piece, cut_rows(piece->m, piece->a_row), 0};

    pack_a_tiles(&is, to);
}

static void copy_b(const struct takt_gemm *piece, void *to)
{
    struct gemm_block is = {*piece, {0}, 0};

    pack_b(&is, to);
}

static void multiply_copies(const struct takt_gemm *piece, const void *a,
                            const void *b)
{
    struct takt_gemm copied = *piece;
    struct cut cut = cut_rows(piece->m, 0);

    cut.tall_step = cut.low_step = A_WIDTH * piece->k;
    copied.a = a;
    copied.a_row = 1;
    copied.a_col = A_WIDTH;
    copied.b = b;
    copied.b_row = TILE_COLS;
    multiply_panels(&copied, &cut, TILE_COLS * piece->k);
}

const struct takt_gemm_parts TAKT_K(F(gemm_parts)) = {
    .size = sizeof(REAL),
    .tile_rows = V_TILE_ROWS,
    .tile_cols = TILE_COLS,
    .tile_width = A_WIDTH,
    .copy_a = copy_a,
    .copy_b = copy_b,
    .multiply = multiply_copies,
};
