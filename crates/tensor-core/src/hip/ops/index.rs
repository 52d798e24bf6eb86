//! Indexing by ids. A wrong id is recorded on the device and read by the next thread that waits: see `hip/faults.rs`.

use kernels_hip::args::{GatherMap, IdType, ScatterMap};
use kernels_hip::launch;

use super::{buckets, cast, copy};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::HipStorage;
use crate::hip::device::config;
use crate::hip::kernels::Kernel;
use crate::hip::maps::parts;
use crate::layout::Layout;
use crate::plan::index::Indexed;

/// Bytes that a thread moves at once.
const PACK: usize = 16;

/// For each id the element of `base`, advanced by that many strides of the axis. Zero for a wrong id.
pub(crate) fn gather(
    storage: &HipStorage,
    base: &Layout,
    axis: &Indexed,
    ids: &HipStorage,
    at: &Layout,
) -> Result<HipStorage> {
    let (device, dtype, op) = (storage.device(), storage.dtype(), axis.operation);
    let id_type = id_type(ids, op)?;
    // SAFETY: S15: the parts cover every element of the layouts, and the kernel writes each.
    let mut out = unsafe { HipStorage::uninit(device, dtype, base.elements(), op) }?;
    for part in parts(&[base, at]) {
        let function = device.kernels().get(device, kernel("gather", dtype))?;
        let (source, which) = (storage.tail(part.starts[0], op)?, ids.tail(part.starts[1], op)?);
        let mut target = out.tail_mut(part.first, op)?;
        let mut map = GatherMap {
            count: part.count as u64,
            axis_stride: axis.stride as u64,
            length: axis.length as u64,
            rank: part.rank(),
            id_type: id_type as u32,
            packed: 0,
            operation: axis.number(),
            axis: axis.axis as u32,
            reserved: 0,
            dims: part.dims(),
            src: part.strides(0),
            ids: part.strides(1),
        };
        let aligned =
            [source.device_ptr().addr(), target.device_ptr_mut().addr()].iter().all(|a| a % PACK == 0);
        let packed = aligned && pack(&mut map, dtype);
        let shape = if packed && device.has_own_memory() {
            let packs = map.dims[map.rank as usize - 1];
            config(launch::gather_rows(map.count / packs.max(1), packs))
        } else {
            device.elementwise(map.count as usize, if packed { PACK } else { dtype.size_in_bytes() })
        };
        device.faults().watch(device.stream(), op, |fault| {
            let mut launch = device.stream().launch(function, shape);
            launch.arg(&source).arg(&which).arg_mut(&mut target).arg_mut(fault).value(&map);
            // SAFETY: S9: the kernel reads elements of the layouts, shifted along the axis by ids that it checks, all
            // of which lie inside the storages, and writes the part's elements.
            unsafe { launch.submit() }
        })?;
    }
    Ok(out)
}

/// Makes the map count packs of 16 bytes, if the elements that share an id form whole contiguous packs.
fn pack(map: &mut GatherMap, dtype: DType) -> bool {
    let each = (PACK / dtype.size_in_bytes()) as u64;
    let Some(last) = (map.rank as usize).checked_sub(1) else { return false };
    let whole = |number: &u64| number.is_multiple_of(each);
    let packs = map.src[last] == 1
        && map.ids[last] == 0
        && whole(&map.dims[last])
        && whole(&map.axis_stride)
        && map.src[..last].iter().all(whole);
    if packs {
        map.packed = 1;
        map.count /= each;
        map.axis_stride /= each;
        map.dims[last] /= each;
        map.src[..last].iter_mut().for_each(|stride| *stride /= each);
    }
    packs
}

/// A new storage of `layout`'s elements, with each element of `from` added at its id along the axis, in the order of
/// the ids. `None` if copying the storage first is faster.
pub(crate) fn scatter_added(
    storage: &HipStorage,
    layout: &Layout,
    axis: &Indexed,
    (ids, at): (&HipStorage, &Layout),
    (source, from): (&HipStorage, &Layout),
) -> Result<Option<HipStorage>> {
    let (device, op) = (storage.device(), axis.operation);
    if at.elements() == 0 || !buckets::fit(device, layout, axis, at, from) {
        return Ok(None);
    }
    let terms = ((ids, at, id_type(ids, op)?), (source, from));
    let tight = Layout::contiguous(layout.shape().clone(), op)?;
    let old = storage.tail(layout.offset(), op)?;
    // SAFETY: S15: every element is written.
    let mut sums = unsafe { HipStorage::uninit(device, storage.dtype(), tight.elements(), op) }?;
    buckets::scatter_add(&mut sums, &tight, Some(old), axis, terms.0, terms.1)?;
    Ok(Some(sums))
}

