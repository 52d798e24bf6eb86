//! The geometry of convolutions and pooling: which inputs each output depends on.

/// One axis of a convolution. Output y uses input i with tap k if `i · up = y · step + first + k · tap`.
///
/// A transposed convolution has `up` above 1. The outputs with the same remainder modulo `up` form a phase. They use
/// the same taps, and each phase is a forward convolution with these taps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ConvAxis {
    /// Length of the output.
    pub out: usize,
    /// Length of the input.
    pub input: usize,
    /// Length of the filter.
    pub taps: usize,
    /// Output positions per input position.
    pub up: usize,
    /// Distance between neighbouring taps of a phase.
    pub tap_step: usize,
    pub step: i64,
    pub first: i64,
    pub tap: i64,
}

/// The outputs `q · up + rest` of an axis. They use the taps `first + j · tap_step`, j < `count`, with the inputs
/// `q · step + start + j · shift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phase {
    pub first: usize,
    pub count: usize,
    pub start: i64,
    pub shift: i64,
    /// The number of outputs.
    pub outputs: usize,
}

impl ConvAxis {
    /// A forward convolution. `None` if the filter is empty or longer than the padded input, or if a number overflows.
    pub(crate) fn forward(
        input: usize,
        taps: usize,
        [padding, stride, dilation]: [usize; 3],
    ) -> Option<ConvAxis> {
        let padded = padding.checked_mul(2)?.checked_add(input)?;
        let reach = dilation.checked_mul(taps.checked_sub(1)?)?.checked_add(1)?;
        let out = padded.checked_sub(reach)? / stride + 1;
        i64::try_from(padded).ok()?;
        let (step, tap) = (i64::try_from(stride).ok()?, i64::try_from(dilation).ok()?);
        Some(ConvAxis { out, input, taps, up: 1, tap_step: 1, step, first: -(padding as i64), tap })
    }

    /// A transposed convolution. `None` if it has no outputs, or if a number overflows.
    pub(crate) fn transposed(
        input: usize,
        taps: usize,
        [padding, stride, dilation]: [usize; 3],
        output_padding: usize,
    ) -> Option<ConvAxis> {
        let reach = dilation.checked_mul(taps.checked_sub(1)?)?.checked_add(1)?;
        let full =
            input.checked_sub(1)?.checked_mul(stride)?.checked_add(reach)?.checked_add(output_padding)?;
        let out = full.checked_sub(padding.checked_mul(2)?).filter(|&out| out > 0)?;
        i64::try_from(full).ok()?;
        let tap_step = stride / gcd(stride, dilation);
        let tap = -i64::try_from(dilation).ok()?;
        i64::try_from(tap_step.checked_mul(dilation)?).ok()?;
        Some(ConvAxis { out, input, taps, up: stride, tap_step, step: 1, first: padding as i64, tap })
    }

    /// Padding, stride and dilation as the caller gave them. A transposed convolution has those of its forward one.
    pub(crate) fn parameters(&self, transposed: bool) -> [usize; 3] {
        let size = |number: i64| number.unsigned_abs() as usize;
        let stride = if transposed { self.up } else { size(self.step) };
        [size(self.first), stride, size(self.tap)]
    }

    /// The number of phases with outputs. These are the remainders `0..phases`.
    pub(crate) fn phases(&self) -> usize {
        self.up.min(self.out)
    }

    /// The outputs with remainder `rest` modulo `up`.
    pub(crate) fn phase(&self, rest: usize) -> Phase {
        let up = self.up as i64;
        let at = |tap: usize| rest as i64 * self.step + self.first + tap as i64 * self.tap;
        let first = (0..self.taps.min(self.tap_step)).find(|&tap| at(tap) % up == 0);
        let count = first.map_or(0, |first| (self.taps - first).div_ceil(self.tap_step));
        let first = first.unwrap_or(0);
        Phase {
            first,
            count,
            start: at(first) / up,
            shift: self.tap * self.tap_step as i64 / up,
            outputs: (self.out + self.up - 1 - rest) / self.up,
        }
    }
}

/// A convolution. The channel counts are per group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Convolution {
    pub operation: &'static str,
    /// Whether the filter's first axis is the input channels.
    pub transposed: bool,
    pub batch: usize,
    pub groups: usize,
    pub in_channels: usize,
    pub out_channels: usize,
    pub h: ConvAxis,
    pub w: ConvAxis,
}

impl Convolution {
    /// The number of outputs. The shape of the result was checked, so the product saturates only if the result is
    /// empty.
    pub(crate) fn outputs(&self) -> usize {
        [self.groups, self.out_channels, self.h.out, self.w.out]
            .into_iter()
            .fold(self.batch, usize::saturating_mul)
    }

    /// Lengths of the filter's axes.
    pub(crate) fn filter_dims(&self) -> [usize; 4] {
        let Self { groups, in_channels, out_channels, .. } = *self;
        let [first, second] = if self.transposed {
            [groups * in_channels, out_channels]
        } else {
            [groups * out_channels, in_channels]
        };
        [first, second, self.h.taps, self.w.taps]
    }

    /// Whether each output has so few terms, and each input channel so few outputs, that tiles gain nothing.
    pub(crate) fn is_depthwise(&self) -> bool {
        self.in_channels == 1 && self.out_channels < 8
    }

