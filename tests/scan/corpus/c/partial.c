/* SPDX-License-Identifier: MIT */
/* What a parser cannot make sense of must not hide what it can. */
#include <math.h>

BEGIN_DECLS

float before(const float *v, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) //~ sum
        s += v[i];
    return s;
}

EXPORT_TABLE(one, two {
    ENTRY("matmul") //~!

int broken(int x
{
    return x +;
}

END_DECLS

void after(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ exp
        x[i] = expf(x[i]);
}
