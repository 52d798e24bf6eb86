//! Copying elements from one layout to another.

use crate::cpu::blocks::update;
use crate::cpu::chunks::{BLOCK, new_chunks, new_outputs};
use crate::cpu::dispatch::dispatch;
use crate::cpu::gather::{Walk, transpose};
use crate::cpu::operands::Source;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;

/// A contiguous, row-major copy of the elements of `layout`.
pub(crate) fn copy(storage: &CpuStorage, layout: &Layout) -> Result<CpuStorage> {
    dispatch!(storage, elements: T => {
        if let Some((rows, length, stride)) = Walk::new(layout).column_by_column() {
            return copy_columns::<T>(elements, &rows, (length, stride), layout.elements()).map(T::store);
        }
        let source = Source::<T>::new(elements, layout);
        new_outputs(layout.elements(), (BLOCK, WORK), "copy", &|start, output, gathered: &mut Vec<T>| {
            output.copy(source.block(start, output.left(), gathered));
        })
        .map(T::store)
    })
}

/// The cost of an element, in units of [`crate::cpu::chunks`]. Gathering costs more, a plain copy less.
const WORK: usize = 2;
/// The cost of an element moved from a column to a row.
const TRANSPOSED: usize = 4;
/// Rows that a core copies at once.
const ROWS: usize = 64;

/// The `count` elements of `rows`. Each row has `length` elements with stride `stride`; the first elements are
/// adjacent.
fn copy_columns<T: Element>(
    elements: &[T],
    rows: &Walk,
    (length, stride): (usize, usize),
    count: usize,
) -> Result<Vec<T>> {
    new_chunks(count, (ROWS * length, TRANSPOSED), "copy", &|start, out, (): &mut ()| {
        let mut rest = out;
        let first = start / length;
        rows.stretches(first..first + rest.len() / length, |offset, _, count| {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(count * length);
            transpose(elements, offset..offset + count, (length, stride), now);
            rest = later;
        });
    })
}

/// Copies the elements of `from` to those of `layout`, which has the same shape and no overlap.
pub(crate) fn copy_from(
    storage: &mut CpuStorage,
    layout: &Layout,
    source: &CpuStorage,
    from: &Layout,
) -> Result<()> {
    dispatch!(storage, elements: T => match T::stored(source) {
        Some(source) => {
            let source = Source::new(source, from);
            update(elements, layout, WORK, &|start, _, after: &mut [T], gathered: &mut Vec<T>| {
                after.copy_from_slice(source.block(start, after.len(), gathered));
            });
            Ok(())
        }
        None => Err(unsupported("copy", source)),
    })
}
