//! The units compiled for this CPU.

use hip_host::ModuleEntry;
use std::sync::Once;

include!(concat!(env!("OUT_DIR"), "/host.rs"));

/// Registers every unit with hip-host, under [`crate::Unit::name`]. Calls after the first do nothing.
///
/// `hip_host::image(&unit.name())` then gives the bytes that `hipModuleLoadData` takes on a host device.
///
/// # Panics
/// If a module was built against other headers than those of the hip-host that is linked in, which cargo rules out, or the
/// program registered another module under the name of a unit.
pub fn register_host() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for entry in ENTRIES {
            // SAFETY: S14: build.rs defined the entry with HIPHOST_MODULE of hip-host's headers and linked it in for good.
            let registered = unsafe { hip_host::register_module(entry) };
            registered.expect("units are built with hip-host's own headers and have names of their own");
        }
    });
}

/// The entries of the compiled modules: each unit once, or once for each wave size. For those who want to read their tables
/// without a platform.
pub fn host_entries() -> &'static [ModuleEntry] {
    &ENTRIES
}
