//! Elements by their ids. Ids are checked before anything is read or written.

use std::any::TypeId;

use rayon::prelude::*;

use crate::cpu::arith::Arith;
use crate::cpu::blocks::{Source, fill_chunks, update};
use crate::cpu::dispatch::dispatch;
use crate::cpu::gather::Walk;
use crate::cpu::number::Number;
use crate::cpu::{CpuStorage, unsupported, zeros};
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::{Layout, collapse};
use crate::storage::index::Indexed;

/// Elements that one core looks up at once.
const BLOCK: usize = 2048;
/// With fewer elements to scatter, handing them to other cores costs more than it saves.
const PARALLEL: usize = 16 * 1024;

/// For each id the element of `base`, moved by as many strides of the axis as the id says.
pub(crate) fn gather(
    storage: &CpuStorage,
    base: &Layout,
    axis: &Indexed,
    ids: &CpuStorage,
    at: &Layout,
) -> Result<CpuStorage> {
    // Where ids are repeated by a stride of 0, one of them is enough.
    let once: Vec<usize> =
        at.dims().iter().zip(at.strides()).map(|(&n, &s)| if s == 0 { n.min(1) } else { n }).collect();
    let distinct = Layout::strided(once, at.strides(), at.offset(), axis.operation)?;
    let ids = checked(ids, &distinct, axis)?;
    let at =
        Layout::contiguous(distinct.shape().clone(), axis.operation)?.expand(at.shape(), axis.operation)?;
    dispatch!(storage, elements: T => {
        let mut out = zeros::<T>(base.elements(), axis.operation)?;
        look_up::<T>(elements, base, axis, (&ids, &at), &mut out)?;
        Ok(T::store(out))
    })
}

/// The elements of `layout` in row-major order as places along the axis.
fn checked(ids: &CpuStorage, layout: &Layout, axis: &Indexed) -> Result<Vec<usize>> {
    fn check<T: Copy>(ids: &[T], axis: &Indexed, number: impl Fn(T) -> i64) -> Result<Vec<usize>> {
        let bytes = ids.len().saturating_mul(size_of::<usize>());
        let mut places = Vec::new();
        let failed = |_| Error::new(axis.operation, ErrorKind::OutOfMemory { bytes });
        places.try_reserve_exact(ids.len()).map_err(failed)?;
        for &id in ids {
            let id = number(id);
            let place = usize::try_from(id).ok().filter(|place| *place < axis.length);
            places.push(place.ok_or_else(|| axis.wrong(id))?);
        }
        Ok(places)
    }
    match &super::copy::copy(ids, layout)? {
        CpuStorage::U8(ids) => check(ids, axis, i64::from),
        CpuStorage::U32(ids) => check(ids, axis, i64::from),
        CpuStorage::I32(ids) => check(ids, axis, i64::from),
        CpuStorage::I64(ids) => check(ids, axis, |id| id),
        other => Err(unsupported(axis.operation, other)),
    }
}

/// Fills `out`, by rows of one id each where elements that share an id lie side by side.
fn look_up<T: Element>(
    elements: &[T],
    base: &Layout,
    axis: &Indexed,
    (ids, at): (&[usize], &Layout),
    out: &mut [T],
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let merged = collapse(&[base, at]);
    let mut rank = merged.dims.len();
    let mut length = 1;
    if rank > 0 && merged.strides[0][rank - 1] == 1 && merged.strides[1][rank - 1] == 0 {
        rank -= 1;
        length = merged.dims[rank];
    }
    let walk = |number: usize, offset| {
        let strides = &merged.strides[number][..rank];
        Layout::strided(&merged.dims[..rank], strides, offset, axis.operation)
            .map(|layout| Walk::new(&layout))
    };
    let (rows, row_ids) = (walk(0, base.offset())?, walk(1, at.offset())?);
    let together = (BLOCK / length).max(1) * length;
    fill_chunks(out, together, 1, &|start, out, (places, which): &mut (Vec<usize>, Vec<usize>)| {
        let range = start / length..(start + out.len()) / length;
        list(&rows, range.clone(), places);
        list(&row_ids, range, which);
        let rows = out.chunks_mut(length).zip(places.iter().zip(which.iter()));
        for (row, (&place, &which)) in rows {
            let from = place + ids[which] * axis.stride;
            row.copy_from_slice(&elements[from..from + length]);
        }
    });
    Ok(())
}

/// The places of a walk's elements `range`.
fn list(walk: &Walk, range: std::ops::Range<usize>, places: &mut Vec<usize>) {
    places.clear();
    walk.stretches(range, |place, stride, length| places.extend((0..length).map(|i| place + i * stride)));
}

