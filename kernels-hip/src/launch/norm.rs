//! Launches of the families `softmax` and `norm`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;

/// Which kernels of a row to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKernel {
    /// `softmax_short`, `norm_layer_short` and so on: some lanes of a wave for a row.
    Short,
    /// `softmax_rows`, `norm_layer` and so on: a block for a row.
    Block,
}

/// Lanes that share a row in the short kernels, at most; columns of a block in `softmax_cols`.
const LANES: u64 = 32;

/// For rows of `length` elements of so many bytes: the kernel, and its launch. Rows that a few lanes hold in their registers go to the
/// short kernels, rows that a block holds to the smallest such block.
pub fn rows(rows: u64, length: u64, element_bytes: usize, multiprocessors: u32) -> (RowKernel, LaunchShape) {
    let held: u64 = if element_bytes == 8 { 16 } else { 32 };
    if length > LANES * held {
        let block =
            [64, 128].into_iter().find(|block| length <= held * u64::from(*block)).unwrap_or(MAX_BLOCK);
        return (RowKernel::Block, shape(rows, block, multiprocessors));
    }
    let span = (16 / element_bytes.clamp(1, 16)) as u64;
    let threads = rows.saturating_mul(length.div_ceil(span).next_power_of_two().clamp(1, LANES));
    (RowKernel::Short, threads_in_blocks(threads, multiprocessors))
}

/// For `softmax_cols`: a tile of 32 columns for each block; few tiles get more threads each.
pub fn columns(columns: u64, length: u64, multiprocessors: u32) -> LaunchShape {
    let tiles = columns.div_ceil(LANES);
    let enough = tiles >= 16 * u64::from(multiprocessors.max(1)) || length <= 64;
    shape(tiles, if enough { 64 } else { MAX_BLOCK }, multiprocessors)
}

/// Blocks that are large only once there is a large one for every multiprocessor.
fn threads_in_blocks(threads: u64, multiprocessors: u32) -> LaunchShape {
    let large = 2 * u64::from(MAX_BLOCK) * u64::from(multiprocessors.max(1));
    let block = if threads >= large { MAX_BLOCK } else { 64 };
    shape(threads.div_ceil(block.into()), block, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_to_what_holds_them() {
        // 1024 elements are 32 lanes with 32 each; 16 lanes hold no 8-byte row longer than 512.
        assert_eq!(rows(10, 1024, 4, 4), (RowKernel::Short, LaunchShape { grid: 5, block: 64 }));
        assert_eq!(rows(1 << 20, 1024, 4, 4), (RowKernel::Short, LaunchShape { grid: 128, block: 256 }));
        assert_eq!(rows(10, 1025, 4, 4), (RowKernel::Block, LaunchShape { grid: 10, block: 64 }));
        assert_eq!(rows(10, 1024, 8, 4), (RowKernel::Block, LaunchShape { grid: 10, block: 64 }));
        assert_eq!(rows(10, 4096, 2, 4), (RowKernel::Block, LaunchShape { grid: 10, block: 128 }));
        assert_eq!(rows(10, 1 << 40, 2, 4), (RowKernel::Block, LaunchShape { grid: 10, block: 256 }));
        // Eight elements of 2 bytes are one access: one lane each.
        assert_eq!(rows(640, 8, 2, 4), (RowKernel::Short, LaunchShape { grid: 10, block: 64 }));
    }

    #[test]
    fn few_columns_get_more_threads() {
        assert_eq!(columns(33, 1000, 4), LaunchShape { grid: 2, block: 256 });
        assert_eq!(columns(33, 10, 4), LaunchShape { grid: 2, block: 64 });
        assert_eq!(columns(32 * 64, 1000, 4), LaunchShape { grid: 64, block: 64 });
    }
}
