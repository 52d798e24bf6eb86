//! Operands of elementwise loops: blocks of strided elements, and what is the same for a whole block.

use std::ops::Range;

use super::gather::{Walk, stretches};
use super::number::Number;
use crate::element::Element;
use crate::layout::{Collapsed, Layout, collapse};

/// An operand: elements and the walk over them.
pub(super) struct Source<'a, T> {
    elements: &'a [T],
    walk: Walk,
}

impl<'a, T: Element> Source<'a, T> {
    /// The elements of `layout` in `elements`.
    pub(super) fn new(elements: &'a [T], layout: &Layout) -> Source<'a, T> {
        Source { elements, walk: Walk::new(layout) }
    }

    /// `length` elements from `start` on: where they lie, or gathered into `buffer`.
    pub(super) fn block<'b>(&'b self, start: usize, length: usize, buffer: &'b mut Vec<T>) -> &'b [T] {
        let range = start..start + length;
        match self.walk.tight_range(range.clone()) {
            Some(places) => &self.elements[places],
            None => {
                buffer.resize(length, T::default());
                self.walk.gather(self.elements, 0, range, buffer);
                buffer
            }
        }
    }
}

/// One operand of a loop: a value for each element, or one for all.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a, C> {
    Each(&'a [C]),
    All(C),
}

impl<'a, T: Number> Operand<'a, T> {
    /// The same as compute values; `scratch` is memory for them.
    pub(super) fn widen<'b>(self, scratch: &'b mut Vec<T::Compute>) -> Operand<'b, T::Compute>
    where
        'a: 'b,
    {
        match self {
            Operand::Each(block) => Operand::Each(T::widen(block, scratch)),
            Operand::All(x) => Operand::All(x.to_compute()),
        }
    }
}

/// Writes `f` of each pair of elements: one loop for each form of the operands, none of which has an index to compute.
#[inline(always)]
pub(super) fn each_pair<C: Copy, R: Copy>(
    x: Operand<'_, C>,
    y: Operand<'_, C>,
    out: &mut [R],
    f: impl Fn(C, C) -> R,
) {
    match (x, y) {
        (Operand::Each(x), Operand::Each(y)) => {
            out.iter_mut().zip(x.iter().zip(y)).for_each(|(z, (x, y))| *z = f(*x, *y));
        }
        (Operand::Each(x), Operand::All(y)) => out.iter_mut().zip(x).for_each(|(z, x)| *z = f(*x, y)),
        (Operand::All(x), Operand::Each(y)) => out.iter_mut().zip(y).for_each(|(z, y)| *z = f(x, *y)),
        (Operand::All(x), Operand::All(y)) => out.fill(f(x, y)),
    }
}

/// From this length on, stretches are operands of their own; shorter ones are gathered into blocks first.
const LONG: usize = 32;

/// Operands of one shape, walked side by side.
#[expect(clippy::large_enum_variant, reason = "there is one for an operation, and it is never moved")]
pub(super) enum Operands<'a, T, const N: usize> {
    /// Over long stretches on which each is tight or repeats one element.
    Long { elements: [&'a [T]; N], merged: Collapsed, offsets: [usize; N] },
    /// Gathered block by block, unless tight.
    Short([Source<'a, T>; N]),
}

impl<'a, T: Element, const N: usize> Operands<'a, T, N> {
    /// The elements of layouts of one shape.
    pub(super) fn new(operands: [(&'a [T], &Layout); N]) -> Operands<'a, T, N> {
        let merged = collapse(&operands.map(|(_, layout)| layout));
        let even = merged.strides.iter().all(|strides| strides.last().is_none_or(|step| *step <= 1));
        if even && (merged.dims.len() < 2 || merged.dims.last().is_some_and(|inner| *inner >= LONG)) {
            let offsets = operands.map(|(_, layout)| layout.offset());
            return Operands::Long { elements: operands.map(|(elements, _)| elements), merged, offsets };
        }
        Operands::Short(operands.map(|(elements, layout)| Source::new(elements, layout)))
    }

    /// Calls `visit` with operands for each part of `range`, and with the part, counted from the start of `range`.
    pub(super) fn visit(
        &self,
        range: Range<usize>,
        buffers: &mut [Vec<T>; N],
        mut visit: impl FnMut([Operand<'_, T>; N], Range<usize>),
    ) {
        match self {
            Operands::Short(sources) => {
                let length = range.len();
                let mut each = sources.iter().zip(buffers);
                let blocks = std::array::from_fn(|_| {
                    let (source, buffer) = each.next().expect("a buffer for each operand");
                    Operand::Each(source.block(range.start, length, buffer))
                });
                visit(blocks, 0..length);
            }
            Operands::Long { elements, merged, offsets } => {
                let strides = std::array::from_fn(|number| &merged.strides[number][..]);
                let mut done = 0;
                stretches(&merged.dims, strides, *offsets, range, |places, steps, length| {
                    let operand = |n: usize| stretch(&elements[n][places[n]..], steps[n], length);
                    let operands = std::array::from_fn(operand);
                    visit(operands, done..done + length);
                    done += length;
                });
            }
        }
    }
}

/// `length` elements side by side, or one repeated if `step` is 0.
#[inline(always)]
fn stretch<T: Copy>(from: &[T], step: usize, length: usize) -> Operand<'_, T> {
    if step == 0 { Operand::All(from[0]) } else { Operand::Each(&from[..length]) }
}
