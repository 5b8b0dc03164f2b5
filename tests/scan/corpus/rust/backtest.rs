// SPDX-License-Identifier: MIT
//! A back-test of portfolios: prices in, statistics out.

use std::collections::HashMap;
use std::error::Error;

use ndarray::prelude::*;

type Real = f64;
type Series = Vec<Real>;

#[derive(Debug, Clone)]
pub struct Trade {
    pub symbol: String,
    pub shares: i64,
    pub price: f64,
    pub fees: f64,
}

#[derive(Default)]
pub struct Stats {
    pub mean: f64,
    pub var: f64,
    pub trades: usize,
}

/// Simple returns. With `p = [1.0, 2.0]`:
///
/// ```
/// let r: Vec<f64> = p.iter().map(|x| x / 1.0).collect(); //~!
/// assert_eq!(r.iter().sum::<f64>(), 3.0); //~!
/// ```
pub fn log_prices(prices: &[f64]) -> Vec<f64> {
    prices.iter().map(|p| p.ln()).collect() //~ log
}

pub fn returns(prices: &[f64]) -> Vec<f64> {
    prices.windows(2).map(|w| (w[1] - w[0]) / w[0]).collect() //~ div
}

pub fn excess(returns: &Series, benchmark: &Series) -> Series {
    returns.iter().zip(benchmark.iter()).map(|(r, b)| r - b).collect() //~ sub
}

pub fn mean(x: &[Real]) -> Real {
    if x.is_empty() {
        return 0.0;
    }
    x.iter().copied().sum::<Real>() / (x.len() as Real) //~ mean
}

pub fn sample_variance(x: &[f64]) -> f64 {
    let mu = mean(x);
    let ss: f64 = x.iter().map(|v| { let d = v - mu; d * d }).sum(); //~ variance
    ss / (x.len() as f64 - 1.0)
}

pub fn covariance(x: &[f64], y: &[f64]) -> f64 {
    let (mx, my) = (mean(x), mean(y));
    let n = x.len();
    let mut cov = 0.0;
    for i in 0..n { //~ dot
        cov += (x[i] - mx) * (y[i] - my);
    }
    cov / (n - 1) as f64
}

pub fn portfolio_return(weights: &[f64], returns: &[f64]) -> f64 {
    std::iter::zip(weights, returns).map(|(w, r)| w * r).sum() //~ dot
}

pub fn normalise_weights(w: &mut Vec<f64>) {
    let total: f64 = w.iter().sum(); //~ sum
    w.iter_mut().for_each(|x| *x /= total); //~ scale
}

pub fn growth(rates: &[f64]) -> f64 {
    rates.iter().map(|r| 1.0 + r).product::<f64>() - 1.0 //~ product
}

pub fn tracking_error(a: &[f64], b: &[f64]) -> f64 {
    a.iter() //~ norm2
        .zip(b.iter())
        .map(|(x, y)| (x - y).powi(2))
        .sum::<f64>()
        .sqrt()
}

pub fn turnover(before: &[f64], after: &[f64]) -> f64 {
    let mut t = 0.0;
    for (b, a) in before.iter().zip(after) { //~ norm1
        t += (a - b).abs();
    }
    t
}

pub fn worst(returns: &[f64]) -> f64 {
    returns.iter().copied().fold(f64::NAN, f64::min) //~ min
}

pub fn worst_day(returns: &[f64]) -> usize {
    let mut idx = 0;
    let mut low = f64::MAX;
    for (i, r) in returns.iter().enumerate() { //~ argmin
        if *r < low {
            low = *r;
            idx = i;
        }
    }
    idx
}

pub fn covariance_matrix(returns: &Array2<f64>) -> Array2<f64> {
    let mean = returns.mean_axis(Axis(0)).expect("no rows"); //~ mean
    let centred = returns - &mean; //~ sub
    let n = returns.nrows() as f64;
    centred.t().dot(&centred) / (n - 1.0) //~ matmul scale
}

pub fn risk(w: &Array1<f64>, sigma: &Array2<f64>) -> f64 {
    let marginal = sigma.dot(w); //~ gemv
    w.dot(&marginal).sqrt() //~ dot
}

pub fn drift(prices: &mut Array1<f64>, rate: f64) {
    *prices *= 1.0 + rate; //~ scale
}

