//! Products compared with those of the dequantized weights in `f64`, within derived bounds.

use super::*;

/// The unit roundoff of `f32`.
const ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;

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
        return super::super::quantize(format, &noise(count, 1)).unwrap();
    }
    let bits = noise(count / format.block_size() * format.type_size(), 2);
    let byte = |(place, x): (usize, &f32)| (x * 128.0) as i8 as u8 & if place % 2 == 1 { 0x2f } else { 0xff };
    bits.iter().enumerate().map(byte).collect()
}

/// The product of a row of weights and a row of activations in `f64`, and how far a product of few or many rows may be
/// from it.
///
/// Let w = scale · number − min be a weight, and c = |scale · number| + |min|.
///
/// - Few rows: every 32 activations are rounded to multiples of s = max |x| / 127, each by s / 2. Because x / s is itself
///   rounded, by at most 127 · 2 roundoffs, the error is at most 0.5001 · s. It is multiplied by |w|. What follows is
///   exact but for the roundings of `f32`: sums of integers are below 2^24. A term c · |x| passes through the roundings
///   of its group (its scale, the product of scales, the product with the sum, s itself, and those of w: 8), of its lane
///   (an addition per set of lanes), and of the sum over lanes (9).
/// - Many rows: `gemm` rounds each term k times at most, for k numbers in a row, and w has 2 roundings.
fn expected(row: &Row, width: usize, x: &[f32]) -> (f64, f64, f64) {
    let (mut product, mut rounded, mut terms, mut exact_terms) = (0.0, 0.0, 0.0, 0.0);
    let mut values = vec![0.0; width];
    row.dequantize(&mut values);
    for (j, w) in values.iter().enumerate() {
        let group = j / row.group();
        let min = row.mins().get(group).copied().unwrap_or(0.0);
        let size = f64::from(row.scales()[group] * f32::from(row.numbers()[j])).abs() + f64::from(min).abs();
        let most = x[j / 32 * 32..][..32].iter().fold(0f32, |most, x| most.max(x.abs()));
        let step = 0.5001 * f64::from(most) / 127.0;
        let (w, x) = (f64::from(*w), f64::from(x[j]));
        product += w * x;
        rounded += w.abs() * step;
        terms += size * (x.abs() + step);
        exact_terms += size * x.abs();
    }
    let sets = row.scales().len().div_ceil(8);
    (product, rounded + terms * ROUNDOFF * (8 + sets + 9) as f64, exact_terms * ROUNDOFF * (width + 2) as f64)
}

#[test]
fn quant_products_are_within_the_bound() {
    for format in QuantFormat::ALL {
        let length = format.block_size();
        for (rows, columns, blocks) in [(1, 1, 1), (1, 5, 3), (3, 7, 2), (8, 1, 5), (9, 3, 3), (9, 40, 1)] {
            let width = blocks * length;
            let blocks = weights(format, columns * width);
            let mut values = noise(rows * width, 3);
            // An outlier, and a part without any scale.
            values[width - 1] = 30.0;
            values[..16].fill(0.0);
            let products = product(format, &blocks, &values, width, "test").unwrap();
            assert_eq!(products.len(), rows * columns);
            let bytes = row_bytes(format, width);
            for (place, got) in products.iter().enumerate() {
                let (i, j) = (place / columns, place % columns);
                let mut row = Row::default();
                unpack(format, &blocks[j * bytes..][..bytes], &mut row);
                let (product, few, many) = expected(&row, width, &values[i * width..][..width]);
                let (error, bound) =
                    ((f64::from(*got) - product).abs(), if rows <= FEW { few } else { many });
                assert!(
                    error <= bound,
                    "{format} {rows} {columns} {width}: {got} {product}, {error:e} {bound:e}"
                );
            }
        }
    }
}

#[test]
fn quant_experts_get_their_rows() {
    let (format, columns, width) = (QuantFormat::Q5_1, 3, 64);
    let blocks = weights(format, 4 * columns * width);
    let values = noise(5 * width, 4);
    // Expert 1 has ten rows, and so those are not rounded; expert 3 has none.
    let mut pairs: Vec<(usize, usize)> = (0..10).map(|place| (place % 5, 1)).collect();
    pairs.extend([(4, 2), (0, 0), (2, 2)]);
    let got = product_of_experts(format, &blocks, (columns, width), &values, &pairs, "test").unwrap();
    let matrix = columns * row_bytes(format, width);
    for ((row, expert), got) in pairs.iter().zip(got.chunks_exact(columns)) {
        let many = pairs.iter().filter(|pair| pair.1 == *expert).count() > FEW;
        let x = &values[row * width..][..width];
        let rows = if many { x.repeat(FEW + 1) } else { x.to_vec() };
        let own = product(format, &blocks[expert * matrix..][..matrix], &rows, width, "test").unwrap();
        for (a, b) in got.iter().zip(&own) {
            // gemm may add in another order for another number of rows.
            assert!(if many { (a - b).abs() < 1e-5 } else { a == b }, "{row} {expert}");
        }
    }
}

#[test]
fn quant_products_of_nan_and_infinity_are_no_numbers() {
    let blocks = weights(QuantFormat::Q4_0, 64);
    for special in [f32::NAN, f32::INFINITY] {
        let mut values = noise(64, 5);
        values[40] = special;
        let products = product(QuantFormat::Q4_0, &blocks, &values, 64, "test").unwrap();
        assert!(products[0].is_nan() || products[0].is_infinite());
    }
}
