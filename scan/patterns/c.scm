; SPDX-License-Identifier: MIT
; c.scm - what C code computes, and C++ code, too: there, cpp.scm follows it.
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
([(for_statement) (while_statement) (do_statement)] @finding
 (#computes? @finding
   "matmul" "batched_matmul" "gemv" "conv2d" "pooling")
 (#set! pattern "product-loops"))

; Several loops in a row, or in a loop, that make one thing together.
;+ void f(float *a, int n) { float s = 0; for (int i = 0; i < n; i++) { a[i] = expf(a[i]); s += a[i]; } for (int i = 0; i < n; i++) a[i] /= s; }
;+ void f(float *a, int n) { float m = 0, v = 0; for (int i = 0; i < n; i++) m += a[i]; m /= n; for (int i = 0; i < n; i++) v += (a[i] - m) * (a[i] - m); const float k = 1 / sqrtf(v / n); for (int i = 0; i < n; i++) a[i] = (a[i] - m) * k; }
;+ void f(const float *q, const float *k, const float *v, float *o, float *t, int n, int d) { for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { float s = 0; for (int c = 0; c < d; c++) s += q[i * d + c] * k[j * d + c]; t[j] = s; } float z = 0; for (int j = 0; j < n; j++) { t[j] = expf(t[j]); z += t[j]; } for (int j = 0; j < n; j++) t[j] /= z; for (int c = 0; c < d; c++) { float s = 0; for (int j = 0; j < n; j++) s += t[j] * v[j * d + c]; o[i * d + c] = s; } } }
([(for_statement) (while_statement) (do_statement)] @finding
 (#computes? @finding
   "softmax" "layernorm" "attention")
 (#set! pattern "composed-loops"))

; One number of many.
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
;+ float f(const float *p, const float *end) { float s = 0; for (; p < end; p++) s += *p; return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i]; return s / n; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }
;+ double f(const double *a, int n) { double s = 0; int i = 0; do { s += a[i]; } while (++i < n); return s; }
;+ double f(const double *a, const double *b, int n) { double s = 0; while (n--) s += *a++ * *b++; return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += fabsf(a[i]); return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i] * a[i]; return sqrtf(s); }
;+ float f(const float *a, int n, float m) { float s = 0; for (int i = 0; i < n; i++) s += (a[i] - m) * (a[i] - m); return s / n; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) if (a[i] > s) s = a[i]; return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s = fmaxf(s, a[i]); return s; }
;+ float f(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s = a[i] < s ? a[i] : s; return s; }
;+ int f(const float *a, int n) { int m = 0; for (int i = 1; i < n; i++) if (a[i] > a[m]) m = i; return m; }
;+ int f(const float *a, int n) { int m = 0; for (int i = 1; i < n; i++) if (a[i] < a[m]) m = i; return m; }
;- unsigned f(const unsigned char *a, int n) { unsigned s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
;- float f(const float *a, int n) { float s = 0; for (int i = 0; i < n; i++) { if (a[i] < 0) break; s += a[i]; } return s; }
;- int f(const float *a, int n) { int c = 0; for (int i = 0; i < n; i++) if (a[i] > 0) c++; return c; }
;- float f(const float *a, int n) { float s = 0; for (int i = 0; i < n; i++) s = s * 0.5f + a[i]; return s; }
([(for_statement) (while_statement) (do_statement)] @finding
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
;+ void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] += a[i] * b[i]; }
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
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = c[i - 1] + a[i]; }
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = 0; }
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = i * a[i]; }
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[(int)b[i]]; }
;- void f(const float *a, const float *b, float *c, int n, float s) { for (int i = 0; i < n; i++) c[i] = a[i] + noise(); }
;- void f(char *c, const char *a, int n) { while (n--) *c++ = *a++; }
;- void f(int *c, int n, int s) { for (int i = 0; i < n; i++) c[i] *= s; }
([(for_statement) (while_statement) (do_statement)] @finding
 (#computes? @finding
   "add" "sub" "mul" "div" "scale" "axpy" "fma" "abs" "neg" "clamp" "sqrt"
   "exp" "exp2" "expm1" "log" "log2" "log1p" "sin" "cos" "sigmoid" "tanh"
   "relu" "gelu" "copy" "transpose")
 (#set! pattern "element-loop"))
