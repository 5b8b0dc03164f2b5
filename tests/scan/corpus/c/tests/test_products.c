/* SPDX-License-Identifier: MIT */
/* Test code is reported apart, but reported. */
#include <assert.h>
#include <cblas.h>
#include <math.h>

static void expected(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++) //~ matmul test
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void test_product(void)
{
    static float a[16], b[16], c[16], d[16];
    expected(a, b, d, 4); //~!
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 4, 4, 4, 1, a, 4, b, 4, 0, c, 4); //~ matmul test
    for (int i = 0; i < 16; i++) //~!
        assert(fabsf(c[i] - d[i]) < 1e-5f);
    for (int i = 0; i < 16; i++) //~!
        a[i] = (float)(i % 7) - 3.0f;
}
