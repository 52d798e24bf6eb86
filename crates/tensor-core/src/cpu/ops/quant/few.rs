//! Products with few rows of activations: blocks are multiplied where they lie, sixteen neighbours at a time, with no interleaving of
//! rows. Memory is read from front to back.
//!
//! A block's products are added in integers, in any order. Their scaled sums are added in the order of the blocks, as by
//! [tiles](super::tile): both ways give the same bits.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;

use bytemuck::Zeroable;

use super::activations::{Part32, Part256, parts};
use super::fill::Planes;
use super::machine::Machine;
use super::tile::{Bytes, Floats, LANES};
use crate::cpu::chunks::new_chunks;
use crate::error::Result;
use crate::quant::arrays::{array, array_like};
use crate::quant::block::{Block, double_word};

/// The most rows of activations that blocks of 32 and of 256 are multiplied with in this way: more of them repay a tile.
const NARROW: usize = 1;
const WIDE: usize = 2;

/// Bytes of a cache line, and how many bytes ahead lines are prefetched: processors do not prefetch past the end of a page.
const LINE: usize = 64;
const AHEAD: usize = 12 * 1024;

/// A machine that multiplies blocks without tiles.
pub(super) trait ByBlocks: Machine + Sync {
    /// Whether it is faster than by tiles for numbers whose fifth bits lie apart.
    const FIFTH_BITS: bool;

    /// Sets products to those of sixteen neighbouring blocks with each row of activations. The first block is multiplied by
    /// the row's part `at`.
    fn narrow<B: Block>(self, blocks: &[u8], rows: &[Row32], at: usize, products: Products<'_>);

    /// As [`ByBlocks::narrow`], with parts as [`parts`] sorts them. `sums` is memory for each row of activations.
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

/// A row of activations in parts of 32. Behind the last part the first ones come again, so that sixteen can be read from each one on.
pub(super) struct Row32 {
    numbers: Vec<[i32; 8]>,
    scales: Vec<f32>,
    sums: Vec<f32>,
    zeros: Vec<i32>,
}

impl Row32 {
    /// The rows of parts as [`parts`] sorts them.
    pub(super) fn rows(parts: &[Part32], rows: usize) -> Vec<Row32> {
        let own = |row: usize| parts.iter().skip(row).step_by(rows);
        let row = |row: usize| Row32 {
            numbers: repeated(own(row).map(|part| part.numbers)),
            scales: repeated(own(row).map(|part| part.scale)),
            sums: repeated(own(row).map(|part| part.sum)),
            zeros: repeated(own(row).map(|part| part.zeros[0])),
        };
        (0..rows).map(row).collect()
    }

    /// The numbers of `N` parts from `at` on.
    #[inline(always)]
    fn numbers<const N: usize>(&self, at: usize) -> &[[i32; 8]; N] {
        self.numbers[at..].first_chunk().expect("sixteen parts from each on")
    }

    #[inline(always)]
    fn floats(from: &[f32], at: usize) -> [f32; LANES] {
        *from[at..].first_chunk().expect("sixteen parts from each on")
    }

    #[inline(always)]
    fn zeros(&self, at: usize) -> [i32; LANES] {
        *self.zeros[at..].first_chunk().expect("sixteen parts from each on")
    }
}

/// What `parts` gives, and then the same again until sixteen can be read from each one on.
fn repeated<T: Copy>(parts: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let count = parts.len();
    let mut all = Vec::with_capacity(count + LANES - 1);
    all.extend(parts);
    while all.len() < count + LANES - 1 {
        let more = count.min(count + LANES - 1 - all.len());
        all.extend_from_within(..more);
    }
    all
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

/// The products of `values` `[m, width]` with `blocks` `[n, width]`, which are blocks of 32, as `[n, m]`. `None` if tiles are faster.
pub(super) fn narrow<B: Block, M: ByBlocks>(
    machine: M,
    blocks: &[u8],
    values: &[f32],
    width: usize,
    operation: &'static str,
) -> Result<Option<Vec<f32>>> {
    let rows = values.len() / width;
    if rows > NARROW || starts::<B>().1.is_some() && !M::FIFTH_BITS {
        return Ok(None);
    }
    let x = Row32::rows(&parts::<B, Part32>(values, width), rows);
    let products = transposed::<B, M>(
        machine,
        blocks,
        (rows, width),
        operation,
        #[inline(always)]
        |blocks, at, _sums, products| machine.narrow::<B>(blocks, &x, at, products),
    )?;
    Ok(Some(products))
}

/// As [`narrow`], of blocks of 256.
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
    let products = transposed::<B, M>(
        machine,
        blocks,
        (rows, width),
        operation,
        #[inline(always)]
        |blocks, at, sums, products| machine.wide::<B>(blocks, &x, at, sums, products),
    )?;
    Ok(Some(products))
}

/// Multiplies sixteen blocks, the first of which is at an index in its row.
trait Multiply: Fn(&[u8], usize, &mut [Sums], Products<'_>) + Sync {}
impl<F: Fn(&[u8], usize, &mut [Sums], Products<'_>) + Sync> Multiply for F {}

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

/// The products of blocks with `rows` rows of `width` activations.
fn transposed<B: Block, M: ByBlocks>(
    machine: M,
    blocks: &[u8],
    (rows, width): (usize, usize),
    operation: &'static str,
    multiply: impl Multiply,
) -> Result<Vec<f32>> {
    let (work, width) = (width / rows, width / B::LENGTH);
    let (count, bytes) = (blocks.len() / B::BYTES / width * rows, width * B::BYTES);
    new_chunks(count, (LANES * rows, work), operation, &|start, out: &mut [f32], scratch: &mut Scratch| {
        let blocks = &blocks[start / rows * bytes..][..out.len() / rows * bytes];
        machine.run(
            #[inline(always)]
            || {
                scratch.multiply::<B>(machine, blocks, (rows, width), &multiply);
                scratch.add(out, (rows, width));
            },
        );
    })
}

impl Scratch {
    #[inline(always)]
    fn multiply<B: Block>(
        &mut self,
        machine: impl Machine,
        blocks: &[u8],
        (rows, width): (usize, usize),
        multiply: &impl Multiply,
    ) {
        let bytes = LANES * B::BYTES;
        let all = blocks.len().div_ceil(bytes);
        self.products.resize(all * rows, Floats::default());
        self.sums.resize(rows, Sums::zeroed());
        for (index, blocks) in blocks.chunks(bytes).enumerate() {
            let products = self.products[index..].iter_mut().step_by(all);
            let at = index * LANES % width;
            if B::LENGTH == 32 {
                for line in (0..bytes).step_by(LINE) {
                    machine.prefetch(blocks.as_ptr().wrapping_add(AHEAD + line));
                }
            }
            if blocks.len() == bytes {
                multiply(blocks, at, &mut self.sums, products);
            } else {
                self.last.clear();
                self.last.extend_from_slice(blocks);
                self.last.resize(bytes, 0);
                multiply(&self.last, at, &mut self.sums, products);
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

/// Two halves, or one and other bytes, of each of sixteen blocks.
#[inline(always)]
fn heads<B: Block>(blocks: &[u8]) -> [u32; LANES] {
    array(|index| double_word(&blocks[index * B::BYTES..]))
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
