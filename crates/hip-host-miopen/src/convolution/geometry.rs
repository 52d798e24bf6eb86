//! The shape of a convolution, and the columns of the input that its filters are applied to.

use crate::tensor::{Dims, Tensor, View};
use std::ops::Range;

/// The maximum number of floats in the columns, and in their results, that are computed at once. A few positions may exceed it.
const LIMIT: usize = 1 << 20;

/// A tensor of images or filters in memory, with three spatial dimensions; missing ones have length 1.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) view: View,
    /// The strides of the first and the second dimension.
    pub(crate) outer: [usize; 2],
    spatial: [usize; 3],
    /// The spatial positions.
    pub(crate) positions: Dims,
}

impl Side {
    pub(crate) fn new(view: View, tensor: &Tensor) -> Self {
        let mut spatial = [0; 3];
        let missing = 5 - tensor.rank();
        spatial[missing..].copy_from_slice(&tensor.strides[2..]);
        let outer = [tensor.strides[0], tensor.strides[1]];
        Self { view, outer, spatial, positions: tensor.dims(2..tensor.rank()) }
    }

    /// The offset of an image's channel.
    pub(crate) fn start(&self, image: usize, channel: usize) -> usize {
        image * self.outer[0] + channel * self.outer[1]
    }
}

/// The tensors of a convolution.
#[derive(Debug, Clone)]
pub(crate) struct Geometry {
    pub(crate) images: usize,
    pub(crate) groups: usize,
    /// Channels of a group.
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) input: [usize; 3],
    pub(crate) output: [usize; 3],
    pub(crate) kernel: [usize; 3],
    pub(crate) pad: [usize; 3],
    pub(crate) stride: [usize; 3],
    pub(crate) dilation: [usize; 3],
}

impl Geometry {
    /// Positions of a channel of the output.
    pub(crate) fn positions(&self) -> usize {
        self.output.iter().product()
    }

    /// Positions of a channel of the input.
    pub(crate) fn input_positions(&self) -> usize {
        self.input.iter().product()
    }

    fn taps(&self) -> usize {
        self.kernel.iter().product()
    }

    /// The number of terms of an output value: input channels of the group times taps.
    pub(crate) fn terms(&self) -> usize {
        self.inputs * self.taps()
    }

    /// The number of output positions that are computed at once.
    pub(crate) fn block(&self) -> usize {
        let each = self.terms().max(self.outputs);
        // If one position exceeds the limit, sixteen of them could need more memory than there is.
        let least = if each > LIMIT { 1 } else { 16 };
        (LIMIT / each).max(least).min(self.positions())
    }

    /// Whether each output position depends on one input position only, the same one.
    fn is_plain(&self) -> bool {
        self.kernel == [1; 3] && self.stride == [1; 3] && self.pad == [0; 3]
    }

    /// Visits the input values that a tap of a channel reads for the output positions from `first` on, in evenly spaced pieces. A visit
    /// gets a piece's start in the input and its range within the `count` outputs. Outputs that are not visited read padding.
    fn meets(&self, tap: usize, first: usize, count: usize, mut piece: impl FnMut([usize; 3], Range<usize>)) {
        let [_, kh, kw] = self.kernel;
        let offsets = [tap / (kh * kw), tap / kw % kh, tap % kw];
        let [_, oh, ow] = self.output;
        let shift: [isize; 3] =
            std::array::from_fn(|it| (offsets[it] * self.dilation[it]) as isize - self.pad[it] as isize);
        let at = |axis: usize, index: usize| {
            let at = (index * self.stride[axis]) as isize + shift[axis];
            usize::try_from(at).ok().filter(|at| *at < self.input[axis])
        };
        let step = self.stride[2] as isize;
        let left = (-shift[2]).max(0).unsigned_abs().div_ceil(self.stride[2]);
        let right = (self.input[2] as isize - shift[2] + step - 1).max(0) / step;
        let mut done = 0;
        while done < count {
            let index = first + done;
            let (d, h, w) = (index / (oh * ow), index / ow % oh, index % ow);
            let some = (ow - w).min(count - done);
            let (from, to) = (left.max(w), (right as usize).min(w + some));
            if let (Some(d), Some(h)) = (at(0, d), at(1, h))
                && from < to
            {
                let x = ((from * self.stride[2]) as isize + shift[2]) as usize;
                piece([d, h, x], done + from - w..done + to - w);
            }
            done += some;
        }
    }

    /// Fills the columns for the output positions from `first` on: a row for each term, `count` long.
    pub(crate) fn columns(
        &self,
        x: &Side,
        (image, group): (usize, usize),
        first: usize,
        count: usize,
        out: &mut [f32],
    ) {
        let taps = self.taps();
        for (row, out) in out.chunks_mut(count).take(self.terms()).enumerate() {
            let start = x.start(image, group * self.inputs + row / taps);
            if self.is_plain() {
                x.positions.load(&x.view, start, first, out);
                continue;
            }
            out.fill(0.0);
            self.meets(row % taps, first, count, |[d, h, w], which| {
                let at = start + d * x.spatial[0] + h * x.spatial[1] + w * x.spatial[2];
                x.view.load(at, self.stride[2] * x.spatial[2], &mut out[which]);
            });
        }
    }

    /// The reverse of `columns`: adds the rows to the positions of the group's input channels, which are contiguous in `image`.
    pub(crate) fn gather(&self, columns: &[f32], first: usize, count: usize, image: &mut [f32]) {
        let (taps, [_, height, width]) = (self.taps(), self.input);
        for (row, column) in columns.chunks(count).take(self.terms()).enumerate() {
            let channel = &mut image[row / taps * self.input_positions()..][..self.input_positions()];
            self.meets(row % taps, first, count, |[d, h, w], which| {
                let slots = channel[(d * height + h) * width + w..].iter_mut().step_by(self.stride[2]);
                slots.zip(&column[which]).for_each(|(slot, value)| *slot += value);
            });
        }
    }
}

/// The filters of all groups, contiguous: a row for each output channel.
pub(crate) fn filters(geometry: &Geometry, w: &Side) -> Vec<f32> {
    let terms = geometry.terms();
    let mut out = vec![0.0; geometry.groups * geometry.outputs * terms];
    for (filter, out) in out.chunks_mut(terms).enumerate() {
        for (channel, out) in out.chunks_mut(terms / geometry.inputs).enumerate() {
            w.positions.load(&w.view, w.start(filter, channel), 0, out);
        }
    }
    out
}
