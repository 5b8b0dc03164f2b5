/* SPDX-License-Identifier: MIT */
/* Calls of BLAS and of functions that are named after what they compute. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define M 512
#define N 256
enum { DEPTH = 128 };
static const int rank = 64;

extern void dgemm_(const char *ta, const char *tb, const int *m, const int *n,
                   const int *k, const double *alpha, const double *a,
                   const int *lda, const double *b, const int *ldb,
                   const double *beta, double *c, const int *ldc);
extern float sdot_(const int *n, const float *x, const int *incx,
                   const float *y, const int *incy);
void matmul(const float *a, const float *b, float *c, int n); //~!
void gemm(int m, int n, int k, const double *a, const double *b, double *c); //~!
extern void conv2d(const float *image, const float *kernel, float *out); //~!

void project(const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, DEPTH, 1.0f, a, DEPTH, b, N, 0.0f, c, N); //~ matmul 512x256x128 f32
}

void project_wide(const double *a, const double *b, double *c, int m, int n, int k)
{
    const double one = 1.0, zero = 0.0;
    dgemm_("N", "N", &m, &n, &k, &one, a, &m, b, &k, &zero, c, &m); //~ matmul
}

void factor(const double *a, double *c)
{
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, 300, rank, 1.0, a, rank, 0.0, c, 300); //~ matmul 300x300x64 f64
}

double project_one(const double *a, const double *x, double *y, int rows)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, 64, 1.0, a, 64, x, 1, 0.0, y, 1); //~ gemv
    return cblas_ddot(rows, y, 1, y, 1); //~ dot
}

float fortran_dot(const float *x, const float *y, int n)
{
    const int one = 1;
    return sdot_(&n, x, &one, y, &one); //~ dot
}

float level_one(float *x, float *y, int n)
{
    cblas_saxpy(n, 0.5f, x, 1, y, 1); //~ axpy
    cblas_sscal(1000, 2.0f, x, 1);    //~ scale 1000 f32
    cblas_scopy(n, x, 1, y, 1);       //~ copy
    if (cblas_sasum(n, x, 1) > 1.0f)  //~ norm1
        return 0.0f;
    size_t largest = cblas_isamax(n, x, 1); //~ argmax
    return cblas_snrm2(n, x, 1) + (float)largest; //~ norm2
}

void batch(float *const *a, float *const *b, float **c, int count, int n)
{
    for (int i = 0; i < count; i++)
        matmul(a[i], b[i], c[i], n); //~ matmul
}

void steps(double *a, double *b, double *c, int n)
{
    gemm(n, n, n, a, b, c);                /* the usual case */ //~ matmul
    matrix_multiply(a, b, c, n, n, n);     //~ matmul
    mat_mul(a, b, c, n);                   //~ matmul
    printf("gemm(%d)\n", n);               //~!
    puts("cblas_dgemm(CblasRowMajor, ...) is next"); //~!
    /* cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n); */ //~!
    // matmul(a, b, c, n); //~!
}

void images(const float *image, const float *kernel, float *out, float *probs)
{
    conv2d(image, kernel, out);  //~ conv2d
    convolve(image, kernel, out, 640, 480, 5); //~ conv2d
    softmax(out, probs, 10);     //~ softmax
}

typedef void product(const float *, const float *, float *, int);

product *choose(int fast)
{
    return fast ? matmul : NULL; //~!
}

void keep(struct registry *r)
{
    registry_add(r, "matmul", matmul); //~!
    registry_add(r, "gemm", (void *)gemm); //~!
}

struct timers {
    double matmul, gemm, conv2d; //~!
};

double spent(const struct timers *t)
{
    return t->matmul + t->gemm + t->conv2d; //~!
}

#define CHECKED_MATMUL(a, b, c, n) matmul((a), (b), (c), (n)) //~!
#define TRACE_GEMM() gemm(0, 0, 0, NULL, NULL, NULL) //~!

void matmul_report(const char *title, double seconds); //~!
void print_gemm_name(int id);

void report(double seconds)
{
    matmul_report("matmul", seconds); //~!
    print_gemm_name(3);              //~!
    gemm_print_usage(stdout);        //~!
    int convolve = 3;                //~!
    printf("%d\n", convolve);
}
