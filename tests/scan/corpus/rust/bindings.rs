// SPDX-License-Identifier: MIT
//! What names are bound to: closures, patterns, counters, rows, traits.

use ndarray::{Array1, Array2, Axis};
use num_traits::Float;

pub trait Sample: Float + Send {
    fn silence() -> Self;
}

pub trait Label: Copy + Ord {
    fn first() -> Self;
}

pub fn amplify<T: Sample>(signal: &mut [T], gain: T) {
    for v in signal.iter_mut() { //~ scale
        *v = *v * gain;
    }
}

pub fn relabel<L: Label + std::ops::Mul<Output = L>>(labels: &mut [L], by: L) {
    for v in labels.iter_mut() { //~!
        *v = *v * by;
    }
}

pub fn squares(x: &[f64]) -> Vec<f64> {
    let square = |v: f64| v * v;
    x.iter().map(|&v| square(v)).collect() //~ mul
}

pub fn activations(x: &[f64]) -> Vec<f64> {
    let logistic = |v: &f64| -> f64 { 1.0 / (1.0 + (-v).exp()) };
    x.iter().map(logistic).collect() //~ sigmoid
}

pub fn products(x: &[f32], y: &[f32], out: &mut [f32]) {
    for i in 0..x.len() { //~ mul
        let both = |a: f32, b: f32| a * b;
        out[i] = both(x[i], y[i]);
    }
}

fn half(v: f64) -> f64 {
    v * 0.5
}

pub fn halves(x: &[f64]) -> Vec<f64> {
    x.iter().copied().map(half).collect() //~ scale
}

pub fn called_back(x: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    x.iter().map(|&v| f(v)).collect() //~!
}

pub fn counted(x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    let mut k = 0;
    for v in x.iter() { //~ exp
        out[k] = v.exp();
        k += 1;
    }
    out
}

pub fn packed(m: &[Vec<f64>], rows: usize, cols: usize, out: &mut [f64]) {
    let mut k = 0;
    for i in 0..rows { //~ scale
        for j in 0..cols {
            out[k] = m[i][j] * 0.25;
            k += 1;
        }
    }
}

pub fn only_some(x: &[f64], out: &mut [f64]) {
    let mut k = 0;
    for v in x.iter() { //~!
        if *v < 0.0 {
            continue;
        }
        out[k] = v.sqrt();
        k += 1;
    }
}

pub fn step_first(x: &[f64], out: &mut [f64]) {
    let mut k = 0;
    for v in x.iter() { //~!
        k += 1;
        out[k] = out[k - 1] + v;
    }
}

pub fn folded_halves(v: &mut [f64], n: usize) {
    let (low, high) = v.split_at_mut(n);
    for i in 0..n { //~ add
        low[i] += high[i];
    }
}

fn bounds(n: usize) -> (Vec<f64>, Vec<usize>) {
    (vec![0.0; n], vec![0; n])
}

pub fn of_a_tuple(n: usize, out: &mut Vec<f64>) {
    let (limits, places) = bounds(n);
    let mut largest = limits[0];
    for &x in limits.iter() { //~ max
        if x > largest {
            largest = x;
        }
    }
    let mut last = places[0];
    for &p in places.iter() { //~!
        if p > last {
            last = p;
        }
    }
    out.push(largest);
}

pub fn weighted(pairs: &[(f64, f64)]) -> f64 {
    let mut total = 0.0;
    for (value, weight) in pairs { //~ dot
        total += value * weight;
    }
    total
}

pub fn of_a_map(prices: &std::collections::HashMap<String, f64>) -> f64 {
    let mut total = 0.0;
    for (_, price) in prices { //~!
        total += price * 2.0;
    }
    total
}

pub enum Window {
    Flat,
    Ramp,
}

pub fn squared_window(kind: Window, n: usize) -> Vec<f64> {
    let mut w = match kind {
        Window::Flat => vec![1.0; n],
        Window::Ramp => (0..n).map(|i| i as f64).collect(), //~!
    };
    w.iter_mut().for_each(|y| *y = *y * *y); //~ mul
    w
}

pub struct Layer {
    bias: Option<Vec<f32>>,
    ids: Option<Vec<u32>>,
}

impl Layer {
    pub fn largest_bias(&self) -> f32 {
        if let Some(bias) = &self.bias {
            let mut m = bias[0];
            for &b in bias { //~ max
                if b > m {
                    m = b;
                }
            }
            return m;
        }
        0.0
    }

    pub fn largest_id(&self) -> u32 {
        match &self.ids {
            Some(ids) => {
                let mut m = ids[0];
                for &b in ids { //~!
                    if b > m {
                        m = b;
                    }
                }
                m
            }
            None => 0,
        }
    }
}

pub fn normalized(a: &mut Array2<f64>) {
    for mut row in a.rows_mut() {
        let total = row.sum(); //~ sum
        row /= total; //~ scale
    }
}

pub fn lengths(a: &Array2<f64>) -> Array1<f64> {
    a.rows().into_iter().map(|r| r.dot(&r)).collect() //~ dot
}

pub fn modulated(a: &mut Array1<f64>, b: &Array1<f64>) {
    a.zip_mut_with(b, |x, y| *x *= *y); //~ mul
}

pub fn scattered(a: &mut Array2<f64>, labels: &[usize]) {
    for (mut row, t) in a.axis_iter_mut(Axis(0)).zip(labels) { //~!
        row[t.clone().max(1)] -= 1.0;
    }
}

pub struct Grid<T> {
    cols: usize,
    cells: Vec<T>,
}

impl<T: Float> Grid<T> {
    fn at(&self, i: usize, j: usize) -> &T {
        &self.cells[i * self.cols + j]
    }
    fn at_mut(&mut self, i: usize, j: usize) -> &mut T {
        &mut self.cells[i * self.cols + j]
    }
    pub fn times(&self, other: &Grid<T>, out: &mut Grid<T>, n: usize) {
        for i in 0..n { //~ matmul
            for j in 0..n {
                let mut s = T::zero();
                for k in 0..n {
                    s = s + *self.at(i, k) * *other.at(k, j);
                }
                *out.at_mut(i, j) = s;
            }
        }
    }
}

pub struct Center(pub Vec<f64>);

pub fn averaged(centers: &mut [Center], sizes: &[usize]) {
    for (center, size) in centers.iter_mut().zip(sizes.iter().copied()) {
        center.0.iter_mut().for_each(|d| if size == 0 { *d = 0.0 } else { *d /= size as f64 }); //~ scale
    }
}

pub fn running(x: &[f64], out: &mut [f64]) {
    for i in 0..x.len() { //~!
        if i == 0 {
            out[i] = x[i];
        } else {
            out[i] = x[i] + out[i - 1];
        }
    }
}

fn factors<A: Clone>(a: &Array2<A>) -> Result<(Array2<A>, Array1<A>), String> {
    Err(format!("{} rows", a.nrows()))
}

pub fn projected<A: Clone>(a: Array2<A>) -> Option<Array2<A>> {
    let (basis, _) = match factors(&a) {
        Ok(both) => both,
        Err(_) => return None,
    };
    Some(a.dot(&basis)) //~ matmul
}
