//! Which types may live in device memory.

use bytemuck::{AnyBitPattern, NoUninit};

/// Plain values, whose bytes may be sent to a device.
///
/// Implemented for every [`bytemuck::NoUninit`] type: integers, floats, `bool`, the types of the `half` crate, arrays of
/// these, and structs that derive it. Reading back takes [`AnyBits`] as well.
///
/// # Safety
/// The type has no padding, no pointer or reference, and no interior mutability.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot live in device memory",
    label = "not plain data without padding",
    note = "derive `bytemuck::Pod` (or `NoUninit`) for a `#[repr(C)]` struct of numbers"
)]
pub unsafe trait DeviceRepr: Copy + Send + Sync + 'static {}

// SAFETY: S6: NoUninit promises no padding, no pointers and no interior mutability.
unsafe impl<T: NoUninit + Send + Sync> DeviceRepr for T {}

/// Plain values for which every bit pattern is valid, so that whatever a device wrote may be read.
///
/// Implemented for every type that is [`bytemuck::AnyBitPattern`] besides: not for `bool` or `char`, for which some bit
/// patterns are not values.
///
/// # Safety
/// Every pattern of `size_of::<Self>()` bytes is a value of the type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read back from device memory",
    label = "some bit patterns are not values of this type",
    note = "use an integer or float type of the same size, or derive `bytemuck::Pod`"
)]
pub unsafe trait AnyBits: DeviceRepr {}

// SAFETY: S6: AnyBitPattern promises that every pattern is valid.
unsafe impl<T: NoUninit + AnyBitPattern + Send + Sync> AnyBits for T {}
