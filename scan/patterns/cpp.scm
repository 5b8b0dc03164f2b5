; SPDX-License-Identifier: MIT
; cpp.scm - what C++ code computes besides what C code does: it stands after
; c.scm, as if both were one file.

; ---- functions that are named after what they compute

;+ torch::Tensor f(const torch::Tensor &x) { return torch::relu(x); }
((call_expression function: (_)) @finding
 (#called? @finding
   "relu")
 (#set! pattern "relu-call") (#set! op "relu"))

; ---- loops over ranges

;+ float f(const std::vector<float> &v) { float s = 0; for (float x : v) s += x; return s; }
;+ float f(const std::vector<float> &v) { float m = 0; for (float x : v) m = std::max(m, x); return m; }
;- int f(const std::vector<int> &v) { int s = 0; for (int x : v) s += x; return s; }
;+ void f(std::vector<double> &v) { for (auto &x : v) x *= 2; }
((for_range_loop) @finding
 (#computes? @finding
   "matmul" "batched_matmul" "gemv" "conv2d" "pooling"
   "softmax" "layernorm" "attention"
   "sum" "mean" "max" "min" "argmax" "argmin" "dot" "norm1" "norm2" "variance"
   "add" "sub" "mul" "div" "scale" "axpy" "fma" "abs" "neg" "clamp" "sqrt"
   "exp" "exp2" "expm1" "log" "log2" "log1p" "sin" "cos" "sigmoid" "tanh"
    "relu" "gelu" "copy" "transpose")
 (#set! pattern "range-loop"))

; ---- loops that are handed a lambda

;+ void f(float *y, const float *x, int n) { tbb::parallel_for(0, n, [&](int i) { y[i] = 2 * x[i]; }); }
;+ void f(double *y, const double *a, const double *x, size_t n) {\n pool.parallel_for(n, [=](size_t i) { double s = 0; for (size_t j = 0; j < n; j++) s += a[i * n + j] * x[j]; y[i] = s; }); }
;- void f(int *y, const int *x, int n) { tbb::parallel_for(0, n, [&](int i) { y[i] = 2 * x[i]; }); }
;- void f(float *y, const float *x, int n) { parallel_for(n, [&](float i) { y[0] = 2 * i; }); }
;+ void f(Kokkos::View<double *> y, Kokkos::View<double *> x, int n) { Kokkos::parallel_for("scale", n, KOKKOS_LAMBDA(const int i) { y(i) = 2.0 * x(i); }); }
;+ void f(const Box &box, Array4<double> const &y, Array4<double> const &x) { ParallelFor(box, [=] ON_DEVICE (int i, int j, int k) noexcept { y(i, j, k) += x(i, j, k); }); }
((call_expression
   function: (_) @callee
   arguments: (argument_list (lambda_expression))) @finding
 (#parallel? @callee)
 (#computes? @finding
   "matmul" "batched_matmul" "gemv" "conv2d" "pooling"
   "softmax" "layernorm" "attention"
   "add" "sub" "mul" "div" "scale" "axpy" "fma" "abs" "neg" "clamp" "sqrt"
   "exp" "exp2" "expm1" "log" "log2" "log1p" "sin" "cos" "sigmoid" "tanh"
    "relu" "gelu" "copy" "transpose")
 (#set! pattern "parallel-loop"))

; ---- algorithms of the standard library

;+ float f(const std::vector<float> &v) { return std::accumulate(v.begin(), v.end(), 0.0f); }
;+ float f(const std::vector<float> &v) { return std::accumulate(v.begin(), v.end(), 0.0f) / v.size(); }
;+ float f(const std::vector<float> &v) { return std::reduce(v.begin(), v.end()); }
;+ float f(const std::vector<float> &v) { return *std::max_element(v.begin(), v.end()); }
;+ float f(const std::vector<float> &v) { return *std::min_element(v.begin(), v.end()); }
;+ long f(const std::vector<float> &v) { return std::distance(v.begin(), std::max_element(v.begin(), v.end())); }
;+ long f(const std::vector<float> &v) { return std::min_element(v.begin(), v.end()) - v.begin(); }
;+ float f(const std::vector<float> &v) { return std::accumulate(v.begin(), v.end(), 0.0f, [](float s, float x) { return s + std::abs(x); }); }
;+ float f(const std::vector<float> &v, const std::vector<float> &w) { return std::inner_product(v.begin(), v.end(), w.begin(), 0.0f); }
;+ float f(const std::vector<float> &v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0f)); }
;- int f(const std::vector<int> &v) { return std::accumulate(v.begin(), v.end(), 0); }
;- std::string f(const std::vector<std::string> &v) { return std::accumulate(v.begin(), v.end(), std::string()); }
((call_expression function: (_) @callee) @finding
 (#named? @callee
   "accumulate" "reduce" "inner_product" "transform_reduce" "max_element"
   "min_element" "for_each")
 (#computes? @finding
   "sum" "mean" "max" "min" "argmax" "argmin" "dot" "norm1" "norm2"
   "variance")
 (#set! pattern "algorithm-reduction"))

;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), std::plus<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), std::minus<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), std::multiplies<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), std::divides<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), std::negate<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), [](float x) { return 2 * x; }); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), [](float x, float y) { return 2 * x + y; }); }
;- void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), [](float x) { return 2 * x + 1; }); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::copy(v.begin(), v.end(), w.begin()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), [](float x) { return std::exp(x); }); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), logf); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), sqrtf); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), tanhf); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), fabsf); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), [](float x) { return 1 / (1 + std::exp(-x)); }); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), [](float x) { return std::max(x, 0.0f); }); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), [](float x) { return std::clamp(x, 0.0f, 1.0f); }); }
;+ void f(std::vector<float> &v) { std::for_each(v.begin(), v.end(), [](float &x) { x *= 2; }); }
;- void f(std::string &s) { std::transform(s.begin(), s.end(), s.begin(), ::toupper); }
;- void f(const std::vector<float> &v) { std::for_each(v.begin(), v.end(), [](float x) { print(x); }); }
((call_expression function: (_) @callee) @finding
 (#named? @callee "transform" "for_each" "copy")
 (#computes? @finding
   "add" "sub" "mul" "div" "scale" "axpy" "fma" "abs" "neg" "clamp" "sqrt"
   "exp" "exp2" "expm1" "log" "log2" "log1p" "sin" "cos" "sigmoid" "tanh"
    "relu" "gelu" "copy")
 (#set! pattern "algorithm-elements"))

; ---- matrix types

;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y) { return a * b; }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y) { return a * x; }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y) { return a + b; }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y) { return a - b; }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y) { return y * y; }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y) { return y / y; }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y) { return 2.0f * a; }
;+ void f(Eigen::VectorXf &x, const Eigen::VectorXf &y) { x += y; }
;+ arma::mat f(const arma::mat &a, const arma::mat &b) { return a % b; }
;- double f(double a, double b) { return a * b; }
;- struct money { long cents; }; money f(const money &a, const money &b) { return a * b; }
;- Eigen::MatrixXi f(const Eigen::MatrixXi &a, const Eigen::MatrixXi &b) { return a * b; }
([(binary_expression operator: ["+" "-" "*" "/" "%"])
  (assignment_expression operator: ["+=" "-=" "*=" "/=" "%="])] @finding
 (#computes? @finding
   "matmul" "gemv" "add" "sub" "mul" "div" "scale")
 (#set! pattern "matrix-operator"))

;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return xt::linalg::dot(z, z); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return x.dot(x); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return x.squaredNorm(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return x.sum(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return a.mean(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return x.norm(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return x.lpNorm<1>(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return x.maxCoeff(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return x.minCoeff(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return a.maxCoeff(&i, &j); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return a.cwiseProduct(b); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return a.cwiseQuotient(b); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return a.cwiseAbs(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return y.sqrt(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return y.exp(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return y.log(); }
;+ auto f(const Eigen::MatrixXf &a, const Eigen::MatrixXf &b, const Eigen::VectorXf &x, const Eigen::ArrayXf &y, const xt::xarray<double> &z) { int i, j; return y.tanh(); }
;+ void f(const Eigen::MatrixXf &a) { Eigen::MatrixXf b = a.transpose(); }
;- double f(const Ledger &l) { return l.sum(); }
;- double f(const Eigen::MatrixXd &a) { return a.rows() + a(0, 0); }
((call_expression function: (_) @callee) @finding
 (#named? @callee
   "dot" "squaredNorm" "sum" "accu" "mean" "norm" "lpNorm" "max" "min"
   "maxCoeff" "minCoeff" "amax" "amin" "abs" "exp" "log" "sqrt" "tanh"
   "cwiseProduct" "cwiseQuotient" "cwiseAbs" "cwiseSqrt" "transpose")
 (#computes? @finding
   "matmul" "dot" "sum" "mean" "norm1" "norm2" "max" "min" "argmax" "argmin"
   "mul" "div" "abs" "sqrt" "exp" "log" "tanh" "transpose")
 (#set! pattern "matrix-method"))
