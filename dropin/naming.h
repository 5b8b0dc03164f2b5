/* SPDX-License-Identifier: MIT */
/*
 * naming.h - Fortran's names of BLAS and LAPACK: as they are, with integers of
 * 64 bits, and with the prefix of the copies in NumPy's and SciPy's wheels.
 */
#pragma once

#include "baseline.h"

static const struct takt_naming fortran = {"%s_", "%s_", false};
static const struct takt_naming fortran64 = {"%s_64_", "%s_64_", true};
static const struct takt_naming fortran_scipy = {"scipy_%s_", "scipy_%s_",
                                                 false};
static const struct takt_naming fortran_scipy64 = {"scipy_%s_64_",
                                                   "scipy_%s_64_", true};
