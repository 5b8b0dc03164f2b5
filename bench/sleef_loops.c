/* SPDX-License-Identifier: MIT */
/*
 * sleef_loops.c - SLEEF's vector functions (1 ULP) in the obvious loop.
 *
 * Its functions take and return vectors in registers, so each width needs a
 * function of that width to call them.
 */
#include "sleef_loops.h"

#include <dlfcn.h>
#include <string.h>

/* clang-format off */
#if defined(__x86_64__)
#include <immintrin.h>

/* The functions that SLEEF has, in both dtypes. */
#define EACH(X) \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log1p) X(sin) X(cos) X(tanh)

/* One set for each width and dtype: SLEEF's functions, and the loops. */
#define MEMBER(name) *name,
#define SET(set, vector)              \
    typedef vector set##_function(vector); \
    static struct {                   \
        set##_function EACH(MEMBER) *end; \
    } set;
SET(wide_f32, __m512)
SET(wide_f64, __m512d)
SET(half_f32, __m256)
SET(half_f64, __m256d)

#define LOOP(set, name, isa, real, vector, lanes, p, s, expression)          \
    __attribute__((target(isa))) static void name##_##set(                   \
        size_t n, const void *in, const void *b, const void *c, void *to,    \
        double alpha, double beta)                                           \
    {                                                                        \
        const real *a = in;                                                  \
        real *out = to;                                                      \
        size_t i = 0;                                                        \
        (void)b, (void)c, (void)alpha, (void)beta;                           \
        for (; i + (lanes) <= n; i += (lanes)) {                             \
            const vector x = p##_loadu_##s(a + i);                           \
            p##_storeu_##s(out + i, expression);                             \
        }                                                                    \
        if (i < n) {                                                         \
            real rest[lanes] = {0};                                          \
            memcpy(rest, a + i, (n - i) * sizeof(real));                     \
            const vector x = p##_loadu_##s(rest);                            \
            p##_storeu_##s(rest, expression);                                \
            memcpy(out + i, rest, (n - i) * sizeof(real));                   \
        }                                                                    \
    }
#define WIDE_F32(name) LOOP(wide_f32, name, "avx512f", float, __m512, 16, _mm512, ps, wide_f32.name(x))
#define WIDE_F64(name) LOOP(wide_f64, name, "avx512f", double, __m512d, 8, _mm512, pd, wide_f64.name(x))
#define HALF_F32(name) LOOP(half_f32, name, "avx2", float, __m256, 8, _mm256, ps, half_f32.name(x))
#define HALF_F64(name) LOOP(half_f64, name, "avx2", double, __m256d, 4, _mm256, pd, half_f64.name(x))
EACH(WIDE_F32)
EACH(WIDE_F64)
EACH(HALF_F32)
EACH(HALF_F64)

#define SIGMOID(set, isa, real, vector, lanes, p, s)                         \
    LOOP(set, sigmoid, isa, real, vector, lanes, p, s,                       \
         p##_div_##s(p##_set1_##s(1), p##_add_##s(p##_set1_##s(1),           \
                     set.exp(p##_sub_##s(p##_setzero_##s(), x)))))
SIGMOID(wide_f32, "avx512f", float, __m512, 16, _mm512, ps)
SIGMOID(wide_f64, "avx512f", double, __m512d, 8, _mm512, pd)
SIGMOID(half_f32, "avx2", float, __m256, 8, _mm256, ps)
SIGMOID(half_f64, "avx2", double, __m256d, 4, _mm256, pd)
/* clang-format on */

static const struct {
    const char *op;
    takt_map_kernel *wide[2], *half[2]; /* f32, f64 */
} rows[] = {
#define ROW(name)                        \
    {#name,                              \
     {name##_wide_f32, name##_wide_f64}, \
     {name##_half_f32, name##_half_f64}},
    EACH(ROW) ROW(sigmoid)};

/* ISO C has no way from void * to a function but this. */
static int find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);

    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

static int find_all(void)
{
    void *library = dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL);
    int found = library != NULL;

#define FIND(name)                                                            \
    found = found &&                                                          \
            find(library, "Sleef_" #name "f16_u10avx512f", &wide_f32.name) && \
            find(library, "Sleef_" #name "d8_u10avx512f", &wide_f64.name) &&  \
            find(library, "Sleef_" #name "f8_u10avx2", &half_f32.name) &&     \
            find(library, "Sleef_" #name "d4_u10avx2", &half_f64.name);
    EACH(FIND)
    return found;
}

takt_map_kernel *sleef_loop(const char *op, enum takt_kernel_dtype dtype,
                            takt_isa isa)
{
    static int state; /* 0: not looked for yet, 1: found, -1: not */

    if (state == 0)
        state = find_all() ? 1 : -1;
    for (size_t i = 0; state > 0 && i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(op, rows[i].op) == 0)
            return isa == TAKT_ISA_AVX512 ? rows[i].wide[dtype]
                   : isa == TAKT_ISA_AVX2 ? rows[i].half[dtype]
                                          : NULL;
    return NULL;
}
#else
/* clang-format on */
takt_map_kernel *sleef_loop(const char *op, enum takt_kernel_dtype dtype,
                            takt_isa isa)
{
    (void)op, (void)dtype, (void)isa;
    return NULL;
}
#endif
