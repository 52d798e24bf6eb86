//! Tiles of the formats whose numbers are bits of bytes: unpacked after they were interleaved, sixteen rows at a time.

use super::machine::{Bits, Machine};
use super::tile::{Bytes, LANES, Rows, Small, Tile};
use crate::quant::arrays::{array, array_like, map};
use crate::quant::block::{Block, double_word, part, word};
use crate::quant::k::{Q2K, Q3K, Q4K, Q5K, Q6K, scales_of_q3_k, small_scales};

/// Some bits of each of a block's 256 numbers. Each 32 bytes have the numbers of several groups of 32.
#[derive(Clone, Copy)]
pub(super) struct Plane {
    /// The first byte.
    pub(super) start: usize,
    /// How many bits of a number are here.
    count: u32,
    /// Which bits of the number they are: from this one on.
    up: u32,
    /// How many runs of 32 bytes are read side by side: first the lowest bits of all of them, then the next bits.
    together: usize,
}

impl Plane {
    /// How many times 32 bytes there are.
    const fn sources(self) -> usize {
        self.count as usize
    }

    /// Of the group of 32 numbers: which 32 bytes its bits are in, and which bits.
    #[inline(always)]
    pub(super) fn bits(self, group: usize) -> (usize, Bits) {
        let each = self.together * 8 / self.count as usize;
        let (run, within) = (group / each, group % each);
        let shift = self.count * (within / self.together) as u32;
        let bits = Bits { shift, mask: (1 << self.count) - 1, up: self.up };
        (run * self.together + within % self.together, bits)
    }
}

/// A format of 256 numbers in planes, whose groups have small scales.
pub(super) trait Planes: Block {
    const LOW: Plane;
    const HIGH: Option<Plane> = None;

    /// The scales and the minima of groups. Sets the tile's units.
    fn groups(machine: impl Machine, tile: &mut Tile, rows: Rows<'_>) -> (Small, Small);

    /// What groups have in common, of one block.
    fn groups_of(block: &[u8]) -> Groups;
}

/// What the groups of a block have in common.
pub(super) struct Groups {
    /// Zero behind the last group, and so are minima.
    pub(super) scales: [i8; 16],
    pub(super) mins: [i8; 16],
    /// The unit of scales as an `f16`, and above it that of minima.
    pub(super) halves: u32,
}

const fn plane(start: usize, count: u32, up: u32) -> Plane {
    Plane { start, count, up, together: 1 }
}

impl Planes for Q2K {
    const LOW: Plane = plane(16, 2, 0);

    #[inline(always)]
    fn groups(machine: impl Machine, tile: &mut Tile, rows: Rows<'_>) -> (Small, Small) {
        let both = machine.words(array(|lane| double_word(&rows[lane][80..])));
        [tile.units[0], tile.min_units[0]] = machine.halves(both);
        let small = machine.interleave(parts_of(rows, 0));
        let low = Bits { shift: 0, mask: 15, up: 0 };
        let high = Bits { shift: 4, mask: 15, up: 0 };
        (taken(machine, [(&small, low)]), taken(machine, [(&small, high)]))
    }

    #[inline(always)]
    fn groups_of(block: &[u8]) -> Groups {
        let small: [u8; 16] = part(block, 0);
        let (scales, mins) = (map(small, |bits| (bits & 15) as i8), map(small, |bits| (bits >> 4) as i8));
        Groups { scales, mins, halves: double_word(&block[80..]) }
    }
}

impl Planes for Q3K {
    const LOW: Plane = plane(32, 2, 0);
    const HIGH: Option<Plane> = Some(plane(0, 1, 2));

    #[inline(always)]
    fn groups(machine: impl Machine, tile: &mut Tile, rows: Rows<'_>) -> (Small, Small) {
        // The half is at the end.
        let both = machine.words(array(|lane| double_word(&rows[lane][106..])));
        tile.units[0] = machine.halves(both)[1];
        let scales: [[u8; 16]; LANES] =
            array(|lane| map(scales_of_q3_k(rows[lane]), |scale: i8| scale as u8));
        let scales = machine.interleave(array_like(&[0; 16], |lane| &scales[lane]));
        (scales, scales)
    }

