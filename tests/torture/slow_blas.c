/* SPDX-License-Identifier: MIT */
/*
 * slow_blas.c - a BLAS whose destructor frees what its callers work in, as
 * OpenBLAS's does, and then takes so long that they are sure to notice. Its
 * constructor may wait for a fork.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include "torture/loading.h"

enum { room = 4096 };

static volatile char *work;

__attribute__((constructor)) static void begin(void)
{
    wait_for_fork();
    work = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
}

__attribute__((destructor)) static void end(void)
{
    munmap((void *)(size_t)work, room);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}

static size_t at(int trans, int ld, int row, int col)
{
    return trans == 112 ? (size_t)col * (size_t)ld + (size_t)row
                        : (size_t)row * (size_t)ld + (size_t)col;
}

#define GEMM(real, name)                                                       \
    __attribute__((visibility("default"))) void name(                          \
        int order, int trans_a, int trans_b, int m, int n, int k, real alpha,  \
        const real *a, int lda, const real *b, int ldb, real beta, real *c,    \
        int ldc);                                                              \
    void name(int order, int trans_a, int trans_b, int m, int n, int k,        \
              real alpha, const real *a, int lda, const real *b, int ldb,      \
              real beta, real *c, int ldc)                                     \
    {                                                                          \
        (void)order;                                                           \
        for (int i = 0; i < m; i++)                                            \
            for (int j = 0; j < n; j++) {                                      \
                real *out = &c[at(0, ldc, i, j)], sum = 0;                     \
                work[j % room]++;                                              \
                for (int p = 0; p < k; p++)                                    \
                    sum +=                                                     \
                        a[at(trans_a, lda, i, p)] * b[at(trans_b, ldb, p, j)]; \
                *out = alpha * sum + (beta != 0 ? beta * *out : 0);            \
            }                                                                  \
    }

GEMM(float, cblas_sgemm)
GEMM(double, cblas_dgemm)
