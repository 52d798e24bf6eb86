//! The innermost loops of products by AVX2.

use std::arch::x86_64::*;

use super::activations::{Part32, Part256};
use super::machine::Machine;
use super::tile::{Bytes, Floats, LANES, Pairs, Tile, added, two_planes};
use crate::quant::block::Block;

/// Rows of activations that are multiplied together, so that numbers of the tile are read once for them.
const TOGETHER: usize = 4;

/// The running machine, which has AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// `None` if this machine does not have it.
    pub(super) fn detected() -> Option<Avx2> {
        std::is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }
}

impl Machine for Avx2 {
    #[inline(always)]
    fn interleave(self, rows: [&[i8; 32]; LANES], zero: u8, to: &mut [Bytes; 8]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { interleave(rows, zero, to) }
    }

    #[inline(always)]
    fn prefetch(self, address: *const u8) {
        // SAFETY: S22: every processor for x86-64 has this instruction. It gives the program nothing, and may get any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }

    #[inline(always)]
    fn split(self, codes: &mut [Bytes], high: &mut [Bytes]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { split(codes, high) }
    }

    #[inline(always)]
    fn nibbles(self, rows: [&[u8; 16]; LANES], to: &mut [Bytes; 8]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { nibbles(rows, to) }
    }

    #[inline(always)]
    fn add_fifth_bits(self, rows: [u32; LANES], to: &mut [Bytes; 8]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { add_fifth_bits(rows, to) }
    }

    #[inline(always)]
    fn add_upper_bits(self, bits: &[Bytes; 8], shift: u32, to: &mut [Bytes; 8]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { add_upper_bits(bits, shift, to) }
    }

    #[inline(always)]
    fn halves(self, bits: [u16; LANES]) -> Floats {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { halves(bits) }
    }

    #[inline(always)]
    fn spread(self, rows: &[[i8; 16]; LANES], to: &mut [Pairs]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { widened(rows, [0, 0], 1, to) }
    }

    #[inline(always)]
    fn pair(self, rows: &[[i8; 16]; LANES], to: &mut [Pairs]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { widened(rows, [0, 1], 2, to) }
    }

    #[inline(always)]
    fn add_narrow<B: Block>(self, tile: &Tile, index: usize, parts: &[Part32], sums: &mut [Floats]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { add_narrow::<B>(tile, index, parts, sums) }
    }

    #[inline(always)]
    fn add_wide<B: Block>(self, tile: &Tile, _index: usize, parts: &[Part256], sums: &mut [Floats]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { add_wide::<B>(tile, parts, sums) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn interleave(rows: [&[i8; 32]; LANES], zero: u8, to: &mut [Bytes; 8]) {
    let zero = _mm256_set1_epi8(zero as i8);
    let mut from = [zero; LANES];
    for (vector, row) in from.iter_mut().zip(rows) {
        *vector = _mm256_add_epi8(bytemuck::cast(*row), zero);
    }
    for (to, vector) in to.iter_mut().zip(transpose(from)) {
        *to = bytemuck::cast(vector);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn nibbles(rows: [&[u8; 16]; LANES], to: &mut [Bytes; 8]) {
    let lower = _mm256_set1_epi8(15);
    for (index, both) in interleave_16(rows).into_iter().enumerate() {
        to[index] = bytemuck::cast(_mm256_and_si256(both, lower));
        to[index + 4] = bytemuck::cast(_mm256_and_si256(_mm256_srli_epi16::<4>(both), lower));
    }
}

/// Vector `i` of the result has the four bytes from 4 · i on of each row.
#[inline]
#[target_feature(enable = "avx2")]
fn interleave_16(rows: [&[u8; 16]; LANES]) -> [__m256i; 4] {
    let mut both = [_mm256_setzero_si256(); 4];
    for (row, both) in both.iter_mut().enumerate() {
        let (low, high) = (bytemuck::cast(*rows[row]), bytemuck::cast(*rows[row + 4]));
        *both = _mm256_set_m128i(high, low);
    }
    quarters(both[0], both[1], both[2], both[3])
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_fifth_bits(rows: [u32; LANES], to: &mut [Bytes; 8]) {
    let [a, b, c, d, e, f, g, h] = rows.map(|bits| bits as i32);
    let mut bits = _mm256_setr_epi32(a, b, c, d, e, f, g, h);
    // Byte 0 of each 32 bits, four times; one bit of each.
    let first =
        _mm256_set_epi64x(0x0c0c0c0c_08080808, 0x04040404_00000000, 0x0c0c0c0c_08080808, 0x04040404_00000000);
    let one = _mm256_set1_epi32(0x08040201);
    for codes in to {
        let own = _mm256_and_si256(_mm256_shuffle_epi8(bits, first), one);
        let fifth = _mm256_and_si256(_mm256_cmpeq_epi8(own, one), _mm256_set1_epi8(16));
        *codes = bytemuck::cast(_mm256_or_si256(bytemuck::cast(*codes), fifth));
        bits = _mm256_srli_epi32::<4>(bits);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_upper_bits(bits: &[Bytes; 8], shift: u32, to: &mut [Bytes; 8]) {
    // Shifts of 16 bits move bits from byte to byte: the mask takes a byte's own.
    let (shift, two) = (_mm_cvtsi32_si128(shift as i32), _mm256_set1_epi8(3));
    for (codes, bits) in to.iter_mut().zip(bits) {
        let own = _mm256_and_si256(_mm256_srl_epi16(bytemuck::cast(*bits), shift), two);
        let upper = _mm256_slli_epi16::<4>(own);
        *codes = bytemuck::cast(_mm256_or_si256(bytemuck::cast(*codes), upper));
    }
}

/// As `half_from_bits`.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(bits: [u16; LANES]) -> Floats {
    let [a, b, c, d, e, f, g, h] = bits.map(|bits| bits as i16);
    let bits = _mm256_cvtepu16_epi32(_mm_setr_epi16(a, b, c, d, e, f, g, h));
    let magnitude = _mm256_slli_epi32::<13>(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fff)));
    let scale = _mm256_castsi256_ps(_mm256_set1_epi32((127 + 112) << 23));
    let value = _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(magnitude), scale));
    let is_special = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x0f7f_ffff));
    let special = _mm256_and_si256(is_special, _mm256_set1_epi32(0x7f80_0000));
    let sign = _mm256_slli_epi32::<31>(_mm256_srli_epi32::<15>(bits));
    bytemuck::cast(_mm256_or_si256(_mm256_or_si256(value, special), sign))
}

/// Of each row two numbers as 16 bits: those at `first`, and in each further vector `step` later.
#[inline]
#[target_feature(enable = "avx2")]
fn widened(rows: &[[i8; 16]; LANES], first: [i8; 2], step: usize, to: &mut [Pairs]) {
    let rows: &[[u8; 16]; LANES] = bytemuck::cast_ref(rows);
    let vectors =
        interleave_16([&rows[0], &rows[1], &rows[2], &rows[3], &rows[4], &rows[5], &rows[6], &rows[7]]);
    // The bytes become the upper halves of 16 bits, and are shifted down with their signs.
    let [a, b] = first;
    let each =
        _mm_setr_epi8(-1, a, -1, b, -1, 4 + a, -1, 4 + b, -1, 8 + a, -1, 8 + b, -1, 12 + a, -1, 12 + b);
    let each = _mm256_set_m128i(each, each);
    for (index, to) in to.iter_mut().enumerate() {
        let at = index * step;
        let positions = _mm256_add_epi8(each, _mm256_set1_epi16(((at % 4) << 8) as i16));
        let bytes = _mm256_shuffle_epi8(vectors[at / 4], positions);
        *to = bytemuck::cast(_mm256_srai_epi16::<8>(bytes));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn split(codes: &mut [Bytes], high: &mut [Bytes]) {
    let lower = _mm256_set1_epi8(15);
    for (code, high) in codes.iter_mut().zip(high) {
        let both: __m256i = bytemuck::cast(*code);
        *code = bytemuck::cast(_mm256_and_si256(both, lower));
        *high = bytemuck::cast(_mm256_and_si256(_mm256_srli_epi16::<4>(both), lower));
    }
}

/// Vector `i` of the result has element `i`, of 32 bits, of each vector.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d, e, f, g, h]: [__m256i; LANES]) -> [__m256i; LANES] {
    let (low, high) = (quarters(a, b, c, d), quarters(e, f, g, h));
    let mut to = [a; LANES];
    for i in 0..4 {
        to[i] = _mm256_permute2x128_si256::<0x20>(low[i], high[i]);
        to[i + 4] = _mm256_permute2x128_si256::<0x31>(low[i], high[i]);
    }
    to
}

/// Vector `i` of the result has the elements `i` and `i + 4` of each vector.
#[inline]
#[target_feature(enable = "avx2")]
fn quarters(a: __m256i, b: __m256i, c: __m256i, d: __m256i) -> [__m256i; 4] {
    let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_narrow<B: Block>(tile: &Tile, index: usize, parts: &[Part32], sums: &mut [Floats]) {
    let (parts, rest) = parts.as_chunks::<TOGETHER>();
    let (sums, other_sums) = sums.as_chunks_mut::<TOGETHER>();
    for (parts, sums) in parts.iter().zip(sums) {
        narrow::<B, TOGETHER>(tile, index, parts, sums);
    }
    for (part, sums) in rest.as_chunks().0.iter().zip(other_sums.as_chunks_mut().0) {
        narrow::<B, 1>(tile, index, part, sums);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn narrow<B: Block, const N: usize>(tile: &Tile, index: usize, parts: &[Part32; N], sums: &mut [Floats; N]) {
    let (groups, vectors) = (32 / B::GROUP, B::GROUP / 4);
    let ones = _mm256_set1_epi16(1);
    for group in 0..groups {
        let codes = &tile.codes.0[8 * index + vectors * group..][..vectors];
        let high = &tile.high.0[8 * index + vectors * group..][..vectors];
        let mut numbers = [&[][..]; N];
        for (numbers, part) in numbers.iter_mut().zip(parts) {
            *numbers = &part.numbers[vectors * group..][..vectors];
        }
        let mut totals = dots::<B, N>(codes, numbers, ones);
        if two_planes::<B>() {
            let upper = dots::<B, N>(high, numbers, ones);
            for (total, upper) in totals.iter_mut().zip(upper) {
                *total = _mm256_add_epi32(*total, _mm256_slli_epi32::<4>(upper));
            }
        }
        let units: __m256 = bytemuck::cast(tile.units[groups * index + group]);
        let mins: __m256 = bytemuck::cast(tile.min_units[index]);
        for n in 0..N {
            let mut total = totals[n];
            if B::ZERO != 0 {
                let zeros = _mm256_set1_epi32(i32::from(B::ZERO) * parts[n].sums[group]);
                total = _mm256_sub_epi32(total, zeros);
            }
            let unit = _mm256_mul_ps(units, _mm256_set1_ps(parts[n].scale));
            let mut product = _mm256_mul_ps(unit, _mm256_cvtepi32_ps(total));
            if B::MINS {
                product = _mm256_sub_ps(product, _mm256_mul_ps(mins, _mm256_set1_ps(parts[n].sum)));
            }
            sums[n] = bytemuck::cast(_mm256_add_ps(bytemuck::cast(sums[n]), product));
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_wide<B: Block>(tile: &Tile, parts: &[Part256], sums: &mut [Floats]) {
    let (parts, rest) = parts.as_chunks::<TOGETHER>();
    let (sums, other_sums) = sums.as_chunks_mut::<TOGETHER>();
    for (parts, sums) in parts.iter().zip(sums) {
        wide::<B, TOGETHER>(tile, parts, sums);
    }
    for (part, sums) in rest.as_chunks().0.iter().zip(other_sums.as_chunks_mut().0) {
        wide::<B, 1>(tile, part, sums);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn wide<B: Block, const N: usize>(tile: &Tile, parts: &[Part256; N], sums: &mut [Floats; N]) {
    let (groups, vectors) = (256 / B::GROUP, B::GROUP / 4);
    let zero = _mm256_setzero_si256();
    let (mut totals, mut uppers, mut beside) = ([zero; N], [zero; N], [zero; N]);
    for group in 0..groups {
        let scales: __m256i = bytemuck::cast(tile.scales.0[group]);
        let mut numbers = [&[][..]; N];
        for (numbers, part) in numbers.iter_mut().zip(parts) {
            *numbers = &part.numbers[vectors * group..][..vectors];
        }
        let codes = &tile.codes.0[vectors * group..][..vectors];
        for (total, dot) in totals.iter_mut().zip(dots::<B, N>(codes, numbers, scales)) {
            *total = _mm256_add_epi32(*total, dot);
        }
        if two_planes::<B>() {
            let high = &tile.high.0[vectors * group..][..vectors];
            for (upper, dot) in uppers.iter_mut().zip(dots::<B, N>(high, numbers, scales)) {
                *upper = _mm256_add_epi32(*upper, dot);
            }
        }
    }
    for (pair, pairs) in tile.beside.0[..groups / 2].iter().enumerate() {
        let pairs: __m256i = bytemuck::cast(*pairs);
        for (beside, part) in beside.iter_mut().zip(parts) {
            let products = _mm256_madd_epi16(pairs, _mm256_set1_epi32(part.sums[pair]));
            *beside = _mm256_add_epi32(*beside, products);
        }
    }
    let units: __m256 = bytemuck::cast(tile.units[0]);
    let mins: __m256 = bytemuck::cast(tile.min_units[0]);
    for n in 0..N {
        let scale = _mm256_set1_ps(parts[n].scale);
        let unit = _mm256_mul_ps(units, scale);
        let mut total = totals[n];
        if two_planes::<B>() {
            total = _mm256_add_epi32(total, _mm256_slli_epi32::<4>(uppers[n]));
        }
        if !B::MINS {
            let zeros = _mm256_mullo_epi32(beside[n], _mm256_set1_epi32(i32::from(B::ZERO)));
            total = _mm256_sub_epi32(total, zeros);
        }
        let mut product = _mm256_mul_ps(unit, _mm256_cvtepi32_ps(total));
        if B::MINS {
            let least = _mm256_mul_ps(_mm256_mul_ps(mins, scale), _mm256_cvtepi32_ps(beside[n]));
            product = _mm256_sub_ps(product, least);
        }
        sums[n] = bytemuck::cast(_mm256_add_ps(bytemuck::cast(sums[n]), product));
    }
}

/// The products of vectors of numbers with each of the `numbers`, times the scales of a group.
#[inline]
#[target_feature(enable = "avx2")]
fn dots<B: Block, const N: usize>(codes: &[Bytes], numbers: [&[i32]; N], scales: __m256i) -> [__m256i; N] {
    let zero = _mm256_setzero_si256();
    let mut totals = [zero; N];
    for first in (0..B::GROUP / 4).step_by(added::<B>()) {
        let mut sums = [zero; N];
        for index in first..(first + added::<B>()).min(B::GROUP / 4) {
            let code: __m256i = bytemuck::cast(codes[index]);
            for (sum, numbers) in sums.iter_mut().zip(&numbers) {
                let products = _mm256_maddubs_epi16(code, _mm256_set1_epi32(numbers[index]));
                *sum = _mm256_add_epi16(*sum, products);
            }
        }
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total = _mm256_add_epi32(*total, _mm256_madd_epi16(sum, scales));
        }
    }
    totals
}
