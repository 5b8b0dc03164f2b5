// SPDX-License-Identifier: MIT
//! A game engine's corner: particles, images, a cloth, and a tiny policy.

use std::ops::{Add, AddAssign, Index, Mul};
use std::path::PathBuf;

use glam::Vec3;

pub const WIDTH: usize = 640;
pub const HEIGHT: usize = 480;
const HIDDEN: usize = 64;
const INPUTS: usize = 32;

#[derive(Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f32,
    pub y: f32,
}

impl Add for Point {
    type Output = Point;
    fn add(self, o: Point) -> Point { //~!
        Point { x: self.x + o.x, y: self.y + o.y }
    }
}

impl Point {
    pub fn dot(self, o: Point) -> f32 { //~!
        self.x * o.x + self.y * o.y
    }
}

pub struct Particles {
    pos_x: Vec<f32>,
    vel_x: Vec<f32>,
    mass: Vec<f32>,
    alive: Vec<bool>,
    ids: Vec<u32>,
}

impl Particles {
    pub fn integrate(&mut self, dt: f32) {
        for i in 0..self.pos_x.len() { //~ axpy
            self.pos_x[i] += self.vel_x[i] * dt;
        }
    }

    pub fn drag(&mut self, k: f32) {
        self.vel_x.iter_mut().for_each(|v| *v *= 1.0 - k); //~ scale
    }

    pub fn gravity(&mut self, g: f32, dt: f32) {
        for v in &mut self.vel_x { //~ sub
            *v -= g * dt;
        }
    }

    pub fn kinetic(&self) -> f32 {
        self.mass.iter().zip(&self.vel_x).map(|(m, v)| 0.5 * m * v * v).sum() //~ dot
    }

    pub fn total_mass(&self) -> f32 {
        let mut m = 0.0;
        for i in 0..self.mass.len() { //~ sum
            m += self.mass[i];
        }
        m
    }

    pub fn bounds(&self) -> (f32, f32) {
        let lo = self.pos_x.iter().copied().fold(f32::INFINITY, f32::min); //~ min
        let hi = self.pos_x.iter().copied().reduce(f32::max).unwrap(); //~ max
        (lo, hi)
    }

    pub fn living(&self) -> usize {
        self.alive.iter().filter(|a| **a).count() //~!
    }

    pub fn renumber(&mut self) {
        for (i, id) in self.ids.iter_mut().enumerate() { //~!
            *id = i as u32;
        }
    }

    pub fn bounce(&mut self, floor: f32) {
        for i in 0..self.pos_x.len() { //~!
            if self.pos_x[i] < floor {
                self.pos_x[i] = floor;
                self.vel_x[i] = -self.vel_x[i];
            }
        }
    }

    pub fn cull(&mut self) {
        let mut i = 0;
        while i < self.ids.len() { //~!
            if self.alive[i] {
                i += 1;
            } else {
                self.ids.swap_remove(i);
            }
        }
    }
}

pub fn step_while(x: &mut [f32], v: &[f32], dt: f32) {
    let mut i = 0;
    while i < x.len() { //~ axpy
        x[i] += dt * v[i];
        i += 1;
    }
}

pub fn nearest(points: &[Point], to: Point) -> usize {
    let mut best = 0; //~!
    for (i, p) in points.iter().enumerate() { //~!
        if p.dot(to) > points[best].dot(to) {
            best = i;
        }
    }
    best
}

pub fn centre(points: &[Point]) -> Point {
    points.iter().fold(Point { x: 0.0, y: 0.0 }, |a, &b| a + b) //~!
}

pub fn reflect(v: Vec3, n: Vec3) -> Vec3 {
    v - n * (2.0 * v.dot(n)) //~!
}

pub struct Image {
    pixels: Vec<f32>,
    width: usize,
    height: usize,
}

impl Image {
    pub fn brighten(&self, by: f32) -> Vec<f32> {
        self.pixels.iter().map(|p| p + by).collect() //~ add
    }

    pub fn gamma(&mut self) {
        for p in self.pixels.iter_mut() { //~ sqrt
            *p = p.sqrt();
        }
    }

    pub fn saturate(&mut self) {
        self.pixels.iter_mut().for_each(|p| *p = p.clamp(0.0, 1.0)); //~ clamp
    }

    pub fn blur(&self, kernel: &[[f32; 3]; 3]) -> Vec<f32> {
        let mut out = vec![0.0; self.width * self.height];
        for y in 1..self.height - 1 { //~ conv2d
            for x in 1..self.width - 1 {
                let mut acc = 0.0;
                for ky in 0..3 {
                    for kx in 0..3 {
                        acc += self.pixels[(y + ky - 1) * self.width + (x + kx - 1)] * kernel[ky][kx];
                    }
                }
                out[y * self.width + x] = acc;
            }
        }
        out
    }

