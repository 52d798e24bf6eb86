//! Attention and its gradient, per head: `[heads, length, width]`, with as many keys as queries.
//!
//! A rounding error of a score is a relative error of its exponential. Score and maximum each contribute √width steps
//! of Σ|q k|, the exponential and its quotient a few, and the sum over keys √length. The scales are these steps,
//! weighted by the terms.

use super::Sum;

/// The operands of attention.
#[derive(Debug, Clone, Copy)]
pub struct Attention<'a> {
    /// Batches times heads.
    pub heads: usize,
    /// Number of queries and of keys.
    pub length: usize,
    /// Elements per query.
    pub width: usize,
    /// Factor of the scores.
    pub scale: f64,
    /// Queries.
    pub q: &'a [f64],
    /// Keys.
    pub k: &'a [f64],
    /// Values.
    pub v: &'a [f64],
}

/// The result of the forward pass.
#[derive(Debug, Clone)]
pub struct Forward {
    /// The output.
    pub o: Vec<Sum>,
    /// The maximum score of each query.
    pub m: Vec<Sum>,
    /// 1 / Σ e^(score − m) of each query.
    pub z_inv: Vec<Sum>,
    /// The probabilities, `[heads, length, length]`.
    pub p: Vec<Sum>,
}

/// The gradients.
#[derive(Debug, Clone)]
pub struct Gradients {
    /// Of the queries.
    pub dq: Vec<Sum>,
    /// Of the keys.
    pub dk: Vec<Sum>,
    /// Of the values.
    pub dv: Vec<Sum>,
    /// Of the products q kᵀ before their factor.
    pub ds: Vec<Sum>,
}

/// The maximum absolute value, with the maximum of the scales.
pub fn greatest(values: &[Sum]) -> Sum {
    let most = |found: f64, value: f64| found.max(value);
    let value = values.iter().map(|sum| sum.value.abs()).fold(0.0, most);
    let scale = values.iter().map(|sum| sum.scale * (sum.count as f64).sqrt()).fold(0.0, most);
    Sum { value, scale, count: 1 }
}

impl Attention<'_> {
    fn row<'b>(&self, values: &'b [f64], row: usize) -> &'b [f64] {
        &values[row * self.width..][..self.width]
    }

    /// The output, and the intermediate results that the gradient needs.
    pub fn forward(&self) -> Forward {
        let Self { heads, length, width, .. } = *self;
        let (steps, across) = ((width as f64).sqrt() + 1.0, (length as f64).sqrt());
        let mut out = Forward { o: Vec::new(), m: Vec::new(), z_inv: Vec::new(), p: Vec::new() };
        for row in 0..heads * length {
            let first = row / length * length;
            let products: Vec<Sum> = (first..first + length)
                .map(|key| dot(self.row(self.q, row), self.row(self.k, key)).times(self.scale))
                .collect();
            let m = products.iter().map(|score| score.value).fold(f64::NEG_INFINITY, f64::max);
            let reach = products.iter().map(|score| score.scale).fold(0.0, f64::max);
            let weights: Vec<f64> = products.iter().map(|score| (score.value - m).exp()).collect();
            let z: f64 = weights.iter().sum();
            // The error of each weight in steps, including that of the maximum score.
            let x =
                |score: &Sum| steps * (score.scale + reach) + 2.0 * m.abs() + (score.value - m).abs() + 8.0;
            let mean: f64 =
                products.iter().zip(&weights).map(|(score, weight)| weight / z * x(score)).sum::<f64>()
                    + across;
            let p: Vec<Sum> = products
                .iter()
                .zip(&weights)
                .map(|(score, weight)| {
                    let value = weight / z;
                    Sum { value, scale: value * (x(score) + mean), count: 1 }
                })
                .collect();
            out.m.push(Sum { value: m, scale: steps * reach, count: 1 });
            out.z_inv.push(Sum { value: 1.0 / z, scale: (mean + steps * reach) / z, count: 1 });
            for column in 0..width {
                let value = |at: usize| self.row(self.v, first + at)[column];
                let sum: f64 = p.iter().enumerate().map(|(at, p)| p.value * value(at)).sum();
                let terms =
                    p.iter().enumerate().map(|(at, p)| (p.scale + across * p.value) * value(at).abs());
                out.o.push(Sum { value: sum, scale: terms.sum(), count: 1 });
            }
            out.p.extend(p);
        }
        out
    }

    /// The gradients, from the output's gradient.
    pub fn backward(&self, forward: &Forward, d_o: &[f64]) -> Gradients {
        let Self { heads, length, width, .. } = *self;
        let (steps, across) = ((width as f64).sqrt() + 1.0, (length as f64).sqrt() + 1.0);
        let zeros = || vec![Sum { value: 0.0, scale: 0.0, count: 1 }; heads * length * width];
        let mut out = Gradients { dq: zeros(), dk: zeros(), dv: zeros(), ds: Vec::new() };
        // Adds a term whose factor has an error of its own.
        let add = |sums: &mut Vec<Sum>, row: usize, by: Sum, values: &[f64]| {
            for (sum, value) in sums[row * width..].iter_mut().zip(values) {
                sum.value += by.value * value;
                sum.scale += (by.scale + across * by.value.abs()) * value.abs();
            }
        };
        for row in 0..heads * length {
            let first = row / length * length;
            let given = self.row(d_o, row);
            let o = &forward.o[row * width..][..width];
            let mean: f64 = given.iter().zip(o).map(|(d, o)| d * o.value).sum();
            let mean_error: f64 =
                given.iter().zip(o).map(|(d, o)| d.abs() * (o.scale + steps * o.value.abs())).sum();
            for at in 0..length {
                let (key, p) = (first + at, forward.p[row * length + at]);
                add(&mut out.dv, key, p, given);
                let reached = dot(given, self.row(self.v, key));
                let difference = reached.value - mean;
                let ds = Sum {
                    value: self.scale * p.value * difference,
                    scale: self.scale.abs()
                        * (p.value * (steps * reached.scale + mean_error + 4.0 * difference.abs())
                            + p.scale * difference.abs()),
                    count: 1,
                };
                add(&mut out.dq, row, ds, self.row(self.k, key));
                add(&mut out.dk, key, ds, self.row(self.q, row));
                out.ds.push(ds);
            }
        }
        out
    }
}

