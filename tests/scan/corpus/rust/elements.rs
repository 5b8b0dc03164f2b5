// SPDX-License-Identifier: MIT
//! Element by element: iterator chains, zips and loops.

use rayon::prelude::*;
use std::collections::HashMap;

const LEN: usize = 1 << 20;
const GAIN: f32 = 0.5;

pub fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b.iter()).map(|(x, y)| x + y).collect() //~ add
}

pub fn add_looped(a: &[f32; LEN], b: &[f32; LEN], c: &mut [f32; LEN]) {
    for i in 0..LEN { //~ add
        c[i] = a[i] + b[i];
    }
}

pub fn add_by_index(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..a.len()).map(|i| a[i] + b[i]).collect() //~ add
}

pub fn add_in_place(a: &mut [f32], b: &[f32]) {
    for (x, y) in a.iter_mut().zip(b) { //~ add
        *x += y;
    }
}

pub fn add_in_place_by_index(a: &mut Vec<f64>, b: &Vec<f64>) {
    for i in 0..a.len() { //~ add
        a[i] += b[i];
    }
}

pub fn add_matrices(a: &[Vec<f64>], b: &[Vec<f64>], c: &mut [Vec<f64>]) {
    for i in 0..a.len() { //~ add
        for j in 0..a[i].len() {
            c[i][j] = a[i][j] + b[i][j];
        }
    }
}

pub fn subtract(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect::<Vec<f64>>() //~ sub
}

pub fn subtract_parallel(a: &mut [f32], b: &[f32]) {
    a.par_iter_mut().zip(b.par_iter()).for_each(|(x, y)| *x -= y); //~ sub
}

pub fn multiply(a: &[f32], b: &[f32], out: &mut [f32]) {
    for ((o, x), y) in out.iter_mut().zip(a).zip(b) { //~ mul
        *o = x * y;
    }
}

pub fn squares(a: &[f32]) -> Vec<f32> {
    a.iter().map(|&x| x * x).collect() //~ mul
}

pub fn divide(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = Vec::with_capacity(a.len());
    for i in 0..a.len() { //~ div
        out.push(a[i] / b[i]);
    }
    out
}

pub fn scale(v: &[f32]) -> Vec<f32> {
    v.iter().map(|x| x * 2.5).collect() //~ scale
}

pub fn scale_by_constant(v: &mut [f32]) {
    v.iter_mut().for_each(|x| *x *= GAIN); //~ scale
}

pub fn scale_by_argument(v: &mut [f64], factor: f64) {
    for x in v.iter_mut() { //~ scale
        *x *= factor;
    }
}

pub fn normalise(v: &mut Vec<f64>, length: f64) {
    for x in v { //~ scale
        *x /= length;
    }
}

pub fn scale_parallel(v: &[f64], factor: f64) -> Vec<f64> {
    v.par_iter().map(|x| factor * x).collect() //~ scale
}

pub fn axpy(alpha: f32, x: &[f32], y: &mut [f32]) {
    for i in 0..x.len() { //~ axpy
        y[i] += alpha * x[i];
    }
}

pub fn axpy_zipped(alpha: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += alpha * x); //~ axpy
}

pub fn step(weights: &mut [f32], gradient: &[f32], rate: f32) {
    for (w, g) in weights.iter_mut().zip(gradient.iter()) { //~ axpy
        *w -= rate * g;
    }
}

pub fn saxpy(a: f32, x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y.iter()).map(|(x, y)| a * x + y).collect() //~ axpy
}

pub fn fused(a: &[f32], b: &[f32], c: &[f32], out: &mut [f32]) {
    for i in 0..out.len() { //~ fma
        out[i] = a[i] * b[i] + c[i];
    }
}

pub fn fused_once(a: &[f64], b: &[f64], c: &[f64], out: &mut [f64]) {
    for i in 0..out.len() { //~ fma
        out[i] = a[i].mul_add(b[i], c[i]);
    }
}

pub fn magnitudes(v: &[f32]) -> Vec<f32> {
    v.iter().map(|x| x.abs()).collect() //~ abs
}

pub fn negated(v: &[f64]) -> Vec<f64> {
    v.iter().map(|x| -x).collect() //~ neg
}

pub fn clamped(v: &mut [f32]) {
    for x in v.iter_mut() { //~ clamp
        *x = x.clamp(0.0, 1.0);
    }
}

pub fn limited(v: &[f32]) -> Vec<f32> {
    v.iter().map(|x| x.max(-1.0).min(1.0)).collect() //~ clamp
}

pub fn roots(v: &[f64]) -> Vec<f64> {
    v.iter().map(|x| x.sqrt()).collect() //~ sqrt
}

pub fn roots_by_path(v: Vec<f32>) -> Vec<f32> {
    v.into_iter().map(f32::sqrt).collect() //~ sqrt
}

pub fn exponentials(v: &[f32], out: &mut [f32]) {
    for i in 0..v.len() { //~ exp
        out[i] = v[i].exp();
    }
}

pub fn logarithms(v: &[f64]) -> Vec<f64> {
    v.iter().map(|p| p.ln()).collect() //~ log
}

pub fn sigmoids(v: &[f32]) -> Vec<f32> {
    v.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect() //~ sigmoid
}

pub fn tangents(v: &mut [f32]) {
    for x in v.iter_mut() { //~ tanh
        *x = x.tanh();
    }
}

pub fn rectified(v: &[f32]) -> Vec<f32> {
    v.iter().map(|&x| x.max(0.0)).collect() //~ relu
}

