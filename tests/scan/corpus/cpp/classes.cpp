// SPDX-License-Identifier: MIT
// Classes of a project: what their operators and methods return, what they
// inherit, and what they tell of themselves.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

typedef double real;

class Field
{
  public:
    const float *values() const;
    float *write();
    int nodes() const;
    const char *name() const;
};

void squash(const Field &from, Field &to)
{
    const auto in = from.values();
    auto out = to.write();
    for (int i = 0; i < from.nodes(); ++i) //~ tanh f32
        out[i] = std::tanh(in[i]);
}

void squash_inner(const Field &from, Field *to)
{
    for (int i = 1; i < from.nodes() - 1; ++i) //~ tanh f32
        to->write()[i] = std::tanh(from.values()[i]);
}

int letters(const Field &f)
{
    int count = 0;
    for (int i = 0; i < f.nodes(); ++i) //~!
        count += f.name()[i] == 'a';
    return count;
}

class Series
{
  public:
    real &operator()(int i);
    const real &operator()(int i) const;
    int length() const;
};

real inner(const Series &a, const Series &b)
{
    real s = 0;
    for (int i = 0; i < a.length(); i++) //~ dot f64
        s += a(i) * b(i);
    return s;
}

void times(Series *a, const Series *b)
{
    for (int i = 0; i < a->length(); i++) //~ mul f64
        (*a)(i) *= (*b)(i);
}

template <typename T> class Plane
{
  public:
    T &operator()(int x, int y);
    T *row(int y);
    T *operator[](int y) const;
    int width() const;
    int height() const;
};

void grow(Plane<double> &p, const Plane<double> &q)
{
    for (int y = 0; y < p.height(); y++) //~ add f64
        for (int x = 0; x < p.width(); x++)
            p(x, y) += q(x, y);
}

void roots(Plane<float> &p)
{
    for (int y = 0; y < p.height(); y++) //~ sqrt f32
        for (int x = 0; x < p.width(); x++)
            p[y][x] = std::sqrt(p[y][x]);
}

void count_up(Plane<int> &p)
{
    for (int y = 0; y < p.height(); y++) //~!
        for (int x = 0; x < p.width(); x++)
            p(x, y) += 3;
}

void lines(Plane<float> &p)
{
    for (int y = 0; y < p.height(); y++) {
        auto line = p.row(y);
        for (int x = 0; x < p.width(); x++) //~ exp f32
            line[x] = std::exp(line[x]);
    }
}

class Image : public Plane<float>
{
  public:
    float get(int x, int y) const;
    std::string title;
};

float brightness(const Image &image)
{
    float sum = 0;
    for (int y = 0; y < image.height(); y++) //~ sum f32
        for (int x = 0; x < image.width(); x++)
            sum += image.get(x, y);
    return sum;
}

void roots_of(cv::Mat &m)
{
    for (int y = 0; y < m.rows; y++) //~ sqrt f32
        for (int x = 0; x < m.cols; x++)
            m.at<float>(y, x) = std::sqrt(m.at<float>(y, x));
}

void levels(cv::Mat &m)
{
    for (int y = 0; y < m.rows; y++) //~!
        for (int x = 0; x < m.cols; x++)
            m.at<uchar>(y, x) += 1;
}

class Queue
{
  public:
    float operator()();
    int next();
};

float drawn(Queue &q, const float *x, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) //~!
        sum += x[q.next()];
    for (int i = 0; i < n; i++) //~!
        sum += q();
    return sum;
}

// ---- what a template's parameter holds ----------------------------------------

template <class Vec1, class Vec2>
void combine(double a, const Vec1 &x, double b, Vec2 &y)
{
    for (size_t i = 0; i < x.size(); ++i) //~ fused
        y[i] = a * x[i] + b * y[i];
}

template <class Row, class Column> struct Update {
    Row y_;
    Column x_;
    double a_;
    int columns_;
    void operator()(const int &i) const
    {
        for (int k = 0; k < columns_; ++k) //~ axpy
            y_(i, k) += a_ * x_(i, k);
    }
};