fn dot(a: &[f64], b: &[f64]) -> Sum {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of ln 3 and 0: weights of 3/4 and 1/4. The second query's scores are 0.
    #[test]
    fn two_keys_by_hand() {
        let (q, k, v) = ([1.0, 0.0], [3f64.ln(), 0.0], [4.0, 12.0]);
        let it = Attention { heads: 1, length: 2, width: 1, scale: 1.0, q: &q, k: &k, v: &v };
        let close = |found: &[Sum], wanted: &[f64]| {
            assert!(found.iter().zip(wanted).all(|(a, b)| (a.value - b).abs() < 1e-14), "{found:?}");
        };
        let forward = it.forward();
        close(&forward.o, &[6.0, 8.0]);
        close(&forward.m, &[3f64.ln(), 0.0]);
        close(&forward.z_inv, &[0.75, 0.5]);
        close(&[greatest(&forward.o)], &[8.0]);
        // Of the first query: 3/4 (4 − 6) and 1/4 (12 − 6).
        let gradients = it.backward(&forward, &[1.0, 0.0]);
        close(&gradients.ds, &[-1.5, 1.5, 0.0, 0.0]);
        close(&gradients.dv, &[0.75, 0.25]);
        close(&gradients.dq, &[-1.5 * 3f64.ln(), 0.0]);
        close(&gradients.dk, &[-1.5, 1.5]);
    }

    #[test]
    fn gradients_are_slopes() {
        let values = |seed: usize| (0..12).map(|at| ((at * 7 + seed) % 11) as f64 / 5.0 - 1.0).collect();
        let inputs: [Vec<f64>; 3] = [values(1), values(4), values(6)];
        let d_o: Vec<f64> = values(9);
        let of = |[q, k, v]: &[Vec<f64>; 3]| {
            let it = Attention { heads: 2, length: 3, width: 2, scale: 0.7, q, k, v };
            let forward = it.forward();
            let loss: f64 = forward.o.iter().zip(&d_o).map(|(o, d)| o.value * d).sum();
            (loss, it.backward(&forward, &d_o))
        };
        let (_, found) = of(&inputs);
        for (which, gradient) in [found.dq, found.dk, found.dv].iter().enumerate() {
            for at in 0..12 {
                let moved = |by: f64| {
                    let mut moved = inputs.clone();
                    moved[which][at] += by;
                    of(&moved).0
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient[at].value - slope).abs() < 1e-8, "{which} {at}");
            }
        }
    }
}
