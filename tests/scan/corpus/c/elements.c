/* SPDX-License-Identifier: MIT */
/* Loops over elements, each by itself. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT 1024

void plus(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++) //~ add
        c[i] = a[i] + b[i];
}

void plus_in_place(double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) //~ add
        a[i] += b[i];
}

void plus_2d(float a[64][64], float b[64][64], float c[64][64])
{
    for (int i = 0; i < 64; i++) //~ add 4096 f32
        for (int j = 0; j < 64; j++)
            c[i][j] = a[i][j] + b[i][j];
}

void minus(const float *a, const float *b, float *c, int n)
{
    int i;
    for (i = 0; i < n; ++i) { //~ sub
        c[i] = a[i] - b[i];
    }
}

void times(const double *a, const double *b, double *c, int n)
{
    for (int i = 0; i < n; i++) //~ mul
        c[i] = a[i] * b[i];
}

void window(float *x, const float *w)
{
    for (int i = 0; i < COUNT; i++) //~ mul 1024 f32
        x[i] *= w[i];
}

void over(const double *a, const double *b, double *c, int n)
{
    for (int i = 0; i < n; i++) //~ div
        c[i] = a[i] / b[i];
}

void louder(float *x, int n, float gain)
{
    for (int i = 0; i < n; i++) //~ scale
        x[i] *= gain;
}

void halve(const float *x, float *y, int n)
{
    for (int i = 0; i < n; i++) //~ scale
        y[i] = 0.5f * x[i];
}

void by_pointer(float *p, float *end, float f)
{
    for (; p < end; p++) //~ scale
        *p *= f;
}

void step(float *w, const float *g, int n, float rate)
{
    for (int i = 0; i < n; i++) //~ axpy
        w[i] -= rate * g[i];
}

void blend(const double *x, double *y, int n, double alpha)
{
    for (int i = 0; i < n; i++) //~ axpy
        y[i] = alpha * x[i] + y[i];
}

void fused(const float *a, const float *b, const float *c, float *out, int n)
{
    for (int i = 0; i < n; i++) //~ fma
        out[i] = a[i] * b[i] + c[i];
}

void fused_by_call(const float *a, const float *b, const float *c, float *out, int n)
{
    for (int i = 0; i < n; i++) //~ fma
        out[i] = fmaf(a[i], b[i], c[i]);
}

void positive(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ abs
        x[i] = fabsf(x[i]);
}

void mirror(const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++) //~ neg
        y[i] = -x[i];
}

void roots(const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++) //~ sqrt
        y[i] = sqrt(x[i]);
}

void powers(const float *x, float *y, int n)
{
    for (int i = 0; i < n; i++) //~ exp
        y[i] = expf(x[i]);
}

void logs(const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++) //~ log
        y[i] = log(x[i]);
}

void squash(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ sigmoid
        x[i] = 1.0f / (1.0f + expf(-x[i]));
}

void activate(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ tanh
        x[i] = tanhf(x[i]);
}

void rectify(const float *x, float *y, int n)
{
    for (int i = 0; i < n; i++) //~ relu
        y[i] = x[i] > 0 ? x[i] : 0;
}

void rectify_in_place(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ relu
        if (x[i] < 0.0f)
            x[i] = 0.0f;
}

void rectify_by_call(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ relu
        x[i] = fmaxf(x[i], 0.0f);
}

void gelu(float *x, int n)
{
    for (int i = 0; i < n; i++) { //~ gelu
        float v = x[i];
        x[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
    }
}

void limit(float *x, int n, float low, float high)
{
    for (int i = 0; i < n; i++) //~ clamp
        x[i] = fminf(fmaxf(x[i], low), high);
}

void limit_by_ternary(const double *x, double *y, int n, double low, double high)
{
    for (int i = 0; i < n; i++) //~ clamp
        y[i] = x[i] < low ? low : x[i] > high ? high : x[i];
}

void duplicate(const float *a, float *b, int n)
{
    for (int i = 0; i < n; i++) //~ copy
        b[i] = a[i];
}

void duplicate_walk(const double *a, double *b, int n)
{
    while (n--) //~ copy
        *b++ = *a++;
}

void flip(const float *a, float *b, int rows, int cols)
{
    for (int i = 0; i < rows; i++) //~ transpose
        for (int j = 0; j < cols; j++)
            b[j * rows + i] = a[i * cols + j];
}

void flip_square(double a[32][32], double t[32][32])
{
    for (int i = 0; i < 32; i++) //~ transpose 32x32 f64
        for (int j = 0; j < 32; j++)
            t[j][i] = a[i][j];
}

void add_bias(float *y, const float *bias, int rows, int cols)
{
    for (int r = 0; r < rows; r++) //~ add
        for (int c = 0; c < cols; c++)
            y[r * cols + c] += bias[c];
}

void simulate(float *v, const float *a, int n, int steps, float dt)
{
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++) //~ axpy
            v[i] += dt * a[i];
}

/* ---- not these --------------------------------------------------------- */

void running_total(const float *a, float *b, int n)
{
    b[0] = a[0];
    for (int i = 1; i < n; i++) //~!
        b[i] = b[i - 1] + a[i];
}

void low_pass(float *x, int n, float a)
{
    for (int i = 1; i < n; i++) //~!
        x[i] = a * x[i] + (1 - a) * x[i - 1];
}

void clear(float *x, int n)
{
    for (int i = 0; i < n; i++) //~!
        x[i] = 0.0f;
}

