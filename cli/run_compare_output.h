/* SPDX-License-Identifier: MIT */
/* run_compare_output.h - whether two outputs differ in their numbers alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether two texts are the same but for numbers; then *difference is the
 * largest between two numbers, as a share of the larger. */
bool differ_in_numbers(const char *a, size_t a_size, const char *b,
                       size_t b_size, double *difference);
