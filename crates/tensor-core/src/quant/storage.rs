//! The memory of quantized tensors. Their operations are dispatched to the device here and nowhere else.

use std::borrow::Cow;
use std::fmt;

use triomphe::Arc;

use super::{QuantFormat, host};
use crate::cpu;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, On, Result};
use crate::hip::ops::quant::Activations;
use crate::hip::{self, HipStorage, QHipStorage};
use crate::memory::copy_of;
use crate::plan::index::Indexed;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// Blocks of quantized numbers on one device. A clone shares them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum QStorage {
    /// Host memory.
    Cpu(QCpuStorage),
    /// Memory of a HIP device.
    Hip(QHipStorage),
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
    /// Blocks as they are in files, on `device`. On the CPU a vector is kept, and a slice is copied.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] unless the bytes are whole blocks, and on a HIP device for a format without kernels: the
    /// error lists those that have some; [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn from_data(data: Cow<'_, [u8]>, device: &Device, format: QuantFormat) -> Result<QStorage> {
        let operation = "from_data";
        whole_blocks(data.len(), format, operation).on(device)?;
        match (device, data) {
            (Device::Cpu, Cow::Owned(bytes)) => Ok(QStorage::on_host(bytes, format)),
            (Device::Cpu, Cow::Borrowed(bytes)) => {
                Ok(QStorage::on_host(copy_of(bytes, operation).on(device)?, format))
            }
            (Device::Hip(hip), bytes) => {
                let raw = HipStorage::from_bytes(hip, &bytes, operation).on(device)?;
                QHipStorage::arrange(&raw, format, operation).map(QStorage::Hip).on(device)
            }
        }
    }

    /// Blocks as they are in files, which are the elements of a `u8` tensor, on its device. On the CPU the memory is kept
    /// if nothing else uses it.
    ///
    /// # Errors
    /// As [`QStorage::from_data`], and [`ErrorKind::WrongDType`].
    pub fn from_tensor(bytes: Tensor, format: QuantFormat) -> Result<QStorage> {
        let (operation, device) = ("from_tensor", bytes.device());
        if bytes.dtype() != DType::U8 {
            let kind = ErrorKind::WrongDType { got: bytes.dtype(), wanted: DType::U8 };
            return Err(Error::new(operation, kind).on(&device));
        }
        whole_blocks(bytes.elements(), format, operation).on(&device)?;
        let bytes = bytes.contiguous()?;
        match bytes.storage() {
            Storage::Cpu(_) => Ok(QStorage::on_host(bytes.into_bytes(operation)?, format)),
            Storage::Hip(raw) if raw.len() == bytes.elements() => {
                QHipStorage::arrange(raw, format, operation).map(QStorage::Hip).on(&device)
            }
            Storage::Hip(_) => QStorage::from_tensor(bytes.copy()?, format),
        }
    }

    /// The format of the blocks.
    pub fn dtype(&self) -> QuantFormat {
        match self {
            QStorage::Cpu(storage) => storage.format,
            QStorage::Hip(storage) => storage.dtype(),
        }
    }

    /// The device of the memory.
    pub fn device(&self) -> Device {
        match self {
            QStorage::Cpu(_) => Device::Cpu,
            QStorage::Hip(storage) => Device::Hip(storage.device().clone()),
        }
    }

    /// The size of all blocks, as in files.
    pub fn size_in_bytes(&self) -> usize {
        match self {
            QStorage::Cpu(storage) => storage.bytes.len(),
            QStorage::Hip(storage) => storage.size_in_bytes(),
        }
    }

    /// The blocks, as in files. Waits for the device.
    ///
    /// # Errors
    /// None on the CPU; [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn data(&self) -> Result<Cow<'_, [u8]>> {
        match self {
            QStorage::Cpu(storage) => Ok(Cow::Borrowed(storage.as_bytes())),
            QStorage::Hip(storage) => storage.to_bytes("data").map(Cow::Owned).on(&self.device()),
        }
    }

    fn on_host(bytes: Vec<u8>, format: QuantFormat) -> QStorage {
        QStorage::Cpu(QCpuStorage { format, bytes: Arc::new(bytes) })
    }
}

/// Operations. Tensors have checked shapes, dtypes and devices.
impl QStorage {
    /// The blocks of `values`, quantized on the CPU.
    pub(super) fn quantize(values: &[f32], device: &Device, format: QuantFormat) -> Result<QStorage> {
        let bytes = cpu::ops::quant::quantize(format, values).on(device)?;
        QStorage::from_data(Cow::Owned(bytes), device, format)
    }

