// SPDX-License-Identifier: MIT
// By people who had not met the judges: algorithms, classes, libraries.
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <execution>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <unordered_map>
#include <valarray>
#include <vector>

namespace lab {

using Vec = std::vector<double>;
using Mat = std::vector<std::vector<double>>;
template <typename T> using Buf = std::unique_ptr<T[]>;

template <typename T> T dot_of(const std::vector<T> &a, const std::vector<T> &b)
{
    T s{};
    for (std::size_t i = 0; i < a.size(); ++i) //~ dot
        s += a[i] * b[i];
    return s;
}

double weighted(const Vec &w, const Vec &x)
{
    return std::inner_product(w.begin(), w.end(), x.begin(), 0.0); //~ dot
}

double weighted_par(const Vec &w, const Vec &x)
{
    return std::transform_reduce(std::execution::par, w.cbegin(), w.cend(), x.cbegin(), 0.0); //~ dot
}

double total(const Vec &v)
{
    return std::reduce(std::execution::unseq, begin(v), end(v)); //~ sum
}

double largest_magnitude(const Vec &v)
{
    double m = 0;
    for (auto x : v) //~ max
        m = std::max(m, std::abs(x));
    return m;
}

double top(const Vec &v)
{
    return *std::max_element(v.begin(), v.end()); //~ max
}

auto where(const Vec &v)
{
    return std::distance(v.begin(), std::max_element(v.begin(), v.end())); //~ argmax
}

auto smallest_by_key(const std::vector<std::pair<int, double>> &v)
{
    return std::min_element(v.begin(), v.end(), [](auto &a, auto &b) { return a.second < b.second; }); //~!
}

void plus(const Vec &a, const Vec &b, Vec &c)
{
    std::transform(a.begin(), a.end(), b.begin(), c.begin(), std::plus<>{}); //~ add
}

void root(Vec &a)
{
    std::transform(a.begin(), a.end(), a.begin(), [](double x) { return std::sqrt(x); }); //~ sqrt
}

void each(Vec &a, double k)
{
    std::for_each(a.begin(), a.end(), [k](double &x) { x *= k; }); //~ scale
}

void ranges_exp(std::vector<float> &v)
{
    std::ranges::transform(v, v.begin(), [](float x) { return std::exp(x); }); //~ exp
}

void ranges_copy(std::span<const float> in, std::span<float> out)
{
    std::ranges::copy(in, out.begin()); //~ copy
}

void to_upper(std::string &s)
{
    std::transform(s.begin(), s.end(), s.begin(), ::toupper); //~!
}

std::string join(const std::vector<std::string> &v)
{
    return std::accumulate(v.begin(), v.end(), std::string{}); //~!
}

int sum_ints(const std::vector<int> &v)
{
    return std::accumulate(v.begin(), v.end(), 0); //~!
}

double product_all(const Vec &v)
{
    return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<double>()); //~!
}

double squares(const Vec &v)
{
    return std::accumulate(v.begin(), v.end(), 0.0, [](double s, double x) { return s + x * x; }); //~ dot
}

double length_of(const Vec &v)
{
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); //~ norm2
}

void prefix(const Vec &v, Vec &out)
{
    std::partial_sum(v.begin(), v.end(), out.begin()); //~!
    std::inclusive_scan(v.begin(), v.end(), out.begin()); //~!
    std::adjacent_difference(v.begin(), v.end(), out.begin()); //~!
}

void order(Vec &v)
{
    std::sort(v.begin(), v.end());     //~!
    std::iota(v.begin(), v.end(), 0.0); //~!
    std::fill(v.begin(), v.end(), 1.0); //~!
    std::reverse(v.begin(), v.end());   //~!
}

double mean_of(const Vec &v)
{
    return std::accumulate(v.begin(), v.end(), 0.0) / v.size(); //~ mean
}

double map_total(const std::map<int, double> &m)
{
    double s = 0;
    for (const auto &[k, x] : m) //~!
        s += x;
    return s;
}

double list_total(const std::list<double> &m)
{
    double s = 0;
    for (double x : m) //~!
        s += x;
    return s;
}

double range_total(const std::vector<float> &m)
{
    float s = 0;
    for (const float &x : m) //~ sum
        s += x;
    return s;
}

Mat multiply(const Mat &a, const Mat &b)
{
    const auto n = a.size(), m = b[0].size(), k = b.size();
    Mat c(n, std::vector<double>(m, 0.0));
    for (std::size_t i = 0; i < n; ++i) //~ matmul
        for (std::size_t p = 0; p < k; ++p)
            for (std::size_t j = 0; j < m; ++j)
                c[i][j] += a[i][p] * b[p][j];
    return c;
}

