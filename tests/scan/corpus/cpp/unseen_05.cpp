// SPDX-License-Identifier: MIT
// By people who had not met the judges: mixers, learners, grids.
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace signal {

using sample_t = float;
using block = std::array<sample_t, 512>;

class Mixer {
    static constexpr std::size_t kChannels = 8;
    std::array<block, kChannels> in_{};
    block out_{};
    std::array<float, kChannels> gain_{};

public:
    void mix() noexcept
    {
        out_.fill(0.0f);
        for (std::size_t c = 0; c < kChannels; ++c) //~ gemv
            for (std::size_t i = 0; i < out_.size(); ++i)
                out_[i] += gain_[c] * in_[c][i];
    }

    [[nodiscard]] auto peak() const -> float
    {
        auto p = 0.0f;
        for (const auto s : out_) //~ max
            p = std::max(p, std::fabs(s));
        return p;
    }

    void limit(float ceiling)
    {
        for (auto &s : out_) //~ clamp
            s = std::clamp(s, -ceiling, ceiling);
    }

    void invert()
    {
        std::transform(out_.begin(), out_.end(), out_.begin(), std::negate<>{}); //~ neg
    }
};

class Biquad {
    float b0, b1, b2, a1, a2, z1 = 0, z2 = 0;

public:
    void process(std::span<float> x)
    {
        for (auto &v : x) { //~!
            const float y = b0 * v + z1;
            z1 = b1 * v - a1 * y + z2;
            z2 = b2 * v - a2 * y;
            v = y;
        }
    }
};

std::vector<float> convolve(const std::vector<float> &x, const std::vector<float> &h)
{
    std::vector<float> y(x.size() + h.size() - 1, 0.0f);
    for (std::size_t i = 0; i < x.size(); ++i) //~ conv2d
        for (std::size_t j = 0; j < h.size(); ++j)
            y[i + j] += x[i] * h[j];
    return y;
}

float rms(std::span<const float> x)
{
    float acc = 0;
    for (float v : x) //~ dot
        acc += v * v;
    return std::sqrt(acc / x.size());
}

void crossfade(const block &a, const block &b, block &o)
{
    for (std::size_t i = 0; i < o.size(); ++i) { //~!
        const float t = float(i) / o.size();
        o[i] = a[i] * (1 - t) + b[i] * t;
    }
}

} // namespace signal

namespace ml {

template <typename T> struct Vec {
    std::vector<T> v;
    T sum() const
    {
        T s{};
        for (const T &x : v) //~!
            s += x;
        return s;
    }
};

class KNN {
    std::vector<std::vector<double>> train_;
    std::vector<int> label_;

public:
    static double distance(const std::vector<double> &a, const std::vector<double> &b)
    {
        double d = 0;
        for (size_t i = 0; i < a.size(); i++) //~ norm2
            d += (a[i] - b[i]) * (a[i] - b[i]);
        return std::sqrt(d);
    }

    int predict(const std::vector<double> &q) const
    {
        double best = 1e300;
        int at = -1;
        for (size_t i = 0; i < train_.size(); i++) { //~!
            double d = distance(train_[i], q);
            if (d < best) {
                best = d;
                at = label_[i];
            }
        }
        return at;
    }
};

class Perceptron {
    std::vector<double> w;
    double b = 0;

public:
    double raw(const std::vector<double> &x) const
    {
        return std::inner_product(w.begin(), w.end(), x.begin(), b); //~ dot
    }

    void learn(const std::vector<double> &x, double err, double rate)
    {
        for (size_t i = 0; i < w.size(); ++i) //~ axpy
            w[i] += rate * err * x[i];
        b += rate * err;
    }