    #[inline(always)]
    fn groups_of(block: &[u8]) -> Groups {
        Groups { scales: scales_of_q3_k(block), mins: [0; 16], halves: word(&block[108..]).into() }
    }
}

impl Planes for Q4K {
    const LOW: Plane = plane(16, 4, 0);

    #[inline(always)]
    fn groups(machine: impl Machine, tile: &mut Tile, rows: Rows<'_>) -> (Small, Small) {
        groups_of_q4_k(machine, tile, rows)
    }

    #[inline(always)]
    fn groups_of(block: &[u8]) -> Groups {
        groups_of_block_of_q4_k(block)
    }
}

impl Planes for Q5K {
    const LOW: Plane = plane(48, 4, 0);
    const HIGH: Option<Plane> = Some(plane(16, 1, 4));

    #[inline(always)]
    fn groups(machine: impl Machine, tile: &mut Tile, rows: Rows<'_>) -> (Small, Small) {
        groups_of_q4_k(machine, tile, rows)
    }

    #[inline(always)]
    fn groups_of(block: &[u8]) -> Groups {
        groups_of_block_of_q4_k(block)
    }
}

impl Planes for Q6K {
    const LOW: Plane = Plane { start: 0, count: 4, up: 0, together: 2 };
    const HIGH: Option<Plane> = Some(plane(128, 2, 4));

    #[inline(always)]
    fn groups(machine: impl Machine, tile: &mut Tile, rows: Rows<'_>) -> (Small, Small) {
        // The half is at the end.
        let both = machine.words(array(|lane| double_word(&rows[lane][206..])));
        tile.units[0] = machine.halves(both)[1];
        let scales = machine.interleave(parts_of(rows, 192));
        (scales, scales)
    }

    #[inline(always)]
    fn groups_of(block: &[u8]) -> Groups {
        let scales: [u8; 16] = part(block, 192);
        Groups { scales: bytemuck::cast(scales), mins: [0; 16], halves: word(&block[208..]).into() }
    }
}

/// As [`crate::quant::k::small_scales`], of all lanes.
#[inline(always)]
fn groups_of_q4_k(machine: impl Machine, tile: &mut Tile, rows: Rows<'_>) -> (Small, Small) {
    let [both, scales, mins, late] = machine.interleave(parts_of(rows, 0));
    [tile.units[0], tile.min_units[0]] = machine.halves(both);
    let (scales, mins, late) = ([scales], [mins], [late]);
    let six = Bits { shift: 0, mask: 63, up: 0 };
    let upper = Bits { shift: 6, mask: 3, up: 4 };
    let low = Bits { shift: 0, mask: 15, up: 0 };
    let high = Bits { shift: 4, mask: 15, up: 0 };
    let [first] = taken(machine, [(&scales, six)]);
    let [second] = taken(machine, [(&late, low), (&scales, upper)]);
    let [first_min] = taken(machine, [(&mins, six)]);
    let [second_min] = taken(machine, [(&late, high), (&mins, upper)]);
    let none = Bytes::default();
    ([first, second, none, none], [first_min, second_min, none, none])
}

#[inline(always)]
fn groups_of_block_of_q4_k(block: &[u8]) -> Groups {
    let [scales, mins] = small_scales(part(block, 4));
    Groups {
        scales: bytemuck::cast([scales, [0; 8]]),
        mins: bytemuck::cast([mins, [0; 8]]),
        halves: double_word(block),
    }
}

impl Tile {
    /// As [`Tile::fill`], for formats in planes.
    #[inline(always)]
    pub(super) fn fill_planes<B: Planes, M: Machine>(&mut self, machine: M, rows: Rows<'_>) {
        let (scales, mins) = B::groups(machine, self, rows);
        self.set_groups::<B, M>(machine, &scales, &mins);
        let (mut low, mut high) = ([[Bytes::default(); 8]; 4], [[Bytes::default(); 8]; 2]);
        for (source, low) in low[..B::LOW.sources()].iter_mut().enumerate() {
            *low = interleaved(machine, rows, B::LOW.start + 32 * source);
        }
        if let Some(plane) = B::HIGH {
            for (source, high) in high[..plane.sources()].iter_mut().enumerate() {
                *high = interleaved(machine, rows, plane.start + 32 * source);
            }
        }
        for (group, codes) in self.codes.as_chunks_mut().0.iter_mut().enumerate() {
            let (source, bits) = B::LOW.bits(group);
            let lower = (&low[source], bits);
            match B::HIGH {
                None => *codes = taken::<8, 1>(machine, [lower]),
                Some(plane) => {
                    let (source, bits) = plane.bits(group);
                    *codes = taken(machine, [lower, (&high[source], bits)]);
                }
            }
        }
    }

