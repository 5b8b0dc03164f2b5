// SPDX-License-Identifier: MIT
//! Generic code, tuple structs, parallel nests, guards and unusual spellings.

use ndarray::prelude::*;
use num_traits::Float;
use rayon::prelude::*;

const ROWS: usize = 256;
const COLS: usize = 128;

pub fn generic_total<T: Float>(v: &[T]) -> T {
    v.iter().fold(T::zero(), |acc, x| acc + *x) //~ sum
}

pub fn generic_where<T>(v: &[T]) -> T
where
    T: Float,
{
    let mut s = T::zero();
    for &x in v { //~ sum
        s = s + x;
    }
    s
}

pub fn not_a_float<T: Ord + Copy>(v: &[T]) -> Option<T> {
    v.iter().copied().max() //~!
}

pub fn any_number<T: Copy + std::ops::Add<Output = T>>(v: &[T], zero: T) -> T {
    v.iter().fold(zero, |acc, x| acc + *x) //~!
}

pub struct Vector(Vec<f64>);

impl Vector {
    pub fn length(&self) -> f64 {
        self.0.iter().map(|x| x * x).sum::<f64>().sqrt() //~ norm2
    }

    pub fn sum(&self) -> f64 {
        self.0.iter().sum() //~ sum
    }

    pub fn plus(&self, other: &Vector) -> Vector {
        Vector(self.0.iter().zip(&other.0).map(|(a, b)| a + b).collect()) //~ add
    }
}

pub fn through_a_method(v: &Vector) -> f64 {
    v.sum() //~!
}

pub struct Words(Vec<String>);

impl Words {
    pub fn letters(&self) -> usize {
        self.0.iter().map(String::len).sum() //~!
    }
}

pub fn parallel_product(a: &[f32], b: &[f32], c: &mut [f32], n: usize) {
    c.par_chunks_mut(n).enumerate().for_each(|(i, row)| { //~ matmul
        for j in 0..n {
            let mut s = 0.0;
            for k in 0..n {
                s += a[i * n + k] * b[k * n + j];
            }
            row[j] = s;
        }
    });
}

pub fn row_by_row(a: &[[f64; COLS]; ROWS], x: &[f64; COLS]) -> [f64; ROWS] {
    let mut y = [0.0; ROWS];
    for (row, out) in a.iter().zip(y.iter_mut()) { //~ gemv
        *out = row.iter().zip(x).map(|(p, q)| p * q).sum();
    }
    y
}

pub fn row_totals(a: &[[f64; COLS]; ROWS]) -> Vec<f64> {
    a.iter().map(|row| row.iter().sum::<f64>()).collect() //~ sum
}

pub fn column_totals(a: &[Vec<f32>], out: &mut [f32]) {
    for row in a {
        for (o, x) in out.iter_mut().zip(row) { //~ add
            *o += x;
        }
    }
}

pub fn scaled_rows(m: &mut Vec<Vec<f32>>, factor: f32) {
    for row in m.iter_mut() { //~ scale
        for x in row.iter_mut() {
            *x *= factor;
        }
    }
}

pub fn guarded(image: &[f32], kernel: &[f32], out: &mut [f32], w: usize, h: usize) {
    for y in 0..h { //~ conv2d
        for x in 0..w {
            let mut s = 0.0;
            for ky in 0..3 {
                for kx in 0..3 {
                    let (sy, sx) = (y + ky, x + kx);
                    if sy < h && sx < w {
                        s += image[sy * w + sx] * kernel[ky * 3 + kx];
                    }
                }
            }
            out[y * w + x] = s;
        }
    }
}

pub fn counted_down(v: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in (0..v.len()).rev() { //~ sum
        s += v[i];
    }
    s
}

pub fn every_other(v: &[f32]) -> f32 {
    v.iter().step_by(2).sum::<f32>() //~ sum
}

