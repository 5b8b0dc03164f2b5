/* SPDX-License-Identifier: MIT */
/*
 * values.h - how large the values of a matrix are, before and after a library
 * computes with them. `size` is that of a value: 4 for f32, 8 for f64.
 *
 * Threads: functions of their arguments alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The largest magnitude; infinity, too, if a value is not a number. */
double takt__values_largest(const void *at, size_t count, size_t size);

bool takt__values_finite(const void *at, size_t count, size_t size);

/* From this on, up to its inverse, LAPACK takes squares for exact enough; other
 * matrices it scales first, which cuSOLVER does not promise. */
double takt__values_least_safe(size_t size);
