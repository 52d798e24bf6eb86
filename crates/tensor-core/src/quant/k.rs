//! Blocks of 256 numbers whose groups have small scales of their own: `q2_K` to `q6_K` and `q8_K`.

use super::arrays::{array, map};
use super::block::{Block, Unpacked, double_word, half, less, nibbles, pairs, part};

/// 16 · 4 bits of scale and of minimum, 256 · 2 bits, `f16` unit of the scales, `f16` unit of the minima.
pub(crate) struct Q2K;
/// The 256 highest bits, 256 · 2 bits, 16 · 6 bits of scale, `f16` unit of the scales.
pub(crate) struct Q3K;
/// `f16` unit of the scales, `f16` unit of the minima, 8 · 6 bits of scale and of minimum, 256 · 4 bits.
pub(crate) struct Q4K;
/// As `Q4K`, with the 256 highest bits before the others.
pub(crate) struct Q5K;
/// The lower 4 bits of 256, the upper 2 bits, 16 · 8 bits of scale, `f16` unit of the scales.
pub(crate) struct Q6K;
/// `f32` scale, 256 · 8 bits, 16 sums of 16 integers each as `i16`.
pub(crate) struct Q8K;

impl Block for Q2K {
    const LENGTH: usize = 256;
    const BYTES: usize = 84;
    const GROUP: usize = 16;
    const UNIT: usize = 256;
    const MINS: bool = true;
    const TOP: i16 = 3;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        (to.units[0], to.min_units[0]) = (half(&block[80..]), half(&block[82..]));
        let small: [u8; 16] = part(block, 0);
        to.scales.copy_from_slice(&map(small, |bits| (bits & 15) as i8));
        to.mins.copy_from_slice(&map(small, |bits| (bits >> 4) as i8));
        pairs(&block[16..80], to.numbers, less(0));
    }
}

impl Block for Q3K {
    const LENGTH: usize = 256;
    const BYTES: usize = 110;
    const GROUP: usize = 16;
    const UNIT: usize = 256;
    const ZERO: i16 = 4;
    const TOP: i16 = 7;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(&block[108..]);
        to.scales.copy_from_slice(&scales_of_q3_k(block));
        pairs(&block[32..96], to.numbers, less(4));
        add_high_bits(part(block, 0), to.numbers, 4);
    }
}

impl Block for Q4K {
    const LENGTH: usize = 256;
    const BYTES: usize = 144;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const MINS: bool = true;
    const TOP: i16 = 15;

    #[inline(always)]
    fn unpack(block: &[u8], mut to: Unpacked<'_>) {
        set_groups(part(block, 0), &mut to);
        for (bytes, numbers) in block[16..144].chunks_exact(32).zip(to.numbers.chunks_exact_mut(64)) {
            nibbles::<32>(part(bytes, 0), numbers, less(0));
        }
    }
}

impl Block for Q5K {
    const LENGTH: usize = 256;
    const BYTES: usize = 176;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const MINS: bool = true;
    const TOP: i16 = 31;

    #[inline(always)]
    fn unpack(block: &[u8], mut to: Unpacked<'_>) {
        set_groups(part(block, 0), &mut to);
        for (bytes, numbers) in block[48..176].chunks_exact(32).zip(to.numbers.chunks_exact_mut(64)) {
            nibbles::<32>(part(bytes, 0), numbers, less(0));
        }
        add_high_bits(part(block, 16), to.numbers, 16);
    }
}

impl Block for Q6K {
    const LENGTH: usize = 256;
    const BYTES: usize = 210;
    const GROUP: usize = 16;
    const UNIT: usize = 256;
    const ZERO: i16 = 32;
    const TOP: i16 = 63;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(&block[208..]);
        to.scales.copy_from_slice(bytemuck::cast_slice(&block[192..208]));
        let (low, high) = (block[..128].chunks_exact(64), block[128..192].chunks_exact(32));
        for ((low, high), numbers) in low.zip(high).zip(to.numbers.chunks_exact_mut(128)) {
            nibbles::<64>(part(low, 0), numbers, less(32));
            let high: [u8; 32] = part(high, 0);
            for (shift, numbers) in numbers.chunks_exact_mut(32).enumerate() {
                for (bits, number) in high.iter().zip(numbers) {
                    *number += ((bits >> (2 * shift) & 3) << 4) as i8;
                }
            }
        }
    }
}

impl Block for Q8K {
    const LENGTH: usize = 256;
    const BYTES: usize = 292;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const ZERO: i16 = 128;
    const TOP: i16 = 255;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = f32::from_le_bytes(part(block, 0));
        to.scales.fill(1);
        to.numbers.copy_from_slice(bytemuck::cast_slice(&block[4..260]));
    }
}

/// Adds `value` where a bit is set. Byte `i` has the bits of the numbers `i`, `i + 32`, … from the lowest on.
#[inline(always)]
fn add_high_bits(bits: [u8; 32], numbers: &mut [i8], value: i8) {
    let numbers: &mut [i8; 256] = numbers.first_chunk_mut().expect("the numbers of a block");
    // In this order the compiler vectorises over i.
    for i in 0..32 {
        for shift in 0..8 {
            numbers[32 * shift + i] += if bits[i] >> shift & 1 == 0 { 0 } else { value };
        }
    }
}

/// The eight scales and minima of `q4_K` and `q5_K`, from the first 16 bytes of a block.
#[inline(always)]
fn set_groups(head: [u8; 16], to: &mut Unpacked<'_>) {
    (to.units[0], to.min_units[0]) = (half(&head), half(&head[2..]));
    let small = small_scales(part(&head, 4));
    to.scales.copy_from_slice(bytemuck::cast_slice(&small[0]));
    to.mins.copy_from_slice(bytemuck::cast_slice(&small[1]));
}

/// The scales of a block of `q3_K`: 6 bits in two parts, less 32.
#[inline(always)]
pub(crate) fn scales_of_q3_k(block: &[u8]) -> [i8; 16] {
    let [first, second, upper] = array(|i| double_word(&block[96 + 4 * i..]));
    let low = [first, second, first >> 4, second >> 4];
    // Four scales at a time.
    let scales: [u32; 4] = array(|four| low[four] & 0x0f0f_0f0f | (upper >> (2 * four) & 0x0303_0303) << 4);
    let scales: [i8; 16] =
        bytemuck::cast([scales[0].to_le(), scales[1].to_le(), scales[2].to_le(), scales[3].to_le()]);
    map(scales, |scale| scale - 32)
}

/// Eight scales and eight minima of 6 bits. The lower bits of the first four are in the first eight bytes, in whose highest
/// bits are the upper bits of the last four; the lower bits of those are in the last four bytes.
#[inline(always)]
pub(crate) fn small_scales(packed: [u8; 12]) -> [[u8; 8]; 2] {
    let [scales, mins, late] = array(|i| double_word(&packed[4 * i..]));
    // Four at a time.
    let both = |first: u32, lower: u32| {
        let second = lower & 0x0f0f_0f0f | first >> 2 & 0x3030_3030;
        bytemuck::cast([(first & 0x3f3f_3f3f).to_le(), second.to_le()])
    };
    [both(scales, late), both(mins, late >> 4)]
}
