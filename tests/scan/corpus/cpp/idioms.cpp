// SPDX-License-Identifier: MIT
// What projects of others are written in: classes behind macros, templates of
// their own, references to elements, values that are chosen, counting ranges.
#include <array>
#include <cmath>
#include <vector>

typedef double Float;

LIB_BEGIN_NAMESPACE

// ---- classes

template <class T> class Row : public std::vector<T> {
  public:
    Row();
};

class LIB_API Line : public Row<Float> {
  public:
    LIB_API Line();
};

class LIB_API Levels {
  public:
    double level(int n) const
    {
        double s = 0;
        for (int i = 0; i < n; i++) //~ sum f64
            s += held[i];
        return s;
    }

  private:
    double held[100];
};

template <class T> class Matrix {
  public:
    T *operator[](unsigned r) { return rows[r]; }

  private:
    T **rows;
};

class Table : public Matrix<Float> {
  public:
    Table();
};

template <typename T> class MatrixMxN final {
  public:
    T &operator()(size_t i, size_t j);
};

template <typename T> class Grid {
  public:
    T &operator()(size_t i, size_t j);
    T operator()(size_t i, size_t j) const;
    Grid operator*(const Grid &other) const;

  private:
    size_t n;
};

LIB_API Float level_of(const Line &x, unsigned from, unsigned to)
{
    Float mean = 0.0;
    for (unsigned i = from; i < to; i++) //~ sum f64
        mean += x[i];
    return mean;
}

void momentum(Table &v, Table &d, unsigned rows, unsigned cols, Float a, Float m)
{
    for (unsigned i = 0; i < rows; i++) //~ fused f64
        for (unsigned j = 0; j < cols; j++)
            v[i][j] = m * v[i][j] + a * d[i][j];
}

void add_row(Matrix<int> &m, Matrix<int> &d, unsigned n)
{
    for (unsigned i = 0; i < n; i++) //~!
        m[0][i] += d[0][i];
}

template <typename T> void reflect(MatrixMxN<T> &u, T *r, T s, int n, int i)
{
    int k;
    for (k = 0; k < n; k++) //~ scale
        u(i, k) *= s;
    for (s = 0, k = 0; k < n; k++) //~ dot
        s += u(0, k) * u(i, k);
    for (k = 0; k < n; k++) //~ axpy
        u(0, k) += s * r[k];
}

template <typename T> Grid<T> Grid<T>::operator*(const Grid &other) const
{
    Grid out;
    for (size_t i = 0; i < n; i++) //~ matmul
        for (size_t j = 0; j < n; j++) {
            T s = T();
            for (size_t k = 0; k < n; k++)
                s += (*this)(i, k) * other(k, j);
            out(i, j) = s;
        }
    return out;
}

void brighten(Grid<unsigned char> &g, int n)
{
    for (int i = 0; i < n; i++) //~!
        g(0, i) *= 2;
}

struct Cache {
    struct Result {
        std::array<float, 361> policy;
    };
};

struct Network {
    using Result = Cache::Result;
    float distance(const Result &a, const Result &b);
};

float Network::distance(const Result &a, const Result &b)
{
    float error = 0;
    for (size_t i = 0; i < a.policy.size(); ++i) { //~ dot 361 f32
        const auto diff = a.policy[i] - b.policy[i];
        error += diff * diff;
    }
    return error;
}

LIB_END_NAMESPACE

// ---- references to elements

void shrink(std::vector<double> &a, const std::vector<double> &b, double low)
{
    for (size_t i = 0; i < a.size(); i++) { //~ axpy f64
        double &x = a[i];
        x = x * 2 + b[i];
    }
    for (size_t i = 0; i < a.size(); i++) { //~ clamp f64
        auto &x = a[i];
        if (x < low)
            x = low;
    }
}

double gathered(const std::vector<double> &a)
{
    double total = 0;
    for (size_t i = 0; i < a.size(); i++) { //~!
        double &sum = total;
        sum += a[i];
    }
    return total;
}

double followed(std::vector<double> &a)
{
    for (size_t i = 1; i < a.size(); i++) { //~!
        double &x = a[i];
        x += 0.5 * a[i - 1];
    }
    return a[0];
}

// ---- values that are chosen

void rectify(const float *a, float *b, int n)
{
    for (int i = 0; i < n; ++i) { //~ fused f32
        float t = a[i];
        if (t < 0.f)
            t = 0.f;
        b[i] = t * 2.f;
    }
    for (int i = 0; i < n; ++i) { //~ relu f32
        float t;
        if (a[i] > 0)
            t = a[i];
        else
            t = 0;
        b[i] = t;
    }
    for (int i = 0; i < n; ++i) { //~ fused f32
        float t = a[i];
        if (t < -1)
            t = -1;
        else if (t > 1)
            t = 1;
        else
            t *= 1.5f - 0.5f * t * t;
        b[i] = t;
    }
}

// ---- counting

void counted(std::vector<double> &a, std::vector<double> &b, int n)
{
    for (auto i = size_t{0}; i < a.size(); i++) //~ add f64
        a[i] += b[i];
    for (size_t i(0); i < a.size(); i++) //~ mul f64
        a[i] *= b[i];
    for (auto i : range(n)) //~ scale f64
        a[i] = b[i] * 2;
    for (auto i : std::views::iota(0, n)) //~ sub f64
        a[i] -= b[i];
    for (auto i : places(n)) //~!
        a[i] -= b[i];
}

class math_EXPORT Samples
{
  public:
    double &operator()(const int r, const int c);
    double operator()(const int r, const int c) const;
};

void halve(Samples &a, const Samples &b, int n)
{
    for (int i = 0; i < n; i++) //~ scale f64
        for (int t = 0; t < n; t++)
            a(i, t) = b(i, t) * 0.5;
}

template <typename Type, size_t M, size_t N> class Fixed {
  public:
    Type &operator()(size_t i, size_t j);
};

template <typename Type, size_t M> class Square : public Fixed<Type, M, M> {
  public:
    void factor();
};

template <typename Type, size_t M> void factor(Square<Type, M> &a)
{
    Square<Type, M> l;
    for (size_t j = 0; j < M; j++) {
        Type s = Type();
        for (size_t k = 0; k < j; k++) //~ dot
            s += l(j, k) * l(j, k);
        a(j, j) -= s;
    }
}

// ---- casts of bounds, functions of a namespace

namespace utils
{
float min(float a, float b);
template <class T> inline T sqr(T x)
{
    return x * x;
}
} // namespace utils

float power(const std::vector<float> &a, std::vector<float> &b)
{
    float s = 0;
    for (int i = 0; i < int(a.size()); i++) //~ dot f32
        s += utils::sqr(a[i]);
    for (size_t i = 0; i < size_t(a.size() / 2); i++) //~ clamp f32
        b[i] = utils::min(a[i], 1.5f);
    for (int i = 0; i < int(a.size()); i++) //~!
        s += int(a[i]);
    return s;
}

void elsewhere(const LibWorkDouble *x, LibWorkDouble *y, LibWorkDouble a, int n)
{
    for (int i = 0; i < n; i++) //~ axpy
        y[i] = x[i] + a * y[i];
}
