//! Blocks of eight rows of weights, unpacked and interleaved: a lane has a row.

use super::machine::Machine;
use crate::quant::arrays::{array, map};
use crate::quant::block::{Block, Unpacked, double_word, part, word};
use crate::quant::k::small_scales;

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
    group_scales: [[i8; 16]; LANES],
    group_mins: [[i8; 16]; LANES],
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

/// A block of each of eight rows.
pub(super) type Rows<'a> = [&'a [u8]; LANES];

impl Tile {
    /// Unpacks a block of each of eight rows.
    #[inline(always)]
    pub(super) fn fill<B: Block>(&mut self, machine: impl Machine, rows: Rows<'_>) {
        for (lane, block) in rows.into_iter().enumerate() {
            self.unpack::<B>(lane, block);
        }
        for part in 0..B::LENGTH / 32 {
            let rows = std::array::from_fn(|lane| &self.numbers[lane].0.as_chunks().0[part]);
            machine.interleave(rows, B::ZERO as u8, &mut self.codes.0.as_chunks_mut().0[part]);
        }
        if two_planes::<B>() {
            let vectors = B::LENGTH / 4;
            machine.split(&mut self.codes.0[..vectors], &mut self.high.0[..vectors]);
        }
        if B::UNIT > B::GROUP {
            self.spread::<B>(machine);
        }
    }

    /// Sets the scales and what is beside them by those of each lane.
    #[inline(always)]
    fn spread<B: Block>(&mut self, machine: impl Machine) {
        let groups = B::LENGTH / B::GROUP;
        machine.spread(&self.group_scales, &mut self.scales.0[..groups]);
        let beside = if B::MINS { &self.group_mins } else { &self.group_scales };
        machine.pair(beside, &mut self.beside.0[..groups / 2]);
    }

    #[inline(always)]
    fn unpack<B: Block>(&mut self, lane: usize, block: &[u8]) {
        let (mut units, mut min_units) = ([0.0; 4], [0.0; 4]);
        let groups = B::LENGTH / B::GROUP;
        let to = Unpacked {
            numbers: &mut self.numbers[lane].0[..B::LENGTH],
            units: &mut units[..B::LENGTH / B::UNIT],
            min_units: &mut min_units[..B::LENGTH / B::UNIT],
            scales: &mut self.group_scales[lane][..groups],
            mins: &mut self.group_mins[lane][..groups],
        };
        B::unpack(block, to);
        for unit in 0..B::LENGTH / B::UNIT {
            self.units[unit][lane] = units[unit];
            if B::MINS {
                self.min_units[unit][lane] = min_units[unit];
            }
        }
    }

    /// As [`Tile::fill`], for blocks of 32: the halves before the numbers, and 16 bytes with two numbers each.
    #[inline(always)]
    pub(super) fn fill_nibbles<B: Block>(&mut self, machine: impl Machine, rows: Rows<'_>) {
        self.set_units::<B>(machine, rows);
        let start = B::BYTES - 16;
        let bytes =
            std::array::from_fn(|lane| rows[lane][start..].first_chunk().expect("the end of a block"));
        machine.nibbles(bytes, self.codes.0.first_chunk_mut().expect("more vectors"));
        // Then come the fifth bits.
        let halves = if B::MINS { 4 } else { 2 };
        if start > halves {
            let bits = array(|lane| double_word(&rows[lane][halves..]));
            machine.add_fifth_bits(bits, self.codes.0.first_chunk_mut().expect("more vectors"));
        }
    }

    /// As [`Tile::fill`], for `q4_K`.
    #[inline(always)]
    pub(super) fn fill_q4_k<B: Block>(&mut self, machine: impl Machine, rows: Rows<'_>) {
        self.units[0] = machine.halves(array(|lane| word(rows[lane])));
        self.min_units[0] = machine.halves(array(|lane| word(&rows[lane][2..])));
        for (lane, row) in rows.iter().enumerate() {
            for (group, [scale, min]) in small_scales(part(row, 4)).into_iter().enumerate() {
                (self.group_scales[lane][group], self.group_mins[lane][group]) = (scale as i8, min as i8);
            }
        }
        self.spread::<B>(machine);
        for (index, codes) in self.codes.0.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let (low, high) = codes.split_at_mut(8);
            let low = low.first_chunk_mut().expect("eight vectors");
            machine.interleave(parts_of(rows, 16 + 32 * index), 0, low);
            machine.split(low, high);
        }
    }

    /// As [`Tile::fill`], for `q6_K`.
    #[inline(always)]
    pub(super) fn fill_q6_k<B: Block>(&mut self, machine: impl Machine, rows: Rows<'_>) {
        self.units[0] = machine.halves(array(|lane| word(&rows[lane][208..])));
        self.group_scales = array(|lane| bytemuck::cast::<[u8; 16], _>(part(rows[lane], 192)));
        self.spread::<B>(machine);
        let mut upper = [Bytes::default(); 8];
        for (half, codes) in self.codes.0.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let (low, high) = codes.split_at_mut(16);
            for (index, low) in low.as_chunks_mut().0.iter_mut().enumerate() {
                machine.interleave(parts_of(rows, 64 * half + 32 * index), 0, low);
            }
            machine.split(low, high);
            machine.interleave(parts_of(rows, 128 + 32 * half), 0, &mut upper);
            for (index, codes) in codes.as_chunks_mut().0.iter_mut().enumerate() {
                machine.add_upper_bits(&upper, 2 * index as u32, codes);
            }
        }
    }

    /// As [`Tile::fill`], for blocks of 32: a half, and numbers of 8 bits.
    #[inline(always)]
    pub(super) fn fill_bytes<B: Block>(&mut self, machine: impl Machine, rows: Rows<'_>) {
        self.set_units::<B>(machine, rows);
        let codes = self.codes.0.first_chunk_mut().expect("more vectors");
        machine.interleave(parts_of(rows, B::BYTES - 32), B::ZERO as u8, codes);
        machine.split(&mut self.codes.0[..8], &mut self.high.0[..8]);
    }

    /// Sets the units of blocks that begin with a half, or with two.
    #[inline(always)]
    fn set_units<B: Block>(&mut self, machine: impl Machine, rows: Rows<'_>) {
        self.units[0] = machine.halves(array(|lane| word(rows[lane])));
        if B::MINS {
            // These formats add their minimum.
            let mins = machine.halves(array(|lane| word(&rows[lane][2..])));
            self.min_units[0] = map(mins, |min| -min);
        }
    }
}

/// The 32 bytes from `start` on of each block.
#[inline(always)]
fn parts_of(rows: Rows<'_>, start: usize) -> [&[i8; 32]; LANES] {
    std::array::from_fn(|lane| {
        let bytes: &[u8; 32] = rows[lane][start..].first_chunk().expect("the block is longer");
        bytemuck::cast_ref(bytes)
    })
}
