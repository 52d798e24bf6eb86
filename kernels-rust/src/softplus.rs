//! Powers of e and logarithms, precise and fast.

use hip_kernel::{Out, exp, fast_exp, fast_ln, global_idx, kernel, ln};

/// ln(1 + e^x), by the precise functions and by the fast ones.
#[kernel]
pub fn softplus(x: &[f32], mut precise: Out<f32>, mut fast: Out<f32>) {
    if let (Some(precise), Some(fast)) = (precise.own(), fast.own()) {
        let x = x[global_idx()];
        *precise = ln(1.0 + exp(x));
        *fast = fast_ln(1.0 + fast_exp(x));
    }
}
