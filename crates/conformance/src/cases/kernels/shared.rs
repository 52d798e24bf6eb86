//! Shared memory: static and dynamic, of several types, up to 64 KiB, and algorithms that use it.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/shared":
    static_types, dynamic_int, dynamic_char, dynamic_short, dynamic_double, dynamic_struct, dynamic_parts, alignment,
    dynamic_64_kib, private_to_a_block, histogram, transpose, matmul, stencil,
);

/// Thread t of `count` reads what thread count - 1 - t wrote; `expected` says what that is.
fn mirrored(b: &Bench, name: &str, count: u32, bytes: u32, expected: impl Fn(i32) -> i32) -> Outcome {
    let out = b.filled(count as usize, -1)?;
    b.launch(&b.function("shared", name)?, grid(1, count).shared(bytes), args![&out])?;
    same_all("out", &out.read()?, &(0..count as i32).rev().map(expected).collect::<Vec<i32>>())
}

/// char, short, double and a structure in one kernel.
fn static_types(b: &Bench) -> Outcome {
    let out = b.zeros::<f64>(100)?;
    b.launch(&b.function("shared", "static_types")?, grid(1, 100), args![&out])?;
    // 1 + 200 + 3 + 4 + 5 times the other thread's number.
    let expected: Vec<f64> = (0..100).rev().map(|t| 213.0 * f64::from(t)).collect();
    same_all("out", &out.read()?, &expected)
}

/// An array of int whose size the launch sets.
fn dynamic_int(b: &Bench) -> Outcome {
    mirrored(b, "dynamic_ints", 500, 2000, |t| 11 * t)
}

/// An array of bytes.
fn dynamic_char(b: &Bench) -> Outcome {
    mirrored(b, "dynamic_bytes", 333, 333, |t| 3 * t % 256)
}

/// An array of short.
fn dynamic_short(b: &Bench) -> Outcome {
    mirrored(b, "dynamic_shorts", 200, 400, |t| -7 * t)
}

/// An array of double.
fn dynamic_double(b: &Bench) -> Outcome {
    mirrored(b, "dynamic_doubles", 256, 2048, |t| t)
}

/// An array of structures of 24 bytes.
fn dynamic_struct(b: &Bench) -> Outcome {
    mirrored(b, "dynamic_structs", 100, 2400, |t| 12 * t + 1000 * (t % 7))
}

/// Consecutive arrays of double, int and bytes.
fn dynamic_parts(b: &Bench) -> Outcome {
    mirrored(b, "dynamic_parts", 200, 200 * 13, |t| 104 * t)
}

/// Every variable has its type's alignment: a double 8, a float4 16.
fn alignment(b: &Bench) -> Outcome {
    mirrored(b, "alignments", 64, 1024, |_| 1 + 2 + 3 + 20)
}

/// The maximum size of a block.
fn dynamic_64_kib(b: &Bench) -> Outcome {
    let out = b.zeros::<u32>(3)?;
    b.launch(&b.function("shared", "dynamic_64k")?, grid(3, 256).shared(65_536), args![&out])?;
    let word = |i: u32| (16_383 - i).wrapping_mul(2_654_435_761).wrapping_add(i);
    // 256 threads, each with the exclusive or over its own 64 words.
    let expected = (0..16_384).fold(0, |sum, i| sum ^ word(i));
    same_all("out", &out.read()?, &[expected; 3])
}

/// Fifty blocks count in a variable of the same name.
fn private_to_a_block(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(50)?;
    b.launch(&b.function("shared", "private_to_a_block")?, grid(50, 64), args![&out])?;
    same_all("out", &out.read()?, &(1..=50).map(|n| 64 * n).collect::<Vec<i32>>())
}

/// 50,000 bytes into 256 bins, first in shared memory.
fn histogram(b: &Bench) -> Outcome {
    let bytes: Vec<u8> = (0..50_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut expected = vec![0_u32; 256];
    bytes.iter().for_each(|byte| expected[usize::from(*byte)] += 1);
    let (input, bins) = (b.buffer(&bytes)?, b.zeros::<u32>(256)?);
    b.launch(&b.function("shared", "histogram")?, grid(16, 192), args![&input, &bins, 50_000])?;
    same_all("bins", &bins.read()?, &expected)
}

/// 50 rows of 37, through tiles of 16 by 16.
fn transpose(b: &Bench) -> Outcome {
    let values: Vec<f32> = (0..1850_u16).map(f32::from).collect();
    let (input, out) = (b.buffer(&values)?, b.filled(1850, -1.0_f32)?);
    let shape = Shape::of([3, 4, 1], [16, 16, 1]);
    b.launch(&b.function("shared", "transpose")?, shape, args![&input, &out, 37, 50])?;
    let expected: Vec<f32> = (0..1850).map(|i| values[i % 50 * 37 + i / 50]).collect();
    same_all("out", &out.read()?, &expected)
}

/// 19 by 21 times 21 by 13 in tiles of 8 by 8; small integers, so every sum is exact.
fn matmul(b: &Bench) -> Outcome {
    let (n, k, m) = (19, 21, 13);
    let left: Vec<i32> = (0..n * k).map(|i| i % 7 - 3).collect();
    let right: Vec<i32> = (0..k * m).map(|i| i % 5 - 1).collect();
    let floats = |values: &[i32]| values.iter().map(|v| *v as f32).collect::<Vec<f32>>();
    let (x, y, out) =
        (b.buffer(&floats(&left))?, b.buffer(&floats(&right))?, b.zeros::<f32>((n * m) as usize)?);
    let shape = Shape::of([2, 3, 1], [8, 8, 1]);
    b.launch(&b.function("shared", "matmul")?, shape, args![&x, &y, &out, n, k, m])?;
    let cell = |i: i32| {
        let products = (0..k).map(|j| left[(i / m * k + j) as usize] * right[(j * m + i % m) as usize]);
        products.sum::<i32>() as f32
    };
    same_all("product", &out.read()?, &(0..n * m).map(cell).collect::<Vec<f32>>())
}

/// Sums over seven neighbours; a tile has three extra cells at either end.
fn stencil(b: &Bench) -> Outcome {
    let values: Vec<i32> = (0..200).map(|i| i * i % 97).collect();
    let (input, out) = (b.buffer(&values)?, b.filled(200, -1)?);
    b.launch(&b.function("shared", "stencil")?, grid(4, 64), args![&input, &out, 200])?;
    let at = |i: usize| values[i.saturating_sub(3)..(i + 4).min(200)].iter().sum();
    same_all("out", &out.read()?, &(0..200).map(at).collect::<Vec<i32>>())
}
