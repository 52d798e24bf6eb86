//! Softmax and its logarithm along one axis.

use crate::cpu::arith::Arith;
use crate::cpu::chunks::{fill_chunks, new_chunks};
use crate::cpu::dispatch::dispatch_float;
use crate::cpu::lanes::{greater, greatest, lowest, total};
use crate::cpu::number::Number;
use crate::cpu::operands::Source;
use crate::cpu::real::Real;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;

/// Elements that a core processes at once.
const CHUNK: usize = 4096;
/// The cost of an element, in units of [`crate::cpu::chunks`].
const WORK: usize = 16;
/// Columns whose maxima and sums are computed together.
const GROUP: usize = 512;
/// Rows summed before they are added to a column's sum.
const ROWS: usize = 64;

/// eˣ / Σeˣ along `axis`, or its logarithm.
pub(crate) fn softmax(storage: &CpuStorage, layout: &Layout, axis: usize, log: bool) -> Result<CpuStorage> {
    let name = if log { "log_softmax" } else { "softmax" };
    dispatch_float!(storage, elements: T => {
        let count = layout.elements();
        if count == 0 {
            return Ok(T::store(Vec::new()));
        }
        // The tensor is not empty, so that products of its lengths fit.
        let (length, inner) = (layout.dims()[axis], layout.dims()[axis + 1..].iter().product::<usize>());
        let source = Source::new(elements, layout);
        let made = match inner {
            1 => rows(&source, (count, length), log, name),
            _ => columns(&source, (count, length, inner), log, name),
        };
        made.map(T::store)
    }, else Err(unsupported(name, storage)))
}

/// `count` elements in contiguous rows of `length`.
fn rows<T: Number<Compute: Real>>(
    source: &Source<'_, T>,
    (count, length): (usize, usize),
    log: bool,
    name: &'static str,
) -> Result<Vec<T>> {
    let size = length * (CHUNK / length).max(1);
    new_chunks(count, (size, WORK), name, &|start, out, (gathered, wide, result): &mut Scratch<T>| {
        let x = T::widen(source.block(start, out.len(), gathered), wide);
        T::narrow(out, result, |y| {
            for (x, y) in x.chunks_exact(length).zip(y.chunks_exact_mut(length)) {
                row(x, y, log);
            }
        });
    })
}

fn row<C: Real>(x: &[C], y: &mut [C], log: bool) {
    let shift = shift_of(greatest(x));
    for (y, x) in y.iter_mut().zip(x) {
        *y = x.sub(shift).exp();
    }
    let last = last_of(total(y, |y| y), log);
    if log {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x.sub(shift).sub(last));
    } else {
        y.iter_mut().for_each(|y| *y = y.mul(last));
    }
}

/// The number to subtract. If all elements are −∞ it is 0, so that their exponentials are 0, not NaN.
fn shift_of<C: Real>(top: C) -> C {
    if top == lowest() { C::default() } else { top }
}

/// The last step's operand: log of the sum to subtract, or its reciprocal to multiply by.
fn last_of<C: Real>(sum: C, log: bool) -> C {
    if log { sum.log() } else { C::ONE.div(sum) }
}

/// `count` elements in columns of `length`, of which `inner` are adjacent.
fn columns<T: Number<Compute: Real>>(
    source: &Source<'_, T>,
    (count, length, inner): (usize, usize, usize),
    log: bool,
    name: &'static str,
) -> Result<Vec<T>> {
    // For each column, the operands of the first and the last step.
    let mut ends = vec![[T::Compute::default(); 2]; count / length];
    fill_chunks(&mut ends, GROUP, length.saturating_mul(WORK), &|start, ends, scratch: &mut Scratch<T>| {
        let mut done = 0;
        while done < ends.len() {
            let (outer, first) = ((start + done) / inner, (start + done) % inner);
            let count = (inner - first).min(ends.len() - done);
            let begin = |i: usize| (outer * length + i) * inner + first;
            column_ends(source, (length, &begin), log, &mut ends[done..done + count], scratch);
            done += count;
        }
    });
    new_chunks(count, (CHUNK, WORK), name, &|start, out, (gathered, wide, result): &mut Scratch<T>| {
        let x = T::widen(source.block(start, out.len(), gathered), wide);
        T::narrow(out, result, |y| {
            let mut done = 0;
            while done < y.len() {
                let (row, first) = ((start + done) / inner, (start + done) % inner);
                let count = (inner - first).min(y.len() - done);
                let ends = &ends[row / length * inner + first..][..count];
                let (x, y) = (&x[done..done + count], &mut y[done..done + count]);
                if log {
                    each(x, y, ends, |x, last| x.sub(last));
                } else {
                    each(x, y, ends, |x, last| x.exp().mul(last));
                }
                done += count;
            }
        });
    })
}

/// The operands of adjacent columns, whose elements i begin at `begin(i)`.
fn column_ends<T: Number<Compute: Real>>(
    source: &Source<'_, T>,
    (length, begin): (usize, &dyn Fn(usize) -> usize),
    log: bool,
    ends: &mut [[T::Compute; 2]],
    (gathered, wide, part): &mut Scratch<T>,
) {
    ends.iter_mut().for_each(|end| *end = [lowest(), T::Compute::default()]);
    for i in 0..length {
        let x = T::widen(source.block(begin(i), ends.len(), gathered), wide);
        ends.iter_mut().zip(x).for_each(|(end, x)| end[0] = greater(end[0], *x));
    }
    ends.iter_mut().for_each(|end| end[0] = shift_of(end[0]));
    for first in (0..length).step_by(ROWS) {
        part.clear();
        part.resize(ends.len(), T::Compute::default());
        for i in first..length.min(first + ROWS) {
            let x = T::widen(source.block(begin(i), ends.len(), gathered), wide);
            for ((part, end), x) in part.iter_mut().zip(&*ends).zip(x) {
                *part = part.add(x.sub(end[0]).exp());
            }
        }
        ends.iter_mut().zip(&*part).for_each(|(end, part)| end[1] = end[1].add(*part));
    }
    ends.iter_mut().for_each(|end| end[1] = last_of(end[1], log));
}

#[inline(always)]
fn each<C: Real>(x: &[C], y: &mut [C], ends: &[[C; 2]], f: impl Fn(C, C) -> C) {
    for ((y, x), end) in y.iter_mut().zip(x).zip(ends) {
        *y = f(x.sub(end[0]), end[1]);
    }
}

/// Gathered elements, their compute values, and results.
type Scratch<T> = (Vec<T>, Vec<<T as Number>::Compute>, Vec<<T as Number>::Compute>);
