/* SPDX-License-Identifier: MIT */
/*
 * kernels.h - what the parity tests of kernels share: one test per instruction
 * set of the build, elements of either dtype, and special values.
 */
#pragma once

#include "kernels/table.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/machine.h"

/* ---- elements ------------------------------------------------------------ */

static inline size_t size_of(bool is_double)
{
    return is_double ? sizeof(double) : sizeof(float);
}

static inline void put(void *array, bool is_double, size_t i, double number)
{
    if (is_double)
        ((double *)array)[i] = number;
    else
        ((float *)array)[i] = (float)number;
}

static inline double get(const void *array, bool is_double, size_t i)
{
    return is_double ? ((const double *)array)[i]
                     : (double)((const float *)array)[i];
}

static inline void fill_unit(void *array, bool is_double, size_t n,
                             uint64_t *seed)
{
    for (size_t i = 0; i < n; i++)
        put(array, is_double, i, 2 * random_unit(seed) - 1);
}

/* Any bits at all: a few NaN and infinities, all exponents. */
static inline void fill_bits(void *array, bool is_double, size_t n,
                             uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = random_next(seed);
        memcpy((char *)array + i * size_of(is_double), &bits,
               size_of(is_double));
    }
}

/* The numbers where kernels go wrong; `at` counts round and round. */
static inline double special(bool is_double, size_t at)
{
    const double least = smallest_of(is_double);
    const double normal = is_double ? DBL_MIN : (double)FLT_MIN;
    const double largest = largest_of(is_double);
    const double rows[] = {
        0,     -0.0,    1,      -1,      INFINITY,       -INFINITY,      NAN,
        least, -least,  normal, -normal, largest,        -largest,       0.5,
        -3.25, 2.0 / 3, 1e4,    -1e-4,   normal - least, least - normal, 88.7,
        -87.4, -103.9,  9.5,
    };
    return rows[at % (sizeof rows / sizeof rows[0])];
}

enum { specials = 24 };

/* `round` 0 changes fastest, so that n = specials^2 has all pairs. */
static inline void fill_special(void *array, bool is_double, size_t n,
                                unsigned round)
{
    size_t slow = 1;

    for (unsigned r = 0; r < round; r++)
        slow *= specials;
    for (size_t i = 0; i < n; i++)
        put(array, is_double, i, special(is_double, i / slow));
}

static inline bool same_bits(const void *a, const void *b, bool is_double,
                             size_t i)
{
    const size_t size = size_of(is_double);
    return memcmp((const char *)a + i * size, (const char *)b + i * size,
                  size) == 0;
}

/* ---- one test per instruction set ---------------------------------------- */

static enum takt_kernel_isa current_isa;

/* The row of the table, or NULL. */
static inline const struct takt_kernel *kernel_of(enum takt_kernel_isa isa,
                                                  enum takt_kernel_kind kind,
                                                  const char *op,
                                                  enum takt_kernel_dtype dtype)
{
    size_t count;
    const struct takt_kernel *table = takt__kernel_table(&count);

    for (size_t i = 0; i < count; i++)
        if (table[i].isa == isa && table[i].kind == kind &&
            table[i].dtype == dtype && strcmp(table[i].op, op) == 0)
            return &table[i];
    return NULL;
}

/* Calls `check` with every kernel of that kind of the current instruction
 * set; a test that met none of them has failed. */
static inline void each_kernel(enum takt_kernel_kind kind,
                               void (*check)(const struct takt_kernel *))
{
    size_t count, met = 0;
    const struct takt_kernel *table = takt__kernel_table(&count);

    for (size_t i = 0; i < count; i++)
        if (table[i].isa == current_isa && table[i].kind == kind) {
            check(&table[i]);
            met++;
        }
    EXPECT(met > 0);
}

static inline const char *isa_name(enum takt_kernel_isa isa)
{
    return takt_isa_name((takt_isa)isa);
}

static unsigned usable_isas; /* bits, set by run_each_isa() */

static inline void skip_isa(void)
{
    SKIP("this machine has no such instructions");
}

/* Runs `test` once per instruction set of the build, `name` being what it
 * claims about each. */
static inline void run_each_isa(const char *name, void (*test)(void))
{
    takt_machine *machine;
    char line[120];

    REQUIRE(takt_machine_create(NULL, &machine) == TAKT_OK);
    usable_isas = machine->isas;
    takt_machine_destroy(machine);
    for (int isa = 0; isa < TAKT_KERNEL_ISAS; isa++) {
        current_isa = (enum takt_kernel_isa)isa;
        if (kernel_of(current_isa, TAKT_KERNEL_KIND_map, "add",
                      TAKT_KERNEL_f32) == NULL)
            continue;
        snprintf(line, sizeof line, "%s_%s", isa_name(current_isa), name);
        tap_run(line, (usable_isas >> isa & 1) != 0 ? test : skip_isa);
    }
}

#define RUN_EACH_ISA(test) run_each_isa(#test, test)
