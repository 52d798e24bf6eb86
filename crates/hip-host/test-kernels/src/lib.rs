//! The kernels of hip-host's tests, as modules to register. They are a separate crate so that hip-host is
//! built only once, with the same features as for other crates.

use hip_host::abi::{Module, Runtime};

/// A module's entry point, which `hip_host::register_module` accepts.
pub type Entry = unsafe extern "C" fn(*const Runtime) -> *const Module;

macro_rules! entries {
    ($list:ident: $count:literal; $($name:ident)*) => {
        unsafe extern "C" { $(fn $name(runtime: *const Runtime) -> *const Module;)* }

        /// The modules whose kernels tests launch.
        pub const $list: [Entry; $count] = [$($name),*];
    };
}

entries! { MODULES: 10;
    hiphost_module_test_plain_any
    hiphost_module_test_threads_w32
    hiphost_module_test_threads_w64
    hiphost_module_test_faults_any
    hiphost_module_test_together_w64
    hiphost_module_test_plain_faults_any
    hiphost_module_test_warp_faults_w32
    hiphost_module_test_warp_faults_w64
    hiphost_module_test_language_w32
    hiphost_module_test_language_w64
}
