//! Tiles by AVX2: a vector is two of its registers, of the first eight rows and of the others.

mod products;

use std::arch::x86_64::*;

use super::activations::{Part32, Part256};
use super::machine::{Bits, Machine};
use super::tile::{Bytes, Floats, LANES, Pairs, Small, Tile};
use crate::cpu::vector::vectorised;
use crate::quant::block::Block;

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
    const WHOLE_BYTES: bool = false;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        vectorised(work)
    }

    #[inline(always)]
    fn prefetch(self, address: *const u8) {
        // SAFETY: S22: every processor for x86-64 has this instruction. It gives the program nothing, and may get any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }

    #[inline(always)]
    fn interleave(self, rows: [&[u8; 16]; LANES]) -> [Bytes; 4] {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { interleave(rows) }
    }

    #[inline(always)]
    fn words(self, rows: [u32; LANES]) -> Bytes {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { words(rows) }
    }

    #[inline(always)]
    fn add(self, zero: u8, to: &mut [Bytes]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { add(zero, to) }
    }

    #[inline(always)]
    fn split(self, codes: &mut [Bytes], high: &mut [Bytes]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { split(codes, high) }
    }

    #[inline(always)]
    fn take<const N: usize, const P: usize>(self, planes: [(&[Bytes; N], Bits); P], to: &mut [Bytes; N]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { take(planes, to) }
    }

    #[inline(always)]
    fn add_fifth_bits(self, bits: Bytes, to: &mut [Bytes; 8]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { add_fifth_bits(bits, to) }
    }

    #[inline(always)]
    fn halves(self, both: Bytes) -> [Floats; 2] {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { halves(both) }
    }

    #[inline(always)]
    fn spread(self, small: &Small, to: &mut [Pairs]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { widened(small, [0, 0], 1, to) }
    }

    #[inline(always)]
    fn pair(self, small: &Small, to: &mut [Pairs]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { widened(small, [0, 1], 2, to) }
    }

    #[inline(always)]
    fn add_narrow<B: Block>(self, tile: &Tile, index: usize, parts: &[Part32], sums: &mut [Floats]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { products::add_narrow::<B>(tile, index, parts, sums) }
    }

    #[inline(always)]
    fn add_wide<B: Block>(self, tile: &Tile, _index: usize, parts: &[Part256], sums: &mut [Floats]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { products::add_wide::<B>(tile, parts, sums) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn interleave(rows: [&[u8; 16]; LANES]) -> [Bytes; 4] {
    let mut low = [_mm256_setzero_si256(); 4];
    let mut high = low;
    for row in 0..4 {
        low[row] = _mm256_set_m128i(bytemuck::cast(*rows[row + 4]), bytemuck::cast(*rows[row]));
        high[row] = _mm256_set_m128i(bytemuck::cast(*rows[row + 12]), bytemuck::cast(*rows[row + 8]));
    }
    let (low, high) = (quarters(low), quarters(high));
    let mut to = [Bytes::default(); 4];
    for i in 0..4 {
        to[i] = bytemuck::cast([low[i], high[i]]);
    }
    to
}

/// Vector `i` of the result has the elements `i` and `i + 4` of each vector.
#[inline]
#[target_feature(enable = "avx2")]
fn quarters([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
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
pub(super) fn words(rows: [u32; LANES]) -> Bytes {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = rows;
    let low =
        _mm256_setr_epi32(a as i32, b as i32, c as i32, d as i32, e as i32, f as i32, g as i32, h as i32);
    let high =
        _mm256_setr_epi32(i as i32, j as i32, k as i32, l as i32, m as i32, n as i32, o as i32, p as i32);
    bytemuck::cast([low, high])
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(zero: u8, to: &mut [Bytes]) {
    let zero = _mm256_set1_epi8(zero as i8);
    for to in to {
        let [low, high] = both_of(&*to);
        *to = bytemuck::cast([_mm256_add_epi8(low, zero), _mm256_add_epi8(high, zero)]);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn split(codes: &mut [Bytes], high: &mut [Bytes]) {
    for (code, high) in codes.iter_mut().zip(high) {
        let both = [*code];
        let bits = |shift| Bits { shift, mask: 15, up: 0 };
        take([(&both, bits(0))], std::slice::from_mut(code).first_chunk_mut().expect("one"));
        take([(&both, bits(4))], std::slice::from_mut(high).first_chunk_mut().expect("one"));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn take<const N: usize, const P: usize>(planes: [(&[Bytes; N], Bits); P], to: &mut [Bytes; N]) {
    for (index, to) in to.iter_mut().enumerate() {
        let mut sum = [_mm256_setzero_si256(); 2];
        for (from, bits) in planes {
            // Shifts of 16 bits move bits from byte to byte: the mask takes a byte's own.
            let mask = _mm256_set1_epi8(bits.mask as i8);
            let (down, up) = (_mm_cvtsi32_si128(bits.shift as i32), _mm_cvtsi32_si128(bits.up as i32));
            for (sum, from) in sum.iter_mut().zip(both_of(&from[index])) {
                let own = _mm256_and_si256(_mm256_srl_epi16(from, down), mask);
                *sum = _mm256_or_si256(*sum, _mm256_sll_epi16(own, up));
            }
        }
        *to = bytemuck::cast(sum);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_fifth_bits(bits: Bytes, to: &mut [Bytes; 8]) {
    let mut bits = both_of(&bits);
    // Byte 0 of each 32 bits, four times; one bit of each.
    let first =
        _mm256_set_epi64x(0x0c0c0c0c_08080808, 0x04040404_00000000, 0x0c0c0c0c_08080808, 0x04040404_00000000);
    let one = _mm256_set1_epi32(0x08040201);
    for codes in to {
        let mut halves = both_of(&*codes);
        for (codes, bits) in halves.iter_mut().zip(&mut bits) {
            let own = _mm256_and_si256(_mm256_shuffle_epi8(*bits, first), one);
            let fifth = _mm256_and_si256(_mm256_cmpeq_epi8(own, one), _mm256_set1_epi8(16));
            *codes = _mm256_or_si256(*codes, fifth);
            *bits = _mm256_srli_epi32::<4>(*bits);
        }
        *codes = bytemuck::cast(halves);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn halves(both: Bytes) -> [Floats; 2] {
    let [low, high] = both_of(&both);
    let lower = _mm256_set1_epi32(0xffff);
    let first = [half(_mm256_and_si256(low, lower)), half(_mm256_and_si256(high, lower))];
    let second = [half(_mm256_srli_epi32::<16>(low)), half(_mm256_srli_epi32::<16>(high))];
    [bytemuck::cast(first), bytemuck::cast(second)]
}

/// As `half_from_bits`.
#[inline]
#[target_feature(enable = "avx2")]
fn half(bits: __m256i) -> __m256i {
    let magnitude = _mm256_slli_epi32::<13>(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fff)));
    let scale = _mm256_castsi256_ps(_mm256_set1_epi32((127 + 112) << 23));
    let value = _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(magnitude), scale));
    let is_special = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x0f7f_ffff));
    let special = _mm256_and_si256(is_special, _mm256_set1_epi32(0x7f80_0000));
    let sign = _mm256_slli_epi32::<31>(_mm256_srli_epi32::<15>(bits));
    _mm256_or_si256(_mm256_or_si256(value, special), sign)
}

/// Of each row two numbers as 16 bits: those at `first`, and in each further vector `step` later.
#[inline]
#[target_feature(enable = "avx2")]
fn widened(small: &Small, first: [i8; 2], step: usize, to: &mut [Pairs]) {
    // The bytes become the upper halves of 16 bits, and are shifted down with their signs.
    let [a, b] = first;
    let each =
        _mm_setr_epi8(-1, a, -1, b, -1, 4 + a, -1, 4 + b, -1, 8 + a, -1, 8 + b, -1, 12 + a, -1, 12 + b);
    let each = _mm256_set_m128i(each, each);
    for (index, to) in to.iter_mut().enumerate() {
        let at = index * step;
        let positions = _mm256_add_epi8(each, _mm256_set1_epi16(((at % 4) << 8) as i16));
        let [low, high] = both_of(&small[at / 4]);
        let low = _mm256_srai_epi16::<8>(_mm256_shuffle_epi8(low, positions));
        let high = _mm256_srai_epi16::<8>(_mm256_shuffle_epi8(high, positions));
        *to = bytemuck::cast([low, high]);
    }
}

/// The first eight rows, and the others.
#[inline]
#[target_feature(enable = "avx2")]
fn both_of(vector: &Bytes) -> [__m256i; 2] {
    bytemuck::cast(*vector)
}
