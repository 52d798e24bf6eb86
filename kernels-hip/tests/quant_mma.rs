//! Products of quantized matrices by the host's emulated matrix units at both wave sizes, against sums in f64.

mod common;

use common::Random;
use common::device::{BOTH, WAVE_32, input, launch as run, output, value};
use common::formats::{Number, small};
use kernels_hip::args::{QuantMap, QuantMmaArgs};
use kernels_hip::launch::{self, LaunchShape};

/// A format: the numbers of a block, the bytes of its parts, and how many `f16` the last part begins with.
struct Format {
    name: &'static str,
    block: usize,
    parts: &'static [usize],
    halves: usize,
}

const fn format(name: &'static str, block: usize, parts: &'static [usize], halves: usize) -> Format {
    Format { name, block, parts, halves }
}

const FORMATS: [Format; 13] = [
    format("q4_0", 32, &[16, 2], 1),
    format("q4_1", 32, &[16, 4], 2),
    format("q5_0", 32, &[16, 4, 2], 1),
    format("q5_1", 32, &[16, 4, 4], 2),
    format("q8_0", 32, &[32, 2], 1),
    format("q2_k", 256, &[64, 16, 4], 2),
    format("q3_k", 256, &[64, 32, 12, 2], 1),
    format("q4_k", 256, &[128, 16], 2),
    format("q5_k", 256, &[128, 32, 16], 2),
    format("q6_k", 256, &[128, 64, 16, 2], 1),
    format("iq4_nl", 32, &[16, 2], 1),
    format("iq4_xs", 256, &[128, 8], 1),
    // The scale is an exponent.
    format("mxfp4", 32, &[16, 1], 0),
];

const DTYPES: [&str; 2] = ["bf16", "f16"];

