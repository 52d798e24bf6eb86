//! User-defined operations: on [`CpuStorage`] for the CPU, on [`HipStorage`] for HIP devices.
//!
//! The tensor methods that apply them, such as [`Tensor::apply_op1`](crate::Tensor::apply_op1), check that the operands
//! are on one device. The operation itself checks shapes and dtypes.

use crate::cpu::CpuStorage;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::shape::Shape;

macro_rules! custom_op {
    ($(#[$doc:meta])* $op:ident($($storage:ident, $layout:ident),+)) => {
        $(#[$doc])*
        ///
        /// An implementation returns new, contiguous, row-major storage and the result's shape. The layouts give the
        /// operands' elements in their storage: an offset, and any strides. The default implementations return an error
        /// that names what is missing.
        pub trait $op {
            /// The operation's name, for messages.
            fn name(&self) -> &'static str;

            /// Runs on the CPU.
            ///
            /// # Errors
            /// The operation's own.
            #[allow(unused_variables)]
            fn cpu_fwd(&self, $($storage: &CpuStorage, $layout: &Layout),+) -> Result<(CpuStorage, Shape)> {
                Err(missing(self.name(), CPU))
            }

            /// Runs on a HIP device, by submitting work to the device's stream. [`HipDevice`](crate::HipDevice)
            /// allocates memory, loads kernels from source or a code object, and has the stream.
            ///
            /// # Errors
            /// The operation's own, or an error of the device.
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
        /// The first operand owns its storage exclusively, and no two of its elements overlap. It must keep its dtype,
        /// length and device. Writes outside the layout have no visible effect. After an error the elements have
        /// whatever values the operation left.
        pub trait $op {
            /// The operation's name, for messages.
            fn name(&self) -> &'static str;

            /// Runs on the CPU.
            ///
            /// # Errors
            /// The operation's own.
            #[allow(unused_variables)]
            fn cpu_fwd(
                &self,
                storage: &mut CpuStorage,
                layout: &Layout,
                $($storage: &CpuStorage, $layout: &Layout),*
            ) -> Result<()> {
                Err(missing(self.name(), CPU))
            }

            /// Runs on a HIP device, by submitting work to the device's stream.
            ///
            /// # Errors
            /// The operation's own, or an error of the device.
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
    /// An operation that changes a tensor and reads two others: see
    /// [`Tensor::inplace_op3`](crate::Tensor::inplace_op3).
    InplaceOp3(second, second_layout, third, third_layout)
}

const CPU: &str =
    "it has no implementation for the CPU: write its cpu_fwd, or move the tensors to a HIP device";
const HIP: &str =
    "it has no implementation for HIP devices: write its hip_fwd, or move the tensors to the CPU";

fn missing(name: &'static str, what: &str) -> Error {
    Error::new(name, ErrorKind::Argument { what: what.to_owned() })
}

/// Lets user-defined operations return errors of hip-safe with `?`.
impl From<hip_safe::Error> for Error {
    fn from(error: hip_safe::Error) -> Error {
        Error::new("custom operation", ErrorKind::Hip(error))
    }
}
