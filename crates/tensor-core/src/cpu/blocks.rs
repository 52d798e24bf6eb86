//! The drivers of elementwise operations, which work in blocks.
//!
//! An operation is a kernel over contiguous slices of the compute type. The drivers split the work into blocks,
//! distribute them over the cores, gather strided operands, and convert from and to the storage type.

use super::chunks::{BLOCK, fill_chunks, new_outputs};
use super::gather::Walk;
use super::number::Number;
use super::operands::{Operand, Operands, Source};
use super::output::Output;
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// A kernel with one operand. It writes as many elements as it gets.
pub(super) type Kernel1<C> = dyn Fn(&[C], &mut Output<'_, C>) + Sync;
/// A kernel with two operands. It writes the given numbers of rows and of elements per row.
pub(super) type Kernel2<C> = fn(Operand<C>, Operand<C>, (usize, usize), &mut Output<'_, C>);
/// A kernel with two operands and a boolean result.
pub(super) type Predicate<C> = fn(Operand<C>, Operand<C>, (usize, usize), &mut Output<'_, u8>);
/// The cost of a pair of elements, without conversion.
const PAIR: usize = 1;

/// The callback of [`update`] for a block. It gets the index of the first element, the old elements, the block to
/// write, and scratch memory.
pub(super) type Update<'a, T, S> = dyn Fn(usize, &[T], &mut [T], &mut S) + Sync + 'a;

/// Applies `kernel`, with cost `work` per element, to the elements of `layout`.
pub(super) fn map1<T: Number>(
    elements: &[T],
    layout: &Layout,
    operation: &'static str,
    (kernel, work): (&Kernel1<T::Compute>, usize),
) -> Result<Vec<T>> {
    let source = Source::new(elements, layout);
    let chunks = (BLOCK, work + T::CONVERSION);
    new_outputs(
        layout.elements(),
        chunks,
        operation,
        &|start, output, (gathered, wide, result): &mut Scratch1<T>| {
            let x = T::widen(source.block(start, output.left(), gathered), wide);
            T::round(output, x.len(), result, |y| kernel(x, y));
        },
    )
}

/// Applies `kernel` to each pair of elements of two layouts of the same shape.
pub(super) fn map2<T: Number>(
    a: (&[T], &Layout),
    b: (&[T], &Layout),
    operation: &'static str,
    kernel: Kernel2<T::Compute>,
) -> Result<Vec<T>> {
    let operands = Operands::new([a, b]);
    let chunks = (operands.block(), PAIR + T::CONVERSION);
    new_outputs(a.1.elements(), chunks, operation, &|start, output, scratch: &mut Scratch2<T>| {
        let Scratch2 { gathered, left, right, result } = scratch;
        operands.visit(start..start + output.left(), gathered, |[x, y], (rows, width)| {
            let (x, y) = (x.widen(left), y.widen(right));
            T::round(output, rows * width, result, |z| kernel(x, y, (rows, width), z));
        });
    })
}

/// Applies `predicate` to each pair of elements of two layouts of the same shape.
pub(super) fn compare<T: Number>(
    a: (&[T], &Layout),
    b: (&[T], &Layout),
    operation: &'static str,
    predicate: Predicate<T::Compute>,
) -> Result<Vec<u8>> {
    let operands = Operands::new([a, b]);
    let chunks = (operands.block(), PAIR + T::CONVERSION);
    new_outputs(a.1.elements(), chunks, operation, &|start, output, scratch: &mut Scratch2<T>| {
        let Scratch2 { gathered, left, right, .. } = scratch;
        operands.visit(start..start + output.left(), gathered, |[x, y], size| {
            predicate(x.widen(left), y.widen(right), size, output);
        });
    })
}

/// Applies `kernel`, with cost `work` per element, to the elements of `layout` in place.
pub(super) fn update1<T: Number>(
    elements: &mut [T],
    layout: &Layout,
    (kernel, work): (&Kernel1<T::Compute>, usize),
) {
    update(
        elements,
        layout,
        work + T::CONVERSION,
        &|_, before, after, (_, wide, result): &mut Scratch1<T>| {
            let x = T::widen(before, wide);
            T::round(&mut Output::over(after), x.len(), result, |y| kernel(x, y));
        },
    );
}

/// Applies `kernel` to each element of `lhs` and the corresponding one of `rhs`, which has the same shape, in place.
pub(super) fn update2<T: Number>(
    (a, lhs): (&mut [T], &Layout),
    (b, rhs): (&[T], &Layout),
    kernel: Kernel2<T::Compute>,
) {
    let operands = Operands::new([(b, rhs)]);
    update(
        a,
        lhs,
        PAIR + T::CONVERSION,
        &|start, before, after, (gathered, left, right, result): &mut UpdateScratch<T>| {
            let (mut before, output) = (before, &mut Output::over(after));
            operands.visit(start..start + before.len(), gathered, |[y], (rows, width)| {
                let (part, rest) = before.split_at(rows * width);
                before = rest;
                let (x, y) = (Operand::Each(T::widen(part, left)), y.widen(right));
                T::round(output, rows * width, result, |z| kernel(x, y, (rows, width), z));
            });
        },
    );
}

/// Writes blocks in place, at cost `work` per element. The elements of `layout` do not overlap. Blocks of strided
/// layouts are written sequentially.
pub(super) fn update<T: Element, S: Default>(
    elements: &mut [T],
    layout: &Layout,
    work: usize,
    write: &Update<T, S>,
) {
    let count = layout.elements();
    let walk = Walk::new(layout);
    if let Some(range) = walk.tight_range(0..count) {
        let fill = |start: usize, block: &mut [T], (before, scratch): &mut (Vec<T>, S)| {
            before.clear();
            before.extend_from_slice(block);
            write(start, before, block, scratch);
        };
        fill_chunks(&mut elements[range], BLOCK, work, &fill);
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

/// Gathered elements, their compute values, and the result.
type Scratch1<T> = (Vec<T>, Vec<<T as Number>::Compute>, Vec<<T as Number>::Compute>);
/// As [`Scratch2`], with only one operand to gather.
type UpdateScratch<T> =
    ([Vec<T>; 1], Vec<<T as Number>::Compute>, Vec<<T as Number>::Compute>, Vec<<T as Number>::Compute>);

/// Gathered elements of both operands, their compute values, and the result.
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
