//! Launch shapes. Every kernel has a grid-stride loop, so any grid is right; these are fast ones.
//!
//! Shapes follow from the work and the device's multiprocessors: they fill a GPU, and do not give a CPU a hundred thousand idle threads.
//! Empty work (a count of 0) needs no launch; its shape has one block.

mod attention;
mod buckets;
mod conv;
mod index;
mod matvec;
mod norm;
mod quant;
mod quant_mma;
mod radix;
mod scan;
mod sort;
mod stat;
mod topk;

use crate::MAX_BLOCK;

pub use attention::*;
pub use buckets::*;
pub use conv::*;
pub use index::*;
pub use matvec::*;
pub use norm::{RowKernel, columns, rows};
pub use quant::*;
pub use quant_mma::*;
pub use radix::*;
pub use scan::*;
pub use sort::*;
pub use stat::*;
pub use topk::*;

/// Grid and block size, both one-dimensional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks in the grid.
    pub grid: u32,
    /// Threads in each block.
    pub block: u32,
}

/// Kernels of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// `reduce_<op>_<dtype>`: a block for each output.
    Rows,
    /// `reduce_cols_<op>_<dtype>`: a thread for each output.
    Columns,
}

/// The properties of a reduction that its launch depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduced {
    /// Number of outputs.
    pub outputs: u64,
    /// Elements of each output.
    pub length: u64,
    /// Length of the innermost kept dimension after collapsing, if its stride is 1.
    pub line: Option<u64>,
    /// The elements of an output are contiguous.
    pub tight: bool,
    /// Size of an element.
    pub element_bytes: usize,
    /// Computes minima or maxima of 16-bit floats: a thread then takes eight columns, not four.
    pub halves: bool,
    /// Threads of a multiprocessor that should have columns of their own; many hundreds.
    pub threads_each: u32,
}

/// The launch of a reduction: its shape, and the fields of `ReduceMap` with these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReduceShape {
    /// The kernel.
    pub kind: Reduction,
    /// Its grid and block.
    pub shape: LaunchShape,
    /// Elements of a part.
    pub segment: u64,
    /// Parts of each output. If there are several, `reduce_join_*` follows.
    pub parts: u32,
    /// Threads that share a row; 0 for a block.
    pub group: u32,
}

/// Blocks for each multiprocessor: a few times the resident blocks. More do not help.
const BLOCKS_EACH: u64 = 32;
/// Most blocks of a tight elementwise kernel: AMD limits a grid to fewer than 2³² threads.
const BLOCKS: u64 = 1 << 23;
/// Longest strided rows that are reduced by a thread each.
const SHORT: u64 = 32;
/// For splitting rows into parts: the target number of blocks for each multiprocessor, and the fewest elements of a part. The length of a
/// part is a multiple of `PART_STEP`.
const PART_BLOCKS: u64 = 4;
const PART_ROW: u64 = 4096;
const PART_STEP: u64 = 1024;
/// For splitting columns into parts: the fewest elements of a part, and the most parts.
const PART_COLUMN: u64 = 64;
const PARTS: u64 = 8192;
/// Edge of the tile that a block of `matmul` computes on a GPU.
const TILE: u64 = 64;

fn shape(blocks: u64, block: u32, multiprocessors: u32) -> LaunchShape {
    capped(blocks, block, BLOCKS_EACH, multiprocessors)
}

fn capped(blocks: u64, block: u32, each: u64, multiprocessors: u32) -> LaunchShape {
    let limit = each * u64::from(multiprocessors.max(1));
    LaunchShape { grid: blocks.clamp(1, limit).min(1 << 20) as u32, block }
}

/// Number of 16-byte packs for `count` elements. Element sizes are powers of two, so no division is needed.
fn packs(count: u64, element_bytes: usize) -> u64 {
    count.div_ceil(1 << (4 - element_bytes.clamp(1, 16).ilog2()))
}

/// For `elementwise_*`: 16 bytes a thread. `element_bytes` is the size of the larger of input and output elements.
pub fn elementwise(count: u64, element_bytes: usize, multiprocessors: u32) -> LaunchShape {
    shape(packs(count, element_bytes).div_ceil(MAX_BLOCK.into()), MAX_BLOCK, multiprocessors)
}

