//! Elementwise operations over blocks: the drivers behind them all.
//!
//! An operation is a kernel over tight slices of the compute type. The drivers cut the work into blocks, give them to the
//! cores, gather strided operands, and convert from and to the storage type.

use super::chunks::{BLOCK, fill_blocks, new_blocks, new_chunks};
use super::gather::Walk;
use super::number::Number;
use super::operands::{Operand, Operands, Source};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// A kernel of one operand.
pub(super) type Kernel1<C> = dyn Fn(&[C], &mut [C]) + Sync;
/// A kernel of two operands.
pub(super) type Kernel2<C> = fn(Operand<C>, Operand<C>, &mut [C]);
/// A kernel of two operands with a truth value as the result.
pub(super) type Predicate<C> = fn(Operand<C>, Operand<C>, &mut [u8]);

/// What [`update`] does to a block: the index of its first element, the elements as they were, the block to write, and memory to
/// use.
pub(super) type Update<'a, T, S> = dyn Fn(usize, &[T], &mut [T], &mut S) + Sync + 'a;

/// `kernel` of each element of `layout`, which takes as long as reading `work` others.
pub(super) fn map1<T: Number>(
    elements: &[T],
    layout: &Layout,
    operation: &'static str,
    (kernel, work): (&Kernel1<T::Compute>, usize),
) -> Result<Vec<T>> {
    let source = Source::new(elements, layout);
    let chunks = (BLOCK, work);
    new_chunks(
        layout.elements(),
        chunks,
        operation,
        &|start, out, (gathered, wide, result): &mut Scratch1<T>| {
            let x = T::widen(source.block(start, out.len(), gathered), wide);
            T::narrow(out, result, |y| kernel(x, y));
        },
    )
}

/// `kernel` of each pair of elements of two layouts of the same shape.
pub(super) fn map2<T: Number>(
    a: (&[T], &Layout),
    b: (&[T], &Layout),
    operation: &'static str,
    kernel: Kernel2<T::Compute>,
) -> Result<Vec<T>> {
    let operands = Operands::new([a, b]);
    new_blocks(a.1.elements(), operation, &|start, out, scratch: &mut Scratch2<T>| {
        let Scratch2 { gathered, left, right, result } = scratch;
        operands.visit(start..start + out.len(), gathered, |[x, y], part| {
            let (x, y) = (x.widen(left), y.widen(right));
            T::narrow(&mut out[part], result, |z| kernel(x, y, z));
        });
    })
}

/// `predicate` of each pair of elements of two layouts of the same shape.
pub(super) fn compare<T: Number>(
    a: (&[T], &Layout),
    b: (&[T], &Layout),
    operation: &'static str,
    predicate: Predicate<T::Compute>,
) -> Result<Vec<u8>> {
    let operands = Operands::new([a, b]);
    new_blocks(a.1.elements(), operation, &|start, out, scratch: &mut Scratch2<T>| {
        let Scratch2 { gathered, left, right, .. } = scratch;
        operands.visit(start..start + out.len(), gathered, |[x, y], part| {
            predicate(x.widen(left), y.widen(right), &mut out[part]);
        });
    })
}

/// `kernel` of each element of `layout`, in place.
pub(super) fn update1<T: Number>(elements: &mut [T], layout: &Layout, kernel: &Kernel1<T::Compute>) {
    update(elements, layout, &|_, before, after, (_, wide, result): &mut Scratch1<T>| {
        let x = T::widen(before, wide);
        T::narrow(after, result, |y| kernel(x, y));
    });
}

/// `kernel` of each element of `lhs` and the element of `rhs`, which has the same shape, in place.
pub(super) fn update2<T: Number>(
    (a, lhs): (&mut [T], &Layout),
    (b, rhs): (&[T], &Layout),
    kernel: Kernel2<T::Compute>,
) {
    let operands = Operands::new([(b, rhs)]);
    update(a, lhs, &|start, before, after, (gathered, left, right, result): &mut UpdateScratch<T>| {
        operands.visit(start..start + before.len(), gathered, |[y], part| {
            let x = Operand::Each(T::widen(&before[part.clone()], left));
            let y = y.widen(right);
            T::narrow(&mut after[part], result, |z| kernel(x, y, z));
        });
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
/// As [`Scratch2`], with one operand to gather.
type UpdateScratch<T> =
    ([Vec<T>; 1], Vec<<T as Number>::Compute>, Vec<<T as Number>::Compute>, Vec<<T as Number>::Compute>);

/// Gathered elements of both operands, the same as compute values, and the result.
struct Scratch2<T: Number> {
    gathered: [Vec<T>; 2],
    left: Vec<T::Compute>,
    right: Vec<T::Compute>,
    result: Vec<T::Compute>,
}

impl<T: Number> Default for Scratch2<T> {
    fn default() -> Scratch2<T> {
        Scratch2 { gathered: Default::default(), left: Vec::new(), right: Vec::new(), result: Vec::new() }
    }
}
