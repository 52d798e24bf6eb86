//! cuFFT's functions. The compiler compares each with its header, as cudarc declares it.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::cufft::sys;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::ffi::{c_int, c_longlong, c_void};
use std::path::{Path, PathBuf};

/// The result of every function: a `cufftResult_t`.
pub(super) type Code = u32;
/// A `cufftHandle`.
pub(super) type Raw = c_int;

/// `name(our argument = the header's, …)`. Where C has an enumeration we have its number, and where C has a handle, an address.
macro_rules! functions {
    ($($name:ident($($ours:ty = $theirs:ty),* $(,)?);)*) => {
        $(
            const _: unsafe fn($($theirs),*) -> sys::cufftResult_t = sys::$name;
            const _: () = {
                $(assert!(size_of::<$ours>() == size_of::<$theirs>() && align_of::<$ours>() == align_of::<$theirs>());)*
                assert!(size_of::<Code>() == size_of::<sys::cufftResult_t>());
            };
        )*

        /// The functions. Each field has its C function's name.
        pub(super) struct Cufft {
            $(pub(super) $name: unsafe extern "C" fn($($ours),*) -> Code,)*
            file: PathBuf,
        }

        impl Cufft {
            pub(super) fn fill(library: &SharedLibrary) -> Result<Self, LoadError> {
                let required = |symbol: &str| {
                    library.address(symbol).ok_or_else(|| LoadError::MissingSymbol {
                        library: library.path().display().to_string(),
                        symbol: symbol.to_owned(),
                    })
                };
                // SAFETY: S1: the functions of these names have had these signatures since CUDA 12.0, by the comparisons above.
                unsafe {
                    Ok(Self {
                        $($name: std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ours),*) -> Code>(
                            required(stringify!($name))?,
                        ),)*
                        file: library.file(required("cufftCreate")?),
                    })
                }
            }
        }
    };
}

functions! {
    cufftCreate(*mut Raw = *mut sys::cufftHandle);
    cufftDestroy(Raw = sys::cufftHandle);
    cufftSetAutoAllocation(Raw = sys::cufftHandle, c_int = c_int);
    cufftSetStream(Raw = sys::cufftHandle, *mut c_void = sys::cudaStream_t);
    cufftSetWorkArea(Raw = sys::cufftHandle, *mut c_void = *mut c_void);
    cufftMakePlanMany64(
        Raw = sys::cufftHandle,
        c_int = c_int,
        *mut c_longlong = *mut c_longlong,
        *mut c_longlong = *mut c_longlong,
        c_longlong = c_longlong,
        c_longlong = c_longlong,
        *mut c_longlong = *mut c_longlong,
        c_longlong = c_longlong,
        c_longlong = c_longlong,
        u32 = sys::cufftType,
        c_longlong = c_longlong,
        *mut usize = *mut usize,
    );
    cufftExecC2C(
        Raw = sys::cufftHandle, *mut c_void = *mut sys::cufftComplex, *mut c_void = *mut sys::cufftComplex, c_int = c_int
    );
    cufftExecZ2Z(
        Raw = sys::cufftHandle,
        *mut c_void = *mut sys::cufftDoubleComplex,
        *mut c_void = *mut sys::cufftDoubleComplex,
        c_int = c_int,
    );
    cufftExecR2C(Raw = sys::cufftHandle, *mut c_void = *mut sys::cufftReal, *mut c_void = *mut sys::cufftComplex);
    cufftExecC2R(Raw = sys::cufftHandle, *mut c_void = *mut sys::cufftComplex, *mut c_void = *mut sys::cufftReal);
    cufftExecD2Z(
        Raw = sys::cufftHandle, *mut c_void = *mut sys::cufftDoubleReal, *mut c_void = *mut sys::cufftDoubleComplex
    );
    cufftExecZ2D(
        Raw = sys::cufftHandle, *mut c_void = *mut sys::cufftDoubleComplex, *mut c_void = *mut sys::cufftDoubleReal
    );
}

impl Cufft {
    /// The file that it was loaded from.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }
}
