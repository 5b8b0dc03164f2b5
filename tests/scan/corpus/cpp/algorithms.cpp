// SPDX-License-Identifier: MIT
// What the standard library's algorithms compute.
#include <algorithm>
#include <array>
#include <cmath>
#include <execution>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

double total(const std::vector<double> &v)
{
    return std::accumulate(v.begin(), v.end(), 0.0); //~ sum
}

float total_with_plus(const std::vector<float> &v)
{
    return std::accumulate(v.cbegin(), v.cend(), 0.0f, std::plus<float>()); //~ sum
}

float total_parallel(const std::vector<float> &v)
{
    return std::reduce(std::execution::par_unseq, v.begin(), v.end()); //~ sum
}

double total_reduced(const std::array<double, 256> &v)
{
    return std::reduce(v.begin(), v.end(), 0.0); //~ sum
}

double total_of_pointer(const double *p, int n)
{
    return std::accumulate(p, p + n, 0.0); //~ sum
}

double average(const std::vector<double> &v)
{
    return std::accumulate(v.begin(), v.end(), 0.0) / v.size(); //~ mean
}

float largest_folded(const std::vector<float> &v)
{
    return std::accumulate(v.begin(), v.end(), v[0], [](float a, float b) { return std::max(a, b); }); //~ max
}

float taxicab(const std::vector<float> &v)
{
    return std::accumulate(v.begin(), v.end(), 0.0f, [](float s, float x) { return s + std::abs(x); }); //~ norm1
}

double squares(const std::vector<double> &v)
{
    return std::accumulate(v.begin(), v.end(), 0.0, [](double s, double x) { return s + x * x; }); //~ dot
}

double inner(const std::vector<double> &a, const std::vector<double> &b)
{
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); //~ dot
}

float length(const std::vector<float> &v)
{
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0f)); //~ norm2
}

float inner_reduced(const std::vector<float> &a, const std::vector<float> &b)
{
    using namespace std;
    return transform_reduce(a.begin(), a.end(), b.begin(), 0.0f); //~ dot
}

void plus(const std::vector<float> &a, const std::vector<float> &b, std::vector<float> &c)
{
    std::transform(a.begin(), a.end(), b.begin(), c.begin(), std::plus<float>()); //~ add
    std::transform(a.begin(), a.end(), b.begin(), c.begin(), std::multiplies<>{}); //~ mul
    std::transform(a.begin(), a.end(), b.begin(), c.begin(), [](float x, float y) { return x - y; }); //~ sub
    std::transform(a.begin(), a.end(), c.begin(), [](float x) { return std::exp(x); }); //~ exp
    std::transform(a.begin(), a.end(), c.begin(), [](auto x) { return 2.0f * x; }); //~ scale
    std::transform(a.begin(), a.end(), c.begin(), std::negate<>()); //~ neg
    std::transform(a.begin(), a.end(), c.begin(), sqrtf); //~ sqrt
    std::transform(c.begin(), c.end(), c.begin(), [](float x) { return std::max(x, 0.0f); }); //~ relu
}

void axpy(float alpha, const std::vector<float> &x, std::vector<float> &y)
{
    std::transform(x.begin(), x.end(), y.begin(), y.begin(), [alpha](float a, float b) { return alpha * a + b; }); //~ axpy
}

void louder(std::vector<double> &v, double gain)
{
    std::for_each(v.begin(), v.end(), [gain](double &x) { x *= gain; }); //~ scale
}

double largest(const std::vector<double> &v)
{
    return *std::max_element(v.begin(), v.end()); //~ max
}

float smallest(const std::vector<float> &v)
{
    auto it = std::min_element(v.begin(), v.end()); //~ min
    return *it;
}

long where(const std::vector<float> &v)
{
    return std::distance(v.begin(), std::max_element(v.begin(), v.end())); //~ argmax
}

auto where_smallest(const std::vector<double> &v)
{
    return std::min_element(v.begin(), v.end()) - v.begin(); //~ argmin
}

// ---- not these ----------------------------------------------------------

int count(const std::vector<int> &v)
{
    return std::accumulate(v.begin(), v.end(), 0); //~!
}

std::string join(const std::vector<std::string> &v)
{
    return std::accumulate(v.begin(), v.end(), std::string()); //~!
}

std::size_t bytes(const std::vector<std::vector<float>> &v)
{
    return std::accumulate(v.begin(), v.end(), std::size_t{0}, [](std::size_t s, const auto &x) { return s + x.size(); }); //~!
}

int best(const std::vector<int> &scores)
{
    return *std::max_element(scores.begin(), scores.end()); //~!
}

void upper(std::string &s)
{
    std::transform(s.begin(), s.end(), s.begin(), ::toupper); //~!
}

std::vector<std::string> names(const std::vector<double> &v)
{
    std::vector<std::string> out(v.size());
    std::transform(v.begin(), v.end(), out.begin(), [](double x) { return std::to_string(x); }); //~!
    return out;
}

struct account {
    double balance;
};

account *richest(std::vector<account> &all)
{
    return &*std::max_element(all.begin(), all.end(), [](const account &a, const account &b) { return a.balance < b.balance; }); //~!
}

void chatty(const std::vector<float> &v)
{
    std::for_each(v.begin(), v.end(), [](float x) { std::printf("%f\n", x); }); //~!
}

template <class T> T accumulate(T first, T last) //~!
{
    return first + last;
}

const char *doc = "std::accumulate(v.begin(), v.end(), 0.0f)"; //~!
const char *raw = R"(
    std::inner_product(a.begin(), a.end(), b.begin(), 0.0); //~!
    return std::reduce(v.begin(), v.end()); //~!
)";

int digits(const std::vector<int> &a, const std::vector<int> &b)
{
    return std::inner_product(a.begin(), a.end(), b.begin(), 0); //~!
}

struct statistics {
    double accumulate(double x); //~!
    double reduce(double a, double b) //~!
    {
        return a + b;
    }
};

double use(statistics &s)
{
    return s.accumulate(1.0) + s.reduce(2.0, 3.0); //~!
}

double product(const std::vector<double> &v)
{
    return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>()); //~!
}

void sorted(std::vector<float> &v)
{
    std::sort(v.begin(), v.end()); //~!
}

double both(const std::vector<double> &x, const std::vector<double> &z)
{
    return std::transform_reduce(policy, x.cbegin(), x.cend(), z.cbegin(), 0.0, std::plus<double>(), //~ dot
                                 [](double a, double b) { return a * b; });
}

template <class T> double weighed(const std::vector<T> &m, const std::vector<T> &w)
{
    double all = 0;
    for (size_t j = 0; j < m.size(); j++) //~ fused
        all += (T)((m[j] * m[j]) * w[j]);
    return all;
}
