//! The innermost loops of products, for any machine. The bits of results are the same on every machine.

use super::activations::{Part32, Part256};
use super::tile::{Bytes, Floats, LANES, Pairs, Small, Tile};
use crate::quant::arrays::array;
use crate::quant::block::{Block, half_from_bits};

/// Some bits of each byte: those of `mask` once they are shifted down by `shift`, and then moved up.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    pub(super) shift: u32,
    pub(super) mask: u8,
    pub(super) up: u32,
}

/// What the loops of products are compiled for.
pub(super) trait Machine: Copy {
    /// Whether [`Machine::add_narrow`] and [`Machine::add_wide`] read numbers of 8 bits from one plane.
    const WHOLE_BYTES: bool;

    /// Runs `work`, a closure marked `#[inline(always)]`, compiled for this machine.
    fn run<R>(self, work: impl FnOnce() -> R) -> R;

    /// Asks for memory that is read soon. Any address will do.
    fn prefetch(self, _address: *const u8) {}

    /// Interleaves 16 bytes of each row: vector `i` has the four bytes from 4 · i on of each.
    fn interleave(self, rows: [&[u8; 16]; LANES]) -> [Bytes; 4];

    /// Four bytes of each row, the lowest ones first.
    fn words(self, rows: [u32; LANES]) -> Bytes;

    /// Adds `zero` to each byte.
    fn add(self, zero: u8, to: &mut [Bytes]);

    /// Moves the upper 4 bits of each byte to `high`. Called only if [`Machine::WHOLE_BYTES`] is false.
    fn split(self, _codes: &mut [Bytes], _high: &mut [Bytes]) {}

    /// Sets bytes to the bits that are taken from each plane.
    fn take<const N: usize, const P: usize>(self, planes: [(&[Bytes; N], Bits); P], to: &mut [Bytes; N]);

    /// Adds 16 to the numbers whose bits are set, for each row from the lowest bit of its four bytes on.
    fn add_fifth_bits(self, bits: Bytes, to: &mut [Bytes; 8]);

    /// The values of two `f16` of each row.
    fn halves(self, both: Bytes) -> [Floats; 2];

    /// Vector `i` has number `i` of each row, twice.
    fn spread(self, small: &Small, to: &mut [Pairs]);

    /// Vector `i` has the numbers `2 · i` and `2 · i + 1` of each row.
    fn pair(self, small: &Small, to: &mut [Pairs]);

    /// Adds the products of part `index` of the tile's blocks with each of the `parts` to its `sums`.
    fn add_narrow<B: Block>(self, tile: &Tile, index: usize, parts: &[Part32], sums: &mut [Floats]);

    /// As [`Machine::add_narrow`], of blocks with one unit, which are one part.
    fn add_wide<B: Block>(self, tile: &Tile, index: usize, parts: &[Part256], sums: &mut [Floats]);
}

/// No instructions in particular.
#[derive(Clone, Copy)]
pub(super) struct AnyMachine;

impl Machine for AnyMachine {
    const WHOLE_BYTES: bool = true;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    #[inline(always)]
    fn interleave(self, rows: [&[u8; 16]; LANES]) -> [Bytes; 4] {
        array(|index| Bytes(array(|i| rows[i / 4][4 * index + i % 4])))
    }

    #[inline(always)]
    fn words(self, rows: [u32; LANES]) -> Bytes {
        Bytes(array(|i| (rows[i / 4] >> (8 * (i % 4))) as u8))
    }

    #[inline(always)]
    fn add(self, zero: u8, to: &mut [Bytes]) {
        to.iter_mut().flat_map(|to| &mut to.0).for_each(|to| *to = to.wrapping_add(zero));
    }

    #[inline(always)]
    fn take<const N: usize, const P: usize>(self, planes: [(&[Bytes; N], Bits); P], to: &mut [Bytes; N]) {
        for (index, to) in to.iter_mut().enumerate() {
            *to = Bytes::default();
            for (from, bits) in planes {
                for (to, byte) in to.0.iter_mut().zip(from[index].0) {
                    *to |= (byte >> bits.shift & bits.mask) << bits.up;
                }
            }
        }
    }

