//! Attention forward: each query's row independently, in doubles.

use super::problem::{FORWARD, LARGE, ROWS, Shape};
use super::solution::{Call, Factors, dot, one};
use crate::answer::Outcome;
use crate::tensor::View;
use rayon::prelude::*;

/// Submits it to the stream.
pub(super) fn submit(mut call: Call<'_>, scale: f32) -> Outcome {
    let shape = call.shape;
    let rows = shape.heads * shape.length;
    let [q, k, v, o] = LARGE;
    let numbers = call.numbers()?;
    let inputs = [q, k, v].map(|id| call.read(id, rows * shape.width));
    let [q, k, v] = inputs;
    let inputs = [q?, k?, v?];
    let [scale_o, amax_s, amax_o] = FORWARD;
    let [scale_o] = call.ones([scale_o], false)?;
    let greatest = call.ones([amax_s, amax_o], true)?;
    let [m, z_inv] = ROWS;
    let outputs = [call.write(o, rows * shape.width)?, call.write(m, rows)?, call.write(z_inv, rows)?];
    call.submit(move || {
        let read = |view: &View| {
            let mut values = vec![0.0_f32; rows * shape.width];
            view.load(0, 1, &mut values);
            values
        };
        let [q, k, v] = inputs.each_ref().map(read);
        let pass = Pass {
            shape,
            scale: f64::from(scale),
            factors: numbers.get(),
            scale_o: one(&scale_o),
            inputs: [&q, &k, &v],
            outputs: &outputs,
        };
        let found = (0..rows)
            .into_par_iter()
            .map(|row| pass.row(row))
            .reduce(|| [0.0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])]);
        greatest.iter().zip(found).for_each(|(out, value)| out.set(0, value));
    })
}

struct Pass<'a> {
    shape: Shape,
    scale: f64,
    factors: Factors,
    scale_o: f64,
    inputs: [&'a [f32]; 3],
    /// Of the output, the greatest scores and the inverse sums.
    outputs: &'a [View; 3],
}

impl Pass<'_> {
    /// Computes one query's output, and returns the greatest probability and the greatest absolute value.
    fn row(&self, row: usize) -> [f64; 2] {
        let (Shape { length, width, .. }, [q, k, v], [o, m, z_inv]) = (self.shape, self.inputs, self.outputs);
        let head = row / length * length;
        let query = &q[row * width..][..width];
        let by = self.scale * self.factors.descales().iter().product::<f64>();
        let mut weights: Vec<f64> =
            (0..length).map(|key| dot(query, &k[(head + key) * width..][..width]) * by).collect();
        let most = weights.iter().copied().fold(f64::MIN, f64::max);
        weights.iter_mut().for_each(|weight| *weight = (*weight - most).exp());
        let part = 1.0 / weights.iter().sum::<f64>();
        m.set(row, most);
        z_inv.set(row, part);
        let greatest = weights.iter().copied().fold(0.0, f64::max) * part;
        let mut sums = vec![0.0_f64; width];
        for (key, weight) in weights.into_iter().enumerate() {
            let weight = weight * part * self.factors.scale_s * self.factors.kept(row * length + key);
            let values = &v[(head + key) * width..][..width];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * f64::from(*value));
        }
        let back = self.factors.descale_s * self.factors.descale_v;
        sums.iter_mut().for_each(|sum| *sum *= back);
        let largest = sums.iter().map(|sum| sum.abs()).fold(0.0, f64::max);
        sums.iter_mut().for_each(|sum| *sum *= self.scale_o);
        o.store(row * width, 1, &sums);
        [greatest, largest]
    }
}