/// Writes each element of `from` at its id along the axis, or adds it there, in the order of the ids.
pub(crate) fn scatter(
    storage: &mut HipStorage,
    layout: &Layout,
    axis: &Indexed,
    (ids, at): (&HipStorage, &Layout),
    (source, from): (&HipStorage, &Layout),
    add: bool,
) -> Result<()> {
    let (device, dtype, op) = (storage.device().clone(), storage.dtype(), axis.operation);
    if at.elements() == 0 {
        return Ok(());
    }
    let id_type = id_type(ids, op)?;
    if add && buckets::fit(&device, layout, axis, at, from) {
        return buckets::scatter_add(storage, layout, None, axis, (ids, at, id_type), (source, from));
    }
    if add && dtype.is_float() && dtype.size_in_bytes() < 4 {
        // Accumulates in f32 and rounds once.
        let tight = Layout::contiguous(layout.shape().clone(), op)?;
        let terms = cast::cast(source, from, DType::F32)?;
        let from = Layout::contiguous(from.shape().clone(), op)?;
        let mut sums = cast::cast(storage, layout, DType::F32)?;
        scatter(&mut sums, &tight, axis, (ids, at), (&terms, &from), add)?;
        return copy::copy_from(storage, layout, &cast::cast(&sums, &tight, dtype)?, &tight);
    }
    let function =
        device.kernels().get(&device, kernel(if add { "scatter_add" } else { "scatter" }, dtype))?;
    let along = |layout: &Layout| layout.strides()[axis.axis] as u64;
    let lines = [layout, at, from].map(|layout| layout.split(&[axis.axis]).0);
    for part in parts(&[&lines[0], &lines[1], &lines[2]]) {
        let mut target = storage.tail_mut(part.starts[0], op)?;
        let (which, source) = (ids.tail(part.starts[1], op)?, source.tail(part.starts[2], op)?);
        let (count, multiprocessors) = (part.count as u64, device.multiprocessors());
        let map = ScatterMap {
            lines: count,
            owners: launch::owners(count, axis.length as u64, multiprocessors),
            count: at.dims()[axis.axis] as u64,
            length: axis.length as u64,
            dst_axis: along(layout),
            ids_axis: along(at),
            src_axis: along(from),
            rank: part.rank(),
            id_type: id_type as u32,
            operation: axis.number(),
            axis: axis.axis as u32,
            dims: part.dims(),
            dst: part.strides(0),
            ids: part.strides(1),
            src: part.strides(2),
        };
        let shape = launch::scatter(count, map.owners, multiprocessors);
        device.faults().watch(device.stream(), op, |fault| {
            let mut launch = device.stream().launch(function, config(shape));
            launch.arg_mut(&mut target).arg(&which).arg(&source).arg_mut(fault).value(&map);
            // SAFETY: S9: the kernel reads the ids and the source, and writes elements of the layout along the axis, by
            // ids that it checks; all lie inside their storages. The layout's elements do not overlap and each has one
            // owner, so that no two threads write the same.
            unsafe { launch.submit() }
        })?;
    }
    Ok(())
}

fn kernel(op: &'static str, dtype: DType) -> Kernel {
    Kernel { family: "index", op, dtype, to: None }
}

/// The kernels' code for the type of ids.
pub(super) fn id_type(ids: &HipStorage, operation: &'static str) -> Result<IdType> {
    Ok(match ids.dtype() {
        DType::U8 => IdType::U8,
        DType::U32 => IdType::U32,
        DType::I32 => IdType::I32,
        DType::I64 => IdType::I64,
        dtype => {
            let remedy = "ids are u8, u32, i32 or i64";
            let kind = ErrorKind::UnsupportedDType { dtype, shape: ids.len().into(), remedy };
            return Err(Error::new(operation, kind));
        }
    })
}
