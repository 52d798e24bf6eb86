//! 16-bit floats.

use hip_kernel::{Out, bf16_to_f32, f16_to_f32, f32_to_bf16, global_idx, kernel};

/// Multiplies IEEE halves by `by` in f32; the results are bfloat16.
#[kernel]
pub fn scale_halves(by: f32, x: &[u16], mut y: Out<u16>) {
    if let Some(y) = y.own() {
        let product = f16_to_f32(x[global_idx()]) * by;
        *y = f32_to_bf16(bf16_to_f32(f32_to_bf16(product)));
    }
}
