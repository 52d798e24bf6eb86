//! Launching the kernels of the elementwise family.

use half::{bf16, f16};
use hip_safe::{BufferArgument, Launch};
use kernels_hip::args::{Map1, Map2};

use crate::dtype::DType;
use crate::element::Element;
use crate::error::Result;
use crate::float8::F8E4M3;
use crate::hip::device::wrap;
use crate::hip::kernels::Kernel;
use crate::hip::maps::parts;
use crate::hip::{HipDevice, HipStorage};
use crate::layout::Layout;
use crate::scalar::Scalar;

/// The elementwise kernel of this operation and dtype.
pub(super) fn elementwise(op: &'static str, dtype: DType) -> Kernel {
    Kernel { family: "elementwise", op, dtype, to: None }
}

/// Smaller operands are read in place.
const TURNING_PAYS: usize = 1 << 16;

/// A contiguous copy of a transposed operand, with its layout. Two sequential passes are faster than one strided pass.
fn straight(storage: &HipStorage, layout: &Layout, op: &'static str) -> Result<Option<(HipStorage, Layout)>> {
    if layout.is_contiguous() || layout.elements() < TURNING_PAYS {
        return Ok(None);
    }
    let tight = Layout::contiguous(layout.shape().clone(), op)?;
    if !parts(&[&tight, layout]).any(|part| part.transpose_map().is_some()) {
        return Ok(None);
    }
    Ok(Some((super::copy::copy(storage, layout)?, tight)))
}

/// `count` elements that a kernel computes from their indices. The launch is sized as for elements of `element_bytes`;
/// `arguments` appends the kernel's further arguments.
pub(super) fn made(
    device: &HipDevice,
    kernel: Kernel,
    (count, element_bytes): (usize, usize),
    arguments: &dyn Fn(&mut Launch<'_>),
) -> Result<HipStorage> {
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(device, kernel.dtype, count, kernel.op) }?;
    if count > 0 {
        let function = device.kernels().get(device, kernel)?;
        let mut target = out.tail_mut(0, kernel.op)?;
        let mut launch = device.stream().launch(function, device.elementwise(count, element_bytes));
        launch.arg_mut(&mut target);
        arguments(&mut launch);
        // SAFETY: S9: the kernel writes `count` elements, which the storage has.
        unsafe { launch.submit() }.map_err(wrap(kernel.op))?;
    }
    Ok(out)
}

/// `out[i] = kernel(input[i], scalars…)` into new storage of dtype `to`.
pub(super) fn map1(
    input: &HipStorage,
    layout: &Layout,
    kernel: Kernel,
    to: DType,
    scalars: &[Scalar],
) -> Result<HipStorage> {
    if !layout.is_contiguous()
        && let Some((tight, layout)) = straight(input, layout, kernel.op)?
    {
        return map1(&tight, &layout, kernel, to, scalars);
    }
    let (device, op) = (input.device(), kernel.op);
    // SAFETY: S15: the pieces cover every element of the layout, and the kernels write each.
    let mut out = unsafe { HipStorage::uninit(device, to, layout.elements(), op) }?;
    pieces1(layout, |start, first, map| {
        let function = device.kernels().get(device, kernel)?;
        let (source, mut target) = (input.tail(start, op)?, out.tail_mut(first, op)?);
        let sizes = (input.dtype().size_in_bytes(), to.size_in_bytes());
        // This kernel is compute-bound: 137 µs with as many blocks as are resident, 144 µs with one per 256 packs
        // (H200, 2^27 elements).
        let walks = op == "gelu_erf" && sizes.0 == 2;
        let config = device.walk(map.contiguous != 0 && !walks, map.count as usize, sizes);
        if scalars.is_empty() {
            let buffers = [BufferArgument::read(&source), BufferArgument::write(&mut target)];
            // SAFETY: S9: the kernel reads the layout's elements, which lie inside the storage, and writes `count`
            // elements.
            return unsafe { device.stream().launch_buffers(function, config, buffers, map) }
                .map_err(wrap(op));
        }
        let mut launch = device.stream().launch(function, config);
        launch.arg(&source).arg_mut(&mut target).value(map);
        push(&mut launch, input.dtype(), scalars);
        // SAFETY: S9: as above.
        unsafe { launch.submit() }.map_err(wrap(op))
    })?;
    Ok(out)
}

