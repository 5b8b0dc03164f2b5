// SPDX-License-Identifier: MIT
// By people who had not met the judges: templates, fluids, layers, ranges.
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <ranges>
#include <sstream>
#include <string_view>
#include <valarray>
#include <vector>

namespace sim {

template <std::size_t R, std::size_t C> using Fixed = std::array<std::array<float, C>, R>;
using Real = float;
using Field = std::vector<Real>;

constexpr int kN = 256;

// -------- templates and constexpr sizes
template <std::size_t M, std::size_t N, std::size_t K>
void product(const Fixed<M, K> &a, const Fixed<K, N> &b, Fixed<M, N> &c)
{
    for (std::size_t i = 0; i < M; ++i) //~ matmul
        for (std::size_t j = 0; j < N; ++j) {
            float sum{0};
            for (std::size_t k = 0; k < K; ++k)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

void fixed_sizes(const float (&a)[kN][kN], const float (&x)[kN], float (&y)[kN])
{
    for (auto i = 0; i < kN; ++i) { //~ gemv 256x256 f32
        auto s = 0.0f;
        for (auto j = 0; j < kN; ++j)
            s += a[i][j] * x[j];
        y[i] = s;
    }
}

template <class T> T generic_sum(const T *p, int n)
{
    T s = 0;
    for (int i = 0; i < n; ++i) //~!
        s += p[i];
    return s;
}

// -------- a fluid solver
struct Fluid {
    int n;
    Field u, v, p, div, tmp;

    int at(int x, int y) const { return y * n + x; }

    void divergence()
    {
        for (int y = 1; y < n - 1; ++y) //~!
            for (int x = 1; x < n - 1; ++x)
                div[at(x, y)] = 0.5f * (u[at(x + 1, y)] - u[at(x - 1, y)] + v[at(x, y + 1)] - v[at(x, y - 1)]);
    }

    void add_source(Field &d, const Field &s, float dt)
    {
        for (std::size_t i = 0; i != d.size(); ++i) //~ axpy
            d[i] += dt * s[i];
    }

    void project()
    {
        for (int k = 0; k < 20; ++k) { //~!
            for (int y = 1; y < n - 1; ++y) //~!
                for (int x = 1; x < n - 1; ++x)
                    tmp[at(x, y)] = (div[at(x, y)] + p[at(x - 1, y)] + p[at(x + 1, y)]) / 4;
            std::swap(p, tmp); //~!
        }
    }

    void damp(float f)
    {
        for (auto &x : u) x *= f; //~ scale
        for (auto &x : v) x *= f; //~ scale
    }

    [[nodiscard]] float kinetic() const
    {
        float e = 0;
        for (std::size_t i = 0; i < u.size(); ++i) //~ fused
            e += u[i] * u[i] + v[i] * v[i];
        return e / 2;
    }

    [[nodiscard]] float max_speed() const
    {
        return *std::ranges::max_element(u); //~ max
    }
};

// -------- layers with inheritance
class Layer {
public:
    virtual ~Layer() = default;
    virtual void forward(const std::vector<float> &in, std::vector<float> &out) = 0;
};

class Linear final : public Layer {
    std::size_t in_, out_;
    std::vector<float> w_, b_;

public:
    Linear(std::size_t i, std::size_t o) : in_(i), out_(o), w_(i * o), b_(o) {}

    void forward(const std::vector<float> &in, std::vector<float> &out) override
    {
        for (std::size_t o = 0; o < out_; ++o) { //~ gemv
            float acc = b_[o];
            const float *row = w_.data() + o * in_;
            for (std::size_t i = 0; i < in_; ++i)
                acc += row[i] * in[i];
            out[o] = acc;
        }
    }

    void update(const std::vector<float> &grad, float lr)
    {
        std::transform(w_.begin(), w_.end(), grad.begin(), w_.begin(), [lr](float w, float g) { return w - lr * g; }); //~ axpy
    }
};

class Relu final : public Layer {
public:
    void forward(const std::vector<float> &in, std::vector<float> &out) override
    {
        std::transform(in.begin(), in.end(), out.begin(), [](float x) { return x < 0.f ? 0.f : x; }); //~ relu
    }
};

class Gelu final : public Layer {
public:
    void forward(const std::vector<float> &in, std::vector<float> &out) override
    {
        for (std::size_t i = 0; i < in.size(); ++i) { //~ gelu
            const float x = in[i];
            out[i] = 0.5f * x * (1.f + std::erf(x * 0.70710678f));
        }
    }
};

void run(std::vector<std::unique_ptr<Layer>> &net, std::vector<float> &a, std::vector<float> &b)
{
    for (auto &l : net) { //~!
        l->forward(a, b);
        std::swap(a, b);
    }
}

// -------- iterators, ranges and friends
template <typename Iter> void double_it(Iter first, Iter last)
{
    while (first != last) //~!
        *first++ *= 2;
}

float sum_of_array(const std::array<float, 64> &a)
{
    return std::accumulate(std::cbegin(a), std::cend(a), 0.0f); //~ sum 64 f32
}

double weighted_total(const double *w, const double *x, std::size_t n)
{
    return std::inner_product(w, w + n, x, 0.0); //~ dot
}

double mean_square(const std::vector<double> &v)
{
    return std::transform_reduce(v.begin(), v.end(), 0.0, std::plus<>{}, [](double x) { return x * x; }) / v.size(); //~ dot
}

bool all_positive(const std::vector<double> &v)
{
    return std::ranges::all_of(v, [](double x) { return x > 0; }); //~!
}

auto squares_view(const std::vector<double> &v)
{
    return v | std::views::transform([](double x) { return x * x; }); //~!
}

void generate(std::vector<float> &v, std::mt19937 &g)
{
    std::normal_distribution<float> d;
    std::generate(v.begin(), v.end(), [&] { return d(g); }); //~!
    for (auto &x : v) x = d(g); //~!
}

void clamp_range(std::span<float> s, float lo, float hi)
{
    std::ranges::for_each(s, [=](float &x) { x = std::clamp(x, lo, hi); }); //~ clamp
}

void merge_sorted(const std::vector<double> &a, const std::vector<double> &b, std::vector<double> &c)
{
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(c)); //~!
}

void copy_if_positive(const std::vector<double> &a, std::vector<double> &b)
{
    std::copy_if(a.begin(), a.end(), std::back_inserter(b), [](double x) { return x > 0; }); //~!
    std::copy(a.begin(), a.end(), std::back_inserter(b)); //~!
}

std::vector<double> read_numbers(std::istream &in)
{
    return {std::istream_iterator<double>(in), {}}; //~!
}

std::string to_csv(const std::vector<double> &v)
{
    std::ostringstream out;
    for (double x : v) out << x << ','; //~!
    return out.str();
}

// -------- statistics
struct Stats {
    double mean = 0, m2 = 0;
    long n = 0;
    void push(double x)
    {
        ++n;
        const double d = x - mean;
        mean += d / n;
        m2 += d * (x - mean);
    }
};

Stats collect(const std::vector<double> &v)
{
    Stats s;
    for (double x : v) s.push(x); //~!
    return s;
}

double dispersion(const std::vector<double> &v)
{
    double mean = 0;
    for (const auto x : v) mean += x; //~ mean
    mean /= static_cast<double>(v.size());
    double var = 0;
    for (const auto x : v) var += std::pow(x - mean, 2); //~ variance
    return var / static_cast<double>(v.size());
}

int winner(const std::vector<float> &score)
{
    int best = -1;
    float top = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < static_cast<int>(score.size()); ++i) //~ argmax
        if (score[i] > top) {
            top = score[i];
            best = i;
        }
    return best;
}

std::vector<int> top_k(const std::vector<float> &s, int k)
{
    std::vector<int> idx(s.size());
    std::iota(idx.begin(), idx.end(), 0); //~!
    std::partial_sort(idx.begin(), idx.begin() + k, idx.end(), [&](int a, int b) { return s[a] > s[b]; }); //~!
    return idx;
}

float iou(const float *a, const float *b)
{
    float inter = 1;
    for (int d = 0; d < 2; ++d) //~!
        inter *= std::max(0.f, std::min(a[d + 2], b[d + 2]) - std::max(a[d], b[d]));
    return inter;
}

void standardize(Eigen::MatrixXd &X)
{
    Eigen::RowVectorXd mu = X.colwise().mean(); //~!
    X.rowwise() -= mu;                          //~!
}

double loss(const Eigen::MatrixXd &X, const Eigen::VectorXd &w, const Eigen::VectorXd &y)
{
    Eigen::VectorXd r = X * w - y;  //~ gemv
    return r.squaredNorm();         //~ dot
}

Eigen::MatrixXf gram(const Eigen::MatrixXf &A)
{
    return A.transpose() * A; //~ matmul
}

void mix(std::valarray<double> &a, const std::valarray<double> &b)
{
    a *= b;            //~ mul
    a = std::sqrt(a);  //~ sqrt
    double hi = a.max(); //~ max
    (void)hi;
}

// -------- concurrency, exceptions, odd control flow
double guarded_total(const std::vector<double> &v, std::mutex &m)
{
    double s = 0;
    for (double x : v) { //~!
        std::lock_guard<std::mutex> lock(m);
        s += x;
    }
    return s;
}

double checked_total(const std::vector<double> &v)
{
    double s = 0;
    for (double x : v) { //~!
        if (std::isnan(x)) throw std::runtime_error("nan");
        s += x;
    }
    return s;
}

float reverse_sum(const std::vector<float> &v)
{
    float s = 0;
    for (auto it = v.rbegin(); it != v.rend(); ++it) //~ sum
        s += *it;
    return s;
}

void omp_add(const float *a, const float *b, float *c, long n)
{
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) //~ add
        c[i] = a[i] + b[i];
}

