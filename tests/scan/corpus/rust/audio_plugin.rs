// SPDX-License-Identifier: MIT
//! An audio effect: a bus of channels, a few filters, meters and a preset list.
//!
//! `for (o, i) in out.iter_mut().zip(input) { *o = i * gain; }` is the idea. //~!

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};

const BLOCK: usize = 256;
const MAX_TAPS: usize = 64;

/* The old mixer: //~!
   for i in 0..n { out[i] += wet * buf[i]; } //~!
*/

pub struct Bus {
    channels: Vec<Vec<f32>>,
    scratch: [f32; BLOCK],
    history: VecDeque<f32>,
    names: Vec<String>,
    peak: f32,
    played: u64,
}

pub struct Params {
    pub wet: f32,
    pub dry: f32,
    pub drive: f32,
}

impl Bus {
    pub fn apply_gain(&mut self, gain: f32) {
        for channel in self.channels.iter_mut() { //~ scale
            for sample in channel.iter_mut() {
                *sample *= gain;
            }
        }
    }

    pub fn meter(&mut self, ch: usize) -> f32 {
        let buf = &self.channels[ch];
        let sum_sq: f32 = buf.iter().map(|s| s * s).sum(); //~ dot
        (sum_sq / buf.len() as f32).sqrt()
    }

    pub fn update_peak(&mut self, block: &[f32]) {
        self.peak = block.iter().fold(self.peak, |p, s| p.max(s.abs())); //~ max
    }

    pub fn peak_by_branch(&mut self, block: &[f32]) {
        for &s in block { //~ max
            let level = s.abs();
            if level > self.peak {
                self.peak = level;
            }
        }
    }

    pub fn clear(&mut self) {
        self.scratch.fill(0.0); //~!
        for c in &mut self.channels { //~!
            c.clear();
        }
    }

    pub fn advance(&mut self, frames: usize) {
        self.played += frames as u64; //~!
    }

    pub fn delayed(&mut self, input: f32) -> f32 {
        self.history.push_back(input); //~!
        self.history.pop_front().unwrap_or(0.0)
    }

    pub fn one_pole(&mut self, block: &mut [f32], a: f32) {
        let mut z = 0.0;
        for s in block.iter_mut() { //~!
            z += a * (*s - z);
            *s = z;
        }
    }

    pub fn widest_name(&self) -> usize {
        self.names.iter().map(|n| n.len()).max().unwrap_or(0) //~!
    }

    pub fn into_scratch(&mut self, block: &[f32]) {
        for (slot, s) in self.scratch.iter_mut().zip(block.iter().copied()) { //~ copy
            *slot = s;
        }
    }
}

pub fn wet_dry(out: &mut [f32], dry: &[f32], wet: &[f32], p: &Params) {
    for ((o, &d), &w) in out.iter_mut().zip(dry.iter()).zip(wet.iter()) { //~ axpy
        *o = d * p.dry + w * p.wet;
    }
}

pub fn send(out: &mut [f32], input: &[f32], amount: f32) {
    let n = out.len().min(input.len());
    for i in 0..n { //~ axpy
        out[i] += input[i] * amount;
    }
}

pub fn saturate(buffer: &mut [f32], p: &Params) {
    buffer.iter_mut().for_each(|s| *s = (*s * p.drive).tanh()); //~ tanh
}

pub fn hard_clip(buffer: &mut [f32], ceiling: f32) {
    for s in buffer {  //~ clamp
        *s = s.max(-ceiling).min(ceiling);
    }
}

pub fn invert_phase(buffer: &mut [f32]) {
    for s in buffer.iter_mut() { //~ neg
        *s = -*s;
    }
}

pub fn fir(input: &[f32], coeffs: &[f32], out: &mut [f32]) {
    let taps = coeffs.len();
    for n in taps - 1..input.len() { //~ conv2d
        let mut y = 0.0_f32;
        for (k, &c) in coeffs.iter().enumerate() {
            y += c * input[n - k];
        }
        out[n] = y;
    }
}

pub fn window_block(block: &mut [f32; BLOCK], window: &[f32; BLOCK]) {
    for i in 0..BLOCK { //~ mul 256 f32
        block[i] *= window[i];
    }
}

