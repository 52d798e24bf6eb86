//! Convolutions of integers, and their expected results.

use super::Random;
use bytemuck::Zeroable;
use kernels_hip::args::{ConvArgs, ConvAxis};

/// The axis of a forward convolution.
pub fn forward(input: u64, taps: u64, stride: u64, padding: u64, dilation: u64) -> ConvAxis {
    let out = (input + 2 * padding - dilation * (taps - 1) - 1) / stride + 1;
    let (step, first, tap) = (stride as i64, -(padding as i64), dilation as i64);
    ConvAxis { out, input, taps, up: 1, tap_step: 1, step, first, tap }
}

/// The axis of a transposed convolution with dilation 1.
pub fn transposed(input: u64, taps: u64, stride: u64, padding: u64) -> ConvAxis {
    let out = (input - 1) * stride + taps - 2 * padding;
    ConvAxis { out, input, taps, up: stride, tap_step: stride, step: 1, first: padding as i64, tap: -1 }
}

/// Tight integer operands.
pub struct Problem {
    pub args: ConvArgs,
    pub x: Vec<i64>,
    pub f: Vec<i64>,
    pub bias: Vec<i64>,
}

/// Batch, groups, and the input and output channels of a group, with integers from -2 to 2, whose sums are exact in f32.
pub fn problem(sizes: [u64; 4], h: ConvAxis, w: ConvAxis, seed: u64) -> Problem {
    problem_of([2, 2], sizes, h, w, seed)
}

/// As [`problem`], with integers up to `greatest` of the input, and of the filters and the bias.
pub fn problem_of(
    greatest: [i64; 2],
    [batch, groups, inputs, outputs]: [u64; 4],
    h: ConvAxis,
    w: ConvAxis,
    seed: u64,
) -> Problem {
    let mut random = Random(seed);
    let mut numbers = |greatest: i64, count: u64| -> Vec<i64> {
        (0..count).map(|_| (random.next() >> 32) as i64 % (2 * greatest + 1) - greatest).collect()
    };
    let (plane, taps) = (h.input * w.input, h.taps * w.taps);
    Problem {
        x: numbers(greatest[0], batch * groups * inputs * plane),
        f: numbers(greatest[1], groups * outputs * inputs * taps),
        bias: numbers(greatest[1], groups * outputs),
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
    /// By definition: output y and tap k read input i where i * up = y * step + first + k * tap.
    pub fn expected(&self) -> Vec<i64> {
        let a = &self.args;
        let meets = |axis: &ConvAxis, y: u64, k: u64| {
            let at = y as i64 * axis.step + axis.first + k as i64 * axis.tap;
            let index = at.div_euclid(axis.up as i64);
            (at.rem_euclid(axis.up as i64) == 0 && (0..axis.input as i64).contains(&index))
                .then_some(index as u64)
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
}
