//! What the three programs share: the device that a name means, and how far two results are apart.

use candle_core::{Device, Error, Result, Tensor};
use std::path::Path;

/// `cpu`, or a HIP device such as `host:0`, `amd:0` or `nvidia:0`.
///
/// # Errors
/// The platform's, if there is no such device.
pub fn device(name: &str) -> Result<Device> {
    if name == "cpu" { Ok(Device::Cpu) } else { Device::new_hip(name) }
}

/// The bytes of a file.
///
/// # Errors
/// Names the file if it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| Error::from(error).with_path(path))
}

/// The largest difference of two tensors' elements, on the CPU.
///
/// # Errors
/// candle's, for tensors of different shapes.
pub fn largest_difference(left: &Tensor, right: &Tensor) -> Result<f32> {
    let [left, right] = [left, right].map(|tensor| tensor.to_device(&Device::Cpu));
    (left? - right?)?.abs()?.flatten_all()?.max(0)?.to_scalar()
}
