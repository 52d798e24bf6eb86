//! Matrix products on the host: sizes around the tiles, any strides, batches, small floats.

mod common;

use common::device::{WAVE_32, input, launch as run, output, value};
use half::{bf16, f16};
use kernels_hip::args::MatmulArgs;
use kernels_hip::launch;

fn matmul<T: bytemuck::Pod>(dtype: &str, a: &[T], b: &[T], outputs: usize, args: MatmulArgs) -> Vec<T> {
    let mut out = vec![T::zeroed(); outputs];
    let shape = launch::matmul(args.m, args.n, args.batch, 2);
    let mut list = [input(a), input(b), output(&mut out), value(&args)];
    // SAFETY: S9: the tests keep their strides inside the arrays.
    unsafe { run(WAVE_32, &format!("matmul_{dtype}"), shape, &mut list) };
    out
}

/// Small integers, so that all sums are exact.
fn numbers(count: u64, seed: u64) -> Vec<i64> {
    (0..count).map(|i| ((i + seed) * (i + 3 * seed + 1) % 17) as i64 - 8).collect()
}

/// The product by definition.
fn product(a: &[i64], b: &[i64], args: &MatmulArgs) -> Vec<i64> {
    let at = |x: &[i64], row: u64, col: u64| x[(row + col) as usize];
    let one = |i: u64, j: u64| {
        (0..args.k)
            .map(|p| at(a, i * args.a_row, p * args.a_col) * at(b, p * args.b_row, j * args.b_col))
            .sum()
    };
    (0..args.m).flat_map(|i| (0..args.n).map(move |j| one(i, j))).collect()
}

#[test]
fn sizes_around_the_tiles() {
    let sizes = [
        (1, 1, 1),
        (1, 300, 7),
        (300, 1, 5),
        (4, 16, 3),
        (5, 17, 513),
        (64, 256, 20),
        (65, 257, 33),
        (3, 9, 0),
    ];
    for (m, n, k) in sizes {
        let args = MatmulArgs::tight(m, n, k);
        let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
        let wanted = product(&a, &b, &args);
        let floats = |x: &[i64]| x.iter().map(|v| *v as f32).collect::<Vec<_>>();
        assert_eq!(
            matmul("f32", &floats(&a), &floats(&b), (m * n) as usize, args),
            floats(&wanted),
            "{m} {n} {k}"
        );
        // b and c transposed.
        let turned = MatmulArgs { b_row: 1, b_col: k, c_row: 1, c_col: m, ..args };
        let wanted = product(&a, &b, &turned);
        let got = matmul("f32", &floats(&a), &floats(&b), (m * n) as usize, turned);
        let straight: Vec<f32> = (0..m * n).map(|i| got[(i % n * m + i / n) as usize]).collect();
        assert_eq!(straight, floats(&wanted), "{m} {n} {k} transposed");
    }
}

#[test]
fn every_dtype() {
    let args = MatmulArgs::tight(7, 20, 40);
    let (a, b) = (numbers(280, 3), numbers(800, 4));
    let wanted = product(&a, &b, &args);
    let map = |x: &[i64]| x.iter().map(|v| *v as f32).collect::<Vec<_>>();
    let (fa, fb) = (map(&a), map(&b));
    let double = |x: &[f32]| x.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
    assert_eq!(matmul("f64", &double(&fa), &double(&fb), 140, args), double(&map(&wanted)));
    let half = |x: &[f32]| x.iter().map(|v| f16::from_f32(*v)).collect::<Vec<_>>();
    assert_eq!(matmul("f16", &half(&fa), &half(&fb), 140, args), half(&map(&wanted)));
    let brain = |x: &[f32]| x.iter().map(|v| bf16::from_f32(*v)).collect::<Vec<_>>();
    assert_eq!(matmul("bf16", &brain(&fa), &brain(&fb), 140, args), brain(&map(&wanted)));
    let eight = |x: &[f32]| x.iter().map(|v| float8::F8E4M3::from_f32(*v).to_bits()).collect::<Vec<_>>();
    assert_eq!(matmul("f8e4m3", &eight(&fa), &eight(&fb), 140, args), eight(&map(&wanted)));
}

#[test]
fn batches_broadcast() {
    // Batch [2, 3]: a has both dimensions, b only the inner one.
    let (m, n, k) = (5, 6, 4);
    let (a, b) = (numbers(6 * m * k, 5), numbers(3 * k * n, 6));
    let mut args = MatmulArgs { batch: 6, batch_rank: 2, ..MatmulArgs::tight(m, n, k) };
    args.batch_dims[..2].copy_from_slice(&[2, 3]);
    args.a_batch[..2].copy_from_slice(&[3 * m * k, m * k]);
    args.b_batch[..2].copy_from_slice(&[0, k * n]);
    args.c_batch[..2].copy_from_slice(&[3 * m * n, m * n]);
    let mut wanted = Vec::new();
    for i in 0..6 {
        wanted.extend(product(&a[i * 20..][..20], &b[i % 3 * 24..][..24], &MatmulArgs::tight(m, n, k)));
    }
    let floats = |x: &[i64]| x.iter().map(|v| *v as f64).collect::<Vec<_>>();
    assert_eq!(matmul("f64", &floats(&a), &floats(&b), 180, args), floats(&wanted));
}

#[test]
fn long_sums_do_not_stall() {
    // 2^24 + 2^10 ones: a single running sum in f32 would stop at 2^24.
    let k = (1 << 24) + (1 << 10);
    let args = MatmulArgs { a_col: 0, b_row: 0, ..MatmulArgs::tight(1, 1, k) };
    assert_eq!(matmul("f32", &[1f32], &[1f32], 1, args), [k as f32]);
}
