//! How many threads to launch. Every kernel strides over its grid, so any grid is right; these are quick ones.
//!
//! The numbers follow from the work and from how many multiprocessors the device has, so that a GPU is filled and a CPU is
//! not given a hundred thousand idle threads. Nothing to do (a count of 0) needs no launch; the shapes then hold one block.

mod index;

pub use index::*;
mod scan;
mod sort;

pub use scan::*;
pub use sort::*;
mod attention;

use crate::MAX_BLOCK;

pub use attention::*;
mod conv;

pub use conv::*;
mod norm;

use crate::MAX_BLOCK;

pub use norm::{RowKernel, columns, rows};

/// Blocks and threads of a block, both one-dimensional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks in the grid.
    pub grid: u32,
    /// Threads in each block.
    pub block: u32,
}

/// Which kernels a reduction uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// `reduce_<op>_<dtype>`: a block for each output.
    Rows,
    /// `reduce_cols_<op>_<dtype>`: a thread for each output.
    Columns,
}

/// Blocks for each multiprocessor, beyond which more bring nothing: the blocks that are resident, a few times over.
const BLOCKS_EACH: u64 = 32;
/// Rows of that length or less are not worth a block.
const SHORT: u64 = 32;
/// Edge of the tile that a block of `matmul` computes on a GPU.
const TILE: u64 = 64;

fn shape(blocks: u64, block: u32, multiprocessors: u32) -> LaunchShape {
    let limit = BLOCKS_EACH * u64::from(multiprocessors.max(1));
    LaunchShape { grid: blocks.clamp(1, limit).min(1 << 20) as u32, block }
}

/// For `elementwise_*`: a thread for 16 bytes. `element_bytes` is the size of the larger of input and output elements.
pub fn elementwise(count: u64, element_bytes: usize, multiprocessors: u32) -> LaunchShape {
    let per_thread = (16 / element_bytes.clamp(1, 16)) as u64;
    shape(count.div_ceil(per_thread).div_ceil(MAX_BLOCK.into()), MAX_BLOCK, multiprocessors)
}

/// Rows or columns. `kept_stride` is the stride of the innermost kept dimension after collapsing, `None` without one.
///
/// Columns are quicker where outputs are short, and where neighbouring outputs read neighbouring elements and there are
/// enough of them to fill the device.
pub fn reduction(outputs: u64, length: u64, kept_stride: Option<u64>, multiprocessors: u32) -> Reduction {
    let many = outputs >= 64 * u64::from(multiprocessors.max(1));
    if length <= SHORT || (many && kept_stride == Some(1)) { Reduction::Columns } else { Reduction::Rows }
}

/// For `reduce_*` and `reduce_cols_*`.
pub fn reduce(kind: Reduction, outputs: u64, length: u64, multiprocessors: u32) -> LaunchShape {
    let block = match (kind, length) {
        (Reduction::Columns, _) | (_, ..=2048) => 64,
        (_, 2049..=8192) => 128,
        _ => MAX_BLOCK,
    };
    let blocks = if kind == Reduction::Rows { outputs } else { outputs.div_ceil(block.into()) };
    shape(blocks, block, multiprocessors)
}

/// For `matmul_*`: a block for each tile of each product.
pub fn matmul(m: u64, n: u64, batch: u64, multiprocessors: u32) -> LaunchShape {
    let tiles = m.div_ceil(TILE).saturating_mul(n.div_ceil(TILE)).saturating_mul(batch);
    shape(tiles, MAX_BLOCK, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_cover_small_work_and_are_capped_for_large() {
        assert_eq!(elementwise(0, 4, 2), LaunchShape { grid: 1, block: 256 });
        assert_eq!(elementwise(1024, 4, 2), LaunchShape { grid: 1, block: 256 });
        assert_eq!(elementwise(1025, 4, 2), LaunchShape { grid: 2, block: 256 });
        assert_eq!(elementwise(1 << 40, 1, 132), LaunchShape { grid: 132 * 32, block: 256 });
        assert_eq!(elementwise(u64::MAX, 8, u32::MAX), LaunchShape { grid: 1 << 20, block: 256 });
        assert_eq!(matmul(65, 64, 3, 132), LaunchShape { grid: 6, block: 256 });
        assert_eq!(matmul(u64::MAX, u64::MAX, 3, 2), LaunchShape { grid: 64, block: 256 });
    }

    #[test]
    fn reductions_choose_by_length_and_neighbourhood() {
        assert_eq!(reduction(10, 32, None, 2), Reduction::Columns);
        assert_eq!(reduction(10, 33, Some(1), 2), Reduction::Rows);
        assert_eq!(reduction(128, 1000, Some(1), 2), Reduction::Columns);
        assert_eq!(reduction(128, 1000, Some(1000), 2), Reduction::Rows);
        assert_eq!(reduce(Reduction::Rows, 10, 1 << 25, 2), LaunchShape { grid: 10, block: 256 });
        assert_eq!(reduce(Reduction::Rows, 10, 100, 2), LaunchShape { grid: 10, block: 64 });
        assert_eq!(reduce(Reduction::Columns, 100, 1 << 25, 2), LaunchShape { grid: 2, block: 64 });
    }
}
