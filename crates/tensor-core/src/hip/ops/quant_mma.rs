//! Products of packed blocks with many rows of activations by matrix units.

use kernels_hip::args::QuantMmaArgs;
use kernels_hip::launch::{self, QuantMma};

use super::quant::{PACK, tight};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::quant::QHipStorage;
use crate::layout::Layout;

/// Whether [`product`] is the faster way to multiply so many rows of activations: the device has units for the dtype, and the rows are
/// few enough.
pub(super) fn pays(xs: &HipStorage, count: usize) -> bool {
    let fits = matches!(xs.dtype(), DType::F16 | DType::BF16) && xs.device().has_matrix_units();
    fits && count <= launch::QUANT_MMA_MOST
}

/// As [`super::quant::product`]. The matrix is rounded to the dtype of `xs`, `f16` or `bf16`, a piece at a time.
pub(super) fn product(
    source: &QHipStorage,
    (xs, layout): (&HipStorage, &Layout),
    columns: usize,
    op: &'static str,
) -> Result<HipStorage> {
    let (device, dtype, count, width) = (xs.device(), xs.dtype(), layout.dims()[0], layout.dims()[1]);
    let copied = tight(xs, layout, PACK)?;
    let (xs, first) = copied.as_ref().map_or((xs, layout.offset()), |copy| (copy, 0));
    let QuantMma { split, shape, join } =
        launch::quant_mma(columns as u64, width as u64, count as u64, device.multiprocessors());
    let parts = join.map_or(0, |_| split as usize * count * columns);
    // SAFETY: S15: the kernel writes every element; with parts, the second kernel does.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count * columns, op) }?;
    // SAFETY: S15: the first kernel writes all parts before the second reads them.
    let mut parts = unsafe { HipStorage::uninit(device, DType::F32, parts, op) }?;
    let kernel = |op| device.kernels().get(device, Kernel { family: "quant_mma", op, dtype, to: None });
    let narrow = |size: usize| {
        let what = || format!("{size} rows or numbers are more than kernels count: at most {}", u32::MAX);
        u32::try_from(size).map_err(|_| Error::new(op, ErrorKind::Argument { what: what() }))
    };
    let arguments = QuantMmaArgs {
        begin: source.map(width, count).begin,
        rows: narrow(columns)?,
        width: narrow(width)?,
        count: narrow(count)?,
        split,
    };
    {
        let (blocks, numbers) = (source.memory().tail(0, op)?, xs.tail(first, op)?);
        let (mut target, mut work) = (out.tail_mut(0, op)?, parts.tail_mut(0, op)?);
        let mut launch = device.stream().launch(kernel(source.kernels().name)?, config(shape));
        launch.arg(&blocks).arg(&numbers).arg_mut(&mut target).arg_mut(&mut work).value(&arguments);
        // SAFETY: S9: the kernel reads all blocks and `count` rows, and writes `count` rows of `columns` elements, or as many numbers
        // for each part.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    if let Some(shape) = join {
        let (work, mut target) = (parts.tail(0, op)?, out.tail_mut(0, op)?);
        let mut launch = device.stream().launch(kernel("join")?, config(shape));
        launch.arg(&work).arg_mut(&mut target).value(&arguments);
        // SAFETY: S9: the kernel reads the parts, and writes `count` rows of `columns` elements.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    Ok(out)
}
