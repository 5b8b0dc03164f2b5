/* SPDX-License-Identifier: MIT */
/* factors.h - what the tests of factors and systems of equations share: each
 * runs on every expert of one context, in turn. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "support/tap.h"
#include "takt/takt.h"

/* Sanitizers cannot see into other people's libraries. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const char *const libraries = "";
#else
static const char *const libraries = NULL;
#endif

/* Residuals are summed in more digits than those of the results, but where each
 * long double takes a function in an emulator: rounding then adds to what is
 * found, and hides nothing. */
#if defined(TAKT_TEST_EMULATED)
typedef double wide_sum;
#else
typedef long double wide_sum;
#endif

static takt_ctx *ctx;
static size_t expert;         /* that a test is about */
static size_t ran_by_library; /* calls */

static inline double get(const void *array, bool is_double, size_t i)
{
    return is_double ? ((const double *)array)[i]
                     : (double)((const float *)array)[i];
}

static inline void put(void *array, bool is_double, size_t i, double x)
{
    if (is_double)
        ((double *)array)[i] = x;
    else
        ((float *)array)[i] = (float)x;
}

static inline void open_experts(void)
{
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){
                    .store = "", .blas = libraries, .gpu = "", .threads = 2},
                &ctx) == TAKT_OK);
}

static inline void run_on_each(const char *name, void (*test)(void))
{
    char line[120];
    const char *who;

    for (expert = 0; (who = takt_ctx_expert(ctx, expert, NULL)) != NULL;
         expert++) {
        snprintf(line, sizeof line, "%s_%s", who, name);
        tap_run(line, test);
    }
}

#define RUN_ON_EACH(test) run_on_each(#test, test)

/* OpenBLAS has LAPACK. */
static inline void a_library_took_part(void)
{
    bool has_openblas = false;
    const char *name;

    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        has_openblas |= strcmp(name, "blas.openblas") == 0;
    if (has_openblas)
        EXPECT(ran_by_library > 100);
    else
        SKIP("there is no OpenBLAS, or sanitizers could not see into it");
}
