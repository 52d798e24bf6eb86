//! Cumulative sums and products along an axis.

use rayon::prelude::*;

use super::copy;
use crate::cpu::arith::Arith;
use crate::cpu::dispatch::dispatch;
use crate::cpu::number::Number;
use crate::cpu::{CpuStorage, zeros};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::plan::scan::ScanOp;

/// Combines all elements along `axis` up to each one by `op`.
pub(crate) fn scan(storage: &CpuStorage, layout: &Layout, op: ScanOp, axis: usize) -> Result<CpuStorage> {
    let last = layout.rank() - 1;
    if axis != last && layout.elements() > 0 {
        // Scans along the last axis of the transposed tensor, and transposes the result back.
        let turned = layout.transpose(axis, last);
        let sums = scan(storage, &turned, op, last)?;
        let back = Layout::contiguous(turned.shape().clone(), op.name())?.transpose(axis, last);
        return copy::copy(&sums, &back);
    }
    if !layout.is_contiguous() {
        let tight = Layout::contiguous(layout.shape().clone(), op.name())?;
        return scan(&copy::copy(storage, layout)?, &tight, op, axis);
    }
    let length = layout.dims()[last];
    dispatch!(storage, elements: T => {
        let elements = &elements[layout.offset()..layout.end()];
        type Compute = <T as Number>::Compute;
        match op {
            ScanOp::Sum => scan_lines(elements, length, op, Join { none: Compute::default(), of: Arith::add }),
            ScanOp::Prod => scan_lines(elements, length, op, Join { none: Compute::ONE, of: Arith::mul }),
        }
    })
}

/// Elements per section, which a core scans at once.
const SECTION: usize = 16 * 1024;
/// Elements converted at once.
const BLOCK: usize = 1024;
/// Terms per level of the hierarchical sum.
const STEPS: u32 = 64;

/// A binary operation and its identity.
#[derive(Clone, Copy)]
struct Join<C, F> {
    none: C,
    of: F,
}

/// The state of a hierarchical sum: 64 terms on the first level, 64 of these on the second, the rest on the third. This
/// keeps chains of additions short.
struct Walk<C> {
    levels: [C; 3],
    terms: u32,
}

impl<C: Arith> Walk<C> {
    fn new<F>(join: Join<C, F>) -> Walk<C> {
        Walk { levels: [join.none; 3], terms: 0 }
    }

    /// Adds a term, and returns the total so far.
    fn add<F: Fn(C, C) -> C>(&mut self, join: Join<C, F>, term: C) -> C {
        let [low, middle, high] = &mut self.levels;
        *low = (join.of)(*low, term);
        let all = (join.of)(*high, (join.of)(*middle, *low));
        self.terms = self.terms.wrapping_add(1);
        if self.terms.is_multiple_of(STEPS) {
            *middle = (join.of)(*middle, *low);
            *low = join.none;
        }
        if self.terms.is_multiple_of(STEPS * STEPS) {
            *high = (join.of)(*high, *middle);
            *middle = join.none;
        }
        all
    }
}

/// Scans contiguous lines of `length` elements. Long lines are split into sections: first their totals, then each
/// section from its offset.
fn scan_lines<T, F>(
    elements: &[T],
    length: usize,
    op: ScanOp,
    join: Join<T::Compute, F>,
) -> Result<CpuStorage>
where
    T: Number + Stored,
    F: Fn(T::Compute, T::Compute) -> T::Compute + Copy + Send + Sync,
{
    let mut out = zeros::<T>(elements.len(), op.name())?;
    if out.is_empty() {
        return Ok(T::store(out));
    }
    // Short lines are distributed over the cores in groups.
    let group = (SECTION / length).max(1) * length;
    out.par_chunks_mut(group).zip(elements.par_chunks(group)).for_each(|(out, elements)| {
        for (out, line) in out.chunks_mut(length).zip(elements.chunks(length)) {
            if length <= 2 * SECTION {
                scan_section(line, out, join.none, join, &mut (Vec::new(), Vec::new()));
                continue;
            }
            let totals: Vec<T::Compute> = line.par_chunks(SECTION).map(|part| total(part, join)).collect();
            let mut walk = Walk::new(join);
            let sums = totals.iter().map(|total| walk.add(join, *total));
            let before: Vec<T::Compute> = std::iter::once(join.none).chain(sums).collect();
            let sections = out.par_chunks_mut(SECTION).zip(line.par_chunks(SECTION)).zip(before);
            sections.for_each_init(Default::default, |scratch, ((out, part), before)| {
                scan_section(part, out, before, join, scratch);
            });
        }
    });
    Ok(T::store(out))
}

/// The terms of a section as compute values, and the results.
type Scratch<T> = (Vec<<T as Number>::Compute>, Vec<<T as Number>::Compute>);

/// Scans one section, starting from the total `before` it.
fn scan_section<T: Number, F>(
    part: &[T],
    out: &mut [T],
    before: T::Compute,
    join: Join<T::Compute, F>,
    (terms, results): &mut Scratch<T>,
) where
    F: Fn(T::Compute, T::Compute) -> T::Compute + Copy,
{
    let mut walk = Walk::new(join);
    for (part, out) in part.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        let terms = T::widen(part, terms);
        T::narrow(out, results, |sums| {
            sums.iter_mut().zip(terms).for_each(|(sum, x)| *sum = (join.of)(before, walk.add(join, *x)));
        });
    }
}

/// The total of a section.
fn total<T: Number, F>(part: &[T], join: Join<T::Compute, F>) -> T::Compute
where
    F: Fn(T::Compute, T::Compute) -> T::Compute + Copy,
{
    let mut walk = Walk::new(join);
    part.iter().fold(join.none, |_, x| walk.add(join, x.to_compute()))
}
