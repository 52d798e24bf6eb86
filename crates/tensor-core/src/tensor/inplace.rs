//! Operations in place. A tensor that shares its storage is copied first.

use std::borrow::Cow;
use std::cell::Cell;
use triomphe::Arc;

use super::{CAST_TO_FLOAT, Tensor};
use crate::error::{On, Result};
use crate::hip::{self, ops::quant::Activations};
use crate::layout::Layout;
use crate::ops::{BinaryOp, UnaryOp};
use crate::scalar::Scalar;
use crate::storage::{Storage, by_device};

thread_local! {
    static COPIES: Cell<u64> = const { Cell::new(0) };
}

/// The number of tensors that in-place operations called on this thread had to copy first.
///
/// ```
/// use tensor_core::{DType, Device, Tensor, copies_on_write};
///
/// # fn main() -> tensor_core::Result<()> {
/// let mut x = Tensor::zeros(3, DType::F32, &Device::Cpu)?;
/// x.affine_(1.0, 1.0)?;
/// assert_eq!(copies_on_write(), 0);
/// let before = x.clone();
/// x.affine_(1.0, 1.0)?;
/// assert_eq!(copies_on_write(), 1);
/// assert_eq!(before.to_vec::<f32>()?, [1.0; 3]);
/// # Ok(())
/// # }
/// ```
pub fn copies_on_write() -> u64 {
    COPIES.get()
}

/// Operations in place. They keep shape and dtype, and no other tensor sees the change.
impl Tensor {
    /// `op` of each element.
    ///
    /// # Errors
    /// As [`Tensor::unary`]; the tensor is then unchanged.
    pub fn unary_assign_(&mut self, op: UnaryOp) -> Result<()> {
        self.require(op.name(), op.supports(self.dtype()), CAST_TO_FLOAT)?;
        self.write(|storage, layout| by_device!(unary::unary_assign(x, layout, op), x = storage))
    }

    /// `op` of each element and the corresponding one of `other`, which is broadcast to this tensor's shape.
    ///
    /// # Errors
    /// As [`Tensor::binary`], and [`crate::ErrorKind::Expand`] if `other` does not broadcast to this tensor's shape;
    /// the tensor is then unchanged.
    pub fn binary_assign_(&mut self, other: &Tensor, op: BinaryOp) -> Result<()> {
        let name = assign_name(op);
        self.require_alike(other, name)?;
        self.require(name, op.supports(self.dtype()), CAST_TO_FLOAT)?;
        let rhs = self.expanded(other, name)?;
        self.write(|storage, layout| {
            by_device!(binary::binary_assign(x, layout, y, &rhs, op), x = storage, y = other.storage())
        })
    }

    /// As [`Tensor::binary_assign_`] with a gate. The result in 8 bits is given too, where a kernel does both.
    pub(crate) fn gate_rounding(&mut self, other: &Tensor, gate: BinaryOp) -> Result<Option<Activations>> {
        let width = self.dims().last().copied().unwrap_or(0);
        if other.shape() != self.shape()
            || !matches!((self.storage(), other.storage()), (Storage::Hip(_), Storage::Hip(_)))
        {
            self.binary_assign_(other, gate)?;
            return Ok(None);
        }
        let name = assign_name(gate);
        self.require_alike(other, name)?;
        self.require(name, gate.supports(self.dtype()), CAST_TO_FLOAT)?;
        let mut rounded = None;
        self.write(|storage, layout| {
            if let (Storage::Hip(x), Storage::Hip(y)) = (storage, other.storage()) {
                rounded = hip::ops::quant_row::gate(x, layout, (y, other.layout()), width, gate)?;
            }
            Ok(())
        })?;
        Ok(rounded)
    }

    /// Adds `other`, broadcast to this tensor's shape.
    ///
    /// # Errors
    /// As [`Tensor::binary_assign_`].
    pub fn add_assign_(&mut self, other: &Tensor) -> Result<()> {
        self.binary_assign_(other, BinaryOp::Add)
    }

    /// Subtracts `other`, broadcast to this tensor's shape.
    ///
    /// # Errors
    /// As [`Tensor::binary_assign_`].
    pub fn sub_assign_(&mut self, other: &Tensor) -> Result<()> {
        self.binary_assign_(other, BinaryOp::Sub)
    }

