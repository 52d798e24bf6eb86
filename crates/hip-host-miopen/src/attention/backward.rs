//! The gradient of attention: each head independently, in doubles. With dropout it is MIOpen's gradient, which skips dropped elements.

use super::problem::{BACKWARD, GRADIENTS, GREATEST, LARGE, ROWS, Shape};
use super::solution::{Call, Factors, dot, one};
use crate::answer::Outcome;
use crate::tensor::View;
use hip_sys::miopen::miopenTensorArgumentId_t as Id;
use rayon::prelude::*;

/// Submits it to the stream.
pub(super) fn submit(mut call: Call<'_>, scale: f32) -> Outcome {
    let shape = call.shape;
    let rows = shape.heads * shape.length;
    let [q, k, v, o] = LARGE;
    let [d_o, dq, dk, dv] = GRADIENTS;
    let numbers = call.numbers()?;
    let more = call.ones(BACKWARD, false)?;
    let greatest = call.ones(GREATEST, true)?;
    let mut inputs = Vec::new();
    for id in [q, k, v, o, d_o] {
        inputs.push(call.read(id, rows * shape.width)?);
    }
    for id in ROWS {
        inputs.push(call.read(id, rows)?);
    }
    let write = |call: &mut Call<'_>, id: Id| call.write(id, rows * shape.width);
    let outputs = [write(&mut call, dq)?, write(&mut call, dk)?, write(&mut call, dv)?];
    call.submit(move || {
        let pass = Pass {
            shape,
            scale: f64::from(scale),
            factors: numbers.get(),
            more: more.each_ref().map(one),
            inputs: &inputs,
            outputs: &outputs,
        };
        let larger = |a: [f64; 4], b: [f64; 4]| std::array::from_fn(|at| a[at].max(b[at]));
        let found = (0..shape.heads).into_par_iter().map(|head| pass.head(head)).reduce(|| [0.0; 4], larger);
        greatest.iter().zip(found).for_each(|(out, value)| out.set(0, value));
    })
}

struct Pass<'a> {
    shape: Shape,
    scale: f64,
    factors: Factors,
    /// The scalars named in [`BACKWARD`].
    more: [f64; 7],
    /// Q, K, V, O, dO, M and 1/Z.
    inputs: &'a [View],
    /// Of dQ, dK, dV.
    outputs: &'a [View; 3],
}

impl Pass<'_> {
    /// Computes one head's gradients, and returns the greatest absolute values in the order of [`GREATEST`].
    fn head(&self, head: usize) -> [f64; 4] {
        let Shape { length, width, .. } = self.shape;
        let [descale_o, descale_do, descale_ds, scale_ds, scale_dq, scale_dk, scale_dv] = self.more;
        let factors = &self.factors;
        let read = |at: usize| {
            let count = if at < 5 { length * width } else { length };
            let mut values = vec![0.0_f32; count];
            self.inputs[at].load(head * count, 1, &mut values);
            values
        };
        let [q, k, v, o, d_o, m, z_inv] = std::array::from_fn(read);
        let mut sums = [0; 3].map(|_| vec![0.0_f64; length * width]);
        let [dq, dk, dv] = &mut sums;
        let add = |sums: &mut [f64], at: usize, by: f64, values: &[f32]| {
            let sums = &mut sums[at * width..][..width];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += by * f64::from(*value));
        };
        let rest = 1.0 - factors.dropped();
        let mut greatest = 0.0_f64;
        for query in 0..length {
            let (own, given) = (row(&q, query, width), row(&d_o, query, width));
            let mean = dot(given, row(&o, query, width)) * descale_do * descale_o * rest;
            for key in 0..length {
                let (key_row, value) = (row(&k, key, width), row(&v, key, width));
                let score = dot(own, key_row) * self.scale * factors.descales().iter().product::<f64>();
                let kept = factors.kept((head * length + query) * length + key);
                let share = (score - f64::from(m[query])).exp() * f64::from(z_inv[query]) * kept;
                add(dv, key, share * factors.scale_s, given);
                let reached = dot(given, value) * descale_do * factors.descale_v * rest;
                let gradient = (reached - mean) * self.scale * share;
                greatest = greatest.max(gradient.abs());
                add(dq, query, gradient * scale_ds, key_row);
                add(dk, key, gradient * scale_ds, own);
            }
        }
        let [descale_q, descale_k] = factors.descales();
        let after = [
            (descale_ds * descale_k, scale_dq),
            (descale_ds * descale_q, scale_dk),
            (factors.descale_s * descale_do, scale_dv),
        ];
        let mut found = [0.0, 0.0, 0.0, greatest];
        for ((sums, out), ((back, scale), found)) in
            sums.iter_mut().zip(self.outputs).zip(after.into_iter().zip(&mut found))
        {
            sums.iter_mut().for_each(|sum| *sum *= back);
            *found = sums.iter().map(|sum| sum.abs()).fold(0.0, f64::max);
            sums.iter_mut().for_each(|sum| *sum *= scale);
            out.store(head * length * width, 1, sums);
        }
        found
    }
}

fn row(values: &[f32], at: usize, width: usize) -> &[f32] {
    &values[at * width..][..width]
}
