// SPDX-License-Identifier: MIT
//! Tools of a small workshop: fits, filters, a network, and book-keeping.
//!
//! The usual `a.iter().zip(b).map(|(x, y)| x * y).sum()` is everywhere.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::{Add, Mul};
use std::time::Duration;

use nalgebra::{DMatrix, DVector};
use ndarray::{Array1, Array2, ArrayView1, Axis};
use rayon::prelude::*;

const ROWS: usize = 128;
const INNER: usize = 96;
const COLS: usize = 64;
const TAPS: usize = 5;

// ---- fits -------------------------------------------------------------------

pub fn predict(design: &Array2<f64>, weights: &Array1<f64>) -> Array1<f64> {
    design.dot(weights) //~ gemv
}

pub fn gram(design: &Array2<f64>) -> Array2<f64> {
    design.t().dot(design) //~ matmul
}

pub fn descend(weights: &mut [f64], slope: &[f64], rate: f64) {
    for (w, g) in weights.iter_mut().zip(slope.iter()) { //~ axpy
        *w -= rate * g;
    }
}

pub fn loss(predicted: &[f32], wanted: &[f32]) -> f32 {
    predicted //~ dot
        .iter()
        .zip(wanted)
        .map(|(p, w)| (p - w).powi(2))
        .sum::<f32>()
        / predicted.len() as f32
}

pub fn mean_of(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64 //~ mean
}

pub fn deviation(samples: &[f64]) -> f64 {
    let mean = mean_of(samples);
    let var = samples.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / samples.len() as f64; //~ variance
    var.sqrt()
}

pub fn manhattan(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum() //~ norm1
}

pub fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt() //~ norm2
}

pub fn geometric(v: &[f64]) -> f64 {
    v.iter().map(|x| x.ln()).sum::<f64>() //~ sum
}

pub fn loudest(trace: &[f32]) -> f32 {
    trace.iter().cloned().fold(f32::NEG_INFINITY, f32::max) //~ max
}

pub fn quietest(trace: &[f32]) -> Option<&f32> {
    trace.iter().min_by(|a, b| a.total_cmp(b)) //~ min
}

pub fn where_loudest(trace: &[f32]) -> usize {
    let mut best = 0;
    for i in 1..trace.len() { //~ argmax
        if trace[i] > trace[best] {
            best = i;
        }
    }
    best
}

pub fn energy(blocks: &[Vec<f32>]) -> f32 {
    blocks.par_iter().map(|b| b.iter().map(|x| x * x).sum::<f32>()).sum() //~ dot
}

pub fn compounded(rates: &[f64]) -> f64 {
    rates.iter().fold(1.0, |a, r| a * r) //~ product
}

// ---- plain products ---------------------------------------------------------

pub fn multiply(a: &[f32], b: &[f32], c: &mut [f32]) {
    for i in 0..ROWS { //~ matmul 128x64x96 f32
        for j in 0..COLS {
            let mut acc = 0.0f32;
            for k in 0..INNER {
                acc += a[i * INNER + k] * b[k * COLS + j];
            }
            c[i * COLS + j] = acc;
        }
    }
}

pub fn apply(matrix: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    matrix //~ gemv
        .iter()
        .map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
        .collect()
}

pub fn outer_loop(m: &[[f64; COLS]; ROWS], v: &[f64; COLS], out: &mut [f64; ROWS]) {
    for r in 0..ROWS { //~ gemv 128x64 f64
        out[r] = 0.0;
        for c in 0..COLS {
            out[r] += m[r][c] * v[c];
        }
    }
}

pub fn turn(a: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut t = vec![vec![0.0f32; a.len()]; a[0].len()];
    for i in 0..a.len() { //~ transpose
        for j in 0..a[0].len() {
            t[j][i] = a[i][j];
        }
    }
    t
}

pub fn nalgebra_product(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    a * b //~ matmul
}

pub fn nalgebra_apply(a: &DMatrix<f64>, x: &DVector<f64>) -> DVector<f64> {
    a * x //~ gemv
}

pub fn nalgebra_length(x: &DVector<f64>) -> f64 {
    x.norm() //~ norm2
}

// ---- elements ---------------------------------------------------------------

pub fn added(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b.iter()).map(|(x, y)| x + y).collect() //~ add
}

