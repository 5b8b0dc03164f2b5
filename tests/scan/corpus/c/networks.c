/* SPDX-License-Identifier: MIT */
/* Convolutions, pooling and what neural networks are made of. */
#include <float.h>
#include <math.h>

#define WIDTH 640
#define HEIGHT 480
enum { TAPS = 5 };

static float picture[HEIGHT][WIDTH], blurred[HEIGHT][WIDTH];

void blur(const float kernel[TAPS][TAPS])
{
    for (int y = 0; y < HEIGHT - TAPS + 1; y++) //~ conv2d 1x1x480x640x1x5x5 f32
        for (int x = 0; x < WIDTH - TAPS + 1; x++) {
            float s = 0;
            for (int ky = 0; ky < TAPS; ky++)
                for (int kx = 0; kx < TAPS; kx++)
                    s += picture[y + ky][x + kx] * kernel[ky][kx];
            blurred[y][x] = s;
        }
}

void filter(const float *in, const float *k, float *out, int h, int w, int r)
{
    for (int y = r; y < h - r; y++) { //~ conv2d
        for (int x = r; x < w - r; x++) {
            float acc = 0.0f;
            for (int j = -r; j <= r; j++) {
                for (int i = -r; i <= r; i++) {
                    acc += in[(y + j) * w + (x + i)] * k[(j + r) * (2 * r + 1) + (i + r)];
                }
            }
            out[y * w + x] = acc;
        }
    }
}

void filter_padded(const float *in, const float *k, float *out, int h, int w, int size)
{
    const int pad = size / 2;
    for (int y = 0; y < h; y++) //~ conv2d
        for (int x = 0; x < w; x++) {
            double acc = 0;
            for (int ky = 0; ky < size; ky++)
                for (int kx = 0; kx < size; kx++) {
                    int iy = y + ky - pad, ix = x + kx - pad;
                    if (iy < 0 || iy >= h || ix < 0 || ix >= w)
                        continue;
                    acc += in[iy * w + ix] * k[ky * size + kx];
                }
            out[y * w + x] = (float)acc;
        }
}

void layer(const float *in, const float *weights, const float *bias, float *out, int channels, int filters, int h, int w, int stride)
{
    const int oh = (h - 3) / stride + 1, ow = (w - 3) / stride + 1;
    for (int f = 0; f < filters; f++) //~ conv2d
        for (int y = 0; y < oh; y++)
            for (int x = 0; x < ow; x++) {
                float s = bias[f];
                for (int c = 0; c < channels; c++)
                    for (int ky = 0; ky < 3; ky++)
                        for (int kx = 0; kx < 3; kx++)
                            s += in[(c * h + y * stride + ky) * w + x * stride + kx] * weights[((f * channels + c) * 3 + ky) * 3 + kx];
                out[(f * oh + y) * ow + x] = s;
            }
}

void fir(const double *x, const double *h, double *y, int n, int taps)
{
    for (int i = 0; i < n; i++) { //~ conv2d
        double s = 0;
        for (int k = 0; k < taps; k++)
            s += x[i + k] * h[k];
        y[i] = s;
    }
}

void full_convolution(const float *a, int na, const float *b, int nb, float *out)
{
    for (int i = 0; i < na; i++) //~ conv2d
        for (int j = 0; j < nb; j++)
            out[i + j] += a[i] * b[j];
}

void max_pool(const float *in, float *out, int h, int w)
{
    for (int y = 0; y < h / 2; y++) //~ pooling
        for (int x = 0; x < w / 2; x++) {
            float m = -FLT_MAX;
            for (int dy = 0; dy < 2; dy++)
                for (int dx = 0; dx < 2; dx++) {
                    float v = in[(y * 2 + dy) * w + x * 2 + dx];
                    if (v > m)
                        m = v;
                }
            out[y * (w / 2) + x] = m;
        }
}

void mean_pool(float in[64][64], float out[32][32])
{
    for (int y = 0; y < 32; y++) //~ pooling 1x1x64x64x2 f32
        for (int x = 0; x < 32; x++) {
            float s = 0;
            for (int dy = 0; dy < 2; dy++)
                for (int dx = 0; dx < 2; dx++)
                    s += in[2 * y + dy][2 * x + dx];
            out[y][x] = s / 4;
        }
}

void soften(float *x, int n)
{
    float m = x[0], s = 0;
    for (int i = 1; i < n; i++) //~ softmax
        if (x[i] > m)
            m = x[i];
    for (int i = 0; i < n; i++) {
        x[i] = expf(x[i] - m);
        s += x[i];
    }
    for (int i = 0; i < n; i++)
        x[i] /= s;
}

