//! Convolutions of `f32` from 16-bit parts by `conv_split`, at both wave sizes.

mod common;

use common::convolution::{Problem, forward, problem_of, transposed};
use common::device::{BOTH, input, launch as run, output, value};
use kernels_hip::args::{ConvArgs, ConvSplitArgs};
use kernels_hip::launch::LaunchShape;

/// The greatest numbers of the input and of the filters. With the sizes below sums of products are at most 2^24, and each factor needs two
/// or three parts.
const GREATEST: [[i64; 2]; 3] = [[4095, 3], [3, 4095], [60000, 1]];

/// The kernels' results, with few blocks and with more blocks than tiles.
fn results(args: ConvArgs, x: &[f32], f: &[f32], bias: &[f32]) -> [Vec<f32>; 2] {
    let (args, bytes) = ConvSplitArgs::new(args).expect("small sizes");
    let outputs =
        args.plain.batch * args.plain.groups * args.plain.out_channels * args.plain.h.out * args.plain.w.out;
    let mut grids = [1, 64].into_iter();
    BOTH.map(|device| {
        let grid = grids.next().unwrap();
        let mut scratch = vec![0xffu8; bytes as usize];
        let mut list = [input(x), input(f), output(&mut scratch), value(&args)];
        // SAFETY: S9: the strides stay inside the arrays, and the scratch is as great as the arguments say.
        unsafe { run(device, "conv_split_parts_f32", LaunchShape { grid, block: 256 }, &mut list) };
        let mut out = vec![f32::NAN; outputs as usize];
        let mut list = [input(&scratch), input(x), input(f), input(bias), output(&mut out), value(&args)];
        // SAFETY: S9: as above.
        unsafe { run(device, "conv_split_64_f32", LaunchShape { grid, block: 128 }, &mut list) };
        out
    })
}

/// The result of `conv_wide`.
fn wide(args: ConvArgs, x: &[f32], f: &[f32], bias: &[f32], outputs: usize) -> Vec<f32> {
    let mut out = vec![f32::NAN; outputs];
    let mut list = [input(x), input(f), input(bias), output(&mut out), value(&args)];
    // SAFETY: S9: the strides stay inside the arrays.
    unsafe { run(BOTH[0], "conv_wide_64_f32", LaunchShape { grid: 64, block: 128 }, &mut list) };
    out
}

fn floats(list: &[i64]) -> Vec<f32> {
    list.iter().map(|x| *x as f32).collect()
}
fn operands(problem: &Problem) -> [Vec<f32>; 3] {
    [&problem.x, &problem.f, &problem.bias].map(|list| floats(list))
}

/// Compares bits.
fn is_exact(problem: &Problem, what: &str) {
    let expected = problem.expected();
    assert!(expected.iter().any(|sum| *sum != 0) && expected.iter().all(|sum| sum.abs() < 1 << 24), "{what}");
    let [x, f, bias] = operands(problem);
    for (device, out) in results(problem.args, &x, &f, &bias).into_iter().enumerate() {
        let wrong = out.iter().zip(floats(&expected)).position(|(got, expected)| *got != expected);
        assert_eq!(wrong, None, "{what} on device {device}, the first wrong index");
    }
}

#[test]
fn sums_of_integers_that_f32_holds_are_exact() {
    let problem = |sizes, h, w, seed| problem_of(GREATEST[seed as usize % 3], sizes, h, w, seed);
    let (h, w) = (forward(11, 3, 1, 1, 1), forward(7, 3, 1, 1, 1));
    is_exact(&problem([2, 1, 16, 70], h, w, 1), "3x3");
    is_exact(&problem([3, 2, 17, 40], h, w, 2), "two groups");
    is_exact(&problem([1, 1, 33, 64], forward(15, 5, 2, 2, 1), forward(13, 2, 3, 1, 1), 3), "strides");
    is_exact(&problem([1, 1, 20, 33], forward(12, 3, 1, 2, 2), forward(12, 2, 1, 0, 3), 4), "dilations");
    is_exact(&problem([40, 1, 16, 17], forward(2, 1, 1, 0, 1), forward(3, 1, 1, 0, 1), 5), "1x1");
    is_exact(&problem([2, 1, 18, 70], transposed(6, 4, 2, 1), transposed(5, 3, 2, 0), 6), "transposed");
    is_exact(
        &problem([1, 2, 16, 34], transposed(4, 2, 3, 0), transposed(4, 3, 1, 1), 7),
        "phases without taps",
    );
    is_exact(&problem([1, 1, 64, 33], forward(6, 3, 1, 1, 1), forward(6, 3, 1, 1, 1), 12), "36 steps");
    let mut turned = problem([1, 1, 22, 66], forward(8, 3, 1, 1, 1), forward(8, 3, 1, 1, 1), 8);
    turned.args.x.swap(2, 3);
    turned.args.f.swap(3, 4);
    is_exact(&turned, "turned");
    turned.args.has_bias = 0;
    is_exact(&turned, "turned, without a bias");
}

