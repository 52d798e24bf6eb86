//! Products with few rows of activations: blocks are multiplied where they lie, sixteen at a time, with no interleaving of rows. Blocks of
//! 256 are sixteen neighbours, so that memory is read from front to back; blocks of 32 are [four of each of four rows](narrow).
//!
//! A block's products are added in integers, in any order. Their scaled sums are added in the order of the blocks, as by
//! [tiles](super::tile): all ways give the same bits.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
mod narrow;

use bytemuck::Zeroable;

use super::activations::{Part256, parts};
use super::fill::Planes;
use super::machine::Machine;
use super::tile::{Bytes, Floats, LANES};
use crate::cpu::chunks::new_chunks;
use crate::error::Result;
use crate::quant::arrays::array_like;
use crate::quant::block::Block;

pub(super) use narrow::narrow;
use narrow::{Four32, Sixteen, Total};

/// The most rows of activations that blocks of 256 are multiplied with in this way: more of them repay a tile.
const WIDE: usize = 2;

/// A machine that multiplies blocks without tiles.
pub(super) trait ByBlocks: Machine + Sync {
    /// Whether it is faster than by tiles for numbers whose fifth bits lie apart.
    const FIFTH_BITS: bool;

    /// The most rows of activations that blocks of 32 are multiplied with in this way.
    const NARROW: usize;

    /// Adds the products of the first `count` blocks of each row with the parts of each row of activations.
    fn narrow<B: Block>(self, blocks: Sixteen<'_>, parts: &[Four32], count: usize, totals: &mut [Total]);

    /// Sets products to those of sixteen neighbouring blocks with each row of activations, whose parts are sorted as by [`parts`]. The
    /// first block is multiplied by part `at`. `sums` is memory for each row of activations.
    fn wide<B: Planes>(
        self,
        blocks: &[u8],
        parts: &[Part256],
        at: usize,
        sums: &mut [Sums],
        products: Products<'_>,
    );
}

/// Where the products of sixteen blocks go: one vector for each row of activations, at equal distances.
pub(super) type Products<'a> = std::iter::StepBy<std::slice::IterMut<'a, Floats>>;

/// What is added in integers for each of sixteen blocks, and a scale of each.
#[derive(Clone, Copy, Zeroable)]
#[repr(C)]
pub(super) struct Sums {
    totals: [Bytes; LANES],
    besides: [[u8; 32]; LANES],
    scales: [f32; LANES],
}

/// For formats whose blocks are multiplied only as tiles.
pub(super) fn none<B: Block, M: ByBlocks>(
    _machine: M,
    _blocks: &[u8],
    _values: &[f32],
    _width: usize,
    _operation: &'static str,
) -> Result<Option<Vec<f32>>> {
    Ok(None)
}

/// As [`narrow()`], of blocks of 256.
pub(super) fn wide<B: Planes, M: ByBlocks>(
    machine: M,
    blocks: &[u8],
    values: &[f32],
    width: usize,
    operation: &'static str,
) -> Result<Option<Vec<f32>>> {
    let rows = values.len() / width;
    if rows > WIDE {
        return Ok(None);
    }
    let x = parts::<B, Part256>(values, width);
    let (work, width) = (width / rows, width / B::LENGTH);
    let (count, bytes) = (blocks.len() / B::BYTES / width * rows, width * B::BYTES);
    let fill = |start: usize, out: &mut [f32], scratch: &mut Scratch| {
        let blocks = &blocks[start / rows * bytes..][..out.len() / rows * bytes];
        machine.run(
            #[inline(always)]
            || {
                scratch.multiply::<B>(machine, blocks, (rows, width), &x);
                scratch.add(out, (rows, width));
            },
        );
    };
    new_chunks(count, (LANES * rows, work), operation, &fill).map(Some)
}

/// What a core reuses from chunk to chunk.
#[derive(Default)]
struct Scratch {
    /// Those of all blocks with the first row of activations, then those with the next one, ….
    products: Vec<Floats>,
    /// For each row of activations.
    sums: Vec<Sums>,
    /// The last blocks, and others to make them sixteen.
    last: Vec<u8>,
}

impl Scratch {
    #[inline(always)]
    fn multiply<B: Planes>(
        &mut self,
        machine: impl ByBlocks,
        blocks: &[u8],
        (rows, width): (usize, usize),
        x: &[Part256],
    ) {
        let bytes = LANES * B::BYTES;
        let all = blocks.len().div_ceil(bytes);
        self.products.resize(all * rows, Floats::default());
        self.sums.resize(rows, Sums::zeroed());
        for (index, blocks) in blocks.chunks(bytes).enumerate() {
            let products = self.products[index..].iter_mut().step_by(all);
            let at = index * LANES % width;
            if blocks.len() == bytes {
                machine.wide::<B>(blocks, x, at, &mut self.sums, products);
            } else {
                self.last.clear();
                self.last.extend_from_slice(blocks);
                self.last.resize(bytes, 0);
                machine.wide::<B>(&self.last, x, at, &mut self.sums, products);
            }
        }
    }

    /// Adds the products of each row of blocks, in their order.
    #[inline(always)]
    fn add(&self, out: &mut [f32], (rows, width): (usize, usize)) {
        let products: &[f32] = bytemuck::cast_slice(&self.products);
        let lanes = out.len() / rows;
        for (row, products) in products.chunks_exact(products.len() / rows).enumerate() {
            // Several rows of blocks at a time, because an addition waits for the one before.
            for first in (0..lanes).step_by(8) {
                let products: [&[f32]; 8] =
                    array_like(&[][..], |lane| &products[(first + lane).min(lanes - 1) * width..][..width]);
                let mut sums = [0f32; 8];
                for index in 0..width {
                    for (sum, products) in sums.iter_mut().zip(products) {
                        *sum += products[index];
                    }
                }
                for (lane, sum) in (first..lanes).zip(sums) {
                    out[lane * rows + row] = sum;
                }
            }
        }
    }
}

/// Where a block's 4 or 8 bits of each number start, and its fifth bits if it has any.
#[inline(always)]
const fn starts<B: Block>() -> (usize, Option<usize>) {
    if whole_bytes::<B>() {
        return (B::BYTES - 32, None);
    }
    let (start, halves) = (B::BYTES - 16, if B::MINS { 4 } else { 2 });
    (start, if start > halves { Some(halves) } else { None })
}

#[inline(always)]
const fn whole_bytes<B: Block>() -> bool {
    B::TOP > 127
}

/// The `N` bytes from `start` on.
#[inline(always)]
fn bytes<const N: usize>(block: &[u8], start: usize) -> [u8; N] {
    *block[start..].first_chunk().expect("the block is longer")
}
