//! Thread indices in one to three dimensions, large grids and blocks, 64-bit arithmetic.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/index":
    one_dimension, two_dimensions, three_dimensions, sizes, x_is_the_fastest, grid_stride, many_blocks, block_of_1024,
    beyond_32_bits, far_pointer,
);

/// The last block extends beyond the data.
fn one_dimension(b: &Bench) -> Outcome {
    let out = b.filled(256, -1)?;
    b.launch(&b.function("index", "tail")?, grid(4, 64), args![&out, 200])?;
    let expected: Vec<i32> = (0..256).map(|i| if i < 200 { 3 * i } else { -1 }).collect();
    same_all("out", &out.read()?, &expected)
}

/// An image of 37 by 21 with a pitch of 40, in blocks of 8 by 4.
fn two_dimensions(b: &Bench) -> Outcome {
    let out = b.filled(40 * 21, -1)?;
    let shape = Shape::of([5, 6, 1], [8, 4, 1]);
    b.launch(&b.function("index", "image")?, shape, args![&out, 37, 21, 40])?;
    let at = |i: i32| if i % 40 < 37 { 100 * (i / 40) + i % 40 } else { -1 };
    same_all("out", &out.read()?, &(0..40 * 21).map(at).collect::<Vec<i32>>())
}

/// All six indices, and the order of threads and blocks.
fn three_dimensions(b: &Bench) -> Outcome {
    let out = b.zeros::<u32>(12 * 24)?;
    b.launch(&b.function("index", "digits")?, Shape::of([2, 3, 2], [4, 2, 3]), args![&out])?;
    let mut expected = Vec::new();
    for (bz, by, bx) in (0..12).map(|i| (i / 6, i / 2 % 3, i % 2)) {
        for (z, y, x) in (0..24).map(|i| (i / 8, i / 4 % 2, i % 4)) {
            expected.push(x + 10 * y + 100 * z + 1000 * bx + 10_000 * by + 100_000 * bz);
        }
    }
    same_all("out", &out.read()?, &expected)
}

/// gridDim, blockDim and warpSize.
fn sizes(b: &Bench) -> Outcome {
    let out = b.zeros::<u32>(7)?;
    b.launch(&b.function("index", "dimensions")?, Shape::of([5, 4, 3], [16, 8, 2]), args![&out])?;
    same_all("out", &out.read()?, &[5, 4, 3, 16, 8, 2, b.wave()])
}

/// Threads are assigned to warps with x fastest, then y, then z.
fn x_is_the_fastest(b: &Bench) -> Outcome {
    let out = b.zeros::<u32>(350)?;
    b.launch(&b.function("index", "first_of_warp")?, Shape::of([1; 3], [10, 5, 7]), args![&out])?;
    let expected: Vec<u32> = (0..350).map(|t| t - t % b.wave()).collect();
    same_all("out", &out.read()?, &expected)
}

/// Fewer threads than elements.
fn grid_stride(b: &Bench) -> Outcome {
    let values: Vec<i32> = (0..5000).map(|i| i * 3).collect();
    let (input, out) = (b.buffer(&values)?, b.filled(5001, -1)?);
    b.launch(&b.function("index", "grid_stride")?, grid(3, 96), args![&input, &out, 5000])?;
    let expected: Vec<i32> = values.iter().map(|v| v + 1).chain([-1]).collect();
    same_all("out", &out.read()?, &expected)
}

/// 100,000 blocks, each run exactly once.
fn many_blocks(b: &Bench) -> Outcome {
    let (out, visits) = (b.zeros::<u32>(100_000)?, b.zeros::<u32>(1)?);
    b.launch(&b.function("index", "visit")?, grid(100_000, 4), args![&out, &visits])?;
    same_all("out", &out.read()?, &(0..100_000).map(|i| 7 * i + 1).collect::<Vec<u32>>())?;
    same_all("visits", &visits.read()?, &[400_000])
}

/// 1024 threads, in all three dimensions of a block; they exchange through shared memory in the first.
fn block_of_1024(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(1024)?;
    b.launch(&b.function("index", "rotated")?, grid(1, 1024), args![&out])?;
    same_all("rotated", &out.read()?, &(0..1024).map(|t| (t + 1) % 1024).collect::<Vec<i32>>())?;
    let out = b.zeros::<u32>(1024)?;
    b.launch(&b.function("index", "digits")?, Shape::of([1; 3], [16, 8, 8]), args![&out])?;
    let at = |t: u32| t % 16 + 10 * (t / 16 % 8) + 100 * (t / 128);
    same_all("digits", &out.read()?, &(0..1024).map(at).collect::<Vec<u32>>())
}

/// Indices that need more than 32 bits.
fn beyond_32_bits(b: &Bench) -> Outcome {
    let (out, stride) = (b.zeros::<u64>(8 * 32)?, 0x1_4000_0001_u64);
    b.launch(&b.function("index", "wide_index")?, grid(8, 32), args![&out, stride])?;
    let expected: Vec<u64> = (0..256).map(|i| i / 32 * stride + i % 32).collect();
    same_all("out", &out.read()?, &expected)
}

/// An element 2^33 positions after a pointer.
fn far_pointer(b: &Bench) -> Outcome {
    let (out, distance) = (b.filled(128, -1)?, 1_u64 << 33);
    let far = (out.pointer as u64).wrapping_sub(4 * distance);
    b.launch(&b.function("index", "far_pointer")?, grid(2, 64), args![far, distance])?;
    same_all("out", &out.read()?, &(0..128).map(|i| 5 * i).collect::<Vec<i32>>())
}