/// For `elementwise_*` on a GPU, if each operand is tight or a scalar: every thread has one iteration. Blocks that start when others end
/// keep more loads in flight than blocks that wait for their stores. On a CPU each block has a cost, and [`elementwise`] fits. Blocks of
/// half the usual size are faster by 1 to 2 % where arithmetic dominates, and equally fast elsewhere. `from` and `to` are the sizes of
/// input and output elements. Where they differ a thread takes two packs, at once, or on AMD one after the other.
pub fn tight(count: u64, from: usize, to: usize) -> LaunchShape {
    let (packs, block) = (packs(count, from.max(to)), MAX_BLOCK / 2);
    let threads = if from == to { packs } else { packs.div_ceil(2) };
    let blocks = threads.div_ceil(block.into());
    LaunchShape { grid: blocks.clamp(1, BLOCKS) as u32, block }
}

/// For `reduce_*` and `reduce_cols_*`.
///
/// Columns are faster if neighbouring outputs read neighbouring elements, and for short strided rows. If the outputs do not fill the
/// device, they are split into parts.
pub fn reduce(work: &Reduced, multiprocessors: u32) -> ReduceShape {
    let Reduced { outputs, length, element_bytes, .. } = *work;
    let columns = !work.tight && (work.line.is_some() || length <= SHORT);
    if columns {
        by_columns(work, multiprocessors)
    } else {
        by_rows(outputs, length, element_bytes, multiprocessors)
    }
}

fn by_rows(outputs: u64, length: u64, element_bytes: usize, multiprocessors: u32) -> ReduceShape {
    let wanted = (PART_BLOCKS * u64::from(multiprocessors.max(1))).div_ceil(outputs.max(1));
    let (segment, parts) = cut(length, wanted.min(length / PART_ROW), PART_STEP);
    // Packs of a row. Short rows are reduced by a few threads, with at most four packs each.
    let packs = length.div_ceil((16 / element_bytes.clamp(1, 16)) as u64).max(1);
    let group = if parts == 1 && packs <= 4 * 32 { packs.next_power_of_two().min(32) as u32 } else { 0 };
    let block = match (group, segment) {
        (1.., _) | (_, 8193..) => MAX_BLOCK,
        (_, ..=2048) => 64,
        _ => 128,
    };
    let each = u64::from(block.checked_div(group).unwrap_or(1));
    let shape = shape((outputs * u64::from(parts)).div_ceil(each), block, multiprocessors);
    ReduceShape { kind: Reduction::Rows, shape, segment, parts, group }
}

fn by_columns(work: &Reduced, multiprocessors: u32) -> ReduceShape {
    // Columns of a thread, as in the kernels for GPUs: 16 bytes, at most four or eight, or one if they are not aligned.
    let line = work.line.unwrap_or(1).max(1);
    let four = (16 / work.element_bytes.clamp(1, 16) as u64).min(4);
    let together = match line {
        _ if work.halves && line.is_multiple_of(8) => 8,
        _ if line.is_multiple_of(four) => four,
        _ => 1,
    };
    let packs = (work.outputs / line * line.div_ceil(together)).max(1);
    // Threads that load twice as much at once saturate memory with little more than half the number.
    let threads = if together == 8 { work.threads_each / 8 * 5 } else { work.threads_each };
    let wanted = u64::from(multiprocessors.max(1)) * u64::from(threads) / packs;
    let (segment, parts) = cut(work.length, wanted.min(work.length / PART_COLUMN).min(PARTS), 4);
    let shape = shape((packs * u64::from(parts)).div_ceil(64), 64, multiprocessors);
    ReduceShape { kind: Reduction::Columns, shape, segment, parts, group: 0 }
}

/// The length of a part and the number of parts, about `wanted`. Every part but the last is a multiple of `step` long.
fn cut(length: u64, wanted: u64, step: u64) -> (u64, u32) {
    if wanted <= 1 {
        return (length, 1);
    }
    let segment = length.div_ceil(wanted).next_multiple_of(step);
    (segment, length.div_ceil(segment).max(1) as u32)
}

/// For `reduce_join_*`: the shape and the width.
pub fn join(outputs: u64, multiprocessors: u32) -> (LaunchShape, u32) {
    let width = if outputs < 32 { 1 } else { 32 };
    (shape(outputs.div_ceil(width.into()), MAX_BLOCK, multiprocessors), width)
}