/// 32 input channels, 9 by 9 positions and three images: two tiles, of which the second has nothing of the first image.
fn some(seed: u64) -> Problem {
    problem_of([1 << 24, 1 << 24], [3, 1, 32, 40], forward(9, 3, 1, 1, 1), forward(9, 3, 1, 1, 1), seed)
}

#[test]
fn sums_are_no_less_exact_than_those_of_f32() {
    let problem = some(9);
    // Numbers from -1 to 1 with 25 binary digits, rounded to f32, so that all parts matter.
    let [x, f, bias] =
        operands(&problem).map(|list| list.iter().map(|x| x / (1 << 24) as f32).collect::<Vec<f32>>());
    let sum = |n: usize, o: usize, y: usize, z: usize| {
        let (mut sum, mut size) = (f64::from(bias[o]), 0.0);
        for c in 0..32 {
            for (k, l) in (0..3).flat_map(|k| (0..3).map(move |l| (k, l))) {
                let (Some(i), Some(j)) = ((y + k).checked_sub(1), (z + l).checked_sub(1)) else { continue };
                if i < 9 && j < 9 {
                    let term = f64::from(x[((n * 32 + c) * 9 + i) * 9 + j])
                        * f64::from(f[((o * 32 + c) * 3 + k) * 3 + l]);
                    sum += term;
                    size += term.abs();
                }
            }
        }
        (sum, size)
    };
    for out in results(problem.args, &x, &f, &bias) {
        for (index, got) in out.iter().enumerate() {
            let (z, y, o, n) = (index % 9, index / 9 % 9, index / 81 % 40, index / 81 / 40);
            let (sum, size) = sum(n, o, y, z);
            let error = (f64::from(*got) - sum).abs();
            // Parity's tolerance is 2e-7 times the root of the number of terms, which is 17.
            assert!(error <= size * 3e-7 + sum.abs() * 6e-8, "{index}: {got}, not {sum}, of {size}");
        }
    }
}

#[test]
fn numbers_that_have_no_such_parts_are_multiplied_in_f32() {
    let problem = some(10);
    let [ordinary, f, bias] =
        operands(&problem).map(|list| list.iter().map(|x| x / (1 << 24) as f32).collect::<Vec<f32>>());
    let outputs = 3 * 40 * 81;
    for odd in [f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-42, -1e-31] {
        // In the input: the first image, channel 5, third row, fourth column. In the filters: one number.
        for (in_x, in_f) in [(true, false), (false, true)] {
            let (mut x, mut f) = (ordinary.clone(), f.clone());
            if in_x {
                x[(5 * 9 + 2) * 9 + 3] = odd;
            }
            if in_f {
                f[(7 * 32 + 5) * 9] = odd;
            }
            let expected = wide(problem.args, &x, &f, &bias, outputs);
            for out in results(problem.args, &x, &f, &bias) {
                let met = |index: usize| {
                    let (image, channel, y, z) = (index / 81 / 40, index / 81 % 40, index / 9 % 9, index % 9);
                    let near = (1..=3).contains(&y) && (2..=4).contains(&z);
                    if in_x { image == 0 && near } else { channel == 7 && y > 0 && z > 0 }
                };
                for (index, (got, expected)) in out.iter().zip(&expected).enumerate() {
                    let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
                    let near = (got - expected).abs() <= 1e-4;
                    assert!(
                        if met(index) { same } else { same || near },
                        "{odd} {in_x} {index}: {got}, not {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn sums_beyond_f32_are_infinite_and_small_ones_are_computed_in_f32() {
    let problem = some(11);
    let [x, f, bias] =
        operands(&problem).map(|list| list.iter().map(|x| x / (1 << 24) as f32).collect::<Vec<f32>>());
    for (scale, zero_bias) in [(1e38f32, false), (1e-29, true)] {
        let x: Vec<f32> = x.iter().map(|x| x * scale).collect();
        let f: Vec<f32> = f.iter().map(|f| if zero_bias { f * 1e-10 } else { *f }).collect();
        let bias: Vec<f32> = bias.iter().map(|b| if zero_bias { 0.0 } else { *b }).collect();
        let expected = wide(problem.args, &x, &f, &bias, 3 * 40 * 81);
        assert!(expected.iter().any(|sum| if zero_bias { sum.is_subnormal() } else { sum.is_infinite() }));
        for out in results(problem.args, &x, &f, &bias) {
            for (index, (got, expected)) in out.iter().zip(&expected).enumerate() {
                assert!(
                    got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
                    "{index}: {got}, not {expected}"
                );
            }
        }
    }
}
