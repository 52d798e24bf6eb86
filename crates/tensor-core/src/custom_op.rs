//! Operations that a user of the crate writes: for the CPU on [`CpuStorage`], for HIP devices on [`HipStorage`].
//!
//! The tensors' methods that apply them, such as [`Tensor::apply_op1`](crate::Tensor::apply_op1), check that the operands lie on one device,
//! and leave shapes and dtypes to the operation.

use crate::cpu::CpuStorage;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::shape::Shape;

macro_rules! custom_op {
    ($(#[$doc:meta])* $op:ident($($storage:ident, $layout:ident),+)) => {
        $(#[$doc])*
        ///
        /// Each implementation gives new storage, tight and in row-major order, and the result's shape. Layouts say where the operands'
        /// elements lie in their storage: an offset, and strides of any size. An implementation that is not written is an error that
        /// says so when it is called for.
        pub trait $op {
            /// The operation's name, for messages.
            fn name(&self) -> &'static str;

            /// The operation on the CPU.
            ///
            /// # Errors
            /// Whatever the operation refuses.
            #[allow(unused_variables)]
            fn cpu_fwd(&self, $($storage: &CpuStorage, $layout: &Layout),+) -> Result<(CpuStorage, Shape)> {
                Err(missing(self.name(), CPU))
            }

            /// The operation on a HIP device, with work on the device's stream. [`HipDevice`](crate::HipDevice) has what it takes:
            /// memory, kernels from a text or a code object, and the stream to launch them on.
            ///
            /// # Errors
            /// Whatever the operation refuses, or an error of the device.
            #[allow(unused_variables)]
            fn hip_fwd(&self, $($storage: &HipStorage, $layout: &Layout),+) -> Result<(HipStorage, Shape)> {
                Err(missing(self.name(), HIP))
            }
        }
    };
}

macro_rules! inplace_op {
    ($(#[$doc:meta])* $op:ident($($storage:ident, $layout:ident),*)) => {
        $(#[$doc])*
        ///
        /// The first operand's storage belongs to that tensor alone, and no two of its elements share a place. It keeps its dtype, length and
        /// device; writes outside the layout stay unseen. After an error the elements are what the operation left.
        pub trait $op {
            /// The operation's name, for messages.
            fn name(&self) -> &'static str;

            /// The operation on the CPU.
            ///
            /// # Errors
            /// Whatever the operation refuses.
            #[allow(unused_variables)]
            fn cpu_fwd(
                &self,
                storage: &mut CpuStorage,
                layout: &Layout,
                $($storage: &CpuStorage, $layout: &Layout),*
            ) -> Result<()> {
                Err(missing(self.name(), CPU))
            }

            /// The operation on a HIP device, with work on the device's stream.
            ///
            /// # Errors
            /// Whatever the operation refuses, or an error of the device.
            #[allow(unused_variables)]
            fn hip_fwd(
                &self,
                storage: &mut HipStorage,
                layout: &Layout,
                $($storage: &HipStorage, $layout: &Layout),*
            ) -> Result<()> {
                Err(missing(self.name(), HIP))
            }
        }
    };
}

custom_op! {
    /// An operation on one tensor: see [`Tensor::apply_op1`](crate::Tensor::apply_op1).
    CustomOp1(storage, layout)
}
custom_op! {
    /// An operation on two tensors of one device: see [`Tensor::apply_op2`](crate::Tensor::apply_op2).
    CustomOp2(first, first_layout, second, second_layout)
}
custom_op! {
    /// An operation on three tensors of one device: see [`Tensor::apply_op3`](crate::Tensor::apply_op3).
    CustomOp3(first, first_layout, second, second_layout, third, third_layout)
}
inplace_op! {
    /// An operation that changes a tensor: see [`Tensor::inplace_op1`](crate::Tensor::inplace_op1).
    InplaceOp1()
}
inplace_op! {
    /// An operation that changes a tensor and reads another: see [`Tensor::inplace_op2`](crate::Tensor::inplace_op2).
    InplaceOp2(second, second_layout)
}
inplace_op! {
    /// An operation that changes a tensor and reads two others: see [`Tensor::inplace_op3`](crate::Tensor::inplace_op3).
    InplaceOp3(second, second_layout, third, third_layout)
}

const CPU: &str =
    "it has no implementation for the CPU: write its cpu_fwd, or move the tensors to a HIP device";
const HIP: &str =
    "it has no implementation for HIP devices: write its hip_fwd, or move the tensors to the CPU";

fn missing(name: &'static str, what: &str) -> Error {
    Error::new(name, ErrorKind::Argument { what: what.to_owned() })
}

/// An error of hip-safe in an operation of the user's, by `?`.
impl From<hip_safe::Error> for Error {
    fn from(error: hip_safe::Error) -> Error {
        Error::new("custom operation", ErrorKind::Hip(error))
    }
}
