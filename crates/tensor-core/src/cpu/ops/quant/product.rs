//! Products of activations with matrices of blocks: y = x Wᵀ.
//!
//! Activations are rounded to 8 bits. Of sixteen rows of weights one block after another is unpacked and multiplied by all rows
//! of activations, in integers; few rows of them are multiplied by [blocks where they lie](super::few). The sums are scaled
//! and added in `f32` in the order of the blocks: neither the number of rows nor that of cores changes a result.

use super::activations::{Part, Part32, Part256, parts};
#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512::Avx512;
use super::few::{self, ByBlocks};
use super::machine::{AnyMachine, Machine};
use super::row_bytes;
use super::tile::{Floats, LANES, Rows, Tile};
use crate::cpu::chunks::new_chunks;
use crate::error::Result;
use crate::quant::QuantFormat;
use crate::quant::arrays::array_like;
use crate::quant::block::{Block, dispatch_format};
use crate::quant::{fp4, iq1, iq2, iq3, iq4, k, legacy, tq};

/// The most activations that are multiplied by a tile: with their scales they fit a part of the L2 cache.
const TOGETHER: usize = 256 * 1024;

/// Bytes that memory gives at once.
const LINE: usize = 64;

/// A format, and how activations are rounded for it.
trait Multiplied: Block {
    type Part: Part;

    /// Unpacks a block of each of sixteen rows.
    fn fill(machine: impl Machine, tile: &mut Tile, rows: Rows<'_>);

    /// Adds the products of the tile's blocks with the parts of each row of activations to the row's sums. First come the
    /// parts that all rows have beside the block's first numbers.
    fn add(machine: impl Machine, tile: &Tile, parts: &[Self::Part], sums: &mut [Floats]);

    /// As [`transposed`]; `None` if tiles are faster.
    fn few(
        machine: impl ByBlocks,
        blocks: &[u8],
        values: &[f32],
        width: usize,
        operation: &'static str,
    ) -> Result<Option<Vec<f32>>>;
}

macro_rules! multiplied {
    ($Part:ident by $add:ident, $fill:ident, $few:ident: $($family:ident::$name:ident)+) => {
        $(impl Multiplied for $family::$name {
            type Part = $Part;

            #[inline(always)]
            fn fill(machine: impl Machine, tile: &mut Tile, rows: Rows<'_>) {
                tile.$fill::<Self, _>(machine, rows);
            }

            #[inline(always)]
            fn add(machine: impl Machine, tile: &Tile, parts: &[$Part], sums: &mut [Floats]) {
                for (index, parts) in parts.chunks_exact(sums.len()).enumerate() {
                    machine.$add::<Self>(tile, index, parts, sums);
                }
            }

            fn few(
                machine: impl ByBlocks,
                blocks: &[u8],
                values: &[f32],
                width: usize,
                operation: &'static str,
            ) -> Result<Option<Vec<f32>>> {
                few::$few::<Self, _>(machine, blocks, values, width, operation)
            }
        })+
    };
}

// As ggml has it: `vec_dot_type` in its table of types.
multiplied!(Part32 by add_narrow, fill_nibbles, narrow: legacy::Q4_0 legacy::Q4_1 legacy::Q5_0 legacy::Q5_1);
multiplied!(Part32 by add_narrow, fill_bytes, narrow: legacy::Q8_0 legacy::Q8_1);
multiplied!(Part32 by add_narrow, fill, none: iq4::IQ4NL fp4::MXFP4 fp4::NVFP4);
multiplied!(Part256 by add_wide, fill_planes, wide: k::Q2K k::Q3K k::Q4K k::Q5K k::Q6K);
multiplied!(Part256 by add_wide, fill, none: k::Q8K iq1::IQ1S iq1::IQ1M iq2::IQ2XXS iq2::IQ2XS
    iq2::IQ2S iq3::IQ3XXS iq3::IQ3S iq4::IQ4XS tq::TQ1_0 tq::TQ2_0);

/// The products of `values` `[m, width]` with `blocks` `[n, width]`, as `[m, n]`. Neither is empty.
pub(crate) fn product(
    format: QuantFormat,
    blocks: &[u8],
    values: &[f32],
    width: usize,
    operation: &'static str,
) -> Result<Vec<f32>> {
    product_on(Found::here(), format, blocks, values, width, operation)
}

/// As [`product`], by the loops for a machine.
fn product_on(
    machine: Found,
    format: QuantFormat,
    blocks: &[u8],
    values: &[f32],
    width: usize,
    operation: &'static str,
) -> Result<Vec<f32>> {
    let (rows, columns) = (values.len() / width, blocks.len() / row_bytes(format, width));
    let transposed =
        dispatch_format!(format, B => transposed::<B>(machine, blocks, values, width, operation)?);
    if rows == 1 {
        return Ok(transposed);
    }
    new_chunks(rows * columns, (columns, 8), operation, &|start, out: &mut [f32], (): &mut ()| {
        let row = start / columns;
        out.iter_mut().zip(transposed[row..].iter().step_by(rows)).for_each(|(y, x)| *y = *x);
    })
}

/// As [`product`], transposed: `[n, m]`.
fn transposed<B: Multiplied>(
    machine: Found,
    blocks: &[u8],
    values: &[f32],
    width: usize,
    operation: &'static str,
) -> Result<Vec<f32>> {
    let (rows, bytes) = (values.len() / width, width / B::LENGTH * B::BYTES);
    let few = match machine {
        #[cfg(target_arch = "x86_64")]
        Found::Avx512(machine) => B::few(machine, blocks, values, width, operation)?,
        #[cfg(target_arch = "x86_64")]
        Found::Avx2(machine) => B::few(machine, blocks, values, width, operation)?,
        Found::Any => None,
    };
    if let Some(products) = few {
        return Ok(products);
    }
    let together = (TOGETHER / width).max(LANES);
    let parts: Vec<Vec<B::Part>> =
        values.chunks(together * width).map(|values| parts::<B, B::Part>(values, width)).collect();
    let work = width / rows.min(LANES);
    let count = blocks.len() / bytes * rows;
    new_chunks(count, (LANES * rows, work), operation, &|start, out: &mut [f32], scratch: &mut Scratch| {
        let blocks = &blocks[start / rows * bytes..][..out.len() / rows * bytes];
        for (index, parts) in parts.iter().enumerate() {
            scratch.multiply::<B>(machine, blocks, bytes, parts);
            for (lane, out) in out.chunks_exact_mut(rows).enumerate() {
                let out = out[index * together..].iter_mut();
                out.zip(&scratch.sums).for_each(|(y, sums)| *y = sums.0[lane]);
            }
        }
    })
}

/// What loops are compiled for.
#[derive(Clone, Copy)]
enum Found {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    Any,
}

impl Found {
    /// The fastest one on this machine.
    fn here() -> Found {
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = Avx512::detected() {
            return Found::Avx512(machine);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = Avx2::detected() {
            return Found::Avx2(machine);
        }
        Found::Any
    }
}

/// What a core needs for the products of a tile.
#[derive(Default)]
struct Scratch {
    tile: Tile,
    /// For each row of activations.
    sums: Vec<Floats>,
}

impl Scratch {
    /// Sets the sums to the products of up to sixteen rows of blocks, of `bytes` bytes each, with all rows of activations.
    fn multiply<B: Multiplied>(&mut self, machine: Found, rows: &[u8], bytes: usize, parts: &[B::Part]) {
        match machine {
            #[cfg(target_arch = "x86_64")]
            Found::Avx512(machine) => self.multiply_on::<B, _>(machine, rows, bytes, parts),
            #[cfg(target_arch = "x86_64")]
            Found::Avx2(machine) => self.multiply_on::<B, _>(machine, rows, bytes, parts),
            Found::Any => self.multiply_on::<B, _>(AnyMachine, rows, bytes, parts),
        }
    }

