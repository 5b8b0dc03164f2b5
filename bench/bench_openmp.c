/* SPDX-License-Identifier: MIT */
/* bench_openmp.c - the only file that is compiled with OpenMP. */
#include "bench_openmp.h"

#include "bench.h"

#ifdef _OPENMP
const bool bench_has_openmp = true;

void bench_openmp_region(void)
{
#pragma omp parallel num_threads(2)
    {
        int part = 0;
        BENCH_USE(part);
    }
}
#else
const bool bench_has_openmp = false;

void bench_openmp_region(void)
{
}
#endif
