//! Blocks of a row by AVX-512: a vector has 64 neighbouring numbers.

use std::arch::x86_64::*;

use super::super::activations::Part256;
use super::super::avx512::{Avx512, halves, words};
use super::super::fill::{Groups, Plane, Planes};
use super::super::machine::Bits;
use super::super::tile::LANES;
use super::narrow::{Four32, Sixteen, Total, heads};
use super::{ByBlocks, Products, Sums, bytes, starts, whole_bytes};
use crate::quant::arrays::{array, array_like};
use crate::quant::block::{Block, double_word};

impl ByBlocks for Avx512 {
    const FIFTH_BITS: bool = true;
    const NARROW: usize = 4;

    #[inline(always)]
    fn narrow<B: Block>(self, blocks: Sixteen<'_>, parts: &[Four32], count: usize, totals: &mut [Total]) {
        // SAFETY: S22: an `Avx512` exists where it was detected.
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
        // SAFETY: S22: an `Avx512` exists where it was detected.
        unsafe { wide::<B>(blocks, parts, at, sums, products) }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn narrow<B: Block>(blocks: Sixteen<'_>, parts: &[Four32], count: usize, totals: &mut [Total]) {
    let blocks = array_like(&[][..], |row| &blocks[row][..4 * B::BYTES]);
    let [units, mins] = halves(words(heads::<B>(&blocks)));
    let (units, mins): (__m512, __m512) = (bytemuck::cast(units), bytemuck::cast(mins));
    let mut codes = [[_mm512_setzero_si512(); 4]; 2];
    for (pair, codes) in codes.iter_mut().enumerate() {
        for (codes, row) in codes.iter_mut().zip(&blocks) {
            *codes = numbers::<B>(&row[2 * pair * B::BYTES..][..2 * B::BYTES]);
        }
        *codes = by_rows(*codes);
    }
    for (part, to) in parts.iter().zip(totals) {
        let numbers: [[u8; 64]; 2] = bytemuck::cast(part.numbers);
        let mut dots = [_mm512_setzero_si512(); 2];
        for (pair, dot) in dots.iter_mut().enumerate() {
            let ([a, b, c, d], numbers) = (codes[pair], bytemuck::cast(numbers[pair]));
            *dot = _mm512_dpbusd_epi32(*dot, a, _mm512_shuffle_epi32::<0x00>(numbers));
            *dot = _mm512_dpbusd_epi32(*dot, b, _mm512_shuffle_epi32::<0x55>(numbers));
            *dot = _mm512_dpbusd_epi32(*dot, c, _mm512_shuffle_epi32::<0xaa>(numbers));
            *dot = _mm512_dpbusd_epi32(*dot, d, _mm512_shuffle_epi32::<0xff>(numbers));
        }
        // The halves of blocks.
        let mut total = quarters_added(dots[0], dots[1]);
        if B::ZERO != 0 {
            total = _mm512_sub_epi32(total, for_each_row(bytemuck::cast(part.zeros)));
        }
        let scales = _mm512_castsi512_ps(for_each_row(bytemuck::cast(part.scales)));
        let mut product = _mm512_mul_ps(_mm512_mul_ps(units, scales), _mm512_cvtepi32_ps(total));
        if B::MINS {
            // These formats add their minimum.
            let sums = _mm512_castsi512_ps(for_each_row(bytemuck::cast(part.sums)));
            product = _mm512_add_ps(product, _mm512_mul_ps(mins, sums));
        }
        add(to, product, count);
    }
}

/// Adds the products of the first `count` blocks of each row, in their order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn add(total: &mut Total, products: __m512, count: usize) {
    let mut sum: __m128 = bytemuck::cast(*total);
    if count == 4 {
        sum = _mm_add_ps(sum, _mm512_castps512_ps128(products));
        sum = _mm_add_ps(sum, _mm512_extractf32x4_ps::<1>(products));
        sum = _mm_add_ps(sum, _mm512_extractf32x4_ps::<2>(products));
        sum = _mm_add_ps(sum, _mm512_extractf32x4_ps::<3>(products));
    } else {
        let products: [[u8; 16]; 4] = bytemuck::cast(products);
        for products in &products[..count] {
            sum = _mm_add_ps(sum, bytemuck::cast(*products));
        }
    }
    *total = bytemuck::cast(sum);
}

/// Four times each of four.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn for_each_row(four: __m128i) -> __m512i {
    let order = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    _mm512_permutexvar_epi32(order, _mm512_castsi128_si512(four))
}

