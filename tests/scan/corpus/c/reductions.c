/* SPDX-License-Identifier: MIT */
/* Loops that make one number of many. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define LENGTH 4096
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static double samples[LENGTH];

float total(const float *v, size_t n)
{
    float s = 0.0f;
    for (size_t i = 0; i < n; i++) //~ sum
        s += v[i];
    return s;
}

double total_of_samples(void)
{
    double s = 0;
    for (int i = 0; i < LENGTH; ++i) //~ sum 4096 f64
        s = s + samples[i];
    return s;
}

float total_by_pointer(const float *p, const float *end)
{
    float s = 0;
    for (; p != end; ++p) //~ sum
        s += *p;
    return s;
}

float total_while(const float *p, int n)
{
    float s = 0;
    while (n--) //~ sum
        s += *p++;
    return s;
}

double total_counted(const double *a, int n)
{
    double s = 0;
    int i = 0;
    while (i < n) { //~ sum
        s += a[i];
        i++;
    }
    return s;
}

double total_backwards(const double *a, int n)
{
    double s = 0;
    for (int i = n - 1; i >= 0; i--) //~ sum
        s += a[i];
    return s;
}

double total_of_square(double m[100][100])
{
    double s = 0;
    for (int i = 0; i < 100; i++) //~ sum 10000 f64
        for (int j = 0; j < 100; j++)
            s += m[i][j];
    return s;
}

void totals_of_rows(const float *m, float *out, int rows, int cols)
{
    for (int r = 0; r < rows; r++) {
        float s = 0;
        for (int c = 0; c < cols; c++) //~ sum
            s += m[r * cols + c];
        out[r] = s;
    }
}

double average(const double *a, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) //~ mean
        s += a[i];
    return s / n;
}

float average_32(const float a[32])
{
    float mean = 0;
    for (int i = 0; i < 32; i++) //~ mean 32 f32
        mean += a[i];
    mean /= 32;
    return mean;
}

double spread(const double *a, int n, double mean)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~ variance
        s += (a[i] - mean) * (a[i] - mean);
    return s / (n - 1);
}

double spread_of(const float *a, int n)
{
    double mean = 0, s = 0;
    for (int i = 0; i < n; i++) //~ mean
        mean += a[i];
    mean /= n;
    for (int i = 0; i < n; i++) { //~ variance
        double d = a[i] - mean;
        s += d * d;
    }
    return s / n;
}

double inner(const double *restrict x, const double *restrict y, int n)
{
    double acc = 0.0;
    for (int i = 0; i < n; i++) { //~ dot
        acc += x[i] * y[i];
    }
    return acc;
}

float inner_fused(const float *x, const float *y, int n)
{
    float acc = 0;
    for (int i = 0; i < n; i++) //~ dot
        acc = fmaf(x[i], y[i], acc);
    return acc;
}

double inner_walk(const double *x, const double *y, int n)
{
    double acc = 0;
    while (n-- > 0) //~ dot
        acc += *x++ * *y++;
    return acc;
}

float length(const float *v, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) //~ norm2
        s += v[i] * v[i];
    return sqrtf(s);
}

double distance(const double *a, const double *b, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) { //~ norm2
        const double d = a[i] - b[i];
        s += d * d;
    }
    return sqrt(s);
}

float taxicab(const float *v, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) //~ norm1
        s += fabsf(v[i]);
    return s;
}

float largest(const float *v, int n)
{
    float m = -FLT_MAX;
    for (int i = 0; i < n; i++) //~ max
        if (v[i] > m)
            m = v[i];
    return m;
}

float largest_by_call(const float *v, int n)
{
    float m = v[0];
    for (int i = 1; i < n; i++) //~ max
        m = fmaxf(m, v[i]);
    return m;
}

double largest_by_macro(const double *v, int n)
{
    double m = v[0];
    for (int i = 1; i < n; i++) //~ max
        m = MAX(m, v[i]);
    return m;
}

double smallest(const double *v, int n)
{
    double low = v[0];
    for (int i = 1; i < n; i++) //~ min
        low = v[i] < low ? v[i] : low;
    return low;
}

double smallest_by_if(const double *v, int n)
{
    double low = DBL_MAX;
    for (int i = 0; i < n; i++) { //~ min
        if (low > v[i]) {
            low = v[i];
        }
    }
    return low;
}

int where_largest(const float *v, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++) //~ argmax
        if (v[i] > v[best])
            best = i;
    return best;
}

int where_smallest(const double *v, int n)
{
    int at = -1;
    double low = INFINITY;
    for (int i = 0; i < n; i++) { //~ argmin
        if (v[i] < low) {
            low = v[i];
            at = i;
        }
    }
    return at;
}

/* ---- not these --------------------------------------------------------- */

unsigned checksum(const unsigned char *p, size_t n)
{
    unsigned s = 0;
    for (size_t i = 0; i < n; i++) //~!
        s += p[i];
    return s;
}

uint32_t crc(const uint8_t *p, size_t n, const uint32_t *table)
{
    uint32_t c = ~0u;
    while (n--) //~!
        c = table[(c ^ *p++) & 0xff] ^ (c >> 8);
    return c;
}

int count_words(const int *counts, int n)
{
    int all = 0;
    for (int i = 0; i < n; i++) //~!
        all += counts[i];
    return all;
}

int how_many_above(const float *v, int n, float limit)
{
    int count = 0;
    for (int i = 0; i < n; i++) //~!
        if (v[i] > limit)
            count++;
    return count;
}

float first_above(const float *v, int n, float limit)
{
    float s = 0;
    for (int i = 0; i < n; i++) { //~!
        if (v[i] > limit)
            break;
        s += v[i];
    }
    return s;
}

float total_of_positive(const float *v, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) //~ fused
        if (v[i] > 0)
            s += v[i];
    return s;
}

struct item {
    double price;
    struct item *next;
};

double total_of_list(const struct item *list)
{
    double s = 0;
    for (const struct item *i = list; i; i = i->next) //~!
        s += i->price;
    return s;
}

double total_gathered(const double *v, const int *index, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~!
        s += v[index[i]];
    return s;
}

double total_read(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~!
        s += read_sensor(i);
    return s;
}

double series(int n)
{
    double s = 0;
    for (int i = 1; i <= n; i++) //~!
        s += 1.0 / i;
    return s;
}

double horner(const double *c, int n, double x)
{
    double s = 0;
    for (int i = n - 1; i >= 0; i--) //~!
        s = s * x + c[i];
    return s;
}

float smooth(const float *v, int n, float a)
{
    float s = v[0];
    for (int i = 1; i < n; i++) //~!
        s = a * v[i] + (1 - a) * s;
    return s;
}

double until_small(const double *v, double limit)
{
    double s = 0;
    int i = 0;
    do { //~!
        s += v[i];
    } while (v[i++] > limit);
    return s;
}

size_t text_length(const char *s)
{
    size_t n = 0;
    while (*s++) //~!
        n++;
    return n;
}

const char *example(void)
{
    return "for (i = 0; i < n; i++) s += v[i];"; //~!
}

/* for (int i = 0; i < n; i++) s += v[i] * w[i]; */ //~!
#define SUM_INTO(s, v, n) for (int i_ = 0; i_ < (n); i_++) (s) += (v)[i_] //~!
