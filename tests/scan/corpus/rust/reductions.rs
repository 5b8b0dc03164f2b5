// SPDX-License-Identifier: MIT
//! Reductions over floats: methods, folds, loops; in order and in parallel.

use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

pub fn total(v: &[f32]) -> f32 {
    v.iter().sum() //~ sum
}

pub fn total_with_turbofish(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() //~ sum
}

pub fn total_by_annotation(values: &Vec<f32>) -> String {
    let s: f32 = values.iter().copied().sum(); //~ sum
    format!("{s}")
}

pub fn parallel_total(v: &[f64]) -> f64 {
    v.par_iter().sum() //~ sum
}

pub fn parallel_chunks(v: &[f32]) -> f32 {
    v.par_chunks(4096).map(|c| c.iter().sum::<f32>()).sum() //~ sum
}

pub fn folded(v: &[f32]) -> f32 {
    v.iter().fold(0.0, |acc, x| acc + x) //~ sum
}

pub fn folded_backwards(v: &[f64]) -> f64 {
    v.iter().rev().fold(0f64, |acc, &x| x + acc) //~ sum
}

pub fn reduced(v: Vec<f32>) -> f32 {
    v.into_iter().reduce(|a, b| a + b).unwrap_or(0.0) //~ sum
}

pub fn parallel_reduced(v: &[f32]) -> f32 {
    v.par_iter().copied().reduce(|| 0.0, |a, b| a + b) //~ sum
}

pub fn likelihood(p: &[f64]) -> f64 {
    p.iter().product() //~ product
}

pub fn likelihood_with_turbofish(p: &[f32]) -> f32 {
    p.iter().product::<f32>() //~ product
}

pub fn log_likelihood(p: &[f64]) -> f64 {
    p.iter().map(|x| x.ln()).sum() //~ sum
}

pub fn looped(v: &[f32]) -> f32 {
    let mut s = 0.0;
    for i in 0..v.len() { //~ sum
        s += v[i];
    }
    s
}

pub fn looped_over_elements(v: &[f64]) -> f64 {
    let mut s = 0.0f64;
    for x in v { //~ sum
        s += x;
    }
    s
}

pub fn looped_over_references(v: &[f64]) -> f64 {
    let mut total = 0.0;
    for &x in v.iter() { //~ sum
        total = total + x;
    }
    total
}

pub fn kahan(v: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut lost = 0.0;
    for &x in v { //~ sum
        let y = x - lost;
        let t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    sum
}

pub fn mean(v: &[f32]) -> f32 {
    v.iter().sum::<f32>() / v.len() as f32 //~ mean
}

pub fn mean_of_count(v: &[f64]) -> f64 {
    let n = v.len() as f64;
    let m: f64 = v.iter().sum::<f64>() / n; //~ mean
    m
}

pub fn variance(v: &[f64], mean: f64) -> f64 {
    v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (v.len() - 1) as f64 //~ variance
}

pub fn variance_by_product(v: &[f32], mean: f32) -> f32 {
    let n = v.len() as f32;
    v.iter().map(|&x| (x - mean) * (x - mean)).sum::<f32>() / n //~ variance
}

pub fn largest(v: &[f32]) -> f32 {
    v.iter().cloned().fold(f32::NEG_INFINITY, f32::max) //~ max
}

pub fn smallest(v: &[f64]) -> f64 {
    v.iter().copied().fold(f64::INFINITY, f64::min) //~ min
}

pub fn largest_by_closure(v: &[f32]) -> f32 {
    v.iter().fold(f32::MIN, |m, &x| m.max(x)) //~ max
}

pub fn largest_by_order(v: &[f64]) -> Option<&f64> {
    v.iter().max_by(|a, b| a.partial_cmp(b).unwrap()) //~ max
}

pub fn smallest_by_order(v: &[f32]) -> f32 {
    *v.iter().min_by(|a, b| a.total_cmp(b)).unwrap() //~ min
}

pub fn largest_by_path(v: &[f64]) -> Option<f64> {
    v.iter().copied().max_by(f64::total_cmp) //~ max
}

pub fn largest_reduced(v: &[f32]) -> Option<f32> {
    v.iter().copied().reduce(f32::max) //~ max
}

pub fn largest_parallel(v: &[f32]) -> f32 {
    v.par_iter().cloned().reduce(|| f32::MIN, f32::max) //~ max
}

pub fn largest_looped(v: &[f32]) -> f32 {
    let mut best = v[0];
    for i in 1..v.len() { //~ max
        if v[i] > best {
            best = v[i];
        }
    }
    best
}

pub fn smallest_looped(v: &[f64]) -> f64 {
    let mut low = f64::MAX;
    for &x in v { //~ min
        low = low.min(x);
    }
    low
}

pub fn place_of_largest(v: &[f32]) -> usize {
    v.iter() //~ argmax
        .enumerate()
        .max_by(|(_, a), (_, b)| a.partial_cmp(b).unwrap())
        .map(|(i, _)| i)
        .unwrap()
}

pub fn place_of_smallest(v: &[f64]) -> Option<(usize, &f64)> {
    v.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)) //~ argmin
}

