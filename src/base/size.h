/* SPDX-License-Identifier: MIT */
/*
 * size.h - arithmetic on sizes that cannot wrap around.
 *
 * Every number of elements or bytes that is made of a caller's sizes is
 * computed with these functions. A result that does not fit is SIZE_MAX and
 * stays SIZE_MAX through further sums and products (but for a product with 0).
 * No memory of SIZE_MAX bytes exists: a request for it is refused.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* More elements of any dtype would not fit an address space. */
#define TAKT_MOST_ELEMENTS ((size_t)PTRDIFF_MAX / sizeof(double))

static inline size_t takt__size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t takt__size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* How many times `b` covers `a`; their sum must fit. */
static inline size_t takt__size_ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static inline size_t takt__size_add(size_t a, size_t b)
{
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t takt__size_mul(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/* The next multiple of `unit`, which is not 0. */
static inline size_t takt__size_round_up(size_t size, size_t unit)
{
    const size_t last = takt__size_add(size, unit - 1);
    return last == SIZE_MAX ? SIZE_MAX : last / unit * unit;
}

/* The product of several sizes; 0 if one of them is 0. */
static inline size_t takt__size_product(const size_t *sizes, unsigned count)
{
    size_t product = 1;

    for (unsigned i = 0; i < count; i++)
        if (sizes[i] == 0)
            return 0;
    for (unsigned i = 0; i < count; i++)
        product = takt__size_mul(product, sizes[i]);
    return product;
}