pub fn mid_side(left: &[f32], right: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let mid = left.iter().zip(right).map(|(l, r)| (l + r) * 0.5).collect(); //~ scale
    let side = left.iter().zip(right).map(|(l, r)| (l - r) * 0.5).collect(); //~ scale
    (mid, side)
}

pub fn to_decibels(mags: &[f32]) -> Vec<f32> {
    mags.iter().map(|m| 20.0 * m.max(1e-9).log10()).collect() //~ scale
}

pub fn magnitudes(re: &[f32], im: &[f32]) -> Vec<f32> {
    re.iter().zip(im.iter()).map(|(&r, &i)| (r * r + i * i).sqrt()).collect() //~ sqrt
}

pub fn loudest_bin(spectrum: &[f32]) -> Option<usize> {
    spectrum //~ argmax
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .map(|(bin, _)| bin)
}

pub fn dc_offset(block: &[f32]) -> f32 {
    let n = block.len() as f32;
    let mut acc = 0.0f32;
    for s in block.iter() { //~ mean
        acc += *s;
    }
    acc / n
}

pub fn remove_dc(block: &mut [f32], offset: f32) {
    for s in block.iter_mut() { //~ sub
        *s -= offset;
    }
}

pub fn correlate(a: &[f32], b: &[f32]) -> f32 {
    debug_assert_eq!(a.len(), b.len());
    let mut total = 0.0;
    for (x, y) in a.iter().zip(b.iter()) { //~ dot
        total += x * y;
    }
    total
}

pub fn deinterleave(frames: &[f32], left: &mut [f32], right: &mut [f32]) {
    for (i, frame) in frames.chunks_exact(2).enumerate() { //~!
        left[i] = frame[0];
        right[i] = frame[1];
    }
}

pub fn quantise(samples: &[f32]) -> Vec<i16> {
    samples.iter().map(|&s| (s.clamp(-1.0, 1.0) * 32767.0) as i16).collect() //~!
}

pub fn ramp(block: &mut [f32], from: f32, step: f32) {
    let mut g = from;
    for s in block.iter_mut() { //~!
        *s *= g;
        g += step;
    }
}

pub fn oscillator(out: &mut [f32], freq: f32, rate: f32) {
    for (i, o) in out.iter_mut().enumerate() { //~!
        *o = (std::f32::consts::TAU * freq * i as f32 / rate).sin();
    }
}

pub fn zero_crossings(block: &[f32]) -> usize {
    block.windows(2).filter(|w| w[0] * w[1] < 0.0).count() //~!
}

pub fn gate_opens(block: &[f32], threshold: f32) -> bool {
    block.iter().any(|s| s.abs() > threshold) //~!
}

pub struct Presets {
    by_name: BTreeMap<String, Params>,
    order: Vec<u16>,
}

impl Presets {
    pub fn sum(&self) -> u32 { //~!
        self.order.iter().map(|&o| u32::from(o)).sum() //~!
    }

    pub fn max(&self) -> Option<&u16> { //~!
        self.order.iter().max() //~!
    }

    pub fn titles(&self) -> Vec<String> {
        self.by_name.iter().map(|(k, p)| format!("{k}: {}", p.wet * 100.0)).collect() //~!
    }

    pub fn average_wet(&self) -> f32 {
        self.by_name.values().map(|p| p.wet).sum::<f32>() / self.by_name.len() as f32 //~!
    }
}

pub fn describe(presets: &Presets) -> String {
    let m = presets.max(); //~!
    let s = presets.sum(); //~!
    format!("{m:?} {s} out[i] = a[i] * b[i]") //~!
}

pub fn midi(bytes: &[u8], out: &mut Vec<u8>) {
    for b in bytes { //~!
        out.push(b & 0x7f);
    }
}

pub fn level_bits(level: &AtomicU32, v: f32) {
    level.store(v.to_bits(), Ordering::Relaxed); //~!
}

pub fn convolve_reverb(x: &[f32], ir: &[f32]) -> Vec<f32> {
    let mut y = vec![0.0; x.len() + ir.len() - 1];
    for (i, &xi) in x.iter().enumerate() { //~ conv2d
        for (j, &hj) in ir.iter().enumerate() {
            y[i + j] += xi * hj;
        }
    }
    y
}
