/* SPDX-License-Identifier: MIT */
/*
 * gemm_tile.h - the innermost part of a matrix product: tiles of C that live
 * in registers while the whole sum is added up.
 *
 * A tile is up to V_TILE_ROWS rows of one or two vectors of columns. It is
 * written once, as a function of constants, and instantiated for every number
 * of rows, so an edge of C costs what its size says and nothing is padded.
 * Both operands are read through strides: packed or not is the same code.
 *
 * Included by gemm_f32.c and gemm_f64.c, after f32.h or f64.h.
 */

/* Values the compiler shall not see through: it would write a second loop for
 * the stride 1, or work out addresses of C where they only cost registers. */
VINLINE size_t opaque(size_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

VINLINE const REAL *opaque_source(const REAL *p)
{
    __asm__("" : "+r"(p));
    return p;
}

VINLINE REAL *opaque_target(REAL *p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* Strides are in bytes here, so that no loop multiplies them. */
VINLINE const REAL *ahead(const REAL *p, size_t bytes)
{
    return (const REAL *)(const void *)((const char *)p + bytes);
}

VINLINE REAL *below(REAL *p, size_t bytes)
{
    return (REAL *)(void *)((char *)p + bytes);
}

/* Loops over constants vanish: each marked loop is written out in full. */
#ifdef __clang__
#define EVERY _Pragma("clang loop unroll(full)")
#else
#define EVERY _Pragma("GCC unroll 16")
#endif

enum {
    TILE_VECS = 2,
    TILE_COLS = TILE_VECS * LANES,
    /* Three rows of A share a pointer: x86 addresses p, p + s and p + 2s. */
    SHARED = 3,
    SHARES = (V_TILE_ROWS + SHARED - 1) / SHARED,
    /* Steps that hide a fetch from memory; shorter sums do not fetch. */
    PREFETCH_FROM = 64,
    /* The same of a fetch from the second-level cache. */
    STEPS_AHEAD = 8
};

/* Constants of an instance: what the compiler folds away. */
struct tile_shape {
    size_t rows, vecs;
    bool partial; /* the last vector is not full */
};

VINLINE bool is_partial(struct tile_shape is, size_t v)
{
    return is.partial && v + 1 == is.vecs;
}

VINLINE VREAL load_part(struct tile_shape is, size_t v, const REAL *from,
                        size_t lanes)
{
    return is_partial(is, v) ? V(load_n)(from, lanes) : V(load)(from);
}

VINLINE void store_part(struct tile_shape is, size_t v, REAL *to, VREAL x,
                        size_t lanes)
{
    if (is_partial(is, v))
        V(store_n)(to, x, lanes);
    else
        V(store)(to, x);
}

/* Adds one column of A times one row of B to the tile. */
VINLINE void add_outer(struct tile_shape is, const REAL *const a[SHARES],
                       size_t a_row, const REAL *b, size_t lanes,
                       VREAL acc[V_TILE_ROWS][TILE_VECS])
{
    VREAL right[TILE_VECS];

    EVERY for (size_t v = 0; v < is.vecs; v++) right[v] =
        load_part(is, v, b + v * LANES, lanes);
    EVERY for (size_t i = 0; i < is.rows; i++)
    {
        const VREAL left = V(set1)(*ahead(a[i / SHARED], i % SHARED * a_row));
        EVERY for (size_t v = 0; v < is.vecs; v++) acc[i][v] =
            V(fma)(left, right[v], acc[i][v]);
    }
}

/* C = alpha * tile, or alpha * tile + beta * C. */
VINLINE void write_tile(struct tile_shape is, const struct takt_gemm *call,
                        size_t ldc, size_t lanes, REAL *c,
                        VREAL acc[V_TILE_ROWS][TILE_VECS])
{
    if (call->alpha != 1) {
        const VREAL alpha = V(set1)((REAL)call->alpha);
        EVERY for (size_t i = 0; i < is.rows; i++)
            EVERY for (size_t v = 0; v < is.vecs; v++) acc[i][v] =
                V(mul)(alpha, acc[i][v]);
    }
    if (call->beta != 0) {
        const VREAL beta = V(set1)((REAL)call->beta);
        const REAL *old = opaque_source(c);
        EVERY for (size_t i = 0; i < is.rows; i++, old = ahead(old, ldc))
            EVERY for (size_t v = 0; v < is.vecs; v++) acc[i][v] = V(fma)(
                beta, load_part(is, v, old + v * LANES, lanes), acc[i][v]);
    }
    c = opaque_target(c);
    EVERY for (size_t i = 0; i < is.rows; i++, c = below(c, ldc))
        EVERY for (size_t v = 0; v < is.vecs; v++)
            store_part(is, v, c + v * LANES, acc[i][v], lanes);
}

/* C is needed only after the last step: fetch it while the sums grow. */
VINLINE void prefetch_tile(struct tile_shape is, size_t ldc, const REAL *c)
{
    EVERY for (size_t i = 0; i < is.rows; i++, c = ahead(c, ldc))
        EVERY for (size_t v = 0; v < is.vecs; v++) v_prefetch(c + v * LANES);
}

/* What the loops over tiles and steps need of a call. A copy, because a store
 * to C could change the call itself as far as the compiler knows. */
struct strides {
    size_t k, a_row, a_col, b_row, ldc, lanes;
};

VINLINE void clear_tile(struct tile_shape is, VREAL acc[V_TILE_ROWS][TILE_VECS])
{
    EVERY for (size_t i = 0; i < is.rows; i++)
        EVERY for (size_t v = 0; v < is.vecs; v++) acc[i][v] = V(zero)();
}

VINLINE void next_step(struct tile_shape is, const struct strides *by,
                       const REAL *a[SHARES], const REAL **b)
{
    EVERY for (size_t g = 0; g * SHARED < is.rows; g++) a[g] =
        ahead(a[g], by->a_col);
    *b = ahead(*b, by->b_row);
}

/* Copied operands lie in the second-level cache. Large tiles have time to ask
 * for what they will read. (Measured on 16 cores with 2 MiB each: 5%.) */
VINLINE void prefetch_step(struct tile_shape is, const struct strides *by,
                           const REAL *a, const REAL *b)
{
    if (is.rows * is.vecs < 16)
        return;
    v_prefetch(ahead(a, STEPS_AHEAD * by->a_col));
    b = ahead(b, STEPS_AHEAD * by->b_row);
    EVERY for (size_t v = 0; v < is.vecs; v++) v_prefetch(b + v * LANES);
}

VINLINE void multiply_tile(struct tile_shape is, const struct strides *by,
                           const REAL *first, const REAL *b,
                           VREAL acc[V_TILE_ROWS][TILE_VECS])
{
    const REAL *a[SHARES];

    clear_tile(is, acc);
    EVERY for (size_t g = 0; g * SHARED < is.rows; g++) a[g] =
        ahead(first, g * SHARED * by->a_row);
    for (size_t p = by->k; p > 0; p--) {
        prefetch_step(is, by, a[0], b);
        add_outer(is, a, by->a_row, b, by->lanes, acc);
        next_step(is, by, a, &b);
    }
}

/* A tile of few vectors would wait for the latency of its own fma: its sums
 * are added up in four chains, side by side. */
VINLINE bool is_thin(struct tile_shape is)
{
    return is.rows * is.vecs < 4;
}

enum { CHAINS = 4 };

VINLINE void multiply_thin_tile(struct tile_shape is, const struct strides *by,
                                const REAL *a, const REAL *b,
                                VREAL acc[V_TILE_ROWS][TILE_VECS])
{
    VREAL chain[CHAINS][V_TILE_ROWS][TILE_VECS];
    const REAL *rows[SHARES] = {a};
    size_t p = by->k;

    EVERY for (size_t d = 0; d < CHAINS; d++) clear_tile(is, chain[d]);
    for (; p >= CHAINS; p -= CHAINS)
        EVERY for (size_t d = 0; d < CHAINS; d++)
        {
            add_outer(is, rows, by->a_row, b, by->lanes, chain[d]);
            next_step(is, by, rows, &b);
        }
    for (; p > 0; p--) {
        add_outer(is, rows, by->a_row, b, by->lanes, chain[0]);
        next_step(is, by, rows, &b);
    }
    EVERY for (size_t i = 0; i < is.rows; i++)
        EVERY for (size_t v = 0; v < is.vecs; v++) acc[i][v] =
            V(add)(V(add)(chain[0][i][v], chain[1][i][v]),
                   V(add)(chain[2][i][v], chain[3][i][v]));
}

/* `tiles` >= 1 tiles below each other, all with the same columns of B. The
 * block gives strides, depth and factors; its n says how many columns a
 * partial vector has. Six arguments, so that all travel in registers. */
typedef void strip_kernel(const struct takt_gemm *block, const REAL *a,
                          const REAL *b, REAL *c, size_t tiles, size_t a_step);

VINLINE void multiply_strip(struct tile_shape is, const struct takt_gemm *block,
                            const REAL *a, const REAL *b, REAL *c, size_t tiles,
                            size_t a_step)
{
    const struct strides by = {
        .k = block->k,
        .a_row = opaque(block->a_row * sizeof(REAL)),
        .a_col = opaque(block->a_col * sizeof(REAL)),
        .b_row = opaque(block->b_row * sizeof(REAL)),
        .ldc = block->ldc * sizeof(REAL),
        .lanes = block->n % LANES,
    };
    VREAL acc[V_TILE_ROWS][TILE_VECS];

    if (by.k == 0)
        __builtin_unreachable();
    for (;;) {
        if (by.k >= PREFETCH_FROM)
            prefetch_tile(is, by.ldc, opaque_source(c));
        a = opaque_source(a);
        if (is_thin(is))
            multiply_thin_tile(is, &by, a, b, acc);
        else
            multiply_tile(is, &by, a, b, acc);
        write_tile(is, block, by.ldc, by.lanes, c, acc);
        if (--tiles == 0)
            return;
        a += a_step;
        c = below(c, is.rows * by.ldc);
    }
}

#define STRIP(name, rows, vecs, partial)                                      \
    static void name(const struct takt_gemm *block, const REAL *a,            \
                     const REAL *b, REAL *c, size_t tiles, size_t a_step)     \
    {                                                                         \
        multiply_strip((struct tile_shape){rows, vecs, partial}, block, a, b, \
                       c, tiles, a_step);                                     \
    }
#define STRIPS(rows)                            \
    STRIP(strip_##rows##_1, rows, 1, false)     \
    STRIP(strip_##rows##_1_part, rows, 1, true) \
    STRIP(strip_##rows##_2, rows, 2, false)     \
    STRIP(strip_##rows##_2_part, rows, 2, true)
V_EACH_TILE_ROWS(STRIPS)
#undef STRIPS
#undef STRIP

/* [rows - 1][vectors - 1][is partial] */
static strip_kernel *const strips[V_TILE_ROWS][TILE_VECS][2] = {
#define STRIPS(r) \
    {{strip_##r##_1, strip_##r##_1_part}, {strip_##r##_2, strip_##r##_2_part}},
    V_EACH_TILE_ROWS(STRIPS)
#undef STRIPS
};

/* The strip kernel for tiles of `rows` rows and `cols` columns. */
VINLINE strip_kernel *strip_for(size_t rows, size_t cols)
{
    return strips[rows - 1][cols > LANES][cols % LANES != 0];
}
