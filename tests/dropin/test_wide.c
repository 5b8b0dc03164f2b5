/* SPDX-License-Identifier: MIT */
/*
 * test_wide.c - a library of LAPACK whose integers have 64 bits, and whose
 * names have no suffix: pivots and info have 64 bits whoever computes them.
 *
 * usage: test_wide LIBTAKT_BLAS BASELINE
 *
 * As in test_names.c the interposer is opened first, for all to see. The
 * library changes nothing: what has changed, Takt has computed.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "support/tap.h"

enum { most = 130, calls = 20 };

typedef void getrf(int64_t *m, int64_t *n, float *a, int64_t *lda,
                   int64_t *pivots, int64_t *info);

static float a[most * most];
static int64_t pivots[most];
static getrf *run;

static void fill(int64_t n)
{
    uint32_t state = 1;

    for (int64_t i = 0; i < n * n; i++) {
        state = state * 1664525 + 1013904223;
        a[i] = (float)(state >> 8);
    }
    for (int64_t i = 0; i < most; i++)
        pivots[i] = -1;
}

static bool are_all(int64_t n, int64_t least, int64_t greatest)
{
    bool is_so = true;

    for (int64_t i = 0; i < n; i++)
        is_so &= pivots[i] >= least && pivots[i] <= greatest;
    return is_so;
}

/* Whether Takt computed it. */
static bool factor(int64_t n)
{
    int64_t info = -1, order = n, ld = n;

    fill(n);
    run(&order, &order, a, &ld, pivots, &info);
    if (info == -1) {
        EXPECT(are_all(n, -1, -1));
        return false;
    }
    EXPECT(info == 0);
    EXPECT(are_all(n, 1, n));
    return true;
}

static void pivots_have_64_bits(void)
{
    int computed = 0;

    for (int i = 0; i < calls; i++)
        for (int64_t n = 10; n <= most; n += 60)
            computed += factor(n);
    printf("# Takt computed %d\n", computed);
    EXPECT(computed > 0);
}

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    void *interposer = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
    REQUIRE(interposer != NULL);
    REQUIRE(dlopen(words[2], RTLD_NOW | RTLD_GLOBAL) != NULL);
    void *found = dlsym(interposer, "sgetrf_");
    REQUIRE(found != NULL);
    memcpy(&run, &found, sizeof run);
    RUN(pivots_have_64_bits);
    return tap_done();
}
