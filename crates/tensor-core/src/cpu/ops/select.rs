//! Selecting elements by a mask or by position.

use crate::cpu::chunks::{fill_chunks, new_blocks};
use crate::cpu::dispatch::dispatch;
use crate::cpu::operands::Source;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::plan::flip::{FlipDim, flip_dims};

/// The element of `on_true` where the mask is not zero, else that of `on_false`. All layouts have the same shape.
/// The mask is `u8`, `u32` or `i64`.
pub(crate) fn where_cond(
    (mask, layout): (&CpuStorage, &Layout),
    (on_true, a): (&CpuStorage, &Layout),
    (on_false, b): (&CpuStorage, &Layout),
) -> Result<CpuStorage> {
    dispatch!(on_true, x: T => match (T::stored(on_false), mask) {
        (None, _) => Err(unsupported("where_cond", on_false)),
        (Some(y), CpuStorage::U8(mask)) => choose::<u8, T>((mask, layout), (x, a), (y, b)).map(T::store),
        (Some(y), CpuStorage::U32(mask)) => choose::<u32, T>((mask, layout), (x, a), (y, b)).map(T::store),
        (Some(y), CpuStorage::I64(mask)) => choose::<i64, T>((mask, layout), (x, a), (y, b)).map(T::store),
        _ => Err(unsupported("where_cond", mask)),
    })
}

fn choose<M: Element, T: Element>(
    (mask, layout): (&[M], &Layout),
    (x, a): (&[T], &Layout),
    (y, b): (&[T], &Layout),
) -> Result<Vec<T>> {
    let (mask, x, y) = (Source::new(mask, layout), Source::new(x, a), Source::new(y, b));
    type Scratch<M, T> = (Vec<M>, Vec<T>, Vec<T>);
    new_blocks(layout.elements(), "where_cond", &|start, out, (masks, left, right): &mut Scratch<M, T>| {
        let mask = mask.block(start, out.len(), masks);
        let (x, y) = (x.block(start, out.len(), left), y.block(start, out.len(), right));
        for (out, (mask, (x, y))) in out.iter_mut().zip(mask.iter().zip(x.iter().zip(y))) {
            *out = if *mask != M::default() { *x } else { *y };
        }
    })
}

/// The elements in reverse order along `axes`.
pub(crate) fn flip(storage: &CpuStorage, layout: &Layout, axes: &[usize]) -> Result<CpuStorage> {
    dispatch!(storage, elements: T => {
        let dims = if layout.elements() > 0 { flip_dims(layout, axes) } else { Default::default() };
        new_blocks(layout.elements(), "flip", &|start, out: &mut [T], (): &mut ()| {
            flip_block(elements, layout.offset(), &dims, start, out);
        })
        .map(T::store)
    })
}

/// Writes the elements from index `position` on.
fn flip_block<T: Copy>(elements: &[T], offset: usize, dims: &[FlipDim], mut position: usize, out: &mut [T]) {
    let Some((&(inner, stride, backwards), outer)) = dims.split_last() else {
        return out.fill(elements[offset]);
    };
    let mut rest = out;
    while !rest.is_empty() {
        let (mut row, column) = (position / inner, position % inner);
        let mut base = offset;
        for &(length, stride, backwards) in outer.iter().rev() {
            let index = row % length;
            row /= length;
            base += stride * if backwards { length - 1 - index } else { index };
        }
        let count = rest.len().min(inner - column);
        let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
        for (i, out) in now.iter_mut().enumerate() {
            let index = if backwards { inner - 1 - column - i } else { column + i };
            *out = elements[base + index * stride];
        }
        position += count;
        rest = later;
    }
}

/// Keeps the elements whose column − row is at most (`upper`: at least) `diagonal`, and sets the others to 0.
pub(crate) fn triangle(
    storage: &CpuStorage,
    layout: &Layout,
    diagonal: i64,
    upper: bool,
) -> Result<CpuStorage> {
    let (rows, columns) = (layout.dims()[layout.rank() - 2], layout.dims()[layout.rank() - 1]);
    let mut out = super::copy::copy(storage, layout)?;
    if !out.is_empty() {
        dispatch!(&mut out, elements: T => fill_chunks(elements, columns, 1, &|start, line: &mut [T], (): &mut ()| {
            // The first column above the diagonal. Rows and columns fit i64, because the elements fit memory.
            let row = (start / columns % rows) as i64;
            let above = |diagonal: i64| row.saturating_add(diagonal).clamp(0, columns as i64) as usize;
            let zeros = if upper { 0..above(diagonal) } else { above(diagonal.saturating_add(1))..columns };
            line[zeros].fill(T::default());
        }));
    }
    Ok(out)
}