pub fn differences(a: &[f32], b: &[f32], out: &mut Vec<f32>) {
    for (x, y) in a.iter().zip(b) { //~ sub
        out.push(x - y);
    }
}

pub fn gain(samples: &mut [f32], by: f32) {
    samples.iter_mut().for_each(|s| *s *= by); //~ scale
}

pub fn masked(image: &mut [f64], mask: &[f64]) {
    for i in 0..image.len() { //~ mul
        image[i] *= mask[i];
    }
}

pub fn ratio(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..a.len()).map(|i| a[i] / b[i]).collect() //~ div
}

pub fn rectified(x: &[f32]) -> Vec<f32> {
    x.iter().map(|v| if *v > 0.0 { *v } else { 0.0 }).collect() //~ relu
}

pub fn logistic(x: &Array1<f32>) -> Array1<f32> {
    x.mapv(|v| 1.0 / (1.0 + (-v).exp())) //~ sigmoid
}

pub fn hyperbolic(x: &mut [f32]) {
    for v in x.iter_mut() { //~ tanh
        *v = v.tanh();
    }
}

pub fn limited(x: &[f32], top: f32) -> Vec<f32> {
    x.iter().map(|v| v.clamp(-top, top)).collect() //~ clamp
}

pub fn magnitudes(x: &[f64]) -> Vec<f64> {
    x.iter().copied().map(f64::abs).collect() //~ abs
}

pub fn roots(x: &[f64]) -> Vec<f64> {
    let mut out = Vec::with_capacity(x.len());
    for v in x { //~ sqrt
        out.push(v.sqrt());
    }
    out
}

pub fn negated(x: &[f32]) -> Vec<f32> {
    x.iter().map(|v| -v).collect() //~ neg
}

pub fn fused(a: &[f32], b: &[f32], c: &mut [f32]) {
    for i in 0..c.len() { //~ fma
        c[i] += a[i] * b[i];
    }
}

// ---- a little network -------------------------------------------------------

pub fn softmax(scores: &[f32]) -> Vec<f32> {
    let top = scores.iter().copied().fold(f32::MIN, f32::max);
    let exps: Vec<f32> = scores.iter().map(|s| (s - top).exp()).collect(); //~ softmax
    let total: f32 = exps.iter().sum();
    exps.iter().map(|e| e / total).collect()
}

pub struct Dense {
    weights: Vec<Vec<f32>>,
    bias: Vec<f32>,
}

impl Dense {
    pub fn forward(&self, input: &[f32]) -> Vec<f32> {
        let mut out = self.bias.clone();
        for (o, row) in out.iter_mut().zip(&self.weights) { //~ gemv
            for (w, x) in row.iter().zip(input) {
                *o += w * x;
            }
        }
        out
    }

    pub fn bias_total(&self) -> f32 {
        self.bias.iter().sum() //~ sum
    }
}

pub fn filter(signal: &[f32], taps: &[f32; TAPS], out: &mut [f32]) {
    for i in 0..signal.len() - TAPS { //~ conv2d
        let mut acc = 0.0;
        for t in 0..TAPS {
            acc += signal[i + t] * taps[t];
        }
        out[i] = acc;
    }
}

pub fn blur(image: &[Vec<f32>], kernel: &[[f32; 3]; 3], out: &mut [Vec<f32>]) {
    for y in 0..image.len() - 2 { //~ conv2d
        for x in 0..image[0].len() - 2 {
            let mut acc = 0.0;
            for dy in 0..3 {
                for dx in 0..3 {
                    acc += image[y + dy][x + dx] * kernel[dy][dx];
                }
            }
            out[y][x] = acc;
        }
    }
}

pub fn column_means(m: &Array2<f64>) -> Array1<f64> {
    m.mean_axis(Axis(0)).unwrap() //~ mean
}

pub fn total(m: &Array2<f64>) -> f64 {
    m.sum() //~ sum
}

pub fn shifted(a: ArrayView1<f64>, b: ArrayView1<f64>) -> Array1<f64> {
    &a - &b //~ sub
}

pub fn doubled(a: &Array1<f64>) -> Array1<f64> {
    a * 2.0 //~ scale
}

// ---- a library of somebody else's -------------------------------------------