/// Numbers between −1 and 1.
fn numbers(dtype: &str, count: usize, random: &mut Random) -> Vec<u16> {
    let mut one = || (random.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    (0..count).map(|_| small(dtype).encode(Number::Float(one())) as u16).collect()
}

fn floats(dtype: &str, patterns: &[u16]) -> Vec<f64> {
    patterns.iter().map(|pattern| small(dtype).decode((*pattern).into())).collect()
}

/// A matrix and rows of activations.
struct Problem {
    format: &'static Format,
    dtype: &'static str,
    sizes: [usize; 3],
    matrix: Vec<u8>,
    begin: [u64; 4],
    x: Vec<u16>,
}

impl Problem {
    /// Random blocks with scales from 1/16 to 1.
    fn new(format: &'static Format, dtype: &'static str, sizes: [usize; 3]) -> Problem {
        let [rows, width, count] = sizes;
        let mut random = Random((rows * 31 + width * 7 + count) as u64);
        let blocks = rows * width / format.block;
        let (mut matrix, mut begin) = (Vec::new(), [0; 4]);
        for (part, size) in format.parts.iter().enumerate() {
            matrix.resize(matrix.len().next_multiple_of(256), 0);
            begin[part] = matrix.len() as u64;
            for _ in 0..blocks {
                let at = matrix.len();
                matrix.extend((0..*size).map(|_| random.next() as u8));
                if part + 1 < format.parts.len() {
                    continue;
                }
                for half in 0..format.halves {
                    let scale = (random.next() % 15 + 1) as f64 / 16.0;
                    let pattern = small("f16").encode(Number::Float(scale)) as u16;
                    matrix[at + 2 * half..at + 2 * half + 2].copy_from_slice(&pattern.to_le_bytes());
                }
                if format.halves == 0 {
                    matrix[at] = (random.next() % 4) as u8 + 123;
                }
            }
        }
        let x = numbers(dtype, count * width, &mut random);
        Problem { format, dtype, sizes, matrix, begin, x }
    }

    /// The numbers of the matrix, rounded to the dtype by `quant_unpack`.
    fn weights(&self) -> Vec<f64> {
        let [rows, width, _] = self.sizes.map(|size| size as u64);
        let map = QuantMap { width, count: rows, begin: self.begin, ..QuantMap::default() };
        let mut out = vec![0xffffu16; (rows * width) as usize];
        let name = format!("quant_unpack_{}_{}", self.format.name, self.dtype);
        let mut list = [input(&self.matrix), output(&mut out), value(&map)];
        // SAFETY: S9: there are blocks for all rows, and as many numbers.
        unsafe { run(WAVE_32, &name, launch::quant_unpack(rows * width / 8, 2), &mut list) };
        floats(self.dtype, &out)
    }

    /// The patterns of the results, of `split` blocks for each tile.
    fn results(&self, device: i32, split: u32, grid: u32) -> Vec<u16> {
        let [rows, width, count] = self.sizes.map(|size| size as u32);
        let args = QuantMmaArgs { begin: self.begin, rows, width, count, split };
        let mut out = vec![0xffffu16; (rows * count) as usize];
        let parts = if split == 1 { 0 } else { split as usize * out.len() };
        let mut parts = vec![f32::NAN; parts];
        let name = |op| format!("quant_mma_{op}_{}", self.dtype);
        let shape = LaunchShape { grid, block: 256 };
        let mut list =
            [input(&self.matrix), input(&self.x), output(&mut out), output(&mut parts), value(&args)];
        // SAFETY: S9: there are blocks for all rows, rows of their width, and memory for all outputs of each part.
        unsafe { run(device, &name(self.format.name), shape, &mut list) };
        if split > 1 {
            let mut list = [input(&parts), output(&mut out), value(&args)];
            // SAFETY: S9: as above.
            unsafe { run(device, &name("join"), shape, &mut list) };
        }
        out
    }

    /// Compares with sums in f64 of the numbers that `quant_unpack` gives, within half an ulp of the result and the reference's tolerance
    /// for sums in f32: 2e-7 √k times the sum of magnitudes. Both wave sizes have the same bits, with one block and with several.
    fn agrees(&self, splits: &[u32]) {
        let [rows, width, count] = self.sizes;
        let (weights, x) = (self.weights(), floats(self.dtype, &self.x));
        let ulp = if self.dtype == "bf16" { 1.0 / 256.0 } else { 1.0 / 2048.0 };
        for split in splits {
            let [first, second] =
                [(BOTH[0], 1), (BOTH[1], 64)].map(|(device, grid)| self.results(device, *split, grid));
            assert_eq!(first, second, "{} {} {:?}", self.format.name, self.dtype, self.sizes);
            let got = floats(self.dtype, &first);
            for (r, n) in (0..count).flat_map(|r| (0..rows).map(move |n| (r, n))) {
                let terms = weights[n * width..][..width].iter().zip(&x[r * width..][..width]);
                let (sum, size) =
                    terms.map(|(w, x)| w * x).fold((0.0, 0.0), |(s, m), t: f64| (s + t, m + t.abs()));
                let error = (got[r * rows + n] - sum).abs();
                let bound = size * 2e-7 * (width as f64).sqrt();
                assert!(
                    error <= bound + (sum.abs() + bound) * ulp,
                    "{} {} {:?} in {split} parts, row {r}, column {n}: {}, not {sum}",
                    self.format.name,
                    self.dtype,
                    self.sizes,
                    got[r * rows + n]
                );
            }
        }
    }
}

#[test]
fn every_format_agrees_with_sums_of_its_numbers() {
    for format in &FORMATS {
        // An odd number of pieces leaves half a step empty.
        let width = if format.block == 32 { 288 } else { 512 };
        for dtype in DTYPES {
            Problem::new(format, dtype, [131, width, 33]).agrees(&[1, 3]);
        }
    }
}

#[test]
fn sizes_around_the_tiles_agree() {
    for sizes in
        [[1, 32, 1], [127, 64, 9], [129, 96, 17], [128, 128, 64], [3, 96, 65], [257, 32, 127], [15, 96, 129]]
    {
        for dtype in DTYPES {
            Problem::new(&FORMATS[1], dtype, sizes).agrees(&[1]);
        }
    }
}

/// NaN and infinities of a row stay in its results.
#[test]
fn special_numbers_stay_in_their_row() {
    for dtype in DTYPES {
        let mut problem = Problem::new(&FORMATS[0], dtype, [19, 96, 20]);
        problem.x[4 * 96 + 95] = small(dtype).encode(Number::Float(f64::NAN)) as u16;
        problem.x[17 * 96] = small(dtype).encode(Number::Float(f64::INFINITY)) as u16;
        for device in BOTH {
            let got = floats(dtype, &problem.results(device, 1, 2));
            for (row, of_row) in got.chunks(19).enumerate() {
                assert!(of_row.iter().all(|x| x.is_finite() != [4, 17].contains(&row)), "{row}: {of_row:?}");
            }
        }
    }
}
