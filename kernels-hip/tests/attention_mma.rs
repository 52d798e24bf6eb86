//! Attention by the host's emulated matrix units at both wave sizes, against the formula and against exact results.

mod common;

use bytemuck::Zeroable;
use common::Random;
use common::device::{BOTH, input, launch as run, output, value};
use common::formats::small;
use kernels_hip::args::AttentionArgs;
use kernels_hip::launch::LaunchShape;

/// An attention problem; numbers are bit patterns of the dtype.
struct Problem {
    dtype: &'static str,
    args: AttentionArgs,
    q: Vec<u16>,
    k: Vec<u16>,
    v: Vec<u16>,
    /// The bytes of u8 or of the dtype.
    mask: Vec<u8>,
}

const DTYPES: [&str; 2] = ["bf16", "f16"];

fn encode(dtype: &str, x: f64) -> u16 {
    small(dtype).encode(common::formats::Number::Float(x)) as u16
}
fn decode(dtype: &str, pattern: u16) -> f64 {
    small(dtype).decode(pattern.into())
}

/// Tight operands between −1 and 1.
fn problem(dtype: &'static str, [batch, heads, group, queries, keys, d, dv]: [u64; 7], seed: u64) -> Problem {
    let mut random = Random(seed);
    let kv = heads / group;
    let mut numbers = |count: u64| -> Vec<u16> {
        (0..count).map(|_| encode(dtype, (random.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0)).collect()
    };
    let (q, k, v) = (
        numbers(batch * heads * queries * d),
        numbers(batch * kv * keys * d),
        numbers(batch * kv * keys * dv),
    );
    let args = AttentionArgs {
        batch,
        heads,
        group,
        queries,
        keys,
        d,
        dv,
        q: [heads * queries * d, queries * d, d, 1],
        k: [kv * keys * d, keys * d, d, 1],
        v: [kv * keys * dv, keys * dv, dv, 1],
        scale: 1.0 / (d as f64).sqrt(),
        ..AttentionArgs::zeroed()
    };
    Problem { dtype, args, q, k, v, mask: vec![0] }
}

impl Problem {
    /// Results on both devices, also with fewer blocks than work items.
    fn results(&self) -> Vec<Vec<f64>> {
        let a = &self.args;
        let op = if a.d.max(a.dv) > 64 { "128" } else { "64" };
        let name = format!("attention_mma_{op}_{}", self.dtype);
        let one = |(device, grid): (i32, u32)| {
            let mut out = vec![0xffffu16; (a.batch * a.heads * a.queries * a.dv) as usize];
            let mut list = [
                input(&self.q),
                input(&self.k),
                input(&self.v),
                input(&self.mask),
                output(&mut out),
                value(&self.args),
            ];
            // SAFETY: S9: the strides stay inside the arrays.
            unsafe { run(device, &name, LaunchShape { grid, block: 128 }, &mut list) };
            out.into_iter().map(|pattern| decode(self.dtype, pattern)).collect()
        };
        BOTH.into_iter().zip([1, 64]).map(one).collect()
    }

    /// The weights of a row before normalisation, in f64.
    fn weights(&self, batch: u64, head: u64, row: u64) -> Vec<f64> {
        let a = &self.args;
        let at = |x: &[u16], index: u64| decode(self.dtype, x[index as usize]);
        let score = |key: u64| {
            let (x, y) = (
                batch * a.q[0] + head * a.q[1] + row * a.q[2],
                batch * a.k[0] + head / a.group * a.k[1] + key * a.k[2],
            );
            let product: f64 = (0..a.d).map(|p| at(&self.q, x + p) * at(&self.k, y + p)).sum();
            let index = (batch * a.mask[0] + head * a.mask[1] + row * a.mask[2] + key * a.mask[3]) as usize;
            let added = match a.mask_kind {
                AttentionArgs::TRUTH_MASK if self.mask[index] == 0 => f64::NEG_INFINITY,
                AttentionArgs::ADDED_MASK => {
                    decode(self.dtype, u16::from_le_bytes([self.mask[2 * index], self.mask[2 * index + 1]]))
                }
                _ => 0.0,
            };
            if a.causal != 0 && key > row { f64::NEG_INFINITY } else { product * a.scale + added }
        };
        let scores: Vec<f64> = (0..a.keys).map(score).collect();
        let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shift = if greatest == f64::NEG_INFINITY { 0.0 } else { greatest };
        scores.into_iter().map(|score| (score - shift).exp()).collect()
    }

    /// Compares with the formula. The tolerance is half an ulp for the rounding of the result, and the error of the weights (below 2^-16
    /// for bf16 and 2^-21 for f16, times values of at most 1). The error of the scores is far smaller.
    fn agrees(&self, what: &str) {
        let a = &self.args;
        let (rounding, weights) =
            if self.dtype == "bf16" { (1.0 / 256.0, 1.6e-5) } else { (1.0 / 2048.0, 2e-6) };
        for (device, got) in self.results().into_iter().enumerate() {
            let mut got = got.into_iter();
            for (batch, head, row) in (0..a.batch)
                .flat_map(|b| (0..a.heads).map(move |h| (b, h)))
                .flat_map(|(b, h)| (0..a.queries).map(move |r| (b, h, r)))
            {
                let w = self.weights(batch, head, row);
                let total: f64 = w.iter().sum();
                for column in 0..a.dv {
                    let from = batch * a.v[0] + head / a.group * a.v[1] + column;
                    let value =
                        |key: usize| decode(self.dtype, self.v[(from + key as u64 * a.v[2]) as usize]);
                    let sum: f64 = w.iter().enumerate().map(|(key, w)| w * value(key)).sum();
                    let (expected, got) = (if total == 0.0 { 0.0 } else { sum / total }, got.next().unwrap());
                    let near = (got - expected).abs() <= expected.abs() * rounding + weights;
                    let index = [batch, head, row, column];
                    assert!(near, "{what} {} device {device} {index:?}: {got}, not {expected}", self.dtype);
                }
            }
        }
    }
}

#[test]
fn sizes_agree_with_the_formula() {
    for dtype in DTYPES {
        for (n, sizes) in [
            [1, 1, 1, 1, 1, 8, 8],
            [1, 2, 1, 130, 70, 64, 64],
            [2, 4, 2, 33, 129, 128, 72],
            [1, 3, 3, 20, 33, 80, 128],
            [1, 1, 1, 129, 200, 16, 24],
        ]
        .into_iter()
        .enumerate()
        {
            let plain = problem(dtype, sizes, n as u64);
            plain.agrees(&format!("{sizes:?}"));
            let causal = Problem { args: AttentionArgs { causal: 1, ..plain.args }, ..plain };
            causal.agrees(&format!("{sizes:?} causal"));
            for scale in [-0.5, 0.0, 2.0] {
                let scaled = problem(dtype, [1, 1, 1, 17, 70, 16, 8], 9);
                let args = AttentionArgs { scale, causal: 1, ..scaled.args };
                Problem { args, ..scaled }.agrees(&format!("scale {scale}"));
            }
        }
    }
}

#[test]
fn masks_have_their_usual_meaning() {
    let sizes = [2, 2, 1, 37, 100, 64, 16];
    let (rows, keys) = (37u64, 100u64);
    for dtype in DTYPES {
        let truth: Vec<u8> = (0..2 * rows * keys).map(|i| u8::from(i * 7 % 5 > 1) * 3).collect();
        let added: Vec<u8> = (0..rows * keys)
            .map(|i| if i % 11 == 3 { f64::NEG_INFINITY } else { (i % 9) as f64 / 4.0 - 1.0 })
            .flat_map(|x| encode(dtype, x).to_le_bytes())
            .collect();
        for causal in [0, 1] {
            let plain = problem(dtype, sizes, 5);
            let args = AttentionArgs { mask_kind: 1, mask: [0, rows * keys, keys, 1], causal, ..plain.args };
            Problem { args, mask: truth.clone(), ..plain }.agrees("truth");
            // A transposed mask, broadcast over heads.
            let plain = problem(dtype, sizes, 6);
            let args = AttentionArgs { mask_kind: 1, mask: [0, 0, 1, rows], causal, ..plain.args };
            Problem { args, mask: truth.clone(), ..plain }.agrees("truth, turned");
            let plain = problem(dtype, sizes, 7);
            let args = AttentionArgs { mask_kind: 2, mask: [0, 0, keys, 1], causal, ..plain.args };
            Problem { args, mask: added.clone(), ..plain }.agrees("added");
        }
        // Rows that attend to nothing are 0.
        let plain = problem(dtype, sizes, 8);
        let args = AttentionArgs { mask_kind: 1, ..plain.args };
        let nothing = Problem { args, mask: vec![0], ..plain };
        assert!(nothing.results().iter().flatten().all(|x| *x == 0.0));
        let none = problem(dtype, [1, 1, 1, 5, 0, 16, 8], 8);
        assert!(none.results().iter().flatten().all(|x| *x == 0.0));
    }
}

#[test]
fn strided_rows_are_read_in_place() {
    // [batch, rows, heads, columns]. The columns between heads must not be read, so they are NaN.
    for dtype in DTYPES {
        let (heads, rows, d) = (2u64, 40u64, 24u64);
        let pitch = d + 8;
        let tight = problem(dtype, [2, heads, 1, rows, rows, d, d], 11);
        let spread = |x: &[u16]| -> Vec<u16> {
            let mut out = vec![0xffff; (2 * heads * rows * pitch) as usize];
            for (i, pattern) in (0u64..).zip(x) {
                let (column, row) = (i % d, i / d % rows);
                let (head, batch) = (i / d / rows % heads, i / d / rows / heads);
                out[(((batch * rows + row) * heads + head) * pitch + column) as usize] = *pattern;
            }
            out
        };
        let strides = [rows * heads * pitch, pitch, heads * pitch, 1];
        let apart = Problem {
            args: AttentionArgs { q: strides, k: strides, v: strides, ..tight.args },
            q: spread(&tight.q),
            k: spread(&tight.k),
            v: spread(&tight.v),
            mask: vec![0],
            dtype,
        };
        apart.agrees("heads apart");
        assert_eq!(apart.results(), tight.results());
    }
}

/// The number subtracted from scores follows their maximum in steps. The maximum grows within a tile, between tiles by less and by more
/// than a step, and not at all.
#[test]
fn scores_that_grow_and_fall_agree_with_the_formula() {
    let (rows, keys, d) = (70u64, 260u64, 16u64);
    for dtype in DTYPES {
        for causal in [0, 1] {
            for slope in [0.01, 0.04, 0.125, -0.125, -0.02] {
                let mut one = problem(dtype, [1, 1, 1, rows, keys, d, 24], 12);
                one.args.causal = causal;
                one.args.scale = 1.0;
                // The product of a row and a key is close to slope · key · (1 + row / 128).
                for row in 0..rows {
                    one.q[(row * d) as usize] = encode(dtype, 1.0 + row as f64 / 128.0);
                }
                for key in 0..keys {
                    one.k[(key * d) as usize] = encode(dtype, slope * key as f64);
                }
                one.agrees(&format!("slope {slope}, causal {causal}"));
            }
        }
    }
}

#[test]
fn a_key_that_takes_all_gives_its_value() {
    // Rows of ±1: the product of a row with its own key is 64. With other keys it is at most 40, and their weights are at most e^-240.
    let (rows, d) = (150u64, 64u64);
    let mut random = Random(3);
    let mut codes: Vec<u64> = Vec::new();
    while codes.len() < rows as usize {
        let code = random.next();
        // 64 − 2 · (differing bits) is at most 40.
        if codes.iter().all(|other| (code ^ other).count_ones() >= 12) {
            codes.push(code);
        }
    }
    for dtype in DTYPES {
        let mut one = problem(dtype, [1, 1, 1, rows, rows, d, 128], 4);
        let bit = |code: u64, p: u64| encode(dtype, if code >> p & 1 == 1 { 1.0 } else { -1.0 });
        let all = |of: &dyn Fn(u64) -> u64| -> Vec<u16> {
            (0..rows * d).map(|i| bit(codes[of(i / d) as usize], i % d)).collect()
        };
        let other = |row: u64| (row * 77 + 13) % rows;
        one.q = all(&other);
        one.k = all(&|key| key);
        one.args.scale = 10.0;
        let expected: Vec<f64> = (0..rows * 128)
            .map(|i| decode(dtype, one.v[(other(i / 128) * 128 + i % 128) as usize]))
            .collect();
        for got in one.results() {
            assert_eq!(got, expected, "{dtype}");
        }
    }
}

#[test]
fn infinite_values_stay_infinite_and_nan_stays() {
    for dtype in DTYPES {
        let mut one = problem(dtype, [1, 1, 1, 20, 70, 16, 16], 5);
        // Equal weights, which one 16-bit number holds exactly.
        one.args.scale = 0.0;
        for (key, column, x) in
            [(3, 1, f64::INFINITY), (69, 1, f64::INFINITY), (40, 2, f64::NEG_INFINITY), (7, 3, f64::NAN)]
        {
            one.v[key * 16 + column] = encode(dtype, x);
        }
        one.v[50 * 16 + 4] = encode(dtype, f64::INFINITY);
        one.v[51 * 16 + 4] = encode(dtype, f64::NEG_INFINITY);
        for got in one.results() {
            for row in got.chunks(16) {
                assert!(row[1] == f64::INFINITY && row[2] == f64::NEG_INFINITY, "{row:?}");
                assert!(row[3].is_nan() && row[4].is_nan());
                assert!(row[0].is_finite() && row[5..].iter().all(|x| x.is_finite()), "{row:?}");
            }
        }
        // A NaN in q or an infinite score makes only its own row NaN.
        let mut one = problem(dtype, [1, 1, 1, 20, 70, 16, 16], 6);
        one.q[4 * 16 + 3] = encode(dtype, f64::NAN);
        one.q[9 * 16] = encode(dtype, f64::INFINITY);
        for got in one.results() {
            for (row, x) in got.chunks(16).enumerate() {
                assert!(x.iter().all(|x| x.is_nan() == [4, 9].contains(&row)), "{row}: {x:?}");
            }
        }
    }
}

#[test]
fn equal_weights_give_exact_means() {
    for dtype in DTYPES {
        let mut one = problem(dtype, [1, 2, 2, 70, 128, 64, 64], 1);
        one.args.scale = 0.0;
        // The column's number, plus 2 at even keys and minus 2 at odd keys.
        let value = |i: usize| (i % 16) as f64 + if (i / 64).is_multiple_of(2) { 2.0 } else { -2.0 };
        one.v = (0..one.v.len()).map(|i| encode(dtype, value(i))).collect();
        let expected: Vec<f64> = (0..2 * 70 * 64).map(|i| (i % 16) as f64).collect();
        for got in one.results() {
            assert_eq!(got, expected, "{dtype}");
        }
    }
}

/// Left padding by an added mask, as in models. Rows that attend to some keys give their mean, rows that attend to none the mean of all.
#[test]
fn masks_of_any_finite_number_hide_keys() {
    let (rows, keys, d, hidden) = (64u64, 256u64, 64u64, 64u64);
    let masks = |dtype: &str| match dtype {
        "f16" => vec![-60000.0, -65504.0],
        _ => vec![-3e9, -5e9, -1e10, -1e12, -1e15, -1e20, -1e30, -1e35, -1e38, -2e38, -3.3895313892515355e38],
    };
    for dtype in DTYPES {
        for mask in masks(dtype) {
            for scale in [1.0, -0.125] {
                let mut one = problem(dtype, [1, 1, 1, rows, keys, d, 16], 2);
                one.q.fill(0);
                one.v =
                    (0..keys * 16).map(|i| encode(dtype, if i / 16 < hidden { 1.0 } else { 3.0 })).collect();
                // In odd rows all keys have this mask.
                let at = |row: u64, key: u64| if key < hidden || row % 2 == 1 { mask } else { 0.0 };
                one.mask = (0..rows * keys)
                    .flat_map(|i| encode(dtype, at(i / keys, i % keys)).to_le_bytes())
                    .collect();
                one.args = AttentionArgs {
                    mask_kind: AttentionArgs::ADDED_MASK,
                    mask: [0, 0, keys, 1],
                    scale,
                    ..one.args
                };
                let expected: Vec<f64> =
                    (0..rows * 16).map(|i| if i / 16 % 2 == 1 { 2.5 } else { 3.0 }).collect();
                for got in one.results() {
                    assert_eq!(got, expected, "{dtype}, mask {mask}, scale {scale}");
                }
            }
        }
    }
}

/// Equal scores of any size give equal weights, and a greater score takes all the weight.
#[test]
fn scores_of_any_size_are_distinguished() {
    let (rows, d) = (64u64, 64u64);
    for (dtype, size) in [
        ("f16", 400.0),
        ("f16", 6000.0),
        ("f16", 12000.0),
        ("f16", 40000.0),
        ("bf16", 1e5),
        ("bf16", 1e9),
        ("bf16", 1e17),
    ] {
        for (sign, scale) in [(1.0, 0.125), (-1.0, 0.125), (1.0, 1.0)] {
            let mut one = problem(dtype, [1, 1, 1, rows, rows, d, 16], 3);
            one.q.fill(encode(dtype, size));
            one.k.fill(encode(dtype, sign * size));
            one.v = (0..rows * 16).map(|i| encode(dtype, if i / 16 % 2 == 1 { 4.0 } else { 1.0 })).collect();
            one.args.scale = scale;
            for got in one.results() {
                assert!(got.iter().all(|x| *x == 2.5), "{dtype} of {size}: {:?}", &got[..16]);
            }
            // The product of key 37 is greater by 1/64 of the others' magnitude, if the dtype can represent its first number.
            let larger = if sign > 0.0 { 2.0 * size } else { 0.0 };
            if dtype == "f16" && larger > 65504.0 {
                continue;
            }
            one.k[37 * 64] = encode(dtype, larger);
            for got in one.results() {
                assert!(got.iter().all(|x| *x == 4.0), "{dtype} of {size}, one larger: {:?}", &got[..16]);
            }
        }
    }
}
