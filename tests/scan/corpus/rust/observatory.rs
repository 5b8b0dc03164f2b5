// SPDX-License-Identifier: MIT
//! Light curves of stars: cleaning, fitting, a small network that sorts them.

use std::collections::{BTreeSet, HashMap};
use std::f64::consts::PI;
use std::iter::zip;

use itertools::Itertools;
use nalgebra::{DMatrix, DVector};
use ndarray::{s, Array1, Array2, ArrayViewMut1, Axis};
use rayon::prelude::*;

pub struct Curve {
    pub time: Vec<f64>,
    pub flux: Vec<f64>,
    pub error: Vec<f64>,
    pub flags: Vec<u8>,
}

impl Curve {
    pub fn len(&self) -> usize {
        self.flux.len() //~!
    }

    pub fn weighted_mean(&self) -> f64 {
        let mut num = 0.0;
        let mut den = 0.0;
        for (f, e) in self.flux.iter().zip(self.error.iter()) { //~ dot
            let w = 1.0 / (e * e);
            num += w * f;
            den += w;
        }
        num / den
    }

    pub fn chi_square(&self, model: &[f64]) -> f64 {
        zip(&self.flux, model).map(|(f, m)| (f - m) * (f - m)).sum() //~ dot
    }

    pub fn detrend(&mut self, slope: f64, offset: f64) {
        for (f, t) in self.flux.iter_mut().zip(&self.time) { //~ sub
            *f -= slope * t + offset;
        }
    }

    pub fn to_magnitudes(&self) -> Vec<f64> {
        self.flux.iter().map(|f| -2.5 * f.log10()).collect() //~ scale
    }

    pub fn span(&self) -> f64 {
        self.time[self.time.len() - 1] - self.time[0] //~!
    }

    pub fn good(&self) -> Vec<usize> {
        (0..self.len()).filter(|&i| self.flags[i] == 0).collect() //~!
    }

    pub fn brightest(&self) -> f64 {
        *self.flux.iter().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap() //~ max
    }

    pub fn faintest_at(&self) -> usize {
        self.flux.iter().position_min_by(|a, b| a.total_cmp(b)).unwrap() //~ argmin
    }

    pub fn phases(&self, period: f64) -> Vec<f64> {
        self.time.iter().map(|t| (t / period).fract()).collect() //~!
    }
}

pub fn smoothed(x: &[f64], alpha: f64) -> Vec<f64> {
    let mut out = Vec::with_capacity(x.len());
    let mut level = x[0];
    for &v in x { //~!
        level = alpha * v + (1.0 - alpha) * level;
        out.push(level);
    }
    out
}

pub fn differences(x: &[f64]) -> Vec<f64> {
    x.iter().zip(x.iter().skip(1)).map(|(a, b)| b - a).collect() //~ sub
}

pub fn fourier(x: &[f64], re: &mut [f64], table: &[f64]) {
    let n = x.len();
    for k in 0..n { //~!
        let mut sum = 0.0;
        for t in 0..n {
            sum += x[t] * table[(k * t) % n];
        }
        re[k] = sum;
    }
}

pub fn power(re: &[f64], im: &[f64], out: &mut [f64]) {
    for k in 0..out.len() { //~ fma
        out[k] = re[k] * re[k] + im[k] * im[k];
    }
}

pub fn normal_equations(a: &DMatrix<f64>, y: &DVector<f64>) -> DVector<f64> {
    let at = a.transpose(); //~ transpose
    let left = &at * a; //~ matmul
    let right = &at * y; //~ gemv
    left.lu().solve(&right).unwrap()
}

pub fn residual(a: &DMatrix<f64>, x: &DVector<f64>, y: &DVector<f64>) -> f64 {
    (a * x - y).norm() //~ gemv sub norm2
}

pub struct Sorter {
    w: Array2<f32>,
    b: Array1<f32>,
    velocity: Array2<f32>,
}

impl Sorter {
    pub fn scores(&self, x: &Array2<f32>) -> Array2<f32> {
        let mut z = x.dot(&self.w); //~ matmul
        z += &self.b; //~ add
        z.mapv_inplace(|v| v.max(0.0)); //~ relu
        z
    }