template <class Mat, class In, class Out>
void apply(const Mat &a, const In &x, Out &y, int m)
{
    for (int i = 0; i < m; ++i) { //~ gemv
        double s = 0;
        for (int j = 0; j < a.extent(1); ++j)
            s += a(i, j) * x(j);
        y(i) = s;
    }
}

template <class Functor> void sample(Functor f, double *out, double w, int n)
{
    for (int i = 0; i < n; ++i)
        out[i] += w * f(i); //~!
}

// ---- members that are called ---------------------------------------------------

template <int D, typename T> class Block {
  public:
    T &operator()(int i, int j);
    T operator()(int i, int j) const;
};

struct Faces {
    Block<2, double> first, second;
    Block<2, double> *held;
};

void average(Faces &to, const Faces &from, double w, int n)
{
    for (int k = 0; k < n; k++) //~ axpy
        for (int i = 0; i < n; i++)
            to.first(k, i) = w * to.first(k, i) + from.first(k, i);
}

void halve(Faces *faces, int n)
{
    Block<2, double> &held = *(faces->held);
    for (int i = 0; i < n; i++) //~ scale f64
        for (int j = 0; j < n; j++)
            held(i, j) *= 0.5;
}

template <typename T> class Line {
  public:
    T &operator[](int i);
    int lowest() const;
    int highest() const;
};
template <typename T> class Numbers : public Line<T> {
};
template <int D, typename T> class Array : public Numbers<T> {
};
template <typename T> class Sinogram : public Array<2, T> {
};

void blend(const Array<1, float> &a, Array<1, float> &b, int n)
{
    for (int i = 0; i < n; i++) //~ axpy f32
        b[i] += 2.0f * a[i];
}

float row_total(const Sinogram<float> &s, int v)
{
    float total = 0;
    for (int t = s.lowest(); t <= s.highest(); ++t) //~ sum f32
        total += s[v][t];
    return total;
}

// ---- types of other projects ---------------------------------------------------

void assemble(FullMatrix<double> &local, Vector<double> &rhs, double w, int n)
{
    for (int i = 0; i < n; i++) //~ scale f64
        for (int j = 0; j < n; j++)
            local(i, j) *= w;
    for (int i = 0; i < n; i++) //~ scale f64
        rhs(i) *= w;
}

void weighted(const Fractions &fractions, const std::vector<double> &k,
              Fractions &out, int n)
{
    for (int i = 0; i < n; i++) //~ mul
        out[i] = fractions[i] * k[i];
}

void deviation(Tensor4 &held, const double *b, double *total, int n)
{
    auto a = held.accessor<float, 2>();
    for (int i = 0; i < n; i++) //~ fused
        for (int j = 0; j < n; j++)
            *total += std::abs(a(i, j) - b[i * n + j]);
}

double callable(double w, const double *x, int n)
{
    auto f = table_of(x);
    auto twice = [](int i) { return 2.0 * i; };
    double s = 0;
    for (int i = 0; i < n; i++) //~!
        s += f(i) * x[i];
    for (int i = 0; i < n; i++) //~!
        s += w * twice(i);
    return s;
}

template <typename T> void eliminate(T *a, int n, int row, int col, int pivot)
{
    for (int j = col + 1; j < n; j++) //~ axpy
        a[row * n + j] -= a[row * n + col] * a[pivot * n + j];
}

// ---- loops that are handed a lambda --------------------------------------------

void doubled(float *y, const float *x, int n)
{
    tbb::parallel_for(0, n, [&](int i) { y[i] = 2 * x[i]; }); //~ scale f32
}

void multiplied(Pool &pool, double *y, const double *a, const double *x, size_t n)
{
    pool.parallel_for(n, [=](size_t i) { //~ gemv f64
        double s = 0;
        for (size_t j = 0; j < n; j++)
            s += a[i * n + j] * x[j];
        y[i] = s;
    });
}

void numbered(int *y, const int *x, const float *z, int n)
{
    parallel_for(0, n, [&](int i) { y[i] = 2 * x[i]; }); //~!
    parallel_for(z, [&](float e) { y[0] = e; }); //~!
}

// ---- names that end like a number's --------------------------------------------

