//! Arguments of the family `conv_split`.

use super::ConvArgs;
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Channels of an element of a split factor.
const DEEP: u64 = 16;
/// Parts of a number.
const PARTS: u64 = 3;
/// Bytes of an element of one part.
const ELEMENT_BYTES: u64 = DEEP * 2;
/// Elements that a block of `conv_split_parts` writes, and bytes of its flags.
const BLOCK: [u64; 2] = [128, 8];

/// A factor, `[outer, inner, channels, rows, columns]`, and its split form. A line is the data of one pair of outer and inner indices.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct SplitOperand {
    /// Pairs of outer and inner indices.
    pub lines: u64,
    /// Length of the inner axis.
    pub inner: u64,
    /// Channels.
    pub channels: u64,
    /// Slices of sixteen channels; the last one is padded with zeros.
    pub slices: u64,
    /// Rows times columns.
    pub plane: u64,
    /// Columns.
    pub columns: u64,
    /// Strides of the numbers: outer, inner, channel, row, column.
    pub steps: [u64; 5],
    /// Strides of the parts, in elements: outer, inner, pixel, part. Slices are three part strides apart.
    pub to: [u64; 4],
    /// Blocks of `conv_split_parts` for a line.
    pub blocks: u64,
    /// Offset of the parts in the scratch memory, in bytes.
    pub parts: u64,
    /// Offset of the flags.
    pub flags: u64,
}

impl SplitOperand {
    /// Sizes of the parts and of the flags in bytes; `None` if they overflow.
    fn bytes(&self) -> Option<[u64; 2]> {
        let parts = self.lines.checked_mul(self.slices)?.checked_mul(self.plane)?;
        Some([
            parts.checked_mul(PARTS * ELEMENT_BYTES)?,
            self.lines.checked_mul(self.blocks)?.checked_mul(BLOCK[1])?,
        ])
    }
}

/// A convolution in split form: `conv_split_parts` and `conv_split_64`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ConvSplitArgs {
    /// The convolution of the original numbers.
    pub plain: ConvArgs,
    /// The convolution of the parts. Its channels are slices, its strides count elements.
    pub split: ConvArgs,
    /// The filters.
    pub f: SplitOperand,
    /// The input.
    pub x: SplitOperand,
}

impl ConvSplitArgs {
    /// The arguments for a convolution, and the bytes of scratch memory that it needs. `None` if these overflow, which is possible, because
    /// inputs that are broadcast by strides of zero may have any size.
    pub fn new(plain: ConvArgs) -> Option<(Self, u64)> {
        let ConvArgs { batch, groups, in_channels, out_channels, h, w, x, f, .. } = plain;
        let slices = in_channels.div_ceil(DEEP);
        let operand = |lines: [u64; 2], plane: [u64; 2], steps| {
            let plane_size = plane[0].checked_mul(plane[1])?;
            let operand = SplitOperand {
                lines: lines[0].checked_mul(lines[1])?,
                inner: lines[1],
                channels: in_channels,
                slices,
                plane: plane_size,
                columns: plane[1],
                steps,
                blocks: slices.checked_mul(plane_size)?.div_ceil(BLOCK[0]),
                ..SplitOperand::zeroed()
            };
            Some((operand, operand.bytes()?))
        };
        // Unused strides may have any value, so this may wrap.
        let group = in_channels.wrapping_mul(x[1]);
        let (mut input, x_bytes) =
            operand([batch, groups], [h.input, w.input], [x[0], group, x[1], x[2], x[3]])?;
        let (mut filters, f_bytes) = operand([groups, out_channels], [h.taps, w.taps], f)?;
        // These sizes bound all strides, so they do not overflow. The order of the input is images, groups, slices; that of the filters is
        // groups, slices, with contiguous output channels.
        let (x_slice, f_slice) = (PARTS * input.plane, PARTS * filters.plane * out_channels);
        let split = ConvArgs {
            in_channels: slices,
            x: [groups * slices * x_slice, x_slice, w.input, 1],
            f: [slices * f_slice, 1, f_slice, w.taps * out_channels, out_channels],
            ..plain
        };
        input.to = [split.x[0], slices * x_slice, 1, input.plane];
        filters.to = [split.f[0], 1, out_channels, filters.plane * out_channels];
        let mut end = 0u64;
        for (operand, [parts, flags]) in [(&mut filters, f_bytes), (&mut input, x_bytes)] {
            operand.parts = end;
            operand.flags = end.checked_add(parts)?;
            // Parts are aligned to their elements.
            end = operand.flags.checked_add(flags)?.checked_next_multiple_of(ELEMENT_BYTES)?;
        }
        Some((Self { plain, split, f: filters, x: input }, end))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ConvAxis;

    #[test]
    fn sizes_that_no_number_holds_are_refused() {
        let axis = |input| ConvAxis { input, taps: 1, out: 1, up: 1, ..ConvAxis::zeroed() };
        let of = |h, w| {
            let sizes =
                ConvArgs { batch: 1, groups: 1, in_channels: 16, out_channels: 32, ..ConvArgs::zeroed() };
            ConvSplitArgs::new(ConvArgs { h: axis(h), w: axis(w), ..sizes }).map(|(_, bytes)| bytes)
        };
        // Parts of 32 filters, a block's flags for each of them, and the same of the input.
        assert_eq!(of(1, 1), Some(32 * 96 + 32 * 8 + 96 + 32));
        assert_eq!(of(128, 1_500_223_167_998_500), None);
        assert_eq!(of(u64::MAX, u64::MAX), None);
    }
}
