//! Reading tensors back, and moving them between devices and dtypes.

use triomphe::Arc;

use super::Tensor;
use crate::cpu::CpuStorage;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{ErrorKind, On, Result};
use crate::memory::{copy_of, vec_with_capacity};
use crate::storage::{Storage, by_device};

impl Tensor {
    /// All elements in row-major order, for any rank. Reads the view's elements only, and waits for the device.
    ///
    /// # Errors
    /// [`ErrorKind::WrongDType`] if `T` is not the tensor's dtype, [`ErrorKind::OutOfMemory`], or an error of the
    /// device.
    #[doc(alias = "to_flat_vec")]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if self.dtype() != T::DTYPE {
            return Err(self.error("to_vec", ErrorKind::WrongDType { got: self.dtype(), wanted: T::DTYPE }));
        }
        let elements = self.to_cpu_storage()?;
        let (got, wanted) = (elements.dtype(), T::DTYPE);
        T::unstore(elements).ok_or_else(|| self.error("to_vec", ErrorKind::WrongDType { got, wanted }))
    }

    /// The element of a tensor of rank 0.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`], and the errors of [`Tensor::to_vec`].
    #[doc(alias = "item")]
    pub fn to_vec0<T: Element>(&self) -> Result<T> {
        self.require_rank("to_vec0", 0, "0")?;
        let element = self.to_vec()?.first().copied();
        element.ok_or_else(|| {
            self.error("to_vec0", ErrorKind::Rank { shape: self.shape().clone(), expected: "0" })
        })
    }

    /// The same as [`Tensor::to_vec0`], under candle's name.
    ///
    /// # Errors
    /// As [`Tensor::to_vec0`].
    pub fn to_scalar<T: Element>(&self) -> Result<T> {
        self.to_vec0()
    }

    /// The elements of a tensor of rank 1.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`], and the errors of [`Tensor::to_vec`].
    pub fn to_vec1<T: Element>(&self) -> Result<Vec<T>> {
        self.require_rank("to_vec1", 1, "1")?;
        self.to_vec()
    }

    /// The rows of a tensor of rank 2. Rows without elements also take memory, for their vectors.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`], and the errors of [`Tensor::to_vec`].
    pub fn to_vec2<T: Element>(&self) -> Result<Vec<Vec<T>>> {
        self.require_rank("to_vec2", 2, "2")?;
        let (height, width) = (self.dims()[0], self.dims()[1]);
        rows(&mut &self.to_vec()?[..], height, width, "to_vec2").on(self)
    }

    /// The planes of rows of a tensor of rank 3. Rows without elements also take memory, as in [`Tensor::to_vec2`].
    ///
    /// # Errors
    /// [`ErrorKind::Rank`], and the errors of [`Tensor::to_vec`].
    pub fn to_vec3<T: Element>(&self) -> Result<Vec<Vec<Vec<T>>>> {
        self.require_rank("to_vec3", 3, "3")?;
        let (count, height, width) = (self.dims()[0], self.dims()[1], self.dims()[2]);
        let elements = self.to_vec()?;
        // Reserve all of it at once. Systems overcommit small allocations and kill the process when the memory is used.
        vec_with_capacity::<Vec<T>>(count.saturating_mul(height), "to_vec3").on(self)?;
        let mut planes = vec_with_capacity(count, "to_vec3").on(self)?;
        let mut elements = &elements[..];
        for _ in 0..count {
            planes.push(rows(&mut elements, height, width, "to_vec3").on(self)?);
        }
        Ok(planes)
    }

    /// The bit patterns of all elements: little-endian, row-major.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        copy_of(self.to_cpu_storage()?.as_bytes(), "to_bytes").on(self)
    }

    /// As [`Tensor::to_bytes`]; keeps the memory of a `u8` tensor of the CPU that nothing else uses.
    pub(crate) fn into_bytes(self, operation: &'static str) -> Result<Vec<u8>> {
        let whole = self.is_contiguous() && self.elements() == self.storage.len();
        if !whole || self.dtype() != DType::U8 {
            return self.to_bytes();
        }
        match Arc::try_unwrap(self.storage) {
            Ok(Storage::Cpu(CpuStorage::U8(bytes))) => Ok(bytes),
            Ok(other) => copy_of(other.to_cpu(&self.layout)?.as_bytes(), operation),
            Err(shared) => copy_of(shared.to_cpu(&self.layout)?.as_bytes(), operation),
        }
    }

    /// The elements in row-major order, in host memory.
    ///
    /// # Errors
    /// As [`Tensor::to_bytes`].
    pub fn to_cpu_storage(&self) -> Result<CpuStorage> {
        self.storage.to_cpu(&self.layout).on(self)
    }

    /// The tensor on `device`. If it is there already, this is the tensor itself; otherwise a contiguous copy through
    /// host memory, which waits for both devices.
    ///
    /// # Errors
    /// An error of either device.
    pub fn to_device(&self, device: &Device) -> Result<Tensor> {
        if self.device().same_device(device) {
            return self.share();
        }
        let storage = Storage::from_cpu(device, self.to_cpu_storage()?).on(device)?;
        Tensor::tight(storage, self.shape().clone(), "to_device")
    }

    /// The tensor converted to `dtype`; the tensor itself if it has that dtype.
    ///
    /// Floats are rounded once to nearest even; `f8e4m3` saturates at 448. Floats are truncated to integers with
    /// saturation, and NaN becomes 0. Integers wrap to narrower types.
    ///
    /// # Errors
    /// An error of the device.
    #[doc(alias = "cast")]
    pub fn to_dtype(&self, dtype: DType) -> Result<Tensor> {
        if self.dtype() == dtype {
            return self.share();
        }
        let storage = by_device!(cast::cast(x, &self.layout, dtype), x = self.storage()).on(self)?;
        Tensor::tight(storage, self.shape().clone(), "to_dtype")
    }

    pub(super) fn require_rank(
        &self,
        operation: &'static str,
        rank: usize,
        expected: &'static str,
    ) -> Result<()> {
        if self.rank() == rank {
            return Ok(());
        }
        Err(self.error(operation, ErrorKind::Rank { shape: self.shape().clone(), expected }))
    }
}

/// Takes the next `count` rows of `width` elements. `width` may be 0.
fn rows<T: Copy>(
    elements: &mut &[T],
    count: usize,
    width: usize,
    operation: &'static str,
) -> Result<Vec<Vec<T>>> {
    let mut rows = vec_with_capacity(count, operation)?;
    for _ in 0..count {
        let (row, rest) = elements.split_at(width);
        rows.push(copy_of(row, operation)?);
        *elements = rest;
    }
    Ok(rows)
}
