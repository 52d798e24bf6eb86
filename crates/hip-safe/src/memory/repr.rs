//! Which types may live in device memory.

use bytemuck::{AnyBitPattern, NoUninit};

/// Plain values, whose bytes may be sent to a device.
///
/// Implemented for every [`bytemuck::NoUninit`] type: integers, floats, `bool`, the types of the `half` crate, arrays of
/// these, and structs that derive it. Reading back takes [`AnyBits`] as well.
///
/// ```
/// use hip_safe::bytemuck::{Pod, Zeroable};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
/// #[bytemuck(crate = "hip_safe::bytemuck")]
/// #[repr(C)]
/// struct Particle {
///     position: [f32; 3],
///     mass: f32,
/// }
///
/// # fn main() -> hip_safe::Result<()> {
/// # let stream = hip_safe::Device::new(&hip_host::platform(), 0)?.new_stream()?;
/// let particles = vec![Particle { position: [1.0, 2.0, 3.0], mass: 0.5 }; 4];
/// let buffer = stream.upload(&particles)?;
/// assert_eq!(stream.download(&buffer)?, particles);
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// The type has no padding, no pointer or reference, and no interior mutability.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot live in device memory",
    label = "not plain data without padding",
    note = "plain data are numbers, arrays of them, and `#[repr(C)]` structs without padding that derive `bytemuck::Pod` and \
            `bytemuck::Zeroable` (or `NoUninit`), which `hip_safe::bytemuck` exports",
    note = "of a `Vec<T>`, a slice or a string upload the elements: that makes a `DeviceBuffer` of them"
)]
pub unsafe trait DeviceRepr: Copy + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
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
    note = "use an integer or float type of the same size, or derive `bytemuck::Pod` and `bytemuck::Zeroable` (or `AnyBitPattern`), which \
            `hip_safe::bytemuck` exports"
)]
pub unsafe trait AnyBits: DeviceRepr {}

#[diagnostic::do_not_recommend]
// SAFETY: S6: AnyBitPattern promises that every pattern is valid.
unsafe impl<T: NoUninit + AnyBitPattern + Send + Sync> AnyBits for T {}
