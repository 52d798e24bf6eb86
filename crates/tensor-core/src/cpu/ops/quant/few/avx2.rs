//! Blocks of a row by AVX2: a vector has 32 neighbouring numbers.

use std::arch::x86_64::*;

use super::super::activations::Part256;
use super::super::avx2::{Avx2, halves, words};
use super::super::fill::{Groups, Plane, Planes};
use super::super::tile::LANES;
use super::narrow::{Four32, Sixteen, Total, block_at, heads};
use super::{ByBlocks, Products, Sums, bytes, starts, whole_bytes};
use crate::quant::arrays::array;
use crate::quant::block::{Block, double_word};

impl ByBlocks for Avx2 {
    const FIFTH_BITS: bool = false;
    const NARROW: usize = 1;

    #[inline(always)]
    fn narrow<B: Block>(self, blocks: Sixteen<'_>, parts: &[Four32], count: usize, totals: &mut [Total]) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { narrow::<B>(blocks, parts, count, totals) }
    }

    #[inline(always)]
    fn wide<B: Planes>(
        self,
        blocks: &[u8],
        parts: &[Part256],
        at: usize,
        sums: &mut [Sums],
        products: Products<'_>,
    ) {
        // SAFETY: S22: an `Avx2` exists where it was detected.
        unsafe { wide::<B>(blocks, parts, at, sums, products) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn narrow<B: Block>(blocks: Sixteen<'_>, parts: &[Four32], count: usize, totals: &mut [Total]) {
    let [units, mins]: [[__m256; 2]; 2] = bytemuck::cast(halves(words(heads::<B>(&blocks))));
    let mut codes = [_mm256_setzero_si256(); LANES];
    for (index, codes) in codes.iter_mut().enumerate() {
        *codes = codes_of::<B>(block_at::<B>(&blocks, index));
    }
    for (part, to) in parts.iter().zip(totals) {
        for half in 0..2 {
            let mut dots = [_mm256_setzero_si256(); 8];
            for (index, dot) in dots.iter_mut().enumerate() {
                let (codes, numbers) = (codes[8 * half + index], part.numbers[2 * half + index / 4]);
                let numbers = bytemuck::cast(numbers);
                let pairs = if whole_bytes::<B>() {
                    // At most 2 · 128 · 127.
                    _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(numbers, codes))
                } else {
                    _mm256_maddubs_epi16(codes, numbers)
                };
                *dot = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
            }
            let mut total = sums_of(dots);
            if B::ZERO != 0 && !whole_bytes::<B>() {
                total = _mm256_sub_epi32(total, bytemuck::cast(for_each_row(part.zeros, half)));
            }
            let unit = _mm256_mul_ps(units[half], bytemuck::cast(for_each_row(part.scales, half)));
            let mut product = _mm256_mul_ps(unit, _mm256_cvtepi32_ps(total));
            if B::MINS {
                // These formats add their minimum.
                let sums = bytemuck::cast(for_each_row(part.sums, half));
                product = _mm256_add_ps(product, _mm256_mul_ps(mins[half], sums));
            }
            add(to, product, count.saturating_sub(2 * half));
        }
    }
}

/// Adds the products of the first blocks of each row, at most two of each and at most `count`.
#[inline]
#[target_feature(enable = "avx2")]
fn add(total: &mut Total, products: __m256, count: usize) {
    let mut sum: __m128 = bytemuck::cast(*total);
    if count > 0 {
        sum = _mm_add_ps(sum, _mm256_castps256_ps128(products));
    }
    if count > 1 {
        sum = _mm_add_ps(sum, _mm256_extractf128_ps::<1>(products));
    }
    *total = bytemuck::cast(sum);
}

/// Four times each of two.
#[inline(always)]
fn for_each_row<T: Copy + Default>(four: [T; 4], half: usize) -> [T; 8] {
    array(|index| four[2 * half + index / 4])
}

/// The numbers of a block: signed ones of 8 bits, others with the format's zero added.
#[inline]
#[target_feature(enable = "avx2")]
fn codes_of<B: Block>(block: &[u8]) -> __m256i {
    let (start, fifth) = starts::<B>();
    if whole_bytes::<B>() {
        return bytemuck::cast(bytes::<32>(block, start));
    }
    let twice = _mm256_broadcastsi128_si256(bytemuck::cast(bytes::<16>(block, start)));
    let shifted = _mm256_srlv_epi32(twice, _mm256_set_epi32(4, 4, 4, 4, 0, 0, 0, 0));
    let codes = _mm256_and_si256(shifted, _mm256_set1_epi8(15));
    match fifth {
        None => codes,
        Some(at) => {
            // Byte i / 8 for number i.
            let bits = _mm256_set1_epi32(double_word(&block[at..]) as i32);
            let bytes = _mm256_set_epi64x(
                0x03030303_03030303,
                0x02020202_02020202,
                0x01010101_01010101,
                0x00000000_00000000,
            );
            let one = _mm256_set1_epi64x(0x80402010_08040201u64 as i64);
            let own = _mm256_and_si256(_mm256_shuffle_epi8(bits, bytes), one);
            let fifth = _mm256_and_si256(_mm256_cmpeq_epi8(own, one), _mm256_set1_epi8(16));
            _mm256_or_si256(codes, fifth)
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn wide<B: Planes>(blocks: &[u8], parts: &[Part256], at: usize, sums: &mut [Sums], products: Products<'_>) {
    let rows = sums.len();
    let mut heads = [0; LANES];
    let mut part = at * rows;
    for (index, block) in blocks[..LANES * B::BYTES].chunks_exact(B::BYTES).enumerate() {
        let Groups { scales, mins, halves } = B::groups_of(block);
        heads[index] = halves;
        let scales: __m128i = bytemuck::cast(scales);
        let wide_scales = _mm256_cvtepi8_epi16(scales);
        let beside = if B::MINS { _mm256_cvtepi8_epi16(bytemuck::cast(mins)) } else { wide_scales };
        // Each half of the vector has those of its half of 32 numbers.
        let order: [u8; 16] = array(|i| if B::GROUP == 16 { 2 * i % 16 + i / 8 } else { i % 8 } as u8);
        let halves = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(scales, bytemuck::cast(order)));
        let (mut codes, mut spread) = ([_mm256_setzero_si256(); 8], [_mm256_setzero_si256(); 8]);
        for (group, (codes, spread)) in codes.iter_mut().zip(&mut spread).enumerate() {
            *codes = group_of::<B>(block, group);
            let word = (2 * group + 1) << 8 | (2 * group);
            *spread = _mm256_shuffle_epi8(halves, _mm256_set1_epi16(word as i16));
        }
        for (part, sums) in parts[part..][..rows].iter().zip(&mut *sums) {
            let mut total = _mm256_setzero_si256();
            let numbers: &[[i32; 8]] = part.numbers.as_chunks().0;
            for ((codes, numbers), spread) in codes.iter().zip(numbers).zip(spread) {
                // At most 2 · 63 · 127.
                let pairs = _mm256_maddubs_epi16(*codes, bytemuck::cast(*numbers));
                total = _mm256_add_epi32(total, _mm256_madd_epi16(pairs, spread));
            }
            let beside = _mm256_madd_epi16(beside, bytemuck::cast(part.sums));
            if B::MINS {
                sums.besides[index] = bytemuck::cast(beside);
            } else {
                let zeros = _mm256_mullo_epi32(beside, _mm256_set1_epi32(i32::from(B::ZERO)));
                total = _mm256_sub_epi32(total, zeros);
            }
            bytemuck::cast_mut::<_, [[u8; 32]; 2 * LANES]>(&mut sums.totals)[index] = bytemuck::cast(total);
            sums.scales[index] = part.scale;
        }
        part += rows;
        if part == parts.len() {
            part = 0;
        }
    }
    let [units, mins]: [[__m256; 2]; 2] = bytemuck::cast(halves(words(heads)));
    for (sums, products) in sums.iter().zip(products) {
        let scales: [__m256; 2] = bytemuck::cast(sums.scales);
        let halves: &mut [[u8; 32]; 2] = bytemuck::cast_mut(products);
        for (half, to) in halves.iter_mut().enumerate() {
            let (totals, besides): (&[[u8; 32]], &[[u8; 32]]) =
                (bytemuck::cast_slice(&sums.totals), &sums.besides);
            let unit = _mm256_mul_ps(units[half], scales[half]);
            let mut product = _mm256_mul_ps(
                unit,
                _mm256_cvtepi32_ps(sums_of(bytemuck::cast(totals.as_chunks::<8>().0[half]))),
            );
            if B::MINS {
                let beside = _mm256_cvtepi32_ps(sums_of(bytemuck::cast(besides.as_chunks::<8>().0[half])));
                let least = _mm256_mul_ps(_mm256_mul_ps(mins[half], scales[half]), beside);
                product = _mm256_sub_ps(product, least);
            }
            *to = bytemuck::cast(product);
        }
    }
}

/// 32 of a block's numbers, with the format's zero added.
#[inline]
#[target_feature(enable = "avx2")]
fn group_of<B: Planes>(block: &[u8], group: usize) -> __m256i {
    let low = bits_of(block, B::LOW, group);
    match B::HIGH {
        None => low,
        Some(high) => _mm256_or_si256(low, bits_of(block, high, group)),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn bits_of(block: &[u8], plane: Plane, group: usize) -> __m256i {
    let (source, bits) = plane.bits(group);
    let from = bytemuck::cast(bytes::<32>(block, plane.start + 32 * source));
    // Shifts of 16 bits move bits from byte to byte: the mask takes a byte's own.
    let moved = if bits.shift >= bits.up {
        _mm256_srl_epi16(from, _mm_cvtsi32_si128((bits.shift - bits.up) as i32))
    } else {
        _mm256_sll_epi16(from, _mm_cvtsi32_si128((bits.up - bits.shift) as i32))
    };
    _mm256_and_si256(moved, _mm256_set1_epi8((bits.mask << bits.up) as i8))
}

/// The sum of each vector's elements.
#[inline]
#[target_feature(enable = "avx2")]
fn sums_of([a, b, c, d, e, f, g, h]: [__m256i; 8]) -> __m256i {
    let (first, second) = (sums_in_halves([a, b, c, d]), sums_in_halves([e, f, g, h]));
    let low = _mm256_permute2x128_si256::<0x20>(first, second);
    _mm256_add_epi32(low, _mm256_permute2x128_si256::<0x31>(first, second))
}

/// Each half has the sums of that half of each vector.
#[inline]
#[target_feature(enable = "avx2")]
fn sums_in_halves([a, b, c, d]: [__m256i; 4]) -> __m256i {
    let ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd))
}