void number(float *x, int n)
{
    for (int i = 0; i < n; i++) //~!
        x[i] = (float)i;
}

void copy_bytes(char *to, const char *from, size_t n)
{
    while (n--) //~!
        *to++ = *from++;
}

void copy_words(uint32_t *to, const uint32_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) //~!
        to[i] = from[i];
}

void add_indices(int *a, const int *b, int n)
{
    for (int i = 0; i < n; i++) //~!
        a[i] += b[i];
}

void cipher(unsigned char *p, const unsigned char *key, size_t n)
{
    for (size_t i = 0; i < n; i++) //~!
        p[i] = p[i] ^ key[i % 16];
}

void upper(char *s)
{
    for (; *s; s++) //~!
        *s = *s - 'a' + 'A';
}

void histogram(const float *v, int *bins, int n)
{
    for (int i = 0; i < n; i++) //~!
        bins[(int)(v[i] * 16)] += 1;
}

void scatter(const float *v, float *out, const int *to, int n)
{
    for (int i = 0; i < n; i++) //~!
        out[to[i]] = v[i];
}

void convert(const int16_t *pcm, float *out, int n)
{
    for (int i = 0; i < n; i++) //~!
        out[i] = pcm[i] / 32768.0f;
}

void draw(float *out, int n)
{
    for (int i = 0; i < n; i++) //~!
        out[i] = rand() / (float)RAND_MAX;
}

void parse(const char **text, double *out, int n)
{
    for (int i = 0; i < n; i++) //~!
        out[i] = strtod(text[i], NULL);
}

void show(const float *x, int n)
{
    for (int i = 0; i < n; i++) //~!
        printf("%f\n", x[i]);
}

void iterate(double *x, const double *target, int n)
{
    for (int i = 0; i < n; i++) { //~!
        if (x[i] > target[i])
            x[i] -= 0.1;
        else
            return;
    }
}

void newton(double x)
{
    double y = x;
    for (int i = 0; i < 20; i++) //~!
        y = 0.5 * (y + x / y);
}

void swap_halves(float *x, int n)
{
    for (int i = 0; i < n / 2; i++) { //~!
        float t = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = t;
    }
}

struct particle {
    float x, y, vx, vy;
};

void move(struct particle *p, int n, float dt)
{
    for (int i = 0; i < n; i++) { //~!
        p[i].x += dt * p[i].vx;
        p[i].y += dt * p[i].vy;
    }
}

/* Here `float` is a name of something else, in a comment: float *a, *b; */
void masks(unsigned *a, const unsigned *b, int n)
{
    for (int i = 0; i < n; i++) //~!
        a[i] = a[i] & b[i];
}

void shadowed(const float *a, int n)
{
    float s = 0;
    {
        const int a[] = {1, 2, 3}, s = 0;
        int total = s;
        for (int i = 0; i < 3; i++) //~!
            total += a[i];
        use(total);
    }
    for (int i = 0; i < n; i++) //~ sum
        s += a[i];
    use_float(s);
}

/* ---- found in code of others --------------------------------------------- */

void ramp(float *x, int n, float slope)
{
    for (int i = 0; i < n; i++) //~!
        x[i] -= (float)i * slope;
}

void spread_out(const float *a, const float *b, float *m, int rows, int cols)
{
    for (int i = 0; i < rows; i++) //~!
        for (int j = 0; j < cols; j++) //~ scale
            m[i * cols + j] = a[i] * b[j];
}

void two_rows(double *h, const double *w, const double *x, int n, int j)
{
    for (int i = 0; i < n; i++) //~ axpy
        h[i] = h[i] + w[i] * x[j] + w[j] * x[i];
}

void untyped(const void *in, void *out, size_t n, size_t row)
{
    for (size_t i = 0; i < n; i++) { //~ copy
        const float *from = (const float *)in + i * row;
        float *to = (float *)out + i * row;
        for (size_t j = 0; j < row; j++)
            to[j] = from[j];
    }
}

void cosines(const float *x, const float *table, float *y, int n, int mask)
{
    for (int i = 0; i < n; i++) { //~!
        float acc = 0;
        for (int j = 0; j < n; j++) //~!
            acc += x[j] * table[((2 * i + 1) * (2 * j + 1)) & mask];
        y[i] = acc;
    }
}

void shift(double *x, int n)
{
    for (int i = 1; i < n; i++) //~!
        x[i - 1] = x[i];
}

void behind_a_macro(float *RESTRICT out, const float *RESTRICT a, int n)
{
    for (int i = 0; i < n; i++) //~ add
        out[i] = out[i] + a[i];
}

float exponentials(float *a, int n, float top)
{
    float all = 0;
    for (int i = 0; i < n; i++) { //~ fused
        a[i] = expf(a[i] - top);
        all += a[i];
    }
    return all;
}

void window(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        x[i] *= 0.5f - 0.5f * cosf(6.2831853f * i / (n - 1));
}

void ramp(float *x, int n)
{
    for (int i = 0; i < n; i++) //~!
        x[i] = x[i] + i;
}

void steps(double *tmp, double *d, const double *c, const double *y, int n)
{
    for (int i = 0; i < n; i++) { //~ sigmoid
        tmp[i] = 1 / (1 + exp(-y[i]));
        d[i] = tmp[i] * (1 - tmp[i]);
        tmp[i] = c[i] * (tmp[i] - 1) * y[i];
    }
}
