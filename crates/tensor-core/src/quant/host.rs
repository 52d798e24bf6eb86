//! Tensors of the CPU as slices of `f32`, which products with blocks read and write.

use crate::cpu::{self, CpuStorage};
use crate::device::Device;
use crate::dtype::DType;
use crate::element::sealed::Stored;
use crate::error::{Error, ErrorKind, On, Result};
use crate::layout::Layout;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// The tensor as contiguous `f32`.
pub(super) fn floats(tensor: &Tensor) -> Result<Tensor> {
    tensor.to_dtype(DType::F32)?.contiguous()
}

/// The elements of a contiguous `f32` tensor on the CPU.
pub(super) fn slice<'a>(tensor: &'a Tensor, operation: &'static str) -> Result<&'a [f32]> {
    let apart = || Error::new(operation, ErrorKind::two_devices(&tensor.device(), &Device::Cpu));
    let storage = tensor.storage().as_cpu().ok_or_else(apart)?;
    let wanted = ErrorKind::WrongDType { got: storage.dtype(), wanted: DType::F32 };
    let all = storage.as_slice::<f32>().ok_or_else(|| Error::new(operation, wanted).on(&Device::Cpu))?;
    Ok(&all[tensor.layout().offset()..][..tensor.elements()])
}

/// `values` as `dtype`, rounded once.
pub(super) fn narrow(values: Vec<f32>, dtype: DType) -> Result<Storage> {
    let layout = Layout::tight(values.len().into());
    let storage: CpuStorage = f32::store(values);
    if dtype == DType::F32 {
        return Ok(Storage::Cpu(storage));
    }
    cpu::ops::cast::cast(&storage, &layout, dtype).map(Storage::Cpu).on(&Device::Cpu)
}