/// As [`map1`], in place. The layout's elements do not overlap.
pub(super) fn map1_assign(
    storage: &mut HipStorage,
    layout: &Layout,
    kernel: Kernel,
    scalars: &[Scalar],
) -> Result<()> {
    let (dtype, op) = (storage.dtype(), kernel.op);
    if !layout.is_contiguous() {
        let result = map1(storage, layout, kernel, dtype, scalars)?;
        return super::copy::copy_from(
            storage,
            layout,
            &result,
            &Layout::contiguous(layout.shape().clone(), op)?,
        );
    }
    pieces1(layout, |start, _, map| {
        let (device, mut target) = storage.split_tail_mut(start, op)?;
        let function = device.kernels().get(device, kernel)?;
        let address = target.device_ptr_mut();
        let size = dtype.size_in_bytes();
        let mut launch = device
            .stream()
            .launch(function, device.walk(map.contiguous != 0, map.count as usize, (size, size)));
        launch.pointer(address.cast_const().cast()).arg_mut(&mut target).value(map);
        push(&mut launch, dtype, scalars);
        // SAFETY: S9: the input is the output itself, which these kernels allow; the layout is contiguous in the
        // storage.
        unsafe { launch.submit() }.map_err(wrap(op))
    })
}

/// `out[i] = kernel(a[i], b[i])` into new storage of dtype `to`. Both layouts have the same shape.
pub(super) fn map2(
    (a, lhs): (&HipStorage, &Layout),
    (b, rhs): (&HipStorage, &Layout),
    kernel: Kernel,
    to: DType,
) -> Result<HipStorage> {
    if lhs.is_contiguous() && rhs.is_contiguous() {
        return tight2((a, lhs.offset()), (b, rhs.offset()), lhs.elements(), kernel, to);
    }
    let (device, op) = (a.device(), kernel.op);
    let (first, second) = (straight(a, lhs, op)?, straight(b, rhs, op)?);
    let (a, lhs) = first.as_ref().map_or((a, lhs), |(storage, layout)| (storage, layout));
    let (b, rhs) = second.as_ref().map_or((b, rhs), |(storage, layout)| (storage, layout));
    // SAFETY: S15: the pieces cover every element of the layouts, and the kernels write each.
    let mut out = unsafe { HipStorage::uninit(device, to, lhs.elements(), op) }?;
    pieces2([lhs, rhs], |starts, first, map| {
        launch2((a, starts[0]), (b, starts[1]), (&mut out, first), kernel, map)
    })?;
    Ok(out)
}

/// As [`map2`], for `count` contiguous elements of each operand.
#[inline(always)]
fn tight2(
    a: (&HipStorage, usize),
    b: (&HipStorage, usize),
    count: usize,
    kernel: Kernel,
    to: DType,
) -> Result<HipStorage> {
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(a.0.device(), to, count, kernel.op) }?;
    if count > 0 {
        launch2(a, b, (&mut out, 0), kernel, &tight_map2(count))?;
    }
    Ok(out)
}

/// One launch of a [`map2`], from a position in each storage on.
#[inline(always)]
fn launch2(
    (a, a_start): (&HipStorage, usize),
    (b, b_start): (&HipStorage, usize),
    (out, out_start): (&mut HipStorage, usize),
    kernel: Kernel,
    map: &Map2,
) -> Result<()> {
    let (device, op) = (a.device(), kernel.op);
    let function = device.kernels().get(device, kernel)?;
    // Comparison kernels too have one thread per pack.
    let size = widest(a.dtype(), out.dtype());
    let config = device.walk(map.is_flat(), map.count as usize, (size, size));
    let (x, y) = (a.tail(a_start, op)?, b.tail(b_start, op)?);
    let mut target = out.tail_mut(out_start, op)?;
    let buffers = [BufferArgument::read(&x), BufferArgument::read(&y), BufferArgument::write(&mut target)];
    // SAFETY: S9: the kernel reads the layouts' elements, which lie inside the storages, and writes `count` elements.
    unsafe { device.stream().launch_buffers(function, config, buffers, map) }.map_err(wrap(op))
}

