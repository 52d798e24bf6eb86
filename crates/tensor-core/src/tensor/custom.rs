//! Applying user-defined operations.

use triomphe::Arc;

use super::{Tensor, require_same};
use crate::custom_op::{CustomOp1, CustomOp2, CustomOp3, InplaceOp1, InplaceOp2, InplaceOp3};
use crate::error::{Error, ErrorKind, On, Result};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::storage::{Storage, by_device};

/// User-defined operations.
impl Tensor {
    /// The result of a user-defined operation. Nothing is copied: the operation gets the storage and the layout.
    ///
    /// ```
    /// use tensor_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
    ///
    /// /// How many elements are above one.
    /// struct Count;
    ///
    /// impl CustomOp1 for Count {
    ///     fn name(&self) -> &'static str {
    ///         "count"
    ///     }
    ///
    ///     fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
    ///         let elements = storage.as_slice::<f32>().expect("count takes f32");
    ///         let above = (0..layout.elements()).filter(|i| elements[layout.offset_of(*i)] > 1.0).count();
    ///         Ok((CpuStorage::U32(vec![above as u32]), Shape::from(())))
    ///     }
    /// }
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[0f32, 1.0, 2.0], [3.0, 4.0, 5.0]], &Device::Cpu)?;
    /// assert_eq!(x.narrow(1, 1, 2)?.apply_op1(Count)?.to_vec0::<u32>()?, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The operation's; [`ErrorKind::OutOfStorage`] if its storage is smaller than its shape needs;
    /// [`ErrorKind::DeviceMismatch`] if the result is on another device.
    pub fn apply_op1(&self, op: impl CustomOp1) -> Result<Tensor> {
        self.apply_op1_no_bwd(&op)
    }

    /// As [`Tensor::apply_op1`], taking the operation by reference.
    ///
    /// # Errors
    /// As [`Tensor::apply_op1`].
    pub fn apply_op1_no_bwd<Op: CustomOp1 + ?Sized>(&self, op: &Op) -> Result<Tensor> {
        let result = match &*self.storage {
            Storage::Cpu(x) => op.cpu_fwd(x, &self.layout).map(cpu),
            Storage::Hip(x) => op.hip_fwd(x, &self.layout).map(hip),
        };
        self.made(op.name(), result)
    }

    /// The result of a user-defined operation on two tensors of one device; see [`Tensor::apply_op1`].
    ///
    /// # Errors
    /// [`ErrorKind::DeviceMismatch`], and as [`Tensor::apply_op1`].
    pub fn apply_op2(&self, other: &Tensor, op: impl CustomOp2) -> Result<Tensor> {
        self.apply_op2_no_bwd(other, &op)
    }

    /// As [`Tensor::apply_op2`], taking the operation by reference.
    ///
    /// # Errors
    /// As [`Tensor::apply_op2`].
    pub fn apply_op2_no_bwd<Op: CustomOp2 + ?Sized>(&self, other: &Tensor, op: &Op) -> Result<Tensor> {
        self.require_same_device(other, op.name())?;
        let (a, b) = (&self.layout, &other.layout);
        let result = match (&*self.storage, &*other.storage) {
            (Storage::Cpu(x), Storage::Cpu(y)) => op.cpu_fwd(x, a, y, b).map(cpu),
            (Storage::Hip(x), Storage::Hip(y)) => op.hip_fwd(x, a, y, b).map(hip),
            _ => unreachable!("both lie on one device"),
        };
        self.made(op.name(), result)
    }

    /// The result of a user-defined operation on three tensors of one device; see [`Tensor::apply_op1`].
    ///
    /// # Errors
    /// [`ErrorKind::DeviceMismatch`], and as [`Tensor::apply_op1`].
    pub fn apply_op3(&self, second: &Tensor, third: &Tensor, op: impl CustomOp3) -> Result<Tensor> {
        self.apply_op3_no_bwd(second, third, &op)
    }

    /// As [`Tensor::apply_op3`], taking the operation by reference.
    ///
    /// # Errors
    /// As [`Tensor::apply_op3`].
    pub fn apply_op3_no_bwd<Op: CustomOp3 + ?Sized>(
        &self,
        second: &Tensor,
        third: &Tensor,
        op: &Op,
    ) -> Result<Tensor> {
        self.require_same_device(second, op.name())?;
        self.require_same_device(third, op.name())?;
        let (a, b, c) = (&self.layout, &second.layout, &third.layout);
        let result = match (&*self.storage, &*second.storage, &*third.storage) {
            (Storage::Cpu(x), Storage::Cpu(y), Storage::Cpu(z)) => op.cpu_fwd(x, a, y, b, z, c).map(cpu),
            (Storage::Hip(x), Storage::Hip(y), Storage::Hip(z)) => op.hip_fwd(x, a, y, b, z, c).map(hip),
            _ => unreachable!("all lie on one device"),
        };
        self.made(op.name(), result)
    }

    /// Changes the elements by a user-defined operation. A shared tensor is copied first (copy on write).
    ///
    /// # Errors
    /// The operation's. [`ErrorKind::Argument`] if it replaced the storage by one of another dtype, length or device:
    /// the tensor is then empty.
    pub fn inplace_op1<Op: InplaceOp1 + ?Sized>(&mut self, op: &Op) -> Result<()> {
        self.change(op.name(), |storage, layout| match storage {
            Storage::Cpu(x) => op.cpu_fwd(x, layout),
            Storage::Hip(x) => op.hip_fwd(x, layout),
        })
    }

    /// As [`Tensor::inplace_op1`], with another tensor of the same device as an input.
    ///
    /// # Errors
    /// [`ErrorKind::DeviceMismatch`], and as [`Tensor::inplace_op1`].
    pub fn inplace_op2<Op: InplaceOp2 + ?Sized>(&mut self, other: &Tensor, op: &Op) -> Result<()> {
        self.require_same_device(other, op.name())?;
        self.change(op.name(), |storage, layout| match (storage, &*other.storage) {
            (Storage::Cpu(x), Storage::Cpu(y)) => op.cpu_fwd(x, layout, y, &other.layout),
            (Storage::Hip(x), Storage::Hip(y)) => op.hip_fwd(x, layout, y, &other.layout),
            _ => unreachable!("both lie on one device"),
        })
    }

    /// As [`Tensor::inplace_op1`], with two other tensors of the same device as inputs.
    ///
    /// # Errors
    /// [`ErrorKind::DeviceMismatch`], and as [`Tensor::inplace_op1`].
    pub fn inplace_op3<Op: InplaceOp3 + ?Sized>(
        &mut self,
        second: &Tensor,
        third: &Tensor,
        op: &Op,
    ) -> Result<()> {
        self.require_same_device(second, op.name())?;
        self.require_same_device(third, op.name())?;
        let (b, c) = (&second.layout, &third.layout);
        self.change(op.name(), |storage, layout| match (storage, &*second.storage, &*third.storage) {
            (Storage::Cpu(x), Storage::Cpu(y), Storage::Cpu(z)) => op.cpu_fwd(x, layout, y, b, z, c),
            (Storage::Hip(x), Storage::Hip(y), Storage::Hip(z)) => op.hip_fwd(x, layout, y, b, z, c),
            _ => unreachable!("all lie on one device"),
        })
    }

    /// The storage, owned exclusively (no tensor and no graph shares it), and its layout. Shared storage is copied.
    pub(crate) fn into_parts(self, operation: &'static str) -> Result<(Storage, Layout)> {
        let device = self.device();
        let shared = match Arc::try_unwrap(self.storage) {
            Ok(storage) if !storage.is_used_by_graphs() => return Ok((storage, self.layout)),
            Ok(used) => Arc::new(used),
            Err(shared) => shared,
        };
        let tight = Layout::contiguous(self.layout.shape().clone(), operation)?;
        Ok((by_device!(copy::copy(x, &self.layout), x = &*shared).on(&device)?, tight))
    }

    /// Wraps an operation's result in a tensor.
    fn made(&self, name: &'static str, result: Result<(Storage, Shape)>) -> Result<Tensor> {
        let device = self.device();
        let (storage, shape) = result.on(&device)?;
        require_same(&device, &storage.device(), name)?;
        Tensor::tight(storage, shape, name)
    }

    /// Calls `change` with exclusive storage, then checks that dtype, length and device are unchanged.
    fn change(
        &mut self,
        name: &'static str,
        change: impl FnOnce(&mut Storage, &Layout) -> Result<()>,
    ) -> Result<()> {
        // Copies the storage if it is shared.
        self.write(|_, _| Ok(()))?;
        let (device, dtype, len) = (self.device(), self.dtype(), self.storage.len());
        // The tensor is empty while the operation runs. After a panic no layout can then reach past the storage.
        let layout = std::mem::replace(&mut self.layout, Layout::contiguous(0, name)?);
        let Some(storage) = Arc::get_mut(&mut self.storage) else {
            unreachable!("a tensor that can be written has its storage alone")
        };
        let result = change(storage, &layout);
        if storage.dtype() != dtype || storage.len() != len || !storage.device().same_device(&device) {
            let what = "the operation replaced the tensor's storage by another, and the tensor is now empty"
                .to_owned();
            return Err(Error::new(name, ErrorKind::Argument { what }).on(&device));
        }
        self.layout = layout;
        result.on(&device)
    }
}

fn cpu((storage, shape): (crate::CpuStorage, Shape)) -> (Storage, Shape) {
    (Storage::Cpu(storage), shape)
}

fn hip((storage, shape): (crate::HipStorage, Shape)) -> (Storage, Shape) {
    (Storage::Hip(storage), shape)
}
