//! Device functions: bits, bytes, integers, conversions, arithmetic.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/function":
    bits, bytes, products_and_sums, reinterpretation, rounding, arithmetic_to_the_last_bit, least_and_most,
    small_types, wide_arithmetic, templates_and_recursion,
);

/// Counting, finding and reversing bits, of 32 and of 64.
fn bits(b: &Bench) -> Outcome {
    let values = [0_u32, 1, 2, 0x8000_0000, 0xffff_ffff, 0x0000_ff00, 0x1234_5678, 0xdead_beef];
    let (input, out) = (b.buffer(&values)?, b.zeros::<u32>(64)?);
    b.launch(&b.function("function", "bits")?, grid(1, 8), args![&input, &out])?;
    let found = |bits: u32, zeros: u32| if bits == 0 { 0 } else { zeros + 1 };
    let row = |v: u32| {
        let w = u64::from(v) << 20;
        let (first, first_of_wide) = (found(v, v.trailing_zeros()), found(v, w.trailing_zeros()));
        let narrow = [v.count_ones(), v.leading_zeros(), first, v.reverse_bits()];
        let wide = [w.count_ones(), w.leading_zeros(), first_of_wide, (w.reverse_bits() >> 32) as u32];
        [narrow, wide].concat()
    };
    same_all("out", &out.read()?, &values.into_iter().flat_map(row).collect::<Vec<u32>>())
}

/// Selecting bytes, and shifts across two words.
fn bytes(b: &Bench) -> Outcome {
    let out = b.zeros::<u32>(9)?;
    b.launch(&b.function("function", "bytes")?, grid(1, 1), args![&out])?;
    let expected = [
        0x7755_3311,
        0x0011_2233,
        0x4444_4444,
        0x6655_4433,
        0x4433_2211,
        0x7766_5544,
        0x3322_1100,
        0x3322_1100,
        0x7766_5544,
    ];
    same_all("out", &out.read()?, &expected)
}

/// Upper halves of products, 24-bit products, sums of absolute differences, averages.
fn products_and_sums(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(11)?;
    b.launch(&b.function("function", "whole_numbers")?, grid(1, 1), args![&out])?;
    // 2^30 times 12 is 3 times 2^32; 0xffffff is -1 in 24 bits; -2^62 times 8 is -2 times 2^64.
    same_all("out", &out.read()?, &[3, -3, -2, -3, 35, 112, 102, 0x7fff_ffff, 5, -1, -2])
}

/// The bits of floats and doubles, both ways.
fn reinterpretation(b: &Bench) -> Outcome {
    let floats = [0.0_f32, 1.0, -2.5, 1e-42, f32::INFINITY, 3.4e38];
    let doubles = [0.0_f64, 1.0, -2.5, 5e-324, f64::NEG_INFINITY, 1.7e308];
    let (x, y) = (b.buffer(&floats)?, b.buffer(&doubles)?);
    let (words, longs) = (b.zeros::<u32>(12)?, b.zeros::<u64>(12)?);
    b.launch(&b.function("function", "reinterpreted")?, grid(1, 6), args![&x, &words, &y, &longs])?;
    let expected: Vec<u32> = floats.iter().flat_map(|v| [v.to_bits(), (-v).to_bits()]).collect();
    same_all("words", &words.read()?, &expected)?;
    let expected: Vec<u64> = doubles.iter().flat_map(|v| [v.to_bits(), (-v).to_bits()]).collect();
    same_all("longs", &longs.read()?, &expected)
}

/// To the nearest (even), towards zero, down, up.
fn rounding(b: &Bench) -> Outcome {
    let values = [2.5_f32, -2.5, 3.5, 0.5, -0.5, 1.75, -1.25, 16_777_216.0];
    let (input, out) = (b.buffer(&values)?, b.zeros::<i32>(32)?);
    b.launch(&b.function("function", "roundings")?, grid(1, 8), args![&input, &out])?;
    let expected = [
        [2, 2, 2, 3],
        [-2, -2, -3, -2],
        [4, 3, 3, 4],
        [0, 0, 0, 1],
        [0, 0, -1, 0],
        [2, 1, 1, 2],
        [-1, -1, -2, -1],
        [16_777_216; 4],
    ];
    same_all("out", &out.read()?, expected.as_flattened())
}

