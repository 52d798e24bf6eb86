//! Convolutions of small floats by `conv_wide`, which the host's devices do not choose, at both wave sizes and against exact results.

mod common;

use bytemuck::Zeroable;
use common::Random;
use common::device::{BOTH, input, launch as run, output, value};
use common::formats::{Number, small};
use kernels_hip::args::{ConvArgs, ConvAxis};
use kernels_hip::launch::LaunchShape;

const DTYPES: [&str; 2] = ["bf16", "f16"];
/// Output channels of a block.
const OPS: [u64; 2] = [64, 128];

/// The axis of a forward convolution.
fn forward(input: u64, taps: u64, stride: u64, padding: u64, dilation: u64) -> ConvAxis {
    let out = (input + 2 * padding - dilation * (taps - 1) - 1) / stride + 1;
    let (step, first, tap) = (stride as i64, -(padding as i64), dilation as i64);
    ConvAxis { out, input, taps, up: 1, tap_step: 1, step, first, tap }
}

/// The axis of a transposed convolution, whose taps are neighbours.
fn transposed(input: u64, taps: u64, stride: u64, padding: u64) -> ConvAxis {
    let out = (input - 1) * stride + taps - 2 * padding;
    ConvAxis { out, input, taps, up: stride, tap_step: stride, step: 1, first: padding as i64, tap: -1 }
}

/// Tight operands of whole numbers from -2 to 2, whose sums f32 holds.
struct Problem {
    args: ConvArgs,
    x: Vec<i64>,
    f: Vec<i64>,
    bias: Vec<i64>,
}

fn problem([batch, groups, inputs, outputs]: [u64; 4], h: ConvAxis, w: ConvAxis, seed: u64) -> Problem {
    let mut random = Random(seed);
    let mut numbers =
        |count: u64| -> Vec<i64> { (0..count).map(|_| (random.next() >> 32) as i64 % 5 - 2).collect() };
    let (plane, taps) = (h.input * w.input, h.taps * w.taps);
    Problem {
        x: numbers(batch * groups * inputs * plane),
        f: numbers(groups * outputs * inputs * taps),
        bias: numbers(groups * outputs),
        args: ConvArgs {
            batch,
            groups,
            in_channels: inputs,
            out_channels: outputs,
            h,
            w,
            x: [groups * inputs * plane, plane, w.input, 1],
            f: [outputs * inputs * taps, inputs * taps, taps, w.taps, 1],
            bias_step: 1,
            has_bias: 1,
            ..ConvArgs::zeroed()
        },
    }
}

impl Problem {
    /// By the definition: output y and tap k meet input i where i * up = y * step + first + k * tap.
    fn expected(&self) -> Vec<i64> {
        let a = &self.args;
        let meets = |axis: &ConvAxis, y: u64, k: u64| {
            let at = y as i64 * axis.step + axis.first + k as i64 * axis.tap;
            let place = at.div_euclid(axis.up as i64);
            (at.rem_euclid(axis.up as i64) == 0 && (0..axis.input as i64).contains(&place))
                .then_some(place as u64)
        };
        let mut sums = Vec::new();
        for n in 0..a.batch {
            for channel in 0..a.groups * a.out_channels {
                let (group, o) = (channel / a.out_channels, channel % a.out_channels);
                for (y, z) in (0..a.h.out).flat_map(|y| (0..a.w.out).map(move |z| (y, z))) {
                    let mut sum = if a.has_bias == 1 { self.bias[channel as usize] } else { 0 };
                    for (k, l) in (0..a.h.taps).flat_map(|k| (0..a.w.taps).map(move |l| (k, l))) {
                        let (Some(i), Some(j)) = (meets(&a.h, y, k), meets(&a.w, z, l)) else { continue };
                        for c in 0..a.in_channels {
                            let x =
                                n * a.x[0] + (group * a.in_channels + c) * a.x[1] + i * a.x[2] + j * a.x[3];
                            let f = group * a.f[0] + o * a.f[1] + c * a.f[2] + k * a.f[3] + l * a.f[4];
                            sum += self.x[x as usize] * self.f[f as usize];
                        }
                    }
                    sums.push(sum);
                }
            }
        }
        sums
    }

    /// Compares all bits, with blocks for few of the tiles and for more than there are.
    fn agrees(&self, what: &str) {
        let expected = self.expected();
        assert!(expected.iter().any(|sum| *sum != 0));
        for (dtype, op) in DTYPES.into_iter().flat_map(|dtype| OPS.map(|op| (dtype, op))) {
            let encode = |list: &[i64]| -> Vec<u16> {
                list.iter().map(|x| small(dtype).encode(Number::Float(*x as f64)) as u16).collect()
            };
            let (x, f, bias, expected) =
                (encode(&self.x), encode(&self.f), encode(&self.bias), encode(&expected));
            for (device, grid) in BOTH.into_iter().zip([2, 64]) {
                let mut out = vec![0xffffu16; expected.len()];
                let mut list = [input(&x), input(&f), input(&bias), output(&mut out), value(&self.args)];
                let name = format!("conv_wide_{op}_{dtype}");
                // SAFETY: S9: the strides stay inside the arrays.
                unsafe { run(device, &name, LaunchShape { grid, block: 128 }, &mut list) };
                let wrong = out.iter().zip(&expected).position(|(got, expected)| got != expected);
                assert_eq!(wrong, None, "{what}: {name} on device {device}, the first wrong place");
            }
        }
    }
}

#[test]
fn forward_convolutions_are_exact() {
    let (h, w) = (forward(11, 3, 1, 1, 1), forward(7, 3, 1, 1, 1));
    // Taps of a filter are a multiple of four, so that they are read by fours, and are not.
    problem([2, 1, 8, 130], h, w, 1).agrees("3x3");
    problem([1, 2, 5, 70], h, w, 2).agrees("two groups");
    problem([3, 1, 3, 64], forward(15, 5, 2, 2, 1), forward(13, 4, 3, 1, 1), 3).agrees("strides");
    problem([1, 1, 7, 33], forward(12, 3, 1, 2, 2), forward(12, 2, 1, 0, 3), 4).agrees("dilations");
    problem([1, 1, 40, 17], forward(9, 1, 1, 0, 1), forward(9, 1, 1, 0, 1), 5).agrees("1x1");
}

#[test]
fn transposed_convolutions_are_exact() {
    problem([2, 1, 6, 70], transposed(6, 4, 2, 1), transposed(5, 3, 2, 0), 6).agrees("every second place");
    problem([1, 2, 4, 130], transposed(4, 2, 3, 0), transposed(4, 3, 1, 1), 7)
        .agrees("fewer taps than phases");
}

#[test]
fn strides_are_followed() {
    // Rows of the image are columns, and no bias.
    let mut turned = problem([1, 1, 6, 66], forward(8, 3, 1, 1, 1), forward(8, 3, 1, 1, 1), 8);
    turned.args.x.swap(2, 3);
    turned.args.f.swap(3, 4);
    turned.agrees("turned");
    turned.args.has_bias = 0;
    turned.agrees("turned, without a bias");
}
