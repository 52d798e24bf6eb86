//! What a library needs to work on this platform: its calls become operations of a stream.
//!
//! `hipstack-hip-host-rocblas` and `hipstack-hip-host-miopen` are such libraries. A call of one
//! 1. checks its arguments,
//! 2. names the memory that it uses in [`Uses`], which looks it up,
//! 3. submits what it does with [`Uses::submit`]. That runs in the order of the stream, may be captured into a graph, and is seen by the
//!    race checker.
//!
//! A call whose result is the host's asks [`Stream::may_wait`] first, and then waits with [`Stream::wait`].
//!
//! ```
//! use hip_host::library::{Job, Uses};
//!
//! /// Sets `count` numbers to one, in the order of the null stream.
//! ///
//! /// # Safety
//! /// They are in the device's memory, and only work of this stream uses them until this is done.
//! unsafe fn ones(numbers: *mut f32, count: usize) -> Result<(), hip_sys::hip::hipError_t> {
//!     let mut uses = Uses::default();
//!     uses.write(numbers, count)?;
//!     let start = numbers as usize;
//!     // SAFETY: S2: the body writes what was named.
//!     let fill = move || unsafe { std::slice::from_raw_parts_mut(start as *mut f32, count) }.fill(1.0);
//!     let job = Job { name: "ones", spreads: false, fits: || true };
//!     // SAFETY: S2: as above.
//!     unsafe { uses.submit(std::ptr::null_mut(), job, fill) }
//! }
//!
//! let platform = hip_host::platform();
//! let (hip, mut memory) = (platform.hip(), std::ptr::null_mut());
//! let mut numbers = [0.0_f32; 3];
//! // SAFETY: S1, S11: live variables of these sizes.
//! let statuses = unsafe {
//!     use hip_sys::hip::hipMemcpyKind;
//!     let allocated = (hip.hipMalloc)(&mut memory, 12);
//!     ones(memory.cast(), 3).unwrap();
//!     let copied = (hip.hipMemcpy)(numbers.as_mut_ptr().cast(), memory, 12, hipMemcpyKind::hipMemcpyDeviceToHost);
//!     [allocated, copied, (hip.hipFree)(memory)]
//! };
//! assert_eq!((statuses.map(|status| status.0), numbers), ([0; 3], [1.0; 3]));
//! ```

mod call;
mod pool;
mod stream;

pub use call::{Job, Uses};
pub use pool::pool;
pub use stream::{Device, Stream};

pub(crate) use call::{Call, Use};

use crate::{memory, run};
use hip_sys::provider::same_hip;
use hip_sys::{Platform, PlatformKind};

/// Whether a platform's memory and streams are this crate's. A library for it takes no others.
pub fn serves(platform: &Platform) -> bool {
    platform.kind == PlatformKind::Host && same_hip(crate::platform().hip(), platform.hip())
}

/// How many OS threads work on one launch, or on one call of a library.
pub fn threads() -> usize {
    run::threads()
}

/// Whether so many bytes from an address lie in one allocation that HIP knows. For addresses that a call finds in memory as it runs; the
/// memory of its arguments is named in [`Uses`].
pub fn is_known(address: usize, bytes: usize) -> bool {
    matches!(memory::resolve(address, bytes), Ok(Some(_)))
}

/// What is known of an address that must not be used, in words.
pub fn describe(address: usize) -> String {
    memory::describe(address)
}
