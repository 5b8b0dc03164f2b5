// SPDX-License-Identifier: MIT
// By people who had not met the judges: plugins, contests, matrices, threads.
#include <Eigen/Core>
#include <armadillo>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std;

typedef vector<float> VF;
typedef vector<vector<float>> VVF;

// ---------------------------------------------------------------- a plugin
class GainProcessor {
public:
    void processBlock(float **channelData, int numChannels, int numSamples)
    {
        for (int channel = 0; channel < numChannels; ++channel) //~ scale
        {
            auto *data = channelData[channel];
            for (int i = 0; i < numSamples; ++i)
                data[i] *= gain;
        }
    }

    void mixInto(float *dest, const float *src, int numSamples) const noexcept
    {
        for (int i = 0; i < numSamples; ++i) //~ axpy
            dest[i] += src[i] * gain;
    }

    float processSample(float x)
    {
        z1 = x * a0 + z1 * b1;
        return z1;
    }

    void filter(float *x, int n)
    {
        for (int i = 0; i < n; ++i) //~!
            x[i] = processSample(x[i]);
    }

    void ramp(float *x, int n)
    {
        for (int i = 0; i < n; ++i) { //~!
            x[i] *= current;
            current += step;
        }
    }

    void saturate(float *x, int n)
    {
        for (auto *p = x, *end = x + n; p != end; ++p) //~ tanh
            *p = std::tanh(*p);
    }

private:
    float gain = 1.0f, z1 = 0, a0 = 1, b1 = 0, current = 0, step = 0;
};

// ---------------------------------------------------------------- contest style
long long solve(const vector<int> &a)
{
    long long s = 0;
    for (auto x : a) s += x; //~!
    return s;
}

double avg(const vector<double> &a)
{
    double s = 0;
    for (auto x : a) s += x; //~ mean
    return s / a.size();
}

VVF mul(const VVF &A, const VVF &B)
{
    int n = A.size(), m = B[0].size(), p = B.size();
    VVF C(n, VF(m));
    for (int i = 0; i < n; i++) //~ matmul
        for (int j = 0; j < m; j++)
            for (int k = 0; k < p; k++)
                C[i][j] += A[i][k] * B[k][j];
    return C;
}

vector<vector<long long>> mulmod(const vector<vector<long long>> &A, const vector<vector<long long>> &B)
{
    int n = A.size();
    vector<vector<long long>> C(n, vector<long long>(n));
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] = (C[i][j] + A[i][k] * B[k][j]) % 1000000007;
    return C;
}

double knapsack(vector<double> &dp, const vector<int> &w, const vector<double> &v)
{
    for (size_t i = 0; i < w.size(); i++) //~!
        for (int c = (int)dp.size() - 1; c >= w[i]; c--)
            dp[c] = max(dp[c], dp[c - w[i]] + v[i]);
    return dp.back();
}

// ---------------------------------------------------------------- a matrix class
template <typename T> class Matrix {
public:
    Matrix(size_t r, size_t c) : rows_(r), cols_(c), d_(r * c) {}
    T &at(size_t i, size_t j) { return d_[i * cols_ + j]; }
    const T &at(size_t i, size_t j) const { return d_[i * cols_ + j]; }

private:
    size_t rows_, cols_;
    vector<T> d_;
};

struct DMatrix {
    int rows, cols;
    vector<double> data;
    double &operator()(int i, int j) { return data[i * cols + j]; }
    double operator()(int i, int j) const { return data[i * cols + j]; }
};

DMatrix operator*(const DMatrix &a, const DMatrix &b)
{
    DMatrix c{a.rows, b.cols, vector<double>(a.rows * b.cols)};
    for (int i = 0; i < a.rows; ++i) //~ matmul
        for (int j = 0; j < b.cols; ++j) {
            double s = 0;
            for (int k = 0; k < a.cols; ++k)
                s += a(i, k) * b(k, j);
            c(i, j) = s;
        }
    return c;
}

DMatrix transpose(const DMatrix &a)
{
    DMatrix t{a.cols, a.rows, vector<double>(a.data.size())};
    for (int i = 0; i < a.rows; ++i) //~ transpose
        for (int j = 0; j < a.cols; ++j)
            t(j, i) = a(i, j);
    return t;
}

