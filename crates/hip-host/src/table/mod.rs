//! HIP's C functions over this runtime, and the table of them.
//!
//! Each entry point checks what a driver would check and nothing else. The behaviour follows HIP's own tests.

mod capture;
mod copies;
mod devices;
mod errors;
mod events;
mod graphs;
mod launches;
mod memory;
mod modules;
mod pools;
mod properties;
mod streams;
mod unsupported;
mod user_objects;

pub(crate) use copies::tell_other_devices;
pub(crate) use devices::last_fault;
pub(crate) use launches::func_param_info;
pub(crate) use streams::stream_of;

use crate::context::Outcome;
use hip_sys::hip::hipError_t;
use hip_sys::{HipTable, hip_table};

/// The HIP version whose behaviour this follows, in the format of hipRuntimeGetVersion.
pub(crate) const VERSION: i32 = 60_400_000;

/// Stores a result through the caller's pointer.
///
/// # Safety
/// `out` is null or writable.
unsafe fn give<T>(out: *mut T, value: T) -> Outcome {
    if out.is_null() {
        return Err(hipError_t::hipErrorInvalidValue);
    }
    // SAFETY: S11: not null, and the C contract makes it writable.
    unsafe { out.write(value) };
    Ok(())
}

/// All functions, by name.
pub(crate) fn table() -> HipTable {
    use capture::*;
    use copies::*;
    use devices::*;
    use errors::*;
    use events::*;
    use graphs::*;
    use launches::*;
    use memory::*;
    use modules::*;
    use pools::*;
    use properties::*;
    use streams::*;
    use unsupported::*;
    use user_objects::*;
    hip_table!()
}