pub fn positive_only(v: &[f32]) -> f32 {
    v.iter().filter(|x| **x > 0.0).sum() //~ sum
}

pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let d: f32 = a.iter().zip(b.iter()).map(|(x, y)| x * y).sum(); //~ dot
    let la = a.iter().map(|x| x.powi(2)).sum::<f32>().sqrt(); //~ norm2
    let lb = b.iter().map(|x| x.powi(2)).sum::<f32>().sqrt(); //~ norm2
    d / (la * lb) //~!
}

pub fn mean_squared_error(p: &[f64], t: &[f64]) -> f64 {
    p.iter().zip(t).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / p.len() as f64 //~ dot
}

pub fn in_a_closure() -> impl Fn(&[f64]) -> f64 {
    |v: &[f64]| v.iter().sum() //~ sum
}

pub fn in_a_struct(v: &[f32], names: &[String]) -> Report {
    Report {
        total: v.iter().sum::<f32>(), //~ sum
        names: names.iter().map(|n| n.clone()).collect(), //~!
        longest: names.iter().map(|n| n.len()).max().unwrap_or(0), //~!
    }
}

pub fn in_a_match(kind: Kind, v: &[f32]) -> f32 {
    match kind {
        Kind::Sum => v.iter().sum(), //~ sum
        Kind::Max => v.iter().cloned().fold(f32::MIN, f32::max), //~ max
        Kind::None => 0.0, //~!
    }
}

pub fn unseen(x: &Layer, w: ArrayView2<f32>) -> Array2<f32> {
    x.activations().dot(&w) //~ matmul
}

pub fn made(n: usize) -> f64 {
    let a = vec![vec![1.0; 64]; 64];
    let mut s = 0.0;
    for i in 0..64 { //~ sum
        for j in 0..64 {
            s += a[i][j];
        }
    }
    s + n as f64
}

pub fn labelled(v: &[f32]) -> Option<usize> {
    'search: for i in 0..v.len() { //~!
        if v[i] > 1.0 {
            break 'search;
        }
    }
    None
}

pub fn early(v: &[f32]) -> Result<f32, Error> {
    let mut s = 0.0;
    for &x in v { //~!
        if x.is_nan() {
            return Err(Error::NotANumber);
        }
        s += x;
    }
    Ok(s)
}

pub fn simulated(state: &mut State, dt: f64) -> f64 {
    let mut energy = 0.0;
    for _ in 0..1000 { //~!
        energy += state.advance(dt);
    }
    energy
}

pub fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |acc, c| acc * x + c) //~!
}

pub fn horner_looped(coefficients: &[f64], x: f64) -> f64 {
    let mut y = 0.0;
    for c in coefficients { //~!
        y = y * x + c;
    }
    y
}

pub fn exponential_average(v: &[f64], out: &mut [f64]) {
    let mut state = 0.0;
    for i in 0..v.len() { //~!
        state = 0.9 * state + 0.1 * v[i];
        out[i] = state;
    }
}

pub fn scattered(index: &[usize], v: &[u32], out: &mut [u32]) {
    for i in 0..index.len() { //~!
        out[index[i]] += v[i];
    }
}

pub fn dates(days: &[i64]) -> Vec<i64> {
    days.iter().map(|d| d * 86_400).collect() //~!
}

pub fn ratios(a: &[u32], b: &[u32]) -> Vec<u32> {
    a.iter().zip(b.iter()).map(|(x, y)| x / y.max(&1)).collect() //~!
}

pub fn options(v: &[Option<f32>]) -> Vec<f32> {
    v.iter().flatten().copied().collect() //~!
}

pub fn averaged_option(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.zip(b).map(|(x, y)| (x + y) / 2.0) //~!
}

pub fn chosen(v: &[Candidate]) -> Option<&Candidate> {
    v.iter().max_by(|a, b| a.score.partial_cmp(&b.score).unwrap()) //~!
}

