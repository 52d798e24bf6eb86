//! NVRTC's functions, by name.
#![allow(non_snake_case, reason = "CUDA's names")]

use crate::context;
use crate::library::{candidates, names_for_driver};
use hip_sys::provider::SharedLibrary;
use hip_sys::rtc::hiprtcResult;
use hip_sys::{LoadError, file_identity};
use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

/// An `nvrtcProgram`.
pub(super) type Raw = *mut c_void;

macro_rules! nvrtc {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The functions. Their results have hiprtc's numbers.
        pub(super) struct Nvrtc {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> hiprtcResult,)*
            pub(super) nvrtcGetErrorString: unsafe extern "C" fn(hiprtcResult) -> *const c_char,
            file: PathBuf,
        }

        impl Nvrtc {
            fn fill(library: &SharedLibrary) -> Result<Self, LoadError> {
                // SAFETY: S1: the functions of these names have had these signatures since CUDA 11.
                unsafe {
                    Ok(Self {
                        $($name: std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($argument),*) -> hiprtcResult,
                        >(library.required(stringify!($name))?),)*
                        nvrtcGetErrorString: std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn(hiprtcResult) -> *const c_char,
                        >(library.required("nvrtcGetErrorString")?),
                        file: library.file(library.required("nvrtcVersion")?),
                    })
                }
            }
        }
    };
}

nvrtc! {
    nvrtcVersion(*mut c_int, *mut c_int);
    nvrtcCreateProgram(*mut Raw, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
    nvrtcDestroyProgram(*mut Raw);
    nvrtcAddNameExpression(Raw, *const c_char);
    nvrtcCompileProgram(Raw, c_int, *const *const c_char);
    nvrtcGetProgramLogSize(Raw, *mut usize);
    nvrtcGetProgramLog(Raw, *mut c_char);
    nvrtcGetLoweredName(Raw, *const c_char, *mut *const c_char);
    nvrtcGetPTXSize(Raw, *mut usize);
    nvrtcGetPTX(Raw, *mut c_char);
    nvrtcGetCUBINSize(Raw, *mut usize);
    nvrtcGetCUBIN(Raw, *mut c_char);
}

const REMEDY: &str = "Install CUDA's run-time compiler (cuda-nvrtc), or set CUDA_PATH to the folder above its lib64/; compiled code objects do not need it";

static NVRTC: OnceLock<Result<Nvrtc, LoadError>> = OnceLock::new();

/// The library's file with its size and modification time; empty if there is none.
pub(crate) fn identity() -> String {
    open().map(|nvrtc| file_identity(&nvrtc.file)).unwrap_or_default()
}

/// Opens NVRTC once for the process.
pub(super) fn open() -> Result<&'static Nvrtc, LoadError> {
    let load = || {
        let names =
            names_for_driver(context::cuda().version, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so");
        SharedLibrary::open("NVRTC (libnvrtc)", REMEDY, candidates(&names)).and_then(|l| Nvrtc::fill(&l))
    };
    NVRTC.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// NVRTC. Only the table's functions call this, and the table exists only after the library was opened.
pub(super) fn nvrtc() -> &'static Nvrtc {
    NVRTC
        .get()
        .and_then(|loaded| loaded.as_ref().ok())
        .expect("the table is made after the library was opened")
}
