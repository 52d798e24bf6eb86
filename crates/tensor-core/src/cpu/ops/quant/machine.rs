//! The innermost loops of products, for any machine. The bits of results are the same on every machine.

use super::activations::{Part32, Part256};
use super::tile::{Bytes, Floats, LANES, Pairs, Tile, two_planes};
use crate::quant::block::Block;

/// What the loops of products are compiled for.
pub(super) trait Machine: Copy {
    /// Interleaves rows of 32 numbers, and adds `zero` to each: vector `i` has the four numbers from 4 · i on of each row.
    fn interleave(self, rows: [&[i8; 32]; LANES], zero: u8, to: &mut [Bytes; 8]);

    /// Adds the products of part `place` of the tile's blocks with each of the `parts` to its `sums`.
    fn add_narrow<B: Block>(self, tile: &Tile, place: usize, parts: &[Part32], sums: &mut [Floats]);

    /// As [`Machine::add_narrow`], of blocks with one unit.
    fn add_wide<B: Block>(self, tile: &Tile, parts: &[Part256], sums: &mut [Floats]);
}

/// No instructions in particular.
#[derive(Clone, Copy)]
pub(super) struct AnyMachine;

impl Machine for AnyMachine {
    #[inline(always)]
    fn interleave(self, rows: [&[i8; 32]; LANES], zero: u8, to: &mut [Bytes; 8]) {
        for (place, vector) in to.iter_mut().enumerate() {
            for (lane, four) in vector.chunks_exact_mut(4).enumerate() {
                for (to, number) in four.iter_mut().zip(&rows[lane][4 * place..]) {
                    *to = (*number as u8).wrapping_add(zero);
                }
            }
        }
    }

    #[inline(always)]
    fn add_narrow<B: Block>(self, tile: &Tile, place: usize, parts: &[Part32], sums: &mut [Floats]) {
        let (groups, vectors) = (32 / B::GROUP, B::GROUP / 4);
        for (part, sums) in parts.iter().zip(sums) {
            for group in 0..groups {
                let first = 8 * place + vectors * group;
                let numbers = &part.numbers[vectors * group..][..vectors];
                let dots = dots::<B>(tile, first, numbers);
                let units = &tile.units[groups * place + group];
                for lane in 0..LANES {
                    let dot = dots[lane] - i32::from(B::ZERO) * part.sums[group];
                    let mut product = (units[lane] * part.scale) * dot as f32;
                    if B::MINS {
                        product -= tile.min_units[place][lane] * part.sum;
                    }
                    sums[lane] += product;
                }
            }
        }
    }

    #[inline(always)]
    fn add_wide<B: Block>(self, tile: &Tile, parts: &[Part256], sums: &mut [Floats]) {
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
    for (place, four) in numbers.iter().enumerate() {
        let four: [i8; 4] = bytemuck::cast(*four);
        let (codes, high) = (&tile.codes.0[first + place], &tile.high.0[first + place]);
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

const _: () = assert!(size_of::<Pairs>() == size_of::<Bytes>() && size_of::<Floats>() == size_of::<Bytes>());