pub fn place_looped(v: &[f64]) -> usize {
    let mut best = 0;
    let mut high = v[0];
    for (i, &x) in v.iter().enumerate() { //~ argmax
        if x > high {
            high = x;
            best = i;
        }
    }
    best
}

pub fn place_by_index(v: &[f32]) -> usize {
    let mut best = 0;
    for i in 1..v.len() { //~ argmax
        if v[i] > v[best] {
            best = i;
        }
    }
    best
}

pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b.iter()).map(|(x, y)| x * y).sum() //~ dot
}

pub fn dot_shorter(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() //~ dot
}

pub fn dot_folded(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |s, (x, y)| s + x * y) //~ dot
}

pub fn dot_fused(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |s, (x, y)| x.mul_add(*y, s)) //~ dot
}

pub fn dot_looped(a: &[f64], b: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..a.len() { //~ dot
        s += a[i] * b[i];
    }
    s
}

pub fn dot_zipped(a: &[f32], b: &[f32]) -> f32 {
    let mut s = 0.0;
    for (x, y) in a.iter().zip(b.iter()) { //~ dot
        s += x * y;
    }
    s
}

pub fn dot_by_index(a: &[f64], b: &[f64], n: usize) -> f64 {
    (0..n).map(|i| a[i] * b[i]).sum() //~ dot
}

pub fn squares(a: &[f32]) -> f32 {
    a.iter().map(|x| x * x).sum() //~ dot
}

pub fn length(a: &[f32]) -> f32 {
    a.iter().map(|x| x * x).sum::<f32>().sqrt() //~ norm2
}

pub fn length_by_power(a: &[f64]) -> f64 {
    a.iter().map(|x| x.powi(2)).sum::<f64>().sqrt() //~ norm2
}

pub fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter() //~ norm2
        .zip(b)
        .map(|(x, y)| (x - y).powi(2))
        .sum::<f32>()
        .sqrt()
}

pub fn manhattan(a: &[f64]) -> f64 {
    a.iter().map(|x| x.abs()).sum() //~ norm1
}

pub fn manhattan_looped(a: &[f32]) -> f32 {
    let mut s = 0.0;
    for x in a.iter() { //~ norm1
        s += x.abs();
    }
    s
}

pub struct Signal {
    samples: Vec<f32>,
    names: Vec<String>,
    counts: Vec<u32>,
}

impl Signal {
    pub fn energy(&self) -> f32 {
        self.samples.iter().map(|s| s * s).sum() //~ dot
    }

    pub fn peak(&self) -> f32 {
        self.samples.iter().fold(0.0f32, |m, s| m.max(s.abs())) //~ max
    }

    pub fn level(&self) -> f32 {
        let total: f32 = self.samples.iter().sum(); //~ sum
        total / self.samples.len() as f32
    }

    pub fn letters(&self) -> usize {
        self.names.iter().map(|n| n.len()).sum() //~!
    }

    pub fn events(&self) -> u32 {
        self.counts.iter().sum() //~!
    }

    pub fn most(&self) -> Option<&u32> {
        self.counts.iter().max() //~!
    }

    pub fn longest(&self) -> Option<&String> {
        self.names.iter().max_by(|a, b| a.len().cmp(&b.len())) //~!
    }
}

