//! Operands of elementwise loops: blocks of strided elements, and elements shared by a whole block.

use std::ops::Range;

use super::chunks::BLOCK;
use super::gather::{Walk, stretches};
use super::number::Number;
use crate::element::Element;
use crate::layout::{Collapsed, Layout, collapse};

/// An operand: contiguous elements, or all elements and a traversal of some.
pub(super) struct Source<'a, T> {
    elements: &'a [T],
    walk: Option<Walk>,
}

impl<'a, T: Element> Source<'a, T> {
    /// The elements of `layout` in `elements`.
    pub(super) fn new(elements: &'a [T], layout: &Layout) -> Source<'a, T> {
        match tight(elements, layout) {
            Some(elements) => Source { elements, walk: None },
            None => Source { elements, walk: Some(Walk::new(layout)) },
        }
    }

    /// `length` elements from `start` on: in place, or gathered into `buffer`.
    pub(super) fn block<'b>(&'b self, start: usize, length: usize, buffer: &'b mut Vec<T>) -> &'b [T] {
        let range = start..start + length;
        match &self.walk {
            None => &self.elements[range],
            Some(walk) => {
                buffer.resize(length, T::default());
                walk.gather(self.elements, 0, range, buffer);
                buffer
            }
        }
    }
}

/// The elements of `layout`, if they are contiguous and row-major.
fn tight<'a, T>(elements: &'a [T], layout: &Layout) -> Option<&'a [T]> {
    layout.is_contiguous().then(|| &elements[layout.offset()..][..layout.elements()])
}

/// How the elements of an operand repeat over a block, which is rows of equal length.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a, C> {
    /// One per element.
    Each(&'a [C]),
    /// One row, repeated for all rows.
    Row(&'a [C]),
    /// One per row.
    Column(&'a [C]),
    /// A single one.
    All(C),
}

/// One row of an operand.
pub(super) enum Line<'a, C> {
    Each(&'a [C]),
    All(C),
}

impl<'a, T: Number> Operand<'a, T> {
    /// Converts to compute values; `scratch` is memory for them.
    pub(super) fn widen<'b>(self, scratch: &'b mut Vec<T::Compute>) -> Operand<'b, T::Compute>
    where
        'a: 'b,
    {
        match self {
            Operand::Each(block) => Operand::Each(T::widen(block, scratch)),
            Operand::Row(row) => Operand::Row(T::widen(row, scratch)),
            Operand::Column(column) => Operand::Column(T::widen(column, scratch)),
            Operand::All(x) => Operand::All(x.to_compute()),
        }
    }
}

impl<'a, C: Copy> Operand<'a, C> {
    /// Row `number` of the operand. All rows have `width` elements.
    #[inline(always)]
    pub(super) fn line(&self, number: usize, width: usize) -> Line<'a, C> {
        match *self {
            Operand::Each(block) => Line::Each(&block[number * width..][..width]),
            Operand::Row(row) => Line::Each(&row[..width]),
            Operand::Column(column) => Line::All(column[number]),
            Operand::All(x) => Line::All(x),
        }
    }
}

/// Stretches of at least this length are operands of their own; shorter ones are gathered into blocks first.
const LONG: usize = 32;

