//! Kernels in Rust: one file each. Blocks have [`BLOCK`] threads, in one dimension.

mod halves;
mod histogram;
mod matmul;
mod ranks;
mod reduce;
mod saxpy;
mod scale;
mod softmax;
mod softplus;
mod sort;

#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
pub use {
    halves::ScaleHalves,
    histogram::Histogram,
    matmul::Matmul,
    ranks::Ranks,
    reduce::BlockSum,
    saxpy::{Saxpy, SaxpyWide},
    scale::{ScaleF32, ScaleF64, ScaleU32},
    softmax::Softmax,
    softplus::Softplus,
    sort::SortTiles,
};
pub use {
    halves::scale_halves,
    histogram::histogram,
    matmul::matmul,
    ranks::ranks,
    reduce::block_sum,
    saxpy::{saxpy, saxpy_wide},
    scale::{scale, scale_f32, scale_f64, scale_u32},
    softmax::softmax,
    softplus::softplus,
    sort::sort_tiles,
};

/// Threads of a block.
pub const BLOCK: usize = 256;

/// Edge of the square tiles of [`matmul()`], in elements: a thread for each.
pub const TILE: usize = 16;
