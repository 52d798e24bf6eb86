//! Products compared with those of the dequantized weights in `f64`, within derived bounds, and those of machines with
//! each other.

use super::super::{quantize, unpack};
use super::*;
use crate::quant::Row;

/// The unit roundoffs of `f32` and of `f16`, and half the smallest `f16`.
const ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;
const HALF_ROUNDOFF: f64 = 1.0 / (1 << 11) as f64;
const TINY: f64 = 1.0 / (1 << 25) as f64;

/// What this machine has, by name. Says what it lacks.
fn machines() -> Vec<(&'static str, Found)> {
    let mut machines = vec![("any instructions", Found::Any)];
    #[cfg(target_arch = "x86_64")]
    {
        let found = [
            ("AVX2", Avx2::detected().map(Found::Avx2)),
            ("AVX-512 with VNNI", Avx512::detected().map(Found::Avx512)),
        ];
        for (name, machine) in found {
            match machine {
                Some(machine) => machines.push((name, machine)),
                None => eprintln!("skipped: this machine does not have {name}"),
            }
        }
    }
    machines
}

/// Numbers from −1 to 1 that look random.
fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Blocks of `count` numbers: quantized ones, or random bits in which each 16-bit word is a small `f16`, so that it can
/// be a scale.
fn weights(format: QuantFormat, count: usize) -> Vec<u8> {
    if format.can_quantize() {
        return quantize(format, &noise(count, 1)).unwrap();
    }
    let bits = noise(count / format.block_size() * format.type_size(), 2);
    let byte = |(index, x): (usize, &f32)| (x * 128.0) as i8 as u8 & if index % 2 == 1 { 0x2f } else { 0xff };
    bits.iter().enumerate().map(byte).collect()
}

/// The product of a row of weights and a row of activations in `f64`, and how far ours may be from it.
///
/// Let w = scale · number − min be a weight, c = |scale · number| + |min|, and s = max |x| / 127 of the activations x that
/// share a scale.
///
/// - x becomes s · q with an error of at most 0.5001 · s: half a step, and 127 · 2 roundoffs of its quotient. It is
///   multiplied by |w|.
/// - Where 32 activations share a scale, s and s · Σq are rounded to `f16`: by a roundoff of `f16`, or half the smallest
///   `f16`. What is multiplied by them is together at most c · |q|, |q| ≤ 127.
/// - The rest is exact but for roundings of `f32`, which a term passes through: those of s, of its product with the unit,
///   of the integer sum, of the product of these, of the difference with the minimum (7), of w here (2), and of one
///   addition for each group, or for each block of 256.
fn expected(format: QuantFormat, row: &Row, width: usize, x: &[f32]) -> (f64, f64) {
    let (mut product, mut moved, mut terms, mut sizes) = (0.0, 0.0, 0.0, 0.0);
    let mut values = vec![0.0; width];
    row.dequantize(&mut values);
    let shared = if format.block_size() == 256 { 256 } else { 32 };
    for (j, w) in values.iter().enumerate() {
        let most = x[j / shared * shared..][..shared].iter().fold(0f32, |most, x| most.max(x.abs()));
        let step = 0.5001 * f64::from(most) / 127.0;
        let (w, x) = (f64::from(*w), f64::from(x[j]));
        product += w * x;
        moved += w.abs() * step;
        terms += row.size(j) * (x.abs() + step);
        sizes += row.size(j);
    }
    let half = if shared == 32 { HALF_ROUNDOFF * terms + 127.0 * TINY * sizes } else { 0.0 };
    let additions = if shared == 32 { width / 16 } else { width / 256 };
    (product, moved + half + terms * ROUNDOFF * (9 + additions) as f64)
}

#[test]
fn quant_products_are_within_the_bound() {
    let machines = machines();
    for format in QuantFormat::ALL {
        let length = format.block_size();
        // One or two rows without tiles: of whole sixteens of blocks, of fewer, and of rows that begin within sixteen.
        let shapes =
            [(1, 1, 1), (1, 5, 3), (2, 17, 5), (3, 7, 2), (4, 16, 3), (8, 1, 5), (9, 19, 3), (9, 40, 1)];
        for (rows, columns, blocks) in shapes {
            let width = blocks * length;
            let blocks = weights(format, columns * width);
            let mut values = noise(rows * width, 3);
            // An outlier, and a part without any scale.
            values[width - 1] = 30.0;
            values[..16].fill(0.0);
            let mut of_first = Vec::new();
            for (name, machine) in &machines {
                let products = product_on(*machine, format, &blocks, &values, width, "test").unwrap();
                if of_first.is_empty() {
                    is_within_the_bound(format, (&blocks, columns), (&values, width), &products);
                    of_first = products;
                } else {
                    assert_eq!(of_first, products, "{format} {rows} {columns} {width}: by {name}");
                }
            }
        }
    }
}

