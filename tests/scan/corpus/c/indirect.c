/* SPDX-License-Identifier: MIT */
/* What stands behind structs, macros, heads of loops and names of types. */
#include <math.h>
#include <stdio.h>

struct neuron {
    float sum, value;
    int links;
};

struct sample {
    double weight[64];
    double label;
};

#define ROOT sqrt
#define ADD_PRODUCT(s, x, y) (s) += (x) * (y)
#define MIX(i) mixed[i] = dry[i] * wet[i]
#define COUNT_BOTH(a, b)       \
    do {                       \
        a += input[i];         \
        running[i] = a + b;    \
    } while (0)
#define TELL(x) printf("%f\n", x)

void excite(struct neuron *to, const float *weight, const struct neuron *from,
            int n)
{
    to->sum = 0;
    for (int i = 0; i < n; i++) //~ dot f32
        to->sum += weight[i] * from[i].value;
}

float excite_stepping(const float *weight, const struct neuron *from, int n)
{
    float sum = 0;
    const struct neuron *end = from + n;
    for (; from != end; from++, weight++) //~ dot f32
        sum += *weight * from->value;
    return sum;
}

float excite_pointers(const float *weight, struct neuron *const *from, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) //~!
        sum += weight[i] * from[i]->value;
    return sum;
}

double total_label(const struct sample *s, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) //~!
        sum += s[i].label;
    return sum;
}

void reset(struct neuron *all, const float *start, int n)
{
    for (int i = 0; i < n; i++) //~!
        all[i].value = start[i];
}

void scores(const struct sample *s, const double *w, double *y, int n)
{
    for (int i = 0; i < n; i++) { //~ gemv f64
        y[i] = 0;
        for (int j = 0; j < 64; j++)
            y[i] += s[i].weight[j] * w[j];
    }
}

float macro_body(const float *a, const float *b, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) //~ dot f32
        ADD_PRODUCT(s, a[i], b[i]);
    return s;
}

void macro_store(float *mixed, const float *dry, const float *wet, int n)
{
    for (int i = 0; i < n; i++) //~ mul f32
        MIX(i);
}

void macro_running(float *running, const float *input, float b, int n)
{
    float a = 0;
    for (int i = 0; i < n; i++) //~!
        COUNT_BOTH(a, b);
}

float macro_effect(const float *input, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) { //~!
        TELL(input[i]);
        s += input[i];
    }
    return s;
}

void macro_function(double *d, int n)
{
    for (int i = 0; i < n; i++) //~ sqrt f64
        d[i] = ROOT(d[i]);
}

void clip(float *g, int n, float most)
{
    int i;
    double norm = 0;
    for (i = 0; i < n; ++i) //~ norm2 f32
        norm += g[i] * g[i];
    norm = sqrt(norm);
    if (norm > most)
        for (i = 0, norm = most / norm; i < n; ++i) //~ scale f32
            g[i] *= (float)norm;
}

void sums_in_heads(float *y, const float *a, const float *x, int n)
{
    int i, j;
    float s;
    for (i = 0; i < n; i++) { //~ gemv f32
        for (s = 0, j = 0; j < n; j++)
            s += a[i * n + j] * x[j];
        y[i] = s;
    }
}

float count_in_head(const float *a, int n)
{
    int i;
    float s, x;
    for (x = 0, s = 0, i = 0; i < n; i++, x += 0.1f) //~!
        s += a[i] * x;
    return s;
}

/* Included with #define TYPE float, and again with double. */
TYPE typed_dot(const TYPE *x, const TYPE *y, int n)
{
    TYPE s = 0;
    for (int i = 0; i < n; i++) //~ dot
        s += x[i] * y[i];
    return s;
}

void typed_copy(const TYPE *x, TYPE *y, int n)
{
    for (int i = 0; i < n; i++) //~!
        y[i] = x[i];
}

/* As the including file says. */
neuron_type typed_sum(const neuron_type *w, const neuron_type *x, int n)
{
    neuron_type s = 0;
    for (int i = 0; i < n; i++) //~ dot
        s += w[i] * x[i];
    return s;
}

void left_at_the_top(int m, int n, int k, const float *a, const float *b,
                     float *c)
{
    int i = 0, j, l;
    for (;;) { //~ matmul f32
        if (i >= m)
            break;
        l = 0;
        while (1) {
            float part;
            if (l >= k) {
                break;
            }
            part = a[i * k + l];
            for (j = 0; j < n; j++)
                c[i * n + j] += part * b[l * n + j];
            l++;
        }
        i++;
    }
}

float left_by_a_value(const float *a)
{
    float s = 0;
    int i = 0;
    for (;;) { //~!
        if (a[i] < 0)
            break;
        s += a[i];
        i++;
    }
    return s;
}

float left_twice(const float *a, int n)
{
    float s = 0;
    int i = 0;
    for (;;) { //~!
        if (i >= n)
            break;
        s += a[i];
        if (s > 100)
            break;
        i++;
    }
    return s;
}
