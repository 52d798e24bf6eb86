//! HIP on the threads of the CPU: a platform that needs no GPU.
//!
//! There are two devices, which differ in the wave size alone: device 0 has 32 lanes in a wave, device 1 has
//! 64. Streams are asynchronous: a launch returns before its kernel has started. A kernel is a C++ function
//! that a host compiler built against `include/hiphost/device.hpp`. Either the program registers it, and a
//! module image is its module's name; or hiprtc compiles HIP text at run time, and the image holds the
//! compiled object.
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
//! The blocks of a launch run on the process's worker threads and on the thread that serves the stream: a
//! dispatcher thread, or a thread that waits for the stream before a dispatcher has taken it. Blocks start in
//! increasing order, which is not guaranteed. The runtime calls a kernel without barriers once for each
//! block: the call is a loop over the block's threads, which the compiler can vectorise. A kernel with
//! barriers runs on fibers. One fiber runs thread after thread until a thread has to wait; only then another
//! fiber runs. So threads may return early, and barriers may stand in divergent code.
//!
//! A kernel that fails (a failed `assert`, a barrier that not all threads reach) puts its device into a
//! sticky error state, as on a GPU: the runtime prints a message to standard error, and every later call on
//! the device returns the error code until `hipDeviceReset`.
//!
//! A fault in a kernel has the same effect: an illegal address is error 700; an illegal instruction, a
//! division by zero or a stack overflow is error 719, since HIP has no codes for these. The message names the
//! kernel, the block, the thread if it is known, and the allocation nearest to the address;
//! `hip_sys::Extensions::last_fault` returns it to the program. The signal handlers are installed when the
//! first kernel runs. They forward signals that no kernel caused to the handlers installed before. A handler
//! that the program installs later receives all signals and should forward those that are not its own.
//!
//! # Guard mode
//! With `HIPSTACK_HOST_GUARD=1` every allocation, including those from pools, has its own pages and ends at
//! the end of the last page. An access one element past the end is error 700, with the allocation and the
//! offset in the message. Freed address space stays unmapped for a long time, so a use after free is an error
//! too. Fresh memory is filled with `0xff`. A base address is aligned to the largest power of two that
//! divides the size, up to 256 bytes: less than HIP promises, but enough for every type. A larger value of
//! the variable, such as 16, sets the minimum alignment. The padding that this leaves after the end, and the
//! bytes before the start in the first page, hold a pattern that is checked when the memory is freed. Each
//! allocation takes two memory mappings of the process; once `vm.max_map_count` is reached, allocations fail
//! as out of memory.
//!
//! # Run-time compilation
//! The hiprtc functions compile HIP source written for GPUs with the system's C++ compiler. They support
//! `#include <hip/hip_runtime.h>`, `__global__` functions in any namespace and public static ones of classes,
//! templates by name expression, `__device__` and `__constant__` variables, static and dynamic shared memory,
//! and launch bounds. A kernel with a body that could not be registered is an error that names its line. Half
//! precision, `hip_bfloat16`, complex numbers, cooperative groups and mathematical constants need no
//! `#include`, as with AMD's.
//!
//! | option | meaning |
//! |---|---|
//! | `--offload-arch=host-w32`, `--offload-arch=host-w64` | the devices to compile for, by the names in their properties; one or both. Without them the code is for the current device, as with AMD's hiprtc |
//! | `--offload-arch=host` | code for both devices, without warp operations |
//! | `--host-source` | the text is C++ for the CPU: it includes `hiphost/device.hpp` and has a `HIPHOST_MODULE(rtc)`, as the kernels of kernels-hip do |
//! | options of the C++ compiler | those of a list are passed on; others are refused by name |
//!
//! The image contains the compiled objects and may be stored in a file. A loaded object is never unloaded. An
//! object without device variables is opened once, however often it is loaded. An object with device
//! variables is opened for each load, because each load has its own variables.
//!
//! # Libraries
//! This crate is HIP and hiprtc alone. rocBLAS and MIOpen on these devices are the crates `hipstack-hip-host-rocblas` and
//! `hipstack-hip-host-miopen`, made of what [`library`] offers.
//!
//! # Environment
//! - `HIPSTACK_HOST_THREADS`: OS threads that work on one launch; by default one per core, at least two.
//! - `HIPSTACK_HOST_MEMORY_MB`: memory of each device; by default 4096, but at most half of the machine's.
//! - `CXX`: the C++ compiler of hiprtc; by default `c++`, `g++` or `clang++`, whichever is found first.
//! - `HIPSTACK_HOST_CXXFLAGS`: more flags for that compiler, after all others, such as `-g -O1`.
//! - `TMPDIR`: where hiprtc compiles, and where compiled modules are written to be opened; by default `/tmp`.
//! - `HIPSTACK_HOST_SANITIZE`: `address` or `thread` compiles kernels for that sanitizer (with g++; its
//!   run-time library has to be the first in the process, so preload it). `cargo xtask sanitize` does all of
//!   this.
//! - `HIPSTACK_HOST_SANITIZER_LOG`: a file to which such a program writes the name and wave size of each
//!   kernel that ran.
//! - `HIPSTACK_HOST_ADVERSARY=<seed>`: where HIP leaves the order of operations open, the seed chooses it,
//!   late rather than early: see [`adversary`]. `HIPSTACK_HOST_ADVERSARY_PATIENCE_MS`: how long operations
//!   are held back that no thread waits for.
//! - `HIPSTACK_HOST_CHECK=1`: reports operations that use the same memory without order, and uses after free:
//!   see [`checker`]. It is on with an adversary unless it is `0`. `abort` ends the process at the first
//!   report. `threads` treats the program's threads as unordered instead of as one, for programs in which no
//!   lock and no channel orders them.
//! - `HIPSTACK_HOST_GUARD`: guard mode, with the least alignment of an allocation in bytes; by default off.
//! - `HIPSTACK_HOST_WATCHDOG_MS`: how long a launch may take, measured from the start of its first thread,
//!   before it fails with error 702; by default no limit.
//! - `HIPSTACK_HOST_TRAPS=0`: no signal handlers, for debuggers: a fault in a kernel ends the process. The
//!   watchdog needs them.
//!
//! # Not supported
//! Memory shared between processes is `hipErrorNotSupported`. In a captured stream, stream-ordered allocation
//! and release are refused (`hipErrorStreamCaptureUnsupported`). The nodes of a graph run one after the
//! other.

