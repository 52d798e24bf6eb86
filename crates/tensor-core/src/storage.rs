//! Storage: the memory behind tensors. Operations are dispatched to their device here and nowhere else.
//!
//! Every method has one arm per device. The functions in the arms have the same names in every backend folder
//! (`cpu/ops/unary.rs`, …). Callers have checked shapes, dtypes and devices.

pub(crate) mod attention;
mod conv;
mod filled;
pub(crate) mod index;
mod join;
pub(crate) mod nn;
mod random;
pub(crate) mod rope;
pub(crate) mod scan;
mod select;
mod sort;
mod stat;

use crate::activation::Activation;
use crate::cpu::{self, CpuStorage};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{At, Error, ErrorKind, Result};
use crate::hip::{self, HipStorage};
use crate::layout::Layout;
use crate::ops::{BinaryOp, CmpOp, ReduceOp, ScalarOp, UnaryOp};
use crate::scalar::Scalar;

pub(crate) use filled::Fill;
pub(crate) use join::{Piece, borders};
pub(crate) use select::{FlipDim, flip_dims};
pub(crate) use stat::StatOp;

/// Memory on one device, with elements of one dtype. Tensors may share it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Storage {
    /// Host memory.
    Cpu(CpuStorage),
    /// Memory of a HIP device.
    Hip(HipStorage),
}

impl Storage {
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        match self {
            Storage::Cpu(storage) => storage.dtype(),
            Storage::Hip(storage) => storage.dtype(),
        }
    }

    /// The device of the memory.
    pub fn device(&self) -> Device {
        match self {
            Storage::Cpu(_) => Device::Cpu,
            Storage::Hip(storage) => Device::Hip(storage.device().clone()),
        }
    }

    /// Whether both are on the same device.
    #[inline]
    pub(crate) fn is_beside(&self, other: &Storage) -> bool {
        match (self, other) {
            (Storage::Cpu(_), Storage::Cpu(_)) => true,
            (Storage::Hip(a), Storage::Hip(b)) => a.device() == b.device(),
            _ => false,
        }
    }

    /// The memory, if launches of graphs write it; a graph that this thread is capturing does not count.
    #[inline]
    pub(crate) fn written_by_graphs(&self) -> Option<&HipStorage> {
        match self {
            Storage::Cpu(_) => None,
            Storage::Hip(storage) => storage.is_written_by_graphs().then_some(storage),
        }
    }

    /// Whether launches of graphs read or write the memory.
    pub(crate) fn is_used_by_graphs(&self) -> bool {
        match self {
            Storage::Cpu(_) => false,
            Storage::Hip(storage) => storage.is_used_by_graphs(),
        }
    }

    /// The capacity in elements. A tensor's layout may use fewer.
    pub fn len(&self) -> usize {
        match self {
            Storage::Cpu(storage) => storage.len(),
            Storage::Hip(storage) => storage.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory, if it is host memory.
    pub fn as_cpu(&self) -> Option<&CpuStorage> {
        match self {
            Storage::Cpu(storage) => Some(storage),
            Storage::Hip(_) => None,
        }
    }
}

impl At for Storage {
    fn at(&self) -> Device {
        self.device()
    }
}

/// Making and moving storage.
impl Storage {
    /// `count` elements equal to `value`, rounded to `dtype`.
    pub(crate) fn full(device: &Device, dtype: DType, count: usize, value: Scalar) -> Result<Storage> {
        match device {
            Device::Cpu => cpu::ops::fill::full(dtype, count, value).map(Storage::Cpu),
            Device::Hip(device) => hip::ops::fill::full(device, dtype, count, value).map(Storage::Hip),
        }
    }

    /// `count` elements: start, start + step, start + 2·step, …, each rounded to `dtype` once. For an integer `dtype`
    /// both scalars are integers, and the elements wrap; otherwise both are floats.
    pub(crate) fn arange(
        device: &Device,
        dtype: DType,
        count: usize,
        start_and_step: [Scalar; 2],
    ) -> Result<Storage> {
        match device {
            Device::Cpu => cpu::ops::range::arange(dtype, count, start_and_step).map(Storage::Cpu),
            Device::Hip(device) => {
                hip::ops::range::arange(device, dtype, count, start_and_step).map(Storage::Hip)
            }
        }
    }

    /// `count` evenly spaced elements from start to end, which are finite and representable in `dtype`.
    pub(crate) fn linspace(
        device: &Device,
        dtype: DType,
        count: usize,
        ends: [Scalar; 2],
    ) -> Result<Storage> {
        match device {
            Device::Cpu => cpu::ops::range::linspace(dtype, count, ends).map(Storage::Cpu),
            Device::Hip(device) => hip::ops::range::linspace(device, dtype, count, ends).map(Storage::Hip),
        }
    }

    /// `elements`, moved to `device`.
    pub(crate) fn from_cpu(device: &Device, elements: CpuStorage) -> Result<Storage> {
        match device {
            Device::Cpu => Ok(Storage::Cpu(elements)),
            Device::Hip(device) => HipStorage::from_cpu(device, &elements, "to_device").map(Storage::Hip),
        }
    }

    /// The elements of `layout` in row-major order, in host memory. Reads no others, and waits for the device.
    pub(crate) fn to_cpu(&self, layout: &Layout) -> Result<CpuStorage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::copy::copy(storage, layout),
            Storage::Hip(storage) if layout.is_contiguous() => {
                storage.to_cpu(layout.offset(), layout.elements(), "to_cpu")
            }
            Storage::Hip(storage) => {
                let tight = hip::ops::copy::copy(storage, layout)?;
                tight.to_cpu(0, layout.elements(), "to_cpu")
            }
        }
    }
}

