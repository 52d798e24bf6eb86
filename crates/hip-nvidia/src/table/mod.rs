//! HIP's C functions over the CUDA driver, and the table of them. Each checks what the driver does not: null
//! output pointers, stale handles, and limits that only HIP has.

mod captures;
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

pub(crate) use launches::func_param_info;

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

/// An error if the output pointer is null. Used before calls whose result must not be lost.
fn check_not_null<T>(out: *mut T) -> Outcome {
    if out.is_null() { Err(hipError_t::hipErrorInvalidValue) } else { Ok(()) }
}

/// All functions, by name.
pub(crate) fn table() -> HipTable {
    use captures::*;
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
    hip_table!()
}
