//! Normalisation of rows and of channels.

use kernels_hip::args::{Axes, BatchMap, NormMap};
use kernels_hip::launch::{self, RowKernel};

use super::quant::Activations;
use super::{binary, copy};
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::maps::parts;
use crate::layout::Layout;
use crate::ops::BinaryOp;
use crate::plan::norm::{Affine, Channels, RowNorm, RowNormKind};

/// A normalisation of rows.
pub(crate) fn row_norm(
    storage: &HipStorage,
    layout: &Layout,
    norm: RowNorm,
    affine: Affine<'_, HipStorage>,
) -> Result<HipStorage> {
    let (device, dtype, name) = (storage.device(), storage.dtype(), norm.kind.name());
    if layout.elements() == 0 {
        return HipStorage::zeros(device, dtype, 0, name);
    }
    let Some(starts) = row_starts(layout, norm)? else {
        let tight = Layout::contiguous(layout.shape().clone(), name)?;
        return row_norm(&copy::copy(storage, layout)?, &tight, norm, affine);
    };
    // SAFETY: S15: the parts cover every row, and the kernels write each.
    let mut out = unsafe { HipStorage::uninit(device, dtype, layout.elements(), name) }?;
    for part in parts(&[&starts]) {
        let (rows, length) = (part.count as u64, norm.length as u64);
        let (kind, shape) = launch::rows(rows, length, dtype.size_in_bytes(), device.multiprocessors());
        let kernel = Kernel { family: "norm", op: kernel_name(kind, norm.kind), dtype, to: None };
        let function = device.kernels().get(device, kernel)?;
        let input = storage.tail(part.starts[0], name)?;
        let mut target = out.tail_mut(part.first * norm.length, name)?;
        // Without a parameter the kernel does not read the pointer.
        let parameters = |which: usize| match &affine[which] {
            Some(given) => given.storage.tail(given.layout.offset(), name),
            None => storage.tail(0, name),
        };
        let (weight, bias) = (parameters(0)?, parameters(1)?);
        let map = NormMap {
            rows,
            length,
            groups: norm.groups as u64,
            inner: norm.inner as u64,
            eps: norm.eps,
            flags: flags(&affine),
            rank: part.rank(),
            dims: part.dims(),
            strides: part.strides(0),
        };
        let mut launch = device.stream().launch(function, config(shape));
        launch.arg(&input).arg(&weight).arg(&bias).arg_mut(&mut target).value(&map);
        // SAFETY: S9: the kernel reads the layout's elements, which lie inside the storage, and the channels'
        // parameters, and writes `rows · length` elements.
        unsafe { launch.submit() }.map_err(wrap(name))?;
    }
    Ok(out)
}

/// Adds `other` to the elements of `layout`, and normalises the rows of the sums by their mean squares. `rounded` is given the results
/// rounded, if it is there and a kernel does both.
pub(crate) fn add_rms_norm(
    storage: &mut HipStorage,
    layout: &Layout,
    (other, from): (&HipStorage, &Layout),
    norm: RowNorm,
    affine: Affine<'_, HipStorage>,
    rounded: Option<&mut Option<Activations>>,
) -> Result<HipStorage> {
    let (count, dtype, name) = (layout.elements(), storage.dtype(), "add_rms_norm_");
    if count == 0 || !layout.is_contiguous() || !from.is_contiguous() {
        binary::binary_assign(storage, layout, other, from, BinaryOp::Add)?;
        return row_norm(storage, layout, norm, affine);
    }
    let (rows, length) = (count / norm.length, norm.length);
    let weight_first =
        affine[0].map_or((other, from.offset()), |given| (given.storage, given.layout.offset()));
    let fits =
        Activations::takes(&[(storage, layout.offset()), (other, from.offset()), weight_first], length);
    let (device, mut sums) = storage.split_tail_mut(layout.offset(), name)?;
    let (kind, shape) =
        launch::rows(rows as u64, length as u64, dtype.size_in_bytes(), device.multiprocessors());
    // The kernel for short rows does not round.
    let rounded = rounded.filter(|_| fits && kind == RowKernel::Block);
    let op = match kind {
        RowKernel::Block if rounded.is_some() => "add_rms_rounded",
        RowKernel::Block => "add_rms",
        RowKernel::Short => "add_rms_short",
    };
    let function = device.kernels().get(device, Kernel { family: "norm", op, dtype, to: None })?;
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count, name) }?;
    let summands = other.tail(from.offset(), name)?;
    // Without a weight the kernel does not read the pointer.
    let weight = weight_first.0.tail(weight_first.1, name)?;
    let mut target = out.tail_mut(0, name)?;
    let (mut dims, mut strides) = (Axes::default(), Axes::default());
    (dims[0], strides[0]) = (rows as u64, length as u64);
    let map = NormMap {
        rows: rows as u64,
        length: length as u64,
        groups: 1,
        inner: 1,
        eps: norm.eps,
        flags: flags(&affine),
        rank: 1,
        dims,
        strides,
    };
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg_mut(&mut sums).arg(&summands).arg(&weight).arg_mut(&mut target);
    if let Some(rounded) = rounded {
        // SAFETY: S15: the kernel writes all bytes but those between the parts, which nothing reads.
        let activations = rounded.insert(unsafe { Activations::uninit(device, count, name) }?);
        let (scales, sums) = (activations.scales as u64, activations.sums as u64);
        let mut bytes = activations.memory.tail_mut(0, name)?;
        launch.arg_mut(&mut bytes).value(&map).value(&scales).value(&sums);
        // SAFETY: S9: as below; it also writes a byte for each element, the scales and the sums.
        unsafe { launch.submit() }.map_err(wrap(name))?;
    } else {
        launch.value(&map);
        // SAFETY: S9: both layouts are contiguous in their storages and have `count` elements, as the output has. The weight
        // has one for each element of a row.
        unsafe { launch.submit() }.map_err(wrap(name))?;
    }
    Ok(out)
}