    /// Strides of the filter's elements: group, output channel, input channel, row, column.
    pub(crate) fn filter_strides(&self, strides: &[usize]) -> [usize; 5] {
        let [first, second, row, column] = [0, 1, 2, 3].map(|axis| strides[axis]);
        if self.transposed {
            [first * self.in_channels, second, first, row, column]
        } else {
            [first * self.out_channels, first, second, row, column]
        }
    }
}

/// One axis of a pooling operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolAxis {
    pub out: usize,
    pub input: usize,
    pub window: usize,
    pub stride: usize,
    pub padding: usize,
}

impl PoolAxis {
    /// An axis with windows. `None` if the window is longer than the padded input, or if a number overflows.
    pub(crate) fn windows(
        input: usize,
        [window, stride, padding]: [usize; 3],
        ceil_mode: bool,
    ) -> Option<PoolAxis> {
        let padded = padding.checked_mul(2)?.checked_add(input)?;
        let span = padded.checked_sub(window)?;
        let mut out = if ceil_mode { span.div_ceil(stride) } else { span / stride } + 1;
        // The last window must begin inside the input or the padding before it.
        if ceil_mode && (out - 1).checked_mul(stride)? >= input + padding {
            out -= 1;
        }
        out.checked_mul(stride)?.checked_add(window)?;
        Some(PoolAxis { out, input, window, stride, padding })
    }

    /// An axis of adaptive means or upsampling, with both lengths given. `None` if a number overflows.
    pub(crate) fn lengths(input: usize, out: usize) -> Option<PoolAxis> {
        out.checked_mul(2)?.checked_add(1)?.checked_mul(input)?;
        Some(PoolAxis { out, input, window: 1, stride: 1, padding: 0 })
    }
}

/// The function of pooling or upsampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoolOp {
    /// The maximum, ignoring padding.
    Max,
    /// The mean; `true` counts padding as zeros.
    Mean(bool),
    /// The mean of PyTorch's adaptive bins.
    Adaptive,
    /// The element at ⌊y · in / out⌋.
    Nearest,
    /// Bilinear interpolation; `true` aligns the corners of both grids.
    Bilinear(bool),
}

/// Pooling or upsampling of the planes of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pooling {
    pub operation: &'static str,
    pub op: PoolOp,
    pub h: PoolAxis,
    pub w: PoolAxis,
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_returns_its_parameters() {
        let given = [2, 3, 5];
        assert_eq!(ConvAxis::forward(20, 3, given).map(|axis| axis.parameters(false)), Some(given));
        assert_eq!(ConvAxis::transposed(20, 3, given, 0).map(|axis| axis.parameters(true)), Some(given));
    }

    #[test]
    fn lengths_of_outputs() {
        let forward = |input, taps, p| ConvAxis::forward(input, taps, p).map(|axis| axis.out);
        assert_eq!(forward(7, 3, [0, 1, 1]), Some(5));
        assert_eq!(forward(7, 3, [1, 2, 2]), Some(3));
        assert_eq!(forward(2, 3, [0, 1, 1]), None);
        assert_eq!(forward(usize::MAX, 3, [1, 1, 1]), None);
        assert_eq!(forward(5, 0, [1, 1, 1]), None);
        let transposed =
            |input, taps, p, more| ConvAxis::transposed(input, taps, p, more).map(|axis| axis.out);
        assert_eq!(transposed(3, 3, [0, 2, 1], 0), Some(7));
        assert_eq!(transposed(3, 3, [1, 2, 1], 1), Some(6));
        assert_eq!(transposed(1, 2, [1, 1, 1], 0), None);
        assert_eq!(transposed(0, 2, [0, 1, 1], 0), None);
        let pool = |input, p, ceil| PoolAxis::windows(input, p, ceil).map(|axis| axis.out);
        assert_eq!(pool(6, [3, 2, 0], false), Some(2));
        assert_eq!(pool(6, [3, 2, 0], true), Some(3));
        // With 4 windows, the last one would begin in the padding after the input.
        assert_eq!(pool(5, [2, 2, 1], true), Some(3));
        assert_eq!(pool(2, [3, 1, 0], true), None);
    }

    /// Stride 2, filter of 3, no padding: even outputs use taps 0 and 2, odd ones tap 1.
    #[test]
    fn phases_divide_the_taps() {
        let axis = ConvAxis::transposed(3, 3, [0, 2, 1], 0).expect("it fits");
        assert_eq!(axis.phase(0), Phase { first: 0, count: 2, start: 0, shift: -1, outputs: 4 });
        assert_eq!(axis.phase(1), Phase { first: 1, count: 1, start: 0, shift: -1, outputs: 3 });
        assert_eq!(axis.phases(), 2);
        // A stride longer than the output: the other phases have no outputs.
        let axis = ConvAxis::transposed(1, 3, [0, 1 << 40, 1], 0).expect("it fits");
        assert_eq!((axis.out, axis.phases()), (3, 3));
        assert_eq!(axis.phase(2), Phase { first: 2, count: 1, start: 0, shift: -1, outputs: 1 });
        // Stride and dilation 2: odd outputs use no taps.
        let axis = ConvAxis::transposed(3, 2, [0, 2, 2], 0).expect("it fits");
        assert_eq!(axis.phase(0), Phase { first: 0, count: 2, start: 0, shift: -1, outputs: 4 });
        assert_eq!(axis.phase(1).count, 0);
    }
}
