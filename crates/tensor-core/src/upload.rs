//! Bringing data of the host to new tensors, piece by piece.

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{On, Result};
use crate::hip::Staging;
use crate::shape::Shape;
use crate::storage::{Fill, Storage};
use crate::tensor::Tensor;

/// Makes tensors of bytes that the caller writes piece by piece, through page-locked memory that is reused for each.
///
/// On a HIP device a piece is copied while the caller writes the next one. There are two pieces of 4 MiB, so an upload
/// takes 8 MiB of the host whatever the tensors have; it is given back when the upload is dropped. On the CPU the bytes
/// are written to the tensor itself.
///
/// ```
/// use tensor_core::{DType, Device, Upload};
///
/// # fn main() -> tensor_core::Result<()> {
/// # for device in Device::all()? {
/// let mut upload = Upload::new(&device)?;
/// let tensor = upload.tensor(DType::U8, [2, 3], &mut |first, piece| {
///     piece.iter_mut().enumerate().for_each(|(i, byte)| *byte = (first + i) as u8);
///     Ok(())
/// })?;
/// assert_eq!(tensor.to_vec2::<u8>()?, [[0, 1, 2], [3, 4, 5]]);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Upload {
    device: Device,
    /// `None` on the CPU.
    staging: Option<Staging>,
}

impl Upload {
    /// An upload on the device's own stream, behind the operations that it has by then.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`](crate::ErrorKind::Hip) if the system has not that much memory to lock.
    pub fn new(device: &Device) -> Result<Upload> {
        let staging = device.as_hip().map(Staging::pinned).transpose()?;
        Ok(Upload { device: device.clone(), staging })
    }

    /// An upload on a stream of its own, beside the device's operations: the next layer of a model comes while this one
    /// computes. Operations on a tensor wait on the device until its bytes are there. Each of them takes a lock for this,
    /// which tensors of [`Upload::new`] do without.
    ///
    /// # Errors
    /// As [`Upload::new`], or if the driver makes no stream.
    pub fn beside(device: &Device) -> Result<Upload> {
        let staging = device.as_hip().map(Staging::beside).transpose()?;
        Ok(Upload { device: device.clone(), staging })
    }

    /// An upload through ordinary memory of at most a piece, which is allocated for each tensor.
    pub(crate) fn plain(device: &Device) -> Upload {
        Upload { device: device.clone(), staging: device.as_hip().map(Staging::plain) }
    }

    /// The device of the tensors.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Whether copies run on a stream of their own: those of [`Upload::beside`] to a HIP device.
    pub fn has_own_stream(&self) -> bool {
        self.staging.as_ref().is_some_and(Staging::has_own_stream)
    }

    /// A tensor of the bytes that `fill` writes: little-endian, row-major. It gets the offset in bytes and a slice to
    /// write completely, in order from 0 on. Slices hold whole elements; on the CPU there is one.
    ///
    /// # Errors
    /// Those of `fill`; [`ErrorKind::Overflow`](crate::ErrorKind::Overflow);
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), or an error of the device.
    pub fn tensor(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        fill: &mut dyn FnMut(usize, &mut [u8]) -> Result<()>,
    ) -> Result<Tensor> {
        self.fill(dtype, shape.into(), "upload", fill)
    }

    /// Waits until all bytes are on the device.
    ///
    /// # Errors
    /// The error of a copy.
    pub fn finish(&self) -> Result<()> {
        self.staging.as_ref().map_or(Ok(()), |staging| staging.finish().on(&self.device))
    }

    /// As [`Upload::tensor`], for `operation`.
    pub(crate) fn fill(
        &mut self,
        dtype: DType,
        shape: Shape,
        operation: &'static str,
        fill: Fill<'_>,
    ) -> Result<Tensor> {
        let count = shape.elements(operation).on(&self.device)?;
        let storage = match &mut self.staging {
            None => Storage::filled(dtype, count, operation, fill)?,
            Some(staging) => Storage::staged(staging, dtype, count, operation, fill)?,
        };
        Tensor::tight(storage, shape, operation)
    }
}
