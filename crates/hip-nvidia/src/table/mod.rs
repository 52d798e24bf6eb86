//! HIP's C functions over the CUDA driver, and the table of them. Each checks what the driver does not: null places, stale
//! handles, what HIP limits and CUDA does not.

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

/// Version of HIP whose behaviour this follows, as hipRuntimeGetVersion writes it.
pub(crate) const VERSION: i32 = 60_400_000;

/// Stores a result through the caller's pointer.
///
/// # Safety
/// `place` is null or writable.
unsafe fn give<T>(place: *mut T, value: T) -> Outcome {
    if place.is_null() {
        return Err(hipError_t::hipErrorInvalidValue);
    }
    // SAFETY: S11: not null, and the C contract makes it writable.
    unsafe { place.write(value) };
    Ok(())
}

/// An error if the place is null: for calls that must not be made in vain.
fn place_is_there<T>(place: *mut T) -> Outcome {
    if place.is_null() { Err(hipError_t::hipErrorInvalidValue) } else { Ok(()) }
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