pub fn voted(v: &[(String, f64)]) -> Option<&(String, f64)> {
    v.iter().max_by(|a, b| a.1.partial_cmp(&b.1).unwrap()) //~!
}

pub fn pi(samples: u64) -> f64 {
    let step = 1.0 / samples as f64;
    let mut total = 0.0;
    for i in 0..samples { //~!
        let x = (i as f64 + 0.5) * step;
        total += 4.0 / (1.0 + x * x);
    }
    total * step
}

pub fn orthogonal(a: &[Vec<f64>], q: &mut [Vec<f64>], n: usize) {
    for j in 0..n {
        let mut v: Vec<f64> = a.iter().map(|row| row[j]).collect(); //~!
        for i in 0..j {
            let d = (0..n).map(|k| q[k][i] * a[k][j]).sum::<f64>(); //~ dot
            for k in 0..n { //~ axpy
                v[k] -= d * q[k][i];
            }
        }
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt(); //~ norm2
        for k in 0..n { //~ scale
            q[k][j] = v[k] / length;
        }
    }
}

pub fn total_while(v: &[f64]) -> f64 {
    let mut i = 0;
    let mut s = 0.0;
    while i < v.len() { //~ sum
        s += v[i];
        i += 1;
    }
    s
}

pub fn added_while(a: &[f32; 64], b: &[f32; 64], c: &mut [f32; 64]) {
    let mut i = 0;
    while i < 64 { //~ add 64 f32
        c[i] = a[i] + b[i];
        i += 1;
    }
}

pub fn product_while(a: &[f64], b: &[f64], c: &mut [f64], n: usize) {
    let mut i = 0;
    while i < n { //~ matmul
        let mut j = 0;
        while j < n {
            let mut k = 0;
            while k < n {
                c[i * n + j] += a[i * n + k] * b[k * n + j];
                k += 1;
            }
            j += 1;
        }
        i += 1;
    }
}

