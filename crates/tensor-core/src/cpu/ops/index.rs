//! Indexing by ids. Ids are checked before anything is read or written.

use std::any::TypeId;

use rayon::prelude::*;

use crate::cpu::arith::Arith;
use crate::cpu::blocks::update;
use crate::cpu::chunks::{BLOCK, new_blocks, new_outputs};
use crate::cpu::dispatch::{dispatch, dispatch_ids};
use crate::cpu::gather::stretches;
use crate::cpu::number::Number;
use crate::cpu::operands::Source;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::{Collapsed, Layout, collapse};
use crate::memory::vec_with_capacity;
use crate::plan::index::Indexed;
use crate::shape::Dims;

/// With fewer ids or elements, parallelism costs more than it saves.
const PARALLEL: usize = 16 * 1024;

/// A type that ids may have.
trait Id: Copy + Sync {
    /// The index along the axis; a negative id gives one beyond every axis.
    fn index(self) -> usize;

    /// The id's value, for messages.
    fn number(self) -> i64;
}

macro_rules! id {
    ($($type:ty),+) => {
        $(impl Id for $type {
            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }

            fn number(self) -> i64 {
                self.into()
            }
        })+
    };
}

id!(u8, u32, i32, i64);

/// For each id the element of `base`, advanced by that many strides of the axis. `base` and `at`, the ids, have the
/// result's shape.
pub(crate) fn gather(
    storage: &CpuStorage,
    base: &Layout,
    axis: &Indexed,
    ids: &CpuStorage,
    at: &Layout,
) -> Result<CpuStorage> {
    // Ids repeated by a stride of 0 are read once.
    let once: Dims =
        at.dims().iter().zip(at.strides()).map(|(&n, &s)| if s == 0 { n.min(1) } else { n }).collect();
    let distinct = Layout::strided(&once[..], at.strides(), at.offset(), axis.operation)?;
    if !distinct.is_contiguous() {
        let tight = Layout::contiguous(distinct.shape().clone(), axis.operation)?;
        let at = tight.expand(at.shape(), axis.operation)?;
        return gather(storage, base, axis, &super::copy::copy(ids, &distinct)?, &at);
    }
    dispatch_ids!(ids, ids => {
        check(&ids[distinct.offset()..distinct.end()], axis)?;
        dispatch!(storage, elements: T => look_up::<T, _>(elements, base, axis, (ids, at)).map(T::store))
    }, else Err(unsupported(axis.operation, ids)))
}

/// The error of the first id out of range.
fn check<I: Id>(ids: &[I], axis: &Indexed) -> Result<()> {
    let wrong = |id: &I| id.index() >= axis.length;
    let first = if ids.len() < PARALLEL {
        ids.iter().find(|id| wrong(id))
    } else {
        ids.par_chunks(BLOCK).find_map_first(|block| block.iter().find(|id| wrong(id)))
    };
    first.map_or(Ok(()), |id| Err(axis.wrong(id.number())))
}

/// The ids of `layout` in row-major order, checked and converted to indices along the axis.
pub(crate) fn checked(ids: &CpuStorage, layout: &Layout, axis: &Indexed) -> Result<Vec<usize>> {
    dispatch_ids!(&super::copy::copy(ids, layout)?, ids => {
        check(ids, axis)?;
        let mut indices = vec_with_capacity(ids.len(), axis.operation)?;
        indices.extend(ids.iter().map(|id| id.index()));
        Ok(indices)
    }, else Err(unsupported(axis.operation, ids)))
}

/// The elements at checked ids, copied row by row if elements that share an id are contiguous.
fn look_up<T: Element, I: Id>(
    elements: &[T],
    base: &Layout,
    axis: &Indexed,
    (ids, at): (&[I], &Layout),
) -> Result<Vec<T>> {
    let Collapsed { dims, strides } = collapse(&[base, at]);
    let inner = dims.len().wrapping_sub(1);
    let offsets = [base.offset(), at.offset()];
    if dims.last().is_some_and(|length| *length > 0) && strides[0][inner] == 1 && strides[1][inner] == 0 {
        let (rows, length) = (&dims[..inner], dims[inner]);
        let strides = [&strides[0][..inner], &strides[1][..inner]];
        let together = (BLOCK / length).max(1) * length;
        return new_outputs(base.elements(), (together, 1), axis.operation, &|start, output, (): &mut ()| {
            let range = start / length..(start + output.left()) / length;
            stretches(rows, strides, offsets, range, |[from, id], [step, id_step], count| {
                for i in 0..count {
                    let offset = from + i * step + ids[id + i * id_step].index() * axis.stride;
                    output.copy(&elements[offset..offset + length]);
                }
            });
        });
    }
    let strides = [&strides[0][..], &strides[1][..]];
    new_blocks(base.elements(), axis.operation, &|start, out, (): &mut ()| {
        let range = start..start + out.len();
        let mut rest = out;
        stretches(&dims, strides, offsets, range, |[from, id], [step, id_step], count| {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
            rest = later;
            let name = |i: usize, id: I| elements[from + i * step + id.index() * axis.stride];
            if id_step == 1 {
                now.iter_mut().zip(&ids[id..]).enumerate().for_each(|(i, (y, id))| *y = name(i, *id));
            } else {
                now.iter_mut().enumerate().for_each(|(i, y)| *y = name(i, ids[id + i * id_step]));
            }
        });
    })
}

/// Nothing: copying the storage first is as fast.
pub(crate) fn scatter_added(
    _storage: &CpuStorage,
    _layout: &Layout,
    _axis: &Indexed,
    _ids: (&CpuStorage, &Layout),
    _source: (&CpuStorage, &Layout),
) -> Result<Option<CpuStorage>> {
    Ok(None)
}

/// Writes each element of `from` at its id along the axis, or adds it there, in the order of the ids. `at`, the ids, and
/// `from` have the same shape, which is `layout`'s except along the axis.
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
    // Ids that all lines share are checked once.
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

/// The lines to scatter, of `count` ids each.
struct Lines<'a> {
    /// Destination elements per line.
    length: usize,
    /// Adjacent lines.
    inner: usize,
    count: usize,
    ids: &'a [usize],
    /// Whether all lines have the same ids.
    shared: bool,
}

impl Lines<'_> {
    /// Changes the elements of `layout`, computing in type `W`.
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
        update(elements, layout, 4, &|start, _, after: &mut [T], (): &mut ()| {
            after.iter_mut().zip(&wide[start..]).for_each(|(to, x)| *to = narrow(*x));
        });
        Ok(())
    }

    /// Each core owns some elements along the axis and reads all ids in order. Every element is thus written in the
    /// order of the ids, for any number of cores.
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

    /// Scatters to the rows from `first` on of one group of lines.
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
