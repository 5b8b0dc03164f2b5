// SPDX-License-Identifier: MIT
// The same things in other hands: other styles, names and detours.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <ranges>
#include <vector>
#include <Eigen/Core>

namespace math
{
template <typename Real> using series = std::vector<Real>;
using samples = std::vector<float>;
typedef Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic> DenseMatrix;

class Layer
{
    std::vector<float> weights_, bias_;
    std::size_t in_ = 0, out_ = 0;

  public:
    void forward(const float *x, float *y) const
    {
        for (std::size_t o = 0; o < out_; ++o) { //~ gemv f32
            float sum = bias_[o];
            for (std::size_t i = 0; i < in_; ++i)
                sum += weights_[o * in_ + i] * x[i];
            y[o] = std::tanh(sum);
        }
    }
    void decay(float rate)
    {
        for (auto &w : weights_) //~ scale
            w *= (1.0f - rate);
    }
    float energy() const noexcept;
};

float Layer::energy() const noexcept
{
    float e{};
    for (auto w : this->weights_) //~ dot
        e += w * w;
    return e;
}

double mean(const samples &v)
{
    return std::accumulate(std::begin(v), std::end(v), 0.0) / static_cast<double>(v.size()); //~ mean
}

float top(const samples &v)
{
    return *std::ranges::max_element(v); //~ max
}

DenseMatrix covariance(const DenseMatrix &x)
{
    return (x.transpose() * x) / double(x.rows()); //~ matmul
}

void update(Eigen::Ref<Eigen::VectorXf> w, const Eigen::VectorXf &g, float rate)
{
    w -= rate * g; //~ scale
}

void residual(const Eigen::MatrixXd &a, const Eigen::VectorXd &x, const Eigen::VectorXd &b)
{
    const double error = (a * x - b).norm(); //~ gemv norm2
    report(error);
}

std::vector<double> scaled(std::vector<double> v, double by)
{
    std::ranges::transform(v, v.begin(), [by](double x) { return x * by; }); //~ scale
    return v;
}

void blend(samples &a, const samples &b)
{
    auto *p = a.data();
    const auto *q = b.data();
    const auto n = a.size();
    for (std::size_t i = 0; i < n; i++) //~ add
        p[i] += q[i];
}

void rows(std::vector<std::vector<double>> &m)
{
    for (auto &row : m) { //~ softmax
        double most = row[0];
        for (double x : row)
            most = std::max(most, x);
        double total = 0;
        for (double &x : row) {
            x = std::exp(x - most);
            total += x;
        }
        for (double &x : row)
            x /= total;
    }
}

template <std::size_t N> double dot(const std::array<double, N> &a, const std::array<double, N> &b)
{
    double r = 0;
    for (std::size_t i = 0; i < N; ++i) //~ dot
        r += a[i] * b[i];
    return r;
}

double distance(const std::vector<double> &a, const std::vector<double> &b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) //~ norm2
        sum += std::pow(a[i] - b[i], 2);
    return std::sqrt(sum);
}

void lambda_in_loop(std::vector<float> &v)
{
    const auto activate = [&v] {
        for (float &x : v) //~ relu
            x = x > 0.f ? x : 0.f;
    };
    activate();
}

void heap(std::size_t n)
{
    auto buffer = std::make_unique<float[]>(n);
    std::vector<float> out(n);
    for (std::size_t i = 0; i < n; ++i) //~ copy
        out[i] = buffer[i];
}

void iterators(std::vector<float>::iterator first, std::vector<float>::iterator last)
{
    for (auto it = first; it != last; ++it) //~ abs
        *it = std::fabs(*it);
}

// ---- not these ----------------------------------------------------------

template <typename T> class Grid
{
    std::vector<T> cells;

  public:
    T total() const
    {
        T s{};
        for (const auto &c : cells) //~!
            s += c;
        return s;
    }
};

struct particle {
    double x, v;
};

void move(std::vector<particle> &all, double dt)
{
    for (auto &p : all) //~!
        p.x += dt * p.v;
}

double area(const std::vector<std::pair<double, double>> &points)
{
    double a = 0;
    for (std::size_t i = 0; i < points.size(); i++) //~!
        a += points[i].first * points[i].second;
    return a;
}

void log_all(const std::vector<double> &v)
{
    for (double x : v) //~!
        LOG(INFO) << x;
}

std::size_t longest(const std::vector<std::string> &names)
{
    std::size_t n = 0;
    for (const auto &s : names) //~!
        n = std::max(n, s.size());
    return n;
}

double first_negative(const std::vector<double> &v)
{
    return *std::find_if(v.begin(), v.end(), [](double x) { return x < 0; }); //~!
}

int votes(const std::vector<int> &v)
{
    return std::reduce(v.begin(), v.end()); //~!
}

std::vector<int> rounded(const std::vector<double> &v)
{
    std::vector<int> out(v.size());
    std::transform(v.begin(), v.end(), out.begin(), [](double x) { return static_cast<int>(x); }); //~!
    return out;
}

std::complex<double> spectrum(const std::vector<std::complex<double>> &v)
{
    return std::accumulate(v.begin(), v.end(), std::complex<double>{}); //~!
}

void counted(std::vector<float> &v, std::atomic<int> &done)
{
    for (auto &x : v) { //~!
        x *= 2;
        ++done;
    }
}

Eigen::Vector3f cross(const Eigen::Vector3f &a, const Eigen::Vector3f &b)
{
    return a.cross(b); //~!
}

bool same(const Eigen::MatrixXd &a, const Eigen::MatrixXd &b)
{
    return a.rows() == b.rows() && a.isApprox(b); //~!
}

class Money
{
    double amount[2];

  public:
    Money operator*(int times) const; //~!
};

Money twice(const Money &m)
{
    return m * 2; //~!
}

void nested(std::vector<std::vector<float>> &all)
{
    for (auto &v : all) //~!
        std::sort(v.begin(), v.end());
}

double simpson(double (*f)(double), double a, double h, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~!
        s += f(a + i * h);
    return s;
}
} // namespace math