/// The map of two contiguous operands.
fn tight_map2(count: usize) -> Map2 {
    Map2::flat(count as u64, Map2::A_TIGHT | Map2::B_TIGHT)
}

/// `a[i] = kernel(a[i], b[i])`. The elements of `lhs` do not overlap.
pub(super) fn map2_assign(
    a: &mut HipStorage,
    lhs: &Layout,
    (b, rhs): (&HipStorage, &Layout),
    kernel: Kernel,
) -> Result<()> {
    let (op, bytes) = (kernel.op, a.dtype().size_in_bytes());
    if !rhs.is_contiguous()
        && let Some((tight, layout)) = straight(b, rhs, op)?
    {
        return map2_assign(a, lhs, (&tight, &layout), kernel);
    }
    if !lhs.is_contiguous() {
        let result = map2((a, lhs), (b, rhs), kernel, a.dtype())?;
        return super::copy::copy_from(a, lhs, &result, &Layout::contiguous(lhs.shape().clone(), op)?);
    }
    pieces2([lhs, rhs], |starts, _, map| {
        let y = b.tail(starts[1], op)?;
        let (device, mut target) = a.split_tail_mut(starts[0], op)?;
        let function = device.kernels().get(device, kernel)?;
        let address = target.device_ptr_mut();
        let config = device.walk(map.is_flat(), map.count as usize, (bytes, bytes));
        let mut launch = device.stream().launch(function, config);
        launch.pointer(address.cast_const().cast()).arg(&y).arg_mut(&mut target).value(map);
        // SAFETY: S9: the first input is the output itself, which these kernels allow; `lhs` is contiguous in its
        // storage and the elements of `rhs` lie inside its own.
        unsafe { launch.submit() }.map_err(wrap(op))
    })
}

/// Calls `launch` for each piece of a layout, with its start in the storage and in a contiguous result. A contiguous
/// layout is a single piece, which needs no traversal.
fn pieces1(layout: &Layout, mut launch: impl FnMut(usize, usize, &Map1) -> Result<()>) -> Result<()> {
    match layout.elements() {
        0 => Ok(()),
        count if layout.is_contiguous() => launch(layout.offset(), 0, &Map1::tight(count as u64)),
        _ => parts(&[layout]).try_for_each(|part| launch(part.starts[0], part.first, &part.map1())),
    }
}

/// As [`pieces1`], for two layouts of the same shape.
fn pieces2(
    [a, b]: [&Layout; 2],
    mut launch: impl FnMut([usize; 2], usize, &Map2) -> Result<()>,
) -> Result<()> {
    match a.elements() {
        0 => Ok(()),
        count if a.is_contiguous() && b.is_contiguous() => {
            launch([a.offset(), b.offset()], 0, &tight_map2(count))
        }
        _ => parts(&[a, b])
            .try_for_each(|part| launch([part.starts[0], part.starts[1]], part.first, &part.map2())),
    }
}

/// Appends scalars, rounded to the dtype.
pub(super) fn push(launch: &mut Launch<'_>, dtype: DType, scalars: &[Scalar]) {
    for &scalar in scalars {
        match dtype {
            DType::U8 => launch.value(&u8::from_scalar(scalar)),
            DType::U32 => launch.value(&u32::from_scalar(scalar)),
            DType::I16 => launch.value(&i16::from_scalar(scalar)),
            DType::I32 => launch.value(&i32::from_scalar(scalar)),
            DType::I64 => launch.value(&i64::from_scalar(scalar)),
            DType::F8E4M3 => launch.value(&F8E4M3::from_scalar(scalar)),
            DType::BF16 => launch.value(&bf16::from_scalar(scalar)),
            DType::F16 => launch.value(&f16::from_scalar(scalar)),
            DType::F32 => launch.value(&f32::from_scalar(scalar)),
            DType::F64 => launch.value(&f64::from_scalar(scalar)),
        };
    }
}

pub(super) fn widest(input: DType, output: DType) -> usize {
    input.size_in_bytes().max(output.size_in_bytes())
}
