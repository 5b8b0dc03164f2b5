/* SPDX-License-Identifier: MIT */
/* cusolver.h - routines of LAPACK by NVIDIA's library, where it is installed.
 */
#pragma once

#include "gpu/solver.h"

extern const struct takt_solver_driver takt__cusolver_driver;
