//! Arguments of the family `conv_split`.

use super::ConvArgs;
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Channels of a place that are one element of a factor by parts.
const DEEP: u64 = 16;
/// Numbers that each number is the sum of.
const PARTS: u64 = 3;
/// Bytes of an element of one part.
const ELEMENT_BYTES: u64 = DEEP * 2;
/// Elements that a block of `conv_split_parts` writes, and bytes of its flags.
const BLOCK: [u64; 2] = [128, 8];

/// A factor, `[outer, inner, channels, rows, columns]`, as it lies and by parts. A line is what one pair of outer and inner has.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct SplitOperand {
    /// Pairs of outer and inner.
    pub lines: u64,
    /// Length of the inner axis.
    pub inner: u64,
    /// Channels.
    pub channels: u64,
    /// Sixteens of channels, the last one filled up with zeros.
    pub slices: u64,
    /// Rows times columns.
    pub plane: u64,
    /// Columns.
    pub columns: u64,
    /// Strides of the numbers: outer, inner, channel, row, column.
    pub steps: [u64; 5],
    /// Strides of the parts, in elements: outer, inner, place, part. Slices lie three times the last one apart.
    pub to: [u64; 4],
    /// Blocks of `conv_split_parts` for a line.
    pub blocks: u64,
    /// Where the parts begin, in bytes of the scratch.
    pub parts: u64,
    /// Where the flags begin.
    pub flags: u64,
}

impl SplitOperand {
    /// What the parts and the flags take, in bytes.
    fn bytes(&self) -> [u64; 2] {
        [self.lines * self.slices * self.plane * PARTS * ELEMENT_BYTES, self.lines * self.blocks * BLOCK[1]]
    }
}

/// A convolution by parts: `conv_split_parts` and `conv_split_64`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ConvSplitArgs {
    /// The convolution of the numbers.
    pub plain: ConvArgs,
    /// The same of the parts, whose channels are slices, in elements.
    pub split: ConvArgs,
    /// The filters.
    pub f: SplitOperand,
    /// The input.
    pub x: SplitOperand,
}

impl ConvSplitArgs {
    /// The arguments for a convolution, and how many bytes of scratch it takes.
    pub fn new(plain: ConvArgs) -> (Self, u64) {
        let ConvArgs { batch, groups, in_channels, out_channels, h, w, x, f, .. } = plain;
        let slices = in_channels.div_ceil(DEEP);
        let places = h.input * w.input;
        let taps = h.taps * w.taps;
        // The input lies by images, groups and slices; the filters by groups and slices, with output channels side by side.
        let (x_slice, f_slice) = (PARTS * places, PARTS * taps * out_channels);
        let split = ConvArgs {
            in_channels: slices,
            x: [groups * slices * x_slice, x_slice, w.input, 1],
            f: [slices * f_slice, 1, f_slice, w.taps * out_channels, out_channels],
            ..plain
        };
        let operand = |lines: u64, inner, plane: u64, columns, steps, to| SplitOperand {
            lines,
            inner,
            channels: in_channels,
            slices,
            plane,
            columns,
            steps,
            to,
            blocks: (slices * plane).div_ceil(BLOCK[0]),
            ..SplitOperand::zeroed()
        };
        let mut input = operand(
            batch * groups,
            groups,
            places,
            w.input,
            [x[0], in_channels * x[1], x[1], x[2], x[3]],
            [split.x[0], slices * x_slice, 1, places],
        );
        let mut filters = operand(
            groups * out_channels,
            out_channels,
            taps,
            w.taps,
            f,
            [split.f[0], 1, out_channels, taps * out_channels],
        );
        let mut end = 0;
        for operand in [&mut filters, &mut input] {
            let [parts, flags] = operand.bytes();
            operand.parts = end;
            operand.flags = end + parts;
            // Parts begin at multiples of their elements.
            end = (end + parts + flags).next_multiple_of(ELEMENT_BYTES);
        }
        (Self { plain, split, f: filters, x: input }, end)
    }

    /// Blocks of `conv_split_parts`.
    pub fn blocks(&self) -> u64 {
        [self.f, self.x].iter().map(|operand| operand.lines * operand.blocks).sum()
    }
}

// The sources assert the same numbers.
const _: () = {
    assert!(size_of::<SplitOperand>() == 144 && offset_of!(SplitOperand, blocks) == 120);
    assert!(size_of::<ConvSplitArgs>() == 784 && offset_of!(ConvSplitArgs, f) == 496);
};