pub fn through_blas(a: &[f32], b: &[f32], c: &mut [f32]) {
    unsafe { blas::sgemm(b'N', b'N', 2, 2, 2, 1.0, a, 2, b, 2, 0.0, c, 2) } //~ matmul
}

pub fn through_backend(backend: &dyn Backend, a: &Buffer, b: &Buffer) -> Buffer {
    backend.matmul(a, b) //~ matmul
}

pub fn of_its_own(a: &[f32], b: &[f32], c: &mut [f32]) {
    multiply(a, b, c); //~!
}

fn matmul(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = a.len();
    let mut c = vec![vec![0.0; n]; n];
    for i in 0..n { //~ matmul
        for k in 0..n {
            for j in 0..n {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

pub fn cubed(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let squared = matmul(a, a); //~!
    matmul(&squared, a) //~!
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum() //~ dot
}

pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() //~!
}

// ---- and what only looks like it --------------------------------------------

#[derive(Clone, Debug)]
pub struct Line {
    name: String,
    cents: i64,
    count: u32,
}

pub fn cents(lines: &[Line]) -> i64 {
    lines.iter().map(|l| l.cents * l.count as i64).sum() //~!
}

pub fn names(lines: &[Line]) -> Vec<String> {
    lines.iter().map(|l| l.name.clone() + "!").collect() //~!
}

pub fn longest(lines: &[Line]) -> Option<&Line> {
    lines.iter().max_by_key(|l| l.name.len()) //~!
}

pub fn by_name(lines: &[Line]) -> HashMap<&str, i64> {
    let mut out = HashMap::new();
    for line in lines { //~!
        *out.entry(line.name.as_str()).or_insert(0) += line.cents;
    }
    out
}

pub fn letters(text: &str) -> usize {
    text.split_whitespace().map(|w| w.len()).sum() //~!
}

pub fn factorial(n: u64) -> u64 {
    (1..=n).product() //~!
}

pub fn waited(parts: &[Duration]) -> Duration {
    parts.iter().sum() //~!
}

pub fn joined(words: &[&str]) -> String {
    words.iter().fold(String::new(), |a, w| a + w) //~!
}

pub fn doubled_option(x: Option<f32>) -> Option<f32> {
    x.map(|v| v * 2.0) //~!
}

pub fn parsed(text: &str) -> Result<f64, std::num::ParseFloatError> {
    text.parse::<f64>().map(|v| v * 0.5) //~!
}

pub fn histogram(bytes: &[u8]) -> [u32; 256] {
    let mut counts = [0u32; 256];
    for b in bytes { //~!
        counts[*b as usize] += 1;
    }
    counts
}

pub fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(1, |a, b| (a * 31 + *b as u32) % 65521) //~!
}

pub fn union(a: &HashSet<u32>, b: &HashSet<u32>) -> HashSet<u32> {
    a | b //~!
}

pub fn powers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64) * 0.1).collect() //~!
}

pub fn prefix(v: &mut [f64]) {
    for i in 1..v.len() { //~!
        v[i] += v[i - 1];
    }
}

pub fn smoothed(v: &[f64], share: f64) -> Vec<f64> {
    let mut state = 0.0;
    let mut out = Vec::new();
    for x in v { //~!
        state = share * x + (1.0 - share) * state;
        out.push(state);
    }
    out
}

pub fn horner(c: &[f64], x: f64) -> f64 {
    c.iter().rev().fold(0.0, |a, k| a * x + k) //~!
}

pub fn newton(x: f64) -> f64 {
    let mut g = x;
    for _ in 0..20 { //~!
        g = 0.5 * (g + x / g);
    }
    g
}

pub fn pi(terms: usize) -> f64 {
    let mut total = 0.0;
    for k in 0..terms { //~!
        total += 1.0 / (2 * k + 1) as f64;
    }
    total * 4.0
}

pub fn interest(mut balance: f64, years: u32) -> f64 {
    for _ in 0..years { //~!
        balance *= 1.03;
    }
    balance
}

pub fn shuffled(v: &mut Vec<f64>, state: &mut u64) {
    for i in (1..v.len()).rev() { //~!
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        v.swap(i, (*state >> 33) as usize % (i + 1));
    }
}

