/* SPDX-License-Identifier: MIT */
/* numpy_linalg.h - puts our functions into those of numpy.linalg. */
#pragma once

#include "baseline.h"

/* With Python's lock. `ufunc_api`: NumPy's functions for ufuncs; NULL: none are
 * known. */
void takt__linalg_install(void **ufunc_api,
                          const struct takt_baseline *library);
