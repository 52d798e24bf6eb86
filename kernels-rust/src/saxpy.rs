//! Scaled sums, an element or 16 bytes a thread. Rust rounds product and sum each; HIP text fuses them, as `fma` does.

use hip_kernel::{F32x4, Out, fma, global_idx, kernel};

/// y = a · x + y, an element a thread.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: Out<f32>) {
    if let Some(y) = y.own() {
        *y = fma(a, x[global_idx()], *y);
    }
}

/// y = a · x + y, 16 bytes a thread.
#[kernel]
pub fn saxpy_wide(a: f32, x: &[F32x4], mut y: Out<F32x4>) {
    if let Some(y) = y.own() {
        // One load and one store of the whole. By indices: an iterator over an array by value is not unrolled, and the array goes to memory.
        let (x, mut sum) = (x[global_idx()], *y);
        for element in 0..4 {
            sum.0[element] = fma(a, x.0[element], sum.0[element]);
        }
        *y = sum;
    }
}
