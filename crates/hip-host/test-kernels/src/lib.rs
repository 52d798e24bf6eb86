//! The kernels of hip-host's tests, as modules to register. They are a crate of their own, so that hip-host is built once, with the
//! features that everybody asks for.

use hip_host::abi::{Module, Runtime};

/// What gives a module to the platform: `hip_host::register_module` takes it.
pub type Entry = unsafe extern "C" fn(*const Runtime) -> *const Module;

macro_rules! entries {
    ($list:ident: $count:literal; $($name:ident)*) => {
        unsafe extern "C" { $(fn $name(runtime: *const Runtime) -> *const Module;)* }

        /// The modules that tests launch kernels of.
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

unsafe extern "C" {
    fn hiphost_module_test_planted_w32(runtime: *const Runtime) -> *const Module;
}

/// The module of kernels with a bug each.
pub const PLANTED: Entry = hiphost_module_test_planted_w32;
