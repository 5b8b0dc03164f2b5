// SPDX-License-Identifier: MIT
//! Matrix products, written in the ways that people write them.
//!
//! `let c = matmul(&a, &b);` is how it is used: //~!
//!
//! ```
//! for i in 0..n { for j in 0..n { for k in 0..n { c[i][j] += a[i][k] * b[k][j]; } } } //~!
//! ```

use std::ops::{Index, IndexMut, Mul};

const N: usize = 512;
const BLOCK: usize = 64;

pub fn naive(a: &[[f32; N]; N], b: &[[f32; N]; N], c: &mut [[f32; N]; N]) {
    for i in 0..N { //~ matmul
        for j in 0..N {
            for k in 0..N {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
}

pub fn with_accumulator(a: &Vec<Vec<f64>>, b: &Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let rows = a.len();
    let inner = b.len();
    let cols = b[0].len();
    let mut c = vec![vec![0.0; cols]; rows];
    for i in 0..rows { //~ matmul
        for j in 0..cols {
            let mut acc = 0.0;
            for k in 0..inner {
                acc += a[i][k] * b[k][j];
            }
            c[i][j] = acc;
        }
    }
    c
}

pub fn flattened(a: &[f32], b: &[f32], c: &mut [f32], m: usize, n: usize, k: usize) {
    for i in 0..m { //~ matmul
        for p in 0..k {
            let left = a[i * k + p];
            for j in 0..n {
                c[i * n + j] += left * b[p * n + j];
            }
        }
    }
}

pub fn transposed_right(a: &[f64], bt: &[f64], n: usize) -> Vec<f64> {
    let mut c = vec![0f64; n * n];
    for i in 0..n { //~ matmul
        for j in 0..n {
            let mut sum = 0f64;
            for k in 0..n {
                sum = sum + a[i * n + k] * bt[j * n + k];
            }
            c[i * n + j] = sum;
        }
    }
    c
}

pub fn blocked(a: &[f32], b: &[f32], c: &mut [f32], n: usize) {
    for ii in (0..n).step_by(BLOCK) { //~ matmul
        for jj in (0..n).step_by(BLOCK) {
            for kk in (0..n).step_by(BLOCK) {
                for i in ii..(ii + BLOCK).min(n) {
                    for k in kk..(kk + BLOCK).min(n) {
                        for j in jj..(jj + BLOCK).min(n) {
                            c[i * n + j] += a[i * n + k] * b[k * n + j];
                        }
                    }
                }
            }
        }
    }
}

pub fn by_rows(a: &[Vec<f32>], b: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let width = b[0].len();
    (0..a.len()) //~ matmul
        .map(|i| {
            (0..width)
                .map(|j| (0..b.len()).map(|k| a[i][k] * b[k][j]).sum())
                .collect()
        })
        .collect()
}

pub fn with_inner_iterator(a: &[Vec<f64>], b: &[Vec<f64>], c: &mut [Vec<f64>]) {
    for i in 0..a.len() { //~ matmul
        for j in 0..b[0].len() {
            c[i][j] = (0..b.len()).map(|k| a[i][k] * b[k][j]).sum::<f64>();
        }
    }
}

pub fn enumerated(a: &[Vec<f32>], b: &[Vec<f32>], c: &mut Vec<Vec<f32>>) {
    for (i, row) in a.iter().enumerate() { //~ matmul
        for (k, x) in row.iter().enumerate() {
            for (j, y) in b[k].iter().enumerate() {
                c[i][j] += x * y;
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Matrix {
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { rows, cols, data: vec![0.0; rows * cols] }
    }

    pub fn get(&self, row: usize, col: usize) -> f64 {
        self.data[row * self.cols + col]
    }

    pub fn mul(&self, other: &Matrix) -> Matrix {
        let mut out = Matrix::zeros(self.rows, other.cols);
        for i in 0..self.rows { //~ matmul
            for j in 0..other.cols {
                let mut total = 0.0;
                for k in 0..self.cols {
                    total += self.get(i, k) * other.get(k, j);
                }
                out.data[i * other.cols + j] = total;
            }
        }
        out
    }

    pub fn mul_vec(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows];
        for i in 0..self.rows { //~ gemv
            for j in 0..self.cols {
                y[i] += self.data[i * self.cols + j] * x[j];
            }
        }
        y
    }

    pub fn transpose(&self) -> Matrix {
        let mut t = Matrix::zeros(self.cols, self.rows);
        for i in 0..self.rows { //~ transpose
            for j in 0..self.cols {
                t.data[j * self.rows + i] = self.data[i * self.cols + j];
            }
        }
        t
    }

    pub fn trace(&self) -> f64 {
        let mut t = 0.0;
        for i in 0..self.rows { //~ sum
            t += self.data[i * self.cols + i];
        }
        t
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, at: (usize, usize)) -> &f64 {
        &self.data[at.0 * self.cols + at.1]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, at: (usize, usize)) -> &mut f64 {
        &mut self.data[at.0 * self.cols + at.1]
    }
}

impl Mul for &Matrix {
    type Output = Matrix;
    fn mul(self, other: &Matrix) -> Matrix {
        let mut out = Matrix::zeros(self.rows, other.cols);
        for i in 0..self.rows { //~ matmul
            for k in 0..self.cols {
                for j in 0..other.cols {
                    out[(i, j)] += self[(i, k)] * other[(k, j)];
                }
            }
        }
        out
    }
}

pub fn batched(a: &[Vec<Vec<f32>>], b: &[Vec<Vec<f32>>], c: &mut [Vec<Vec<f32>>], n: usize) {
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

pub fn layer(w: &[Vec<f32>], x: &[f32], bias: &[f32]) -> Vec<f32> {
    w.iter() //~ gemv
        .zip(bias)
        .map(|(row, b)| row.iter().zip(x.iter()).map(|(w, v)| w * v).sum::<f32>() + b)
        .collect()
}

pub fn forward(w: &[Vec<f32>], x: &[f32], bias: &[f32], out: &mut [f32]) {
    for i in 0..w.len() { //~ gemv
        let mut s = bias[i];
        for k in 0..x.len() {
            s += w[i][k] * x[k];
        }
        out[i] = s.max(0.0);
    }
}

pub fn several_epochs(w: &[Vec<f32>], x: &[f32], y: &mut [f32]) {
    for _epoch in 0..100 {
        for i in 0..w.len() { //~ gemv
            let mut s = 0.0;
            for k in 0..x.len() {
                s += w[i][k] * x[k];
            }
            y[i] = s;
        }
    }
}

pub fn integer_product(a: &[Vec<i64>], b: &[Vec<i64>], c: &mut [Vec<i64>], n: usize) {
    for i in 0..n { //~!
        for j in 0..n { //~!
            for k in 0..n { //~!
                c[i][j] += a[i][k] * b[k][j]; //~!
            }
        }
    }
}

pub fn modular(a: &[[u64; 2]; 2], b: &[[u64; 2]; 2], modulus: u64) -> [[u64; 2]; 2] {
    let mut c = [[0u64; 2]; 2];
    for i in 0..2 { //~!
        for j in 0..2 {
            for k in 0..2 {
                c[i][j] = (c[i][j] + a[i][k] * b[k][j]) % modulus; //~!
            }
        }
    }
    c
}

pub fn shortest_paths(d: &mut Vec<Vec<f64>>) {
    let n = d.len();
    for k in 0..n { //~!
        for i in 0..n { //~!
            for j in 0..n { //~!
                if d[i][k] + d[k][j] < d[i][j] {
                    d[i][j] = d[i][k] + d[k][j];
                }
            }
        }
    }
}

pub fn game_of_life(cells: &[Vec<u8>], next: &mut [Vec<u8>]) {
    for y in 1..cells.len() - 1 { //~!
        for x in 1..cells[0].len() - 1 { //~!
            let mut count = 0;
            for dy in 0..3 { //~!
                for dx in 0..3 { //~!
                    count += cells[y + dy - 1][x + dx - 1];
                }
            }
            next[y][x] = (count == 3) as u8;
        }
    }
}

fn products(a: &Matrix, b: &Matrix, v: &[f64], w: &[f64]) -> f64 {
    let c = matrix_multiply(a, b); //~ matmul
    let d = linalg::matmul(&c, b); //~ matmul
    let e = d.matmul(a); //~ matmul
    gemm(1.0, a, b, 0.0, &mut e.clone()); //~ matmul
    let s = dot_product(v, w); //~ dot
    // let f = matmul(a, b); //~!
    /* gemm(1.0, a, b, 0.0, &mut c); //~! */
    let label = "matmul(a, b)"; //~!
    let usage = r#"c = a.matmul(&b) // or gemm(..)"#; //~!
    s + label.len() as f64 + usage.len() as f64
}

mod linalg {
    use super::Matrix;
    pub fn matmul(a: &Matrix, b: &Matrix) -> Matrix { //~!
        a * b
    }
}

fn matrix_multiply(a: &Matrix, b: &Matrix) -> Matrix { //~!
    a.mul(b)
}

trait Backend {
    fn matmul(&self, a: &Matrix, b: &Matrix) -> Matrix; //~!
    fn gemm(&self, alpha: f64, a: &Matrix, b: &Matrix); //~!
}

enum Node {
    MatMul(Box<Node>, Box<Node>), //~!
}

fn names_of_kernels(kernel: &str) -> bool {
    match kernel {
        "matmul" | "gemm" => true, //~!
        other => other.starts_with("matmul_"), //~!
    }
}

fn register(registry: &mut Registry) {
    registry.add("matmul", matmul_entry); //~!
    let matmul = registry.find("matmul"); //~!
    let gemm_count = registry.count(); //~!
    println!("{:?} {}", matmul, gemm_count); //~!
}

fn build_graph(a: Box<Node>, b: Box<Node>) -> Node {
    Node::MatMul(a, b) //~!
}

fn cholesky_row(l: &mut Vec<Vec<f64>>, a: &[Vec<f64>], i: usize) {
    for j in 0..i {
        let mut s = a[i][j];
        for k in 0..j { //~ dot
            s -= l[i][k] * l[j][k];
        }
        l[i][j] = s / l[j][j];
    }
}
