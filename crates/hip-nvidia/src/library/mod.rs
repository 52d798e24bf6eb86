//! What a crate over one of NVIDIA's libraries needs to use HIP's streams and memory on this platform.
//!
//! `hipstack-hip-nvidia-rocblas` calls cuBLAS and `hipstack-hip-nvidia-miopen` cuDNN. Device pointers of HIP are the driver's own; handles
//! of streams are not, and [`stream_of`] translates them. A library's own handle ends when its device is reset: see [`on_reset`].
//!
//! The functions answer `hipErrorNotInitialized` until [`platform`](crate::platform()) or [`driver_version`](crate::driver_version()) has
//! opened the driver.
//!
//! ```
//! use hip_nvidia::library::{enter, fill_with_zeros, stream_of};
//! use hip_sys::hip::{hipError_t, hipStream_t};
//! use std::ffi::c_void;
//!
//! /// Sets bytes to zero, in the order of a stream.
//! ///
//! /// # Safety
//! /// They are in the memory of the stream's device, and nothing else uses them meanwhile.
//! unsafe fn clear(stream: hipStream_t, memory: *mut c_void, bytes: usize) -> Result<(), hipError_t> {
//!     let (stream, _device) = stream_of(stream)?;
//!     // SAFETY: S2: the caller vouches for the bytes; the stream was just found.
//!     unsafe { fill_with_zeros(memory, bytes, stream) }
//! }
//!
//! // Without a card there is no device to enter.
//! match enter() {
//!     Ok(device) => println!("on device {}", device.ordinal()),
//!     Err(error) => println!("no device: {}", error.0),
//! }
//! ```

mod capture;
mod mark;
mod memory;
mod temporary;
mod toolkit;

pub use capture::RelaxedCapture;
pub use mark::Mark;
pub use memory::{copy, copy_rows, fill_rows, fill_with_zeros};
pub use temporary::{Lasting, Temporary};
pub use toolkit::{candidates, names_for_driver, open};

pub use crate::context::Device;

use crate::context::{self, Cuda};
use crate::handles::{self, LAST_SPECIAL};
use hip_sys::hip::{hipError_t, hipStream_t};
use hip_sys::provider::same_hip;
use hip_sys::{Platform, PlatformKind};
use parking_lot::Mutex;
use std::ffi::c_void;

/// A `CUstream`, which `cudaStream_t` is too.
pub type RawStream = *mut c_void;

/// Whether a platform's memory and streams are this crate's. A library for this platform accepts no others.
pub fn serves(platform: &Platform) -> bool {
    platform.kind == PlatformKind::Nvidia
        && crate::platform().is_ok_and(|own| same_hip(own.hip(), platform.hip()))
}

/// The device that the driver's functions are called for.
fn opened() -> Result<&'static Cuda, hipError_t> {
    context::opened().ok_or(hipError_t::hipErrorNotInitialized)
}

/// Makes the context of the calling thread's current device current.
///
/// # Errors
/// There is no device, or the driver refuses.
pub fn enter() -> Result<&'static Device, hipError_t> {
    opened()?;
    context::enter()
}

/// Whether a handle is the null stream, `hipStreamLegacy` or `hipStreamPerThread`: CUDA has the same numbers for them, on each device.
pub fn is_special(stream: hipStream_t) -> bool {
    stream as usize <= LAST_SPECIAL
}

/// The stream that a handle denotes, and its device, whose context becomes current. A special handle means the current device.
///
/// # Errors
/// The handle is not that of a live stream, or the driver refuses.
pub fn stream_of(stream: hipStream_t) -> Result<(RawStream, &'static Device), hipError_t> {
    opened()?;
    handles::stream_of(stream)
}

static FORGET: Mutex<Vec<fn(usize)>> = Mutex::new(Vec::new());

/// Registers a function that every reset calls with the device's ordinal, before the device's context ends. It must destroy
/// the library's handles on that device.
pub fn on_reset(forget: fn(usize)) {
    FORGET.lock().push(forget);
}

/// Destroys the libraries' handles on a device.
pub(crate) fn forget_device(ordinal: usize) {
    let all = FORGET.lock().clone();
    all.iter().for_each(|forget| forget(ordinal));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_reset_calls_every_library_s_function() {
        static TOLD: AtomicUsize = AtomicUsize::new(0);
        on_reset(|ordinal| TOLD.store(ordinal, Ordering::Relaxed));
        forget_device(71);
        assert_eq!(TOLD.load(Ordering::Relaxed), 71);
    }

    #[test]
    fn cuda_s_stream_numbers_are_special_handles() {
        assert!([0, 1, 2].map(|number| is_special(number as hipStream_t)).iter().all(|special| *special));
        assert!(!is_special(3 as hipStream_t));
    }
}
