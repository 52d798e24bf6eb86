//! HIP on the threads of the CPU: a platform that needs no GPU.
//!
//! Two devices, alike but for the wave size: device 0 has 32 lanes in a wave, device 1 has 64. Streams are asynchronous
//! for real: a launch returns before its kernel has started. Kernels are C++ functions that a host compiler built
//! against `include/hiphost/device.hpp`; the program registers them, and a module image is a name.
//!
//! ```
//! let platform = hip_host::platform();
//! let mut count = 0;
//! // SAFETY: S1: a function of this crate; `count` is live and writable.
//! let status = unsafe { (platform.hip().hipGetDeviceCount)(&mut count) };
//! assert_eq!((status.0, count), (0, 2));
//! ```
//!
//! # How kernels run
//! A launch's blocks go out in increasing order to the process's worker threads and to the thread that serves the
//! stream. That is a dispatcher thread, or a thread that waits for the stream before a dispatcher has taken it up. A kernel without barriers is one call for each block: a loop over its threads that the compiler can
//! vectorise. A kernel with barriers runs on fibers, which are lazy: one fiber runs thread after thread until one
//! has to wait, and only then another goes on. So threads may leave early and barriers may depend on data.
//!
//! A kernel that fails (a failed `assert`, a barrier that not all threads reach) breaks its device, as on a GPU: a message
//! goes to standard error, and every later call on the device returns the code until `hipDeviceReset`.
//!
//! # Environment
//! - `HIPSTACK_HOST_THREADS`: OS threads that work on one launch; by default the cores, but at least two.
//! - `HIPSTACK_HOST_MEMORY_MB`: memory of each device; by default 4096, but at most half of the machine's.
//!
//! # Not here yet
//! Graphs, cooperative launches and memory shared between processes answer `hipErrorNotSupported`; there is no hiprtc.

pub mod abi;
mod code;
mod context;
mod device;
mod dispatch;
mod event;
mod memory;
mod pool;
mod run;
mod stream;
mod table;
mod work;

pub use abi::ModuleEntry;
pub use code::{RegisterError, image, register_module};

use hip_sys::{Extensions, LoadError, Platform, PlatformKind};
use std::sync::{Arc, LazyLock};

/// The platform. Its devices belong to the process: every call gives the same ones.
pub fn platform() -> Arc<Platform> {
    static PLATFORM: LazyLock<Arc<Platform>> = LazyLock::new(|| {
        let reason = "hip-host runs kernels that were compiled into the program: build them with a host compiler \
                      and register them with hip_host::register_module";
        let rtc = Err(LoadError::NotProvided { library: "hiprtc", reason });
        let ext = Extensions { func_param_info: Some(table::func_param_info) };
        // SAFETY: S1, S11: the functions are this crate's, and check what a driver checks.
        Arc::new(unsafe {
            Platform::from_tables(PlatformKind::Host, table::VERSION, table::table(), rtc, ext)
        })
    });
    Arc::clone(&PLATFORM)
}
