; SPDX-License-Identifier: MIT
; cpp.scm - what C++ code computes.
;
; ;+ is code that the pattern below it finds, ;- is code that no pattern finds.
;
; (#computes? @finding "op" ...)  what it does is one of these ops, which is then
;                                 the finding's: see c_family_judge.c for loops
; (#called? @finding "name" ...)  a call of a function that has one of these
;                                 names, with arrays for arguments
; (#named? @callee "name" ...)    the last part of a callee's name is one of these
; (#blas? @finding)               a call of BLAS, which tells its op and sizes

; ---- BLAS

;+ void f(float *a, float *b, float *c, float *x, float *y) { cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 64, 64, 64, 1, a, 64, b, 64, 0, c, 64); }
;+ void f(float *a, float *b, float *c, float *x, float *y) { cblas_dgemv(CblasRowMajor, CblasNoTrans, 64, 64, 1, a, 64, x, 1, 0, y, 1); }
;+ void f(float *a, float *b, float *c, float *x, float *y) { dgemm_("N", "N", &m, &n, &k, &one, a, &m, b, &k, &zero, c, &m); }
;+ void f(float *a, float *b, float *c, float *x, float *y) { s = ddot_(&n, x, &one, y, &one); }
;+ void f(float *a, float *b, float *c, float *x, float *y) { cblas_saxpy(n, 2, x, 1, y, 1); }
;+ void f(float *a, float *b, float *c, float *x, float *y) { dscal_(&n, &alpha, x, &one); }
;+ void f(float *a, float *b, float *c, float *x, float *y) { cblas_scopy(n, x, 1, y, 1); }
;+ void f(float *a, float *b, float *c, float *x, float *y) { s = cblas_sasum(n, x, 1); }
;+ void f(float *a, float *b, float *c, float *x, float *y) { s = cblas_dnrm2(n, x, 1); }
;+ void f(float *a, float *b, float *c, float *x, float *y) { k = cblas_isamax(n, x, 1); }
;- void cblas_sgemm(int order);
;- const char *f(void) { return "cblas_sgemm(1, 2, 3)"; }
;- #define GEMM(a, b) cblas_sgemm(a, b)
;- #if 0\nvoid f(float *x) { cblas_sscal(8, 2, x, 1); }\n#endif
((call_expression function: (_)) @finding
 (#blas? @finding)
 (#set! pattern "blas"))

; ---- functions that are named after what they compute

;+ void f(float *a, float *b, float *c) { matmul(a, b, c, 64); }
;- void f(int id) { print_matmul(id); matmul(id, "name"); }
((call_expression function: (_)) @finding
 (#called? @finding
   "gemm" "sgemm" "dgemm" "matmul" "MatMul" "Matmul" "mat_mul" "matmult"
   "mat_mult" "matrix_mul" "matrix_mult" "matrix_multiply"
   "matrix_multiplication" "MatrixMultiply" "MatrixMul" "matrixMul"
   "matrixMultiply" "multiply_matrices" "multiplyMatrices" "mul_mat")
 (#set! pattern "matmul-call") (#set! op "matmul"))

;+ void f(float *a, float *b, float *c) { batched_matmul(a, b, c, 8, 64); }
((call_expression function: (_)) @finding
 (#called? @finding
   "bmm" "batch_matmul" "batched_matmul" "batch_gemm" "batched_gemm"
   "gemm_batch" "gemm_batched")
 (#set! pattern "batched-matmul-call") (#set! op "batched_matmul"))

;+ void f(float *a, float *x, float *y) { matvec(a, x, y, 64, 64); }
((call_expression function: (_)) @finding
 (#called? @finding
   "gemv" "sgemv" "dgemv" "matvec" "mat_vec" "mat_vec_mul" "matvec_mul"
   "matrix_vector_multiply" "matrix_vector_product" "MatVec")
 (#set! pattern "gemv-call") (#set! op "gemv"))

;+ void f(float *a, float *k, float *c) { conv2d(a, k, c); }
;- typedef struct { int conv2d; } t; int f(t *a) { return a->conv2d; }
((call_expression function: (_)) @finding
 (#called? @finding
   "conv2d" "Conv2D" "conv_2d" "convolve" "convolve2d" "convolve_2d"
   "convolution" "convolution2d")
 (#set! pattern "convolution-call") (#set! op "conv2d"))

;+ float f(const float *a, const float *b) { return dot_product(a, b, 64); }
((call_expression function: (_)) @finding
 (#called? @finding
   "dot_product" "dotproduct" "dotProduct" "dot_prod" "vec_dot")
 (#set! pattern "dot-call") (#set! op "dot"))

;+ void f(float *a) { softmax(a, 10); }
;- const char *f(void) { return name_of("softmax(x)"); }
((call_expression function: (_)) @finding
 (#called? @finding
   "softmax" "log_softmax")
 (#set! pattern "softmax-call") (#set! op "softmax"))

;+ void f(float *a, float *g, float *b) { layernorm(a, g, b, 768); }
((call_expression function: (_)) @finding
 (#called? @finding
   "layernorm" "layer_norm" "LayerNorm")
 (#set! pattern "layernorm-call") (#set! op "layernorm"))

;+ void f(float *q, float *k, float *v, float *o) { attention(q, k, v, o, 128, 64); }
((call_expression function: (_)) @finding
 (#called? @finding
   "attention" "self_attention" "multi_head_attention" "multihead_attention"
   "flash_attention" "scaled_dot_product_attention")
 (#set! pattern "attention-call") (#set! op "attention"))

;+ torch::Tensor f(const torch::Tensor &x) { return torch::relu(x); }
((call_expression function: (_)) @finding
 (#called? @finding
   "relu")
 (#set! pattern "relu-call") (#set! op "relu"))

; ---- loops

; Matrix products and convolutions, in whatever order the loops stand.
;+ void f(float a[8][8], float b[8][8], float c[8][8]) { for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++) c[i][j] += a[i][k] * b[k][j]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { float t = 0; for (int k = 0; k < n; k++) t += a[i * n + k] * b[k * n + j]; c[i * n + j] = t; } }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int z = 0; z < 4; z++) for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++) c[z * 64 + i * 8 + j] += a[z * 64 + i * 8 + k] * b[z * 64 + k * 8 + j]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) { float t = 0; for (int k = 0; k < n; k++) t += a[i * n + k] * b[k]; c[i] = t; } }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) { float t = 0; for (int k = 0; k < 5; k++) t += a[i + k] * b[k]; c[i] = t; } }
;+ void f(float a[8][8], float c[4][4]) { for (int y = 0; y < 4; y++) for (int x = 0; x < 4; x++) { float t = 0; for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) t += a[2 * y + i][2 * x + j]; c[y][x] = t / 4; } }
;- void f(int a[8][8], int b[8][8], int c[8][8]) { for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++) c[i][j] += a[i][k] * b[k][j]; }
;- void f(float a[8][8]) { for (int k = 0; k < 8; k++) for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[i][j] += a[i][k] * a[k][j]; }
([(for_statement) (while_statement) (for_range_loop)] @finding
 (#computes? @finding
   "matmul" "batched_matmul" "gemv" "conv2d" "pooling")
 (#set! pattern "product-loops"))

; Several loops in a row, or in a loop, that make one thing together.
;+ void f(float *a, int n) { float s = 0; for (int i = 0; i < n; i++) { a[i] = expf(a[i]); s += a[i]; } for (int i = 0; i < n; i++) a[i] /= s; }
;+ void f(float *a, int n) { float m = 0, v = 0; for (int i = 0; i < n; i++) m += a[i]; m /= n; for (int i = 0; i < n; i++) v += (a[i] - m) * (a[i] - m); const float k = 1 / sqrtf(v / n); for (int i = 0; i < n; i++) a[i] = (a[i] - m) * k; }
;+ void f(const float *q, const float *k, const float *v, float *o, float *t, int n, int d) { for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { float s = 0; for (int c = 0; c < d; c++) s += q[i * d + c] * k[j * d + c]; t[j] = s; } float z = 0; for (int j = 0; j < n; j++) { t[j] = expf(t[j]); z += t[j]; } for (int j = 0; j < n; j++) t[j] /= z; for (int c = 0; c < d; c++) { float s = 0; for (int j = 0; j < n; j++) s += t[j] * v[j * d + c]; o[i * d + c] = s; } } }
([(for_statement) (while_statement) (for_range_loop)] @finding
 (#computes? @finding
   "softmax" "layernorm" "attention")
 (#set! pattern "composed-loops"))

; One number of many.
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
;+ float f(const float *p, const float *end) { float s = 0; for (; p < end; p++) s += *p; return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i]; return s / n; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }
;+ double f(const double *a, const double *b, int n) { double s = 0; while (n--) s += *a++ * *b++; return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += fabsf(a[i]); return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i] * a[i]; return sqrtf(s); }
;+ float f(const float *a, int n, float m) { float s = 0; for (int i = 0; i < n; i++) s += (a[i] - m) * (a[i] - m); return s / n; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) if (a[i] > s) s = a[i]; return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s = fmaxf(s, a[i]); return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s = a[i] < s ? a[i] : s; return s; }
;+ int f(const float *a, int n) { int m = 0; for (int i = 1; i < n; i++) if (a[i] > a[m]) m = i; return m; }
;+ int f(const float *a, int n) { int m = 0; for (int i = 1; i < n; i++) if (a[i] < a[m]) m = i; return m; }
;+ float f(const std::vector<float> &v) { float s = 0; for (float x : v) s += x; return s; }
;+ float f(const std::vector<float> &v) { float m = 0; for (float x : v) m = std::max(m, x); return m; }
;- unsigned f(const unsigned char *a, int n) { unsigned s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
;- float f(const float *a, int n) { float s = 0; for (int i = 0; i < n; i++) { if (a[i] < 0) break; s += a[i]; } return s; }
;- int f(const float *a, int n) { int c = 0; for (int i = 0; i < n; i++) if (a[i] > 0) c++; return c; }
;- float f(const float *a, int n) { float s = 0; for (int i = 0; i < n; i++) s = s * 0.5f + a[i]; return s; }
;- int f(const std::vector<int> &v) { int s = 0; for (int x : v) s += x; return s; }
([(for_statement) (while_statement) (for_range_loop)] @finding
 (#computes? @finding
   "sum" "mean" "max" "min" "argmax" "argmin" "dot" "norm1" "norm2"
   "variance")
 (#set! pattern "reduction-loop"))

; Elements, each by itself.
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[i] + b[i]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] += a[i]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[i] - b[i]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[i] * b[i]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[i] / b[i]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = s * a[i]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] /= s; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] += s * a[i]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] -= s * a[i]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[i] * b[i] + s; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = fabsf(a[i]); }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = -a[i]; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = fminf(fmaxf(a[i], 0), s); }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = sqrtf(a[i]); }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = expf(a[i]); }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = logf(a[i]); }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = 1 / (1 + expf(-a[i])); }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = tanhf(a[i]); }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[i] > 0 ? a[i] : 0; }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = 0.5f * a[i] * (1 + erff(a[i] * 0.7071068f)); }
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[i]; }
;+ void f(float a[4][4], float b[4][4]) { for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) b[j][i] = a[i][j]; }
;+ void f(std::vector<double> &v) { for (auto &x : v) x *= 2; }
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = c[i - 1] + a[i]; }
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = 0; }
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = i * a[i]; }
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[(int)b[i]]; }
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[i] + noise(); }
;- void f(char *c, const char *a, int n) { while (n--) *c++ = *a++; }
;- void f(int *c, int n, int s) { for (int i = 0; i < n; i++) c[i] *= s; }
([(for_statement) (while_statement) (for_range_loop)] @finding
 (#computes? @finding
   "add" "sub" "mul" "div" "scale" "axpy" "fma" "abs" "neg" "clamp" "sqrt"
   "exp" "log" "sigmoid" "tanh" "relu" "gelu" "copy" "transpose")
 (#set! pattern "element-loop"))

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
   "min_element")
 (#computes? @finding
   "sum" "mean" "max" "min" "argmax" "argmin" "dot" "norm1" "norm2")
 (#set! pattern "algorithm-reduction"))

;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), std::plus<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), std::minus<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), std::multiplies<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), std::divides<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), std::negate<>()); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), [](float x) { return 2 * x; }); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), v.begin(), w.begin(), [](float x, float y) { return 2 * x + y; }); }
;+ void f(const std::vector<float> &v, std::vector<float> &w) { std::transform(v.begin(), v.end(), w.begin(), [](float x) { return 2 * x + 1; }); }
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
 (#named? @callee "transform" "for_each")
 (#computes? @finding
   "add" "sub" "mul" "div" "scale" "axpy" "fma" "abs" "neg" "clamp" "sqrt"
   "exp" "log" "sigmoid" "tanh" "relu" "gelu")
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
;- double f(const Ledger &l) { return l.sum(); }
;- double f(const Eigen::MatrixXd &a) { return a.rows() + a(0, 0); }
((call_expression function: (_) @callee) @finding
 (#named? @callee
   "dot" "squaredNorm" "sum" "accu" "mean" "norm" "lpNorm" "max" "min"
   "maxCoeff" "minCoeff" "amax" "amin" "abs" "exp" "log" "sqrt" "tanh"
   "cwiseProduct" "cwiseQuotient" "cwiseAbs" "cwiseSqrt")
 (#computes? @finding
   "matmul" "dot" "sum" "mean" "norm1" "norm2" "max" "min" "argmax" "argmin"
   "mul" "div" "abs" "sqrt" "exp" "log" "tanh")
 (#set! pattern "matrix-method"))
