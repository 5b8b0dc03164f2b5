// SPDX-License-Identifier: MIT
// Matrix types of libraries, where their declarations are in sight.
#include <Eigen/Dense>
#include <armadillo>
#include <xtensor/xarray.hpp>

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd multiply(const MatrixXd &a, const MatrixXd &b)
{
    return a * b; //~ matmul
}

Eigen::MatrixXf gram(const Eigen::MatrixXf &x)
{
    Eigen::MatrixXf g = x.transpose() * x; //~ matmul
    return g;
}

void fixed()
{
    Eigen::Matrix<float, 64, 128> a;
    Eigen::Matrix<float, 128, 32> b;
    auto c = a * b; //~ matmul 64x32x128 f32
    show(c);
}

VectorXd apply(const MatrixXd &m, const VectorXd &x)
{
    VectorXd y(m.rows());
    y.noalias() = m * x; //~ gemv
    return y;
}

double products(const VectorXd &a, const VectorXd &b)
{
    return a.dot(b); //~ dot
}

double reductions(const VectorXd &v, const MatrixXd &m)
{
    double s = v.sum();        //~ sum
    s += m.mean();             //~ mean
    s += v.norm();             //~ norm2
    s += v.squaredNorm();      //~ dot
    s += v.maxCoeff();         //~ max
    s += m.minCoeff();         //~ min
    s += v.lpNorm<1>();        //~ norm1
    return s;
}

void elements(Eigen::ArrayXf &x, const Eigen::ArrayXf &y, Eigen::VectorXf &v, const Eigen::VectorXf &w)
{
    Eigen::ArrayXf z = x + y;           //~ add
    z = x * y;                          //~ mul
    z = x.exp();                        //~ exp
    v = v - w;                          //~ sub
    v += w;                             //~ add
    v *= 2.0f;                          //~ scale
    v = v.cwiseProduct(w);              //~ mul
    z = y.sqrt();                       //~ sqrt
}

arma::mat arma_product(const arma::mat &a, const arma::mat &b)
{
    return a * b; //~ matmul
}

double arma_reductions(const arma::vec &x, const arma::vec &y)
{
    double s = arma::dot(x, y); //~ dot
    s += arma::accu(x);         //~ sum
    s += arma::norm(y);         //~ norm2
    return s;
}

double xt_reductions(const xt::xarray<double> &a, const xt::xarray<double> &b)
{
    xt::xarray<double> c = a + b; //~ add
    auto d = xt::linalg::dot(a, b); //~ matmul
    return xt::sum(c)() + d(0); //~ sum
}

// ---- not these ----------------------------------------------------------

struct money {
    long cents;
    money operator*(const money &) const; //~!
    long sum() const;
};

money twice(const money &a, const money &b)
{
    return a * b; //~!
}

long cents(const money &m)
{
    return m.sum(); //~!
}

double area(double width, double height)
{
    return width * height; //~!
}

double scaled(const MatrixXd &m, int i)
{
    const double a = m(i, 0), b = m(0, i);
    return a * b; //~!
}

Eigen::MatrixXi integers(const Eigen::MatrixXi &a, const Eigen::MatrixXi &b)
{
    return a * b; //~!
}

int sizes(const MatrixXd &a, const MatrixXd &b)
{
    return a.rows() * b.cols(); //~!
}

double *pointer(MatrixXd *m)
{
    MatrixXd *other = m; //~!
    return other->data();
}

double totals(const Ledger &ledger)
{
    return ledger.sum() + ledger.mean(); //~!
}

// a * b where MatrixXd a, b; //~!
/* v.dot(w) and v.norm() and m.sum() //~! */
const char *help = "MatrixXd c = a * b; v.sum();"; //~!

double shadowed(const MatrixXd &a, const MatrixXd &b)
{
    MatrixXd c = a * b; //~ matmul
    {
        double a = 2, b = 3;
        return a * b + c(0, 0); //~!
    }
}

#define GRAM(m) ((m).transpose() * (m)) //~!

std::string repeat(const Text &a, int b)
{
    return a * b; //~!
}

inline Eigen::TensorMap<Eigen::Tensor<float, 1>> whole(Blob &b);

void tensors(Blob &x, Blob &y, Eigen::Tensor<float, 2> t)
{
    whole(y) = whole(x) * 2.f;               //~ scale
    Eigen::Tensor<float, 2> e = t.exp();     //~ exp
    Eigen::Tensor<float, 2> s = t + t;       //~ add
}

MatrixXd gathered(const std::vector<MatrixXd> &parts, int n)
{
    MatrixXd all = parts[0];
    for (int i = 1; i < n; i++) //~!
        all += parts[i];        //~ add
    return all;
}

void orthogonal(MatrixXd &q, int j)
{
    q.col(j) -= q.middleCols(2, 3) * (q.middleCols(2, 3).transpose() * q.col(j)); //~ gemv
}

arma::mat gram(const arma::mat &a, const arma::mat &b)
{
    return trans(a) * b; //~ matmul
}

template <class MatrixType>
Eigen::VectorXd iterate(const MatrixType &a, const Eigen::VectorXd &x)
{
    return a * x; //~!
}
