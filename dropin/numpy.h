/* SPDX-License-Identifier: MIT */
/*
 * numpy.h - notices NumPy in the process, and replaces the inner loops of its
 * ufuncs.
 *
 * Nothing of Python is linked or called unless it is there. Importing NumPy
 * calls BLAS once, with a dot product of two elements; when a name of BLAS is
 * called for the first time, Python is asked to call back where it may be
 * entered (Py_AddPendingCall()), and the callback looks for NumPy among the
 * modules that are loaded. It works with NumPy 1.24 to 2.x: no header is
 * needed, and the places in NumPy's table of functions are fixed.
 */
#pragma once

#include "baseline.h"

/* A name of that library was called for the first time by some code. */
void takt__numpy_notice(const struct takt_baseline *baseline);

/* Replaces the loops, with Python's lock, if NumPy is imported; they run in a
 * context of that library, or of the one for which they were replaced before,
 * which is returned. NULL: they cannot be replaced. */
const struct takt_baseline *
takt__numpy_install(const struct takt_baseline *library);
