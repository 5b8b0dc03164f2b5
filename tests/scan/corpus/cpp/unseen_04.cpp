// SPDX-License-Identifier: MIT
// By people who had not met the judges: tensors, rays, trades, games.
#include <cassert>
#include <cmath>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

// A tensor library, a ray tracer, a trading engine, and a game.
namespace nn {

struct Shape {
    int n, c, h, w;
    int size() const { return n * c * h * w; }
};

class Tensor {
    Shape shape_;
    std::unique_ptr<float[]> data_;

public:
    explicit Tensor(Shape s) : shape_(s), data_(new float[s.size()]) {}
    float *data() { return data_.get(); }
    const float *data() const { return data_.get(); }
    int size() const { return shape_.size(); }

    Tensor &operator*=(float k)
    {
        for (int i = 0; i < size(); ++i) //~ scale
            data_[i] *= k;
        return *this;
    }

    Tensor &operator+=(const Tensor &o)
    {
        assert(o.size() == size());
        const float *src = o.data();
        float *dst = data();
        for (int i = 0, n = size(); i < n; ++i) //~ add
            dst[i] += src[i];
        return *this;
    }

    float mean() const
    {
        float s = 0;
        const float *p = data();
        for (int i = 0; i < size(); ++i) //~ mean
            s += p[i];
        return s / size();
    }

    template <typename F> Tensor &map(F f)
    {
        for (int i = 0; i < size(); ++i) //~!
            data_[i] = f(data_[i]);
        return *this;
    }
};

void linear(const float *x, const float *w, const float *b, float *y, int batch, int in, int out)
{
    for (int n = 0; n < batch; ++n) { //~ matmul
        for (int o = 0; o < out; ++o) {
            float acc = b ? b[o] : 0.f;
            for (int i = 0; i < in; ++i)
                acc += x[n * in + i] * w[o * in + i];
            y[n * out + o] = acc;
        }
    }
}

void batched(const float *a, const float *b, float *c, int bs, int m, int n, int k)
{
#pragma omp parallel for collapse(2)
    for (int t = 0; t < bs; ++t) //~ batched_matmul
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                float s = 0;
                for (int p = 0; p < k; ++p)
                    s += a[(t * m + i) * k + p] * b[(t * k + p) * n + j];
                c[(t * m + i) * n + j] = s;
            }
}

void dropout(std::vector<float> &x, const std::vector<bool> &mask)
{
    for (std::size_t i = 0; i < x.size(); ++i) //~!
        if (!mask[i]) x[i] = 0;
}

float huber(const std::vector<float> &a, const std::vector<float> &b)
{
    float l = 0;
    for (std::size_t i = 0; i < a.size(); ++i) { //~ fused
        float d = std::abs(a[i] - b[i]);
        l += d < 1 ? 0.5f * d * d : d - 0.5f;
    }
    return l;
}

void momentum(std::vector<float> &w, std::vector<float> &v, const std::vector<float> &g, float lr)
{
    for (std::size_t i = 0; i < w.size(); ++i) { //~ axpy
        v[i] = 0.9f * v[i] + g[i];
        w[i] -= lr * v[i];
    }
}

} // namespace nn