    /// As [`Tile::fill`], for blocks of 32: the halves before the numbers, and 16 bytes with two numbers each.
    #[inline(always)]
    pub(super) fn fill_nibbles<B: Block, M: Machine>(&mut self, machine: M, rows: Rows<'_>) {
        self.set_units::<B>(machine, rows);
        let start = B::BYTES - 16;
        let both = machine.interleave(parts_of(rows, start));
        let codes: &mut [Bytes; 8] = self.codes.first_chunk_mut().expect("more vectors");
        for (half, codes) in codes.as_chunks_mut().0.iter_mut().enumerate() {
            *codes = taken(machine, [(&both, Bits { shift: 4 * half as u32, mask: 15, up: 0 })]);
        }
        // Then come the fifth bits.
        let halves = if B::MINS { 4 } else { 2 };
        if start > halves {
            let bits = machine.words(array(|lane| double_word(&rows[lane][halves..])));
            machine.add_fifth_bits(bits, codes);
        }
    }

    /// As [`Tile::fill`], for blocks of 32: a half, and numbers of 8 bits.
    #[inline(always)]
    pub(super) fn fill_bytes<B: Block, M: Machine>(&mut self, machine: M, rows: Rows<'_>) {
        self.set_units::<B>(machine, rows);
        let codes: &mut [Bytes; 8] = self.codes.first_chunk_mut().expect("more vectors");
        *codes = interleaved(machine, rows, B::BYTES - 32);
        machine.add(B::ZERO as u8, codes);
        self.split::<B, M>(machine);
    }

    /// Sets the units of blocks that begin with a half, or with two.
    #[inline(always)]
    fn set_units<B: Block>(&mut self, machine: impl Machine, rows: Rows<'_>) {
        let [units, mins] = machine.halves(machine.words(array(|lane| double_word(rows[lane]))));
        self.units[0] = units;
        if B::MINS {
            // These formats add their minimum.
            self.min_units[0].0 = map(mins.0, |min| -min);
        }
    }
}

/// What the bits give together.
#[inline(always)]
fn taken<const N: usize, const P: usize>(
    machine: impl Machine,
    planes: [(&[Bytes; N], Bits); P],
) -> [Bytes; N] {
    let mut to = [Bytes::default(); N];
    machine.take(planes, &mut to);
    to
}

/// The 32 bytes from `start` on of each block, interleaved.
#[inline(always)]
fn interleaved(machine: impl Machine, rows: Rows<'_>, start: usize) -> [Bytes; 8] {
    let [a, b, c, d] = machine.interleave(parts_of(rows, start));
    let [e, f, g, h] = machine.interleave(parts_of(rows, start + 16));
    [a, b, c, d, e, f, g, h]
}

/// The 16 bytes from `start` on of each block.
#[inline(always)]
fn parts_of(rows: Rows<'_>, start: usize) -> [&[u8; 16]; LANES] {
    array_like(&[0; 16], |lane| rows[lane][start..].first_chunk().expect("the block is longer"))
}