/// For `transpose_*`: a block for each tile of each matrix.
pub fn transpose(
    rows: u64,
    columns: u64,
    batch: u64,
    element_bytes: usize,
    multiprocessors: u32,
) -> LaunchShape {
    let edge = match element_bytes {
        1 => 128,
        8.. => 32,
        _ => 64,
    };
    let tiles = rows.div_ceil(edge).saturating_mul(columns.div_ceil(edge)).saturating_mul(batch);
    shape(tiles, MAX_BLOCK, multiprocessors)
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
    fn tight_walks_have_a_thread_for_each_pack() {
        assert_eq!(tight(0, 4, 4), LaunchShape { grid: 1, block: 128 });
        assert_eq!(tight(1 << 27, 4, 4), LaunchShape { grid: 1 << 18, block: 128 });
        assert_eq!(tight((1 << 27) + 1, 2, 2), LaunchShape { grid: (1 << 17) + 1, block: 128 });
        // 4 elements a pack, 2 packs a thread.
        assert_eq!(tight(1 << 27, 4, 2), LaunchShape { grid: 1 << 17, block: 128 });
        assert_eq!(tight(1025, 2, 4), LaunchShape { grid: 2, block: 128 });
        assert_eq!(tight(u64::MAX, 8, 8), LaunchShape { grid: 1 << 23, block: 128 });
    }

    fn reduced(outputs: u64, length: u64, line: Option<u64>, tight: bool) -> Reduced {
        Reduced { outputs, length, line, tight, element_bytes: 4, halves: false, threads_each: 1024 }
    }

    #[test]
    fn reductions_choose_by_length_and_neighbourhood() {
        let kind = |outputs, length, line, tight| reduce(&reduced(outputs, length, line, tight), 132).kind;
        assert_eq!(kind(10, 32, None, false), Reduction::Columns);
        assert_eq!(kind(10, 33, None, false), Reduction::Rows);
        assert_eq!(kind(10, 32, None, true), Reduction::Rows);
        assert_eq!(kind(10, 1000, Some(10), false), Reduction::Columns);
    }

    #[test]
    fn short_rows_share_blocks() {
        let rows = |length| reduce(&reduced(1 << 20, length, None, true), 132);
        assert_eq!((rows(1).group, rows(4).group, rows(5).group, rows(33).group), (1, 1, 2, 16));
        assert_eq!((rows(512).group, rows(513).group), (32, 0));
        assert_eq!((rows(513).shape.block, rows(5000).shape.block, rows(10_000).shape.block), (64, 128, 256));
        assert_eq!(reduce(&reduced(100, 16, None, true), 132).shape, LaunchShape { grid: 2, block: 256 });
    }

    #[test]
    fn few_outputs_are_cut_into_parts() {
        let all = reduce(&reduced(1, 1 << 25, None, true), 132);
        assert_eq!((all.segment, all.parts, all.shape), (64512, 521, LaunchShape { grid: 521, block: 256 }));
        let some = reduce(&reduced(1, 8191, None, true), 132);
        assert_eq!((some.segment, some.parts), (8191, 1));
        let columns = reduce(&reduced(8192, 16384, Some(8192), false), 132);
        assert_eq!((columns.segment, columns.parts), (252, 66));
        assert_eq!(columns.shape, LaunchShape { grid: 2112, block: 64 });
        assert_eq!(reduce(&reduced(1 << 20, 1000, Some(1 << 20), false), 132).parts, 1);
        // Eight columns a thread: 1024 packs, and a few more parts.
        let halves = Reduced { element_bytes: 2, halves: true, ..reduced(8192, 16384, Some(8192), false) };
        let extremes = reduce(&halves, 132);
        assert_eq!((extremes.segment, extremes.parts, extremes.shape.grid), (200, 82, 1312));
        // The line length is not divisible by a pack: a thread for each element.
        let odd = reduce(&reduced(8191, 16384, Some(8191), false), 132);
        assert_eq!((odd.segment, odd.parts, odd.shape.grid), (1024, 16, 2048));
        assert_eq!(join(5, 132), (LaunchShape { grid: 5, block: 256 }, 1));
        assert_eq!(join(8192, 132), (LaunchShape { grid: 256, block: 256 }, 32));
    }

    #[test]
    fn tiles_by_size() {
        assert_eq!(transpose(129, 128, 3, 1, 132).grid, 6);
        assert_eq!(transpose(129, 64, 1, 4, 132).grid, 3);
        assert_eq!(transpose(64, 64, 1, 8, 132).grid, 4);
    }
}
