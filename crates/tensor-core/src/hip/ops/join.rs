//! Joining several pieces into one storage, with one launch per piece. Each element is written once.

use super::{copy, fill};
use crate::error::Result;
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::plan::join::{Piece, borders};
use crate::scalar::Scalar;
use crate::shape::Shape;

/// Concatenates `pieces`, at least one, along `axis` to an array of `shape`.
pub(crate) fn join(shape: &Shape, axis: usize, pieces: &[Piece<'_, HipStorage>]) -> Result<HipStorage> {
    let whole = Layout::contiguous(shape.clone(), "cat")?;
    let (device, dtype) = (pieces[0].0.device(), pieces[0].0.dtype());
    // SAFETY: S15: the pieces' lengths along the axis sum to that of `shape`, so that the copies write every element.
    let mut out = unsafe { HipStorage::uninit(device, dtype, whole.elements(), "cat") }?;
    let mut start = 0;
    for (storage, layout) in pieces {
        let length = layout.dims()[axis];
        copy::copy_from(&mut out, &whole.narrow(axis, start, length, "cat")?, storage, layout)?;
        start += length;
    }
    Ok(out)
}

/// An array of `shape` that has the elements of `layout` from index `starts` on, and `value` elsewhere.
pub(crate) fn pad(
    (storage, layout): Piece<'_, HipStorage>,
    shape: &Shape,
    starts: &[usize],
    value: Scalar,
) -> Result<HipStorage> {
    let (borders, inside) = borders(shape, starts, layout.dims())?;
    let count = shape.elements("pad")?;
    // SAFETY: S15: borders and inner elements cover every element.
    let mut out = unsafe { HipStorage::uninit(storage.device(), storage.dtype(), count, "pad") }?;
    for border in &borders {
        fill::fill(&mut out, border, value)?;
    }
    copy::copy_from(&mut out, &inside, storage, layout)?;
    Ok(out)
}