    pub fn transposed(&self) -> Vec<f32> {
        let mut out = vec![0.0; self.pixels.len()];
        for y in 0..self.height { //~ transpose
            for x in 0..self.width {
                out[x * self.height + y] = self.pixels[y * self.width + x];
            }
        }
        out
    }

    pub fn halved(&self) -> Vec<f32> {
        let (w, h) = (self.width / 2, self.height / 2);
        let mut out = Vec::with_capacity(w * h);
        for y in 0..h { //~ pooling
            for x in 0..w {
                let mut m = f32::MIN;
                for dy in 0..2 {
                    for dx in 0..2 {
                        m = m.max(self.pixels[(2 * y + dy) * self.width + 2 * x + dx]);
                    }
                }
                out.push(m);
            }
        }
        out
    }

    pub fn flipped(&self) -> Vec<f32> {
        self.pixels.chunks(self.width).rev().flatten().copied().collect() //~!
    }

    pub fn histogram(&self) -> [u32; 256] {
        let mut bins = [0; 256];
        for p in &self.pixels { //~!
            bins[(p * 255.0) as usize] += 1;
        }
        bins
    }

    pub fn offset(&self, x: usize, y: usize) -> usize {
        y * self.width + x //~!
    }
}

pub fn blend(under: &mut [f32], over: &[f32], alpha: f32) {
    for (u, o) in under.iter_mut().zip(over) { //~ axpy
        *u = *u * (1.0 - alpha) + o * alpha;
    }
}

pub fn difference(a: &Image, b: &Image) -> Vec<f32> {
    a.pixels.iter().zip(b.pixels.iter()).map(|(x, y)| (x - y).abs()).collect() //~ abs
}

pub struct Policy {
    w1: [[f32; INPUTS]; HIDDEN],
    b1: [f32; HIDDEN],
    w2: Vec<f32>,
}

impl Policy {
    pub fn hidden(&self, x: &[f32; INPUTS]) -> [f32; HIDDEN] {
        let mut h = [0.0; HIDDEN];
        for i in 0..HIDDEN { //~ gemv 64x32 f32
            let mut z = self.b1[i];
            for j in 0..INPUTS {
                z += self.w1[i][j] * x[j];
            }
            h[i] = z.max(0.0);
        }
        h
    }

    pub fn act(&self, logits: &[f32]) -> Vec<f32> {
        let max = logits.iter().cloned().fold(f32::NEG_INFINITY, f32::max);
        let exp: Vec<f32> = logits.iter().map(|&l| (l - max).exp()).collect(); //~ softmax
        let sum: f32 = exp.iter().sum();
        exp.into_iter().map(|e| e / sum).collect()
    }

    pub fn update(&mut self, grad: &[f32], lr: f32) {
        for (w, &g) in self.w2.iter_mut().zip(grad) { //~ axpy
            *w -= lr * g;
        }
    }
}

#[derive(Clone)]
pub struct Mat4(pub [[f32; 4]; 4]);

impl Mul for &Mat4 {
    type Output = Mat4;
    fn mul(self, rhs: &Mat4) -> Mat4 {
        let mut out = [[0.0; 4]; 4];
        for r in 0..4 { //~ matmul 4x4x4
            for c in 0..4 {
                for k in 0..4 {
                    out[r][c] += self.0[r][k] * rhs.0[k][c];
                }
            }
        }
        Mat4(out)
    }
}

pub fn relax(grid: &mut Vec<Vec<f32>>) {
    for y in 1..grid.len() - 1 { //~!
        for x in 1..grid[0].len() - 1 {
            grid[y][x] = 0.25 * (grid[y - 1][x] + grid[y + 1][x] + grid[y][x - 1] + grid[y][x + 1]);
        }
    }
}

pub fn tiles(map: &[Vec<u8>]) -> usize {
    let mut solid = 0;
    for row in map { //~!
        for &t in row {
            solid += t as usize;
        }
    }
    solid
}

pub fn score(hits: &[i32], worth: &[i32]) -> i32 {
    hits.iter().zip(worth).map(|(h, w)| h * w).sum() //~!
}

pub fn folder(parts: &[&str]) -> PathBuf {
    parts.iter().fold(PathBuf::new(), |p, s| p.join(s)) //~!
}

pub fn paths(costs: &mut [[u32; 16]; 16]) {
    for k in 0..16 { //~!
        for i in 0..16 {
            for j in 0..16 {
                costs[i][j] = costs[i][j].min(costs[i][k] + costs[k][j]);
            }
        }
    }
}

pub fn spawn(rng: &mut impl FnMut() -> f32, n: usize) -> Vec<f32> {
    (0..n).map(|_| rng() * 2.0 - 1.0).collect() //~!
}

pub fn accumulate<T: Copy + AddAssign>(into: &mut [T], from: &[T]) {
    for (a, b) in into.iter_mut().zip(from) { //~!
        *a += *b;
    }
}

pub fn cell(m: &impl Index<usize, Output = f32>, scale: f32) -> f32 {
    m[0] * scale //~!
}