pub fn collatz(mut n: u64) -> u32 {
    let mut steps = 0;
    while n != 1 { //~!
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

pub fn converged(mut x: f64) -> f64 {
    let mut error = 1.0;
    while error > 1e-9 { //~!
        let next = 0.5 * (x + 2.0 / x);
        error = (next - x).abs();
        x = next;
    }
    x
}

pub fn searched(v: &[f64], limit: f64) -> usize {
    let mut i = 0;
    while i < v.len() { //~!
        if v[i] > limit {
            break;
        }
        i += 1;
    }
    i
}

pub fn some_of(v: &[f32; 100]) -> f32 {
    v.iter().skip(10).sum() //~ sum f32
}

pub fn series(coefficients: &[f64], x: f64) -> f64 {
    let mut below = x;
    let mut s = 1.0;
    for c in coefficients { //~!
        below += 1.0;
        s += c / below;
    }
    s
}

pub fn throughput(times: &mut [f64], bytes: f64, unit: f64) {
    for t in times { //~ div
        let rate = bytes * (1e9 / *t);
        *t = rate / unit;
    }
}

pub fn decays(v: &[f32], tau: f32, height: f32) -> Vec<f32> {
    v.iter().map(|t| height * (-t / tau).exp()).collect() //~ exp
}

pub struct Term {
    weight: f64,
}

pub struct Row {
    terms: Vec<Term>,
    cells: std::collections::HashMap<u32, f64>,
}

impl Row {
    pub fn scaled(&mut self, factor: f64) {
        for t in &mut self.terms { //~!
            *t = *t * factor;
        }
        for (_, v) in &mut self.cells { //~!
            *v *= factor;
        }
        for t in self.terms.iter_mut() { //~!
            t.weight *= factor;
        }
    }
}

pub fn backwards(v: &[f32], out: &mut [f32], n: usize) {
    for i in 0..n { //~!
        out[i] = -v[n - i - 1];
    }
}

pub fn interleaved(v: &[f32], out: &mut [f32], n: usize) {
    for i in 0..n { //~!
        out[i] = v[2 * i + 1];
    }
}

pub fn edges(graph: &Graph, node: Node) -> f64 {
    graph.edges_of(node).map(|e| e.weight()).fold(0.0, |a, b| a + b) //~!
}

pub fn shifted_copy(v: &[f32], out: &mut [f32], n: usize) {
    for i in 0..n { //~ copy
        out[i] = v[i + n];
    }
}

pub fn differences(v: &[f64], out: &mut [f64]) {
    for i in 1..v.len() { //~ sub
        out[i] = v[i] - v[i - 1];
    }
}

pub trait Statistics {
    fn least(&self) -> f64; //~!
    fn middle(&self) -> f64; //~!
    fn spread(&self) -> f64; //~!
}

impl Statistics for [f64] {
    fn least(&self) -> f64 {
        self.iter().fold(self[0], |p, q| p.min(*q)) //~ min
    }

    fn middle(&self) -> f64 {
        self.iter().sum::<f64>() / self.len() as f64 //~ mean
    }

    fn spread(&self) -> f64 {
        let mean = self.middle();
        let mut v = 0.0;
        for s in self { //~ variance
            let x = *s - mean;
            v += x * x;
        }
        v / (self.len() - 1) as f64
    }
}

impl Statistics for Vec<i64> {
    fn least(&self) -> f64 {
        self.iter().fold(self[0], |p, q| p.min(*q)) as f64 //~!
    }

    fn middle(&self) -> f64 {
        self.iter().sum::<i64>() as f64 / self.len() as f64 //~!
    }

    fn spread(&self) -> f64 {
        let mut v = 0;
        for s in self { //~!
            v += s * s;
        }
        v as f64
    }
}

pub fn nearest(point: &[f64], centres: &[Vec<f64>]) -> usize {
    let mut least = f64::MAX;
    let mut place = 0;
    for (i, centre) in centres.iter().enumerate() { //~!
        let d = distance(point, centre);
        if d < least {
            least = d;
            place = i;
        }
    }
    place
}

pub fn keyed(v: &[String]) -> Option<&String> {
    v.iter().max_by_key(|s| s.len()) //~!
}

pub fn generated(rng: &mut Rng, n: usize) -> Vec<f32> {
    (0..n).map(|_| rng.gen::<f32>() * 2.0 - 1.0).collect() //~!
}

pub fn interpolated(a: f32, b: f32, n: usize) -> Vec<f32> {
    (0..n).map(|i| a + (b - a) * i as f32 / n as f32).collect() //~!
}

#[cfg(not(test))]
mod production {
    pub fn total(v: &[f32]) -> f32 {
        v.iter().sum() //~ sum
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn total_of_three() {
        let v = [1.0f32, 2.0, 3.0];
        let total: f32 = v.iter().sum(); //~ sum 3 f32 test
        assert_eq!(total, 6.0); //~!
    }
}

pub fn sizes() -> f64 {
    let a = Array2::<f64>::zeros((512, 256));
    let b = Array2::<f64>::zeros((256, 64));
    let c = a.dot(&b); //~ matmul 512x64x256 f64
    let v = vec![0.5f64; 4096];
    let total: f64 = v.iter().sum(); //~ sum 4096 f64
    c.sum() + total //~ sum
}

pub fn sized_nest(a: &[[f32; COLS]; ROWS], b: &[[f32; ROWS]; COLS], c: &mut [[f32; ROWS]; ROWS]) {
    for i in 0..ROWS { //~ matmul 256x256x128 f32
        for j in 0..ROWS {
            for k in 0..COLS {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
}

pub fn sized_elements(a: &[f64; 1024], b: &mut [f64; 1024]) {
    for i in 0..1024 { //~ exp 1024 f64
        b[i] = a[i].exp();
    }
    for (x, y) in b.iter_mut().zip(a) { //~ mul 1024 f64
        *x *= y;
    }
}
