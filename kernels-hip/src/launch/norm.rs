//! Launches of the families `softmax` and `norm`.

use super::{LaunchShape, capped, shape};
use crate::MAX_BLOCK;

/// Kernels for rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKernel {
    /// `softmax_short`, `norm_layer_short` and so on: some lanes of a wave for each row.
    Short,
    /// `softmax_rows`, `norm_layer` and so on: a block for each row.
    Block,
}

/// Most lanes of a row in the short kernels; columns of a block in `softmax_cols`.
const LANES: u64 = 32;
/// 16-byte packs of each lane, if a row has more lanes than `FEW_LANES`.
const PACKS: u64 = 4;
const FEW_LANES: u64 = 8;
/// Blocks for each multiprocessor. The kernels for 16-bit elements load weights and biases once for all rows of a block, so several rows a
/// block pay. But blocks of 256 threads that share a row stall at barriers, and more of them are faster.
const BLOCKS: u64 = 32;
const BLOCKS_OF_HALVES: u64 = 16;

/// The kernel and its shape for rows of `length` elements. Rows that fit the registers of a few lanes go to the short kernels, others to
/// the smallest block that holds a row in registers.
pub fn rows(rows: u64, length: u64, element_bytes: usize, multiprocessors: u32) -> (RowKernel, LaunchShape) {
    let held: u64 = if element_bytes == 8 { 16 } else { 32 };
    if length > LANES * held {
        // With fewer rows than multiprocessors the time is that of one block, so a block gets the most threads.
        let few = rows < u64::from(multiprocessors.max(1));
        let block = [64, 128].into_iter().find(|block| !few && length <= held * u64::from(*block));
        let block = block.unwrap_or(MAX_BLOCK);
        let each = if element_bytes == 2 && block < MAX_BLOCK { BLOCKS_OF_HALVES } else { BLOCKS };
        return (RowKernel::Block, capped(rows, block, each, multiprocessors));
    }
    let span = (16 / element_bytes.clamp(1, 16)) as u64;
    let packs = length.div_ceil(span).next_power_of_two().max(1);
    let each = (held / span).min(PACKS);
    let lanes = packs.min(FEW_LANES).max(packs / each).min(LANES);
    let each = if element_bytes == 2 { BLOCKS_OF_HALVES } else { BLOCKS };
    (RowKernel::Short, threads_in_blocks(rows.saturating_mul(lanes), each, multiprocessors))
}

/// For `softmax_cols`: a block for each tile of 32 columns. If there are few tiles, blocks have more threads.
pub fn columns(columns: u64, length: u64, multiprocessors: u32) -> LaunchShape {
    let tiles = columns.div_ceil(LANES);
    let enough = tiles >= 16 * u64::from(multiprocessors.max(1)) || length <= 64;
    shape(tiles, if enough { 64 } else { MAX_BLOCK }, multiprocessors)
}

/// Large blocks only if there is one for every multiprocessor.
fn threads_in_blocks(threads: u64, each: u64, multiprocessors: u32) -> LaunchShape {
    let large = 2 * u64::from(MAX_BLOCK) * u64::from(multiprocessors.max(1));
    let block = if threads >= large { MAX_BLOCK } else { 64 };
    capped(threads.div_ceil(block.into()), block, each, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_get_a_kernel_by_their_length() {
        // 1024 elements are 32 lanes with 32 each; 32 lanes hold no 8-byte row longer than 512.
        assert_eq!(rows(10, 1024, 4, 4), (RowKernel::Short, LaunchShape { grid: 5, block: 64 }));
        assert_eq!(rows(1 << 20, 1024, 4, 4), (RowKernel::Short, LaunchShape { grid: 128, block: 256 }));
        assert_eq!(rows(10, 1025, 4, 4), (RowKernel::Block, LaunchShape { grid: 10, block: 64 }));
        assert_eq!(rows(10, 1024, 8, 4), (RowKernel::Block, LaunchShape { grid: 10, block: 64 }));
        assert_eq!(rows(10, 4096, 2, 4), (RowKernel::Block, LaunchShape { grid: 10, block: 128 }));
        assert_eq!(rows(10, 1 << 40, 2, 4), (RowKernel::Block, LaunchShape { grid: 10, block: 256 }));
        // 64 packs of eight elements of 2 bytes are four for each of 16 lanes, 16 packs two for each of 8.
        assert_eq!(rows(65536, 512, 2, 132), (RowKernel::Short, LaunchShape { grid: 2112, block: 256 }));
        assert_eq!(rows(64, 512, 2, 4), (RowKernel::Short, LaunchShape { grid: 16, block: 64 }));
        assert_eq!(rows(64, 128, 2, 4), (RowKernel::Short, LaunchShape { grid: 8, block: 64 }));
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