pub fn correlation_table(series: &[Vec<f64>], out: &mut [Vec<f64>]) {
    let t = series[0].len();
    for i in 0..series.len() { //~ matmul
        for j in 0..series.len() {
            let mut s = 0.0;
            for k in 0..t {
                s += series[i][k] * series[j][k];
            }
            out[i][j] = s;
        }
    }
}

pub fn discount(flows: &[f64], factors: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; flows.len()];
    for (i, o) in out.iter_mut().enumerate() { //~ mul
        *o = flows[i] * factors[i];
    }
    out
}

pub fn moving_average(x: &[f64], width: usize) -> Vec<f64> {
    x.windows(width).map(|w| w.iter().sum::<f64>() / width as f64).collect() //~ pooling
}

pub fn total_fees(trades: &[Trade]) -> f64 {
    trades.iter().map(|t| t.fees).sum() //~ sum
}

pub fn summary(returns: &[f64]) -> Stats {
    let mut stats = Stats::default();
    for r in returns { //~ mean
        stats.mean += r;
    }
    stats.mean /= returns.len() as f64;
    stats.trades = returns.len();
    stats
}

// ---- what is not numerical work ---------------------------------------------

pub fn shares(trades: &[Trade]) -> i64 {
    trades.iter().map(|t| t.shares).sum() //~!
}

pub fn sum_of(stats: &Stats) -> f64 {
    stats.mean + stats.var //~!
}

pub fn positions(trades: &[Trade]) -> HashMap<&str, i64> {
    let mut held = HashMap::new();
    for t in trades { //~!
        *held.entry(t.symbol.as_str()).or_insert(0) += t.shares;
    }
    held
}

pub fn best_symbol(gains: &HashMap<String, f64>) -> Option<&String> {
    gains.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(k, _)| k) //~!
}

pub fn read_prices(text: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut out = Vec::new();
    for line in text.lines() { //~!
        let price: f64 = line.split(',').nth(1).ok_or("short line")?.parse()?;
        out.push(price);
    }
    Ok(out)
}

pub fn equity_curve(start: f64, returns: &[f64]) -> Vec<f64> {
    let mut cash = start;
    let mut curve = Vec::with_capacity(returns.len());
    for r in returns { //~!
        cash *= 1.0 + r;
        curve.push(cash);
    }
    curve
}

pub fn running_total(x: &[f64]) -> Vec<f64> {
    x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).collect() //~!
}

pub fn winners(returns: &[f64]) -> usize {
    returns.iter().filter(|r| **r > 0.0).count() //~!
}

pub fn signals(fast: &[f64], slow: &[f64]) -> Vec<i8> {
    fast.iter().zip(slow).map(|(f, s)| if f > s { 1 } else { -1 }).collect() //~!
}

pub fn lots(cash: &[f64], price: f64) -> Vec<u32> {
    cash.iter().map(|c| (c / price).floor() as u32).collect() //~!
}

pub fn ids(trades: &[Trade]) -> Vec<usize> {
    (0..trades.len()).map(|i| i * 10).collect() //~!
}

pub fn sort(x: &mut [f64]) {
    x.sort_by(|a, b| b.partial_cmp(a).unwrap()); //~!
}

pub fn median_of(x: &[f64]) -> f64 {
    x[x.len() / 2] //~!
}

pub fn first_drop(prices: &[f64]) -> Option<usize> {
    for i in 1..prices.len() { //~!
        if prices[i] < prices[i - 1] * 0.9 {
            return Some(i);
        }
    }
    None
}

pub fn sharpe(s: &Stats) -> f64 {
    let mean = s.mean; //~!
    let dot = mean * 252.0; //~!
    dot / (s.var * 252.0).sqrt()
}

pub fn volume(days: &[Vec<u64>]) -> u64 {
    days.iter().flatten().sum() //~!
}

pub fn heading() -> &'static str {
    "weights.dot(&returns) and x.iter().sum::<f64>()" //~!
}

macro_rules! pnl {
    ($a:expr, $b:expr) => {
        $a.iter().zip($b.iter()).map(|(x, y)| x * y).sum::<f64>() //~ dot f64
    };
}

pub fn profit(p: &[f64], q: &[f64]) -> f64 {
    pnl!(p, q) //~!
}

pub fn labels(returns: &[f64]) -> Vec<String> {
    returns.iter().map(|r| (r * 100.0).to_string()).collect() //~!
}
