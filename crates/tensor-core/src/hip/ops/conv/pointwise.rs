//! Convolutions with one-tap filters, as matrix products of the filters and each image's channels.

use smallvec::SmallVec;

use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::ops::matmul::blas;
use crate::hip::ops::matmul::product::{Operand, Product};
use crate::window::Convolution;

/// Whether the convolution is such a product, and the device's BLAS supports it.
pub(super) fn is_there(x: &HipStorage, shape: &Convolution) -> bool {
    let plain =
        |axis: &crate::window::ConvAxis| axis.taps == 1 && axis.parameters(shape.transposed)[..2] == [0, 1];
    shape.groups == 1
        && [&shape.h, &shape.w].into_iter().all(plain)
        && shape.h.out == shape.h.input
        && shape.w.out == shape.w.input
        && blas::is_there(x)
}

/// Writes the convolution of contiguous tensors to `out`; false if the BLAS does not support it.
pub(super) fn conv(
    out: &mut HipStorage,
    (x, filter): (&HipStorage, &HipStorage),
    [x_start, filter_start]: [usize; 2],
    shape: &Convolution,
) -> Result<bool> {
    let Convolution { batch, in_channels, out_channels, .. } = *shape;
    let positions = shape.h.out * shape.w.out;
    let left = if shape.transposed {
        Operand { row: 1, column: out_channels, step: 0, fits: true }
    } else {
        Operand { row: in_channels, column: 1, step: 0, fits: true }
    };
    let product = Product {
        rows: out_channels,
        columns: positions,
        inner: in_channels,
        count: batch,
        left,
        right: Operand { row: positions, column: 1, step: in_channels * positions, fits: true },
        step: out_channels * positions,
        calls: SmallVec::from_buf([[filter_start, x_start, 0]]),
    };
    blas::matmul(filter, x, out, &product)
}