void soften_rows(const float *in, float *out, int rows, int cols)
{
    for (int r = 0; r < rows; r++) { //~ softmax
        const float *row = in + r * cols;
        float *to = out + r * cols;
        float m = -INFINITY;
        for (int c = 0; c < cols; c++)
            m = fmaxf(m, row[c]);
        float total = 0;
        for (int c = 0; c < cols; c++) {
            to[c] = expf(row[c] - m);
            total += to[c];
        }
        const float inverse = 1.0f / total;
        for (int c = 0; c < cols; c++)
            to[c] *= inverse;
    }
}

void normalize(const float *x, const float *gain, const float *bias, float *y, int n)
{
    float mean = 0, var = 0;
    for (int i = 0; i < n; i++) //~ layernorm
        mean += x[i];
    mean /= n;
    for (int i = 0; i < n; i++) {
        float d = x[i] - mean;
        var += d * d;
    }
    var /= n;
    const float inv = 1.0f / sqrtf(var + 1e-5f);
    for (int i = 0; i < n; i++)
        y[i] = (x[i] - mean) * inv * gain[i] + bias[i];
}

void normalize_rows(float *x, int rows)
{
    for (int r = 0; r < rows; r++) { //~ layernorm 0x768 f32
        float *row = x + r * 768;
        float mean = 0.0f;
        for (int i = 0; i < 768; i++)
            mean += row[i];
        mean /= 768.0f;
        float var = 0.0f;
        for (int i = 0; i < 768; i++)
            var += (row[i] - mean) * (row[i] - mean);
        var /= 768.0f;
        const float scale = 1.0f / sqrtf(var + 1e-6f);
        for (int i = 0; i < 768; i++)
            row[i] = (row[i] - mean) * scale;
    }
}

void attend(const float *q, const float *k, const float *v, float *out, float *score, int n, int d)
{
    for (int i = 0; i < n; i++) { //~ attention
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int c = 0; c < d; c++)
                s += q[i * d + c] * k[j * d + c];
            score[j] = s / sqrtf((float)d);
        }
        float m = score[0];
        for (int j = 1; j < n; j++)
            if (score[j] > m)
                m = score[j];
        float total = 0;
        for (int j = 0; j < n; j++) {
            score[j] = expf(score[j] - m);
            total += score[j];
        }
        for (int j = 0; j < n; j++)
            score[j] /= total;
        for (int c = 0; c < d; c++) {
            float s = 0;
            for (int j = 0; j < n; j++)
                s += score[j] * v[j * d + c];
            out[i * d + c] = s;
        }
    }
}

void attend_masked(const float *q, const float *k, const float *v, const float *mask, float *out, float *score, int n, int d)
{
    for (int i = 0; i < n; i++) { //~ attention
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int c = 0; c < d; c++)
                s += q[i * d + c] * k[j * d + c];
            score[j] = s;
        }
        for (int j = 0; j < n; j++)
            score[j] *= 0.125f;
        for (int j = 0; j < n; j++)
            score[j] += mask[j];
        float m = score[0];
        for (int j = 1; j < n; j++)
            if (score[j] > m)
                m = score[j];
        float total = 0;
        for (int j = 0; j < n; j++) {
            score[j] = expf(score[j] - m);
            total += score[j];
        }
        for (int c = 0; c < d; c++) {
            float s = 0;
            for (int j = 0; j < n; j++)
                s += score[j] * v[j * d + c];
            out[i * d + c] = s / total;
        }
    }
}

void diffuse(double grid[128][128], double next[128][128])
{
    for (int i = 1; i < 127; i++) //~!
        for (int j = 1; j < 127; j++)
            next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
}

void sort(float *x, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = i + 1; j < n; j++) //~!
            if (x[j] < x[i]) {
                float t = x[i];
                x[i] = x[j];
                x[j] = t;
            }
}

void blur_bytes(const unsigned char *in, unsigned char *out, const int *k, int h, int w)
{
    for (int y = 1; y < h - 1; y++) //~!
        for (int x = 1; x < w - 1; x++) {
            int s = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    s += in[(y + j) * w + x + i] * k[(j + 1) * 3 + i + 1];
            out[y * w + x] = (unsigned char)(s >> 4);
        }
}

void life(const int *in, int *out, int h, int w)
{
    for (int y = 1; y < h - 1; y++) //~!
        for (int x = 1; x < w - 1; x++) {
            int alive = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    alive += in[(y + j) * w + x + i];
            out[y * w + x] = alive == 3;
        }
}

void mandelbrot(unsigned char *image, int w, int h)
{
    for (int y = 0; y < h; y++) //~!
        for (int x = 0; x < w; x++) {
            float cr = 3.0f * x / w - 2, ci = 2.0f * y / h - 1, zr = 0, zi = 0;
            int i;
            for (i = 0; i < 255 && zr * zr + zi * zi < 4; i++) { //~!
                float t = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci;
                zr = t;
            }
            image[y * w + x] = (unsigned char)i;
        }
}