pub fn counted(v: &[i32]) -> i32 {
    v.iter().sum() //~!
}

pub fn counted_with_turbofish(v: &[u8]) -> u64 {
    v.iter().map(|&b| u64::from(b)).sum::<u64>() //~!
}

pub fn factorial(n: u64) -> u64 {
    (1..=n).product() //~!
}

pub fn gauss(n: usize) -> usize {
    (0..n).sum::<usize>() //~!
}

pub fn joined(words: &[String]) -> String {
    words.iter().fold(String::new(), |acc, w| acc + w) //~!
}

pub fn hashed(bytes: &[u8]) -> u32 {
    bytes.iter().fold(5381, |h, &b| h * 33 + b as u32) //~!
}

pub fn checksum(bytes: &[u8]) -> u8 {
    let mut sum = 0u8;
    for b in bytes { //~!
        sum = sum.wrapping_add(*b);
    }
    sum
}

pub fn histogram(pixels: &[u8]) -> [u32; 256] {
    let mut bins = [0; 256];
    for &p in pixels { //~!
        bins[p as usize] += 1;
    }
    bins
}

pub fn how_many(v: &[f64], limit: f64) -> usize {
    let mut n = 0;
    for &x in v { //~!
        if x > limit {
            n += 1;
        }
    }
    n
}

pub fn prices(by_name: &HashMap<String, f64>) -> f64 {
    by_name.values().sum() //~!
}

pub fn word_lengths(text: &str) -> usize {
    text.split_whitespace().map(|w| w.len()).sum() //~!
}

pub fn tallest(tree: &BTreeMap<u32, Vec<u32>>) -> Option<usize> {
    tree.values().map(|v| v.len()).max() //~!
}

pub fn greater(a: f32, b: f32) -> f32 {
    a.max(b) //~!
}

pub fn smoothed(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |state, x| state * 0.9 + x * 0.1) //~!
}

pub fn first_large(v: &[f64]) -> f64 {
    let mut s = 0.0;
    for &x in v { //~!
        if x > 10.0 {
            s += x;
            break;
        }
    }
    s
}

pub fn newton(mut x: f64) -> f64 {
    for _ in 0..20 { //~!
        x = x - (x * x - 2.0) / (2.0 * x);
    }
    x
}

pub fn decayed(steps: usize) -> f64 {
    let mut rate = 0.1;
    for _ in 0..steps { //~!
        rate *= 0.99;
    }
    rate
}

pub fn elapsed(clock: &mut Clock) -> f64 {
    let mut t = 0.0;
    for _ in 0..10 { //~!
        t += clock.tick();
    }
    t
}

pub fn longest_line(text: &str) -> usize {
    text.lines().map(str::len).max().unwrap_or(0) //~!
}

pub fn bits(words: &[u64]) -> u32 {
    words.iter().map(|w| w.count_ones()).sum() //~!
}

pub fn flags(set: &[bool]) -> bool {
    set.iter().fold(true, |all, &f| all && f) //~!
}

pub fn last_version(tags: &[String]) -> Option<&String> {
    tags.iter().max_by(|a, b| a.cmp(b)) //~!
}

pub fn merged(sets: Vec<Vec<u32>>) -> Vec<u32> {
    sets.into_iter().reduce(|mut a, b| { a.extend(b); a }).unwrap() //~!
}

pub fn spread<T>(ys: T, middle: f64) -> f64
where
    T: Iterator<Item = f64> + Clone,
{
    ys.map(|y| (y - middle).powi(2)).sum::<f64>() //~ variance
}

pub fn longest<I: IntoIterator<Item = String>>(words: I) -> usize {
    words.into_iter().map(|w| w.len()).sum() //~!
}

pub fn lowest(values: &[f64]) -> f64 {
    let by = |a: &&f64, b: &&f64| a.partial_cmp(b).expect("a number");
    values.iter().min_by(by).unwrap().floor() //~ min
}

pub fn add_scaled<T>(u: &mut [T], alpha: T, p: &[T])
where
    T: std::ops::Mul<Output = T> + std::ops::AddAssign + Copy,
{
    u.iter_mut().zip(p.iter()).for_each(|(a, &b)| *a += alpha * b); //~ axpy
}