/// Operands of the same shape, traversed together.
#[expect(clippy::large_enum_variant, reason = "there is one for an operation, and it is never moved")]
pub(super) enum Operands<'a, T, const N: usize> {
    /// All are contiguous.
    Tight([&'a [T]; N]),
    /// Long stretches, on which each operand is contiguous or repeats one element.
    Long { elements: [&'a [T]; N], merged: Collapsed, offsets: [usize; N] },
    /// Gathered in blocks, unless contiguous.
    Short([Source<'a, T>; N]),
}

impl<'a, T: Element, const N: usize> Operands<'a, T, N> {
    /// The elements of layouts of the same shape.
    pub(super) fn new(operands: [(&'a [T], &Layout); N]) -> Operands<'a, T, N> {
        let whole = operands.map(|(elements, layout)| tight(elements, layout));
        if whole.iter().all(Option::is_some) {
            return Operands::Tight(whole.map(Option::unwrap_or_default));
        }
        let merged = collapse(&operands.map(|(_, layout)| layout));
        let even = merged.strides.iter().all(|strides| strides.last().is_none_or(|step| *step <= 1));
        if even && (merged.dims.len() < 2 || merged.dims.last().is_some_and(|inner| *inner >= LONG)) {
            let offsets = operands.map(|(_, layout)| layout.offset());
            return Operands::Long { elements: operands.map(|(elements, _)| elements), merged, offsets };
        }
        Operands::Short(operands.map(|(elements, layout)| Source::new(elements, layout)))
    }

    /// The number of elements to visit at once. Whole rows, where that is faster.
    pub(super) fn block(&self) -> usize {
        match self {
            Operands::Long { merged, .. } => match merged.dims.last() {
                Some(width) if merged.dims.len() == 2 && *width <= BLOCK => BLOCK / width * width,
                _ => BLOCK,
            },
            _ => BLOCK,
        }
    }

    /// Calls `visit` with operands for each part of `range`, and with the part's number of rows and their length.
    pub(super) fn visit(
        &self,
        range: Range<usize>,
        buffers: &mut [Vec<T>; N],
        mut visit: impl FnMut([Operand<'_, T>; N], (usize, usize)),
    ) {
        match self {
            Operands::Tight(elements) => {
                visit(elements.map(|elements| Operand::Each(&elements[range.clone()])), (1, range.len()));
            }
            Operands::Short(sources) => {
                let length = range.len();
                let mut each = sources.iter().zip(buffers);
                let blocks = std::array::from_fn(|_| {
                    let (source, buffer) = each.next().expect("a buffer for each operand");
                    Operand::Each(source.block(range.start, length, buffer))
                });
                visit(blocks, (1, length));
            }
            Operands::Long { elements, merged, offsets } => {
                if let &[_, width] = &merged.dims[..]
                    && range.start.is_multiple_of(width)
                    && range.len().is_multiple_of(width)
                {
                    let (first, rows) = (range.start / width, range.len() / width);
                    let operand = |n: usize| {
                        let steps = (merged.strides[n][0], merged.strides[n][1]);
                        in_rows(&elements[n][offsets[n]..], steps, first, (rows, width))
                    };
                    let operands: [_; N] = std::array::from_fn(operand);
                    if operands.iter().all(Option::is_some) {
                        return visit(operands.map(|operand| operand.expect("looked at")), (rows, width));
                    }
                }
                let strides = std::array::from_fn(|number| &merged.strides[number][..]);
                stretches(&merged.dims, strides, *offsets, range, |starts, steps, length| {
                    let operand = |n: usize| stretch(&elements[n][starts[n]..], steps[n], length);
                    visit(std::array::from_fn(operand), (1, length));
                });
            }
        }
    }
}

/// `rows` rows of `width` elements from row `first` on, if there are no gaps between them. `steps` are the strides of
/// rows and of elements.
fn in_rows<T: Copy>(
    from: &[T],
    steps: (usize, usize),
    first: usize,
    (rows, width): (usize, usize),
) -> Option<Operand<'_, T>> {
    Some(match steps {
        (0, 0) => Operand::All(from[0]),
        (0, 1) => Operand::Row(&from[..width]),
        (1, 0) => Operand::Column(&from[first..][..rows]),
        (step, 1) if step == width => Operand::Each(&from[first * width..][..rows * width]),
        _ => return None,
    })
}

/// `length` contiguous elements, or one repeated if `step` is 0.
#[inline(always)]
fn stretch<T: Copy>(from: &[T], step: usize, length: usize) -> Operand<'_, T> {
    if step == 0 { Operand::All(from[0]) } else { Operand::Each(&from[..length]) }
}
