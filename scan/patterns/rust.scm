; SPDX-License-Identifier: MIT
; rust.scm - what is looked at in Rust, op by op. A call, a loop, an operator or a
; macro is a candidate; #computes? answers what it computes, from the types and
; loops that can be seen in the file (rust.h). A line with ;+ must be found by the
; pattern below it, one with ;- by none.

; matmul: Matrix products: three levels, two factors that share one of them; by name; * of nalgebra.
;+ fn f(a: &Tensor, b: &Tensor) -> Tensor { a.matmul(b) }
;+ fn f(a: &Array2<f32>, b: &Array2<f32>) -> Array2<f32> { a.dot(b) }
;+ fn f(a: &M, b: &M) -> M { linalg::gemm(1.0, a, b) }
;+ fn f(a: &[f32], b: &[f32], c: &mut [f32]) { unsafe { blas::sgemm(b'N', b'N', 2, 2, 2, 1.0, a, 2, b, 2, 0.0, c, 2) } }
;- fn matmul(a: &M, b: &M) -> M;
;- fn f() -> &'static str { "matmul(a, b)" }
;- fn f(r: &mut R) { r.add("matmul", matmul); }
;- fn f(a: &Array2<i64>, b: &Array2<i64>) -> Array2<i64> { a.dot(b) }
((call_expression) @finding
  (#computes? @finding "matmul")
  (#set! pattern "matmul-call") (#set! op "matmul"))

;+ fn f(a: &[Vec<f64>], b: &[Vec<f64>], c: &mut [Vec<f64>], n: usize) {\n for i in 0..n { for j in 0..n { for k in 0..n { c[i][j] += a[i][k] * b[k][j]; } } } }
;- fn f(a: &[Vec<i64>], b: &[Vec<i64>], c: &mut [Vec<i64>], n: usize) {\n for i in 0..n { for j in 0..n { for k in 0..n { c[i][j] += a[i][k] * b[k][j]; } } } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "matmul")
  (#set! pattern "matmul-loop") (#set! op "matmul"))

;+ fn f(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> { a * b }
;- fn f(a: &Matrix3<f64>, b: &Matrix3<f64>) -> Matrix3<f64> { a * b }
([(binary_expression) (compound_assignment_expr)] @finding
  (#computes? @finding "matmul")
  (#set! pattern "matmul-operator") (#set! op "matmul"))

; batched_matmul: A matrix product in a loop over which both factors go.
;+ fn f(a: &Tensor, b: &Tensor) -> Tensor { a.bmm(b) }
((call_expression) @finding
  (#computes? @finding "batched_matmul")
  (#set! pattern "batched-matmul-call") (#set! op "batched_matmul"))

;+ fn f(a: &[Vec<Vec<f32>>], b: &[Vec<Vec<f32>>], c: &mut [Vec<Vec<f32>>], n: usize) {\n for s in 0..n { for i in 0..n { for j in 0..n { for k in 0..n {\n c[s][i][j] += a[s][i][k] * b[s][k][j]; } } } } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "batched_matmul")
  (#set! pattern "batched-matmul-loop") (#set! op "batched_matmul"))

; gemv: A matrix by a vector: two levels.
;+ fn f(w: &[Vec<f32>], x: &[f32]) -> Vec<f32> { w.iter().map(|r| r.iter().zip(x).map(|(a, b)| a * b).sum()).collect() }
;+ fn f(a: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> { a.dot(x) }
((call_expression) @finding
  (#computes? @finding "gemv")
  (#set! pattern "gemv-call") (#set! op "gemv"))

;- fn f(t: &[f32], x: &[f32], y: &mut [f32], n: usize) {\n for i in 0..n { for k in 0..n { y[i] += t[i * k % n] * x[k]; } } }
;+ fn f(w: &[Vec<f32>], x: &[f32], y: &mut [f32]) {\n for i in 0..y.len() { for k in 0..x.len() { y[i] += w[i][k] * x[k]; } } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "gemv")
  (#set! pattern "gemv-loop") (#set! op "gemv"))

;+ fn f(a: &DMatrix<f64>, x: &DVector<f64>) -> DVector<f64> { a * x }
((binary_expression) @finding
  (#computes? @finding "gemv")
  (#set! pattern "gemv-operator") (#set! op "gemv"))

; conv2d: Convolutions, of one dimension too: an index adds a kept and a summed counter.
;+ fn f(x: &Tensor, k: &Tensor) -> Tensor { x.conv2d(k, 1, 1) }
;+ fn f(x: &[f32], k: &[f32]) -> Vec<f32> { convolve(x, k) }
;- fn f(vb: V) { let c = candle_nn::conv2d(3, 64, 3, d, vb); }
((call_expression) @finding
  (#computes? @finding "conv2d")
  (#set! pattern "conv2d-call") (#set! op "conv2d"))

;+ fn f(x: &[f64], h: &[f64], y: &mut [f64]) {\n for i in 0..y.len() { for k in 0..h.len() { y[i] += x[i + k] * h[k]; } } }
;+ fn f(x: &[f64], h: &[f64], y: &mut [f64]) {\n for i in 0..x.len() { for k in 0..h.len() { y[i + k] += x[i] * h[k]; } } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "conv2d")
  (#set! pattern "conv2d-loop") (#set! op "conv2d"))

; pooling: The largest or the mean of windows.
;+ fn f(x: &Tensor) -> Tensor { x.max_pool2d(2) }
;+ fn f(x: &[f64], n: usize) -> Vec<f64> { x.windows(n).map(|w| w.iter().sum::<f64>() / n as f64).collect() }
((call_expression) @finding
  (#computes? @finding "pooling")
  (#set! pattern "pooling-call") (#set! op "pooling"))

;+ fn f(x: &[f32], y: &mut [f32]) {\n for i in 0..y.len() { let mut m = f32::MIN; for k in 0..2 { m = m.max(x[i * 2 + k]); } y[i] = m; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "pooling")
  (#set! pattern "pooling-loop") (#set! op "pooling"))

; attention: softmax(Q K') V, through the names that the steps were given.
;+ fn f(q: &T, k: &T, v: &T) -> T { let s = q.matmul(&k.t()); let w = softmax(&s); w.matmul(v) }
((call_expression) @finding
  (#computes? @finding "attention")
  (#set! pattern "attention-call") (#set! op "attention"))

; softmax: exp, sum, divide in one function; or by name.
;+ fn f(x: &[f32]) -> Vec<f32> { let m = x.iter().copied().fold(f32::MIN, f32::max);\n let e: Vec<f32> = x.iter().map(|v| (v - m).exp()).collect();\n let s: f32 = e.iter().sum(); e.iter().map(|v| v / s).collect() }
;- fn f() -> bool { config.softmax }
((call_expression) @finding
  (#computes? @finding "softmax")
  (#set! pattern "softmax-call") (#set! op "softmax"))

;+ fn f(x: &mut [f32], m: f32) { let mut s = 0.0;\n for v in x.iter_mut() { *v = (*v - m).exp(); s += *v; }\n for v in x.iter_mut() { *v /= s; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "softmax")
  (#set! pattern "softmax-loop") (#set! op "softmax"))

; layernorm: mean, variance, scale in one function; or by name.
;+ fn f(x: &[f32], n: f32) -> Vec<f32> { let m = x.iter().sum::<f32>() / n;\n let v = x.iter().map(|a| (a - m).powi(2)).sum::<f32>() / n; let s = v.sqrt();\n x.iter().map(|a| (a - m) / s).collect() }
((call_expression) @finding
  (#computes? @finding "layernorm")
  (#set! pattern "layernorm-call") (#set! op "layernorm"))

;+ fn f(x: &mut [f32], n: f32) { let m = x.iter().sum::<f32>() / n;\n let v = x.iter().map(|a| (a - m).powi(2)).sum::<f32>() / n; let s = v.sqrt();\n for a in x.iter_mut() { *a = (*a - m) / s; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "layernorm")
  (#set! pattern "layernorm-loop") (#set! op "layernorm"))

; mean: A sum divided by a count.
;+ fn f(v: &[f64]) -> f64 { v.iter().sum::<f64>() / v.len() as f64 }
((binary_expression) @finding
  (#computes? @finding "mean")
  (#set! pattern "mean-operator") (#set! op "mean"))

;+ fn f(a: &Array1<f32>) -> f32 { a.mean().unwrap() }
;- struct P; impl P { fn mean(&self) -> f64 { 0.5 } }\nfn f(p: &P) -> f64 { p.mean() }
((call_expression) @finding
  (#computes? @finding "mean")
  (#set! pattern "mean-call") (#set! op "mean"))

;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { s += x; } s / v.len() as f64 }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "mean")
  (#set! pattern "mean-loop") (#set! op "mean"))

; variance: Squared distances from something that stays.
;+ fn f(v: &[f64], m: f64) -> f64 { v.iter().map(|x| (x - m).powi(2)).sum::<f64>() / v.len() as f64 }
((binary_expression) @finding
  (#computes? @finding "variance")
  (#set! pattern "variance-operator") (#set! op "variance"))

;+ fn f(v: &[f64], m: f64) -> f64 { v.iter().map(|x| (x - m) * (x - m)).sum::<f64>() }
;+ fn f(v: &[f64], m: f64) -> f64 { v.iter().map(|x| (x - m).powi(2)).fold(0.0, Add::add) }
((call_expression) @finding
  (#computes? @finding "variance")
  (#set! pattern "variance-call") (#set! op "variance"))

;+ fn f(v: &[f64], m: f64) -> f64 { let mut s = 0.0; for x in v { s += (x - m) * (x - m); } s }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "variance")
  (#set! pattern "variance-loop") (#set! op "variance"))

; norm2: The root of a sum of squares.
;+ fn f(v: &[f64]) -> f64 { v.iter().map(|x| x * x).sum::<f64>().sqrt() }
;+ fn f(x: &DVector<f64>) -> f64 { x.norm() }
;- fn f(x: &Vector3<f64>) -> f64 { x.norm() }
((call_expression) @finding
  (#computes? @finding "norm2")
  (#set! pattern "norm2-call") (#set! op "norm2"))

; norm1: A sum of magnitudes.
;+ fn f(v: &[f64]) -> f64 { v.iter().map(|x| x.abs()).sum() }
((call_expression) @finding
  (#computes? @finding "norm1")
  (#set! pattern "norm1-call") (#set! op "norm1"))

;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { s += x.abs(); } s }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "norm1")
  (#set! pattern "norm1-loop") (#set! op "norm1"))

; dot: A sum of products over one level.
;+ fn f(a: &[f32], b: &[f32]) -> f32 { a.iter().zip(b).map(|(x, y)| x * y).sum() }
;+ fn f(a: &[f32], b: &[f32]) -> f32 { std::iter::zip(a, b).map(|(x, y)| x * y).sum() }
;+ fn f(a: &[f32], b: &[f32]) -> f32 { a.iter().zip(b).fold(0.0, |s, (x, y)| s + x * y) }
;- fn dot(p: &str) -> usize { 0 }\nfn f() -> usize { dot("a.b") }
;- fn f(a: &[u32], b: &[u32]) -> u32 { a.iter().zip(b).map(|(x, y)| x * y).sum() }
((call_expression) @finding
  (#computes? @finding "dot")
  (#set! pattern "dot-call") (#set! op "dot"))

;+ fn f(a: &[f64], b: &[f64]) -> f64 { let mut s = 0.0; for i in 0..a.len() { s += a[i] * b[i]; } s }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "dot")
  (#set! pattern "dot-loop") (#set! op "dot"))

; product: Products of all. The catalogue has no such op; sum is its nearest: as many steps.
;+ fn f(v: &[f64]) -> f64 { v.iter().product() }
;+ fn f(v: &[f64]) -> f64 { v.iter().fold(1.0, |a, x| a * x) }
;- fn f(n: u64) -> u64 { (1..=n).product() }
((call_expression) @finding
  (#computes? @finding "product")
  (#set! pattern "product-call") (#set! op "sum") (#set! name "product"))

;+ fn f(v: &[f64]) -> f64 { let mut p = 1.0; for x in v { p *= x; } p }
;- fn f(v: &[f64]) -> f64 { let mut p = 1.0; for _ in 0..9 { p *= 0.5; } p }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "product")
  (#set! pattern "product-loop") (#set! op "sum") (#set! name "product"))

;+ fn f(v: &[f32]) { println!("{}", v.iter().product::<f32>()); }
((token_tree (identifier) @finding)
  (#computes? @finding "product")
  (#set! pattern "product-token") (#set! op "sum") (#set! name "product"))

; sum: Sums: methods with and without turbofish, folds, loops.
;+ fn f(v: &[f64]) -> f64 { v.iter().sum() }
;+ fn f(v: &[f64]) -> f64 { v.par_iter().sum::<f64>() }
;+ fn f(v: &[f64]) -> f64 { v.iter().fold(0.0, |a, x| a + x) }
;- fn f(v: &[i32]) -> i32 { v.iter().sum() }
;- fn f(w: &[String]) -> usize { w.iter().map(|x| x.len()).sum() }
;- fn f(x: &[f64], p: &[usize]) -> f64 { p.iter().map(|&i| x[i]).sum() }
;- fn f(n: usize) -> f64 { (1..=n).map(|i| i as f64).sum::<f64>() }
;- fn f(m: &HashMap<u32, f64>) -> f64 { m.values().sum() }
;- // v.iter().sum::<f32>()
;- fn f(v: &[f64]) -> f64 { v.iter().fold(0.0, |s, x| s * 0.9 + x * 0.1) }
((call_expression) @finding
  (#computes? @finding "sum")
  (#set! pattern "sum-call") (#set! op "sum"))

;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { s += x; } s }
;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; for i in 0..v.len() { s += v[i]; } s }
;+ fn f(v: &[f64]) -> f64 { let mut s = 0.0; let mut i = 0; while i < v.len() { s += v[i]; i += 1; } s }
;- fn f(v: &[u8]) -> u32 { let mut s = 0; for x in v { s += *x as u32; } s }
;- fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { s += 0.1 * (x - s); } s }
;- fn f(v: &[f64], o: &mut Vec<f64>) { let mut s = 0.0; for x in v { s += x; o.push(s); } }
;- fn f(v: &[f64]) -> f64 { let mut s = 0.0; for x in v { if *x > 1.0 { s += x; break; } } s }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "sum")
  (#set! pattern "sum-loop") (#set! op "sum"))

;+ fn f(v: &[f32]) { println!("{}", v.iter().sum::<f32>()); }
;- macro_rules! t { ($v:expr) => { $v.iter().sum::<f32>() }; }
((token_tree (identifier) @finding)
  (#computes? @finding "sum")
  (#set! pattern "sum-token") (#set! op "sum"))

; max: The largest of all, in floats' order.
;+ fn f(v: &[f64]) -> f64 { v.iter().copied().fold(f64::MIN, f64::max) }
;+ fn f(v: &[f64]) -> Option<&f64> { v.iter().max_by(|a, b| a.partial_cmp(b).unwrap()) }
;- fn f(a: f64, b: f64) -> f64 { a.max(b) }
;- fn f(v: &[u32]) -> Option<&u32> { v.iter().max() }
((call_expression) @finding
  (#computes? @finding "max")
  (#set! pattern "max-call") (#set! op "max"))

;+ fn f(v: &[f64]) -> f64 { let mut m = v[0]; for x in v { if *x > m { m = *x; } } m }
;+ fn f(v: &[f64]) -> f64 { let mut m = v[0]; for x in v { m = m.max(*x); } m }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "max")
  (#set! pattern "max-loop") (#set! op "max"))

; argmax: Where it is.
;+ fn f(v: &[f64]) -> usize { v.iter().position_max_by(|a, b| a.total_cmp(b)).unwrap() }
;+ fn f(v: &[f64]) -> usize { v.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 }
((call_expression) @finding
  (#computes? @finding "argmax")
  (#set! pattern "argmax-call") (#set! op "argmax"))

;+ fn f(v: &[f64]) -> usize { let mut b = 0; for i in 1..v.len() { if v[i] > v[b] { b = i; } } b }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "argmax")
  (#set! pattern "argmax-loop") (#set! op "argmax"))

; min: The smallest of all, in floats' order.
;+ fn f(v: &[f64]) -> f64 { v.iter().copied().fold(f64::MAX, f64::min) }
;+ fn f(v: &[f64]) -> Option<&f64> { v.iter().min_by(|a, b| a.partial_cmp(b).unwrap()) }
;- fn f(a: f64, b: f64) -> f64 { a.min(b) }
;- fn f(v: &[u32]) -> Option<&u32> { v.iter().min() }
((call_expression) @finding
  (#computes? @finding "min")
  (#set! pattern "min-call") (#set! op "min"))

;+ fn f(v: &[f64]) -> f64 { let mut m = v[0]; for x in v { if *x < m { m = *x; } } m }
;+ fn f(v: &[f64]) -> f64 { let mut m = v[0]; for x in v { m = m.min(*x); } m }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "min")
  (#set! pattern "min-loop") (#set! op "min"))

; argmin: Where it is.
;+ fn f(v: &[f64]) -> usize { v.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 }
((call_expression) @finding
  (#computes? @finding "argmin")
  (#set! pattern "argmin-call") (#set! op "argmin"))

;+ fn f(v: &[f64]) -> usize { let mut b = 0; for i in 1..v.len() { if v[i] < v[b] { b = i; } } b }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "argmin")
  (#set! pattern "argmin-loop") (#set! op "argmin"))

; add: Element by element: sums.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x + y).collect() }
;- fn f(a: &[u32], b: &[u32]) -> Vec<u32> { a.iter().zip(b).map(|(x, y)| x + y).collect() }
((call_expression) @finding
  (#computes? @finding "add")
  (#set! pattern "add-call") (#set! op "add"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x + y; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "add")
  (#set! pattern "add-loop") (#set! op "add"))

;+ fn f(a: &Array1<f32>, b: &Array1<f32>) -> Array1<f32> { a + b }
;- fn f(a: f32, b: f32) -> f32 { a + b }
([(binary_expression) (compound_assignment_expr)] @finding
  (#computes? @finding "add")
  (#set! pattern "add-operator") (#set! op "add"))

;+ fn f(a: &mut Array1<f32>, b: &Array1<f32>) { azip!((a in a, &b in b) *a += b); }
((macro_invocation) @finding
  (#computes? @finding "add")
  (#set! pattern "add-macro") (#set! op "add"))

; sub: Differences.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x - y).collect() }
((call_expression) @finding
  (#computes? @finding "sub")
  (#set! pattern "sub-call") (#set! op "sub"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x - y; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "sub")
  (#set! pattern "sub-loop") (#set! op "sub"))

;+ fn f(a: &Array1<f32>, b: &Array1<f32>) -> Array1<f32> { a - b }
;- fn f(a: f32, b: f32) -> f32 { a - b }
([(binary_expression) (compound_assignment_expr)] @finding
  (#computes? @finding "sub")
  (#set! pattern "sub-operator") (#set! op "sub"))

; mul: Products.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x * y).collect() }
((call_expression) @finding
  (#computes? @finding "mul")
  (#set! pattern "mul-call") (#set! op "mul"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x * y; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "mul")
  (#set! pattern "mul-loop") (#set! op "mul"))

;+ fn f(a: &Array1<f32>, b: &Array1<f32>) -> Array1<f32> { a * b }
;- fn f(a: f32, b: f32) -> f32 { a * b }
([(binary_expression) (compound_assignment_expr)] @finding
  (#computes? @finding "mul")
  (#set! pattern "mul-operator") (#set! op "mul"))

; div: Quotients.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x / y).collect() }
((call_expression) @finding
  (#computes? @finding "div")
  (#set! pattern "div-call") (#set! op "div"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x / y; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "div")
  (#set! pattern "div-loop") (#set! op "div"))

;+ fn f(a: &Array1<f32>, b: &Array1<f32>) -> Array1<f32> { a / b }
;- fn f(a: f32, b: f32) -> f32 { a / b }
([(binary_expression) (compound_assignment_expr)] @finding
  (#computes? @finding "div")
  (#set! pattern "div-operator") (#set! op "div"))

; scale: By a factor that stays.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x * k).collect() }
;- fn f(x: Option<f32>) -> Option<f32> { x.map(|v| v * 0.5) }
;- fn f(v: &[i32]) -> Vec<i32> { v.iter().map(|x| x * 2).collect() }
((call_expression) @finding
  (#computes? @finding "scale")
  (#set! pattern "scale-call") (#set! op "scale"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x * k; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "scale")
  (#set! pattern "scale-loop") (#set! op "scale"))

;+ fn f(a: &Array1<f32>) -> Array1<f32> { a * 2.0 }
;+ fn f(a: &mut Array1<f32>, k: f32) { *a *= 1.0 - k; }
;- fn f(a: &mut f32, k: f32) { *a *= 1.0 - k; }
([(binary_expression) (compound_assignment_expr)] @finding
  (#computes? @finding "scale")
  (#set! pattern "scale-operator") (#set! op "scale"))

; axpy: a x + y with a that stays.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| k * x + y).collect() }
((call_expression) @finding
  (#computes? @finding "axpy")
  (#set! pattern "axpy-call") (#set! op "axpy"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = k * x + y; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "axpy")
  (#set! pattern "axpy-loop") (#set! op "axpy"))

; fma: a b + c.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x * y + k).collect() }
((call_expression) @finding
  (#computes? @finding "fma")
  (#set! pattern "fma-call") (#set! op "fma"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x * y + k; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "fma")
  (#set! pattern "fma-loop") (#set! op "fma"))

; abs: Magnitudes.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.abs()).collect() }
((call_expression) @finding
  (#computes? @finding "abs")
  (#set! pattern "abs-call") (#set! op "abs"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.abs(); } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "abs")
  (#set! pattern "abs-loop") (#set! op "abs"))

; neg: Negatives.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| -x).collect() }
((call_expression) @finding
  (#computes? @finding "neg")
  (#set! pattern "neg-call") (#set! op "neg"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = -x; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "neg")
  (#set! pattern "neg-loop") (#set! op "neg"))

; clamp: Limits.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.clamp(0.0, k)).collect() }
((call_expression) @finding
  (#computes? @finding "clamp")
  (#set! pattern "clamp-call") (#set! op "clamp"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.clamp(0.0, k); } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "clamp")
  (#set! pattern "clamp-loop") (#set! op "clamp"))

; sqrt: Roots.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.sqrt()).collect() }
((call_expression) @finding
  (#computes? @finding "sqrt")
  (#set! pattern "sqrt-call") (#set! op "sqrt"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.sqrt(); } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "sqrt")
  (#set! pattern "sqrt-loop") (#set! op "sqrt"))

; exp: Exponentials.
;+ fn f(a: &[f32]) -> Vec<f32> { a.iter().map(|x| x.exp()).collect() }
;+ fn f(a: &Array1<f32>) -> Array1<f32> { a.mapv(f32::exp) }
;- fn f(n: usize) -> Vec<f32> { (0..n).map(|i| (i as f32).exp()).collect() }
((call_expression) @finding
  (#computes? @finding "exp")
  (#set! pattern "exp-call") (#set! op "exp"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.exp(); } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "exp")
  (#set! pattern "exp-loop") (#set! op "exp"))

; log: Logarithms.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.ln()).collect() }
((call_expression) @finding
  (#computes? @finding "log")
  (#set! pattern "log-call") (#set! op "log"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.ln(); } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "log")
  (#set! pattern "log-loop") (#set! op "log"))

; sigmoid: 1 / (1 + exp(-x)).
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| 1.0 / (1.0 + (-x).exp())).collect() }
((call_expression) @finding
  (#computes? @finding "sigmoid")
  (#set! pattern "sigmoid-call") (#set! op "sigmoid"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = 1.0 / (1.0 + (-x).exp()); } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "sigmoid")
  (#set! pattern "sigmoid-loop") (#set! op "sigmoid"))

; tanh: Hyperbolic tangents.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.tanh()).collect() }
((call_expression) @finding
  (#computes? @finding "tanh")
  (#set! pattern "tanh-call") (#set! op "tanh"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.tanh(); } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "tanh")
  (#set! pattern "tanh-loop") (#set! op "tanh"))

; relu: x, or 0 below it.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| x.max(0.0)).collect() }
((call_expression) @finding
  (#computes? @finding "relu")
  (#set! pattern "relu-call") (#set! op "relu"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = x.max(0.0); } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "relu")
  (#set! pattern "relu-loop") (#set! op "relu"))

; gelu: By the formula with tanh or erf.
;+ fn f(a: &[f32], b: &[f32], k: f32) -> Vec<f32> { a.iter().zip(b).map(|(x, y)| 0.5 * x * (1.0 + (0.79788 * (x + 0.044715 * x * x * x)).tanh())).collect() }
((call_expression) @finding
  (#computes? @finding "gelu")
  (#set! pattern "gelu-call") (#set! op "gelu"))

;+ fn f(a: &[f32], b: &[f32], k: f32, c: &mut [f32]) { for ((z, x), y) in c.iter_mut().zip(a).zip(b) { *z = 0.5 * x * (1.0 + (0.79788 * (x + 0.044715 * x * x * x)).tanh()); } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "gelu")
  (#set! pattern "gelu-loop") (#set! op "gelu"))

; copy: Copies by a loop.
;+ fn f(a: &[f32], b: &mut [f32]) { for i in 0..a.len() { b[i] = a[i]; } }
;- fn f(a: &[f32], b: &mut [f32]) { for (i, p) in a.chunks(2).enumerate() { b[i] = p[0]; } }
;- fn f(a: &[f32], b: &mut [f32]) { for i in 1..a.len() { b[i] = b[i - 1]; } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "copy")
  (#set! pattern "copy-loop") (#set! op "copy"))

; transpose: t[j][i] = a[i][j].
;+ fn f(a: &[Vec<f32>], t: &mut [Vec<f32>], n: usize) {\n for i in 0..n { for j in 0..n { t[j][i] = a[i][j]; } } }
([(for_expression) (while_expression)] @finding
  (#computes? @finding "transpose")
  (#set! pattern "transpose-loop") (#set! op "transpose"))

;+ fn f(a: &DMatrix<f64>) -> DMatrix<f64> { a.transpose() }
;- fn f(x: Option<Result<f32, E>>) -> Result<Option<f32>, E> { x.transpose() }
((call_expression) @finding
  (#computes? @finding "transpose")
  (#set! pattern "transpose-call") (#set! op "transpose"))
