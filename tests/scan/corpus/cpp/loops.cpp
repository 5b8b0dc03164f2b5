// SPDX-License-Identifier: MIT
// Loops over containers, pointers and classes of our own.
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <valarray>
#include <vector>

constexpr int N = 256;
constexpr std::size_t kDepth = 64;
using real = double;
using grid = std::vector<std::vector<float>>;

float total(const std::vector<float> &v)
{
    float s = 0;
    for (float x : v) //~ sum
        s += x;
    return s;
}

double total_auto(const std::vector<double> &v)
{
    auto s = 0.0;
    for (const auto &x : v) //~ sum
        s += x;
    return s;
}

double total_span(std::span<const double> v)
{
    double s = 0;
    for (std::size_t i = 0; i < v.size(); ++i) //~ sum
        s += v[i];
    return s;
}

float total_iterator(const std::vector<float> &v)
{
    float s = 0;
    for (std::vector<float>::const_iterator it = v.begin(); it != v.end(); ++it) //~ sum
        s += *it;
    return s;
}

double total_array()
{
    std::array<double, 512> a = samples();
    double s = 0;
    for (auto x : a) //~ sum 512 f64
        s += x;
    return s;
}

double average(const std::vector<double> &v)
{
    double s = 0;
    for (double x : v) //~ mean
        s += x;
    return s / static_cast<double>(v.size());
}

float largest(const std::vector<float> &v)
{
    float m = std::numeric_limits<float>::lowest();
    for (float x : v) //~ max
        m = std::max(m, x);
    return m;
}

double inner(const std::vector<double> &a, const std::vector<double> &b)
{
    double s = 0;
    for (size_t i = 0; i < a.size(); i++) //~ dot
        s += a[i] * b.at(i);
    return s;
}

float length(std::span<const float> v)
{
    float s = 0;
    for (const float x : v) //~ norm2
        s += x * x;
    return std::sqrt(s);
}

void louder(std::vector<float> &v, float gain)
{
    for (auto &x : v) //~ scale
        x *= gain;
}

void squash(std::vector<float> &v)
{
    for (float &x : v) //~ sigmoid
        x = 1.0f / (1.0f + std::exp(-x));
}

void rectify(std::vector<float> &v)
{
    for (auto &x : v) //~ relu
        if (x < 0)
            x = 0;
}

void plus(const std::vector<float> &a, const std::vector<float> &b, std::vector<float> &c)
{
    for (std::size_t i = 0; i < c.size(); ++i) //~ add
        c[i] = a[i] + b[i];
}

void step(std::unique_ptr<float[]> &w, const std::unique_ptr<float[]> &g, int n, float rate)
{
    for (int i = 0; i < n; i++) //~ axpy
        w[i] -= rate * g[i];
}

void limit(std::vector<double> &v, double low, double high)
{
    for (std::size_t i = 0; i < v.size(); i++) //~ clamp
        v[i] = std::clamp(v[i], low, high);
}

grid multiply(const grid &a, const grid &b)
{
    grid c(a.size(), std::vector<float>(b[0].size()));
    for (size_t i = 0; i < a.size(); i++) //~ matmul
        for (size_t j = 0; j < b[0].size(); j++)
            for (size_t k = 0; k < b.size(); k++)
                c[i][j] += a[i][k] * b[k][j];
    return c;
}

