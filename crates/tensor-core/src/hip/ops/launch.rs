//! Launching the kernels of the elementwise family.

use half::{bf16, f16};
use hip_safe::Launch;

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

/// A kernel of the elementwise family.
pub(super) fn elementwise(op: &'static str, dtype: DType) -> Kernel {
    Kernel { family: "elementwise", op, dtype, to: None }
}

/// Operands of fewer elements are read as they lie.
const TURNING_PAYS: usize = 1 << 16;

/// A tight copy of an operand that lies turned round, and its layout: two passes in order are quicker than one that jumps.
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

/// `count` elements of a kernel that makes them of their places: launched as if they had `element_bytes`, with what `arguments` appends
/// behind the result.
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
        let mut launch = device.stream().launch(&function, device.elementwise(count, element_bytes));
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
    let (device, op) = (input.device(), kernel.op);
    let copied = straight(input, layout, op)?;
    let (input, layout) = copied.as_ref().map_or((input, layout), |(storage, layout)| (storage, layout));
    // SAFETY: S15: the parts cover every element of the layout, and the kernels write each.
    let mut out = unsafe { HipStorage::uninit(device, to, layout.elements(), op) }?;
    for part in parts(&[layout]) {
        let function = device.kernels().get(device, kernel)?;
        let (source, mut target) = (input.tail(part.starts[0], op)?, out.tail_mut(part.first, op)?);
        let mut launch =
            device.stream().launch(&function, device.elementwise(part.count, widest(input.dtype(), to)));
        launch.arg(&source).arg_mut(&mut target).value(&part.map1());
        push(&mut launch, input.dtype(), scalars);
        // SAFETY: S9: the kernel reads the layout's places, which lie inside the storage, and writes `count` elements.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    Ok(out)
}

/// As [`map1`], onto the elements themselves. The layout's places are distinct.
pub(super) fn map1_assign(
    storage: &mut HipStorage,
    layout: &Layout,
    kernel: Kernel,
    scalars: &[Scalar],
) -> Result<()> {
    let (device, dtype, op) = (storage.device().clone(), storage.dtype(), kernel.op);
    if !layout.is_contiguous() {
        let result = map1(storage, layout, kernel, dtype, scalars)?;
        return super::copy::copy_from(
            storage,
            layout,
            &result,
            &Layout::contiguous(layout.shape().clone(), op)?,
        );
    }
    for part in parts(&[layout]) {
        let function = device.kernels().get(&device, kernel)?;
        let mut target = storage.tail_mut(part.starts[0], op)?;
        let address = target.device_ptr_mut();
        let mut launch =
            device.stream().launch(&function, device.elementwise(part.count, dtype.size_in_bytes()));
        launch.pointer(address.cast_const().cast()).arg_mut(&mut target).value(&part.map1());
        push(&mut launch, dtype, scalars);
        // SAFETY: S9: the input is the output itself, which these kernels allow; the layout is tight in the storage.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    Ok(())
}

/// `out[i] = kernel(a[i], b[i])` into new storage of dtype `to`. Both layouts have one shape.
pub(super) fn map2(
    (a, lhs): (&HipStorage, &Layout),
    (b, rhs): (&HipStorage, &Layout),
    kernel: Kernel,
    to: DType,
) -> Result<HipStorage> {
    let (device, op) = (a.device(), kernel.op);
    let (first, second) = (straight(a, lhs, op)?, straight(b, rhs, op)?);
    let (a, lhs) = first.as_ref().map_or((a, lhs), |(storage, layout)| (storage, layout));
    let (b, rhs) = second.as_ref().map_or((b, rhs), |(storage, layout)| (storage, layout));
    // SAFETY: S15: the parts cover every element of the layouts, and the kernels write each.
    let mut out = unsafe { HipStorage::uninit(device, to, lhs.elements(), op) }?;
    for part in parts(&[lhs, rhs]) {
        let function = device.kernels().get(device, kernel)?;
        let (x, y) = (a.tail(part.starts[0], op)?, b.tail(part.starts[1], op)?);
        let mut target = out.tail_mut(part.first, op)?;
        let mut launch =
            device.stream().launch(&function, device.elementwise(part.count, widest(a.dtype(), to)));
        launch.arg(&x).arg(&y).arg_mut(&mut target).value(&part.map2());
        // SAFETY: S9: the kernel reads the layouts' places, which lie inside the storages, and writes `count` elements.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    Ok(out)
}

/// `a[i] = kernel(a[i], b[i])`. The places of `lhs` are distinct.
pub(super) fn map2_assign(
    a: &mut HipStorage,
    lhs: &Layout,
    (b, rhs): (&HipStorage, &Layout),
    kernel: Kernel,
) -> Result<()> {
    let (device, op, a_bytes) = (a.device().clone(), kernel.op, a.dtype().size_in_bytes());
    let copied = straight(b, rhs, op)?;
    let (b, rhs) = copied.as_ref().map_or((b, rhs), |(storage, layout)| (storage, layout));
    if !lhs.is_contiguous() {
        let result = map2((a, lhs), (b, rhs), kernel, a.dtype())?;
        return super::copy::copy_from(a, lhs, &result, &Layout::contiguous(lhs.shape().clone(), op)?);
    }
    for part in parts(&[lhs, rhs]) {
        let function = device.kernels().get(&device, kernel)?;
        let y = b.tail(part.starts[1], op)?;
        let mut target = a.tail_mut(part.starts[0], op)?;
        let address = target.device_ptr_mut();
        let mut launch = device.stream().launch(&function, device.elementwise(part.count, a_bytes));
        launch.pointer(address.cast_const().cast()).arg(&y).arg_mut(&mut target).value(&part.map2());
        // SAFETY: S9: the first input is the output itself, which these kernels allow; `lhs` is tight in its storage and
        // the places of `rhs` lie inside its own.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    Ok(())
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

fn widest(input: DType, output: DType) -> usize {
    input.size_in_bytes().max(output.size_in_bytes())
}
