// SPDX-License-Identifier: MIT
//! The steps of a small transformer on the CPU, spelled in many ways.

use ndarray::{Array1, Array2, Axis};
use rayon::prelude::*;

/// Root mean square normalisation: `o[i] = w[i] * x[i] / rms(x)`. //~!
pub fn rms_norm(o: &mut [f32], x: &[f32], w: &[f32]) {
    let mut ss = 0.0f32;
    for v in x { //~ dot
        ss += v * v;
    }
    ss /= x.len() as f32;
    ss += 1e-5;
    ss = 1.0 / ss.sqrt();
    for j in 0..o.len() { //~ mul
        o[j] = w[j] * (ss * x[j]);
    }
}

pub fn rms_norm_shorter(x: &mut [f32], w: &[f32], eps: f32) {
    let ss = x.iter().map(|v| v * v).sum::<f32>() / x.len() as f32; //~ dot
    let inv = 1.0 / (ss + eps).sqrt();
    for (v, g) in x.iter_mut().zip(w.iter()) { //~ mul
        *v = *v * inv * g;
    }
}

pub fn softmax_by_inverse(x: &mut [f32]) {
    if x.is_empty() {
        return;
    }
    let high = {
        let mut m = x[0];
        for &v in x.iter().skip(1) {
            if v > m {
                m = v;
            }
        }
        m
    };
    let mut total = 0.0f32;
    for v in x.iter_mut() { //~ softmax
        *v = (*v - high).exp();
        total += *v;
    }
    if total > 0.0 {
        let inverse = 1.0 / total;
        for v in x.iter_mut() {
            *v *= inverse;
        }
    }
}

pub fn softmax_with_temperature(logits: &mut Vec<f32>, temperature: f32) {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits.iter_mut().for_each(|l| *l = ((*l - top) / temperature).exp()); //~ softmax
    let z: f32 = logits.iter().sum();
    logits.iter_mut().for_each(|l| *l /= z + 1e-9);
}

pub fn softmax_of_batches(x: &mut [f32], width: usize) {
    for row in x.chunks_mut(width) {
        let m = row.iter().fold(row[0], |a, &b| a.max(b));
        let mut s = 0.0;
        for v in row.iter_mut() { //~ softmax
            *v = libm::expf(*v - m);
            s += *v;
        }
        for v in row.iter_mut() {
            *v /= s;
        }
    }
}

pub fn linear(out: &mut [f32], x: &[f32], w: &[f32], n: usize) {
    out.par_iter_mut().enumerate().for_each(|(i, o)| { //~ gemv
        let value = (0..n).map(|j| w[i * n + j] * x[j]).sum::<f32>();
        *o = value;
    });
}

pub fn linear_in_place(out: &mut [f32], x: &[f32], w: &[f32]) {
    let width = x.len();
    out.iter_mut().enumerate().for_each(|(i, o)| { //~ gemv
        *o = 0.0;
        for j in 0..x.len() {
            *o += w[i * width + j] * x[j];
        }
    });
}

pub fn linear_by_rows(out: &mut [f32], x: &[f32], w: &[f32], rows: usize, cols: usize) {
    for i in 0..rows { //~ gemv
        let mut value = 0.0;
        let row = &w[i * cols..(i + 1) * cols];
        for j in 0..cols {
            value += row[j] * x[j];
        }
        out[i] = value;
    }
}

pub fn rotated(v: &mut [f32], cos: &[f32], sin: &[f32]) {
    for i in (0..v.len()).step_by(2) { //~!
        let a = v[i];
        let b = v[i + 1];
        v[i] = a * cos[i] - b * sin[i];
        v[i + 1] = a * sin[i] + b * cos[i];
    }
}

pub fn silu(x: &mut [f32]) {
    for v in x.iter_mut() { //~ div
        *v = *v / (1.0 + (-*v).exp());
    }
}

pub fn gated(gate: &mut [f32], up: &[f32]) {
    for i in 0..gate.len() { //~ mul
        gate[i] *= up[i];
    }
}

pub fn residual(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y.iter()).for_each(|(a, b)| *a += *b); //~ add
}

pub fn sampled(probabilities: &[f32], coin: f32) -> usize {
    let mut seen = 0.0;
    for (i, &p) in probabilities.iter().enumerate() { //~!
        seen += p;
        if coin < seen {
            return i;
        }
    }
    probabilities.len() - 1
}

pub fn best(probabilities: &Vec<f32>) -> usize {
    let (place, _) = probabilities //~ argmax
        .iter()
        .enumerate()
        .max_by(|(_, a), (_, b)| a.partial_cmp(b).unwrap())
        .unwrap();
    place
}

pub fn best_looped(probabilities: &[f32]) -> i32 {
    let mut place = 0;
    let mut high = probabilities[0];
    for i in 1..probabilities.len() { //~ argmax
        if probabilities[i] > high {
            place = i;
            high = probabilities[i];
        }
    }
    place as i32
}

pub struct Dense {
    weights: Array2<f32>,
    bias: Array1<f32>,
}

impl Dense {
    pub fn forward(&self, x: &Array2<f32>) -> Array2<f32> {
        let z = x.dot(&self.weights); //~ matmul
        let shifted = z + &self.bias; //~ add
        shifted.mapv(|v| if v > 0.0 { v } else { 0.0 }) //~ relu
    }

    pub fn gradient(&self, x: &Array2<f32>, error: &Array2<f32>) -> Array2<f32> {
        x.t().dot(error) //~ matmul
    }

    pub fn step(&mut self, gradient: &Array2<f32>, rate: f32) {
        self.weights.scaled_add(-rate, gradient); //~ axpy
    }

    pub fn size(&self) -> usize {
        self.weights.len() + self.bias.len() //~!
    }
}

pub fn loss(y: &Array1<f64>, p: &Array1<f64>) -> f64 {
    let error = y - p; //~ sub
    error.mapv(|e| e * e).sum() //~ mul sum
}

pub fn centred(x: &Array2<f64>) -> Array2<f64> {
    let mean = x.mean_axis(Axis(0)).unwrap(); //~ mean
    x - &mean //~ sub
}

pub fn from_parts(n: usize) -> f64 {
    let weights = Array1::from_vec(vec![1.0; n]);
    let counts = Array1::from_vec(vec![1usize; n]);
    weights.sum() + counts.sum() as f64 //~ sum
}

pub fn token_counts(tokens: &[u32], vocabulary: usize) -> Vec<u32> {
    let mut counts = vec![0u32; vocabulary];
    for &t in tokens { //~!
        counts[t as usize] += 1;
    }
    counts
}

pub fn embedding(table: &[f32], token: usize, width: usize) -> Vec<f32> {
    table[token * width..(token + 1) * width].to_vec() //~!
}

pub fn decoded(tokens: &[u32], vocabulary: &[String]) -> String {
    tokens.iter().map(|&t| vocabulary[t as usize].as_str()).collect() //~!
}

pub fn read_weights(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect() //~!
}
