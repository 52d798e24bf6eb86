//! The CUDA device.

use candle_core::Device;

use crate::{Arguments, text};

/// CUDA's first device, on one stream.
///
/// # Errors
/// There is no driver, no device, or no cuBLAS or cuRAND, which candle opens with the device.
pub fn open(arguments: &Arguments) -> Result<Device, String> {
    // cudarc panics where it finds no library.
    let device = std::panic::catch_unwind(|| Device::new_cuda(0)).map_err(|_| {
        "candle needs the CUDA driver, cuBLAS and cuRAND: LD_LIBRARY_PATH names the folders of libcublas.so.13 and libcurand.so.10"
    })?;
    let device = device.map_err(text)?;
    if !arguments.track_events {
        let cuda = device.as_cuda_device().map_err(text)?;
        // SAFETY: S5: the program submits all work to the device's one stream, which keeps its order.
        unsafe { cuda.disable_event_tracking() };
    }
    Ok(device)
}
