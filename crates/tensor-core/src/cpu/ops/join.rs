//! Joining several pieces into one storage.

use super::{copy, fill};
use crate::cpu::chunks::new_blocks;
use crate::cpu::dispatch::dispatch;
use crate::cpu::operands::Source;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::plan::join::{Piece, borders};
use crate::scalar::Scalar;
use crate::shape::Shape;

/// Concatenates `pieces`, at least one, along `axis` to an array of `shape`. They have the same dtype and the dimensions
/// of `shape` along the other axes.
pub(crate) fn join(shape: &Shape, axis: usize, pieces: &[Piece<'_, CpuStorage>]) -> Result<CpuStorage> {
    dispatch!(pieces[0].0, _first: T => {
        let count = shape.elements("cat")?;
        if count == 0 {
            // With a length of 0, the product of the other lengths may overflow below.
            return Ok(T::store(Vec::new()));
        }
        let inner: usize = shape[axis + 1..].iter().product();
        let mut strips = Vec::with_capacity(pieces.len());
        let mut end = 0;
        for (storage, layout) in pieces {
            let elements = T::stored(storage).ok_or_else(|| unsupported("cat", storage))?;
            let width = layout.dims()[axis] * inner;
            end += width;
            strips.push(Strip { source: Source::new(elements, layout), width, end });
        }
        new_blocks(count, "cat", &|start, block, gathered: &mut Vec<T>| {
            fill_strips(&strips, start, block, gathered);
        })
        .map(T::store)
    })
}

/// A piece's share of each row of the result. A row spans the axis and the axes after it.
struct Strip<'a, T> {
    source: Source<'a, T>,
    /// Elements of the piece in a row.
    width: usize,
    /// One past the piece's last element in a row.
    end: usize,
}

/// Writes the elements of the result from index `position` on.
fn fill_strips<T: Element>(
    strips: &[Strip<'_, T>],
    mut position: usize,
    out: &mut [T],
    gathered: &mut Vec<T>,
) {
    let width = strips.last().map_or(0, |strip| strip.end);
    let mut rest = out;
    while !rest.is_empty() {
        let (row, column) = (position / width, position % width);
        let strip = &strips[strips.partition_point(|strip| strip.end <= column)];
        let count = rest.len().min(strip.end - column);
        let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
        let first = row * strip.width + column + strip.width - strip.end;
        now.copy_from_slice(strip.source.block(first, count, gathered));
        position += count;
        rest = later;
    }
}

/// An array of `shape` that has the elements of `layout` from index `starts` on, where they fit, and `value` elsewhere.
pub(crate) fn pad(
    (storage, layout): Piece<'_, CpuStorage>,
    shape: &Shape,
    starts: &[usize],
    value: Scalar,
) -> Result<CpuStorage> {
    let (borders, inside) = borders(shape, starts, layout.dims())?;
    let mut out = fill::full(storage.dtype(), shape.elements("pad")?, Scalar::Int(0))?;
    for border in &borders {
        fill::fill(&mut out, border, value)?;
    }
    copy::copy_from(&mut out, &inside, storage, layout)?;
    Ok(out)
}