pub fn reversed(v: &[f64]) -> Vec<f64> {
    let n = v.len();
    let mut out = vec![0.0; n];
    for i in 0..n { //~!
        out[i] = v[n - 1 - i];
    }
    out
}

pub fn gathered(v: &[f64], order: &[usize]) -> Vec<f64> {
    order.iter().map(|&i| v[i]).collect() //~!
}

pub fn positive(v: &[f64]) -> Vec<f64> {
    v.iter().copied().filter(|x| *x > 0.0).collect() //~!
}

pub fn sorted(mut v: Vec<f64>) -> Vec<f64> {
    v.sort_by(|a, b| a.partial_cmp(b).unwrap()); //~!
    v.dedup(); //~!
    v
}

pub fn lines(text: &str) -> Vec<f64> {
    text.lines().filter_map(|l| l.parse().ok()).collect() //~!
}

pub fn shown(v: &[f64]) -> Vec<String> {
    v.iter().map(|x| format!("{:.2}", x * 100.0)).collect() //~!
}

pub fn averages(by: &BTreeMap<String, f64>) -> f64 {
    by.values().sum::<f64>() //~!
}

pub fn any_large(v: &[f64]) -> bool {
    v.iter().any(|x| x * 2.0 > 1.0) //~!
}

pub fn count_large(v: &[f64]) -> usize {
    v.iter().filter(|x| **x > 1.0).count() //~!
}

pub fn where_first(v: &[f64]) -> Option<usize> {
    v.iter().position(|x| *x > 1.0) //~!
}

#[derive(Clone, Copy)]
pub struct Point {
    x: f64,
    y: f64,
}

impl Add for Point {
    type Output = Point;
    fn add(self, other: Point) -> Point {
        Point { x: self.x + other.x, y: self.y + other.y } //~!
    }
}

impl Mul<f64> for Point {
    type Output = Point;
    fn mul(self, by: f64) -> Point {
        Point { x: self.x * by, y: self.y * by } //~!
    }
}

impl Point {
    fn dot(self, other: Point) -> f64 {
        self.x * other.x + self.y * other.y //~!
    }

    fn norm(self) -> f64 {
        self.dot(self).sqrt() //~!
    }
}

pub fn path_length(path: &[Point]) -> f64 {
    let step = path[0] + path[1] * 0.5; //~!
    step.norm() + path[0].dot(path[1]) //~!
}

pub struct Basket {
    weights: Vec<u32>,
}

impl Basket {
    fn sum(&self) -> u32 {
        self.weights.iter().sum() //~!
    }

    fn matmul(&self, times: u32) -> u32 {
        times * self.sum() //~!
    }
}

pub fn baskets(all: &[Basket]) -> u32 {
    all.iter().map(|b| b.sum()).sum::<u32>() + all[0].matmul(3) //~!
}

impl fmt::Display for Basket {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for w in &self.weights { //~!
            write!(f, "{} ", w * 2)?;
        }
        Ok(())
    }
}

macro_rules! total {
    ($v:expr) => {
        $v.iter().map(|x| x * x).sum::<f64>() //~ dot f64
    };
}

pub fn config(text: &str) -> HashMap<String, f64> {
    text.lines()
        .filter_map(|l| l.split_once('='))
        .map(|(k, v)| (k.to_string(), v.parse::<f64>().unwrap_or(0.0) * 2.0)) //~!
        .collect()
}

pub fn message() -> &'static str {
    "v.iter().sum::<f64>() and a.matmul(&b)" //~!
}

/* for i in 0..n { c[i] = a[i] + b[i]; } */ //~!
pub fn grown(sizes: &[usize]) -> Vec<usize> {
    sizes.iter().map(|s| s * 2 + 1).collect() //~!
}

pub fn bits(words: &[u64]) -> u32 {
    words.iter().map(|w| w.count_ones()).sum() //~!
}

pub fn clock(ticks: &[u64]) -> f64 {
    let last = *ticks.last().unwrap_or(&0);
    last as f64 / 1e9 * 2.0 //~!
}

pub fn area(w: f32, h: f32) -> f32 {
    (w * h).sqrt().max(0.0) //~!
}

pub fn clipped(x: f32) -> f32 {
    x.clamp(0.0, 1.0).exp().ln() //~!
}