    /// The values as `dtype`: `f32`, `f16` or `bf16`.
    pub(super) fn dequantize(&self, dtype: DType) -> Result<Storage> {
        match self {
            QStorage::Cpu(storage) => {
                cpu::ops::quant::dequantize(storage.format, &storage.bytes, dtype).map(Storage::Cpu)
            }
            QStorage::Hip(storage) => hip::ops::quant::dequantize(storage, dtype).map(Storage::Hip),
        }
    }

    /// The rows at ids, as `f32`; a row has `width` numbers.
    pub(super) fn rows(&self, width: usize, axis: &Indexed, ids: &Tensor) -> Result<Storage> {
        match (self, ids.storage()) {
            (QStorage::Cpu(storage), Storage::Cpu(which)) => {
                let ids = (which, ids.layout());
                cpu::ops::quant::rows(storage.format, &storage.bytes, width, axis, ids).map(Storage::Cpu)
            }
            (QStorage::Hip(storage), Storage::Hip(which)) => {
                hip::ops::quant::rows(storage, width, axis, (which, ids.layout())).map(Storage::Hip)
            }
            _ => Err(self.apart(ids, axis.operation)),
        }
    }

    /// The products of rows of `xs` `[m, width]` with `columns` rows of numbers: `[m, columns]`. Neither is empty. `rounded` is
    /// for all products of the same rows, and empty before the first one.
    pub(super) fn product(
        &self,
        xs: &Tensor,
        columns: usize,
        rounded: &mut Option<Activations>,
        operation: &'static str,
    ) -> Result<Storage> {
        match (self, xs.storage()) {
            (QStorage::Cpu(storage), Storage::Cpu(_)) => {
                let (values, width) = (host::floats(xs)?, xs.dims()[1]);
                let values = host::slice(&values, operation)?;
                let (format, bytes) = (storage.format, &storage.bytes);
                host::narrow(cpu::ops::quant::product(format, bytes, values, width, operation)?, xs.dtype())
            }
            (QStorage::Hip(storage), Storage::Hip(activations)) => {
                let xs = (activations, xs.layout());
                hip::ops::quant::product(storage, xs, columns, rounded, operation).map(Storage::Hip)
            }
            _ => Err(self.apart(xs, operation)),
        }
    }

    /// The products of rows of `xs` `[m, width]` with matrices of `columns` rows: result i is of row i / `each` and of the
    /// matrix with id i. Nothing is empty.
    pub(super) fn product_of_experts(
        &self,
        xs: &Tensor,
        (columns, each): (usize, usize),
        axis: &Indexed,
        ids: &Tensor,
    ) -> Result<Storage> {
        match (self, xs.storage(), ids.storage()) {
            (QStorage::Cpu(storage), Storage::Cpu(_), Storage::Cpu(which)) => {
                let experts = cpu::ops::index::checked(which, ids.layout(), axis)?;
                let pairs: Vec<(usize, usize)> =
                    experts.into_iter().enumerate().map(|(index, expert)| (index / each, expert)).collect();
                let values = host::floats(xs)?;
                let values = host::slice(&values, axis.operation)?;
                let (format, bytes, matrix) = (storage.format, &storage.bytes, (columns, xs.dims()[1]));
                let products = cpu::ops::quant::product_of_experts(
                    format,
                    bytes,
                    matrix,
                    values,
                    &pairs,
                    axis.operation,
                )?;
                host::narrow(products, xs.dtype())
            }
            (QStorage::Hip(storage), Storage::Hip(activations), Storage::Hip(which)) => {
                let (xs, ids) = ((activations, xs.layout()), (which, ids.layout()));
                hip::ops::quant::product_of_experts(storage, xs, (columns, each), axis, ids).map(Storage::Hip)
            }
            (_, Storage::Cpu(_), _) | (_, _, Storage::Cpu(_)) => Err(self.apart(ids, axis.operation)),
            _ => Err(self.apart(xs, axis.operation)),
        }
    }

    fn apart(&self, other: &Tensor, operation: &'static str) -> Error {
        Error::new(operation, ErrorKind::two_devices(&other.device(), &self.device()))
    }
}

/// An error unless so many bytes are whole blocks.
fn whole_blocks(bytes: usize, format: QuantFormat, operation: &'static str) -> Result<()> {
    let size = format.type_size();
    if bytes.is_multiple_of(size) {
        return Ok(());
    }
    let what = format!("{bytes} bytes are no whole number of {format} blocks, which have {size} bytes");
    Err(Error::new(operation, ErrorKind::Argument { what }))
}
