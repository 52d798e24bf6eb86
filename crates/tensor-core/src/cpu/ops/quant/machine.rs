//! The innermost loops of products, for any machine. The bits of results are the same on every machine.

use super::activations::{Part32, Part256};
use super::tile::{Bytes, Floats, LANES, Pairs, Tile, two_planes};
use crate::quant::arrays::{array, map};
use crate::quant::block::{Block, half_from_bits};

/// What the loops of products are compiled for.
pub(super) trait Machine: Copy {
    /// Interleaves rows of 32 numbers, and adds `zero` to each: vector `i` has the four numbers from 4 · i on of each row.
    fn interleave(self, rows: [&[i8; 32]; LANES], zero: u8, to: &mut [Bytes; 8]);

    /// Asks for memory that is read soon. Any address will do.
    fn prefetch(self, _address: *const u8) {}

    /// Leaves the lower 4 bits of each byte, and writes the upper 4 bits of each.
    fn split(self, codes: &mut [Bytes], high: &mut [Bytes]);

    /// Interleaves rows of 16 bytes with two numbers each: those in the lower halves come first.
    fn nibbles(self, rows: [&[u8; 16]; LANES], to: &mut [Bytes; 8]);

    /// Adds 16 to the numbers whose bits are set, for each row from the lowest bit on.
    fn add_fifth_bits(self, rows: [u32; LANES], to: &mut [Bytes; 8]);

    /// Adds 16 times the two bits from `shift` on of each byte to the numbers, which have no such bits.
    fn add_upper_bits(self, bits: &[Bytes; 8], shift: u32, to: &mut [Bytes; 8]);

    /// The values of `f16`.
    fn halves(self, bits: [u16; LANES]) -> Floats;

    /// Vector `i` has number `i` of each row, twice.
    fn spread(self, rows: &[[i8; 16]; LANES], to: &mut [Pairs]);

    /// Vector `i` has the numbers `2 · i` and `2 · i + 1` of each row.
    fn pair(self, rows: &[[i8; 16]; LANES], to: &mut [Pairs]);

    /// Adds the products of part `index` of the tile's blocks with each of the `parts` to its `sums`.
    fn add_narrow<B: Block>(self, tile: &Tile, index: usize, parts: &[Part32], sums: &mut [Floats]);

    /// As [`Machine::add_narrow`], of blocks with one unit, which are one part.
    fn add_wide<B: Block>(self, tile: &Tile, index: usize, parts: &[Part256], sums: &mut [Floats]);
}

/// No instructions in particular.
#[derive(Clone, Copy)]
pub(super) struct AnyMachine;

impl Machine for AnyMachine {
    #[inline(always)]
    fn interleave(self, rows: [&[i8; 32]; LANES], zero: u8, to: &mut [Bytes; 8]) {
        for (index, vector) in to.iter_mut().enumerate() {
            for (lane, four) in vector.chunks_exact_mut(4).enumerate() {
                for (to, number) in four.iter_mut().zip(&rows[lane][4 * index..]) {
                    *to = (*number as u8).wrapping_add(zero);
                }
            }
        }
    }

    #[inline(always)]
    fn split(self, codes: &mut [Bytes], high: &mut [Bytes]) {
        for (code, high) in codes.iter_mut().flatten().zip(high.iter_mut().flatten()) {
            (*code, *high) = (*code & 15, *code >> 4);
        }
    }

    #[inline(always)]
    fn nibbles(self, rows: [&[u8; 16]; LANES], to: &mut [Bytes; 8]) {
        for (index, vector) in to.iter_mut().enumerate() {
            for (lane, four) in vector.chunks_exact_mut(4).enumerate() {
                for (to, byte) in four.iter_mut().zip(&rows[lane][4 * (index % 4)..]) {
                    *to = byte >> (4 * (index / 4)) & 15;
                }
            }
        }
    }