fn is_within_the_bound(
    format: QuantFormat,
    (blocks, columns): (&[u8], usize),
    (values, width): (&[f32], usize),
    products: &[f32],
) {
    assert_eq!(products.len(), values.len() / width * columns);
    let bytes = row_bytes(format, width);
    for (index, got) in products.iter().enumerate() {
        let (i, j) = (index / columns, index % columns);
        let mut row = Row::default();
        unpack(format, &blocks[j * bytes..][..bytes], &mut row);
        let (product, bound) = expected(format, &row, width, &values[i * width..][..width]);
        let error = (f64::from(*got) - product).abs();
        assert!(error <= bound, "{format} {i} {j} {width}: {got} {product}, {error:e} {bound:e}");
    }
}

#[test]
fn quant_products_do_not_depend_on_the_number_of_rows() {
    let (rows, columns, width) = (70, 19, 256 * 35);
    for format in [QuantFormat::Q4_1, QuantFormat::Q8_0, QuantFormat::Q6K] {
        let blocks = weights(format, columns * width);
        let values = noise(rows * width, 3);
        let all = product(format, &blocks, &values, width, "test").unwrap();
        for (row, count) in [(0, 1), (28, 1), (60, 4), (63, 5), (68, 2)] {
            let own = &values[row * width..][..count * width];
            let own = product(format, &blocks, own, width, "test").unwrap();
            assert_eq!(own, all[row * columns..][..count * columns], "{format} {row}");
        }
    }
}

/// By the formulas of `quantize_row_q8_0`, `quantize_row_q8_1` and `quantize_row_q8_K_ref`.
#[test]
fn quant_activations_are_rounded_as_in_ggml() {
    let values: Vec<f32> = (0..256).map(|i| 0.7 * (2 * (i * 37 % 256) - 203) as f32).collect();
    let most = values.iter().fold(0f32, |most, x| most.max(x.abs()));
    let part = Part256::new::<k::Q6K>(&values);
    let inverse = 127.0 / most;
    assert_eq!(part.scale, 1.0 / inverse);
    let numbers: &[i8] = bytemuck::cast_slice(&part.numbers);
    assert!(numbers.iter().zip(&values).all(|(q, x)| f32::from(*q) == (x * inverse).round_ties_even()));
    let sums: &[i16] = bytemuck::cast_slice(&part.sums);
    let sum = |numbers: &[i8]| numbers.iter().map(|q| i16::from(*q)).sum::<i16>();
    assert!(sums.iter().zip(numbers.chunks_exact(16)).all(|(got, numbers)| *got == sum(numbers)));

    let part = Part32::new::<legacy::Q4_1>(&values[..32]);
    let most = values[..32].iter().fold(0f32, |most, x| most.max(x.abs()));
    let scale = most / 127.0;
    assert_eq!(part.scale, half::f16::from_f32(scale).to_f32());
    let numbers: &[i8] = bytemuck::cast_slice(&part.numbers);
    let nearest = |x: f32| (x * (127.0 / most)).round_ties_even();
    assert!(numbers.iter().zip(&values).all(|(q, x)| f32::from(*q) == nearest(*x)));
    assert_eq!(part.sum, half::f16::from_f32(scale * f32::from(sum(numbers))).to_f32());
}

#[test]
fn quant_experts_get_their_rows() {
    let (format, columns, width) = (QuantFormat::Q5_1, 3, 64);
    let blocks = weights(format, 4 * columns * width);
    let values = noise(5 * width, 4);
    // Expert 1 has ten rows, expert 3 none.
    let mut pairs: Vec<(usize, usize)> = (0..10).map(|index| (index % 5, 1)).collect();
    pairs.extend([(4, 2), (0, 0), (2, 2)]);
    let got = product_of_experts(format, &blocks, (columns, width), &values, &pairs, "test").unwrap();
    let matrix = columns * row_bytes(format, width);
    for ((row, expert), got) in pairs.iter().zip(got.chunks_exact(columns)) {
        let x = &values[row * width..][..width];
        let own = product(format, &blocks[expert * matrix..][..matrix], x, width, "test").unwrap();
        assert_eq!(got, own, "{row} {expert}");
    }
}

#[test]
fn quant_products_of_nan_and_infinity_are_no_numbers() {
    for format in
        [QuantFormat::Q4_0, QuantFormat::Q4_1, QuantFormat::Q8_0, QuantFormat::Q4K, QuantFormat::Q6K]
    {
        for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let blocks = weights(format, 256);
            let mut values = noise(9 * 256, 5);
            values[40] = special;
            let products = product(format, &blocks, &values, 256, "test").unwrap();
            assert!(products[0].is_nan(), "{format} {special}");
            assert!(products[1..].iter().all(|x| x.is_finite()), "{format} {special}");
        }
    }
}

#[test]
fn quant_products_of_large_activations_are_finite() {
    // Their scales are beyond the largest f16.
    for format in [QuantFormat::Q4_1, QuantFormat::Q8_0, QuantFormat::Q5K] {
        let blocks = weights(format, 256);
        let small = noise(256, 6);
        let large: Vec<f32> = small.iter().map(|x| x * 2f32.powi(60)).collect();
        let [small, large] = [small, large].map(|x| product(format, &blocks, &x, 256, "test").unwrap()[0]);
        assert!((large / 2f32.powi(60) - small).abs() <= 1e-2 * small.abs(), "{format}: {small} {large}");
    }
}