namespace rt {

struct Vec3 {
    double x, y, z;
    Vec3 operator+(const Vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec3 operator*(double k) const { return {x * k, y * k, z * k}; }
    double dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
};

double shade(const Vec3 &n, const std::vector<Vec3> &lights)
{
    double s = 0;
    for (const auto &l : lights) //~!
        s += std::max(0.0, n.dot(l));
    return s;
}

Vec3 center(const std::vector<Vec3> &p)
{
    return std::accumulate(p.begin(), p.end(), Vec3{}) * (1.0 / p.size()); //~!
}

void accumulate(std::vector<float> &film, const std::vector<float> &sample, int count)
{
    const float w = 1.0f / count;
    for (std::size_t i = 0; i < film.size(); ++i) //~ axpy
        film[i] += w * sample[i];
}

void gamma(std::vector<float> &film)
{
    for (auto &v : film) v = std::pow(v, 1 / 2.2f); //~!
}

void gamma2(std::vector<float> &film)
{
    for (auto &v : film) v = std::sqrt(v); //~ sqrt
}

std::tuple<float, float> extent(const std::vector<float> &z)
{
    float lo = z.front(), hi = z.front();
    for (auto v : z) { //~ min
        if (v < lo) lo = v;
        if (v > hi) hi = v;
    }
    return {lo, hi};
}

} // namespace rt

namespace trade {

struct Bar {
    double open, high, low, close;
};

double vwap(const std::vector<double> &price, const std::vector<double> &volume)
{
    double pv = 0.0, v = 0.0;
    for (std::size_t i = 0; i < price.size(); ++i) { //~ dot
        pv += price[i] * volume[i];
        v += volume[i];
    }
    return v > 0 ? pv / v : 0;
}

double highest(const std::vector<Bar> &b)
{
    double h = 0;
    for (auto &x : b) h = std::max(h, x.high); //~!
    return h;
}

std::vector<double> sma(const std::vector<double> &x, int w)
{
    std::vector<double> out;
    double s = 0;
    for (int i = 0; i < (int)x.size(); ++i) { //~!
        s += x[i];
        if (i >= w) s -= x[i - w];
        if (i >= w - 1) out.push_back(s / w);
    }
    return out;
}

std::vector<double> diff(const std::vector<double> &x)
{
    std::vector<double> d(x.size() - 1);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) //~ sub
        d[i] = x[i + 1] - x[i];
    return d;
}

double correlation(const std::vector<double> &a, const std::vector<double> &b, double ma, double mb)
{
    double s = 0;
    for (std::size_t i = 0; i < a.size(); ++i) //~ fused
        s += (a[i] - ma) * (b[i] - mb);
    return s;
}

double total_abs(const std::vector<double> &v)
{
    double s = 0;
    for (auto it = v.cbegin(), e = v.cend(); it != e; ++it) //~ norm1
        s += std::abs(*it);
    return s;
}

double weighted(std::initializer_list<std::pair<double, double>> items)
{
    double s = 0;
    for (auto &[w, x] : items) s += w * x; //~!
    return s;
}

double black(const std::function<double(double)> &f, const std::vector<double> &x)
{
    double s = 0;
    for (double v : x) s += f(v); //~!
    return s;
}

std::string join(const std::vector<std::string> &v)
{
    std::string s;
    for (const auto &x : v) s += x; //~!
    return s;
}

} // namespace trade

namespace game {

struct World {
    std::vector<float> x, y, vx, vy;
    std::vector<int> alive;

    void integrate(float dt)
    {
        const std::size_t n = x.size();
        for (std::size_t i = 0; i < n; ++i) { //~ axpy
            x[i] += vx[i] * dt;
            y[i] += vy[i] * dt;
        }
    }

    void friction(float f)
    {
        for (std::size_t i = 0; i < vx.size(); ++i) //~ scale
            vx[i] *= f, vy[i] *= f;
    }

    void bounce()
    {
        for (std::size_t i = 0; i < x.size(); ++i) //~ fused
            if (x[i] < 0 || x[i] > 100) vx[i] = -vx[i];
    }

    void gravity(float g)
    {
        for (auto &v : vy) v += g; //~ fused
    }

    int population() const
    {
        int n = 0;
        for (int a : alive) n += a; //~!
        return n;
    }

    float farthest() const
    {
        float best = 0;
        for (std::size_t i = 0; i < x.size(); ++i) //~ fused
            best = std::max(best, x[i] * x[i] + y[i] * y[i]);
        return std::sqrt(best);
    }

    void compact()
    {
        std::size_t k = 0;
        for (std::size_t i = 0; i < x.size(); ++i) //~!
            if (alive[i]) {
                x[k] = x[i];
                ++k;
            }
        x.resize(k);
    }

    void clampAll()
    {
        for (float &v : x) v = std::min(std::max(v, 0.0f), 100.0f); //~ clamp
    }
};

void blur(const std::vector<std::vector<float>> &in, std::vector<std::vector<float>> &out)
{
    for (std::size_t i = 1; i + 1 < in.size(); ++i) //~!
        for (std::size_t j = 1; j + 1 < in[i].size(); ++j)
            out[i][j] = (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]) * 0.25f;
}

void matvec(const std::vector<std::vector<float>> &m, const std::vector<float> &v, std::vector<float> &r)
{
    std::fill(r.begin(), r.end(), 0.f); //~!
    for (std::size_t i = 0; i < m.size(); ++i) //~ gemv
        for (std::size_t j = 0; j < v.size(); ++j)
            r[i] += m[i][j] * v[j];
}

void dump(const std::vector<float> &v)
{
    for (std::size_t i = 0; i < v.size(); ++i) //~!
        std::cout << v[i] << (i + 1 < v.size() ? ' ' : '\n');
}

} // namespace game
