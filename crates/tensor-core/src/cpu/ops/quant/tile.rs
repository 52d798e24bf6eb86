//! Blocks of sixteen rows of weights, unpacked and interleaved: a lane has a row.

use bytemuck::{Pod, Zeroable};

use super::machine::Machine;
use crate::quant::arrays::array_like;
use crate::quant::block::{Block, Unpacked};

/// Rows of weights in a tile.
pub(super) const LANES: usize = 16;

macro_rules! vectors {
    ($($(#[$doc:meta])* $Vector:ident of $T:ty;)+) => {
        $($(#[$doc])*
        // In one line of the cache.
        #[derive(Clone, Copy, Pod, Zeroable)]
        #[repr(C, align(64))]
        pub(super) struct $Vector(pub(super) [$T; 64 / size_of::<$T>()]);

        impl Default for $Vector {
            fn default() -> Self {
                Zeroable::zeroed()
            }
        })+
    };
}

vectors! {
    /// A vector of bytes: four neighbouring numbers of each row.
    Bytes of u8;
    /// A vector of 16-bit integers: two of each row.
    Pairs of i16;
    /// A vector of floats: one of each row.
    Floats of f32;
}

/// A block of each of sixteen rows, as the products need them.
///
/// Numbers are positive, with the format's zero added.
#[derive(Clone, Copy, Zeroable)]
#[repr(C)]
pub(super) struct Tile {
    /// Numbers, or their lower 4 bits where [`Machine::WHOLE_BYTES`] is false and numbers have more than 7 bits.
    pub(super) codes: [Bytes; 64],
    /// The upper 4 bits of such numbers.
    pub(super) high: [Bytes; 64],
    /// Of each [`Block::UNIT`] numbers.
    pub(super) units: [Floats; 4],
    pub(super) min_units: [Floats; 4],
    /// The scale of each group, twice.
    pub(super) scales: [Pairs; 16],
    /// Of each two groups the minima, or the scales in formats without minima.
    pub(super) beside: [Pairs; 8],
    /// Blocks as [`Block::unpack`] writes them.
    numbers: [[i8; 256]; LANES],
}

impl Default for Tile {
    fn default() -> Tile {
        Tile::zeroed()
    }
}

/// A block of each of sixteen rows.
pub(super) type Rows<'a> = [&'a [u8]; LANES];

/// The scales or minima of each row's groups, as bytes: vector `i` has those of four groups from 4 · i on.
pub(super) type Small = [Bytes; 4];

/// Whether numbers are in two planes.
pub(super) const fn two_planes<B: Block, M: Machine>() -> bool {
    B::TOP > 127 && !M::WHOLE_BYTES
}

impl Tile {
    /// Unpacks a block of each of sixteen rows, for any format.
    #[inline(always)]
    pub(super) fn fill<B: Block, M: Machine>(&mut self, machine: M, rows: Rows<'_>) {
        let (mut scales, mut mins) = ([[0; 16]; LANES], [[0; 16]; LANES]);
        for (lane, block) in rows.into_iter().enumerate() {
            self.unpack::<B>(lane, block, &mut scales[lane], &mut mins[lane]);
        }
        for (index, codes) in self.codes[..B::LENGTH / 4].as_chunks_mut().0.iter_mut().enumerate() {
            let bytes = array_like(&[0; 16], |lane| {
                bytemuck::cast_ref::<[i8; 16], _>(&self.numbers[lane].as_chunks().0[index])
            });
            *codes = machine.interleave(bytes);
            machine.add(B::ZERO as u8, codes);
        }
        self.split::<B, M>(machine);
        if B::UNIT > B::GROUP {
            let interleaved = |of: &[[i8; 16]; LANES]| {
                machine.interleave(array_like(&[0; 16], |lane| bytemuck::cast_ref(&of[lane])))
            };
            self.set_groups::<B, M>(machine, &interleaved(&scales), &interleaved(&mins));
        }
    }

    /// Moves the upper halves of numbers to their plane, if there is one.
    #[inline(always)]
    pub(super) fn split<B: Block, M: Machine>(&mut self, machine: M) {
        if two_planes::<B, M>() {
            let vectors = B::LENGTH / 4;
            machine.split(&mut self.codes[..vectors], &mut self.high[..vectors]);
        }
    }

    /// Sets the scales, and what is beside them.
    #[inline(always)]
    pub(super) fn set_groups<B: Block, M: Machine>(&mut self, machine: M, scales: &Small, mins: &Small) {
        let groups = B::LENGTH / B::GROUP;
        machine.spread(scales, &mut self.scales[..groups]);
        machine.pair(if B::MINS { mins } else { scales }, &mut self.beside[..groups / 2]);
    }

    #[inline(always)]
    fn unpack<B: Block>(&mut self, lane: usize, block: &[u8], scales: &mut [i8; 16], mins: &mut [i8; 16]) {
        let (mut units, mut min_units) = ([0.0; 4], [0.0; 4]);
        let groups = B::LENGTH / B::GROUP;
        let to = Unpacked {
            numbers: &mut self.numbers[lane][..B::LENGTH],
            units: &mut units[..B::LENGTH / B::UNIT],
            min_units: &mut min_units[..B::LENGTH / B::UNIT],
            scales: &mut scales[..groups],
            mins: &mut mins[..groups],
        };
        B::unpack(block, to);
        for unit in 0..B::LENGTH / B::UNIT {
            self.units[unit].0[lane] = units[unit];
            if B::MINS {
                self.min_units[unit].0[lane] = min_units[unit];
            }
        }
    }
}
