//! Quantized numbers: their values, rows by ids, and products with activations.
//!
//! Up to [`QTensor::ROUNDED_ROWS`] rows of activations are rounded to 8 bits and multiplied as integers, straight from the blocks. More
//! rows of `f16` or `bf16` are multiplied by matrix units ([`quant_mma`]) where the device has them, up to
//! [`launch::QUANT_MMA_MOST`]. Otherwise the matrix
//! is dequantized to the dtype of the activations, and multiplied as any other.

use kernels_hip::args::QuantMap;
use kernels_hip::launch::{self, QuantDot};

use super::{copy, index, matmul, quant_mma, quant_row};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::quant::QHipStorage;
use crate::hip::{HipDevice, HipStorage};
use crate::layout::Layout;
use crate::plan::index::Indexed;
use crate::quant::QTensor;

/// Numbers that share a scale of activations.
pub(super) const GROUP: usize = 32;
/// Kernels read and write packs of so many bytes.
pub(super) const PACK: usize = 16;

/// All values as `dtype`: `f32`, `f16` or `bf16`, rounded once.
pub(crate) fn dequantize(source: &QHipStorage, dtype: DType) -> Result<HipStorage> {
    let (op, device, count) = ("dequantize", source.device(), source.elements());
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count, op) }?;
    if count == 0 {
        return Ok(out);
    }
    // Any whole number of blocks is a row.
    let width = source.dtype().block_size();
    let function = device.kernels().get(device, kernel(source.kernels().unpack, dtype))?;
    let shape = launch::quant_unpack(packs(count, dtype), device.multiprocessors());
    let (blocks, mut target) = (source.memory().tail(0, op)?, out.tail_mut(0, op)?);
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg(&blocks).arg_mut(&mut target).value(&source.map(width, count / width));
    // SAFETY: S9: the kernel reads the parts of all blocks, and writes `count` elements.
    unsafe { launch.submit() }.map_err(wrap(op))?;
    Ok(out)
}

/// The rows at ids, as `f32`, of a matrix with `width` numbers in a row. Zeros for a wrong id.
pub(crate) fn rows(
    source: &QHipStorage,
    width: usize,
    axis: &Indexed,
    (ids, at): (&HipStorage, &Layout),
) -> Result<HipStorage> {
    let (op, device, count) = (axis.operation, source.device(), at.elements());
    require_width(width, op)?;
    let Some(elements) = count.checked_mul(width) else {
        return Err(Error::new(op, ErrorKind::Overflow { shape: [count, width].into() }));
    };
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(device, DType::F32, elements, op) }?;
    if elements == 0 {
        return Ok(out);
    }
    let tight = tight(ids, at, 1)?;
    let (ids, first) = tight.as_ref().map_or((ids, at.offset()), |copy| (copy, 0));
    let map = by_id(source.map(width, count), axis, ids)?;
    let function = device.kernels().get(device, kernel(source.kernels().rows, DType::F32))?;
    let shape = launch::quant_unpack(packs(elements, DType::F32), device.multiprocessors());
    let (blocks, ids, mut target) =
        (source.memory().tail(0, op)?, ids.tail(first, op)?, out.tail_mut(0, op)?);
    device.faults().watch(device.stream(), op, |fault| {
        let mut launch = device.stream().launch(function, config(shape));
        launch.arg(&blocks).arg(&ids).arg_mut(&mut target).arg_mut(fault).value(&map);
        // SAFETY: S9: the kernel reads `count` ids, and rows of the matrix by ids that it checks; it writes every element.
        unsafe { launch.submit() }
    })?;
    Ok(out)
}

