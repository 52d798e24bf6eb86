//! Moving elements from one layout to another.

use crate::cpu::blocks::update;
use crate::cpu::chunks::{BLOCK, new_chunks, new_rooms};
use crate::cpu::dispatch::dispatch;
use crate::cpu::gather::{Walk, transpose};
use crate::cpu::operands::Source;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;

/// The elements of `layout`, tight and in row-major order.
pub(crate) fn copy(storage: &CpuStorage, layout: &Layout) -> Result<CpuStorage> {
    dispatch!(storage, elements: T => {
        if let Some((rows, length, stride)) = Walk::new(layout).column_by_column() {
            return copy_columns::<T>(elements, &rows, (length, stride), layout.elements()).map(T::store);
        }
        let source = Source::<T>::new(elements, layout);
        new_rooms(layout.elements(), (BLOCK, WORK), "copy", &|start, room, gathered: &mut Vec<T>| {
            room.copy(source.block(start, room.left(), gathered));
        })
        .map(T::store)
    })
}

/// What an element costs, in units of [`crate::cpu::chunks`]: more if it is gathered, less if not.
const WORK: usize = 2;
/// What an element costs that is moved from a column to a row.
const TRANSPOSED: usize = 4;
/// Rows that one core copies at once.
const ROWS: usize = 64;

/// The `count` elements of `rows`, each of `length` elements `stride` places apart, whose first elements lie side by side.
fn copy_columns<T: Element>(
    elements: &[T],
    rows: &Walk,
    (length, stride): (usize, usize),
    count: usize,
) -> Result<Vec<T>> {
    new_chunks(count, (ROWS * length, TRANSPOSED), "copy", &|start, out, (): &mut ()| {
        let mut rest = out;
        let first = start / length;
        rows.stretches(first..first + rest.len() / length, |place, _, count| {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(count * length);
            transpose(elements, place..place + count, (length, stride), now);
            rest = later;
        });
    })
}

/// Writes the elements of `from` to those of `layout`, which has the same shape and distinct places.
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