    #[inline(always)]
    fn add_fifth_bits(self, rows: [u32; LANES], to: &mut [Bytes; 8]) {
        for (index, vector) in to.iter_mut().enumerate() {
            for (i, number) in vector.iter_mut().enumerate() {
                *number |= ((rows[i / 4] >> (4 * index + i % 4) & 1) << 4) as u8;
            }
        }
    }

    #[inline(always)]
    fn add_upper_bits(self, bits: &[Bytes; 8], shift: u32, to: &mut [Bytes; 8]) {
        for (number, bits) in to.iter_mut().flatten().zip(bits.iter().flatten()) {
            *number |= (bits >> shift & 3) << 4;
        }
    }

    #[inline(always)]
    fn halves(self, bits: [u16; LANES]) -> Floats {
        map(bits, half_from_bits)
    }

    #[inline(always)]
    fn spread(self, rows: &[[i8; 16]; LANES], to: &mut [Pairs]) {
        for (index, vector) in to.iter_mut().enumerate() {
            *vector = array(|i| i16::from(rows[i / 2][index]));
        }
    }

    #[inline(always)]
    fn pair(self, rows: &[[i8; 16]; LANES], to: &mut [Pairs]) {
        for (index, vector) in to.iter_mut().enumerate() {
            *vector = array(|i| i16::from(rows[i / 2][2 * index + i % 2]));
        }
    }

    #[inline(always)]
    fn add_narrow<B: Block>(self, tile: &Tile, index: usize, parts: &[Part32], sums: &mut [Floats]) {
        let (groups, vectors) = (32 / B::GROUP, B::GROUP / 4);
        for (part, sums) in parts.iter().zip(sums) {
            for group in 0..groups {
                let first = 8 * index + vectors * group;
                let numbers = &part.numbers[vectors * group..][..vectors];
                let dots = dots::<B>(tile, first, numbers);
                let units = &tile.units[groups * index + group];
                for lane in 0..LANES {
                    let dot = dots[lane] - i32::from(B::ZERO) * part.sums[group];
                    let mut product = (units[lane] * part.scale) * dot as f32;
                    if B::MINS {
                        product -= tile.min_units[index][lane] * part.sum;
                    }
                    sums[lane] += product;
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
                let dots = dots::<B>(tile, vectors * group, numbers);
                for lane in 0..LANES {
                    totals[lane] += i32::from(tile.scales.0[group][2 * lane]) * dots[lane];
                }
            }
            for (pairs, two) in tile.beside.0[..groups / 2].iter().zip(part.sums) {
                let two: [i16; 2] = bytemuck::cast(two);
                for lane in 0..LANES {
                    beside[lane] += i32::from(pairs[2 * lane]) * i32::from(two[0]);
                    beside[lane] += i32::from(pairs[2 * lane + 1]) * i32::from(two[1]);
                }
            }
            for lane in 0..LANES {
                let unit = tile.units[0][lane] * part.scale;
                sums[lane] += if B::MINS {
                    let least = (tile.min_units[0][lane] * part.scale) * beside[lane] as f32;
                    unit * totals[lane] as f32 - least
                } else {
                    unit * (totals[lane] - i32::from(B::ZERO) * beside[lane]) as f32
                };
            }
        }
    }
}

/// The products of the tile's numbers from vector `first` on with `numbers`.
#[inline(always)]
fn dots<B: Block>(tile: &Tile, first: usize, numbers: &[i32]) -> [i32; LANES] {
    let mut sums = [0; LANES];
    for (index, four) in numbers.iter().enumerate() {
        let four: [i8; 4] = bytemuck::cast(*four);
        let (codes, high) = (&tile.codes.0[first + index], &tile.high.0[first + index]);
        for lane in 0..LANES {
            for i in 0..4 {
                let mut code = i32::from(codes[4 * lane + i]);
                if two_planes::<B>() {
                    code |= i32::from(high[4 * lane + i]) << 4;
                }
                sums[lane] += code * i32::from(four[i]);
            }
        }
    }
    sums
}
