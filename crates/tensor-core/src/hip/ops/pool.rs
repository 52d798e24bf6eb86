//! Pooling and upsampling.

use bytemuck::Zeroable;
use kernels_hip::args;
use kernels_hip::launch;

use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::window::{PoolAxis, PoolOp, Pooling};

/// Pools or upsamples `x` `[batch, channels, h, w]`, which is read in place.
pub(crate) fn pool(x: &HipStorage, layout: &Layout, shape: &Pooling) -> Result<HipStorage> {
    let (device, dtype, operation) = (x.device(), x.dtype(), shape.operation);
    let dims = [layout.dims()[0], layout.dims()[1], shape.h.out, shape.w.out];
    let count = Shape::from(dims).elements(operation)?;
    // SAFETY: S15: the kernel writes every output.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count, operation) }?;
    if count == 0 {
        return Ok(out);
    }
    let (op, flag) = match shape.op {
        PoolOp::Max => ("max", false),
        PoolOp::Mean(with_padding) => ("avg", with_padding),
        PoolOp::Adaptive => ("adaptive", false),
        PoolOp::Nearest => ("nearest", false),
        PoolOp::Bilinear(align_corners) => ("bilinear", align_corners),
    };
    let arguments = args::PoolArgs {
        count: count as u64,
        channels: layout.dims()[1] as u64,
        h: axis(&shape.h),
        w: axis(&shape.w),
        x: [0, 1, 2, 3].map(|axis| layout.strides()[axis] as u64),
        flag: flag.into(),
        ..args::PoolArgs::zeroed()
    };
    let function = device.kernels().get(device, Kernel { family: "pool", op, dtype, to: None })?;
    let source = x.tail(layout.offset(), operation)?;
    let mut target = out.tail_mut(0, operation)?;
    let shape = launch::pool(count as u64, device.multiprocessors());
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg(&source).arg_mut(&mut target).value(&arguments);
    // SAFETY: S9: the kernel reads the layout's elements, which lie inside the storage, and writes `count` elements.
    unsafe { launch.submit() }.map_err(wrap(operation))?;
    Ok(out)
}

fn axis(axis: &PoolAxis) -> args::PoolAxis {
    args::PoolAxis {
        out: axis.out as u64,
        input: axis.input as u64,
        window: axis.window as u64,
        stride: axis.stride as u64,
        padding: axis.padding as u64,
    }
}