/// Operations that IEEE 754 defines to the last bit: sum, product, fused multiply-add, quotient, square root
/// and rounding to integers.
fn arithmetic_to_the_last_bit(b: &Bench) -> Outcome {
    for [x, y, z] in [[1.1_f32, 3.3, -2.7], [7e18, 1.5e-20, 0.1], [0.3333, 0.7777, -0.259_207_4]] {
        let (input, out) = (b.buffer(&[x, y, z])?, b.zeros::<u32>(11)?);
        b.launch(&b.function("function", "exact")?, grid(1, 1), args![&input, &out])?;
        let fused = x.mul_add(y, z);
        let expected =
            [x + y, x * y, fused, fused, x / y, x.sqrt(), z.floor(), z.ceil(), z.abs(), 2.0, x.copysign(z)];
        same_all(&format!("{x} {y} {z}"), &out.read()?, &expected.map(f32::to_bits))?;
    }
    Ok(())
}

/// min and max with and without a sign, fminf and fmaxf with a NaN.
fn least_and_most(b: &Bench) -> Outcome {
    let ints = [3, 5, -1, 1, i32::MIN, i32::MAX, 7, 7];
    let floats = [1.5_f32, -2.0, f32::NAN, 4.0, 4.0, f32::NAN, f32::INFINITY, 0.0];
    let (x, y) = (b.buffer(&ints)?, b.buffer(&floats)?);
    let (out, chosen) = (b.zeros::<i32>(16)?, b.zeros::<f32>(8)?);
    b.launch(&b.function("function", "least_and_most")?, grid(1, 4), args![&x, &out, &y, &chosen])?;
    let expected = [[3, 5, 3, 5], [-1, 1, 1, -1], [i32::MIN, i32::MAX, i32::MAX, i32::MIN], [7; 4]];
    same_all("whole", &out.read()?, expected.as_flattened())?;
    // The number is chosen over the NaN.
    same_all("floats", &chosen.read()?, &[-2.0, 1.5, 4.0, 4.0, 4.0, 4.0, 0.0, f32::INFINITY])
}

/// Overflow of a small type wraps; char is signed.
fn small_types(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(4 * 100)?;
    b.launch(&b.function("function", "small_types")?, grid(1, 100), args![&out])?;
    let row = |t: i32| {
        [
            i32::from((200 + t) as i8),
            i32::from((250 + t) as u8),
            i32::from((32_766 + t) as i16),
            i32::from((65_534 + t) as u16),
        ]
    };
    same_all("out", &out.read()?, &(0..100).flat_map(row).collect::<Vec<i32>>())
}

/// Products, quotients and shifts of 64 bits.
fn wide_arithmetic(b: &Bench) -> Outcome {
    let pairs = [[7_000_000_007_i64, 13], [-7_000_000_007, 13], [1 << 40, -3], [-(1 << 60), 5]];
    let (input, out) = (b.buffer(pairs.as_flattened())?, b.zeros::<i64>(24)?);
    b.launch(&b.function("function", "wide_arithmetic")?, grid(1, 4), args![&input, &out])?;
    let row = |[x, y]: [i64; 2]| [x * y, x / y, x % y, x >> 5, (x as u64 >> 5) as i64, x << 7];
    same_all("out", &out.read()?, &pairs.into_iter().flat_map(row).collect::<Vec<i64>>())
}

/// Function templates of two types, and a recursive function.
fn templates_and_recursion(b: &Bench) -> Outcome {
    let out = b.zeros::<i64>(20)?;
    b.launch(&b.function("function", "templates_and_recursion")?, grid(1, 20), args![&out])?;
    // Ackermann's function of 2 and n is 2 n + 3.
    let at = |t: u32| 3_i64.pow(t) + 2_i64.pow(t) + i64::from(2 * (t % 4) + 3);
    same_all("out", &out.read()?, &(0..20).map(at).collect::<Vec<i64>>())
}
