//! Creating tensors.

use super::Tensor;
use super::nested::Nested;
use crate::cpu::{self, CpuStorage};
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, ErrorKind, On, Result};
use crate::memory::copy_of;
use crate::scalar::Scalar;
use crate::shape::Shape;
use crate::storage::{Storage, by_device, new_on};

/// Creating tensors. Functions that take host data (`new`, `from_…`) wait for a HIP device: the copy is stream-ordered,
/// and the data may be changed once the call returns. The others do not wait: the device computes the elements.
impl Tensor {
    /// A tensor of the numbers in `array`: a number, or arrays, slices or vectors, nested to any depth.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
    /// assert_eq!(x.dims(), [2, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Ragged`] if rows differ in length, and the errors of [`Tensor::from_vec`].
    pub fn new<A: Nested>(array: A, device: &Device) -> Result<Tensor> {
        let shape = array.shape()?;
        let mut elements = Vec::new();
        array.append_to(&mut elements);
        Tensor::from_vec(elements, shape, device)
    }

    /// A tensor of `elements` in row-major order. On the CPU the vector is kept, not copied.
    ///
    /// # Errors
    /// [`ErrorKind::DataLength`] if their number does not match `shape`, [`ErrorKind::Overflow`], or an error of the
    /// device.
    pub fn from_vec<T: Element>(
        elements: Vec<T>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        Tensor::from_elements(T::store(elements), shape.into(), device, "from_vec")
    }

    /// A tensor of a copy of `elements` in row-major order.
    ///
    /// # Errors
    /// As [`Tensor::from_vec`], and [`ErrorKind::OutOfMemory`].
    pub fn from_slice<T: Element>(
        elements: &[T],
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        let elements = copy_of(elements, "from_slice").on(device)?;
        Tensor::from_elements(T::store(elements), shape.into(), device, "from_slice")
    }

    /// A tensor whose elements have the bit patterns in `bytes`: little-endian, row-major.
    ///
    /// # Errors
    /// [`ErrorKind::DataLength`] unless the length is exactly what `shape` and `dtype` need, [`ErrorKind::Overflow`],
    /// or an error of the device.
    pub fn from_bytes(
        bytes: &[u8],
        dtype: DType,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        let shape = shape.into();
        let size = dtype.size_in_bytes();
        let overflow = || Error::new("from_bytes", ErrorKind::Overflow { shape: shape.clone() }).on(device);
        let expected = shape.count().and_then(|count| count.checked_mul(size)).ok_or_else(overflow)?;
        if bytes.len() != expected {
            let kind = ErrorKind::DataLength { got: bytes.len(), expected, unit: "bytes", shape };
            return Err(Error::new("from_bytes", kind).on(device));
        }
        Tensor::from_elements(cpu::from_bytes(dtype, bytes)?, shape, device, "from_bytes")
    }

