// SPDX-License-Identifier: MIT
// Pieces as they stand in programs: models, filters, solvers, games.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <vector>
#include <Eigen/Dense>

using Eigen::MatrixXf;
using Eigen::VectorXf;

struct Tensor {
    int rows = 0, cols = 0;
    std::vector<float> data;

    float &at(int r, int c)
    {
        return data[r * cols + c];
    }
    float operator()(int r, int c) const
    {
        return data[r * cols + c];
    }
};

Tensor matmul(const Tensor &a, const Tensor &b)
{
    Tensor out;
    for (int i = 0; i < a.rows; ++i) //~ matmul
        for (int j = 0; j < b.cols; ++j) {
            float acc = 0.f;
            for (int k = 0; k < a.cols; ++k)
                acc += a.data[i * a.cols + k] * b.data[k * b.cols + j];
            out.data[i * out.cols + j] = acc;
        }
    return out;
}

Tensor chain(const Tensor &a, const Tensor &b, const Tensor &c)
{
    return matmul(matmul(a, b), c); //~ matmul matmul
}

Tensor relu(Tensor x)
{
    for (auto &v : x.data) //~ relu
        v = std::max(0.0f, v);
    return x;
}

void add_bias(Tensor &x, const std::vector<float> &bias)
{
    for (int r = 0; r < x.rows; r++) //~ add
        for (int c = 0; c < x.cols; c++)
            x.data[r * x.cols + c] += bias[c];
}

struct Dense {
    MatrixXf w;
    VectorXf b;

    VectorXf forward(const VectorXf &x) const
    {
        return w * x + b; //~ gemv
    }
    MatrixXf gradient(const MatrixXf &delta, const MatrixXf &input) const
    {
        MatrixXf g = delta * input.transpose(); //~ matmul
        g /= 32.0f;                             //~ scale
        return g;
    }
};

double silhouette(const std::vector<double> &d)
{
    const double total = std::accumulate(d.cbegin(), d.cend(), 0.0); //~ sum
    return total / d.size();
}

class Filter
{
  public:
    explicit Filter(std::vector<double> taps) : taps_(std::move(taps))
    {
    }
    std::vector<double> apply(const std::vector<double> &x) const
    {
        std::vector<double> y(x.size());
        for (std::size_t n = taps_.size(); n < x.size(); ++n) { //~ conv2d
            double s = 0.0;
            for (std::size_t k = 0; k < taps_.size(); ++k)
                s += taps_[k] * x[n - k];
            y[n] = s;
        }
        return y;
    }
    double push(double x)
    {
        history_.push_back(x); //~!
        return std::inner_product(taps_.begin(), taps_.end(), history_.begin(), 0.0); //~ dot
    }

  private:
    std::vector<double> taps_, history_;
};

float cosine(const float *a, const float *b, std::size_t n)
{
    float ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < n; ++i) { //~ dot
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return ab / std::sqrt(aa * bb);
}

void momentum(std::vector<float> &velocity, std::vector<float> &weights, const std::vector<float> &gradient, float rate, float mu)
{
    for (size_t i = 0; i < weights.size(); ++i) //~ axpy
        velocity[i] = mu * velocity[i] + gradient[i];
    for (size_t i = 0; i < weights.size(); ++i) //~ axpy
        weights[i] -= rate * velocity[i];
}

std::pair<float, float> range(const std::vector<float> &v)
{
    float low = v.front(), high = v.front();
    for (float x : v) //~ min
        low = std::min(low, x);
    for (float x : v) //~ max
        if (x > high)
            high = x;
    return {low, high};
}

void gain(float *buffer, int frames, float db)
{
    const float factor = std::pow(10.0f, db / 20.0f);
    std::transform(buffer, buffer + frames, buffer, [factor](float s) { return s * factor; }); //~ scale
}

void stereo(const float *in, float *left, float *right, int frames)
{
    for (int i = 0; i < frames; ++i) { //~!
        left[i] = in[2 * i];
        right[i] = in[2 * i + 1];
    }
}

double entropy(const std::vector<double> &p)
{
    double h = 0;
    for (double x : p) //~ fused
        h -= x * std::log2(x);
    return h;
}

// ---- not these ----------------------------------------------------------

double priced(const std::map<std::string, double> &basket)
{
    double total = 0;
    for (auto it = basket.begin(); it != basket.end(); ++it) //~!
        total += it->second;
    return total;
}

void spawn(std::vector<std::thread> &pool, std::vector<float> &v)
{
    for (auto &t : pool) //~!
        t = std::thread([&v] { work(v); });
}

template <class Scalar> Scalar norm(const std::vector<Scalar> &v)
{
    Scalar s = 0;
    for (size_t i = 0; i < v.size(); ++i) //~ norm2
        s += v[i] * v[i];
    return std::sqrt(s);
}

void exponential(std::vector<double> &v, double a)
{
    for (size_t i = 1; i < v.size(); ++i) //~!
        v[i] = a * v[i] + (1 - a) * v[i - 1];
}

bool valid(const std::vector<float> &v)
{
    return std::all_of(v.begin(), v.end(), [](float x) { return std::isfinite(x); }); //~!
}

int count_if_positive(const std::vector<double> &v)
{
    int n = 0;
    for (double x : v) //~!
        n += x > 0;
    return n;
}

float clamp_one(float v)
{
    return std::clamp(v, 0.0f, 1.0f); //~!
}

void sparse(const std::vector<int> &row, const std::vector<int> &col, const std::vector<double> &val, const std::vector<double> &x, std::vector<double> &y)
{
    for (size_t i = 0; i + 1 < row.size(); ++i) //~!
        for (int k = row[i]; k < row[i + 1]; ++k) //~!
            y[i] += val[k] * x[col[k]];
}

std::ostream &operator<<(std::ostream &out, const std::vector<float> &v)
{
    for (float x : v) //~!
        out << x << ' ';
    return out;
}

glm::mat4 view(const glm::mat4 &a, const glm::mat4 &b)
{
    return a * b; //~!
}

std::unique_ptr<Layer> make_attention(int heads)
{
    return std::make_unique<Attention>(heads); //~!
}

void benchmark()
{
    run_benchmark("matmul", [] { return 0; }); //~!
}
