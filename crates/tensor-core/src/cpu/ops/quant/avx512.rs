//! The innermost loops of products by AVX-512 and its dot products of bytes (VNNI).

use std::arch::x86_64::*;

use super::activations::{Part32, Part256};
use super::machine::{Bits, Machine};
use super::tile::{Bytes, Floats, LANES, Pairs, Small, Tile};
use crate::quant::block::Block;

/// Rows of activations that are multiplied together, so that numbers of the tile are read once for them.
const TOGETHER: usize = 4;

/// The running machine, which has AVX-512 with VNNI.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    /// `None` if this machine does not have it.
    pub(super) fn detected() -> Option<Avx512> {
        let found = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vnni")
            && std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("fma");
        found.then_some(Avx512(()))
    }
}

impl Machine for Avx512 {
    const WHOLE_BYTES: bool = true;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { run(work) }
    }

    #[inline(always)]
    fn prefetch(self, address: *const u8) {
        // SAFETY: S22: every processor for x86-64 has this instruction. It gives the program nothing, and may get any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }

    #[inline(always)]
    fn interleave(self, rows: [&[u8; 16]; LANES]) -> [Bytes; 4] {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { interleave(rows) }
    }

    #[inline(always)]
    fn words(self, rows: [u32; LANES]) -> Bytes {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { words(rows) }
    }

    #[inline(always)]
    fn add(self, zero: u8, to: &mut [Bytes]) {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { add(zero, to) }
    }

    #[inline(always)]
    fn take<const N: usize, const P: usize>(self, planes: [(&[Bytes; N], Bits); P], to: &mut [Bytes; N]) {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { take(planes, to) }
    }

    #[inline(always)]
    fn add_fifth_bits(self, bits: Bytes, to: &mut [Bytes; 8]) {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { add_fifth_bits(bits, to) }
    }

    #[inline(always)]
    fn halves(self, both: Bytes) -> [Floats; 2] {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { halves(both) }
    }

    #[inline(always)]
    fn spread(self, small: &Small, to: &mut [Pairs]) {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { widened(small, [0, 0], 1, to) }
    }

    #[inline(always)]
    fn pair(self, small: &Small, to: &mut [Pairs]) {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { widened(small, [0, 1], 2, to) }
    }

    #[inline(always)]
    fn add_narrow<B: Block>(self, tile: &Tile, index: usize, parts: &[Part32], sums: &mut [Floats]) {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { add_narrow::<B>(tile, index, parts, sums) }
    }

    #[inline(always)]
    fn add_wide<B: Block>(self, tile: &Tile, _index: usize, parts: &[Part256], sums: &mut [Floats]) {
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { add_wide::<B>(tile, parts, sums) }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn run<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn interleave(rows: [&[u8; 16]; LANES]) -> [Bytes; 4] {
    let mut four = [_mm512_setzero_si512(); 4];
    for (row, four) in four.iter_mut().enumerate() {
        // Lane i of 128 bits has row 4 · i + `row`.
        let first = _mm512_castsi128_si512(bytemuck::cast(*rows[row]));
        let second = _mm512_inserti32x4::<1>(first, bytemuck::cast(*rows[row + 4]));
        let third = _mm512_inserti32x4::<2>(second, bytemuck::cast(*rows[row + 8]));
        *four = _mm512_inserti32x4::<3>(third, bytemuck::cast(*rows[row + 12]));
    }
    let [a, b, c, d] = four;
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    [
        bytemuck::cast(_mm512_unpacklo_epi64(ab, cd)),
        bytemuck::cast(_mm512_unpackhi_epi64(ab, cd)),
        bytemuck::cast(_mm512_unpacklo_epi64(ab_high, cd_high)),
        bytemuck::cast(_mm512_unpackhi_epi64(ab_high, cd_high)),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
pub(super) fn words(rows: [u32; LANES]) -> Bytes {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = rows;
    let low =
        _mm256_setr_epi32(a as i32, b as i32, c as i32, d as i32, e as i32, f as i32, g as i32, h as i32);
    let high =
        _mm256_setr_epi32(i as i32, j as i32, k as i32, l as i32, m as i32, n as i32, o as i32, p as i32);
    bytemuck::cast(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn add(zero: u8, to: &mut [Bytes]) {
    let zero = _mm512_set1_epi8(zero as i8);
    for to in to {
        *to = bytemuck::cast(_mm512_add_epi8(bytemuck::cast(*to), zero));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn take<const N: usize, const P: usize>(planes: [(&[Bytes; N], Bits); P], to: &mut [Bytes; N]) {
    for (index, to) in to.iter_mut().enumerate() {
        let mut sum = _mm512_setzero_si512();
        for (from, bits) in planes {
            // Shifts of 16 bits move bits from byte to byte: the mask takes a byte's own.
            let mask = _mm512_set1_epi8(bits.mask as i8);
            let (down, up) = (_mm_cvtsi32_si128(bits.shift as i32), _mm_cvtsi32_si128(bits.up as i32));
            let own = _mm512_and_si512(_mm512_srl_epi16(bytemuck::cast(from[index]), down), mask);
            sum = _mm512_or_si512(sum, _mm512_sll_epi16(own, up));
        }
        *to = bytemuck::cast(sum);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn add_fifth_bits(bits: Bytes, to: &mut [Bytes; 8]) {
    let mut bits: __m512i = bytemuck::cast(bits);
    // Byte 0 of each 32 bits, four times; one bit of each.
    let first = _mm512_broadcast_i32x4(_mm_set_epi64x(0x0c0c0c0c_08080808, 0x04040404_00000000));
    let (one, sixteen) = (_mm512_set1_epi32(0x08040201), _mm512_set1_epi8(16));
    for codes in to {
        let fifth = _mm512_test_epi8_mask(_mm512_shuffle_epi8(bits, first), one);
        let all: __m512i = bytemuck::cast(*codes);
        *codes = bytemuck::cast(_mm512_mask_add_epi8(all, fifth, all, sixteen));
        bits = _mm512_srli_epi32::<4>(bits);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
pub(super) fn halves(both: Bytes) -> [Floats; 2] {
    let both: __m512i = bytemuck::cast(both);
    let first = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(both));
    let second = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(both)));
    [bytemuck::cast(first), bytemuck::cast(second)]
}

/// Of each row two numbers as 16 bits: those at `first`, and in each further vector `step` later.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn widened(small: &Small, first: [i8; 2], step: usize, to: &mut [Pairs]) {
    // The bytes become the upper halves of 16 bits, and are shifted down with their signs.
    let [a, b] = first;
    let each =
        _mm_setr_epi8(-1, a, -1, b, -1, 4 + a, -1, 4 + b, -1, 8 + a, -1, 8 + b, -1, 12 + a, -1, 12 + b);
    let each = _mm512_broadcast_i32x4(each);
    for (index, to) in to.iter_mut().enumerate() {
        let at = index * step;
        let positions = _mm512_add_epi8(each, _mm512_set1_epi16(((at % 4) << 8) as i16));
        let numbers = _mm512_shuffle_epi8(bytemuck::cast(small[at / 4]), positions);
        *to = bytemuck::cast(_mm512_srai_epi16::<8>(numbers));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn narrow<B: Block, const N: usize>(tile: &Tile, index: usize, parts: &[Part32; N], sums: &mut [Floats; N]) {
    let (groups, vectors) = (32 / B::GROUP, B::GROUP / 4);
    for group in 0..groups {
        let codes = &tile.codes[8 * index + vectors * group..][..vectors];
        let mut numbers = [&[][..]; N];
        for (numbers, part) in numbers.iter_mut().zip(parts) {
            *numbers = &part.numbers[vectors * group..][..vectors];
        }
        let totals = dots(codes, numbers);
        let units: __m512 = bytemuck::cast(tile.units[groups * index + group]);
        let mins: __m512 = bytemuck::cast(tile.min_units[index]);
        for n in 0..N {
            let mut total = totals[n];
            if B::ZERO != 0 {
                let zeros = _mm512_set1_epi32(parts[n].zeros[group]);
                total = _mm512_sub_epi32(total, zeros);
            }
            let unit = _mm512_mul_ps(units, _mm512_set1_ps(parts[n].scale));
            let mut product = _mm512_mul_ps(unit, _mm512_cvtepi32_ps(total));
            if B::MINS {
                product = _mm512_sub_ps(product, _mm512_mul_ps(mins, _mm512_set1_ps(parts[n].sum)));
            }
            sums[n] = bytemuck::cast(_mm512_add_ps(bytemuck::cast(sums[n]), product));
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn wide<B: Block, const N: usize>(tile: &Tile, parts: &[Part256; N], sums: &mut [Floats; N]) {
    let (groups, vectors) = (256 / B::GROUP, B::GROUP / 4);
    let zero = _mm512_setzero_si512();
    let (mut totals, mut beside) = ([zero; N], [zero; N]);
    for group in 0..groups {
        let codes = &tile.codes[vectors * group..][..vectors];
        let mut numbers = [&[][..]; N];
        for (numbers, part) in numbers.iter_mut().zip(parts) {
            *numbers = &part.numbers[vectors * group..][..vectors];
        }
        let scales = _mm512_srai_epi32::<16>(bytemuck::cast(tile.scales[group]));
        for (total, dot) in totals.iter_mut().zip(dots(codes, numbers)) {
            *total = _mm512_add_epi32(*total, _mm512_mullo_epi32(dot, scales));
        }
    }
    for (pair, pairs) in tile.beside[..groups / 2].iter().enumerate() {
        for (beside, part) in beside.iter_mut().zip(parts) {
            let two = _mm512_set1_epi32(part.sums[pair]);
            *beside = _mm512_dpwssd_epi32(*beside, bytemuck::cast(*pairs), two);
        }
    }
    let units: __m512 = bytemuck::cast(tile.units[0]);
    let mins: __m512 = bytemuck::cast(tile.min_units[0]);
    for n in 0..N {
        let scale = _mm512_set1_ps(parts[n].scale);
        let unit = _mm512_mul_ps(units, scale);
        let mut total = totals[n];
        if !B::MINS {
            let zeros = _mm512_mullo_epi32(beside[n], _mm512_set1_epi32(i32::from(B::ZERO)));
            total = _mm512_sub_epi32(total, zeros);
        }
        let mut product = _mm512_mul_ps(unit, _mm512_cvtepi32_ps(total));
        if B::MINS {
            let least = _mm512_mul_ps(_mm512_mul_ps(mins, scale), _mm512_cvtepi32_ps(beside[n]));
            product = _mm512_sub_ps(product, least);
        }
        sums[n] = bytemuck::cast(_mm512_add_ps(bytemuck::cast(sums[n]), product));
    }
}

/// The products of vectors of numbers with each of the `numbers`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn dots<const N: usize>(codes: &[Bytes], numbers: [&[i32]; N]) -> [__m512i; N] {
    let mut totals = [_mm512_setzero_si512(); N];
    for (index, code) in codes.iter().enumerate() {
        for (total, numbers) in totals.iter_mut().zip(&numbers) {
            *total = _mm512_dpbusd_epi32(*total, bytemuck::cast(*code), _mm512_set1_epi32(numbers[index]));
        }
    }
    totals
}
