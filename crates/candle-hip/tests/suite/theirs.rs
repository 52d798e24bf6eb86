//! The backend of candle that ours is compared with: its CPU, or with the feature `cuda` its CUDA backend.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, Result};

#[cfg(not(feature = "cuda"))]
pub type Theirs = CpuStorage;
#[cfg(feature = "cuda")]
pub type Theirs = candle_core::CudaStorage;

/// The elements in candle's storage.
#[cfg(not(feature = "cuda"))]
pub fn upload(storage: CpuStorage) -> Theirs {
    storage
}

/// The elements in candle's storage.
#[cfg(feature = "cuda")]
pub fn upload(storage: CpuStorage) -> Theirs {
    use candle_core::backend::BackendDevice;

    device().storage_from_cpu_storage_owned(storage).expect("an upload")
}

#[cfg(feature = "cuda")]
fn device() -> &'static candle_core::CudaDevice {
    use candle_core::backend::BackendDevice;

    static DEVICE: std::sync::OnceLock<candle_core::CudaDevice> = std::sync::OnceLock::new();
    DEVICE.get_or_init(|| candle_core::CudaDevice::new(0).expect("a CUDA device"))
}

/// Waits for candle's device.
pub fn synchronize() {
    #[cfg(feature = "cuda")]
    candle_core::backend::BackendDevice::synchronize(device()).expect("a wait");
}

/// candle's result. candle's CUDA has no kernels for some dtypes: then there is nothing to compare, and a line says so.
pub fn download(result: Result<Theirs>, what: &str) -> Option<CpuStorage> {
    match result.and_then(|storage| storage.to_cpu_storage()) {
        Ok(storage) => Some(storage),
        Err(error) if cfg!(feature = "cuda") && is_missing(&error.to_string()) => {
            println!("candle has none: {what}: {}", error.to_string().lines().next().unwrap_or_default());
            None
        }
        Err(error) => panic!("{what}: candle: {error}"),
    }
}

/// Whether the text says that candle does not have the operation for these operands, and not that the device failed.
fn is_missing(error: &str) -> bool {
    [
        "CUDA_ERROR_NOT_FOUND",
        // Comparisons list the dtypes that have them: i16 and i32 are not among them.
        "dtype mismatch in binary op",
        "not supported",
        "unsupported",
        "does not support",
        "unexpected dtype",
        "should be",
        "contiguous",
    ]
    .iter()
    .any(|words| error.contains(words))
}