Vec apply(const Mat &a, const Vec &x)
{
    Vec y(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) //~!
        y[i] = std::inner_product(a[i].begin(), a[i].end(), x.begin(), 0.0); //~ dot
    return y;
}

Vec apply_rows(const Mat &a, const Vec &x)
{
    Vec y;
    y.reserve(a.size());
    for (const auto &row : a) { //~ gemv
        double s = 0;
        for (std::size_t j = 0; j < row.size(); ++j)
            s += row[j] * x[j];
        y.push_back(s);
    }
    return y;
}

class Grid {
public:
    Grid(int w, int h) : w_(w), h_(h), cells_(w * h) {}
    float &operator()(int x, int y) { return cells_[y * w_ + x]; }
    float operator()(int x, int y) const { return cells_[y * w_ + x]; }

    void scale(float s)
    {
        for (auto &c : cells_) //~ scale
            c *= s;
    }

    Grid &operator+=(const Grid &o)
    {
        for (std::size_t i = 0; i < cells_.size(); i++) //~ add
            cells_[i] += o.cells_[i];
        return *this;
    }

    float sum() const
    {
        return std::accumulate(cells_.begin(), cells_.end(), 0.0f); //~ sum
    }

    void laplace(Grid &out) const
    {
        for (int y = 1; y < h_ - 1; y++) //~!
            for (int x = 1; x < w_ - 1; x++)
                out(x, y) = (*this)(x - 1, y) + (*this)(x + 1, y) + (*this)(x, y - 1) + (*this)(x, y + 1) - 4 * (*this)(x, y);
    }

private:
    int w_, h_;
    std::vector<float> cells_;
};

template <int N> struct Small {
    std::array<double, N * N> e;

    Small operator*(const Small &o) const
    {
        Small r{};
        for (int i = 0; i < N; ++i) //~ matmul
            for (int j = 0; j < N; ++j)
                for (int k = 0; k < N; ++k)
                    r.e[i * N + j] += e[i * N + k] * o.e[k * N + j];
        return r;
    }
};

void eigen(const Eigen::MatrixXd &A, const Eigen::MatrixXd &B, const Eigen::VectorXd &x)
{
    Eigen::MatrixXd C = A * B;                    //~ matmul
    Eigen::VectorXd y = A * x;                    //~ gemv
    double d = x.dot(y);                          //~ dot
    double n = (x - y).norm();                    //~ norm2
    Eigen::MatrixXd t = A.transpose();            //~ transpose
    Eigen::MatrixXd half = 0.5 * A;               //~ scale
    double trace = A.trace();                     //~!
    Eigen::VectorXd s = A.ldlt().solve(x);        //~!
    Eigen::MatrixXd inv = A.inverse();            //~!
    double det = A.determinant();                 //~!
    Eigen::MatrixXd z = Eigen::MatrixXd::Zero(3, 3); //~!
    C += A;                                       //~ add
    int rows = A.rows() * A.cols();               //~!
    double big = A.maxCoeff();                    //~ max
    (void)d, (void)n, (void)trace, (void)det, (void)rows, (void)big;
}

void valarrays(std::valarray<float> &a, const std::valarray<float> &b)
{
    a += b;                     //~ add
    float s = b.sum();          //~ sum
    std::valarray<float> c = std::exp(b); //~ exp
    (void)s;
}

void unique_buffers(const Buf<float> &a, std::unique_ptr<float[]> &b, int n)
{
    for (int i = 0; i < n; ++i) //~ mul
        b[i] *= a[i];
}

void local_lambda(const std::vector<float> &in, std::vector<float> &out)
{
    auto relu = [](float v) { return v > 0.f ? v : 0.f; };
    std::transform(in.begin(), in.end(), out.begin(), relu); //~ relu
}

inline float sigma(float x)
{
    return 1.0f / (1.0f + std::exp(-x));
}

void activations(std::vector<float> &v)
{
    for (auto &x : v) //~ sigmoid
        x = sigma(x);
}

void clamp_all(std::vector<float> &v)
{
    for (auto it = v.begin(); it != v.end(); ++it) //~ clamp
        *it = std::clamp(*it, 0.0f, 1.0f);
}

void softmax(std::span<float> v)
{
    const float top = *std::max_element(v.begin(), v.end()); //~ max
    float z = 0;
    for (auto &x : v) //~ softmax
        z += x = std::exp(x - top);
    for (auto &x : v)
        x /= z;
}

