/* SPDX-License-Identifier: MIT */
/*
 * cpuid_table.h - what a processor answered to CPUID, and its text form.
 *
 *     # a comment
 *     arch x86_64
 *     xcr0 00000000000000e7
 *     00000007 00000000: 00000000 219c07a9 0040060e 00000000
 *
 * A row is leaf, subleaf: eax ebx ecx edx, all hexadecimal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TAKT_CPUID_ROWS = 128,
    TAKT_CPUID_TEXT = 16384 /* bytes that hold every table as text */
};

struct takt_cpuid_row {
    uint32_t leaf;
    uint32_t subleaf;
    uint32_t reg[4];
};

struct takt_cpuid_table {
    char architecture[16];
    uint64_t xcr0;
    size_t count;
    struct takt_cpuid_row row[TAKT_CPUID_ROWS];
};

/* Reads the text form, which is changed meanwhile. False: a line is not
 * understood, there are too many, there is no arch line, or an x86_64 table
 * lacks leaf 0. */
bool takt__cpuid_table_parse(char *text, struct takt_cpuid_table *out);

/* Writes the text form and returns its length. */
size_t takt__cpuid_table_print(const struct takt_cpuid_table *table,
                               char out[TAKT_CPUID_TEXT]);

/* NULL: no such row. */
const struct takt_cpuid_row *
takt__cpuid_table_find(const struct takt_cpuid_table *table, uint32_t leaf,
                       uint32_t subleaf);
