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
