; SPDX-License-Identifier: MIT
; rust.scm - what is looked at in Rust: calls, loops, operators and macros.
; (#computes? @finding "op" ...) asks whether it computes one of these, from the
; types and loops that can be seen in the file (rust.h); which one it is follows
; from the answer. A line with ;+ must be found by the pattern below it, one with
; ;- by none.

; Products of matrices and vectors, and windows.
;+ fn f(a: &Tensor, b: &Tensor) -> Tensor { a.matmul(b) }
;+ fn f(a: &Array2<f32>, b: &Array2<f32>) -> Array2<f32> { a.dot(b) }
;+ fn f(a: &M, b: &M) -> M { linalg::gemm(1.0, a, b) }
;+ fn f(a: &[f32], b: &[f32], c: &mut [f32]) { unsafe { blas::sgemm(b'N', b'N', 2, 2, 2, 1.0, a, 2, b, 2, 0.0, c, 2) } }
;- fn matmul(a: &M, b: &M) -> M;
;- fn f() -> &'static str { "matmul(a, b)" }
;- fn f(r: &mut R) { r.add("matmul", matmul); }
;- fn f(a: &Array2<i64>, b: &Array2<i64>) -> Array2<i64> { a.dot(b) }
;+ fn f(a: &Tensor, b: &Tensor) -> Tensor { a.bmm(b) }
;+ fn f(w: &[Vec<f32>], x: &[f32]) -> Vec<f32> { w.iter().map(|r| r.iter().zip(x).map(|(a, b)| a * b).sum()).collect() }
;+ fn f(a: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> { a.dot(x) }
;+ fn f(x: &Tensor, k: &Tensor) -> Tensor { x.conv2d(k, 1, 1) }
;+ fn f(x: &[f32], k: &[f32]) -> Vec<f32> { convolve(x, k) }
;- fn f(vb: V) { let c = candle_nn::conv2d(3, 64, 3, d, vb); }
;+ fn f(x: &Tensor) -> Tensor { x.max_pool2d(2) }
;+ fn f(x: &[f64], n: usize) -> Vec<f64> { x.windows(n).map(|w| w.iter().sum::<f64>() / n as f64).collect() }
((call_expression) @finding
  (#computes? @finding
    "matmul" "batched_matmul" "gemv" "conv2d" "pooling")
  (#set! pattern "product-call"))

;+ fn f(a: &[Vec<f64>], b: &[Vec<f64>], c: &mut [Vec<f64>], n: usize) {\n for i in 0..n { for j in 0..n { for k in 0..n { c[i][j] += a[i][k] * b[k][j]; } } } }
;- fn f(a: &[Vec<i64>], b: &[Vec<i64>], c: &mut [Vec<i64>], n: usize) {\n for i in 0..n { for j in 0..n { for k in 0..n { c[i][j] += a[i][k] * b[k][j]; } } } }
;+ fn f(a: &[Vec<Vec<f32>>], b: &[Vec<Vec<f32>>], c: &mut [Vec<Vec<f32>>], n: usize) {\n for s in 0..n { for i in 0..n { for j in 0..n { for k in 0..n {\n c[s][i][j] += a[s][i][k] * b[s][k][j]; } } } } }
;- fn f(t: &[f32], x: &[f32], y: &mut [f32], n: usize) {\n for i in 0..n { for k in 0..n { y[i] += t[i * k % n] * x[k]; } } }
;+ fn f(w: &[Vec<f32>], x: &[f32], y: &mut [f32]) {\n for i in 0..y.len() { for k in 0..x.len() { y[i] += w[i][k] * x[k]; } } }
;+ fn f(x: &[f64], h: &[f64], y: &mut [f64]) {\n for i in 0..y.len() { for k in 0..h.len() { y[i] += x[i + k] * h[k]; } } }
;+ fn f(x: &[f64], h: &[f64], y: &mut [f64]) {\n for i in 0..x.len() { for k in 0..h.len() { y[i + k] += x[i] * h[k]; } } }
;+ fn f(x: &[f32], y: &mut [f32]) {\n for i in 0..y.len() { let mut m = f32::MIN; for k in 0..2 { m = m.max(x[i * 2 + k]); } y[i] = m; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding
    "matmul" "batched_matmul" "gemv" "conv2d" "pooling")
  (#set! pattern "product-loop"))

;+ fn f(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> { a * b }
;- fn f(a: &Matrix3<f64>, b: &Matrix3<f64>) -> Matrix3<f64> { a * b }
;+ fn f(a: &DMatrix<f64>, x: &DVector<f64>) -> DVector<f64> { a * x }
([(binary_expression) (compound_assignment_expr)] @finding
  (#computes? @finding
    "matmul" "gemv")
  (#set! pattern "product-operator"))

; Several steps that are one op.
;+ fn f(q: &T, k: &T, v: &T) -> T { let s = q.matmul(&k.t()); let w = softmax(&s); w.matmul(v) }
;+ fn f(x: &[f32]) -> Vec<f32> { let m = x.iter().copied().fold(f32::MIN, f32::max);\n let e: Vec<f32> = x.iter().map(|v| (v - m).exp()).collect();\n let s: f32 = e.iter().sum(); e.iter().map(|v| v / s).collect() }
;- fn f() -> bool { config.softmax }
;+ fn f(x: &[f32], n: f32) -> Vec<f32> { let m = x.iter().sum::<f32>() / n;\n let v = x.iter().map(|a| (a - m).powi(2)).sum::<f32>() / n; let s = v.sqrt();\n x.iter().map(|a| (a - m) / s).collect() }
((call_expression) @finding
  (#computes? @finding
    "attention" "softmax" "layernorm")
  (#set! pattern "composed-call"))

;+ fn f(x: &mut [f32], m: f32) { let mut s = 0.0;\n for v in x.iter_mut() { *v = (*v - m).exp(); s += *v; }\n for v in x.iter_mut() { *v /= s; } }
;+ fn f(x: &mut [f32], n: f32) { let m = x.iter().sum::<f32>() / n;\n let v = x.iter().map(|a| (a - m).powi(2)).sum::<f32>() / n; let s = v.sqrt();\n for a in x.iter_mut() { *a = (*a - m) / s; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding
    "attention" "softmax" "layernorm")
  (#set! pattern "composed-loop"))

; One number of many.
;+ fn f(v: &[f64]) -> f64 { v.iter().sum::<f64>() / v.len() as f64 }
;+ fn f(v: &[f64], m: f64) -> f64 { v.iter().map(|x| (x - m).powi(2)).sum::<f64>() / v.len() as f64 }
((binary_expression) @finding
  (#computes? @finding
    "mean" "variance")
  (#set! pattern "reduction-operator"))

;+ fn f(a: &Array1<f32>) -> f32 { a.mean().unwrap() }
;- struct P; impl P { fn mean(&self) -> f64 { 0.5 } }\nfn f(p: &P) -> f64 { p.mean() }
;+ fn f(v: &[f64], m: f64) -> f64 { v.iter().map(|x| (x - m) * (x - m)).sum::<f64>() }
;+ fn f(v: &[f64], m: f64) -> f64 { v.iter().map(|x| (x - m).powi(2)).fold(0.0, Add::add) }
;+ fn f(v: &[f64]) -> f64 { v.iter().map(|x| x * x).sum::<f64>().sqrt() }
;+ fn f(x: &DVector<f64>) -> f64 { x.norm() }
;- fn f(x: &Vector3<f64>) -> f64 { x.norm() }
;+ fn f(v: &[f64]) -> f64 { v.iter().map(|x| x.abs()).sum() }
;+ fn f(a: &[f32], b: &[f32]) -> f32 { a.iter().zip(b).map(|(x, y)| x * y).sum() }
;+ fn f(a: &[f32], b: &[f32]) -> f32 { std::iter::zip(a, b).map(|(x, y)| x * y).sum() }
;+ fn f(a: &[f32], b: &[f32]) -> f32 { a.iter().zip(b).fold(0.0, |s, (x, y)| s + x * y) }
;- fn dot(p: &str) -> usize { 0 }\nfn f() -> usize { dot("a.b") }
;- fn f(a: &[u32], b: &[u32]) -> u32 { a.iter().zip(b).map(|(x, y)| x * y).sum() }
;+ fn f(v: &[f64]) -> f64 { v.iter().sum() }
;+ fn f(v: &[f64]) -> f64 { v.par_iter().sum::<f64>() }
;+ fn f(v: &[f32]) { println!("{}", v.iter().sum::<f32>()); }
;+ fn f(v: &[f64]) -> f64 { v.iter().fold(0.0, |a, x| a + x) }
;- fn f(v: &[i32]) -> i32 { v.iter().sum() }
;- fn f(w: &[String]) -> usize { w.iter().map(|x| x.len()).sum() }
;- fn f(x: &[f64], p: &[usize]) -> f64 { p.iter().map(|&i| x[i]).sum() }
;- fn f(n: usize) -> f64 { (1..=n).map(|i| i as f64).sum::<f64>() }
;- fn f(m: &HashMap<u32, f64>) -> f64 { m.values().sum() }
;- // v.iter().sum::<f32>()
;- fn f(v: &[f64]) -> f64 { v.iter().fold(0.0, |s, x| s * 0.9 + x * 0.1) }
;+ fn f(v: &[f64]) -> f64 { v.iter().copied().fold(f64::MIN, f64::max) }
;+ fn f(v: &[f64]) -> Option<&f64> { v.iter().max_by(|a, b| a.partial_cmp(b).unwrap()) }
;- fn f(a: f64, b: f64) -> f64 { a.max(b) }
;- fn f(v: &[u32]) -> Option<&u32> { v.iter().max() }
;+ fn f(v: &[f64]) -> usize { v.iter().position_max_by(|a, b| a.total_cmp(b)).unwrap() }
;+ fn f(v: &[f64]) -> usize { v.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 }
;+ fn f(v: &[f64]) -> f64 { v.iter().copied().fold(f64::MAX, f64::min) }
;+ fn f(v: &[f64]) -> Option<&f64> { v.iter().min_by(|a, b| a.partial_cmp(b).unwrap()) }
;- fn f(a: f64, b: f64) -> f64 { a.min(b) }
;- fn f(v: &[u32]) -> Option<&u32> { v.iter().min() }
;+ fn f(v: &[f64]) -> usize { v.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 }
((call_expression) @finding
  (#computes? @finding
    "mean" "variance" "norm2" "norm1" "dot" "sum" "max" "argmax" "min"
    "argmin")
  (#set! pattern "reduction-call"))

;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { s += x; } s / v.len() as f64 }
;+ fn f(v: &[f64], m: f64) -> f64 { let mut s = 0.0; for x in v { s += (x - m) * (x - m); } s }
;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { s += x.abs(); } s }
;+ fn f(a: &[f64], b: &[f64]) -> f64 { let mut s = 0.0; for i in 0..a.len() { s += a[i] * b[i]; } s }
;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { s += x; } s }
;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; for i in 0..v.len() { s += v[i]; } s }
;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; let mut i = 0; while i < v.len() { s += v[i]; i += 1; } s }
;- fn f(v: &[u8]) -> u32 { let mut s = 0; for x in v { s += *x as u32; } s }
;- fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { s += 0.1 * (x - s); } s }
;- fn f(v: &[f64], o: &mut Vec<f64>) { let mut s = 0.0; for x in v { s += x; o.push(s); } }
;- fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { if *x > 1.0 { s += x; break; } } s }
;+ fn f(v: &[f64]) -> f64 { let mut m = v[0]; for x in v { if *x > m { m = *x; } } m }
;+ fn f(v: &[f64]) -> f64 { let mut m = v[0]; for x in v { m = m.max(*x); } m }
;+ fn f(v: &[f64]) -> usize { let mut b = 0; for i in 1..v.len() { if v[i] > v[b] { b = i; } } b }
;+ fn f(v: &[f64]) -> f64 { let mut m = v[0]; for x in v { if *x < m { m = *x; } } m }
;+ fn f(v: &[f64]) -> f64 { let mut m = v[0]; for x in v { m = m.min(*x); } m }
;+ fn f(v: &[f64]) -> usize { let mut b = 0; for i in 1..v.len() { if v[i] < v[b] { b = i; } } b }
([(for_expression) (while_expression)] @finding
  (#computes? @finding
    "mean" "variance" "norm1" "dot" "sum" "max" "argmax" "min" "argmin")
  (#set! pattern "reduction-loop"))

; A product of all: no op of the catalogue, but as much work as a sum.
;+ fn f(v: &[f64]) -> f64 { v.iter().product() }
;+ fn f(v: &[f32]) { println!("{}", v.iter().product::<f32>()); }
;+ fn f(v: &[f64]) -> f64 { v.iter().fold(1.0, |a, x| a * x) }
;- fn f(n: u64) -> u64 { (1..=n).product() }
((call_expression) @finding
  (#computes? @finding
    "product")
  (#set! pattern "product-of-all-call") (#set! op "sum") (#set! name "product"))

;+ fn f(v: &[f64]) -> f64 { let mut p = 1.0; for x in v { p *= x; } p }
;- fn f(v: &[f64]) -> f64 { let mut p = 1.0; for _ in 0..9 { p *= 0.5; } p }
([(for_expression) (while_expression)] @finding
  (#computes? @finding
    "product")
  (#set! pattern "product-of-all-loop") (#set! op "sum") (#set! name "product"))

; Elements, each by itself.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x + y).collect() }
;- fn f(a: &[u32], b: &[u32]) -> Vec<u32> { a.iter().zip(b).map(|(x, y)| x + y).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x - y).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x * y).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x / y).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x * k).collect() }
;- fn f(x: Option<f32>) -> Option<f32> { x.map(|v| v * 0.5) }
;- fn f(v: &[i32]) -> Vec<i32> { v.iter().map(|x| x * 2).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| k * x + y).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x * y + k).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.abs()).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| -x).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.clamp(0.0, k)).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.sqrt()).collect() }
;+ fn f(a: &[f32]) -> Vec<f32> { a.iter().map(|x| x.exp()).collect() }
;+ fn f(a: &Array1<f32>) -> Array1<f32> { a.mapv(f32::exp) }
;- fn f(n: usize) -> Vec<f32> { (0..n).map(|i| (i as f32).exp()).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.ln()).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| 1.0 / (1.0 + (-x).exp())).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.tanh()).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.max(0.0)).collect() }
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| 0.5 * x * (1.0 + (0.79788 * (x + 0.044715 * x * x * x)).tanh())).collect() }
;+ fn f(a: &DMatrix<f64>) -> DMatrix<f64> { a.transpose() }
;- fn f(x: Option<Result<f32, E>>) -> Result<Option<f32>, E> { x.transpose() }
((call_expression) @finding
  (#computes? @finding
    "add" "sub" "mul" "div" "scale" "axpy" "fma" "abs" "neg" "clamp" "sqrt"
    "exp" "exp2" "expm1" "log" "log2" "log1p" "sin" "cos" "sigmoid" "tanh"
    "relu" "gelu" "transpose")
  (#set! pattern "element-call"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x + y; } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x - y; } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x * y; } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x / y; } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x * k; } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = k * x + y; } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x * y + k; } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.abs(); } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = -x; } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.clamp(0.0, k); } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.sqrt(); } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.exp(); } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.ln(); } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = 1.0 / (1.0 + (-x).exp()); } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.tanh(); } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.max(0.0); } }
;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = 0.5 * x * (1.0 + (0.79788 * (x + 0.044715 * x * x * x)).tanh()); } }
;+ fn f(a: &[f32], b: &mut [f32]) { for i in 0..a.len() { b[i] = a[i]; } }
;- fn f(a: &[f32], b: &mut [f32]) { for (i, p) in a.chunks(2).enumerate() { b[i] = p[0]; } }
;- fn f(a: &[f32], b: &mut [f32]) { for i in 1..a.len() { b[i] = b[i - 1]; } }
;+ fn f(a: &[Vec<f32>], t: &mut [Vec<f32>], n: usize) {\n for i in 0..n { for j in 0..n { t[j][i] = a[i][j]; } } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding
    "add" "sub" "mul" "div" "scale" "axpy" "fma" "abs" "neg" "clamp" "sqrt"
    "exp" "exp2" "expm1" "log" "log2" "log1p" "sin" "cos" "sigmoid" "tanh"
    "relu" "gelu" "copy" "transpose")
  (#set! pattern "element-loop"))

;+ fn f(a: &Array1<f32>, b: &Array1<f32>) -> Array1<f32> { a + b }
;- fn f(a: f32, b: f32) -> f32 { a + b }
;+ fn f(a: &Array1<f32>, b: &Array1<f32>) -> Array1<f32> { a - b }
;- fn f(a: f32, b: f32) -> f32 { a - b }
;+ fn f(a: &Array1<f32>, b: &Array1<f32>) -> Array1<f32> { a * b }
;- fn f(a: f32, b: f32) -> f32 { a * b }
;+ fn f(a: &Array1<f32>, b: &Array1<f32>) -> Array1<f32> { a / b }
;- fn f(a: f32, b: f32) -> f32 { a / b }
;+ fn f(a: &Array1<f32>) -> Array1<f32> { a * 2.0 }
;+ fn f(a: &mut Array1<f32>, k: f32) { *a *= 1.0 - k; }
;- fn f(a: &mut f32, k: f32) { *a *= 1.0 - k; }
([(binary_expression) (compound_assignment_expr)] @finding
  (#computes? @finding
    "add" "sub" "mul" "div" "scale")
  (#set! pattern "element-operator"))

;+ fn f(a: &mut Array1<f32>, b: &Array1<f32>) { azip!((a in a, &b in b) *a += b); }
((macro_invocation) @finding
  (#computes? @finding
    "add")
  (#set! pattern "element-macro"))
