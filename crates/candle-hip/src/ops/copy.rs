//! Copies from storage to storage.

use candle_core::{Layout, Result};

use super::super::error::Candles;
use super::super::{layout, HipStorage};

/// Copies the elements at `l` to consecutive elements from `offset` on.
pub(in super::super) fn copy_strided_src(
    source: &HipStorage,
    destination: &mut HipStorage,
    offset: usize,
    l: &Layout,
) -> Result<()> {
    let elements = l.shape().elem_count();
    if elements == 0 {
        return Ok(());
    }
    let from = source.tensor(l)?;
    if destination.is_first_filled_by(offset, elements) && source.element_type() == destination.element_type()
    {
        return destination.replace(from);
    }
    let to = layout::ours(&Layout::contiguous_with_offset(l.shape().clone(), offset))?;
    destination.change(to, |to| to.copy_from_(&from).candles())
}

/// Where the rows of a matrix begin.
#[derive(Clone, Copy)]
pub(in super::super) struct Rows {
    pub(in super::super) offset: usize,
    /// From one row to the next, in elements.
    pub(in super::super) stride: usize,
}

/// Copies a matrix. Rows of the destination that overlap are written one after another.
pub(in super::super) fn copy2d(
    (source, from): (&HipStorage, Rows),
    (destination, to): (&mut HipStorage, Rows),
    (rows, columns): (usize, usize),
) -> Result<()> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let at_once = if to.stride >= columns { rows } else { 1 };
    for row in (0..rows).step_by(at_once) {
        let layout_of = |r: Rows| layout::at(&[at_once, columns], &[r.stride, 1], r.offset + row * r.stride);
        let part = source.tensor_at(layout_of(from)?)?;
        destination.change(layout_of(to)?, |to| to.copy_from_(&part).candles())?;
    }
    Ok(())
}
