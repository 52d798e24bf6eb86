//! A platform whose memory is Rust's, whose streams are threads and whose kernels are Rust functions. Its handles are addresses of what
//! they stand for: a stale one is a use of freed memory.
//!
//! What it lacks is hip-host's, which does not know its handles and returns an error.

mod code;
mod devices;
mod events;
mod memory;
mod streams;

use hip_safe::{Device, Platform, Stream};
use hip_sys::hip::hipError_t;
use hip_sys::{Extensions, LoadError, PlatformKind};
use std::sync::Arc;

const SUCCESS: hipError_t = hipError_t::hipSuccess;

pub(crate) use code::{IMAGE, SUMMED};

/// Runs a test on two devices of a platform of its own: with a pool, and with an allocation for each buffer, whose end Miri knows.
pub(crate) fn on_devices(test: impl Fn([Device; 2])) {
    for own_pages in [false, true] {
        let platform = platform(own_pages);
        test([0, 1].map(|ordinal| Device::new(&platform, ordinal).expect("the toy has two devices")));
    }
}

/// The same on streams of the first device.
pub(crate) fn on_streams<const N: usize>(test: impl Fn([Stream; N])) {
    on_devices(|[device, _]| test([(); N].map(|()| device.new_stream().expect("a thread"))));
}

fn platform(own_pages: bool) -> Arc<Platform> {
    let host = hip_host::platform();
    let mut hip = host.hip().clone();
    devices::fill(&mut hip);
    memory::fill(&mut hip);
    streams::fill(&mut hip);
    events::fill(&mut hip);
    code::fill(&mut hip);
    let rtc = Err(LoadError::NotProvided { library: "hiprtc", reason: "its kernels are Rust functions" });
    let ext = Extensions { func_param_info: Some(code::param_info), own_pages, ..Extensions::default() };
    // SAFETY: S1, S11: these functions do what HIP's do, and the others refuse handles that they did not make.
    Arc::new(unsafe { Platform::from_tables(PlatformKind::Host, host.raw_version, hip, rtc, ext) })
}

/// An address that a thread of the toy uses; its caller keeps what is there.
struct SendPtr<T>(*mut T);

// SAFETY: S8: an address; whoever submits work with it keeps what it leads to until the work is done.
unsafe impl<T> Send for SendPtr<T> {}

impl<T> SendPtr<T> {
    fn get(self) -> *mut T {
        self.0
    }
}

/// Puts functions into a table.
macro_rules! set {
    ($table:expr, $($name:ident),* $(,)?) => { $( $table.$name = $name; )* };
}
use set;
