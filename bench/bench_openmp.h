/* SPDX-License-Identifier: MIT */
/* bench_openmp.h - an empty parallel region, where the compiler has OpenMP. */
#pragma once

#include <stdbool.h>

extern const bool bench_has_openmp;
void bench_openmp_region(void); /* on two threads */
