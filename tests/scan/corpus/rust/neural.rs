// SPDX-License-Identifier: MIT
//! Compositions of neural networks, and convolutions.

pub fn softmax(x: &[f32]) -> Vec<f32> {
    let max = x.iter().cloned().fold(f32::NEG_INFINITY, f32::max);
    let exps: Vec<f32> = x.iter().map(|v| (v - max).exp()).collect(); //~ softmax
    let sum: f32 = exps.iter().sum();
    exps.iter().map(|e| e / sum).collect()
}

pub fn softmax_in_place(row: &mut [f32]) {
    let mut high = f32::MIN;
    for x in row.iter() {
        high = high.max(*x);
    }
    let mut total = 0.0;
    for x in row.iter_mut() { //~ softmax
        *x = (*x - high).exp();
        total += *x;
    }
    for x in row.iter_mut() {
        *x /= total;
    }
}

pub fn softmax_by_index(logits: &[f64], out: &mut [f64]) {
    let mut m = logits[0];
    for i in 1..logits.len() {
        if logits[i] > m {
            m = logits[i];
        }
    }
    let mut z = 0.0;
    for i in 0..logits.len() { //~ softmax
        out[i] = (logits[i] - m).exp();
        z += out[i];
    }
    for i in 0..logits.len() {
        out[i] /= z;
    }
}

pub fn layer_norm(x: &[f32], gain: &[f32], bias: &[f32], eps: f32) -> Vec<f32> {
    let n = x.len() as f32;
    let mean = x.iter().sum::<f32>() / n;
    let var = x.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / n;
    let inv = 1.0 / (var + eps).sqrt();
    x.iter() //~ layernorm
        .zip(gain)
        .zip(bias)
        .map(|((v, g), b)| (v - mean) * inv * g + b)
        .collect()
}

pub fn standardised(x: &mut [f64]) {
    let n = x.len() as f64;
    let mean: f64 = x.iter().sum::<f64>() / n;
    let var: f64 = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    let std = (var + 1e-8).sqrt();
    for v in x.iter_mut() { //~ layernorm
        *v = (*v - mean) / std;
    }
}

pub fn conv2d(
    input: &[Vec<f32>],
    kernel: &[[f32; 3]; 3],
    out: &mut [Vec<f32>],
) {
    for y in 0..out.len() { //~ conv2d
        for x in 0..out[0].len() {
            let mut acc = 0.0;
            for ky in 0..3 {
                for kx in 0..3 {
                    acc += input[y + ky][x + kx] * kernel[ky][kx];
                }
            }
            out[y][x] = acc;
        }
    }
}

pub fn conv_channels(
    input: &[f32], weight: &[f32], out: &mut [f32],
    channels: usize, filters: usize, h: usize, w: usize, k: usize,
) {
    let (oh, ow) = (h - k + 1, w - k + 1);
    for f in 0..filters { //~ conv2d
        for y in 0..oh {
            for x in 0..ow {
                let mut sum = 0.0f32;
                for c in 0..channels {
                    for ky in 0..k {
                        for kx in 0..k {
                            sum += input[c * h * w + (y + ky) * w + (x + kx)]
                                * weight[((f * channels + c) * k + ky) * k + kx];
                        }
                    }
                }
                out[f * oh * ow + y * ow + x] = sum;
            }
        }
    }
}

pub fn padded(image: &[f32], kernel: &[f32], out: &mut [f32], w: usize, h: usize) {
    for y in 0..h { //~ conv2d
        for x in 0..w {
            let mut s = 0.0;
            for ky in 0..3usize {
                for kx in 0..3usize {
                    let sy = y + ky;
                    let sx = x + kx;
                    if sy < 1 || sx < 1 || sy > h || sx > w {
                        continue;
                    }
                    s += image[(sy - 1) * w + sx - 1] * kernel[ky * 3 + kx];
                }
            }
            out[y * w + x] = s;
        }
    }
}

pub fn fir(x: &[f64], taps: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; x.len() - taps.len() + 1];
    for i in 0..y.len() { //~ conv2d
        for k in 0..taps.len() {
            y[i] += x[i + k] * taps[k];
        }
    }
    y
}

pub fn windows(x: &[f32], taps: &[f32]) -> Vec<f32> {
    x.windows(taps.len()) //~ conv2d
        .map(|w| w.iter().zip(taps).map(|(a, b)| a * b).sum())
        .collect()
}

pub fn max_pool(x: &[Vec<f32>], out: &mut [Vec<f32>]) {
    for i in 0..out.len() { //~ pooling
        for j in 0..out[0].len() {
            let mut m = f32::NEG_INFINITY;
            for di in 0..2 {
                for dj in 0..2 {
                    m = m.max(x[i * 2 + di][j * 2 + dj]);
                }
            }
            out[i][j] = m;
        }
    }
}

pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, d: f64) -> Tensor {
    let scores = q.matmul(&k.t()) / d.sqrt();
    let weights = softmax_rows(&scores);
    weights.matmul(v) //~ attention
}

pub fn attention_at_once(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    let scores = q.matmul(&k.t()?)?;
    let weights = candle_nn::ops::softmax(&scores, D::Minus1)?;
    Ok(weights.matmul(v)?) //~ attention
}

pub fn network(x: &Tensor, w: &Tensor, kernel: &Tensor) -> Result<Tensor> {
    let h = x.matmul(w)?; //~ matmul
    let p = softmax(&h); //~!
    let c = h.conv2d(kernel, 1, 1, 1, 1)?; //~ conv2d
    let s = scaled_dot_product_attention(&h, &h, &h, None); //~ attention
    let m = c.max_pool2d(2)?; //~ pooling
    let b = h.batch_matmul(&h); //~ batched_matmul
    Ok(m)
}

pub fn build(vb: VarBuilder) -> Result<Model> {
    let conv = candle_nn::conv2d(3, 64, 3, Default::default(), vb.pp("conv"))?; //~!
    let norm = candle_nn::layer_norm(64, 1e-5, vb.pp("norm"))?; //~!
    let layer = nn::conv2d(vs / "c1", 1, 32, 5, Default::default()); //~!
    Ok(Model { conv, norm, layer })
}

pub struct Softmax; //~!
pub struct Conv2d {
    pub softmax: bool, //~!
    pub convolution: Option<String>, //~!
}

impl Conv2d {
    pub fn describe(&self) -> &'static str {
        "conv2d(x) -> softmax(x)" //~!
    }
    pub fn has_softmax(&self) -> bool {
        self.softmax //~!
    }
    /// Runs `softmax(conv2d(x))` on the input. //~!
    pub fn with_softmax(mut self) -> Self { //~!
        self.softmax = true;
        self
    }
}

pub fn annealed(energy: f64, best: f64, t: f64) -> f64 {
    ((best - energy) / t).exp() //~!
}

pub fn decay(n: usize, tau: f64) -> f64 {
    let e = (-(n as f64) / tau).exp(); //~!
    let total = 1.0 + e; //~!
    e / total //~!
}

pub fn softmax_twice(a: &mut [f32], b: &mut [f32]) {
    let top = a.iter().copied().fold(f32::MIN, f32::max);
    let mut sum = 0.0;
    for x in a.iter_mut() { //~ softmax
        *x = (*x - top).exp();
        sum += *x;
    }
    for x in a.iter_mut() {
        *x /= sum;
    }
    let high = b.iter().copied().fold(f32::MIN, f32::max);
    let mut total = 0.0;
    for x in b.iter_mut() { //~ softmax
        *x = (*x - high).exp();
        total += *x;
    }
    for x in b.iter_mut() {
        *x /= total;
    }
}

pub fn softmax_anew(x: &[f64]) -> Vec<f64> {
    let top = x.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = x.iter().map(|v| (v - top).exp()).sum(); //~ softmax
    x.iter().map(|v| (v - top).exp() / sum).collect()
}

pub fn attend(q: &[f32], k: &[f32], v: &[f32], out: &mut [f32], n: usize, d: usize) {
    for i in 0..n {
        let mut scores = vec![0f32; n];
        for j in 0..n {
            let mut s = 0f32;
            for c in 0..d {
                s += q[i * d + c] * k[j * d + c];
            }
            scores[j] = s * 0.125;
        }
        let top = scores.iter().copied().fold(f32::MIN, f32::max);
        let mut sum = 0f32;
        for x in scores.iter_mut() {
            *x = (*x - top).exp();
            sum += *x;
        }
        for x in scores.iter_mut() {
            *x /= sum;
        }
        for c in 0..d { //~ attention
            let mut s = 0f32;
            for j in 0..n {
                s += scores[j] * v[j * d + c];
            }
            out[i * d + c] = s;
        }
    }
}

pub fn masked(q: &Tensor, k: &Tensor, v: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let scores = (q.matmul(&k.t()?)? * 0.125)?;
    let scores = scores.broadcast_add(mask)?;
    let weights = candle_nn::ops::softmax_last_dim(&scores)?;
    weights.matmul(v) //~ attention
}

pub fn gate(x: &Tensor, chooser: &Tensor, h: &Tensor, w: &Tensor) -> Result<Tensor> {
    let scores = x.matmul(chooser)?; //~ matmul
    let chosen = candle_nn::ops::softmax_last_dim(&scores)?; //~ softmax
    h.matmul(w) //~ matmul
}