/// Writes each element of `from` to the place along the axis that its id names, or adds it there, in the order of the ids.
pub(crate) fn scatter(
    storage: &mut CpuStorage,
    layout: &Layout,
    axis: &Indexed,
    (ids, at): (&CpuStorage, &Layout),
    (source, from): (&CpuStorage, &Layout),
    add: bool,
) -> Result<()> {
    if at.elements() == 0 {
        return Ok(());
    }
    // Ids that are the same for every line are looked at once.
    let others = || (0..at.rank()).filter(move |other| *other != axis.axis);
    let shared = others().all(|other| at.strides()[other] == 0 || at.dims()[other] == 1);
    let mut dims = at.dims().to_vec();
    if shared {
        others().for_each(|other| dims[other] = 1);
    }
    let ids = checked(ids, &Layout::strided(dims, at.strides(), at.offset(), axis.operation)?, axis)?;
    let count = at.dims()[axis.axis];
    let inner = at.dims()[axis.axis + 1..].iter().product();
    let lines = Lines { length: axis.length, inner, count, ids: &ids, shared };
    dispatch!(storage, elements: T => {
        let Some(source) = T::stored(source) else { return Err(unsupported(axis.operation, source)) };
        let (source, mut gathered) = (Source::new(source, from), Vec::new());
        let source = source.block(0, from.elements(), &mut gathered);
        if add {
            let put = |to: &mut <T as Number>::Compute, x: T| *to = to.add(x.to_compute());
            lines.change::<T, <T as Number>::Compute>(elements, layout, source, T::to_compute, T::from_compute, put)
        } else {
            lines.change::<T, T>(elements, layout, source, |x| x, |x| x, |to, x| *to = x)
        }
    })
}

/// What is scattered: lines of `count` ids each.
struct Lines<'a> {
    /// Elements of a line of the destination.
    length: usize,
    /// Lines that lie side by side.
    inner: usize,
    count: usize,
    ids: &'a [usize],
    /// Whether all lines have the same ids.
    shared: bool,
}

impl Lines<'_> {
    /// Changes the elements of `layout`, as values of type `W`.
    fn change<T: Element, W: bytemuck::Pod + Send + Sync>(
        &self,
        elements: &mut [T],
        layout: &Layout,
        source: &[T],
        widen: fn(T) -> W,
        narrow: fn(W) -> T,
        put: impl Fn(&mut W, T) + Sync,
    ) -> Result<()> {
        if layout.is_contiguous() && TypeId::of::<T>() == TypeId::of::<W>() {
            let part = &mut elements[layout.offset()..layout.offset() + layout.elements()];
            self.walk(bytemuck::cast_slice_mut::<T, W>(part), source, &put);
            return Ok(());
        }
        let (before, mut gathered) = (Source::new(&*elements, layout), Vec::new());
        let before = before.block(0, layout.elements(), &mut gathered);
        let mut wide: Vec<W> = before.iter().map(|x| widen(*x)).collect();
        self.walk(&mut wide, source, &put);
        update(elements, layout, &|start, _, after: &mut [T], (): &mut ()| {
            after.iter_mut().zip(&wide[start..]).for_each(|(to, x)| *to = narrow(*x));
        });
        Ok(())
    }

    /// Each core owns some elements along the axis and goes through all ids in their order, so that the order at each place is that of
    /// the ids, however many cores there are.
    fn walk<T: Element, W: Send>(&self, to: &mut [W], source: &[T], put: &(impl Fn(&mut W, T) + Sync)) {
        let line = self.length * self.inner;
        let outer = to.len() / line.max(1);
        let cores = if source.len() < PARALLEL { 1 } else { rayon::current_num_threads() };
        let rows = self.length.div_ceil(cores.div_ceil(outer.max(1))).max(1);
        let least = if cores == 1 { outer.max(1) } else { 1 };
        to.par_chunks_mut(line.max(1)).with_min_len(least).enumerate().for_each(|(group, block)| {
            block.par_chunks_mut(rows * self.inner).enumerate().for_each(|(number, part)| {
                self.walk_part((group, number * rows), part, source, put);
            });
        });
    }

    /// The rows from `first` on of one group of lines.
    fn walk_part<T: Element, W>(
        &self,
        (group, first): (usize, usize),
        part: &mut [W],
        source: &[T],
        put: &impl Fn(&mut W, T),
    ) {
        let (inner, rows) = (self.inner, part.len() / self.inner);
        for id in 0..self.count {
            let start = (group * self.count + id) * inner;
            let from = &source[start..start + inner];
            if self.shared {
                let row = self.ids[id].wrapping_sub(first);
                if row < rows {
                    let to = &mut part[row * inner..(row + 1) * inner];
                    to.iter_mut().zip(from).for_each(|(to, x)| put(to, *x));
                }
                continue;
            }
            for (column, (x, id)) in from.iter().zip(&self.ids[start..start + inner]).enumerate() {
                let row = id.wrapping_sub(first);
                if row < rows {
                    put(&mut part[row * inner + column], *x);
                }
            }
        }
    }
}