/// The products of rows of activations `xs` `[m, width]` with a matrix of `columns` rows of `width` numbers: `[m, columns]`,
/// in the dtype of `xs`. Nothing is empty. `rounded` are these activations, if another product needed them rounded, and
/// then are.
pub(crate) fn product(
    source: &QHipStorage,
    (xs, layout): (&HipStorage, &Layout),
    columns: usize,
    rounded: &mut Option<Activations>,
    op: &'static str,
) -> Result<HipStorage> {
    let (count, width) = (layout.dims()[0], layout.dims()[1]);
    require_width(width, op)?;
    if count > QTensor::ROUNDED_ROWS && quant_mma::pays(xs, count) {
        return quant_mma::product(source, (xs, layout), columns, op);
    }
    if count > QTensor::ROUNDED_ROWS {
        let matrix = dequantize(source, xs.dtype())?;
        let transposed = Layout::strided([width, columns], &[1, width], 0, op)?;
        return matmul::matmul(xs, layout, &matrix, &transposed);
    }
    if count == 1 {
        let mut products = quant_row::products(&[(source, columns)], (xs, layout), rounded, op)?;
        return Ok(products.swap_remove(0));
    }
    let device = source.device();
    let activations = Activations::once(rounded, xs, layout, op)?;
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(device, xs.dtype(), count * columns, op) }?;
    let QuantDot { most, split, shape } =
        launch::quant_dot(columns as u64, width as u64, count as u64, device.multiprocessors());
    let [some, many] = source.kernels().dots;
    let name = if most == 4 { some } else { many };
    let function = device.kernels().get(device, kernel(name, xs.dtype()))?;
    let map = activations.map(QuantMap { rows: columns as u64, split, ..source.map(width, count) });
    let (blocks, bytes, mut target) =
        (source.memory().tail(0, op)?, activations.memory.tail(0, op)?, out.tail_mut(0, op)?);
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg(&blocks).arg(&bytes).arg_mut(&mut target).value(&map);
    // SAFETY: S9: the kernel reads all blocks and all activations, and writes `count` rows of `columns` elements.
    unsafe { launch.submit() }.map_err(wrap(op))?;
    Ok(out)
}

/// The products of rows of activations `xs` `[m, width]` with matrices of `columns` rows: result i is of row i / `each` and
/// of the matrix with id i. Zeros for a wrong id. Nothing is empty.
pub(crate) fn product_of_experts(
    source: &QHipStorage,
    (xs, layout): (&HipStorage, &Layout),
    (columns, each): (usize, usize),
    axis: &Indexed,
    (ids, at): (&HipStorage, &Layout),
) -> Result<HipStorage> {
    let (device, op, count, width) = (source.device(), axis.operation, at.elements(), layout.dims()[1]);
    require_width(width, op)?;
    let each = u32::try_from(each).map_err(|_| {
        let what = format!("{each} experts for a row are more than kernels count: at most {}", u32::MAX);
        Error::new(op, ErrorKind::Argument { what })
    })?;
    let activations = Activations::of(xs, layout, op)?;
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(device, xs.dtype(), count * columns, op) }?;
    let tight = tight(ids, at, 1)?;
    let (ids, first) = tight.as_ref().map_or((ids, at.offset()), |copy| (copy, 0));
    let QuantDot { split, shape, .. } =
        launch::quant_dot((count * columns) as u64, width as u64, 1, device.multiprocessors());
    let map = QuantMap { rows: columns as u64, split, each, ..source.map(width, count) };
    let map = activations.map(by_id(map, axis, ids)?);
    let function = device.kernels().get(device, kernel(source.kernels().experts, xs.dtype()))?;
    let (blocks, bytes) = (source.memory().tail(0, op)?, activations.memory.tail(0, op)?);
    let (ids, mut target) = (ids.tail(first, op)?, out.tail_mut(0, op)?);
    device.faults().watch(device.stream(), op, |fault| {
        let mut launch = device.stream().launch(function, config(shape));
        launch.arg(&blocks).arg(&bytes).arg(&ids).arg_mut(&mut target).arg_mut(fault).value(&map);
        // SAFETY: S9: the kernel reads `count` ids, matrices by ids that it checks, and row i / `each` of the activations for
        // result i, of which there are enough; it writes `count` rows of `columns` elements.
        unsafe { launch.submit() }
    })?;
    Ok(out)
}

/// Rows of activations, rounded to 8 bits.
#[derive(Debug)]
pub(crate) struct Activations {
    /// The bytes, then the scales, then the sums.
    pub(super) memory: HipStorage,
    pub(super) scales: usize,
    pub(super) sums: usize,
}

impl Activations {
    /// Memory for `count` numbers, which are whole groups.
    ///
    /// # Safety
    /// S15: a kernel writes all bytes but those between the parts before anything reads them.
    pub(super) unsafe fn uninit(device: &HipDevice, count: usize, op: &'static str) -> Result<Self> {
        // A byte for each number, a scale for each group and a sum for each half of one: 44 bytes for 32.
        let scales = count.next_multiple_of(PACK);
        let sums = scales + (count / GROUP * size_of::<f32>()).next_multiple_of(PACK);
        let bytes = sums + count / GROUP * 2 * size_of::<f32>();
        // SAFETY: S15: the caller's promise.
        let memory = unsafe { HipStorage::uninit(device, DType::U8, bytes, op) }?;
        Ok(Self { memory, scales, sums })
    }

