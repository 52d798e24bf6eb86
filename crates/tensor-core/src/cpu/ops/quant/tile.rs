//! Blocks of eight rows of weights, unpacked and interleaved: a lane has a row.

use super::machine::Machine;
use crate::quant::block::{Block, Unpacked};

/// Rows of weights in a tile.
pub(super) const LANES: usize = 8;

/// A vector of bytes: four neighbouring numbers of each row.
pub(super) type Bytes = [u8; 4 * LANES];
/// A vector of 16-bit integers: two of each row.
pub(super) type Pairs = [i16; 2 * LANES];
/// A vector of floats: one of each row.
pub(super) type Floats = [f32; LANES];

/// A block of each of eight rows, as the products need them.
///
/// Numbers are positive, with the format's zero added. Those of more than 7 bits are in two planes of 4 bits, because a
/// product of bytes adds pairs of them in 16 bits.
#[derive(Clone, Default)]
pub(super) struct Tile {
    /// Numbers, or their lower 4 bits.
    pub(super) codes: Array<Bytes, 64>,
    /// The upper 4 bits of numbers in two planes.
    pub(super) high: Array<Bytes, 64>,
    /// Of each [`Block::UNIT`] numbers.
    pub(super) units: [Floats; 4],
    pub(super) min_units: [Floats; 4],
    /// The scale of each group, twice.
    pub(super) scales: Array<Pairs, 16>,
    /// Of each two groups the minima, or the scales in formats without minima.
    pub(super) beside: Array<Pairs, 8>,
    numbers: [Array<i8, 256>; LANES],
}

/// An array of any length with a default.
#[derive(Clone, Copy)]
pub(super) struct Array<T, const N: usize>(pub(super) [T; N]);

impl<T: Copy + Default, const N: usize> Default for Array<T, N> {
    fn default() -> Self {
        Array([T::default(); N])
    }
}

/// Whether numbers are in two planes.
pub(super) const fn two_planes<B: Block>() -> bool {
    B::TOP > 127
}

/// How many products of four numbers can be added in 16 bits: a power of two.
pub(super) const fn added<B: Block>() -> usize {
    let top = if two_planes::<B>() { 15 } else { B::TOP as usize };
    // Each lane of 16 bits has the sum of two of the four.
    match i16::MAX as usize / (2 * 127 * top) {
        8.. => 8,
        4.. => 4,
        2.. => 2,
        _ => 1,
    }
}

impl Tile {
    /// Unpacks block `place` of up to eight rows of `bytes` bytes. The lanes of rows that are missing get any numbers.
    #[inline(always)]
    pub(super) fn fill<B: Block>(&mut self, machine: impl Machine, rows: &[u8], bytes: usize, place: usize) {
        for (lane, row) in rows.chunks_exact(bytes).enumerate() {
            let block = &row[place * B::BYTES..][..B::BYTES];
            self.unpack::<B>(lane, block);
        }
        for part in 0..B::LENGTH / 32 {
            let rows = std::array::from_fn(|lane| &self.numbers[lane].0.as_chunks().0[part]);
            machine.interleave(rows, B::ZERO as u8, &mut self.codes.0.as_chunks_mut().0[part]);
        }
        if two_planes::<B>() {
            let codes = self.codes.0[..B::LENGTH / 4].iter_mut().flatten();
            for (code, high) in codes.zip(self.high.0.iter_mut().flatten()) {
                (*code, *high) = (*code & 15, *code >> 4);
            }
        }
    }

    #[inline(always)]
    fn unpack<B: Block>(&mut self, lane: usize, block: &[u8]) {
        let (mut units, mut min_units, mut scales, mut mins) = ([0.0; 4], [0.0; 4], [1; 16], [0; 16]);
        let groups = B::LENGTH / B::GROUP;
        let to = Unpacked {
            numbers: &mut self.numbers[lane].0[..B::LENGTH],
            units: &mut units[..B::LENGTH / B::UNIT],
            min_units: &mut min_units[..B::LENGTH / B::UNIT],
            scales: &mut scales[..groups],
            mins: &mut mins[..groups],
        };
        B::unpack(block, to);
        for unit in 0..B::LENGTH / B::UNIT {
            self.units[unit][lane] = units[unit];
            if B::MINS {
                self.min_units[unit][lane] = min_units[unit];
            }
        }
        if B::UNIT > B::GROUP {
            let beside = if B::MINS { &mins } else { &scales };
            for group in 0..groups {
                self.scales.0[group][2 * lane..][..2].fill(i16::from(scales[group]));
                self.beside.0[group / 2][2 * lane + group % 2] = i16::from(beside[group]);
            }
        }
    }
}
