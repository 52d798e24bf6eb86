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
/// few enough. The host's units are emulated, and slower than its BLAS.
pub(super) fn pays(xs: &HipStorage, count: usize) -> bool {
    let device = xs.device();
    let fits = matches!(xs.dtype(), DType::F16 | DType::BF16) && count <= launch::QUANT_MMA_MOST;
    fits && device.has_matrix_units() && device.has_own_memory()
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

#[cfg(all(test, feature = "host"))]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::device::Device;
    use crate::quant::{QStorage, QuantFormat};
    use crate::storage::Storage;
    use crate::tensor::Tensor;

    /// With whole numbers and a scale of 1 sums are exact in `f32`, and rounded once. Rows of 1024 are long enough for two parts.
    #[test]
    fn products_of_whole_numbers_are_rounded_once() {
        let (columns, count) = (5, 11);
        for (name, width) in [("host:0", 1024), ("host:1", 96)] {
            let weight = |i: usize| (i * 7919 % 23) as i64 - 11;
            let blocks: Vec<u8> = (0..columns * width / 32)
                .flat_map(|block| {
                    let bytes = (0..32).map(move |i| weight(block * 32 + i) as i8 as u8);
                    [0, 0x3c].into_iter().chain(bytes)
                })
                .collect();
            // From an odd element on.
            let number = |i: usize| (i * 104_729 % 7) as i64 - 2;
            let numbers: Vec<f32> = (0..count * width + 1).map(|i| number(i) as f32).collect();
            let on = Device::parse(name).unwrap();
            let blocks = QStorage::from_data(Cow::Owned(blocks), &on, QuantFormat::Q8_0).unwrap();
            let QStorage::Hip(blocks) = &blocks else { panic!("blocks of {on} lie there") };
            for dtype in [DType::F16, DType::BF16] {
                let x = Tensor::from_slice(&numbers, numbers.len(), &Device::Cpu).unwrap();
                let x = x.to_dtype(dtype).and_then(|x| x.to_device(&on)).unwrap();
                let Storage::Hip(x) = x.storage() else { panic!("a tensor of {on} lies there") };
                let layout = Layout::strided([count, width], &[width, 1], 1, "test").unwrap();
                let out = product(blocks, (x, &layout), columns, "test").unwrap();
                let got = out.to_cpu(0, out.len(), "test").unwrap();
                let sum = |r: usize, n: usize| -> f32 {
                    let terms = (0..width).map(|k| number(1 + r * width + k) * weight(n * width + k));
                    terms.sum::<i64>() as f32
                };
                let rounded = |sum: f32| match dtype {
                    DType::F16 => half::f16::from_f32(sum).to_bits(),
                    _ => half::bf16::from_f32(sum).to_bits(),
                };
                let expected: Vec<u8> = (0..count * columns)
                    .flat_map(|i| rounded(sum(i / columns, i % columns)).to_ne_bytes())
                    .collect();
                assert_eq!(got.as_bytes(), expected, "{dtype} on {on}");
            }
        }
    }
}
