/* SPDX-License-Identifier: MIT */
/*
 * numpy_dot.h - np.dot() and ndarray.dot() of integers.
 *
 * They are no ufuncs, and NumPy calls a function for each place of the result.
 * Products of two matrices of one such type that are not small are handed on to
 * np.matmul(), which gives the same (loop_product.h); all else to NumPy. Halves
 * are left alone: np.matmul() warns when they overflow, and np.dot() does not.
 */
#pragma once

#include "python.h"

/* With Python's lock. `umath`: names and values of NumPy's module in C. */
void takt__dot_install(takt_object *umath);
