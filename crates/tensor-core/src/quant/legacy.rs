//! Blocks of 32 numbers with an `f16` scale: `q4_0`, `q4_1`, `q5_0`, `q5_1`, `q8_0`, `q8_1`.

use super::arrays::array;
use super::block::{Block, Unpacked, double_word, half, less, nibbles, part};
use super::pack::{Pack, extreme, inverse, put_half, put_nibbles};

/// `f16` scale, 32 · 4 bits.
pub(crate) struct Q4_0;
/// `f16` scale, `f16` minimum, 32 · 4 bits.
pub(crate) struct Q4_1;
/// `f16` scale, the 32 highest bits, 32 · 4 bits.
pub(crate) struct Q5_0;
/// `f16` scale, `f16` minimum, the 32 highest bits, 32 · 4 bits.
pub(crate) struct Q5_1;
/// `f16` scale, 32 · 8 bits.
pub(crate) struct Q8_0;
/// `f16` scale, `f16` sum of the values, 32 · 8 bits.
pub(crate) struct Q8_1;

impl Block for Q4_0 {
    const LENGTH: usize = 32;
    const BYTES: usize = 18;
    const GROUP: usize = 32;
    const ZERO: i16 = 8;
    const TOP: i16 = 15;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block);
        nibbles::<16>(part(block, 2), to.numbers, less(8));
    }
}

impl Block for Q4_1 {
    const LENGTH: usize = 32;
    const BYTES: usize = 20;
    const GROUP: usize = 32;
    const MINS: bool = true;
    const TOP: i16 = 15;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        // The format adds its minimum, and so it is negated.
        (to.units[0], to.min_units[0]) = (half(block), -half(&block[2..]));
        nibbles::<16>(part(block, 4), to.numbers, less(0));
    }
}

impl Block for Q5_0 {
    const LENGTH: usize = 32;
    const BYTES: usize = 22;
    const GROUP: usize = 32;
    const ZERO: i16 = 16;
    const TOP: i16 = 31;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block);
        nibbles::<16>(part(block, 6), to.numbers, less(16));
        add_high_bits(double_word(&block[2..]), to.numbers);
    }
}

impl Block for Q5_1 {
    const LENGTH: usize = 32;
    const BYTES: usize = 24;
    const GROUP: usize = 32;
    const MINS: bool = true;
    const TOP: i16 = 31;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        (to.units[0], to.min_units[0]) = (half(block), -half(&block[2..]));
        nibbles::<16>(part(block, 8), to.numbers, less(0));
        add_high_bits(double_word(&block[4..]), to.numbers);
    }
}

impl Block for Q8_0 {
    const LENGTH: usize = 32;
    const BYTES: usize = 34;
    const GROUP: usize = 32;
    const ZERO: i16 = 128;
    const TOP: i16 = 255;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block);
        to.numbers.copy_from_slice(bytemuck::cast_slice(&block[2..34]));
    }
}

impl Block for Q8_1 {
    const LENGTH: usize = 32;
    const BYTES: usize = 36;
    const GROUP: usize = 32;
    const ZERO: i16 = 128;
    const TOP: i16 = 255;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block);
        to.numbers.copy_from_slice(bytemuck::cast_slice(&block[4..36]));
    }
}

/// Adds the fifth bits, one for each number from the lowest on.
#[inline(always)]
fn add_high_bits(bits: u32, numbers: &mut [i8]) {
    let bytes = bits.to_le_bytes();
    let high: [i8; 32] = array(|i| if bytes[i / 8] & 1 << (i % 8) == 0 { 0 } else { 16 });
    for (number, high) in numbers.iter_mut().zip(high) {
        *number += high;
    }
}

impl Pack for Q4_0 {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let numbers = around_zero(values, 8.0, block);
        put_nibbles(&numbers, &mut block[2..]);
    }
}

impl Pack for Q4_1 {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let numbers = above_minimum(values, 15.0, block);
        put_nibbles(&numbers, &mut block[4..]);
    }
}

impl Pack for Q5_0 {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let numbers = around_zero(values, 16.0, block);
        block[2..6].copy_from_slice(&high_bits(&numbers).to_le_bytes());
        put_nibbles(&numbers, &mut block[6..]);
    }
}

impl Pack for Q5_1 {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let numbers = above_minimum(values, 31.0, block);
        block[4..8].copy_from_slice(&high_bits(&numbers).to_le_bytes());
        put_nibbles(&numbers, &mut block[8..]);
    }
}

impl Pack for Q8_0 {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let (scale, numbers) = signed_bytes(values);
        put_half(scale, block);
        block[2..].copy_from_slice(bytemuck::cast_slice(&numbers));
    }
}

impl Pack for Q8_1 {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let (scale, numbers) = signed_bytes(values);
        put_half(scale, block);
        let sum: i32 = numbers.iter().map(|number| i32::from(*number)).sum();
        put_half(sum as f32 * scale, &mut block[2..]);
        block[4..].copy_from_slice(bytemuck::cast_slice(&numbers));
    }
}

/// Writes the scale that maps the extreme value to −`half`. Returns the numbers plus `half`.
#[inline(always)]
fn around_zero(values: &[f32], half: f32, block: &mut [u8]) -> [u8; 32] {
    let scale = extreme(values) / -half;
    put_half(scale, block);
    // The numbers are rounded for the scale before its own rounding, as in ggml.
    let inverse = inverse(scale);
    // A conversion from a float truncates.
    array(|i| ((values[i] * inverse + (half + 0.5)) as u8).min(2 * half as u8 - 1))
}

/// Writes the scale and the minimum that map the values to 0..=`top`. Returns the numbers.
#[inline(always)]
fn above_minimum(values: &[f32], top: f32, block: &mut [u8]) -> [u8; 32] {
    let least = values.iter().fold(f32::MAX, |least, x| least.min(*x));
    let most = values.iter().fold(f32::MIN, |most, x| most.max(*x));
    let scale = (most - least) / top;
    put_half(scale, block);
    put_half(least, &mut block[2..]);
    let inverse = inverse(scale);
    array(|i| (((values[i] - least) * inverse + 0.5) as u8).min(top as u8))
}

/// The scale that maps the extreme value to 127 or −127, and the numbers, with halves rounded away from zero.
#[inline(always)]
pub(crate) fn signed_bytes(values: &[f32]) -> (f32, [i8; 32]) {
    let scale = extreme(values).abs() / 127.0;
    let inverse = inverse(scale);
    (scale, array(|i| (values[i] * inverse).round() as i8))
}

/// The fifth bits of the numbers, from the lowest on.
#[inline(always)]
fn high_bits(numbers: &[u8; 32]) -> u32 {
    numbers.iter().enumerate().fold(0, |bits, (index, number)| bits | u32::from(number >> 4 & 1) << index)
}