void blocked_transpose(const float *in, float *out, int n)
{
    constexpr int B = 16;
    for (int ii = 0; ii < n; ii += B) //~ transpose
        for (int jj = 0; jj < n; jj += B)
            for (int i = ii; i < std::min(ii + B, n); ++i)
                for (int j = jj; j < std::min(jj + B, n); ++j)
                    out[j * n + i] = in[i * n + j];
}

void in_place_transpose(std::vector<std::vector<double>> &m)
{
    for (std::size_t i = 0; i < m.size(); ++i) //~ transpose
        for (std::size_t j = i + 1; j < m.size(); ++j)
            std::swap(m[i][j], m[j][i]);
}

void softmax_inplace(std::vector<float> &x)
{
    float mx = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) mx = std::max(mx, x[i]); //~ softmax
    float s = 0.f;
    for (auto &e : x) {
        e = std::exp(e - mx);
        s += e;
    }
    for (auto &e : x) e /= s;
}

std::complex<double> dft_bin(const std::vector<std::complex<double>> &x, int k)
{
    std::complex<double> s;
    for (std::size_t n = 0; n < x.size(); ++n) //~!
        s += x[n] * std::polar(1.0, -2 * M_PI * k * n / x.size());
    return s;
}

int hamming(std::string_view a, std::string_view b)
{
    int d = 0;
    for (std::size_t i = 0; i < a.size(); ++i) //~!
        d += a[i] != b[i];
    return d;
}

float lut_apply(std::vector<float> &v, const std::array<float, 256> &lut, const std::vector<unsigned char> &idx)
{
    for (std::size_t i = 0; i < v.size(); ++i) //~!
        v[i] *= lut[idx[i]];
    return v[0];
}

void conv3(const Field &in, Field &out, int w, int h, const float k[3][3])
{
    for (int y = 1; y < h - 1; ++y) //~ conv2d
        for (int x = 1; x < w - 1; ++x) {
            float acc = 0.f;
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                    acc += k[dy + 1][dx + 1] * in[(y + dy) * w + (x + dx)];
            out[y * w + x] = acc;
        }
}

void timed(std::vector<float> &v)
{
    const auto t0 = std::chrono::steady_clock::now();
    for (int r = 0; r < 100; ++r) //~!
        for (auto &x : v) x = std::sqrt(x); //~ sqrt
    (void)t0;
}

} // namespace sim