    /// As [`Scratch::multiply`].
    fn multiply_on<B: Multiplied, M: Machine>(
        &mut self,
        machine: M,
        rows: &[u8],
        bytes: usize,
        parts: &[B::Part],
    ) {
        machine.run(
            #[inline(always)]
            || self.multiply_inlined::<B>(machine, rows, bytes, parts),
        );
    }

    #[inline(always)]
    fn multiply_inlined<B: Multiplied>(
        &mut self,
        machine: impl Machine,
        rows: &[u8],
        bytes: usize,
        parts: &[B::Part],
    ) {
        // Lanes without a row get the last one.
        let (blocks, last) = (bytes / B::BYTES, rows.len() / bytes - 1);
        let beside = parts.len() / blocks;
        self.sums.clear();
        self.sums.resize(beside / (B::LENGTH / B::Part::LENGTH), Floats::default());
        let rows: Rows<'_> = array_like(rows, |lane| &rows[lane.min(last) * bytes..][..bytes]);
        for (index, parts) in parts.chunks_exact(beside).enumerate() {
            let range = index * B::BYTES..(index + 1) * B::BYTES;
            // The next rows lie behind these. Sixteen streams at a time are too many for the processor to foresee.
            let prefetch = |rows: &[&[u8]]| {
                for line in (range.start.next_multiple_of(LINE)..range.end).step_by(LINE) {
                    rows.iter()
                        .for_each(|row| machine.prefetch(row.as_ptr().wrapping_add(LANES * bytes + line)));
                }
            };
            // In two parts, because that took up to a tenth less time with one row of activations.
            prefetch(&rows[..LANES / 2]);
            B::fill(
                machine,
                &mut self.tile,
                array_like(rows[0], |lane| &rows[lane][range.start..][..B::BYTES]),
            );
            prefetch(&rows[LANES / 2..]);
            B::add(machine, &self.tile, parts, &mut self.sums);
        }
    }
}

/// The products of rows of `values`, each with the matrix of its expert: those of `pairs` (row, expert), in their order.
/// `blocks` are the matrices, `columns` rows of `width` numbers each.
pub(crate) fn product_of_experts(
    format: QuantFormat,
    blocks: &[u8],
    (columns, width): (usize, usize),
    values: &[f32],
    pairs: &[(usize, usize)],
    operation: &'static str,
) -> Result<Vec<f32>> {
    let bytes = columns * row_bytes(format, width);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|index| pairs[*index].1);
    let mut out = crate::cpu::zeros(pairs.len() * columns, operation)?;
    // All rows of an expert are one product, so that its matrix is read once.
    for indices in order.chunk_by(|a, b| pairs[*a].1 == pairs[*b].1) {
        let expert = pairs[indices[0]].1;
        let mut rows = Vec::with_capacity(indices.len() * width);
        for index in indices {
            rows.extend_from_slice(&values[pairs[*index].0 * width..][..width]);
        }
        let products = product(format, &blocks[expert * bytes..][..bytes], &rows, width, operation)?;
        for (index, product) in indices.iter().zip(products.chunks_exact(columns)) {
            out[index * columns..][..columns].copy_from_slice(product);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