    double penalty() const
    {
        return std::accumulate(w.begin(), w.end(), 0.0, [](double s, double x) { return s + x * x; }); //~ dot
    }
};

std::vector<double> softmax(const std::vector<double> &z)
{
    std::vector<double> e(z.size());
    const double m = *std::max_element(z.begin(), z.end()); //~ max
    double s = 0;
    for (size_t i = 0; i < z.size(); ++i) { //~ softmax
        e[i] = std::exp(z[i] - m);
        s += e[i];
    }
    for (auto &x : e)
        x /= s;
    return e;
}

double entropy(const std::map<std::string, double> &p)
{
    double h = 0;
    for (auto &[k, v] : p) //~!
        h -= v * std::log2(v);
    return h;
}

Eigen::MatrixXd normal_equations(const Eigen::MatrixXd &X, const Eigen::VectorXd &y)
{
    Eigen::MatrixXd G = X.transpose() * X;       //~ matmul
    Eigen::VectorXd r = X.transpose() * y;       //~ gemv
    G.diagonal().array() += 1e-6;                //~!
    return G.ldlt().solve(r);                    //~!
}

std::vector<int> one_hot_argmax(const std::vector<std::vector<float>> &rows)
{
    std::vector<int> out;
    for (auto &r : rows) //~!
        out.push_back(int(std::max_element(r.begin(), r.end()) - r.begin())); //~ argmax
    return out;
}

void shuffle(std::vector<int> &v, std::mt19937 &g)
{
    std::shuffle(v.begin(), v.end(), g); //~!
}

} // namespace ml

namespace grid {

template <int W, int H> class Life {
    std::bitset<W * H> cells;

public:
    int alive() const
    {
        int n = 0;
        for (int i = 0; i < W * H; ++i) //~!
            n += cells[i];
        return n;
    }
};

class Heat {
    int w, h;
    std::vector<double> a, b;

public:
    void step(double k)
    {
        for (int y = 1; y < h - 1; ++y) //~!
            for (int x = 1; x < w - 1; ++x) {
                int i = y * w + x;
                b[i] = a[i] + k * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w] - 4 * a[i]);
            }
        a.swap(b);
    }

    double change() const
    {
        double c = 0;
        for (size_t i = 0; i < a.size(); ++i) //~ fused
            c += std::abs(a[i] - b[i]);
        return c;
    }

    double total() const
    {
        double t = 0;
        for (int y = 0; y < h; ++y) //~ sum
            for (int x = 0; x < w; ++x)
                t += a[y * w + x];
        return t;
    }

    void cool(double f)
    {
        for (int y = 0; y < h; ++y) { //~ scale
            double *row = &a[y * w];
            for (int x = 0; x < w; ++x)
                row[x] *= f;
        }
    }

    void save(std::ostream &o) const
    {
        for (double v : a) //~!
            o << v << '\n';
    }

    std::vector<double> transposed() const
    {
        std::vector<double> t(a.size());
        for (int y = 0; y < h; ++y) //~ transpose
            for (int x = 0; x < w; ++x)
                t[x * h + y] = a[y * w + x];
        return t;
    }

    std::vector<double> column_max() const
    {
        std::vector<double> m(w, -1e300);
        for (int x = 0; x < w; ++x) //~!
            for (int y = 0; y < h; ++y) //~ max
                m[x] = std::max(m[x], a[y * w + x]);
        return m;
    }
};

void elementwise(const std::vector<double> &a, const std::vector<double> &b, std::vector<double> &c)
{
    std::transform(begin(a), end(a), begin(b), begin(c), [](double x, double y) { return x / y; }); //~ div
    std::transform(begin(a), end(a), begin(c), [](double x) { return std::log(x); });             //~ log
    std::transform(begin(a), end(a), begin(c), [](double x) { return x > 0 ? 1.0 : -1.0; });      //~!
}

std::optional<std::size_t> first_above(std::span<const double> s, double t)
{
    for (std::size_t i = 0; i < s.size(); ++i) //~!
        if (s[i] > t)
            return i;
    return std::nullopt;
}

std::uint32_t hash(std::string_view s)
{
    std::uint32_t h = 2166136261u;
    for (unsigned char c : s) //~!
        h = (h ^ c) * 16777619u;
    return h;
}

} // namespace grid
