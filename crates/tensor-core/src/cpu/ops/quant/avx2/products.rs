//! The innermost loops of products by AVX2: eight rows of the tile at a time.

use std::arch::x86_64::*;

use bytemuck::Pod;

use super::super::activations::{Part32, Part256};
use super::super::tile::{Bytes, Floats, Tile, two_planes};
use super::Avx2;
use crate::quant::block::Block;

/// Rows of activations that are multiplied together, so that numbers of the tile are read once for them.
const TOGETHER: usize = 4;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_narrow<B: Block>(tile: &Tile, index: usize, parts: &[Part32], sums: &mut [Floats]) {
    let (parts, rest) = parts.as_chunks::<TOGETHER>();
    let (sums, other_sums) = sums.as_chunks_mut::<TOGETHER>();
    for half in 0..2 {
        for (parts, sums) in parts.iter().zip(&mut *sums) {
            narrow::<B, TOGETHER>(tile, (index, half), parts, sums);
        }
        for (part, sums) in rest.as_chunks().0.iter().zip(other_sums.as_chunks_mut().0) {
            narrow::<B, 1>(tile, (index, half), part, sums);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn narrow<B: Block, const N: usize>(
    tile: &Tile,
    (index, half): (usize, usize),
    parts: &[Part32; N],
    sums: &mut [Floats; N],
) {
    let (groups, vectors) = (32 / B::GROUP, B::GROUP / 4);
    let ones = _mm256_set1_epi16(1);
    for group in 0..groups {
        let codes = &tile.codes[8 * index + vectors * group..][..vectors];
        let high = &tile.high[8 * index + vectors * group..][..vectors];
        let mut numbers = [&[][..]; N];
        for (numbers, part) in numbers.iter_mut().zip(parts) {
            *numbers = &part.numbers[vectors * group..][..vectors];
        }
        let mut totals = dots::<B, N>(codes, half, numbers, ones);
        if two_planes::<B, Avx2>() {
            let upper = dots::<B, N>(high, half, numbers, ones);
            for (total, upper) in totals.iter_mut().zip(upper) {
                *total = _mm256_add_epi32(*total, _mm256_slli_epi32::<4>(upper));
            }
        }
        let units = _mm256_castsi256_ps(half_of(&tile.units[groups * index + group], half));
        let mins = _mm256_castsi256_ps(half_of(&tile.min_units[index], half));
        for n in 0..N {
            let mut total = totals[n];
            if B::ZERO != 0 {
                let zeros = _mm256_set1_epi32(parts[n].zeros[group]);
                total = _mm256_sub_epi32(total, zeros);
            }
            let unit = _mm256_mul_ps(units, _mm256_set1_ps(parts[n].scale));
            let mut product = _mm256_mul_ps(unit, _mm256_cvtepi32_ps(total));
            if B::MINS {
                product = _mm256_sub_ps(product, _mm256_mul_ps(mins, _mm256_set1_ps(parts[n].sum)));
            }
            add_to(&mut sums[n], half, product);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_wide<B: Block>(tile: &Tile, parts: &[Part256], sums: &mut [Floats]) {
    let (parts, rest) = parts.as_chunks::<TOGETHER>();
    let (sums, other_sums) = sums.as_chunks_mut::<TOGETHER>();
    for half in 0..2 {
        for (parts, sums) in parts.iter().zip(&mut *sums) {
            wide::<B, TOGETHER>(tile, half, parts, sums);
        }
        for (part, sums) in rest.as_chunks().0.iter().zip(other_sums.as_chunks_mut().0) {
            wide::<B, 1>(tile, half, part, sums);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn wide<B: Block, const N: usize>(tile: &Tile, half: usize, parts: &[Part256; N], sums: &mut [Floats; N]) {
    let (groups, vectors) = (256 / B::GROUP, B::GROUP / 4);
    let zero = _mm256_setzero_si256();
    let (mut totals, mut uppers, mut beside) = ([zero; N], [zero; N], [zero; N]);
    for group in 0..groups {
        let scales = half_of(&tile.scales[group], half);
        let mut numbers = [&[][..]; N];
        for (numbers, part) in numbers.iter_mut().zip(parts) {
            *numbers = &part.numbers[vectors * group..][..vectors];
        }
        let codes = &tile.codes[vectors * group..][..vectors];
        for (total, dot) in totals.iter_mut().zip(dots::<B, N>(codes, half, numbers, scales)) {
            *total = _mm256_add_epi32(*total, dot);
        }
        if two_planes::<B, Avx2>() {
            let high = &tile.high[vectors * group..][..vectors];
            for (upper, dot) in uppers.iter_mut().zip(dots::<B, N>(high, half, numbers, scales)) {
                *upper = _mm256_add_epi32(*upper, dot);
            }
        }
    }
    for (pair, pairs) in tile.beside[..groups / 2].iter().enumerate() {
        let pairs = half_of(pairs, half);
        for (beside, part) in beside.iter_mut().zip(parts) {
            let products = _mm256_madd_epi16(pairs, _mm256_set1_epi32(part.sums[pair]));
            *beside = _mm256_add_epi32(*beside, products);
        }
    }
    let units = _mm256_castsi256_ps(half_of(&tile.units[0], half));
    let mins = _mm256_castsi256_ps(half_of(&tile.min_units[0], half));
    for n in 0..N {
        let scale = _mm256_set1_ps(parts[n].scale);
        let unit = _mm256_mul_ps(units, scale);
        let mut total = totals[n];
        if two_planes::<B, Avx2>() {
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
        add_to(&mut sums[n], half, product);
    }
}

/// How many products of four numbers can be added in 16 bits: a power of two.
const fn added<B: Block>() -> usize {
    let top = if two_planes::<B, Avx2>() { 15 } else { B::TOP as usize };
    // Each lane of 16 bits has the sum of two of the four.
    match i16::MAX as usize / (2 * 127 * top) {
        8.. => 8,
        4.. => 4,
        2.. => 2,
        _ => 1,
    }
}

/// The products of vectors of numbers with each of the `numbers`, times the scales of a group.
#[inline]
#[target_feature(enable = "avx2")]
fn dots<B: Block, const N: usize>(
    codes: &[Bytes],
    half: usize,
    numbers: [&[i32]; N],
    scales: __m256i,
) -> [__m256i; N] {
    let zero = _mm256_setzero_si256();
    let mut totals = [zero; N];
    for first in (0..B::GROUP / 4).step_by(added::<B>()) {
        let mut sums = [zero; N];
        for index in first..(first + added::<B>()).min(B::GROUP / 4) {
            let code = half_of(&codes[index], half);
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

#[inline]
#[target_feature(enable = "avx2")]
fn half_of<V: Pod>(vector: &V, half: usize) -> __m256i {
    let halves: &[[u8; 32]; 2] = bytemuck::cast_ref(vector);
    bytemuck::cast(halves[half])
}

/// Adds the products to half of the sums.
#[inline]
#[target_feature(enable = "avx2")]
fn add_to(sums: &mut Floats, half: usize, products: __m256) {
    let halves: &mut [[u8; 32]; 2] = bytemuck::cast_mut(sums);
    halves[half] = bytemuck::cast(_mm256_add_ps(bytemuck::cast(halves[half]), products));
}
