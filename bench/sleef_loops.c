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

typedef __m512 wide(__m512);
typedef __m256 half(__m256);

static struct {
    wide *exp, *log, *tanh;
} wides;
static struct {
    half *exp, *log, *tanh;
} halves;

#define LOOP512(name, expression)                                            \
    __attribute__((target("avx512f"))) static void name##_wide(              \
        size_t n, const void *in, const void *b, const void *c, void *to,    \
        double p, double q)                                                  \
    {                                                                        \
        const float *a = in;                                                 \
        float *out = to;                                                     \
        size_t i = 0;                                                        \
        (void)b, (void)c, (void)p, (void)q;                                  \
        for (; i + 16 <= n; i += 16) {                                       \
            const __m512 x = _mm512_loadu_ps(a + i);                         \
            _mm512_storeu_ps(out + i, expression);                           \
        }                                                                    \
        if (i < n) {                                                         \
            const __mmask16 mask = (__mmask16)((1u << (n - i)) - 1);         \
            const __m512 x = _mm512_maskz_loadu_ps(mask, a + i);             \
            _mm512_mask_storeu_ps(out + i, mask, expression);                \
        }                                                                    \
    }
LOOP512(exp, wides.exp(x))
LOOP512(log, wides.log(x))
LOOP512(tanh, wides.tanh(x))
LOOP512(sigmoid, _mm512_div_ps(_mm512_set1_ps(1), _mm512_add_ps(_mm512_set1_ps(1),
                     wides.exp(_mm512_sub_ps(_mm512_setzero_ps(), x)))))

#define LOOP256(name, expression)                                            \
    __attribute__((target("avx2"))) static void name##_half(                 \
        size_t n, const void *in, const void *b, const void *c, void *to,    \
        double p, double q)                                                  \
    {                                                                        \
        const float *a = in;                                                 \
        float *out = to;                                                     \
        size_t i = 0;                                                        \
        (void)b, (void)c, (void)p, (void)q;                                  \
        for (; i + 8 <= n; i += 8) {                                         \
            const __m256 x = _mm256_loadu_ps(a + i);                         \
            _mm256_storeu_ps(out + i, expression);                           \
        }                                                                    \
        if (i < n) {                                                         \
            float rest[8] = {0};                                             \
            memcpy(rest, a + i, (n - i) * sizeof(float));                    \
            const __m256 x = _mm256_loadu_ps(rest);                          \
            _mm256_storeu_ps(rest, expression);                              \
            memcpy(out + i, rest, (n - i) * sizeof(float));                  \
        }                                                                    \
    }
LOOP256(exp, halves.exp(x))
LOOP256(log, halves.log(x))
LOOP256(tanh, halves.tanh(x))
LOOP256(sigmoid, _mm256_div_ps(_mm256_set1_ps(1), _mm256_add_ps(_mm256_set1_ps(1),
                     halves.exp(_mm256_sub_ps(_mm256_setzero_ps(), x)))))
/* clang-format on */

static const struct {
    const char *op;
    takt_map_kernel *wide, *half;
} rows[] = {
    {"exp", exp_wide, exp_half},
    {"log", log_wide, log_half},
    {"tanh", tanh_wide, tanh_half},
    {"sigmoid", sigmoid_wide, sigmoid_half},
};

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

    return library != NULL &&
           find(library, "Sleef_expf16_u10avx512f", &wides.exp) &&
           find(library, "Sleef_logf16_u10avx512f", &wides.log) &&
           find(library, "Sleef_tanhf16_u10avx512f", &wides.tanh) &&
           find(library, "Sleef_expf8_u10avx2", &halves.exp) &&
           find(library, "Sleef_logf8_u10avx2", &halves.log) &&
           find(library, "Sleef_tanhf8_u10avx2", &halves.tanh);
}

takt_map_kernel *sleef_loop(const char *op, takt_isa isa)
{
    static int state; /* 0: not looked for yet, 1: found, -1: not */

    if (state == 0)
        state = find_all() ? 1 : -1;
    for (size_t i = 0; state > 0 && i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(op, rows[i].op) == 0)
            return isa == TAKT_ISA_AVX512 ? rows[i].wide
                   : isa == TAKT_ISA_AVX2 ? rows[i].half
                                          : NULL;
    return NULL;
}
#else
/* clang-format on */
takt_map_kernel *sleef_loop(const char *op, takt_isa isa)
{
    (void)op, (void)isa;
    return NULL;
}
#endif
