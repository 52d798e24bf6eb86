//! The memory of quantized tensors. Their operations are dispatched to the device here and nowhere else.

use std::borrow::Cow;
use std::fmt;

use triomphe::Arc;

use super::QuantFormat;
use crate::cpu;
use crate::cpu::CpuStorage;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, On, Result};
use crate::layout::Layout;
use crate::memory::copy_of;
use crate::plan::index::Indexed;

/// Blocks of quantized numbers on one device. A clone shares them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum QStorage {
    /// Host memory.
    Cpu(QCpuStorage),
}

/// Blocks of quantized numbers in host memory. A clone shares them.
#[derive(Clone)]
pub struct QCpuStorage {
    format: QuantFormat,
    bytes: Arc<Vec<u8>>,
}

impl QCpuStorage {
    /// The format of the blocks.
    pub fn dtype(&self) -> QuantFormat {
        self.format
    }

    /// The blocks, as in files.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for QCpuStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QCpuStorage({} bytes of {})", self.bytes.len(), self.format)
    }
}

impl QStorage {
    /// Blocks as they are in files. A vector is kept, and a slice is copied.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] unless the bytes are whole blocks, and for a HIP device: quantized tensors are on the
    /// CPU; or [`ErrorKind::OutOfMemory`].
    pub fn from_data(data: Cow<'_, [u8]>, device: &Device, format: QuantFormat) -> Result<QStorage> {
        let operation = "from_data";
        if !data.len().is_multiple_of(format.type_size()) {
            let what = format!(
                "{} bytes are no whole number of {format} blocks, which have {} bytes",
                data.len(),
                format.type_size()
            );
            return Err(Error::new(operation, ErrorKind::Argument { what }).on(device));
        }
        on_cpu(device, operation)?;
        let bytes = match data {
            Cow::Owned(bytes) => bytes,
            Cow::Borrowed(bytes) => copy_of(bytes, operation).on(device)?,
        };
        Ok(QStorage::Cpu(QCpuStorage { format, bytes: Arc::new(bytes) }))
    }

    /// The format of the blocks.
    pub fn dtype(&self) -> QuantFormat {
        match self {
            QStorage::Cpu(storage) => storage.format,
        }
    }

    /// The device of the memory.
    pub fn device(&self) -> Device {
        match self {
            QStorage::Cpu(_) => Device::Cpu,
        }
    }

    /// The size of all blocks.
    pub fn size_in_bytes(&self) -> usize {
        match self {
            QStorage::Cpu(storage) => storage.bytes.len(),
        }
    }

    /// The blocks, as in files.
    ///
    /// # Errors
    /// None on the CPU.
    pub fn data(&self) -> Result<Cow<'_, [u8]>> {
        match self {
            QStorage::Cpu(storage) => Ok(Cow::Borrowed(storage.as_bytes())),
        }
    }
}

/// Operations. Tensors have checked shapes, dtypes and devices.
impl QStorage {
    /// The blocks of `values`, quantized on the CPU.
    pub(super) fn quantize(values: &[f32], device: &Device, format: QuantFormat) -> Result<QStorage> {
        on_cpu(device, "quantize")?;
        let bytes = cpu::ops::quant::quantize(format, values).on(device)?;
        Ok(QStorage::Cpu(QCpuStorage { format, bytes: Arc::new(bytes) }))
    }

    /// The values as `dtype`: `f32`, `f16` or `bf16`, in host memory.
    pub(super) fn dequantize(&self, dtype: DType) -> Result<CpuStorage> {
        match self {
            QStorage::Cpu(storage) => cpu::ops::quant::dequantize(storage.format, &storage.bytes, dtype),
        }
    }

    /// The rows at ids, as `f32`; a row has `width` numbers.
    pub(super) fn rows(
        &self,
        width: usize,
        axis: &Indexed,
        ids: (&CpuStorage, &Layout),
    ) -> Result<CpuStorage> {
        match self {
            QStorage::Cpu(storage) => cpu::ops::quant::rows(storage.format, &storage.bytes, width, axis, ids),
        }
    }

    /// The products of rows of `values` with all rows of numbers; a row has `width`. Neither is empty.
    pub(super) fn product(&self, values: &[f32], width: usize, operation: &'static str) -> Result<Vec<f32>> {
        match self {
            QStorage::Cpu(storage) => {
                cpu::ops::quant::product(storage.format, &storage.bytes, values, width, operation)
            }
        }
    }

    /// The products of rows of `values` with matrices of `columns` rows of `width` numbers: those of `pairs` of a row
    /// and a matrix, in their order. Nothing is empty.
    pub(super) fn product_of_experts(
        &self,
        matrix: (usize, usize),
        values: &[f32],
        pairs: &[(usize, usize)],
        operation: &'static str,
    ) -> Result<Vec<f32>> {
        match self {
            QStorage::Cpu(storage) => {
                let (format, bytes) = (storage.format, &storage.bytes);
                cpu::ops::quant::product_of_experts(format, bytes, matrix, values, pairs, operation)
            }
        }
    }
}

/// An error for HIP devices.
fn on_cpu(device: &Device, operation: &'static str) -> Result<()> {
    match device {
        Device::Cpu => Ok(()),
        Device::Hip(_) => {
            let what = "quantized tensors are on the CPU: dequantize them to use them on another device";
            Err(Error::new(operation, ErrorKind::Argument { what: what.to_owned() }).on(device))
        }
    }
}