void multiply_arrays(const std::array<std::array<double, N>, N> &a, const std::array<std::array<double, N>, N> &b, std::array<std::array<double, N>, N> &c)
{
    for (int i = 0; i < N; ++i) //~ matmul 256x256x256 f64
        for (int j = 0; j < N; ++j) {
            real sum{0};
            for (int k = 0; k < N; ++k)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

class Matrix
{
  public:
    Matrix(int rows, int cols) : rows_(rows), cols_(cols), values_(rows * cols)
    {
    }
    double &operator()(int i, int j)
    {
        return values_[i * cols_ + j];
    }
    double operator()(int i, int j) const
    {
        return values_[i * cols_ + j];
    }
    Matrix operator*(const Matrix &other) const
    {
        Matrix out(rows_, other.cols_);
        for (int i = 0; i < rows_; i++) //~ matmul
            for (int j = 0; j < other.cols_; j++) {
                double s = 0;
                for (int k = 0; k < cols_; k++)
                    s += (*this)(i, k) * other(k, j);
                out(i, j) = s;
            }
        return out;
    }
    Matrix &operator+=(const Matrix &other)
    {
        for (int i = 0; i < rows_ * cols_; i++) //~ add
            values_[i] += other.values_[i];
        return *this;
    }
    double sum() const;
    Matrix transposed() const;

  private:
    int rows_, cols_;
    std::vector<double> values_;
};

double Matrix::sum() const
{
    double s = 0;
    for (double x : values_) //~ sum
        s += x;
    return s;
}

Matrix Matrix::transposed() const
{
    Matrix t(cols_, rows_);
    for (int i = 0; i < rows_; i++) //~ transpose
        for (int j = 0; j < cols_; j++)
            t(j, i) = (*this)(i, j);
    return t;
}

Matrix power(const Matrix &a, const Matrix &b)
{
    return a * b; //~ matmul
}

namespace filters
{
void smooth(const std::vector<float> &in, const std::vector<float> &kernel, std::vector<float> &out)
{
    for (size_t i = 0; i + kernel.size() <= in.size(); i++) { //~ conv2d
        float s = 0;
        for (size_t k = 0; k < kernel.size(); k++)
            s += in[i + k] * kernel[k];
        out[i] = s;
    }
}
} // namespace filters

void dense(const std::vector<float> &w, const std::vector<float> &x, std::vector<float> &y)
{
    auto row = [&](size_t r) {
        float s = 0;
        for (size_t c = 0; c < kDepth; c++) //~ dot 64 f32
            s += w[r * kDepth + c] * x[c];
        return s;
    };
    y[0] = row(0);
}

double whole(const std::vector<std::vector<double>> &m)
{
    double s = 0;
    for (const auto &row : m) //~ sum
        for (double x : row)
            s += x;
    return s;
}

std::vector<float> soften(const std::vector<float> &x)
{
    std::vector<float> y(x.size());
    float m = *std::max_element(x.begin(), x.end()); //~ max
    float s = 0;
    for (size_t i = 0; i < x.size(); i++) { //~ softmax
        y[i] = std::exp(x[i] - m);
        s += y[i];
    }
    for (auto &v : y)
        v /= s;
    return y;
}

double weights(const std::valarray<double> &w)
{
    return w.sum(); //~ sum
}

// ---- not these ----------------------------------------------------------

int count(const std::vector<int> &v)
{
    int s = 0;
    for (int x : v) //~!
        s += x;
    return s;
}

std::string join(const std::vector<std::string> &v)
{
    std::string s;
    for (const auto &x : v) //~!
        s += x;
    return s;
}

template <typename T> T total_of_any(const std::vector<T> &v)
{
    T s{};
    for (const T &x : v) //~!
        s += x;
    return s;
}

double total_of_map(const std::map<std::string, double> &m)
{
    double s = 0;
    for (const auto &[name, value] : m) //~!
        s += value;
    return s;
}

double total_of_list(const std::list<double> &l)
{
    double s = 0;
    for (double x : l) //~!
        s += x;
    return s;
}

struct shape {
    virtual double area() const = 0;
};

double areas(const std::vector<std::unique_ptr<shape>> &all)
{
    double s = 0;
    for (const auto &x : all) //~!
        s += x->area();
    return s;
}

void print(const std::vector<float> &v)
{
    for (float x : v) //~!
        std::cout << x << '\n';
}

bool contains(const std::vector<float> &v, float wanted)
{
    for (float x : v) //~!
        if (x == wanted)
            return true;
    return false;
}

void append(std::vector<float> &to, const std::vector<float> &from)
{
    for (float x : from) //~!
        to.push_back(2 * x);
}

void running(std::vector<double> &v)
{
    for (size_t i = 1; i < v.size(); i++) //~!
        v[i] += v[i - 1];
}

void fill(std::vector<float> &v)
{
    for (auto &x : v) //~!
        x = 1.0f;
}

float until(const std::vector<float> &v, float limit)
{
    float s = 0;
    for (float x : v) { //~!
        if (s > limit)
            break;
        s += x;
    }
    return s;
}

unsigned hash(const std::string &s)
{
    unsigned h = 0;
    for (char c : s) //~!
        h = h * 31 + c;
    return h;
}

void guarded(std::vector<float> &v)
{
    for (float &x : v) { //~!
        if (std::isnan(x))
            throw std::runtime_error("NaN");
        x *= 2;
    }
}

double flagged(const std::vector<bool> &v)
{
    double s = 0;
    for (bool x : v) //~!
        s += x;
    return s;
}

void scatter(std::vector<float> &out, const std::vector<float> &v, const std::vector<int> &to)
{
    for (size_t i = 0; i < v.size(); i++) //~!
        out[to[i]] += v[i];
}

double bytes(const std::vector<uint8_t> &v)
{
    double s = 0;
    for (auto x : v) //~!
        s += x;
    return s;
}

#if 0
float old_total(const std::vector<float> &v)
{
    float s = 0;
    for (float x : v) //~!
        s += x;
    return s;
}
#endif

const char *text = "for (float x : v) s += x;"; //~!
// for (float x : v) s += x; //~!

/* ================= elements that a method hands out */
struct grid {
    std::vector<float> cell;
    long width;
    const float &at(long r, long c) const
    {
        assert(c < width);
        return cell[r * width + c];
    }
    float row_dot(const float *v, long r) const;
};

float grid::row_dot(const float *v, long r) const
{
    float s = 0;
    for (long c = 0; c < width; c++) //~ dot
        s += at(r, c) * v[c];
    return s;
}
