// SPDX-License-Identifier: MIT
// What a parser cannot make sense of must not hide what it can.
#include <vector>

float before(const std::vector<float> &v)
{
    float s = 0;
    for (float x : v) //~ sum
        s += x;
    return s;
}

QT_BEGIN_MOC_NAMESPACE

template <typename > > class broken { matmul( //~!
};

Q_DECLARE_METATYPE(foo::bar *)

void after(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ scale
        x[i] *= 2.0f;
}
