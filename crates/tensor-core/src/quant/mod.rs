//! Tensors of quantized numbers: ggml's block formats, on the CPU.

pub(crate) mod block;
pub(crate) mod format;
pub(crate) mod fp4;
mod grids;
pub(crate) mod iq1;
pub(crate) mod iq2;
pub(crate) mod iq3;
pub(crate) mod iq4;
pub(crate) mod k;
mod k_pack;
pub(crate) mod legacy;
pub(crate) mod pack;
pub(crate) mod tq;

pub use format::QuantFormat;

use block::{Block, Unpacked};

/// Writes the values of a block to `values`.
#[inline(always)]
pub(crate) fn dequantize_block<B: Block>(block: &[u8], unpacked: &mut Unpacked, values: &mut [f32]) {
    B::unpack(block, unpacked);
    let groups = unpacked.numbers.chunks_exact(B::GROUP).zip(unpacked.scales.iter().zip(&unpacked.mins));
    for (values, (numbers, (scale, min))) in values.chunks_exact_mut(B::GROUP).zip(groups) {
        for (value, number) in values.iter_mut().zip(numbers) {
            let product = scale * f32::from(*number);
            *value = if B::MINS { product - min } else { product };
        }
    }
}