    #[inline(always)]
    fn add_fifth_bits(self, bits: Bytes, to: &mut [Bytes; 8]) {
        for (index, vector) in to.iter_mut().enumerate() {
            for (i, number) in vector.0.iter_mut().enumerate() {
                // Each byte of bits is for two vectors.
                let byte = bits.0[i / 4 * 4 + index / 2];
                *number |= (byte >> (4 * (index % 2) + i % 4) & 1) << 4;
            }
        }
    }

    #[inline(always)]
    fn halves(self, both: Bytes) -> [Floats; 2] {
        array(|half| {
            Floats(array(|lane| {
                let at = 4 * lane + 2 * half;
                half_from_bits(u16::from_le_bytes([both.0[at], both.0[at + 1]]))
            }))
        })
    }

    #[inline(always)]
    fn spread(self, small: &Small, to: &mut [Pairs]) {
        for (index, vector) in to.iter_mut().enumerate() {
            *vector = Pairs(array(|i| number(small, i / 2, index)));
        }
    }

    #[inline(always)]
    fn pair(self, small: &Small, to: &mut [Pairs]) {
        for (index, vector) in to.iter_mut().enumerate() {
            *vector = Pairs(array(|i| number(small, i / 2, 2 * index + i % 2)));
        }
    }

    #[inline(always)]
    fn add_narrow<B: Block>(self, tile: &Tile, index: usize, parts: &[Part32], sums: &mut [Floats]) {
        let (groups, vectors) = (32 / B::GROUP, B::GROUP / 4);
        for (part, sums) in parts.iter().zip(sums) {
            for group in 0..groups {
                let first = 8 * index + vectors * group;
                let numbers = &part.numbers[vectors * group..][..vectors];
                let dots = dots(tile, first, numbers);
                let units = &tile.units[groups * index + group].0;
                for lane in 0..LANES {
                    let dot = dots[lane] - part.zeros[group];
                    let mut product = (units[lane] * part.scale) * dot as f32;
                    if B::MINS {
                        product -= tile.min_units[index].0[lane] * part.sum;
                    }
                    sums.0[lane] += product;
                }
            }
        }
    }

    #[inline(always)]
    fn add_wide<B: Block>(self, tile: &Tile, _index: usize, parts: &[Part256], sums: &mut [Floats]) {
        let (groups, vectors) = (256 / B::GROUP, B::GROUP / 4);
        for (part, sums) in parts.iter().zip(sums) {
            let (mut totals, mut beside) = ([0; LANES], [0; LANES]);
            for group in 0..groups {
                let numbers = &part.numbers[vectors * group..][..vectors];
                let dots = dots(tile, vectors * group, numbers);
                for lane in 0..LANES {
                    totals[lane] += i32::from(tile.scales[group].0[2 * lane]) * dots[lane];
                }
            }
            for (pairs, two) in tile.beside[..groups / 2].iter().zip(part.sums) {
                let two: [i16; 2] = bytemuck::cast(two);
                for (sum, pair) in beside.iter_mut().zip(pairs.0.chunks_exact(2)) {
                    *sum += i32::from(pair[0]) * i32::from(two[0]) + i32::from(pair[1]) * i32::from(two[1]);
                }
            }
            for lane in 0..LANES {
                let unit = tile.units[0].0[lane] * part.scale;
                sums.0[lane] += if B::MINS {
                    let least = (tile.min_units[0].0[lane] * part.scale) * beside[lane] as f32;
                    unit * totals[lane] as f32 - least
                } else {
                    unit * (totals[lane] - i32::from(B::ZERO) * beside[lane]) as f32
                };
            }
        }
    }
}

/// A small integer of a row.
#[inline(always)]
fn number(small: &Small, lane: usize, index: usize) -> i16 {
    i16::from(small[index / 4].0[4 * lane + index % 4] as i8)
}

/// The products of the tile's numbers from vector `first` on with `numbers`.
#[inline(always)]
fn dots(tile: &Tile, first: usize, numbers: &[i32]) -> [i32; LANES] {
    let mut sums = [0; LANES];
    for (index, four) in numbers.iter().enumerate() {
        let four: [i8; 4] = bytemuck::cast(*four);
        let codes = &tile.codes[first + index].0;
        for lane in 0..LANES {
            for i in 0..4 {
                sums[lane] += i32::from(codes[4 * lane + i]) * i32::from(four[i]);
            }
        }
    }
    sums
}