    /// Multiplies by `other`, broadcast to this tensor's shape.
    ///
    /// # Errors
    /// As [`Tensor::binary_assign_`].
    pub fn mul_assign_(&mut self, other: &Tensor) -> Result<()> {
        self.binary_assign_(other, BinaryOp::Mul)
    }

    /// Divides by `other`, broadcast to this tensor's shape.
    ///
    /// # Errors
    /// As [`Tensor::binary_assign_`].
    pub fn div_assign_(&mut self, other: &Tensor) -> Result<()> {
        self.binary_assign_(other, BinaryOp::Div)
    }

    /// `mul`·x + `add`; see [`Tensor::affine`].
    ///
    /// # Errors
    /// An error of the device.
    pub fn affine_(&mut self, mul: impl Into<Scalar>, add: impl Into<Scalar>) -> Result<()> {
        let (mul, add) = (mul.into(), add.into());
        self.write(|storage, layout| by_device!(affine::affine_assign(x, layout, mul, add), x = storage))
    }

    /// min(max(x, `lo`), `hi`); see [`Tensor::clamp`].
    ///
    /// # Errors
    /// An error of the device.
    pub fn clamp_(&mut self, lo: impl Into<Scalar>, hi: impl Into<Scalar>) -> Result<()> {
        let (lo, hi) = (lo.into(), hi.into());
        self.write(|storage, layout| by_device!(clamp::clamp_assign(x, layout, lo, hi), x = storage))
    }

    /// Writes `value`, rounded to the dtype, to every element. A shared tensor gets new storage instead of a copy.
    ///
    /// # Errors
    /// An error of the device.
    #[doc(alias = "const_set")]
    pub fn fill_(&mut self, value: impl Into<Scalar>) -> Result<()> {
        let value = value.into();
        if self.is_writable() {
            return self.write(|storage, layout| by_device!(fill::fill(x, layout, value), x = storage));
        }
        *self = Tensor::full(value, self.shape().clone(), self.dtype(), &self.device())?;
        Ok(())
    }

    /// Copies the elements of `source`, broadcast to this tensor's shape, into this tensor.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Expand`], [`crate::ErrorKind::DTypeMismatch`], [`crate::ErrorKind::DeviceMismatch`], or an
    /// error of the device; the tensor is then unchanged.
    pub fn copy_from_(&mut self, source: &Tensor) -> Result<()> {
        self.require_alike(source, "copy_from_")?;
        let from = self.expanded(source, "copy_from_")?;
        self.write(|storage, layout| {
            by_device!(copy::copy_from(x, layout, y, &from), x = storage, y = source.storage())
        })
    }

    /// The other's layout, expanded to this tensor's shape.
    pub(super) fn expanded<'a>(&self, other: &'a Tensor, operation: &'static str) -> Result<Cow<'a, Layout>> {
        if self.shape() == other.shape() {
            return Ok(Cow::Borrowed(&other.layout));
        }
        other.layout.expand(self.shape(), operation).on(self).map(Cow::Owned)
    }

    /// Whether this tensor owns its storage exclusively and no two elements overlap.
    fn is_writable(&mut self) -> bool {
        !self.layout.may_overlap() && Arc::get_mut(&mut self.storage).is_some()
    }

    /// Calls `change` with exclusive storage and a layout without overlap; copies the tensor first if needed.
    pub(crate) fn write(&mut self, change: impl FnOnce(&mut Storage, &Layout) -> Result<()>) -> Result<()> {
        if self.layout.may_overlap() || Arc::get_mut(&mut self.storage).is_none() {
            COPIES.set(COPIES.get() + 1);
            *self = self.copy()?;
        }
        match Arc::get_mut(&mut self.storage) {
            Some(storage) => change(storage, &self.layout).on(storage),
            None => unreachable!("storage just made has one owner"),
        }
    }
}

/// The operation's name in messages.
fn assign_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add_assign_",
        BinaryOp::Sub => "sub_assign_",
        BinaryOp::Mul => "mul_assign_",
        BinaryOp::Div => "div_assign_",
        _ => op.name(),
    }
}
