// SPDX-License-Identifier: MIT
//! Elements of type parameters, of structs that are given a type, behind
//! getters, in macros, and closures that libraries call.

use itertools::izip;
use nalgebra::DMatrix;
use ndarray::{Array, Array1, Array2, Zip};
use num_traits::Num;

type Shared<T> = Rc<RefCell<T>>;

pub struct Table<T> {
    rows: usize,
    cols: usize,
    cells: Vec<T>,
}

impl<T: Copy + Num> Table<T> {
    pub fn cells(&self) -> &[T] {
        &self.cells
    }

    fn total(&self) -> T {
        self.cells.iter().fold(T::zero(), |s, &x| s + x * x) //~ dot
    }

    fn stretch(&mut self, by: T) {
        for v in self.cells.iter_mut() { //~ scale
            *v = *v * by;
        }
    }
}

pub fn difference(p: &Table<f64>, q: &Table<f64>) -> Vec<f64> {
    let mut out = Vec::new();
    for i in 0..p.rows { //~ sub f64
        out.push(p.cells()[i] - q.cells()[i]);
    }
    out
}

pub struct Meter {
    seen: usize,
    rate: f64,
}

impl Meter {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn next(&mut self) -> f64 {
        self.seen += 1;
        self.rate
    }
}

pub fn drive(x: &mut [f64], meter: &Meter) {
    for v in x.iter_mut() { //~ scale f64
        *v *= meter.rate();
    }
}

pub fn wander(x: &mut [f64], meter: &mut Meter) {
    for v in x.iter_mut() { //~!
        *v *= meter.next();
    }
}

pub fn average<E: FloatElement>(sums: &mut [E], count: usize) {
    for v in sums.iter_mut() { //~ scale
        *v /= E::from_usize(count).unwrap();
    }
}

pub fn shift<K: Copy + Join>(keys: &mut [K], by: K) {
    for v in keys.iter_mut() { //~!
        *v = *v * by;
    }
}

pub struct Layer {
    out: Shared<Array<f32, D>>,
    left: Shared<Array<f32, D>>,
    right: Shared<Array<f32, D>>,
}

impl Layer {
    fn forward(&self) {
        Zip::from(&mut *self.out.borrow_mut()) //~ add f32
            .and_broadcast(&*self.left.borrow())
            .and_broadcast(&*self.right.borrow())
            .for_each(|o, &l, &r| *o = l + r);
    }

    fn loss(&self, a: &Array1<f32>, b: &Array1<f32>) -> f32 {
        Zip::from(a).and(b).fold(0.0, |s, &x, &y| s + x * y) //~ dot f32
    }

    fn step(&self, w: &mut Array1<f32>, g: &Array1<f32>, rate: f32) {
        let both = Zip::from(w).and(g);
        both.for_each(|w, &g| *w -= g * rate); //~ axpy f32
    }
}

pub fn grid(a: &Array2<f64>, b: &Array2<f64>, n: usize) -> Array2<f64> {
    Array::from_shape_fn((n, n), |(i, j)| a[[i, j]] + b[[i, j]]) //~ add f64
}

pub fn hadamard(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    a.zip_map(b, |x, y| x * y) //~ mul f64
}

pub fn gather(t: &[f64], n: usize, at: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |i, j| t[at[i * n + j]]) //~!
}

pub fn weighed(a: &[f32], b: &[f32], c: &mut [f32]) {
    for (x, y, z) in izip!(a, b, c.iter_mut()) { //~ mul f32
        *z = x * y;
    }
}

pub fn counted(a: &[u32], b: &[u32]) -> u32 {
    izip!(a, b).map(|(x, y)| x * y).sum() //~!
}

pub struct Series {
    values: Vec<f64>,
    floor: Vec<f64>,
}

pub fn above(series: Series) -> Vec<f64> {
    let Series { values, floor: base } = series;
    values.iter().zip(&base).map(|(v, b)| v - b).collect() //~ sub f64
}

pub fn fir(delay: &[f64], taps: &[f64]) -> f64 {
    let mut s = 0.0;
    for (x, h) in delay.iter().zip(taps.iter().rev()) { //~ dot f64
        s += x * h;
    }
    s
}

macro_rules! inner {
    ($name:ident, $t:ty) => {
        pub fn $name(a: &[$t], b: &[$t]) -> $t {
            let mut s = 0 as $t;
            for i in 0..a.len() { //~ dot f32
                s += a[i] * b[i];
            }
            s
        }
    };
}
inner!(inner_f32, f32);

macro_rules! tally {
    ($($name:ident: $t:ty),*) => {
        $(pub fn $name(a: &[$t], b: &mut [$t]) {
            for i in 0..a.len() { //~!
                b[i] = a[i] + b[i];
            }
        })*
    };
}
tally!(tally_u32: u32, tally_u64: u64);

macro_rules! moved {
    ($($t:ty),*) => {
        $(impl Moved for [$t] {
            fn moved(&mut self, by: &[$t]) {
                for (x, y) in self.iter_mut().zip(by) { //~ add
                    *x += *y;
                }
            }
        })*
    };
}
moved!(f32, f64);