void layer_norm(std::vector<float> &v, const std::vector<float> &g, const std::vector<float> &b)
{
    const float mu = std::accumulate(v.begin(), v.end(), 0.f) / v.size(); //~ mean
    float var = 0;
    for (float x : v) //~ layernorm
        var += (x - mu) * (x - mu);
    var /= v.size();
    const float r = 1.f / std::sqrt(var + 1e-5f);
    for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = (v[i] - mu) * r * g[i] + b[i];
}

void complex_scale(std::vector<std::complex<float>> &v, float k)
{
    for (auto &z : v) //~!
        z *= k;
}

double nested_find(const Mat &m, double x)
{
    for (const auto &row : m) //~!
        for (double v : row) //~!
            if (v == x)
                return v;
    return 0;
}

void erase_small(Vec &v)
{
    v.erase(std::remove_if(v.begin(), v.end(), [](double x) { return x < 1e-9; }), v.end()); //~!
}

int count_big(const Vec &v)
{
    return std::count_if(v.begin(), v.end(), [](double x) { return x > 1; }); //~!
}

void gather(const Vec &v, const std::vector<int> &idx, Vec &out)
{
    for (std::size_t i = 0; i < idx.size(); ++i) //~!
        out[i] = v[idx[i]];
}

void word_count(const std::vector<std::string> &words, std::unordered_map<std::string, int> &n)
{
    for (const auto &w : words) //~!
        ++n[w];
}

void ema(Vec &v, double a)
{
    double s = v.front();
    for (auto &x : v) { //~!
        s = a * x + (1 - a) * s;
        x = s;
    }
}

double norm_inf_diff(const Vec &a, const Vec &b)
{
    double m = 0;
    for (size_t i = 0; i < a.size(); ++i) //~ fused
        m = std::max(m, std::fabs(a[i] - b[i]));
    return m;
}

double squared_distance(const Vec &a, const Vec &b)
{
    double d = 0;
    for (size_t i = 0; i < a.size(); ++i) { //~ dot
        auto e = a[i] - b[i];
        d += e * e;
    }
    return d;
}

float cosine(const float *a, const float *b, int n)
{
    float ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < n; i++) { //~ dot
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return ab / std::sqrt(aa * bb);
}

struct Particle {
    double x, v;
};

void step(std::vector<Particle> &ps, double dt)
{
    for (auto &p : ps) //~!
        p.x += p.v * dt;
}

struct Particles {
    std::vector<double> x, v;
    void step(double dt)
    {
        for (std::size_t i = 0; i < x.size(); ++i) //~ axpy
            x[i] += v[i] * dt;
    }
    double momentum(const Vec &mass) const
    {
        double p = 0.0;
        for (std::size_t i = 0, n = v.size(); i < n; ++i) //~ dot
            p += mass[i] * v[i];
        return p;
    }
};

template <class It> double sum_iter(It first, It last)
{
    double s = 0;
    for (; first != last; ++first) //~!
        s += *first;
    return s;
}

void print(const Vec &v)
{
    for (auto x : v) //~!
        std::printf("%g\n", x);
}

void push_filtered(const Vec &v, Vec &out)
{
    for (auto x : v) //~!
        if (x > 0)
            out.push_back(x);
}

void backwards(const Vec &v, Vec &out)
{
    for (auto i = v.size(); i-- > 0;) //~ neg
        out[i] = -v[i];
}

void saxpy_lambda(float a, const std::vector<float> &x, std::vector<float> &y)
{
    std::transform(x.begin(), x.end(), y.begin(), y.begin(), [=](float xi, float yi) { return a * xi + yi; }); //~ axpy
}

void transposed(const Mat &a, Mat &t)
{
    for (size_t i = 0; i < a.size(); i++) //~ transpose
        for (size_t j = 0; j < a[i].size(); j++)
            t[j][i] = a[i][j];
}

std::array<float, 256> table()
{
    std::array<float, 256> t{};
    for (int i = 0; i < 256; ++i) //~!
        t[i] = std::sqrt(i / 255.0f);
    return t;
}

double monte(std::vector<double> &v, double (*f)(double))
{
    double s = 0;
    for (double x : v) //~!
        s += f(x);
    return s;
}

void conv(const std::vector<float> &in, const std::vector<float> &k, std::vector<float> &out)
{
    for (size_t i = 0; i + k.size() <= in.size(); ++i) { //~ conv2d
        float acc = 0;
        for (size_t j = 0; j < k.size(); ++j)
            acc += in[i + j] * k[j];
        out[i] = acc;
    }
}

} // namespace lab
