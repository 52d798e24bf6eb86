//! Arguments of the family `quant_mma`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

use super::MAX_PARTS;

/// A matrix of quantized blocks, and rows that it is multiplied with: all kernels of the family `quant_mma`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct QuantMmaArgs {
    /// Where each part of the blocks begins, in bytes: multiples of 16. The first is 0.
    pub begin: [u64; MAX_PARTS],
    /// Rows of the matrix: elements in a row of the output.
    pub rows: u32,
    /// Elements of a row of the matrix, a multiple of the format's block. Not 0.
    pub width: u32,
    /// Rows that it is multiplied with. The output has fewer than 2^44 elements.
    pub count: u32,
    /// Blocks that share a tile. With more than one the kernel writes as many `f32` for each output, for `quant_mma_join_*`: for each part
    /// those of all outputs.
    pub split: u32,
}

// The source asserts the same numbers.
const _: () = assert!(size_of::<QuantMmaArgs>() == 48 && offset_of!(QuantMmaArgs, rows) == 32);
const _: () = assert!(offset_of!(QuantMmaArgs, split) == 44);