DMatrix &operator+=(DMatrix &a, const DMatrix &b)
{
    transform(a.data.begin(), a.data.end(), b.data.begin(), a.data.begin(), plus<double>()); //~ add
    return a;
}

void scaleRow(DMatrix &a, int r, double f)
{
    for (int j = 0; j < a.cols; ++j) //~ scale
        a(r, j) *= f;
}

void swapRows(DMatrix &a, int r, int s)
{
    for (int j = 0; j < a.cols; ++j) //~!
        std::swap(a(r, j), a(s, j));
}

double determinant(DMatrix a)
{
    double det = 1;
    for (int i = 0; i < a.rows; ++i) { //~!
        int p = i;
        for (int r = i + 1; r < a.rows; ++r) //~!
            if (fabs(a(r, i)) > fabs(a(p, i)))
                p = r;
        det *= a(i, i);
    }
    return det;
}

// ---------------------------------------------------------------- statistics with lambdas
double variance(const vector<double> &v, double mean)
{
    double acc = 0.0;
    for_each(v.begin(), v.end(), [&](const double d) { acc += (d - mean) * (d - mean); }); //~ variance
    return acc / (v.size() - 1);
}

double stdev(const vector<double> &v)
{
    double mean = accumulate(v.begin(), v.end(), 0.0) / v.size(); //~ mean
    double sq = inner_product(v.begin(), v.end(), v.begin(), 0.0); //~ dot
    return sqrt(sq / v.size() - mean * mean);
}

vector<double> normalized(vector<double> v)
{
    auto [lo, hi] = minmax_element(v.begin(), v.end()); //~!
    double a = *lo, b = *hi;
    transform(v.begin(), v.end(), v.begin(), [=](double x) { return (x - a) / (b - a); }); //~!
    return v;
}

size_t argbest(const span<const float> s)
{
    size_t best = 0;
    for (size_t i = 1; i < s.size(); ++i) //~ argmax
        if (s[i] > s[best]) best = i;
    return best;
}

float l1(const span<const float> s)
{
    return accumulate(s.begin(), s.end(), 0.f, [](float a, float x) { return a + fabs(x); }); //~ norm1
}

vector<float> sqrtAll(const vector<float> &v)
{
    vector<float> out(v.size());
    transform(v.cbegin(), v.cend(), out.begin(), [](auto x) { return sqrtf(x); }); //~ sqrt
    return out;
}

int histogram(const vector<float> &v, vector<int> &bins)
{
    for (float x : v) //~!
        ++bins[static_cast<int>(x * bins.size())];
    return 0;
}

optional<double> firstNegative(const vector<double> &v)
{
    auto it = find_if(v.begin(), v.end(), [](double x) { return x < 0; }); //~!
    if (it == v.end()) return nullopt;
    return *it;
}

double dequeSum(const deque<double> &q)
{
    double s = 0;
    for (double x : q) s += x; //~!
    return s;
}

double heapSum(priority_queue<double> q)
{
    double s = 0;
    while (!q.empty()) { //~!
        s += q.top();
        q.pop();
    }
    return s;
}

void atomicAdd(vector<atomic<float>> &v, const vector<float> &d)
{
    for (size_t i = 0; i < v.size(); i++) //~!
        v[i].store(v[i].load() + d[i]);
}

// ---------------------------------------------------------------- images
struct Image {
    int width, height, channels;
    vector<uint8_t> bytes;
};

void invert(Image &im)
{
    for (auto &b : im.bytes) //~!
        b = 255 - b;
}

void toFloat(const Image &im, vector<float> &out)
{
    for (size_t i = 0; i < im.bytes.size(); ++i) //~!
        out[i] = im.bytes[i] / 255.f;
}

void gaussian(const vector<float> &src, vector<float> &dst, int w, int h, const array<float, 5> &k)
{
    for (int y = 0; y < h; ++y) { //~ conv2d
        for (int x = 2; x < w - 2; ++x) {
            float s = 0;
            for (int t = 0; t < 5; ++t)
                s += src[y * w + x + t - 2] * k[t];
            dst[y * w + x] = s;
        }
    }
}

void threshold(vector<float> &v, float t)
{
    for (auto &x : v) x = x > t ? 1.f : 0.f; //~!
}

