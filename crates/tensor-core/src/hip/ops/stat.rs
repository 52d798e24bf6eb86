//! Statistics over axes.

use kernels_hip::MAX_RANK;
use kernels_hip::args::StatMap;
use kernels_hip::launch;

use super::copy;
use crate::axis::behind_others;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::maps::{eight, parts};
use crate::layout::{Layout, collapse};
use crate::plan::stat::StatOp;

/// The statistic `op` over `axes`, rounded to the dtype once. Floats only.
pub(crate) fn stat(storage: &HipStorage, layout: &Layout, op: StatOp, axes: &[usize]) -> Result<HipStorage> {
    let (kept, reduced) = layout.split(axes);
    let (device, dtype, name) = (storage.device(), storage.dtype(), op.name());
    let inner = collapse(&[&reduced]);
    if inner.dims.len() > MAX_RANK {
        // Such a scattered group does not fit the kernel's arguments. Its elements are made contiguous first.
        let grouped = layout.permute(&behind_others(layout.rank(), axes), name)?;
        let tight = Layout::contiguous(grouped.shape().clone(), name)?;
        let trailing: Vec<usize> = (layout.rank() - axes.len()..layout.rank()).collect();
        return stat(&copy::copy(storage, &grouped)?, &tight, op, &trailing);
    }
    let length = reduced.elements() as u64;
    // SAFETY: S15: the parts cover every output, and the kernel writes each.
    let mut out = unsafe { HipStorage::uninit(device, dtype, kept.elements(), name) }?;
    for part in parts(&[&kept]) {
        let (outputs, stride) = (part.count as u64, part.innermost_stride(0).map(|s| s as u64));
        let (shape, alone) = launch::stat(outputs, length, stride, device.multiprocessors());
        let function = device.kernels().get(device, Kernel { family: "stat", op: name, dtype, to: None })?;
        let (input, mut target) = (storage.tail(part.starts[0], name)?, out.tail_mut(part.first, name)?);
        let outer = part.map1();
        let map = StatMap {
            outputs,
            length,
            kept_rank: outer.rank,
            reduced_rank: inner.dims.len() as u32,
            kept_dims: outer.dims,
            kept_strides: outer.a,
            reduced_dims: eight(&inner.dims),
            reduced_strides: eight(&inner.strides[0]),
        };
        let mut launch = device.stream().launch(function, config(shape));
        launch.arg(&input).arg_mut(&mut target).value(&map).value(&u32::from(alone));
        // SAFETY: S9: the kernel reads the layout's elements, which lie inside the storage, and writes `outputs`
        // elements.
        unsafe { launch.submit() }.map_err(wrap(name))?;
    }
    Ok(out)
}
