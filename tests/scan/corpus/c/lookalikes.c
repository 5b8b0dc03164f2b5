/* SPDX-License-Identifier: MIT */
/* Things that only look like work for numbers. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct operation {
    const char *name;
    void (*run)(void);
};

static void noop(void)
{
}

/* matmul(a, b, c, 512); is what people usually write. */ //~!
static const struct operation operations[] = {
    {"matmul", noop}, //~!
    {"conv2d", noop}, //~!
    {"softmax(x)", noop}, //~!
};

/* This matmul multiplies nothing. */
static int matmul(int id, const char *name) //~!
{
    return printf("%d %s\n", id, name);
}

static void gemm(void) //~!
{
    puts("gemm");
}

int dispatch(const char *name)
{
    if (!strcmp(name, "matmul")) //~!
        return matmul(1, name);  //~!
    if (!strcmp(name, "gemm"))
        gemm(); //~!
    return strcmp(name, "cblas_sgemm(") == 0; //~!
}

const char usage[] = "matmul(a, b)\n" //~!
                     "for (i) for (j) for (k) c[i][j] += a[i][k] * b[k][j]\n"; //~!

enum layer { CONV2D, SOFTMAX, MATMUL, ATTENTION }; //~!

#define MATMUL_LOOP(c, a, b, n)                                                \
    for (int i = 0; i < n; i++)                                                \
        for (int j = 0; j < n; j++)                                            \
            for (int k = 0; k < n; k++)                                        \
                (c)[i * n + j] += (a)[i * n + k] * (b)[k * n + j] //~!

#define DOT(x, y) ((x)[0] * (y)[0] + (x)[1] * (y)[1] + (x)[2] * (y)[2]) //~!

static float dot3(const float *x, const float *y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; //~!
}

/**
 * Example:
 *     cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n); //~!
 *     for (int i = 0; i < n; i++) s += v[i]; //~!
 */
float use_dot(const float *x)
{
    return dot3(x, x); //~!
}

#ifdef NEVER_DEFINED_BUT_POSSIBLE
void still_counts(float *a, float f, int n)
{
    for (int i = 0; i < n; i++) //~ scale
        a[i] *= f;
}
#endif

#if 0
static double off(const double *v, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~!
        s += v[i];
    cblas_dscal(n, 2.0, v, 1); //~!
    return s;
}
#else
static double on(const double *v, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~ sum
        s += v[i];
    return s;
}
#endif

struct node {
    struct node *next;
    float weight[4];
};

float walk(const struct node *n)
{
    float s = 0;
    while (n) { //~!
        s += n->weight[0];
        n = n->next;
    }
    return s;
}

int find(const double *v, int n, double x)
{
    for (int i = 0; i < n; i++) //~!
        if (v[i] == x)
            return i;
    return -1;
}

int equal(const float *a, const float *b, int n)
{
    int same = 1;
    for (int i = 0; i < n; i++) //~!
        same &= a[i] == b[i];
    return same;
}

void tokens(const char *text, int *counts)
{
    for (int i = 0; text[i]; i++) //~!
        counts[(unsigned char)text[i]]++;
}

uint64_t hash(const uint64_t *words, int n)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < n; i++) { //~!
        h ^= words[i];
        h *= 1099511628211u;
    }
    return h;
}

void unknown_types(vec_t a, vec_t b, vec_t c, int n)
{
    for (int i = 0; i < n; i++) //~!
        c[i] = a[i] + b[i];
}

long long fibonacci(int n)
{
    long long f[64] = {0, 1};
    for (int i = 2; i < n; i++) //~!
        f[i] = f[i - 1] + f[i - 2];
    return f[n - 1];
}

double bisect(double low, double high)
{
    while (high - low > 1e-9) { //~!
        const double middle = (low + high) / 2;
        if (middle * middle < 2)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void locked(float *a, const float *b, int n, struct lock *l)
{
    for (int i = 0; i < n; i++) { //~!
        lock_take(l);
        a[i] += b[i];
        lock_give(l);
    }
}

void volatile_register(volatile float *port, const float *v, int n)
{
    for (int i = 0; i < n; i++) //~!
        *port = v[i];
}
