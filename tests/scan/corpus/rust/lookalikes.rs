// SPDX-License-Identifier: MIT
//! Code that only looks as if it computed with arrays of floats.

use std::collections::HashMap;

/// A purse. `purse.sum()` adds up the coins: //~!
///
/// ```
/// let total: f64 = v.iter().sum(); //~!
/// let y: Vec<f64> = x.iter().map(|v| v * 2.0).collect(); //~!
/// ```
pub struct Purse {
    coins: Vec<Coin>,
    label: String,
}

pub struct Coin {
    cents: u32,
}

impl Purse {
    pub fn sum(&self) -> f64 { //~!
        f64::from(self.cents()) / 100.0
    }

    fn cents(&self) -> u32 {
        self.coins.iter().map(|c| c.cents).sum() //~!
    }

    pub fn norm(&self) -> f64 { //~!
        1.0
    }

    pub fn dot(&self, other: &Purse) -> bool { //~!
        self.label == other.label
    }

    pub fn fold(&self, times: u32) -> u32 { //~!
        self.cents() >> times
    }

    pub fn mean(&self) -> f64 { //~!
        0.5
    }
}

pub fn purses(a: &Purse, b: &Purse) -> f64 {
    let s = a.sum(); //~!
    let n = a.norm(); //~!
    let f = a.fold(2); //~!
    let m = b.mean(); //~!
    if a.dot(b) { //~!
        s + n
    } else {
        f as f64 * m
    }
}

fn sum(a: f64, b: f64) -> f64 { //~!
    a + b
}

fn dot(path: &str) -> Option<usize> { //~!
    path.find('.')
}

fn reduce(fraction: (i64, i64)) -> (i64, i64) { //~!
    fraction
}

pub fn calls() -> f64 {
    let s = sum(1.0, 2.0); //~!
    let at = dot("a.b"); //~!
    let r = reduce((2, 4)); //~!
    s + at.unwrap_or(0) as f64 + r.0 as f64
}

pub fn names(checksum: u32, summary: &str, domain: &str) -> usize {
    let maximum = checksum; //~!
    let mapping = summary.len(); //~!
    let matmul = domain.len(); //~!
    mapping + matmul + maximum as usize
}

pub fn a_map(map: &mut HashMap<String, u32>, key: &str) -> u32 {
    let sum = map.get(key).copied().unwrap_or(0); //~!
    map.insert(key.to_string(), sum + 1); //~!
    map.iter().map(|(_, v)| v).sum() //~!
}

pub fn results(lines: &[String]) -> Result<Vec<i32>, std::num::ParseIntError> {
    lines.iter().map(|l| l.parse::<i32>()).collect() //~!
}

pub fn durations(parts: &[std::time::Duration]) -> std::time::Duration {
    parts.iter().sum() //~!
}

pub fn strings() -> &'static str {
    "v.iter().sum::<f32>()" //~!
}

pub fn raw() -> &'static str {
    r"
    for i in 0..n { c[i] = a[i] + b[i]; } //~!
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>() //~!
    "
}

macro_rules! total {
    ($v:expr) => {
        $v.iter().sum::<f32>() //~ sum f32
    };
}

macro_rules! multiply {
    ($a:ident, $b:ident, $c:ident, $n:expr) => {
        for i in 0..$n { //~!
            $c[i] = $a[i] * $b[i]; //~!
        }
    };
}

pub fn expanded(v: &[f32]) -> f32 {
    total!(v) //~!
}

pub fn printed(v: &[f32]) {
    println!("sum: {}", "v.iter().sum::<f32>()"); //~!
    println!("{}", v.iter().sum::<f32>()); //~ sum
    log::debug!("{} {}", v.len(), v.iter().product::<f32>()); //~ product
    println!("{}", v.iter().map(|x| *x as u64).sum::<u64>()); //~!
    assert!(!v.is_empty(), "matmul of nothing"); //~!
}

pub fn closures() -> f64 {
    let sum = |a: f64, b: f64| a + b; //~!
    let dot = |s: &str| s.len(); //~!
    sum(1.0, dot("x") as f64) //~!
}

pub fn nested_names(v: &[f32]) -> f32 {
    fn sum(v: &[f32]) -> f32 { //~!
        v[0]
    }
    sum(v) //~!
}

pub struct Graph {
    edges: Vec<(usize, usize)>,
    weights: HashMap<usize, f32>,
}

impl Graph {
    pub fn degree(&self, node: usize) -> usize {
        let mut n = 0;
        for (a, b) in &self.edges { //~!
            if *a == node || *b == node {
                n += 1;
            }
        }
        n
    }

    pub fn weight(&self) -> f32 {
        self.weights.values().copied().sum() //~!
    }

    pub fn sum_of_degrees(&self) -> usize {
        (0..self.edges.len()).map(|n| self.degree(n)).sum() //~!
    }
}

pub fn digits(mut n: u64) -> u64 {
    let mut s = 0;
    while n > 0 {
        s += n % 10; //~!
        n /= 10;
    }
    s
}

pub fn permissions(items: &[Item]) -> Vec<Permission> {
    items.iter().zip(0..).map(|(item, i)| item.allow(i)).collect() //~!
}

pub fn times(n: usize) {
    for i in 0..n { //~!
        for j in 0..n {
            for k in 0..n {
                visit(i * j, k); //~!
            }
        }
    }
}

pub fn pixels(img: &mut [u8], w: usize, h: usize) {
    for y in 0..h { //~!
        for x in 0..w { //~!
            img[y * w + x] = img[y * w + x] / 2 + 16;
        }
    }
}

pub fn fibonacci(n: usize) -> Vec<u64> {
    let mut f = vec![1u64; n];
    for i in 2..n { //~!
        f[i] = f[i - 1] + f[i - 2];
    }
    f
}

pub fn bubble(v: &mut Vec<f64>) {
    for i in 0..v.len() { //~!
        for j in i + 1..v.len() { //~!
            if v[j] < v[i] {
                v.swap(i, j);
            }
        }
    }
}
