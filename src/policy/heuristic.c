/* SPDX-License-Identifier: MIT */
/*
 * heuristic.c - routing by the name of an op.
 *
 * The names sit in a table at a place computed from their first and last
 * letter and their length, chosen so that no two collide: a look-up compares
 * one string. The compiler proves it, because it warns about a slot that is
 * initialised twice.
 */
#include "takt/policy.h"

#include <string.h>

#include "base/name.h"

enum { slots = 64, longest = 20 };

#define SLOT(first, last, length) (((first)*2u + (last)*8u + (length)) % slots)
#define NAME(first, last, text, gpu_above_, otherwise_) \
    [SLOT(first, last, sizeof text - 1)] = {            \
        .name = text,                                   \
        .length = sizeof text - 1,                      \
        .otherwise = TAKT_BACKEND_##otherwise_,         \
        .gpu_above = gpu_above_,                        \
    }

enum { never = -1 };

static const struct {
    char name[longest + 1];
    unsigned char length; /* 0: the slot is empty */
    unsigned char otherwise;
    long gpu_above; /* elements, or never */
} names[slots] = {
    /* clang-format off */
    NAME('m', 'y', "matrix_multiply",      10000, SCALAR),
    NAME('m', 'd', "matrix_add",           10000, SCALAR),
    NAME('m', 'e', "matrix_transpose",     10000, SCALAR),
    NAME('c', 'n', "convolution",           1000, SCALAR),
    NAME('p', 'g', "pooling",               1000, SCALAR),
    NAME('v', 'd', "vector_add",           never, SIMD),
    NAME('v', 'y', "vector_multiply",      never, SIMD),
    NAME('v', 'e', "vector_scale",         never, SIMD),
    NAME('d', 't', "dot_product",          never, SIMD),
    NAME('e', 'd', "elementwise_add",      never, SIMD),
    NAME('e', 'y', "elementwise_multiply", never, SIMD),
    NAME('s', 'm', "sum",                  never, SIMD),
    NAME('m', 'n', "mean",                 never, SIMD),
    NAME('m', 'x', "max",                  never, SIMD),
    NAME('m', 'n', "min",                  never, SIMD),
    /* The catalogue's own names for the same ops. */
    NAME('m', 'l', "matmul",               10000, SCALAR),
    NAME('t', 'e', "transpose",            10000, SCALAR),
    NAME('c', 'd', "conv2d",                1000, SCALAR),
    NAME('a', 'd', "add",                  never, SIMD),
    NAME('m', 'l', "mul",                  never, SIMD),
    NAME('s', 'e', "scale",                never, SIMD),
    NAME('d', 't', "dot",                  never, SIMD),
    /* clang-format on */
};

static uint64_t load8(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint32_t load4(const char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Whether two names of the same length, 3 to 24, are equal. Loads that overlap
 * cost half of what a call of memcmp() does. */
static bool same(const char *a, const char *b, size_t length)
{
    if (length >= 8)
        return load8(a) == load8(b) &&
               load8(a + length - 8) == load8(b + length - 8) &&
               (length <= 16 || load8(a + 8) == load8(b + 8));
    if (length >= 4)
        return load4(a) == load4(b) &&
               load4(a + length - 4) == load4(b + length - 4);
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Lower case for letters; what it does to other bytes only makes them miss. */
static unsigned folded(char c)
{
    return (unsigned char)c | 0x20u;
}

takt_backend takt_heuristic_select(const char *op, size_t elements)
{
    const size_t length = op == NULL ? 0 : strlen(op);

    if (length == 0 || length > longest)
        return TAKT_BACKEND_SCALAR;

    const size_t slot = SLOT(folded(op[0]), folded(op[length - 1]), length);
    if (names[slot].length != length)
        return TAKT_BACKEND_SCALAR;
    if (!same(op, names[slot].name, length) &&
        !takt__name_equal_n(op, length, names[slot].name))
        return TAKT_BACKEND_SCALAR;
    if (names[slot].gpu_above != never &&
        elements > (size_t)names[slot].gpu_above)
        return TAKT_BACKEND_GPU;
    return (takt_backend)names[slot].otherwise;
}