    pub fn momentum(&mut self, grad: &Array2<f32>, beta: f32) {
        self.velocity *= beta; //~ scale
        self.velocity += grad; //~ add
        self.w.scaled_add(-0.01, &self.velocity); //~ axpy
    }

    pub fn parameters(&self) -> usize {
        self.w.len() + self.b.len() //~!
    }

    pub fn first_row(&self) -> Array1<f32> {
        self.w.slice(s![0, ..]).to_owned() //~!
    }
}

pub fn softmax_row(mut row: ArrayViewMut1<f32>) {
    let top = row.fold(f32::NEG_INFINITY, |a, &b| a.max(b));
    row.mapv_inplace(|v| (v - top).exp()); //~ softmax
    let total = row.sum();
    row /= total;
}

pub fn cross_entropy(p: &[f32], wanted: &[f32]) -> f32 {
    -p.iter().zip(wanted).map(|(p, w)| w * p.ln()).sum::<f32>() //~ dot
}

pub fn accuracy(p: &[usize], wanted: &[usize]) -> f32 {
    let right = p.iter().zip(wanted).filter(|(a, b)| a == b).count(); //~!
    right as f32 / wanted.len() as f32
}

pub fn distances(points: &[[f64; 3]], centre: &[f64; 3]) -> Vec<f64> {
    points //~!
        .iter()
        .map(|p| ((p[0] - centre[0]).powi(2) + (p[1] - centre[1]).powi(2)).sqrt())
        .collect()
}

pub fn pairwise(x: &[Vec<f64>], out: &mut [Vec<f64>]) {
    out.par_iter_mut().enumerate().for_each(|(i, row)| { //~ matmul
        for j in 0..x.len() {
            row[j] = x[i].iter().zip(&x[j]).map(|(a, b)| a * b).sum();
        }
    });
}

pub fn column_sums(m: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = vec![0.0; m[0].len()];
    for row in m {
        for (s, v) in sums.iter_mut().zip(row) { //~ add
            *s += v;
        }
    }
    sums
}

pub fn filled(x: &mut [f64]) {
    for i in 1..x.len() { //~!
        if x[i].is_nan() {
            x[i] = x[i - 1];
        }
    }
}

pub fn without_gaps(x: &[Option<f64>]) -> Vec<f64> {
    x.iter().flatten().copied().collect() //~!
}

pub fn standardised(m: &Array2<f64>) -> Array2<f64> {
    let mean = m.mean_axis(Axis(0)).unwrap(); //~ mean
    let std = m.std_axis(Axis(0), 0.0); //~ variance
    (m - &mean) / &std //~ sub div
}

pub fn names(catalogue: &HashMap<String, f64>) -> String {
    catalogue.keys().sorted().join(", ") //~!
}

pub fn total_exposure(catalogue: &HashMap<String, f64>) -> f64 {
    catalogue.values().sum() //~!
}

pub fn unique(ids: &[u64]) -> usize {
    ids.iter().collect::<BTreeSet<_>>().len() //~!
}

pub fn julian(days: i64, seconds: f64) -> f64 {
    days as f64 + seconds / 86400.0 * 2.0 * PI //~!
}

pub fn newton(mut x: f64, steps: usize) -> f64 {
    for _ in 0..steps { //~!
        x -= (x * x - 2.0) / (2.0 * x);
    }
    x
}

pub fn horner(c: &[f64], x: f64) -> f64 {
    c.iter().rev().fold(0.0, |acc, &k| acc * x + k) //~!
}

pub fn horner_looped(c: &[f64], x: f64) -> f64 {
    let mut acc = 0.0;
    for k in c.iter().rev() { //~!
        acc = acc * x + k;
    }
    acc
}

pub fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0u32, |a, &b| a.wrapping_mul(31).wrapping_add(b as u32)) //~!
}

pub fn dither(x: &mut [f32], noise: &mut impl Iterator<Item = f32>) {
    for v in x.iter_mut() { //~!
        *v += noise.next().unwrap();
    }
}
