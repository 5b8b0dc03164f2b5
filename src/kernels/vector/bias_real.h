/* SPDX-License-Identifier: MIT */
/* bias_real.h - the kernels of bias.c for one dtype; see f32.h. */

typedef VREAL F(bias_op)(VREAL x, VREAL b);

VINLINE void F(bias_row)(F(bias_op) * op, size_t cols, const REAL *x,
                         const REAL *b, REAL *out)
{
    size_t j = 0;

    for (; cols - j >= 4 * LANES; j += 4 * LANES)
        for (size_t k = j; k < j + 4 * LANES; k += LANES)
            V(store)(out + k, op(V(load)(x + k), V(load)(b + k)));
    for (; cols - j >= LANES; j += LANES)
        V(store)(out + j, op(V(load)(x + j), V(load)(b + j)));
    if (j < cols) {
        const size_t n = cols - j;
        V(store_n)(out + j, op(V(load_n)(x + j, n), V(load_n)(b + j, n)), n);
    }
}

#define BIAS(name_, op_)                                            \
    takt_bias_kernel TAKT_K(F(name_));                              \
    void TAKT_K(F(name_))(size_t rows, size_t cols, const void *in, \
                          const void *bias, void *out)              \
    {                                                               \
        for (size_t i = 0; i < rows; i++)                           \
            F(bias_row)                                             \
        (op_, cols, (const REAL *)in + i * cols, bias,              \
         (REAL *)out + i * cols);                                   \
    }
/* clang-format off */
BIAS(bias_add, V(add))
BIAS(bias_mul, V(mul))
/* clang-format on */
#undef BIAS
