// SPDX-License-Identifier: MIT
//! A fluid on a grid, a solver for its pressure, and the recorder around it.

use std::cell::RefCell;
use std::ops::{AddAssign, Deref, DerefMut};
use std::rc::Rc;

pub const NX: usize = 128;
pub const NY: usize = 96;

pub type Field = Vec<f32>;

#[derive(Clone, Default)]
pub struct Grid {
    cells: Field,
    next: Field,
    solid: Vec<bool>,
    steps: u32,
}

pub struct Field2<const R: usize, const C: usize>([[f64; C]; R]);

#[inline]
fn at(x: usize, y: usize) -> usize {
    y * NX + x //~!
}

impl Grid {
    pub fn new() -> Self {
        Grid { cells: vec![0.0; NX * NY], next: vec![0.0; NX * NY], ..Default::default() } //~!
    }

    pub fn damp(&mut self, by: f32) {
        for c in self.cells.iter_mut() { //~ scale
            *c = *c * by;
        }
    }

    pub fn inject(&mut self, source: &[f32], dt: f32) {
        for (c, s) in self.cells.iter_mut().zip(source.iter()) { //~ axpy
            *c += dt * *s;
        }
    }

    pub fn total(&self) -> f32 {
        self.cells.iter().copied().sum() //~ sum
    }

    pub fn energy(&self) -> f64 {
        self.cells.iter().map(|&c| c as f64 * c as f64).sum::<f64>() * 0.5 //~ dot
    }

    pub fn largest(&self) -> f32 {
        let mut best = f32::MIN;
        for &c in &self.cells { //~ max
            best = if c > best { c } else { best };
        }
        best
    }

    pub fn swap(&mut self) {
        std::mem::swap(&mut self.cells, &mut self.next); //~!
        self.steps += 1; //~!
    }

    pub fn keep(&mut self) {
        for i in 0..self.cells.len() { //~ copy
            self.next[i] = self.cells[i];
        }
    }

    pub fn diffuse(&mut self, a: f32) {
        for y in 1..NY - 1 { //~!
            for x in 1..NX - 1 {
                let i = at(x, y);
                self.cells[i] = (self.cells[i] + a * (self.cells[i - 1] + self.cells[i + 1])) / (1.0 + 2.0 * a);
            }
        }
    }

    pub fn walls(&mut self) {
        for (c, s) in self.cells.iter_mut().zip(&self.solid) { //~!
            if *s {
                *c = 0.0;
            }
        }
    }

    pub fn wet(&self) -> usize {
        self.cells.iter().zip(&self.solid).filter(|(c, s)| **c > 0.0 && !**s).count() //~!
    }

    pub fn speed(u: &[f32], v: &[f32], out: &mut [f32]) {
        out.iter_mut() //~ sqrt
            .zip(u.iter().zip(v.iter()))
            .for_each(|(o, (u, v))| *o = (u * u + v * v).sqrt());
    }

    pub fn limited(&mut self, top: f32) {
        for c in &mut self.cells { //~ clamp
            *c = c.min(top).max(-top);
        }
    }
}

impl<const R: usize, const C: usize> Field2<R, C> {
    pub fn times<const K: usize>(&self, other: &Field2<C, K>) -> Field2<R, K> {
        let mut out = [[0.0; K]; R];
        for i in 0..R { //~ matmul
            for j in 0..K {
                out[i][j] = (0..C).map(|k| self.0[i][k] * other.0[k][j]).sum();
            }
        }
        Field2(out)
    }

    pub fn plus(&mut self, other: &Self) {
        for i in 0..R { //~ add
            for j in 0..C {
                self.0[i][j] += other.0[i][j];
            }
        }
    }
}

/// Conjugate gradients; `a` is dense and row by row.
pub fn solve(a: &[f64], b: &[f64], x: &mut [f64], rounds: usize) {
    let n = b.len();
    let mut r = b.to_vec();
    let mut p = r.clone();
    let mut ap = vec![0.0; n];
    let mut rr: f64 = r.iter().map(|v| v * v).sum(); //~ dot
    for _ in 0..rounds {
        for (i, out) in ap.iter_mut().enumerate() { //~ gemv
            *out = a[i * n..(i + 1) * n].iter().zip(p.iter()).map(|(m, v)| m * v).sum();
        }
        let alpha = rr / p.iter().zip(&ap).map(|(p, q)| p * q).sum::<f64>(); //~ dot
        for i in 0..n { //~ axpy
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        let next: f64 = r.iter().map(|v| v * v).sum(); //~ dot
        let beta = next / rr;
        for i in 0..n { //~ axpy
            p[i] = r[i] + beta * p[i];
        }
        rr = next;
    }
}

pub fn forward_substitution(l: &[Vec<f64>], b: &[f64], x: &mut [f64]) {
    for i in 0..b.len() {
        let mut s = b[i];
        for j in 0..i { //~ dot
            s -= l[i][j] * x[j];
        }
        x[i] = s / l[i][i];
    }
}

pub struct Recorder {
    frames: Vec<Rc<RefCell<Grid>>>,
    seconds: f64,
}

impl Recorder {
    pub fn sum(&self) -> f64 { //~!
        self.seconds
    }

    pub fn steps(&self) -> u32 {
        self.frames.iter().map(|f| f.borrow().steps).sum() //~!
    }

    pub fn clear(&mut self) {
        self.frames.drain(..).for_each(drop); //~!
    }

    pub fn timed(&self) -> f64 {
        let s = self.sum(); //~!
        s * 1000.0
    }
}

impl Deref for Recorder {
    type Target = Vec<Rc<RefCell<Grid>>>;
    fn deref(&self) -> &Self::Target { //~!
        &self.frames
    }
}

impl DerefMut for Recorder {
    fn deref_mut(&mut self) -> &mut Self::Target { //~!
        &mut self.frames
    }
}

pub struct Tally(f64);

impl AddAssign<f64> for Tally {
    fn add_assign(&mut self, by: f64) { //~!
        self.0 += by;
    }
}

pub fn cooled(heat: &mut [f32], steps: usize) {
    for _ in 0..steps {
        for h in heat.iter_mut() { //~ scale
            *h *= 0.99;
        }
    }
}

pub fn leapfrog(x: &mut [f64], v: &mut [f64], a: &[f64], dt: f64) {
    for i in 0..x.len() { //~ axpy
        v[i] += a[i] * dt;
        x[i] += v[i] * dt;
    }
}

pub fn thresholded(x: &[f32], cut: f32) -> Vec<f32> {
    x.iter().map(|&v| if v.abs() < cut { 0.0 } else { v }).collect() //~!
}

pub fn interpolated(table: &[f32], at: &[f32]) -> Vec<f32> {
    at.iter().map(|&t| table[t as usize] * (1.0 - t.fract())).collect() //~!
}

pub fn gathered(x: &[f64], places: &[usize]) -> f64 {
    places.iter().map(|&p| x[p]).sum() //~!
}

pub fn triangle(n: usize) -> f64 {
    (1..=n).map(|i| i as f64).sum::<f64>() //~!
}
