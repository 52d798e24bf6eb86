//! One function for several types.

use core::ops::Mul;
use hip_kernel::{Out, global_idx, kernel};

/// y = by · x.
#[kernel(f32, f64, u32)]
pub fn scale<T: Copy + Mul<Output = T>>(by: T, x: &[T], mut y: Out<T>) {
    if let Some(y) = y.own() {
        *y = by * x[global_idx()];
    }
}