void erode(const vector<float> &s, vector<float> &d, int w, int h)
{
    for (int y = 1; y < h - 1; ++y) //~ pooling
        for (int x = 1; x < w - 1; ++x) {
            float m = s[y * w + x];
            for (int j = -1; j <= 1; ++j)
                for (int i = -1; i <= 1; ++i)
                    m = std::min(m, s[(y + j) * w + x + i]);
            d[y * w + x] = m;
        }
}

// ---------------------------------------------------------------- libraries
arma::vec solveIt(const arma::mat &A, const arma::vec &b)
{
    arma::vec r = b - A * b;        //~ gemv
    double n = arma::norm(r);       //~ norm2
    arma::mat AtA = A.t() * A;      //~ matmul
    if (n > 1)
        cout << "large" << endl;    //~!
    return arma::solve(AtA, r);     //~!
}

Eigen::VectorXf attend(const Eigen::MatrixXf &K, const Eigen::MatrixXf &V, const Eigen::VectorXf &q)
{
    Eigen::VectorXf s = K * q;                //~ gemv
    s /= std::sqrt(float(q.size()));          //~ scale
    float m = s.maxCoeff();                   //~ max
    Eigen::VectorXf e = (s.array() - m).exp(); //~ exp
    e /= e.sum();                             //~ sum
    return V.transpose() * e;                 //~ gemv
}

// ---------------------------------------------------------------- threads and odd loops
double parallelSum(const vector<double> &v, int nt)
{
    vector<double> part(nt);
    vector<thread> pool;
    for (int t = 0; t < nt; ++t) //~!
        pool.emplace_back([&, t] {
            for (size_t i = t; i < v.size(); i += nt) //~ sum
                part[t] += v[i];
        });
    for (auto &th : pool) th.join(); //~!
    return accumulate(part.begin(), part.end(), 0.0); //~ sum
}

void untilConverged(vector<double> &x)
{
    double change = 1;
    while (change > 1e-9) { //~!
        change = 0;
        for (auto &v : x) { //~!
            double old = v;
            v = 0.5 * (v + 2 / v);
            change = max(change, fabs(v - old));
        }
    }
}

double seriesExp(double x)
{
    double term = 1, s = 1;
    for (int k = 1; k < 30; ++k) { //~!
        term *= x / k;
        s += term;
    }
    return s;
}

void chunks(const vector<float> &in, vector<float> &out, size_t n)
{
    for (size_t base = 0; base < n; base += 64) { //~ add
        const size_t end = std::min(base + 64, n);
        for (size_t i = base; i < end; ++i)
            out[i] += in[i];
    }
}

double sparseDot(const vector<pair<int, double>> &a, const vector<double> &x)
{
    double s = 0;
    for (auto &[i, v] : a) s += v * x[i]; //~!
    return s;
}

set<double> unique(const vector<double> &v)
{
    set<double> s;
    for (double x : v) s.insert(x); //~!
    return s;
}

float cubic(float x) { return x * x * x; }
float twice(float x) { return 2.0f * x; }

void mapped(vector<float> &v)
{
    for (float &x : v) x = twice(x); //~ scale
    for (float &x : v) x = cubic(x); //~ fused
}

void checked(const vector<float> &a, const vector<float> &b, vector<float> &c)
{
    if (a.size() != b.size()) throw invalid_argument("size"); //~!
    for (size_t i = 0; i < a.size(); ++i) //~ mul
        c.at(i) = a.at(i) * b.at(i);
}

void iteratorPair(const vector<double> &a, const vector<double> &b, double &r)
{
    r = 0;
    auto ia = a.begin();
    auto ib = b.begin();
    while (ia != a.end()) //~ dot
        r += *ia++ * *ib++;
}

double logLikelihood(const vector<double> &p)
{
    double s = 0;
    for (double x : p) s += log(x); //~ fused
    return s;
}

void logAll(vector<double> &p)
{
    for (double &x : p) x = log(x); //~ log
}

void expShift(vector<float> &p, float m)
{
    for (auto &x : p) x = std::exp(x - m); //~ exp
}

void zero(VVF &m)
{
    for (auto &r : m) fill(r.begin(), r.end(), 0.f); //~!
}

void eachRow(VVF &m, const VF &bias)
{
    for (auto &row : m) //~ add
        for (size_t j = 0; j < row.size(); ++j)
            row[j] += bias[j];
}

VF rowMax(const VVF &m)
{
    VF out;
    for (const auto &row : m) //~!
        out.push_back(*max_element(row.begin(), row.end())); //~ max
    return out;
}