pub fn rectified_by_branch(v: &mut [f32]) {
    for x in v.iter_mut() { //~ relu
        *x = if *x > 0.0 { *x } else { 0.0 };
    }
}

pub fn rectified_in_place(v: &mut [f32]) {
    for x in v.iter_mut() { //~ relu
        if *x < 0.0 {
            *x = 0.0;
        }
    }
}

pub fn gelus(v: &[f32]) -> Vec<f32> {
    v.iter() //~ gelu
        .map(|&x| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044715 * x * x * x)).tanh()))
        .collect()
}

pub fn copied(a: &[f32], b: &mut [f32]) {
    for i in 0..a.len() { //~ copy
        b[i] = a[i];
    }
}

pub fn with_a_temporary(a: &[f64], b: &[f64], c: &mut [f64]) {
    for i in 0..c.len() { //~ mul
        let left = a[i] - 1.0;
        let right = b[i] + 1.0;
        c[i] = left * right;
    }
}

pub fn centred(v: &[f64], mean: f64) -> Vec<f64> {
    v.iter().map(|x| x - mean).collect() //~ sub
}

pub fn extended(v: &[f32], out: &mut Vec<f32>) {
    out.extend(v.iter().map(|x| x * 0.5)); //~ scale
}

pub struct Wave {
    left: Vec<f32>,
    right: Vec<f32>,
}

impl Wave {
    pub fn mixed(&self) -> Vec<f32> {
        self.left.iter().zip(&self.right).map(|(l, r)| l + r).collect() //~ add
    }

    pub fn louder(&mut self, gain: f32) {
        for s in self.left.iter_mut() { //~ scale
            *s *= gain;
        }
    }
}

pub fn unknown_but_arithmetic(frame: &Frame) -> Vec<f32> {
    frame.samples().iter().map(|s| s * 0.25f32).collect() //~ scale
}

pub fn doubled(v: &[i32]) -> Vec<i32> {
    v.iter().map(|x| x * 2).collect() //~!
}

pub fn upper(words: &[String]) -> Vec<String> {
    words.iter().map(|w| w.to_uppercase()).collect() //~!
}

pub fn half(x: Option<f32>) -> Option<f32> {
    x.map(|v| v * 0.5) //~!
}

pub fn parsed(text: &str) -> Result<f64, std::num::ParseFloatError> {
    text.parse::<f64>().map(|v| v * 2.0) //~!
}

pub fn parsed_line(text: &str) -> Vec<f64> {
    text.split(',').map(|w| w.trim().parse().unwrap()).collect() //~!
}

pub fn lengths(words: &[&str]) -> Vec<usize> {
    words.iter().map(|w| w.len()).collect() //~!
}

pub fn table(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * 0.1).sin()).collect() //~!
}

pub fn window(n: usize) -> Vec<f64> {
    let mut w = vec![0.0; n];
    for i in 0..n { //~!
        w[i] = 0.5 - 0.5 * (6.28 * i as f64 / n as f64).cos();
    }
    w
}

pub fn zeroed(v: &mut [f32]) {
    for x in v.iter_mut() { //~!
        *x = 0.0;
    }
}

pub fn looked_up(map: &HashMap<String, f64>) -> Vec<f64> {
    map.values().map(|v| v * 2.0).collect() //~!
}

pub fn renamed(map: HashMap<String, f64>) -> HashMap<String, f64> {
    map.into_iter().map(|(k, v)| (k.to_lowercase(), v)).collect() //~!
}

pub fn pairs(a: &[u32], b: &[u32]) -> Vec<(u32, u32)> {
    a.iter().copied().zip(b.iter().copied()).collect() //~!
}

pub fn xored(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(x, y)| x ^ y).collect() //~!
}

pub fn added(a: &[u64], b: &[u64], c: &mut [u64]) {
    for i in 0..a.len() { //~!
        c[i] = a[i] + b[i];
    }
}

pub fn shifted(v: &[usize]) -> Vec<usize> {
    v.iter().map(|x| x + 1).collect() //~!
}

pub fn cumulated(v: &mut [f64]) {
    for i in 1..v.len() { //~!
        v[i] = v[i] + v[i - 1];
    }
}

pub fn walk(v: &mut [f64], rng: &mut Rng) {
    for i in 0..v.len() { //~!
        v[i] = rng.next();
    }
}

pub fn written(v: &[f32], out: &mut dyn std::io::Write) -> std::io::Result<()> {
    for x in v { //~!
        writeln!(out, "{}", x * 2.0)?;
    }
    Ok(())
}

pub fn points(v: &[Point]) -> Vec<f64> {
    v.iter().map(|p| p.distance_to_origin()).collect() //~!
}

pub fn stopped(v: &mut [f32], limit: f32) {
    for x in v.iter_mut() { //~!
        if *x > limit {
            break;
        }
        *x *= 2.0;
    }
}

pub fn sorted(mut v: Vec<f64>) -> Vec<f64> {
    v.sort_by(|a, b| a.partial_cmp(b).unwrap()); //~!
    v
}

pub fn printed(v: &[f32]) -> String {
    v.iter().map(|x| format!("{:.2}", x * 100.0)).collect::<Vec<_>>().join(" ") //~!
}

pub fn flagged(v: &[f32]) -> Vec<bool> {
    v.iter().map(|&x| x * 2.0 > 1.0).collect() //~!
}

pub fn quantised(v: &[f32]) -> Vec<u8> {
    v.iter().map(|&x| (x * 255.0) as u8).collect() //~!
}
