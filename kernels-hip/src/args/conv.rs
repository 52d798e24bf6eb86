//! Arguments of the families `conv` and `pool`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// One axis of a convolution: output position y and tap k read input position i where `i · up = y · step + first + k · tap`.
///
/// Forward: `up` is 1, `step` the stride, `first` −padding, `tap` the dilation. Transposed: `up` is the stride, `step` is 1, `first` the
/// padding, `tap` −dilation.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ConvAxis {
    /// Length of the output.
    pub out: u64,
    /// Length of the input.
    pub input: u64,
    /// Length of the filter.
    pub taps: u64,
    /// Output positions for each input position.
    pub up: u64,
    /// Distance of two taps that contribute to the same output: up / gcd(up, tap).
    pub tap_step: u64,
    /// Input positions between neighbouring outputs, times `up`.
    pub step: i64,
    /// Input position of output 0 and tap 0, times `up`.
    pub first: i64,
    /// Input positions between neighbouring taps, times `up`.
    pub tap: i64,
}

/// A convolution: `conv_tile`, `conv_depthwise`, `conv_wide` and `conv_mma`. Channels are those of one group; the output is tight.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ConvArgs {
    /// Images.
    pub batch: u64,
    /// Groups of channels.
    pub groups: u64,
    /// Channels of the input in one group; 1 for `conv_depthwise`.
    pub in_channels: u64,
    /// Channels of the output in one group.
    pub out_channels: u64,
    /// The axis of rows.
    pub h: ConvAxis,
    /// The axis of columns.
    pub w: ConvAxis,
    /// Strides of the input: image, channel, row, column.
    pub x: [u64; 4],
    /// Strides of the filters: group, output channel, input channel, row, column.
    pub f: [u64; 5],
    /// Stride of the bias.
    pub bias_step: u64,
    /// 1: there is a bias.
    pub has_bias: u32,
    /// Zero.
    pub reserved: u32,
}

/// One axis of a pooling: output position y has the `window` positions from `y · stride − padding` on.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct PoolAxis {
    /// Length of the output.
    pub out: u64,
    /// Length of the input.
    pub input: u64,
    /// Length of the window.
    pub window: u64,
    /// Positions between neighbouring windows.
    pub stride: u64,
    /// Positions before the input; at most half a window.
    pub padding: u64,
}

/// Pooling and upsampling of planes: `pool_*`. The output is tight.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct PoolArgs {
    /// Number of outputs.
    pub count: u64,
    /// Channels of an image.
    pub channels: u64,
    /// The axis of rows.
    pub h: PoolAxis,
    /// The axis of columns.
    pub w: PoolAxis,
    /// Strides of the input: image, channel, row, column.
    pub x: [u64; 4],
    /// 1: `pool_avg` counts the padding; `pool_bilinear` aligns corners.
    pub flag: u32,
    /// Zero.
    pub reserved: u32,
}

// The sources assert the same numbers.
const _: () = {
    assert!(size_of::<ConvAxis>() == 64 && size_of::<ConvArgs>() == 248 && offset_of!(ConvArgs, w) == 96);
    assert!(offset_of!(ConvArgs, x) == 160 && offset_of!(ConvArgs, f) == 192);
    assert!(offset_of!(ConvArgs, bias_step) == 232 && offset_of!(ConvArgs, has_bias) == 240);
    assert!(size_of::<PoolAxis>() == 40 && size_of::<PoolArgs>() == 136 && offset_of!(PoolArgs, w) == 56);
    assert!(offset_of!(PoolArgs, x) == 96 && offset_of!(PoolArgs, flag) == 128);
};
