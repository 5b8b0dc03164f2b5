/* SPDX-License-Identifier: MIT */
/* Elements behind functions that look at their arguments first, and what is
 * declared for fixed-point numbers, too. */
#include <assert.h>

#ifdef FIXED
typedef short sample;
typedef int wide;
#define TIMES(a, b) (((wide)(sample)(a)) * ((wide)(sample)(b)))
#define DOWN(a, by) ((a) >> (by))
#else
typedef float sample;
typedef float wide;
#define TIMES(a, b) ((wide)(a) * (wide)(b))
#define DOWN(a, by) (a)
#endif
#define PLUS(a, b) ((a) + (b))
#define MAC(c, a, b) (PLUS((c), TIMES((a), (b))))

wide correlate(const sample *x, const sample *y, int n)
{
    wide s = 0;

    for (int i = 0; i < n; i++) //~ dot f32
        s = MAC(s, x[i], y[i]);
    return s;
}

void damp(sample *x, sample by, int n)
{
    for (int i = 0; i < n; i++) //~ scale f32
        x[i] = DOWN(TIMES(x[i], by), 15);
}

struct plane {
    int w, h;
    float *cell;
};

static float at(struct plane p, int x, int y)
{
    assert(x < p.w && y < p.h);
    return p.cell[y * p.w + x];
}

static float at_or_zero(struct plane p, int x, int y)
{
    if (x < 0 || y < 0 || x >= p.w || y >= p.h)
        return 0;
    return at(p, x, y);
}

static void put(struct plane p, int x, int y, float v)
{
    if (x < 0 || y < 0 || x >= p.w || y >= p.h)
        return;
    assert(x < p.w && y < p.h);
    p.cell[y * p.w + x] = v;
}

static int written;

static void put_and_count(struct plane p, int x, int y, float v)
{
    p.cell[y * p.w + x] = v;
    written++;
}

void lighten(struct plane p, float by)
{
    for (int y = 0; y < p.h; y++) //~ scale f32
        for (int x = 0; x < p.w; x++) {
            float v = at(p, x, y);
            v = v * by;
            put(p, x, y, v);
        }
}

void blend(struct plane a, struct plane b, struct plane out)
{
    for (int y = 0; y < a.h; y++) //~ add f32
        for (int x = 0; x < a.w; x++)
            put(out, x, y, at(a, x, y) + at(b, x, y));
}

void filter(struct plane in, struct plane by, struct plane out)
{
    for (int y = 0; y < in.h; y++) //~ conv2d f32
        for (int x = 0; x < in.w; x++) {
            float s = 0;
            for (int v = 0; v < by.h; v++)
                for (int u = 0; u < by.w; u++)
                    s += at(by, u, v) * at_or_zero(in, x + u, y + v);
            put(out, x, y, s);
        }
}

void count_in(struct plane a, struct plane out)
{
    for (int y = 0; y < a.h; y++) //~!
        for (int x = 0; x < a.w; x++)
            put_and_count(out, x, y, at(a, x, y) * 2);
}
