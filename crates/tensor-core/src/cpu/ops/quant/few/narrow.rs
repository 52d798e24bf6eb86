//! Blocks of 32: four neighbours of each of four rows at a time. The products of a row's blocks are added as they come, which takes less
//! time than to write them down and add them later: their sums wait for each other.

use super::super::activations::{Part32, parts};
use super::super::tile::LANES;
use super::{ByBlocks, starts};
use crate::cpu::chunks::new_chunks;
use crate::error::Result;
use crate::quant::arrays::{array, array_like};
use crate::quant::block::{Block, double_word};

/// Rows of blocks that are multiplied together, and how many neighbours of each: products are vectors of all of them.
pub(super) const FOUR: usize = 4;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The products of four rows of blocks with a row of activations.
pub(in super::super) type Total = [f32; FOUR];

/// Four neighbouring blocks of each of four rows. In vectors the first blocks of all rows come first.
pub(in super::super) type Sixteen<'a> = [&'a [u8]; FOUR];

/// The block of sixteen at an index of vectors.
#[inline(always)]
pub(super) fn block_at<'a, B: Block>(blocks: &Sixteen<'a>, index: usize) -> &'a [u8] {
    &blocks[index % FOUR][index / FOUR * B::BYTES..][..B::BYTES]
}

/// Four neighbouring parts of a row of activations.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Four32 {
    pub(super) numbers: [[i32; 8]; FOUR],
    pub(super) scales: [f32; FOUR],
    pub(super) sums: [f32; FOUR],
    pub(super) zeros: [i32; FOUR],
}

impl Four32 {
    /// Those of each row: parts and these are sorted as by [`parts`]. Behind the last part of a row there are zeros.
    fn all(parts: &[Part32], rows: usize) -> Vec<Four32> {
        let mut all = Vec::with_capacity(parts.len().div_ceil(FOUR * rows) * rows);
        for parts in parts.chunks(FOUR * rows) {
            all.extend((0..rows).map(|row| {
                let part: [Part32; FOUR] = array(|i| parts.get(i * rows + row).copied().unwrap_or_default());
                Four32 {
                    numbers: array(|i| part[i].numbers),
                    scales: array(|i| part[i].scale),
                    sums: array(|i| part[i].sum),
                    zeros: array(|i| part[i].zeros[0]),
                }
            }));
        }
        all
    }
}

/// The products of `values` `[m, width]` with `blocks` `[n, width]`, which are blocks of 32, as `[n, m]`. `None` if tiles are faster.
pub(in super::super) fn narrow<B: Block, M: ByBlocks>(
    machine: M,
    blocks: &[u8],
    values: &[f32],
    width: usize,
    operation: &'static str,
) -> Result<Option<Vec<f32>>> {
    let rows = values.len() / width;
    if rows > M::NARROW || starts::<B>().1.is_some() && !M::FIFTH_BITS {
        return Ok(None);
    }
    let x = Four32::all(&parts::<B, Part32>(values, width), rows);
    let bytes = width / B::LENGTH * B::BYTES;
    let count = blocks.len() / bytes * rows;
    let fill = |start: usize, out: &mut [f32], scratch: &mut Scratch| {
        let blocks = &blocks[start / rows * bytes..][..out.len() / rows * bytes];
        machine.run(
            #[inline(always)]
            || {
                for (blocks, out) in blocks.chunks(FOUR * bytes).zip(out.chunks_mut(FOUR * rows)) {
                    scratch.multiply::<B>(machine, blocks, (rows, bytes), &x);
                    for (row, out) in out.chunks_exact_mut(rows).enumerate() {
                        out.iter_mut().zip(&scratch.totals).for_each(|(y, totals)| *y = totals[row]);
                    }
                }
            },
        );
    };
    new_chunks(count, (LANES * rows, width / rows), operation, &fill).map(Some)
}

/// What a core reuses from chunk to chunk: totals of each row of activations, and the last blocks of rows with others to make them four.
#[derive(Default)]
struct Scratch {
    totals: Vec<Total>,
    last: Vec<u8>,
}

impl Scratch {
    /// Sets the totals to the products of up to four rows of blocks, of `bytes` bytes each.
    #[inline(always)]
    fn multiply<B: Block>(
        &mut self,
        machine: impl ByBlocks,
        blocks: &[u8],
        (rows, bytes): (usize, usize),
        x: &[Four32],
    ) {
        let Scratch { totals, last } = self;
        totals.clear();
        totals.resize(rows, [0.0; FOUR]);
        // Instead of a row that is not there the last one is multiplied again.
        let end = blocks.len() / bytes - 1;
        let row: Sixteen<'_> = array_like(blocks, |index| &blocks[index.min(end) * bytes..][..bytes]);
        let together = FOUR * B::BYTES;
        for (four, start) in (0..bytes).step_by(together).enumerate() {
            // The next rows lie behind these. Processors do not foresee enough of them.
            let next = blocks.as_ptr().wrapping_add(FOUR * (bytes + start));
            for line in (0..FOUR * together).step_by(LINE) {
                machine.prefetch(next.wrapping_add(line));
            }
            let left = bytes - start;
            let (here, count): (Sixteen<'_>, usize) = if left >= together {
                (array_like(blocks, |index| &row[index][start..][..together]), FOUR)
            } else {
                last.clear();
                last.resize(FOUR * together, 0);
                for (to, row) in last.chunks_exact_mut(together).zip(row) {
                    to[..left].copy_from_slice(&row[start..]);
                }
                (array_like(blocks, |index| &last[index * together..][..together]), left / B::BYTES)
            };
            // Called once here, so that it is compiled into this loop.
            machine.narrow::<B>(here, &x[four * rows..][..rows], count, totals);
        }
    }
}

/// Two halves, or one and other bytes, of each of sixteen blocks.
#[inline(always)]
pub(super) fn heads<B: Block>(blocks: &Sixteen<'_>) -> [u32; LANES] {
    array(|index| double_word(block_at::<B>(blocks, index)))
}
