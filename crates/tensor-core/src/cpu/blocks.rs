//! Elementwise operations over blocks: the drivers behind them all.
//!
//! An operation is a kernel over tight slices of the compute type. The drivers cut the work into blocks, give them to the
//! cores, gather strided operands, and convert from and to the storage type.

use rayon::prelude::*;

use super::gather::Walk;
use super::number::Number;
use super::zeros;
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Elements of one block: small enough that a few blocks of `f64` stay in the first-level cache.
const BLOCK: usize = 2048;
/// Below this many elements, handing blocks to other cores costs more than it saves.
const PARALLEL: usize = 16 * 1024;

/// A kernel of one operand.
pub(super) type Kernel1<C> = dyn Fn(&[C], &mut [C]) + Sync;
/// A kernel of two operands.
pub(super) type Kernel2<C> = dyn Fn(&[C], &[C], &mut [C]) + Sync;
/// A kernel of two operands with a truth value as the result.
pub(super) type Predicate<C> = dyn Fn(&[C], &[C], &mut [u8]) + Sync;

/// What [`update`] does to a block: the index of its first element, the elements as they were, the block to write, and memory to
/// use.
pub(super) type Update<'a, T, S> = dyn Fn(usize, &[T], &mut [T], &mut S) + Sync + 'a;

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

/// Lets `fill` write `out` block by block: it gets the index of the block's first element, the block, and memory to use.
pub(super) fn fill_blocks<U: Send, S: Default>(
    out: &mut [U],
    fill: &(dyn Fn(usize, &mut [U], &mut S) + Sync),
) {
    fill_chunks(out, BLOCK, 1, fill);
}

/// As [`fill_blocks`], in blocks of `size` elements, each of which takes as long as reading `work` others.
pub(super) fn fill_chunks<U: Send, S: Default>(
    out: &mut [U],
    size: usize,
    work: usize,
    fill: &(dyn Fn(usize, &mut [U], &mut S) + Sync),
) {
    if out.len() <= size || out.len().saturating_mul(work) < PARALLEL {
        let mut scratch = S::default();
        for (index, block) in out.chunks_mut(size).enumerate() {
            fill(index * size, block, &mut scratch);
        }
    } else {
        let blocks = out.par_chunks_mut(size).enumerate();
        blocks.for_each_init(S::default, |scratch, (index, block)| fill(index * size, block, scratch));
    }
}

/// `kernel` of each element of `layout`.
pub(super) fn map1<T: Number>(
    elements: &[T],
    layout: &Layout,
    operation: &'static str,
    kernel: &Kernel1<T::Compute>,
) -> Result<Vec<T>> {
    let source = Source::new(elements, layout);
    let mut out = zeros(layout.elements(), operation)?;
    fill_blocks(&mut out, &|start, out, (gathered, wide, result): &mut Scratch1<T>| {
        let x = T::widen(source.block(start, out.len(), gathered), wide);
        T::narrow(out, result, &mut |y| kernel(x, y));
    });
    Ok(out)
}

/// `kernel` of each pair of elements of two layouts of the same shape.
pub(super) fn map2<T: Number>(
    (a, lhs): (&[T], &Layout),
    (b, rhs): (&[T], &Layout),
    operation: &'static str,
    kernel: &Kernel2<T::Compute>,
) -> Result<Vec<T>> {
    let (a, b) = (Source::new(a, lhs), Source::new(b, rhs));
    let mut out = zeros(lhs.elements(), operation)?;
    fill_blocks(&mut out, &|start, out, (left, right, result): &mut Scratch2<T>| {
        let x = T::widen(a.block(start, out.len(), &mut left.0), &mut left.1);
        let y = T::widen(b.block(start, out.len(), &mut right.0), &mut right.1);
        T::narrow(out, result, &mut |z| kernel(x, y, z));
    });
    Ok(out)
}

/// `predicate` of each pair of elements of two layouts of the same shape.
pub(super) fn compare<T: Number>(
    (a, lhs): (&[T], &Layout),
    (b, rhs): (&[T], &Layout),
    operation: &'static str,
    predicate: &Predicate<T::Compute>,
) -> Result<Vec<u8>> {
    let (a, b) = (Source::new(a, lhs), Source::new(b, rhs));
    let mut out = zeros(lhs.elements(), operation)?;
    fill_blocks(&mut out, &|start, out, (left, right, _): &mut Scratch2<T>| {
        let x = T::widen(a.block(start, out.len(), &mut left.0), &mut left.1);
        let y = T::widen(b.block(start, out.len(), &mut right.0), &mut right.1);
        predicate(x, y, out);
    });
    Ok(out)
}

/// `kernel` of each element of `layout`, in place.
pub(super) fn update1<T: Number>(elements: &mut [T], layout: &Layout, kernel: &Kernel1<T::Compute>) {
    update(elements, layout, &|_, before, after, (_, wide, result): &mut Scratch1<T>| {
        let x = T::widen(before, wide);
        T::narrow(after, result, &mut |y| kernel(x, y));
    });
}

/// `kernel` of each element of `lhs` and the element of `rhs`, which has the same shape, in place.
pub(super) fn update2<T: Number>(
    (a, lhs): (&mut [T], &Layout),
    (b, rhs): (&[T], &Layout),
    kernel: &Kernel2<T::Compute>,
) {
    let b = Source::new(b, rhs);
    update(a, lhs, &|start, before, after, (left, right, result): &mut Scratch2<T>| {
        let x = T::widen(before, &mut left.1);
        let y = T::widen(b.block(start, before.len(), &mut right.0), &mut right.1);
        T::narrow(after, result, &mut |z| kernel(x, y, z));
    });
}

/// Writes blocks in place. Places of `layout` are distinct; blocks of strided layouts are written one after the other.
pub(super) fn update<T: Element, S: Default>(elements: &mut [T], layout: &Layout, write: &Update<T, S>) {
    let count = layout.elements();
    let walk = Walk::new(layout);
    if let Some(places) = walk.tight_range(0..count) {
        fill_blocks(&mut elements[places], &|start, block, (before, scratch): &mut (Vec<T>, S)| {
            before.clear();
            before.extend_from_slice(block);
            write(start, before, block, scratch);
        });
        return;
    }
    let (mut before, mut after, mut scratch) = (Vec::new(), Vec::new(), S::default());
    for start in (0..count).step_by(BLOCK) {
        let range = start..count.min(start + BLOCK);
        before.resize(range.len(), T::default());
        after.resize(range.len(), T::default());
        walk.gather(elements, 0, range.clone(), &mut before);
        write(start, &before, &mut after, &mut scratch);
        walk.scatter(&after, range, elements);
    }
}

/// Gathered elements, the same as compute values, and the result.
type Scratch1<T> = (Vec<T>, Vec<<T as Number>::Compute>, Vec<<T as Number>::Compute>);
/// Gathered elements and compute values of either operand, and the result.
type Scratch2<T> = (
    (Vec<T>, Vec<<T as Number>::Compute>),
    (Vec<T>, Vec<<T as Number>::Compute>),
    Vec<<T as Number>::Compute>,
);
