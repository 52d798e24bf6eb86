//! Gathers the elements of a strided layout, in row-major order, into a contiguous block, and scatters them back.

use std::ops::Range;

use crate::layout::Layout;
use crate::shape::Dims;

/// A row-major traversal of strided elements in as few dimensions as possible.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    layout: Layout,
    /// Whether row-major order is memory order, without gaps.
    tight: bool,
}

impl Walk {
    /// The traversal of the elements of `layout`.
    pub(super) fn new(layout: &Layout) -> Walk {
        let tight = layout.is_contiguous();
        Walk { layout: layout.collapsed(), tight }
    }

    /// The storage range of elements `range`, if it is contiguous.
    pub(super) fn tight_range(&self, range: Range<usize>) -> Option<Range<usize>> {
        let offset = self.layout.offset();
        self.tight.then(|| offset + range.start..offset + range.end)
    }

    /// The stride of the innermost dimension; 0 for rank 0.
    pub(super) fn inner_stride(&self) -> usize {
        self.layout.strides().last().copied().unwrap_or(0)
    }

    /// Calls `visit` with the position, stride and length of each evenly spaced stretch in elements `range`.
    pub(super) fn stretches(&self, range: Range<usize>, mut visit: impl FnMut(usize, usize, usize)) {
        let (dims, strides) = (self.layout.dims(), self.layout.strides());
        stretches(dims, [strides], [self.layout.offset()], range, |[offset], [stride], length| {
            visit(offset, stride, length);
        });
    }

    /// Copies elements `range` from `elements`, shifted by `base`, to `block`.
    pub(super) fn gather<T: Copy>(&self, elements: &[T], base: usize, range: Range<usize>, block: &mut [T]) {
        let mut done = 0;
        self.stretches(range, |offset, stride, length| {
            let from = &elements[base + offset..];
            let to = &mut block[done..done + length];
            match stride {
                1 => to.copy_from_slice(&from[..length]),
                0 => to.fill(from[0]),
                _ => to.iter_mut().zip(from.iter().step_by(stride)).for_each(|(y, x)| *y = *x),
            }
            done += length;
        });
    }

    /// If the elements are column-major: the traversal of the rows' first elements, and the length and stride of a row.
    /// Then [`transpose`] is faster than a gather, which would fetch a cache line per element.
    pub(super) fn column_by_column(&self) -> Option<(Walk, usize, usize)> {
        let last = self.layout.rank().checked_sub(1)?;
        let (dims, strides) = (self.layout.dims(), self.layout.strides());
        let columns = last > 0
            && strides[last - 1] == 1
            && strides[last] > 1
            && dims[last - 1] >= TILE
            && dims[last] >= TILE;
        if !columns {
            return None;
        }
        let (rows, _) = self.layout.split(&[last]);
        Some((Walk { tight: false, layout: rows }, dims[last], strides[last]))
    }

    /// Copies `block` to elements `range` of `elements`.
    pub(super) fn scatter<T: Copy>(&self, block: &[T], range: Range<usize>, elements: &mut [T]) {
        let mut done = 0;
        self.stretches(range, |offset, stride, length| {
            let to = elements[offset..].iter_mut().step_by(stride.max(1));
            to.zip(&block[done..done + length]).for_each(|(y, x)| *y = *x);
            done += length;
        });
    }
}

/// Calls `visit` with the positions, strides and length of each evenly spaced stretch in elements `range` of several
/// layouts, whose dimensions are merged.
pub(super) fn stretches<const N: usize>(
    dims: &[usize],
    strides: [&[usize]; N],
    offsets: [usize; N],
    range: Range<usize>,
    mut visit: impl FnMut([usize; N], [usize; N], usize),
) {
    let mut left = range.len();
    let Some(last) = dims.len().checked_sub(1) else {
        return (0..left).for_each(|_| visit(offsets, [0; N], 1));
    };
    let steps = strides.map(|strides| strides[last]);
    let moved = |offsets: [usize; N], count: usize| std::array::from_fn(|n| offsets[n] + count * steps[n]);
    if last == 0 {
        if left > 0 {
            visit(moved(offsets, range.start), steps, left);
        }
        return;
    }
    // The index of the first element, and the positions where its innermost row starts.
    let mut index = Dims::from_elem(0, dims.len());
    let (mut rest, mut rows) = (range.start, offsets);
    for axis in (0..dims.len()).rev() {
        index[axis] = rest % dims[axis].max(1);
        rest /= dims[axis].max(1);
        if axis != last {
            (0..N).for_each(|n| rows[n] += index[axis] * strides[n][axis]);
        }
    }
    let mut skipped = index[last];
    while left > 0 {
        let length = (dims[last] - skipped).min(left);
        visit(moved(rows, skipped), steps, length);
        left -= length;
        skipped = 0;
        // Advance to the next row: increment the innermost axis that has a next index.
        for axis in (0..last).rev() {
            index[axis] += 1;
            (0..N).for_each(|n| rows[n] += strides[n][axis]);
            if index[axis] < dims[axis] {
                break;
            }
            (0..N).for_each(|n| rows[n] -= dims[axis] * strides[n][axis]);
            index[axis] = 0;
        }
    }
}

/// Rows and columns that [`transpose`] moves at once: whole cache lines on both sides.
const TILE: usize = 32;

/// Copies as many rows as fit to `out`, contiguously. `starts` are the positions of the rows' first elements, which are
/// adjacent. A row has `length` elements with stride `stride`.
pub(super) fn transpose<T: Copy + Default>(
    elements: &[T],
    starts: Range<usize>,
    (length, stride): (usize, usize),
    out: &mut [T],
) {
    let mut tile = [[T::default(); TILE]; TILE];
    for first_row in (0..starts.len()).step_by(TILE) {
        let rows = TILE.min(starts.len() - first_row);
        for first_column in (0..length).step_by(TILE) {
            let columns = TILE.min(length - first_column);
            for (column, across) in (first_column..first_column + columns).enumerate() {
                let start = starts.start + first_row + across * stride;
                for (row, x) in elements[start..start + rows].iter().enumerate() {
                    tile[row][column] = *x;
                }
            }
            for (row, tile) in tile[..rows].iter().enumerate() {
                let start = (first_row + row) * length + first_column;
                out[start..start + columns].copy_from_slice(&tile[..columns]);
            }
        }
    }
}
