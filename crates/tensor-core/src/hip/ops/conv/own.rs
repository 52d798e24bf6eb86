//! Convolutions by our kernels, which take any strides. Some multiply the numbers directly; others split each `f32`
//! into a sum of three 16-bit numbers for the matrix units.

use bytemuck::Zeroable;
use hip_safe::{DeviceRepr, Function};
use kernels_hip::args;
use kernels_hip::launch;

use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, is_out_of_memory, wrap};
use crate::hip::kernels::Kernel;
use crate::layout::Layout;
use crate::window::{ConvAxis, Convolution};

/// A convolution with an optional bias, and the layouts of its operands.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub x: (&'a HipStorage, &'a Layout),
    pub filter: (&'a HipStorage, &'a Layout),
    pub bias: Option<(&'a HipStorage, &'a Layout)>,
    pub shape: &'a Convolution,
}

/// Writes the convolution to `out`, which is not empty. The choice of kernel is deterministic, unless memory runs out.
pub(super) fn conv(out: &mut HipStorage, work: Work<'_>) -> Result<()> {
    match split(out, work) {
        Ok(true) => return Ok(()),
        Err(error) if !is_out_of_memory(&error) => return Err(error),
        _ => {}
    }
    let (device, dtype, shape) = (work.x.0.device(), work.x.0.dtype(), work.shape);
    let (family, op, launch_shape) = if shape.is_depthwise() {
        ("conv", "depthwise", launch::conv_depthwise(shape.outputs() as u64, device.multiprocessors()))
    } else {
        launch::conv_kernel(&work.decides(), device.multiprocessors())
    };
    let function = device.kernels().get(device, Kernel { family, op, dtype, to: None })?;
    work.submit(out, None, function, launch_shape, &work.arguments())
}

/// Writes an `f32` convolution to `out` using the matrix units, and returns true, if the device has them and it pays.
/// Each number is the sum of three 16-bit numbers, so that the result is no less accurate.
fn split(out: &mut HipStorage, work: Work<'_>) -> Result<bool> {
    let ((x, x_layout), (filter, filter_layout)) = (work.x, work.filter);
    let (device, dtype, operation) = (x.device(), x.dtype(), work.shape.operation);
    if dtype != DType::F32 || work.shape.is_depthwise() || !device.has_matrix_units() {
        return Ok(false);
    }
    let decides = work.decides();
    if !launch::conv_split_fits(&decides) {
        return Ok(false);
    }
    let Some((arguments, bytes)) = args::ConvSplitArgs::new(work.arguments()) else { return Ok(false) };
    let Ok(bytes) = usize::try_from(bytes) else { return Ok(false) };
    let kernel = |op| device.kernels().get(device, Kernel { family: "conv_split", op, dtype, to: None });
    let (parts, product) = (kernel("parts")?, kernel("64")?);
    let [parts_shape, product_shape] =
        launch::conv_split(&decides, arguments.blocks(), device.multiprocessors());
    // SAFETY: S15: the first kernel writes all that the second one reads.
    let mut scratch = unsafe { HipStorage::uninit(device, DType::U8, bytes, operation) }?;
    let source = x.tail(x_layout.offset(), operation)?;
    let filters = filter.tail(filter_layout.offset(), operation)?;
    let mut target = scratch.tail_mut(0, operation)?;
    let mut launch = device.stream().launch(parts, config(parts_shape));
    launch.arg(&source).arg(&filters).arg_mut(&mut target).value(&arguments);
    // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages, and writes what `bytes`
    // counts.
    unsafe { launch.submit() }.map_err(wrap(operation))?;
    work.submit(out, Some(&scratch), product, product_shape, &arguments)?;
    Ok(true)
}

impl Work<'_> {
    fn arguments(&self) -> args::ConvArgs {
        let Self { x: (_, x_layout), filter: (_, filter_layout), bias, shape } = *self;
        args::ConvArgs {
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
        }
    }

    /// The properties that determine the choice of kernel.
    fn decides(&self) -> launch::ConvWork {
        let Self { x: (x, _), shape, .. } = *self;
        let outputs = shape.batch * shape.h.out.div_ceil(shape.h.up) * shape.w.out.div_ceil(shape.w.up);
        launch::ConvWork {
            out_channels: shape.out_channels as u64,
            in_channels: shape.in_channels as u64,
            taps: (shape.h.taps as u64).saturating_mul(shape.w.taps as u64),
            outputs: outputs as u64,
            inputs: (shape.batch as u64)
                .saturating_mul(shape.h.input as u64)
                .saturating_mul(shape.w.input as u64),
            parts: (shape.groups * shape.h.phases() * shape.w.phases()) as u64,
            element_bytes: x.dtype().size_in_bytes(),
            matrix_units: matches!(x.dtype(), DType::F16 | DType::BF16) && x.device().has_matrix_units(),
        }
    }

    /// Launches a kernel that writes `out`. It also reads the scratch memory, if given.
    fn submit<A: DeviceRepr>(
        &self,
        out: &mut HipStorage,
        scratch: Option<&HipStorage>,
        function: &Function,
        launch_shape: launch::LaunchShape,
        arguments: &A,
    ) -> Result<()> {
        let Self { x: (x, x_layout), filter: (filter, filter_layout), bias, shape } = *self;
        let operation = shape.operation;
        let scratch = scratch.map(|scratch| scratch.tail(0, operation)).transpose()?;
        let source = x.tail(x_layout.offset(), operation)?;
        let filters = filter.tail(filter_layout.offset(), operation)?;
        let addends = match bias {
            Some((bias, layout)) => bias.tail(layout.offset(), operation)?,
            None => filter.tail(filter_layout.offset(), operation)?,
        };
        let mut target = out.tail_mut(0, operation)?;
        let mut launch = x.device().stream().launch(function, config(launch_shape));
        if let Some(scratch) = &scratch {
            launch.arg(scratch);
        }
        launch.arg(&source).arg(&filters).arg(&addends).arg_mut(&mut target).value(arguments);
        // SAFETY: S9: the kernels read the layouts' elements, which lie inside their storages (the bias only if there
        // is one), and write `outputs` elements; the scratch has the size that its kernel's arguments require.
        unsafe { launch.submit() }.map_err(wrap(operation))
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
