//! Elements in host memory: candle's [`CpuStorage`], and tensors made of them.

use candle_core::{CpuStorage, CpuStorageRef, DType, Result};
use tensor_core::{Device, Tensor};

use super::error::Candles;

/// Matches a storage of candle, owned or borrowed: elements that tensor-core has as a type, the bytes of `F8E4M3`, and
/// the bytes of formats that tensor-core does not have.
macro_rules! by_elements {
    ($of:ident, $storage:expr, $elements:ident => $typed:expr, $float8:expr, $bytes:expr) => {
        match $storage {
            $of::U8($elements) => $typed,
            $of::U32($elements) => $typed,
            $of::I16($elements) => $typed,
            $of::I32($elements) => $typed,
            $of::I64($elements) => $typed,
            $of::BF16($elements) => $typed,
            $of::F16($elements) => $typed,
            $of::F32($elements) => $typed,
            $of::F64($elements) => $typed,
            $of::F8E4M3($elements) => $float8,
            $of::F6E2M3($elements) | $of::F6E3M2($elements) | $of::F4($elements) | $of::F8E8M0($elements) => {
                $bytes
            }
        }
    };
}

/// The elements on a device, as a tensor of rank 1. A vector is not copied in host memory.
pub(super) fn upload(storage: CpuStorage, device: &Device) -> Result<Tensor> {
    by_elements!(
        CpuStorage, storage, elements => {
            let length = elements.len();
            Tensor::from_vec(elements, length, device).candles()
        },
        upload_float8(&elements, device),
        {
            let length = elements.len();
            Tensor::from_vec(elements, length, device).candles()
        }
    )
}

/// As [`upload`], of borrowed elements.
pub(super) fn upload_from(storage: CpuStorageRef<'_>, device: &Device) -> Result<Tensor> {
    by_elements!(
        CpuStorageRef, storage, elements => Tensor::from_slice(elements, elements.len(), device).candles(),
        upload_float8(elements, device),
        Tensor::from_slice(elements, elements.len(), device).candles()
    )
}

fn upload_float8(elements: &[float8::F8E4M3], device: &Device) -> Result<Tensor> {
    let ours = elements.iter().map(|x| tensor_core::F8E4M3::from_bits(x.to_bits())).collect();
    Tensor::from_vec(ours, elements.len(), device).candles()
}

/// The storage, borrowed.
pub(super) fn reference(storage: &CpuStorage) -> CpuStorageRef<'_> {
    match storage {
        CpuStorage::U8(elements) => CpuStorageRef::U8(elements),
        CpuStorage::U32(elements) => CpuStorageRef::U32(elements),
        CpuStorage::I16(elements) => CpuStorageRef::I16(elements),
        CpuStorage::I32(elements) => CpuStorageRef::I32(elements),
        CpuStorage::I64(elements) => CpuStorageRef::I64(elements),
        CpuStorage::BF16(elements) => CpuStorageRef::BF16(elements),
        CpuStorage::F16(elements) => CpuStorageRef::F16(elements),
        CpuStorage::F32(elements) => CpuStorageRef::F32(elements),
        CpuStorage::F64(elements) => CpuStorageRef::F64(elements),
        CpuStorage::F8E4M3(elements) => CpuStorageRef::F8E4M3(elements),
        CpuStorage::F6E2M3(bytes) => CpuStorageRef::F6E2M3(bytes),
        CpuStorage::F6E3M2(bytes) => CpuStorageRef::F6E3M2(bytes),
        CpuStorage::F4(bytes) => CpuStorageRef::F4(bytes),
        CpuStorage::F8E8M0(bytes) => CpuStorageRef::F8E8M0(bytes),
    }
}

/// The dtype of borrowed elements.
pub(super) fn dtype_of(storage: &CpuStorageRef<'_>) -> DType {
    match storage {
        CpuStorageRef::U8(_) => DType::U8,
        CpuStorageRef::U32(_) => DType::U32,
        CpuStorageRef::I16(_) => DType::I16,
        CpuStorageRef::I32(_) => DType::I32,
        CpuStorageRef::I64(_) => DType::I64,
        CpuStorageRef::BF16(_) => DType::BF16,
        CpuStorageRef::F16(_) => DType::F16,
        CpuStorageRef::F32(_) => DType::F32,
        CpuStorageRef::F64(_) => DType::F64,
        CpuStorageRef::F8E4M3(_) => DType::F8E4M3,
        CpuStorageRef::F6E2M3(_) => DType::F6E2M3,
        CpuStorageRef::F6E3M2(_) => DType::F6E3M2,
        CpuStorageRef::F4(_) => DType::F4,
        CpuStorageRef::F8E8M0(_) => DType::F8E8M0,
    }
}

/// A tensor's elements in host memory, as candle's storage of `dtype`.
pub(super) fn download(tensor: &Tensor, dtype: DType) -> Result<CpuStorage> {
    use tensor_core::CpuStorage as Ours;
    Ok(match tensor.to_cpu_storage().candles()? {
        Ours::U8(bytes) => match dtype {
            DType::F6E2M3 => CpuStorage::F6E2M3(bytes),
            DType::F6E3M2 => CpuStorage::F6E3M2(bytes),
            DType::F4 => CpuStorage::F4(bytes),
            DType::F8E8M0 => CpuStorage::F8E8M0(bytes),
            _ => CpuStorage::U8(bytes),
        },
        Ours::U32(elements) => CpuStorage::U32(elements),
        Ours::I16(elements) => CpuStorage::I16(elements),
        Ours::I32(elements) => CpuStorage::I32(elements),
        Ours::I64(elements) => CpuStorage::I64(elements),
        Ours::BF16(elements) => CpuStorage::BF16(elements),
        Ours::F16(elements) => CpuStorage::F16(elements),
        Ours::F32(elements) => CpuStorage::F32(elements),
        Ours::F64(elements) => CpuStorage::F64(elements),
        Ours::F8E4M3(elements) => {
            let bits = elements.into_iter().map(|x| float8::F8E4M3::from_bits(x.to_bits()));
            CpuStorage::F8E4M3(bits.collect())
        }
    })
}