/// Of four rows: each vector's quarters have four bytes of each row, the first vector's the first ones of their quarters.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn by_rows([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (low, low2) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (high, high2) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(low, low2),
        _mm512_unpackhi_epi64(low, low2),
        _mm512_unpacklo_epi64(high, high2),
        _mm512_unpackhi_epi64(high, high2),
    ]
}

/// The numbers of two blocks, with the format's zero added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn numbers<B: Block>(blocks: &[u8]) -> __m512i {
    let (start, fifth) = starts::<B>();
    let (first, second) = blocks.split_at(B::BYTES);
    if whole_bytes::<B>() {
        let numbers = both(bytes(first, start), bytes(second, start));
        return _mm512_xor_si512(numbers, _mm512_set1_epi8(-128));
    }
    let first_twice = _mm512_broadcast_i32x4(bytemuck::cast(bytes::<16>(first, start)));
    let twice = _mm512_mask_broadcast_i32x4(first_twice, 0xff00, bytemuck::cast(bytes::<16>(second, start)));
    let shifts = _mm512_set_epi32(4, 4, 4, 4, 0, 0, 0, 0, 4, 4, 4, 4, 0, 0, 0, 0);
    let codes = _mm512_and_si512(_mm512_srlv_epi32(twice, shifts), _mm512_set1_epi8(15));
    match fifth {
        None => codes,
        Some(at) => {
            let (low, high) = (u64::from(double_word(&first[at..])), u64::from(double_word(&second[at..])));
            _mm512_mask_add_epi8(codes, low | high << 32, codes, _mm512_set1_epi8(16))
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn wide<B: Planes>(blocks: &[u8], parts: &[Part256], at: usize, sums: &mut [Sums], products: Products<'_>) {
    let rows = sums.len();
    let mut heads = [0; LANES];
    let mut part = at * rows;
    for (index, block) in blocks[..LANES * B::BYTES].chunks_exact(B::BYTES).enumerate() {
        let Groups { scales, mins, halves } = B::groups_of(block);
        heads[index] = halves;
        let scales = _mm256_cvtepi8_epi16(bytemuck::cast(scales));
        let beside = if B::MINS { _mm256_cvtepi8_epi16(bytemuck::cast(mins)) } else { scales };
        let (mut codes, mut spread) = ([_mm512_setzero_si512(); 4], [_mm512_setzero_si512(); 4]);
        for (quarter, (codes, spread)) in codes.iter_mut().zip(&mut spread).enumerate() {
            *codes = codes_of::<B>(block, quarter);
            // Behind the sixteen scales are zeros.
            let from: [i16; 32] =
                array(|i| if i % 2 == 0 { ((64 * quarter + 2 * i) / B::GROUP) as i16 } else { 16 });
            *spread = _mm512_permutexvar_epi16(bytemuck::cast(from), _mm512_zextsi256_si512(scales));
        }
        for (part, sums) in parts[part..][..rows].iter().zip(&mut *sums) {
            let mut total = _mm512_setzero_si512();
            let numbers: &[[i32; 16]] = part.numbers.as_chunks().0;
            for ((codes, numbers), spread) in codes.iter().zip(numbers).zip(spread) {
                // At most 4 · 63 · 127: the lower 16 bits. The upper ones are multiplied by the zeros beside scales.
                let dots = _mm512_dpbusd_epi32(_mm512_setzero_si512(), *codes, bytemuck::cast(*numbers));
                total = _mm512_dpwssd_epi32(total, dots, spread);
            }
            let beside = _mm256_madd_epi16(beside, bytemuck::cast(part.sums));
            if B::MINS {
                sums.besides[index] = bytemuck::cast(beside);
            } else {
                let zeros = _mm256_mullo_epi32(beside, _mm256_set1_epi32(i32::from(B::ZERO)));
                total = _mm512_sub_epi32(total, _mm512_zextsi256_si512(zeros));
            }
            sums.totals[index] = bytemuck::cast(total);
            sums.scales[index] = part.scale;
        }
        part += rows;
        if part == parts.len() {
            part = 0;
        }
    }
    let [units, mins] = halves(words(heads));
    let (units, mins): (__m512, __m512) = (bytemuck::cast(units), bytemuck::cast(mins));
    for (sums, products) in sums.iter().zip(products) {
        let scale: __m512 = bytemuck::cast(sums.scales);
        let total = sums_of(bytemuck::cast_ref(&sums.totals));
        let mut product = _mm512_mul_ps(_mm512_mul_ps(units, scale), _mm512_cvtepi32_ps(total));
        if B::MINS {
            let beside = _mm512_cvtepi32_ps(sums_of_halves(bytemuck::cast(sums.besides)));
            product = _mm512_sub_ps(product, _mm512_mul_ps(_mm512_mul_ps(mins, scale), beside));
        }
        *products = bytemuck::cast(product);
    }
}

/// A quarter of a block's numbers, with the format's zero added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn codes_of<B: Planes>(block: &[u8], quarter: usize) -> __m512i {
    let low = bits_of(block, B::LOW, quarter);
    match B::HIGH {
        None => low,
        Some(high) => _mm512_or_si512(low, bits_of(block, high, quarter)),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn bits_of(block: &[u8], plane: Plane, quarter: usize) -> __m512i {
    let ((first, bits), (second, other_bits)) = (plane.bits(2 * quarter), plane.bits(2 * quarter + 1));
    let low = bytes(block, plane.start + 32 * first);
    let high = bytes(block, plane.start + 32 * second);
    // Rotated, the bits stay in their bytes.
    let turn = |bits: Bits| bits.shift as i32 - bits.up as i32;
    let turns = _mm512_inserti64x4::<1>(_mm512_set1_epi32(turn(bits)), _mm256_set1_epi32(turn(other_bits)));
    let mask = _mm512_set1_epi8((bits.mask << bits.up) as i8);
    _mm512_and_si512(_mm512_rorv_epi32(both(low, high), turns), mask)
}

/// Two vectors as one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn both(low: [u8; 32], high: [u8; 32]) -> __m512i {
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(bytemuck::cast(low)), bytemuck::cast(high))
}

/// The sum of each vector's elements.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn sums_of(vectors: &[__m512i; 16]) -> __m512i {
    let mut fours = [_mm512_setzero_si512(); 4];
    for (sum, four) in fours.iter_mut().zip(vectors.as_chunks().0) {
        *sum = sums_in_quarters(*four);
    }
    let [a, b, c, d] = fours;
    quarters_added(quarters_added(a, b), quarters_added(c, d))
}

/// The sum of each half of each vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn sums_of_halves([a, b, c, d, e, f, g, h]: [__m512i; 8]) -> __m512i {
    // Of each four vectors first the lower halves.
    let sums = quarters_added(sums_in_quarters([a, b, c, d]), sums_in_quarters([e, f, g, h]));
    let order = _mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
    _mm512_permutexvar_epi32(order, sums)
}

/// Each quarter has the sums of that quarter of each vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn sums_in_quarters([a, b, c, d]: [__m512i; 4]) -> __m512i {
    let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))
}

/// The sums of the quarters of `a` by twos, then those of `b`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2,fma")]
fn quarters_added(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi32(_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xdd>(a, b))
}