/// (x − mean) / √(variance + eps) · weight + bias, with one parameter per channel, axis 1.
pub(crate) fn batch_norm(
    storage: &HipStorage,
    layout: &Layout,
    channels: &Channels<'_, HipStorage>,
) -> Result<HipStorage> {
    let (device, dtype, name) = (storage.device(), storage.dtype(), "batch_norm");
    if layout.elements() == 0 {
        return HipStorage::zeros(device, dtype, 0, name);
    }
    if !layout.is_contiguous() {
        let tight = Layout::contiguous(layout.shape().clone(), name)?;
        return batch_norm(&copy::copy(storage, layout)?, &tight, channels);
    }
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(device, dtype, layout.elements(), name) }?;
    let function = device.kernels().get(device, Kernel { family: "norm", op: "batch", dtype, to: None })?;
    let (input, mut target) = (storage.tail(layout.offset(), name)?, out.tail_mut(0, name)?);
    let [weight, bias] = channels.affine;
    let [mean, variance] = channels.statistics;
    let all = [Some(mean), Some(variance), weight, bias].map(|given| match given {
        Some(given) => given.storage.tail(given.layout.offset(), name),
        None => storage.tail(0, name),
    });
    let [mean, variance, weight, bias] = all;
    let (mean, variance, weight, bias) = (mean?, variance?, weight?, bias?);
    let map = BatchMap {
        count: layout.elements() as u64,
        channels: layout.dims()[1] as u64,
        inner: layout.dims()[2..].iter().product::<usize>() as u64,
        eps: channels.eps,
        flags: flags(&channels.affine).into(),
    };
    let shape = device.elementwise(layout.elements(), dtype.size_in_bytes());
    let mut launch = device.stream().launch(function, shape);
    launch.arg(&input).arg(&mean).arg(&variance).arg(&weight).arg(&bias).arg_mut(&mut target).value(&map);
    // SAFETY: S9: the layout is contiguous in its storage, and each of its channels has its parameters.
    unsafe { launch.submit() }.map_err(wrap(name))?;
    Ok(out)
}

/// The first elements of the rows, if each row is contiguous. For groups it has one dimension, because their kernel
/// counts rows.
fn row_starts(layout: &Layout, norm: RowNorm) -> Result<Option<Layout>> {
    let (length, name) = (norm.length, norm.kind.name());
    if layout.is_contiguous() {
        return Layout::strided(layout.elements() / length, &[length], layout.offset(), name).map(Some);
    }
    let last = layout.rank() - 1;
    let whole = norm.kind != RowNormKind::Group && (length == 1 || layout.strides()[last] == 1);
    Ok(whole.then(|| layout.split(&[last]).0))
}

/// The part of a kernel's name between the family and the dtype.
fn kernel_name(kernel: RowKernel, kind: RowNormKind) -> &'static str {
    match (kernel, kind) {
        (RowKernel::Block, RowNormKind::Layer) => "layer",
        (RowKernel::Block, RowNormKind::Rms) => "rms",
        (RowKernel::Block, RowNormKind::Group) => "group",
        (RowKernel::Short, RowNormKind::Layer) => "layer_short",
        (RowKernel::Short, RowNormKind::Rms) => "rms_short",
        (RowKernel::Short, RowNormKind::Group) => "group_short",
    }
}

fn flags(affine: &Affine<'_, HipStorage>) -> u32 {
    let flag = |which: usize, bit: u32| if affine[which].is_some() { bit } else { 0 };
    flag(0, NormMap::HAS_WEIGHT) | flag(1, NormMap::HAS_BIAS)
}
