/* SPDX-License-Identifier: MIT */
/*
 * integers.c - how wide the integers of libraries are.
 *
 * A library with integers of 64 bits may have the same names as one with 32,
 * and nothing says so but what it does. A count that is positive in its low
 * half and negative as a whole is nothing to do for it.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/library.h"
#include "blas/blas.h"
#include "blas/library.h"

static const int64_t one = 1;

/* Where every library finds what it calls by name. */
static bool find_in_program(const char *name, void *function)
{
    void *const found = dlsym(RTLD_DEFAULT, name);

    memcpy(function, &found, sizeof found);
    return found != NULL;
}

bool takt__blas_is_narrow(void *handle)
{
    const int64_t count = INT64_MIN + 3;
    const float x[3] = {1, 3, 2};
    int (*largest)(const void *, const float *, const void *);

    return !takt__library_find(handle, "isamax_", &largest) ||
           largest(&count, x, &one) == 2;
}

static bool is_blas_wide(void)
{
    const int64_t count = INT64_MIN + 1;
    float x = 1, y = 2;
    void (*swap)(const void *, float *, const void *, float *, const void *);

    if (!find_in_program("sswap_", &swap))
        return false;
    swap(&count, &x, &one, &y, &one);
    return x == 1;
}

static bool is_lapack_wide(void)
{
    const int64_t rows = INT64_MIN + 1;
    float x = 1, y = 2;
    void (*copy)(const char *, const void *, const void *, const float *,
                 const void *, float *, const void *, size_t);

    if (!find_in_program("slacpy_", &copy))
        return false;
    copy("A", &rows, &one, &x, &one, &y, &one, 1);
    return y == 2;
}

/* Of functions that takt run does not intercept: it has no library to pass a
 * call to where the program has none. */
bool takt__blas_is_program_wide(void)
{
    return !takt__is_static() && (is_blas_wide() || is_lapack_wide());
}