/// Operations with a new, contiguous, row-major result.
impl Storage {
    /// The elements of `layout`.
    pub(crate) fn copy(&self, layout: &Layout) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::copy::copy(storage, layout).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::copy::copy(storage, layout).map(Storage::Hip),
        }
    }

    /// The elements converted to `dtype`.
    pub(crate) fn cast(&self, layout: &Layout, dtype: DType) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::cast::cast(storage, layout, dtype).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::cast::cast(storage, layout, dtype).map(Storage::Hip),
        }
    }

    /// `op` of each element.
    pub(crate) fn unary(&self, layout: &Layout, op: UnaryOp) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::unary::unary(storage, layout, op).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::unary::unary(storage, layout, op).map(Storage::Hip),
        }
    }

    /// `op` of each element and `scalar`.
    pub(crate) fn unary_scalar(&self, layout: &Layout, op: ScalarOp, scalar: Scalar) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => {
                cpu::ops::unary::unary_scalar(storage, layout, op, scalar).map(Storage::Cpu)
            }
            Storage::Hip(storage) => {
                hip::ops::unary::unary_scalar(storage, layout, op, scalar).map(Storage::Hip)
            }
        }
    }

    /// `mul · x + add`.
    pub(crate) fn affine(&self, layout: &Layout, mul: Scalar, add: Scalar) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::affine::affine(storage, layout, mul, add).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::affine::affine(storage, layout, mul, add).map(Storage::Hip),
        }
    }

    /// min(max(x, `lo`), `hi`).
    pub(crate) fn clamp(&self, layout: &Layout, lo: Scalar, hi: Scalar) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::clamp::clamp(storage, layout, lo, hi).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::clamp::clamp(storage, layout, lo, hi).map(Storage::Hip),
        }
    }

    /// `op` of the elements of two layouts of the same shape.
    #[inline]
    pub(crate) fn binary(
        &self,
        lhs: &Layout,
        other: &Storage,
        rhs: &Layout,
        op: BinaryOp,
    ) -> Result<Storage> {
        match (self, other) {
            (Storage::Cpu(a), Storage::Cpu(b)) => {
                cpu::ops::binary::binary(a, lhs, b, rhs, op).map(Storage::Cpu)
            }
            (Storage::Hip(a), Storage::Hip(b)) => {
                hip::ops::binary::binary(a, lhs, b, rhs, op).map(Storage::Hip)
            }
            (lhs, rhs) => Err(apart("binary", lhs, rhs)),
        }
    }

    /// 1 where `op` holds for the elements of two layouts of the same shape, else 0, as `u8`.
    pub(crate) fn compare(&self, lhs: &Layout, other: &Storage, rhs: &Layout, op: CmpOp) -> Result<Storage> {
        match (self, other) {
            (Storage::Cpu(a), Storage::Cpu(b)) => {
                cpu::ops::compare::compare(a, lhs, b, rhs, op).map(Storage::Cpu)
            }
            (Storage::Hip(a), Storage::Hip(b)) => {
                hip::ops::compare::compare(a, lhs, b, rhs, op).map(Storage::Hip)
            }
            (lhs, rhs) => Err(apart("compare", lhs, rhs)),
        }
    }

    /// Reduces `axes` by `op`. If the axes are empty, the operation has an identity or the result is empty.
    pub(crate) fn reduce(&self, layout: &Layout, op: ReduceOp, axes: &[usize]) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::reduce::reduce(storage, layout, op, axes).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::reduce::reduce(storage, layout, op, axes).map(Storage::Hip),
        }
    }

    /// The mean over `axes`, rounded to the dtype once; NaN for no elements. Floats only.
    pub(crate) fn mean(&self, layout: &Layout, axes: &[usize]) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::reduce::mean(storage, layout, axes).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::reduce::mean(storage, layout, axes).map(Storage::Hip),
        }
    }

    /// The matrix products of `lhs` `[batch…, m, k]` and `rhs` `[batch…, k, n]`, whose batch dimensions are equal. The
    /// result is not empty.
    pub(crate) fn matmul(&self, lhs: &Layout, other: &Storage, rhs: &Layout) -> Result<Storage> {
        match (self, other) {
            (Storage::Cpu(a), Storage::Cpu(b)) => cpu::ops::matmul::matmul(a, lhs, b, rhs).map(Storage::Cpu),
            (Storage::Hip(a), Storage::Hip(b)) => hip::ops::matmul::matmul(a, lhs, b, rhs).map(Storage::Hip),
            (lhs, rhs) => Err(apart("matmul", lhs, rhs)),
        }
    }
}

