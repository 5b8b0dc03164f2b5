// SPDX-License-Identifier: MIT
//! ndarray and nalgebra, where the types can be seen.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use ndarray::{array, azip, Array, Array1, Array2, ArrayView1, ArrayView2, Axis, Zip};

const SIDE: usize = 1024;

pub fn product(a: &Array2<f32>, b: &Array2<f32>) -> Array2<f32> {
    a.dot(b) //~ matmul
}

pub fn product_of_made() -> Array2<f64> {
    let a = Array2::<f64>::zeros((512, 512));
    let b = Array2::<f64>::ones((512, 256));
    a.dot(&b) //~ matmul
}

pub fn product_with_vector(a: &ArrayView2<f64>, x: &ArrayView1<f64>) -> Array1<f64> {
    a.dot(x) //~ gemv
}

pub fn inner(x: &Array1<f32>, y: &Array1<f32>) -> f32 {
    x.dot(y) //~ dot
}

pub fn element_wise(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    a * b //~ mul
}

pub fn element_sum(a: &Array1<f32>, b: &Array1<f32>) -> Array1<f32> {
    a + b //~ add
}

pub fn scaled(a: &Array2<f64>) -> Array2<f64> {
    a * 3.0 //~ scale
}

pub fn activated(a: &Array2<f32>) -> Array2<f32> {
    a.mapv(|x| x.max(0.0)) //~ relu
}

pub fn exponentials(a: &mut Array1<f32>) {
    a.mapv_inplace(|x| x.exp()); //~ exp
}

pub fn exponentials_by_path(a: &Array1<f64>) -> Array1<f64> {
    a.mapv(f64::exp) //~ exp
}

pub fn total(a: &Array2<f64>) -> f64 {
    a.sum() //~ sum
}

pub fn totals(a: &Array2<f64>) -> Array1<f64> {
    a.sum_axis(Axis(0)) //~ sum
}

pub fn average(a: &Array1<f32>) -> f32 {
    a.mean().unwrap() //~ mean
}

pub fn spread(a: &Array1<f32>) -> f32 {
    a.var(1.0) //~ variance
}

pub fn zipped(a: &mut Array2<f32>, b: &Array2<f32>) {
    azip!((a in a, &b in b) *a += b); //~ add
}

pub fn zipped_longer(a: &mut Array1<f64>, b: &Array1<f64>) {
    Zip::from(a).and(b).for_each(|x, &y| *x = *x * y); //~ mul
}

pub fn algebra(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    a * b //~ matmul
}

pub fn algebra_of_made() -> DMatrix<f32> {
    let a = DMatrix::<f32>::zeros(SIDE, SIDE);
    let b = DMatrix::<f32>::identity(SIDE, SIDE);
    &a * &b //~ matmul
}

pub fn algebra_with_vector(a: &DMatrix<f64>, x: &DVector<f64>) -> DVector<f64> {
    a * x //~ gemv
}

pub fn lengths(x: &DVector<f64>) -> f64 {
    x.norm() //~ norm2
}

pub fn inner_algebra(x: &DVector<f32>, y: &DVector<f32>) -> f32 {
    x.dot(y) //~ dot
}

pub fn turned(a: &DMatrix<f32>) -> DMatrix<f32> {
    a.transpose() //~ transpose
}

pub fn components(a: &DMatrix<f32>, b: &DMatrix<f32>) -> DMatrix<f32> {
    a.component_mul(b) //~ mul
}

pub fn largest(x: &DVector<f64>) -> f64 {
    x.max() //~ max
}

pub fn difference(a: &DVector<f64>, b: &DVector<f64>) -> DVector<f64> {
    a - b //~ sub
}

pub fn fixed(a: &Matrix3<f64>, b: &Matrix3<f64>) -> Matrix3<f64> {
    a * b //~!
}

pub fn direction(a: &Vector3<f64>, b: &Vector3<f64>) -> Vector3<f64> {
    let d = b - a; //~!
    d / d.norm() //~!
}

pub fn integer_total(a: &Array2<i64>) -> i64 {
    a.sum() //~!
}

pub fn integer_product(a: &Array2<i32>, b: &Array2<i32>) -> Array2<i32> {
    a.dot(b) //~!
}

pub fn integer_scaled(a: &Array1<u8>) -> Array1<u8> {
    a * 2 //~!
}

pub fn shape(a: &Array2<f64>) -> usize {
    a.nrows() * a.ncols() //~!
}

pub fn viewed(a: &Array2<f64>) -> ArrayView2<f64> {
    a.t() //~!
}

pub fn area(width: f64, height: f64) -> f64 {
    width * height //~!
}

pub fn masked(a: &Array1<f64>) -> Array1<bool> {
    a.mapv(|x| x > 0.5) //~!
}

pub fn scalar_of(a: &Array1<f64>) -> f64 {
    a[0] * a[1] //~!
}
