//! Convolutions by our kernels, which take any strides.

use bytemuck::Zeroable;
use kernels_hip::args;
use kernels_hip::launch;

use crate::dtype::DType;
use crate::error::Result;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::{HipDevice, HipStorage};
use crate::layout::Layout;
use crate::window::{ConvAxis, Convolution};

/// Writes the convolution to `out`, which has elements.
pub(super) fn conv(
    out: &mut HipStorage,
    (x, x_layout): (&HipStorage, &Layout),
    (filter, filter_layout): (&HipStorage, &Layout),
    bias: Option<(&HipStorage, &Layout)>,
    shape: &Convolution,
) -> Result<()> {
    let (device, dtype, operation) = (x.device(), x.dtype(), shape.operation);
    let outputs = shape.outputs();
    let arguments = args::ConvArgs {
        batch: shape.batch as u64,
        groups: shape.groups as u64,
        in_channels: shape.in_channels as u64,
        out_channels: shape.out_channels as u64,
        h: axis(&shape.h),
        w: axis(&shape.w),
        x: [0, 1, 2, 3].map(|axis| x_layout.strides()[axis] as u64),
        f: shape.filter_strides(filter_layout.strides()).map(|stride| stride as u64),
        bias_step: bias.map_or(0, |(_, layout)| layout.strides()[0] as u64),
        has_bias: bias.is_some().into(),
        ..args::ConvArgs::zeroed()
    };
    let (family, op, launch_shape) = if shape.is_depthwise() {
        ("conv", "depthwise", launch::conv_depthwise(outputs as u64, device.multiprocessors()))
    } else {
        launch::conv_kernel(&work_of(device, dtype, shape), device.multiprocessors())
    };
    let function = device.kernels().get(device, Kernel { family, op, dtype, to: None })?;
    let source = x.tail(x_layout.offset(), operation)?;
    let filters = filter.tail(filter_layout.offset(), operation)?;
    let addends = match bias {
        Some((bias, layout)) => bias.tail(layout.offset(), operation)?,
        None => filter.tail(filter_layout.offset(), operation)?,
    };
    let mut target = out.tail_mut(0, operation)?;
    let mut launch = device.stream().launch(function, config(launch_shape));
    launch.arg(&source).arg(&filters).arg(&addends).arg_mut(&mut target).value(&arguments);
    // SAFETY: S9: the kernels read the layouts' places, which lie inside their storages (the bias only if there is one), and
    // write `outputs` elements.
    unsafe { launch.submit() }.map_err(wrap(operation))
}

/// What decides about the kernel.
fn work_of(device: &HipDevice, dtype: DType, shape: &Convolution) -> launch::ConvWork {
    let places = shape.batch * shape.h.out.div_ceil(shape.h.up) * shape.w.out.div_ceil(shape.w.up);
    launch::ConvWork {
        out_channels: shape.out_channels as u64,
        in_channels: shape.in_channels as u64,
        taps: (shape.h.taps as u64).saturating_mul(shape.w.taps as u64),
        places: places as u64,
        parts: (shape.groups * shape.h.phases() * shape.w.phases()) as u64,
        element_bytes: dtype.size_in_bytes(),
        matrix_units: matches!(dtype, DType::F16 | DType::BF16) && device.has_matrix_units(),
    }
}

fn axis(axis: &ConvAxis) -> args::ConvAxis {
    args::ConvAxis {
        out: axis.out as u64,
        input: axis.input as u64,
        taps: axis.taps as u64,
        up: axis.up as u64,
        tap_step: axis.tap_step as u64,
        step: axis.step,
        first: axis.first,
        tap: axis.tap,
    }
}