    /// A tensor of zeros.
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`], [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn zeros(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Result<Tensor> {
        Tensor::filled(Scalar::Int(0), shape.into(), dtype, device, "zeros")
    }

    /// A tensor of ones.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn ones(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Result<Tensor> {
        Tensor::filled(Scalar::Int(1), shape.into(), dtype, device, "ones")
    }

    /// A tensor filled with `value`, rounded to `dtype`.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn full(
        value: impl Into<Scalar>,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        Tensor::filled(value.into(), shape.into(), dtype, device, "full")
    }

    /// A tensor of zeros with the shape, dtype and device of this one.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn zeros_like(&self) -> Result<Tensor> {
        Tensor::filled(Scalar::Int(0), self.shape().clone(), self.dtype(), &self.device(), "zeros_like")
    }

    /// A tensor of ones with the shape, dtype and device of this one.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn ones_like(&self) -> Result<Tensor> {
        Tensor::filled(Scalar::Int(1), self.shape().clone(), self.dtype(), &self.device(), "ones_like")
    }

    /// `start, start + 1, …` up to `end`, exclusive: a tensor of rank 1, empty if `end` is not above `start`. Moves the
    /// bytes of the result.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if a bound is not finite, and the errors of [`Tensor::zeros`].
    pub fn arange<T: Element>(start: T, end: T, device: &Device) -> Result<Tensor> {
        Tensor::arange_step(start, end, T::from_scalar(Scalar::Int(1)), device)
    }

    /// `start, start + step, start + 2·step, …` up to `end`, exclusive: a tensor of rank 1, empty if `end` does not lie
    /// in the direction of `step`. Each element is computed from its index and rounded once. Moves the bytes of the
    /// result.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `step` is zero or an argument is not finite, and the errors of [`Tensor::zeros`].
    pub fn arange_step<T: Element>(start: T, end: T, step: T, device: &Device) -> Result<Tensor> {
        let (start, end, step) = (start.to_scalar(), end.to_scalar(), step.to_scalar());
        let count = match (start, end, step) {
            (Scalar::Int(start), Scalar::Int(end), Scalar::Int(step)) => int_steps(start, end, step),
            _ => float_steps(start.to_f64(), end.to_f64(), step.to_f64()),
        };
        let count = count.ok_or_else(|| bad_range(start, end, step))?;
        let storage = new_on!(device, range::arange(T::DTYPE, count, [start, step])).on(device)?;
        Tensor::tight(storage, Shape::from(count), "arange")
    }

    /// The identity matrix of `size` rows and columns.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn eye(size: usize, dtype: DType, device: &Device) -> Result<Tensor> {
        let shape = Shape::from([size, size]);
        let count = element_count(&shape, "eye").on(device)?;
        let mut storage = new_on!(device, fill::full(dtype, count, Scalar::Int(0))).on(device)?;
        if size > 0 {
            // Neighbouring elements of the diagonal lie size + 1 apart.
            let diagonal = crate::layout::Layout::strided([size], &[size + 1], 0, "eye")?;
            by_device!(fill::fill(x, &diagonal, Scalar::Int(1)), x = &mut storage).on(device)?;
        }
        Tensor::tight(storage, shape, "eye")
    }

    /// A tensor of elements in host memory, copied to `device`.
    pub(crate) fn from_elements(
        elements: CpuStorage,
        shape: Shape,
        device: &Device,
        operation: &'static str,
    ) -> Result<Tensor> {
        let expected = element_count(&shape, operation).on(device)?;
        if elements.len() != expected {
            let kind = ErrorKind::DataLength { got: elements.len(), expected, unit: "elements", shape };
            return Err(Error::new(operation, kind).on(device));
        }
        let storage = Storage::from_cpu(device, elements).on(device)?;
        Tensor::tight(storage, shape, operation)
    }

    fn filled(
        value: Scalar,
        shape: Shape,
        dtype: DType,
        device: &Device,
        operation: &'static str,
    ) -> Result<Tensor> {
        let count = element_count(&shape, operation).on(device)?;
        let storage = new_on!(device, fill::full(dtype, count, value)).on(device)?;
        Tensor::tight(storage, shape, operation)
    }
}

fn element_count(shape: &Shape, operation: &'static str) -> Result<usize> {
    shape.elements(operation)
}

/// Counts the integers `start, start + step, …` before `end`; `None` if the step is 0.
fn int_steps(start: i64, end: i64, step: i64) -> Option<usize> {
    let distance = i128::from(end) - i128::from(start);
    let step = i128::from(step);
    match step {
        0 => None,
        _ if distance.signum() != step.signum() => Some(0),
        _ => usize::try_from(distance.abs().div_euclid(step.abs()) + i128::from(distance % step != 0)).ok(),
    }
}

/// Counts the numbers `start, start + step, …` before `end`; `None` if the step is 0 or an argument is not finite.
fn float_steps(start: f64, end: f64, step: f64) -> Option<usize> {
    let count = ((end - start) / step).ceil();
    let valid = start.is_finite() && end.is_finite() && step.is_finite() && step != 0.0;
    // The conversion saturates: negative counts become 0, and too large ones fail at the allocation.
    valid.then_some(count as usize)
}

fn bad_range(start: Scalar, end: Scalar, step: Scalar) -> Error {
    let what = format!(
        "from {start} to {end} by {step} is no range: the step must not be zero, and all must be finite"
    );
    Error::new("arange", ErrorKind::Argument { what })
}