// ---- signals ----------------------------------------------------------------

pub fn correlate(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut i = 0;
    while i < a.len() { //~ dot
        sum += a[i] * b[i];
        i += 1;
    }
    sum
}

pub fn fade(frames: &mut Vec<Vec<f32>>, by: f32) {
    for frame in frames.iter_mut() { //~ scale
        for sample in frame.iter_mut() {
            *sample *= by;
        }
    }
}

pub fn mixed(left: &[f32], right: &[f32]) -> Vec<f32> {
    left.par_iter().zip(right.par_iter()).map(|(l, r)| l + r).collect() //~ add
}

pub fn offset(samples: &[f32]) -> f32 {
    let mut total = 0.0f32;
    for s in samples { //~ mean
        total += *s;
    }
    total / samples.len() as f32
}

pub fn top(samples: &[f64]) -> f64 {
    let mut top = f64::MIN;
    for &s in samples.iter() { //~ max
        if s > top {
            top = s;
        }
    }
    top
}

pub fn lowest(samples: &[f64]) -> f64 {
    samples.iter().fold(f64::INFINITY, |a, &b| a.min(b)) //~ min
}

pub fn winner(scores: &[f32]) -> usize {
    scores //~ argmax
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.partial_cmp(b.1).unwrap())
        .map(|(i, _)| i)
        .unwrap_or(0)
}

pub fn copied(from: &[f32], to: &mut [f32]) {
    for i in 0..from.len() { //~ copy
        to[i] = from[i];
    }
}

pub fn exponents(x: &[f32]) -> Vec<f32> {
    x.iter().map(|v| v.exp()).collect::<Vec<f32>>() //~ exp
}

pub fn logs(x: &Array1<f64>) -> Array1<f64> {
    x.mapv(f64::ln) //~ log
}

pub fn hidden(x: &[f32]) -> Vec<f32> {
    x.iter() //~ gelu
        .map(|&v| 0.5 * v * (1.0 + (0.797_884_6 * (v + 0.044715 * v * v * v)).tanh()))
        .collect()
}

pub struct Grid {
    cells: Vec<f64>,
    width: usize,
}

impl Grid {
    pub fn scaled(&self, by: f64) -> Vec<f64> {
        self.cells.iter().map(|c| c * by).collect() //~ scale
    }

    pub fn squared(&self) -> f64 {
        self.cells.iter().map(|c| c.powi(2)).sum() //~ dot
    }

    pub fn at(&self, x: usize, y: usize) -> f64 {
        self.cells[y * self.width + x] * 2.0 //~!
    }

    pub fn bump(&mut self, x: usize) {
        self.cells[x] += 1.0; //~!
    }
}

pub fn generic<T: Copy + Into<f64>>(items: &[T]) -> Vec<String> {
    items.iter().map(|i| format!("{}", (*i).into())).collect() //~!
}

pub fn evens(n: usize) -> usize {
    (0..n).filter(|i| i % 2 == 0).map(|i| i * i).sum() //~!
}

pub fn spaced(n: usize, from: f64, to: f64) -> Vec<f64> {
    (0..n).map(|i| from + (to - from) * i as f64 / n as f64).collect() //~!
}

pub fn threads(jobs: Vec<Box<dyn Fn() -> f64 + Send>>) -> Vec<f64> {
    jobs.iter().map(|job| job()).collect() //~!
}

pub fn residues(v: &[i32]) -> Vec<i32> {
    v.iter().map(|x| x % 7 + 1).collect() //~!
}

pub fn fastest(times: &[Duration]) -> Option<&Duration> {
    times.iter().min() //~!
}

pub fn batch(a: &[Vec<Vec<f32>>], b: &[Vec<Vec<f32>>], c: &mut [Vec<Vec<f32>>], n: usize) {
    for s in 0..a.len() { //~ batched_matmul
        for i in 0..n {
            for j in 0..n {
                for k in 0..n {
                    c[s][i][j] += a[s][i][k] * b[s][k][j];
                }
            }
        }
    }
}


#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums() {
        let v = vec![1.0f64, 2.0, 3.0];
        let s: f64 = v.iter().sum(); //~ sum test
        assert_eq!(s, 6.0);
        assert_eq!(factorial(3), 6); //~!
    }
}