pub mod abi;
pub mod adversary;
mod check;
mod code;
mod context;
mod device;
mod dispatch;
mod event;
mod failure;
mod flags;
mod graph;
mod guard;
pub mod library;
mod memory;
mod pool;
mod rtc;
mod run;
mod stream;
mod system;
mod table;
mod work;

pub use abi::ModuleEntry;
pub use code::{RegisterError, image, register_module};
pub use flags::{HOST_SOURCE_FLAGS, KERNEL_FLAGS, LINK_FLAGS};
pub use rtc::{image_of_object, kernels_of};

/// The checker of the order between operations: its reports. It runs if `HIPSTACK_HOST_CHECK` or
/// `HIPSTACK_HOST_ADVERSARY` enables it, and prints each report to standard error as it finds it.
///
/// Reports depend on the order of the calls alone, so a race is reported whether or not it did damage in this
/// run. The checker knows what copies, fills, allocations and frees use. It knows what a launch or a host
/// function uses if the program declares it with `hip_sys::Extensions::announce`, as hip-safe does for its
/// typed arguments. Memory behind a raw pointer argument is not checked.
pub mod checker {
    pub use crate::check::{Conflict, Operation, Origin, Report, reports, take_reports, unchecked};
}

use hip_sys::{Extensions, Platform, PlatformKind};
use std::sync::{Arc, LazyLock};

/// The platform. Its devices belong to the process: every call gives the same ones.
pub fn platform() -> Arc<Platform> {
    static PLATFORM: LazyLock<Arc<Platform>> = LazyLock::new(|| {
        let rtc = Ok(rtc::table());
        let checked = check::on();
        let ext = Extensions {
            func_param_info: Some(table::func_param_info),
            last_fault: Some(table::last_fault),
            announce: checked.then_some(check::announce),
            touch: checked.then_some(check::touch),
            reserve: checked.then_some(check::reserve),
            release: checked.then_some(check::release),
            own_pages: guard::least_alignment().is_some(),
            compiler: Some(rtc::compiler_identity),
            check_compiler: Some(rtc::check_compiler),
        };
        // SAFETY: S1, S11: the functions are this crate's, and check what a driver checks.
        Arc::new(unsafe {
            Platform::from_tables(PlatformKind::Host, table::VERSION, table::table(), rtc, ext)
        })
    });
    Arc::clone(&PLATFORM)
}