    /// Rounds rows `[m, width]`.
    fn of(xs: &HipStorage, layout: &Layout, op: &'static str) -> Result<Self> {
        let (device, count) = (xs.device(), layout.elements());
        // SAFETY: S15: the kernel writes all bytes but those between the parts, which nothing reads.
        let mut rounded = unsafe { Self::uninit(device, count, op) }?;
        let copied = tight(xs, layout, PACK)?;
        let (xs, first) = copied.as_ref().map_or((xs, layout.offset()), |copy| (copy, 0));
        let function = device.kernels().get(device, kernel("activations", xs.dtype()))?;
        let shape = launch::quant_activations((count / GROUP) as u64, device.multiprocessors());
        let (rows, width) = (layout.dims()[0] as u64, layout.dims()[1] as u64);
        let map = rounded.map(QuantMap { count: rows, width, ..QuantMap::default() });
        let (source, mut target) = (xs.tail(first, op)?, rounded.memory.tail_mut(0, op)?);
        let mut launch = device.stream().launch(function, config(shape));
        launch.arg(&source).arg_mut(&mut target).value(&map);
        // SAFETY: S9: the kernel reads `count` numbers, and writes a byte for each, the scales and the sums.
        unsafe { launch.submit() }.map_err(wrap(op))?;
        Ok(rounded)
    }

    /// The rounded rows `[m, width]`: those of an earlier product, or rounded now. A rounded form that a graph writes is none before
    /// the graph's first launch.
    pub(super) fn once<'a>(
        rounded: &'a mut Option<Self>,
        xs: &HipStorage,
        layout: &Layout,
        op: &'static str,
    ) -> Result<&'a Self> {
        match rounded {
            Some(earlier) if !earlier.memory.is_written_by_graphs() => {}
            _ => *rounded = Some(Activations::of(xs, layout, op)?),
        }
        Ok(rounded.as_ref().expect("it was set"))
    }

    /// Whether a kernel that makes these numbers can round them as well: from whole groups, at addresses that are whole packs.
    pub(super) fn takes(numbers: &[(&HipStorage, usize)], width: usize) -> bool {
        let fits = |(storage, first): &(&HipStorage, usize)| {
            storage.dtype() == DType::F32 && storage.begins_at(*first, PACK)
        };
        width > 0 && width.is_multiple_of(GROUP) && u32::try_from(width).is_ok() && numbers.iter().all(fits)
    }

    /// `map`, with the addresses of these activations.
    pub(super) fn map(&self, map: QuantMap) -> QuantMap {
        QuantMap { scales: self.scales as u64, sums: self.sums as u64, ..map }
    }
}

/// An error for rows that kernels do not count: they number the elements of a row with 32 bits.
pub(super) fn require_width(width: usize, op: &'static str) -> Result<()> {
    if u32::try_from(width).is_ok() {
        return Ok(());
    }
    let what = format!("rows of {width} numbers are longer than kernels count: at most {}", u32::MAX);
    Err(Error::new(op, ErrorKind::Argument { what }))
}

/// The packs of so many elements.
fn packs(count: usize, dtype: DType) -> u64 {
    (count * dtype.size_in_bytes() / PACK) as u64
}

/// A copy of the elements, if they are not contiguous from a multiple of `alignment` bytes on.
pub(super) fn tight(storage: &HipStorage, layout: &Layout, alignment: usize) -> Result<Option<HipStorage>> {
    let fits = layout.is_contiguous() && storage.begins_at(layout.offset(), alignment);
    (!fits).then(|| copy::copy(storage, layout)).transpose()
}

/// `map`, with what a kernel needs to read ids and to report a wrong one.
fn by_id(map: QuantMap, axis: &Indexed, ids: &HipStorage) -> Result<QuantMap> {
    let id_type = index::id_type(ids, axis.operation)? as u32;
    Ok(QuantMap {
        length: axis.length as u64,
        id_type,
        operation: axis.number(),
        axis: axis.axis as u32,
        ..map
    })
}

pub(super) fn kernel(op: &'static str, dtype: DType) -> Kernel {
    Kernel { family: "quant", op, dtype, to: None }
}
