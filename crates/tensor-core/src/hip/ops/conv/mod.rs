//! Convolutions: by the platform's library or by our kernels, whichever was quicker when a problem was met first.

mod library;
mod own;

use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::ops::binary::binary_assign;
use crate::layout::Layout;
use crate::ops::BinaryOp;
use crate::window::Convolution;

pub(in crate::hip) use library::{Prepared, Problem};

/// The convolution of `x` `[batch, channels, h, w]` with filters and, where there is one, a bias.
pub(crate) fn conv(
    (x, x_layout): (&HipStorage, &Layout),
    (filter, filter_layout): (&HipStorage, &Layout),
    bias: Option<(&HipStorage, &Layout)>,
    shape: &Convolution,
) -> Result<HipStorage> {
    let (device, dtype, operation) = (x.device(), x.dtype(), shape.operation);
    let outputs = shape.outputs();
    // SAFETY: S15: either way of computing writes every output.
    let mut out = unsafe { HipStorage::uninit(device, dtype, outputs, operation) }?;
    if outputs == 0 {
        return Ok(out);
    }
    // A library takes tensors as they lie if they lie tight, and rounds before a bias is added.
    let tight = x_layout.is_contiguous() && filter_layout.is_contiguous();
    let exact = bias.is_none() || dtype == DType::F32;
    let problem = Problem { dtype, shape: *shape };
    let prepared =
        if tight && exact { device.libraries().convolution(device.stream(), &problem) } else { None };
    let Some(prepared) = prepared else {
        own::conv(&mut out, (x, x_layout), (filter, filter_layout), bias, shape)?;
        return Ok(out);
    };
    let ways = prepared.solutions() + 1;
    device.libraries().choices().run(device.stream(), &problem, ways, |way| -> Result<Option<()>> {
        if way == prepared.solutions() {
            own::conv(&mut out, (x, x_layout), (filter, filter_layout), bias, shape)?;
            return Ok(Some(()));
        }
        let starts = [x_layout.offset(), filter_layout.offset()];
        if !library::conv(&mut out, (x, filter), starts, &prepared, way)? {
            return Ok(None);
        }
        if let Some((bias, layout)) = bias {
            let places = [shape.batch, shape.groups * shape.out_channels, shape.h.out, shape.w.out];
            let places = Layout::contiguous(places, operation)?;
            let bias_layout = layout.unsqueeze(1).unsqueeze(2).expand(places.shape(), operation)?;
            binary_assign(&mut out, &places, bias, &bias_layout, BinaryOp::Add)?;
        }
        Ok(Some(()))
    })?;
    Ok(out)
}