/// Operations in place, on a layout whose elements do not overlap.
impl Storage {
    /// Writes `value` to each element.
    pub(crate) fn fill(&mut self, layout: &Layout, value: Scalar) -> Result<()> {
        match self {
            Storage::Cpu(storage) => cpu::ops::fill::fill(storage, layout, value),
            Storage::Hip(storage) => hip::ops::fill::fill(storage, layout, value),
        }
    }

    /// Writes the elements of `source` to those of `layout`, which has the same shape.
    pub(crate) fn copy_from(&mut self, layout: &Layout, source: &Storage, from: &Layout) -> Result<()> {
        match (self, source) {
            (Storage::Cpu(to), Storage::Cpu(source)) => cpu::ops::copy::copy_from(to, layout, source, from),
            (Storage::Hip(to), Storage::Hip(source)) => hip::ops::copy::copy_from(to, layout, source, from),
            (lhs, rhs) => Err(apart("copy_from", lhs, rhs)),
        }
    }

    /// `op` of each element.
    pub(crate) fn unary_assign(&mut self, layout: &Layout, op: UnaryOp) -> Result<()> {
        match self {
            Storage::Cpu(storage) => cpu::ops::unary::unary_assign(storage, layout, op),
            Storage::Hip(storage) => hip::ops::unary::unary_assign(storage, layout, op),
        }
    }

    /// The activation of each element.
    pub(crate) fn activate_assign(&mut self, layout: &Layout, activation: Activation) -> Result<()> {
        match self {
            Storage::Cpu(storage) => cpu::ops::unary::activate_assign(storage, layout, activation),
            Storage::Hip(storage) => hip::ops::unary::activate_assign(storage, layout, activation),
        }
    }

    /// `mul · x + add`.
    pub(crate) fn affine_assign(&mut self, layout: &Layout, mul: Scalar, add: Scalar) -> Result<()> {
        match self {
            Storage::Cpu(storage) => cpu::ops::affine::affine_assign(storage, layout, mul, add),
            Storage::Hip(storage) => hip::ops::affine::affine_assign(storage, layout, mul, add),
        }
    }

    /// min(max(x, `lo`), `hi`).
    pub(crate) fn clamp_assign(&mut self, layout: &Layout, lo: Scalar, hi: Scalar) -> Result<()> {
        match self {
            Storage::Cpu(storage) => cpu::ops::clamp::clamp_assign(storage, layout, lo, hi),
            Storage::Hip(storage) => hip::ops::clamp::clamp_assign(storage, layout, lo, hi),
        }
    }

    /// `op` of each element and the corresponding one of `rhs`, which has the same shape.
    pub(crate) fn binary_assign(
        &mut self,
        lhs: &Layout,
        other: &Storage,
        rhs: &Layout,
        op: BinaryOp,
    ) -> Result<()> {
        match (self, other) {
            (Storage::Cpu(a), Storage::Cpu(b)) => cpu::ops::binary::binary_assign(a, lhs, b, rhs, op),
            (Storage::Hip(a), Storage::Hip(b)) => hip::ops::binary::binary_assign(a, lhs, b, rhs, op),
            (lhs, rhs) => Err(apart("binary_assign", lhs, rhs)),
        }
    }
}

/// The error for operands on different devices. Tensors check this before.
fn apart(operation: &'static str, lhs: &Storage, rhs: &Storage) -> Error {
    Error::new(operation, ErrorKind::two_devices(&lhs.device(), &rhs.device()))
}