void weigh(RealType *restrict y, const RealType *restrict x, int n)
{
    for (int i = 0; i < n; i++) //~ scale
        y[i] = 2 * x[i];
}

void biased(const scalar_t *x, scalar_t *y, scalar_t bias, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        y[i] = x[i] + bias;
}

void shifted(const Sinogram<float> &view, std::vector<float> &g, int a, int n)
{
    for (int p = 0; p < n; p++) //~ scale f32
        g[p] = view[view.get_min_a() + a][view.get_min_p() + p] * 0.1f;
}

// ---- what classes hold, however it is written -----------------------------------

template <class T> class Held {
    T *at_;

public:
#ifndef NO_OPERATORS
    inline virtual T & operator [] (const int i)
    {
        return at_[i];
    }
#endif
};

class LIB_API LIB_CHECKED Samples : public Named, public Held<Scalar> {
public:
    Samples();
};

void roots(Samples &y, const Samples &x, int n)
{
    for (int i = 0; i < n; i++) //~ sqrt
        y[i] = std::sqrt(x[i]);
}

class Waves : public Held<double> {
public:
    std::complex<double> &operator () (int i, int j);
};

void stronger(Waves &w, int n, int m)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < m; j++)
            w(i, j) += w(i, j);
}

template <class TBase> class Metric : public TBase {
    using RealType = typename TBase::RealType;
    RealType *mean_;

    void move(const RealType *by, int n)
    {
        for (int i = 0; i < n; i++) //~ add
            mean_[i] += by[i];
    }
};

void copied(const std::vector<Scalar> &a, std::vector<Scalar> &b)
{
    std::copy(a.begin(), a.end(), b.begin()); //~ copy
}

// ---- elements that a method returns, behind a check -------------------------------

class Table2D {
    std::vector<double> at_;
    size_t rows_;

public:
    double &value(size_t i, size_t j)
    {
        if (j >= rows_)
            throw OutOfRange(j);
        return at_[rows_ * i + j];
    }
    double level(size_t i, size_t j) const { return at_[rows_ * i + j]; }
    double cost(double x) const { return x * rows_; }
};

double energy(Table2D &a, const std::vector<double> &x, double by, int n)
{
    for (int i = 0; i < n; i++) //~ axpy
        a.value(3, i) += by * x[i];
    double sum = 0;
    for (int i = 0; i < n; i++) //~ dot
        sum += a.level(2, i) * x[i];
    for (int i = 0; i < n; i++) //~!
        sum += a.cost(x[i]);
    return sum;
}

// ---- lambdas behind a macro, of several counts ------------------------------------

template <typename T> using Block4D = Grids::View<T ****, Layout>;

struct Flow {
    Block4D<double> now;
};

void advance(Flow *flow, Block4D<double> by, double old, int ni, int nj, int nk)
{
    auto now = flow->now;
    par_for("advance", 0, nk, 0, nj, 0, ni, FLOW_LAMBDA(int k, int j, int i) { //~ axpy
                now(0, k, j, i) = old * now(0, k, j, i) + by(0, k, j, i);
            });
}

void shade(const Box &box, Array4<float> const &to, Array4<float> const &from)
{
    ParallelFor(box, [=] ON_DEVICE(int i, int j, int k) noexcept { //~ add
        to(i, j, k) += from(i, j, k);
    });
}

// ---- what is asked before ----------------------------------------------------------

void cross(std::vector<double> &to, const std::vector<double> &a,
           const std::vector<double> &b, double rate, size_t which)
{
    for (size_t k = 0; k < to.size(); ++k) //~ fused
        if (a[k] < rate || k == which)
            to[k] = a[k] + rate * (b[k] - a[k]);
        else
            to[k] = b[k];
}

double total(const std::vector<double> &charge, const std::vector<double> &m)
{
    double sum = 0;
    for (size_t k = 0; k < m.size(); ++k) { //~ fused
        if (charge[k] != 0.0)
            sum += charge[k] * m[k];
    }
    return sum;
}

double counted(const std::vector<double> &x, int &n)
{
    double sum = 0;
    for (double v : x) { //~!
        if (v > 0) {
            sum += v;
            n++;
        }
    }
    return sum;
}
