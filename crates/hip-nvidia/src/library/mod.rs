//! What a library of NVIDIA's needs to take HIP's streams and memory on this platform.
//!
//! `hipstack-hip-nvidia-rocblas` calls cuBLAS and `hipstack-hip-nvidia-miopen` cuDNN. Device pointers of HIP are the driver's own; handles
//! of streams are not, and [`stream_of`] translates them. A library's own handle ends when its device is reset: see [`on_reset`].
//!
//! The functions answer `hipErrorNotInitialized` until [`platform`](crate::platform()) has opened the driver.
//!
//! ```
//! use hip_nvidia::library::{enter, fill_with_zeros, stream_of};
//! use hip_sys::hip::{hipError_t, hipStream_t};
//!
//! /// Sets bytes to zero, in the order of a stream.
//! ///
//! /// # Safety
//! /// They are in the memory of the stream's device, and nothing else uses them meanwhile.
//! unsafe fn clear(stream: hipStream_t, bytes: &mut [u8]) -> Result<(), hipError_t> {
//!     let (stream, _device) = stream_of(stream)?;
//!     // SAFETY: S2: the caller vouches for the bytes; the stream was just found.
//!     unsafe { fill_with_zeros(bytes.as_mut_ptr().cast(), bytes.len(), stream) }
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

pub use capture::RelaxedCapture;
pub use mark::Mark;
pub use memory::{copy, copy_rows, fill_with_zeros};

pub use crate::context::Device;

use crate::context::{self, Cuda};
use crate::handles::{self, LAST_SPECIAL};
use hip_sys::hip::{hipError_t, hipStream_t};
use hip_sys::{Platform, PlatformKind};
use parking_lot::Mutex;
use std::ffi::c_void;

/// A `CUstream`, which is a `cudaStream_t` too.
pub type RawStream = *mut c_void;

/// Whether a platform's HIP is this crate's: a library for it takes only its streams and its memory.
pub fn serves(platform: &Platform) -> bool {
    let same = |own: &Platform| {
        let functions = [own, platform].map(|platform| platform.hip().hipRuntimeGetVersion as usize);
        functions[0] == functions[1]
    };
    platform.kind == PlatformKind::Nvidia && crate::platform().is_ok_and(|own| same(&own))
}

/// What the driver's functions are called on.
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

/// The stream that a handle means and its device, whose context is then current. For a special one that is the current device.
///
/// # Errors
/// The stream is none, or none any more; or the driver refuses.
pub fn stream_of(stream: hipStream_t) -> Result<(RawStream, &'static Device), hipError_t> {
    opened()?;
    handles::stream_of(stream)
}

static FORGET: Mutex<Vec<fn(usize)>> = Mutex::new(Vec::new());

/// From now on a reset calls this with the device's ordinal before the device's context ends: handles of the library on it are to end.
pub fn on_reset(forget: fn(usize)) {
    FORGET.lock().push(forget);
}

/// Ends the libraries' handles on a device.
pub(crate) fn forget_device(ordinal: usize) {
    let all = FORGET.lock().clone();
    all.iter().for_each(|forget| forget(ordinal));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn libraries_are_told_of_a_reset() {
        static TOLD: AtomicUsize = AtomicUsize::new(0);
        on_reset(|ordinal| TOLD.store(ordinal, Ordering::Relaxed));
        forget_device(71);
        assert_eq!(TOLD.load(Ordering::Relaxed), 71);
    }

    #[test]
    fn cuda_s_own_numbers_are_special() {
        assert!([0, 1, 2].map(|number| is_special(number as hipStream_t)).iter().all(|special| *special));
        assert!(!is_special(3 as hipStream_t));
    }
}
