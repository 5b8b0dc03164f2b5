// SPDX-License-Identifier: MIT
//! Elements behind methods, operators, pointers and traits.

use crate::algebra::InnerProduct;
use std::ops::Index;

pub enum Order {
    Rows,
    Columns,
}

pub struct Grid {
    rows: usize,
    cols: usize,
    order: Order,
    cells: Vec<f32>,
}

impl Grid {
    pub fn get_unchecked(&self, r: usize, c: usize) -> f32 {
        match self.order {
            Order::Rows => self.cells[r * self.cols + c],
            Order::Columns => self.cells[c * self.rows + r],
        }
    }

    pub fn get_value(&self, r: usize, c: usize) -> f32 {
        if r >= self.rows || c >= self.cols {
            return -1.0;
        }
        self.get_unchecked(r, c)
    }

    pub fn set_value(&mut self, r: usize, c: usize, v: f32) {
        let at = r * self.cols + c;
        self.cells[at] = v;
    }

    fn over(&self, other: &Grid) -> Vec<f32> {
        let mut out = Vec::with_capacity(self.rows * self.cols);
        for r in 0..self.rows { //~ div f32
            for c in 0..self.cols {
                out.push(self.get_unchecked(r, c) / other.get_unchecked(r, c));
            }
        }
        out
    }

    fn scaled(&mut self, from: &Grid, k: f32) {
        for r in 0..self.rows { //~ scale f32
            for c in 0..self.cols {
                self.set_value(r, c, from.get_value(r, c) * k);
            }
        }
    }

    fn total(&self, a: &Grid, b: &Grid, out: &mut Vec<f32>) {
        for r in 0..self.rows { //~ add f32
            for c in 0..self.cols {
                out.push(a[(r, c)] + b[(r, c)]);
            }
        }
    }
}

impl Index<(usize, usize)> for Grid {
    type Output = f32;
    fn index(&self, at: (usize, usize)) -> &f32 {
        match self.order {
            Order::Rows => &self.cells[at.0 * self.cols + at.1],
            Order::Columns => &self.cells[at.1 * self.rows + at.0],
        }
    }
}

unsafe fn pointers(a: *const f32, b: *const f32, c: *mut f32, n: usize) {
    for i in 0..n { //~ matmul f32
        for j in 0..n {
            let row = a.add(i * n);
            let mut s = 0.0;
            for k in 0..n {
                s += *row.add(k) * *b.offset((k * n + j) as isize);
            }
            *c.add(i * n + j) = s;
        }
    }
}

fn pointers_of_slices(a: &[f64], b: &[f64]) -> f64 {
    let (mut s, n) = (0.0, a.len());
    let p = a.as_ptr();
    let q = b.as_ptr();
    for i in 0..n { //~ dot f64
        unsafe { s += *p.add(i) * *q.add(i) }
    }
    s
}

unsafe fn pointers_of_integers(a: *const u32, n: usize) -> u32 {
    let mut s = 0;
    for i in 0..n { //~!
        s += *a.add(i);
    }
    s
}

fn by_a_trait(x: &Vec<f64>, y: &[f64]) -> f64 {
    x.dot(y).tanh() //~ dot f64
}

fn by_a_trait_of_integers(x: &Vec<i64>, y: &[i64]) -> i64 {
    x.dot(y) //~!
}

trait Product<E> {
    fn matmul(dims: (usize, usize, usize), a: *const E, b: *const E, c: *mut E);
}

struct Host;

impl Host {
    fn forward<E>(&self, m: usize, k: usize, n: usize, a: &[E], b: &[E], c: &mut [E])
    where
        Self: Product<E>,
    {
        Self::matmul((m, k, n), a.as_ptr(), b.as_ptr(), c.as_mut_ptr()); //~ matmul
    }
}

fn by_slices<T: Copy>(rows: &Rows<T>, j: usize, k: usize) -> T {
    let a = rows.row(j).raw();
    let b = rows.row(k).raw();
    dot(&a[0..j], &b[0..j]) //~ dot
}

fn of_text(s: &str, t: &str) -> usize {
    dot(s, t) //~!
}

fn known_arrays() -> f64 {
    let a = ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]]);
    let b = arr2(&[[1.0, 0.0], [0.0, 1.0]]);
    let c: ndarray::Array2<f64> = b.dot(&b); //~ matmul
    a[[0, 0]] + c[[0, 0]]
}

fn in_lanes(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 8];
    let left = a.chunks_exact(8);
    let right = b.chunks_exact(8);
    for (x, y) in left.zip(right) { //~ dot f32
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum() //~ sum
}

fn columns(a: &[f32], b: &[f32], sums: &mut [f32], width: usize) {
    for (x, y) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
        for i in 0..width { //~ fma f32
            sums[i] += x[i] * y[i];
        }
    }
}
