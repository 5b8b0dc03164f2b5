// SPDX-License-Identifier: MIT
//! Code of tests is reported too, apart.

use crate::reductions::total;

#[test]
fn total_is_what_a_loop_says() {
    let v: Vec<f32> = vec![1.0, 2.0, 3.0];
    let mut s = 0.0;
    for x in &v { //~ sum test
        s += x;
    }
    assert_eq!(total(&v), s); //~!
}

#[cfg(test)]
mod tests {
    const COUNT: usize = 4096;

    fn expected(v: &[f64]) -> f64 {
        v.iter().sum() //~ sum test
    }

    #[test]
    fn products() {
        let a = [1.5f64; COUNT];
        let b = [2.0; COUNT];
        let p: f64 = a.iter().zip(b.iter()).map(|(x, y)| x * y).sum(); //~ dot test
        let names = ["sum", "dot"]; //~!
        assert!((p - expected(&a)).abs() > 0.0, "{}", names.len()); //~!
        assert_eq!(names.iter().map(|n| n.len()).sum::<usize>(), 6); //~!
    }
}
