//! cuRAND's functions. The compiler compares each with its header, as cudarc declares it.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::curand::sys;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::ffi::{c_uint, c_ulonglong, c_void};
use std::path::{Path, PathBuf};

/// The result of every function: a `curandStatus_t`.
pub(super) type Code = u32;
/// A `curandGenerator_t`.
pub(super) type Raw = *mut c_void;

/// `name(our argument = the header's, …)`. Where C has an enumeration we have its number, and where C has a handle, an address.
macro_rules! functions {
    ($($name:ident($($ours:ty = $theirs:ty),* $(,)?);)*) => {
        $(
            const _: unsafe fn($($theirs),*) -> sys::curandStatus_t = sys::$name;
            const _: () = {
                $(assert!(size_of::<$ours>() == size_of::<$theirs>() && align_of::<$ours>() == align_of::<$theirs>());)*
                assert!(size_of::<Code>() == size_of::<sys::curandStatus_t>());
            };
        )*

        /// The functions. Each field has its C function's name.
        pub(super) struct Curand {
            $(pub(super) $name: unsafe extern "C" fn($($ours),*) -> Code,)*
            file: PathBuf,
        }

        impl Curand {
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
                        file: library.file(required("curandCreateGenerator")?),
                    })
                }
            }
        }
    };
}

type Theirs = sys::curandGenerator_t;

functions! {
    curandCreateGenerator(*mut Raw = *mut Theirs, u32 = sys::curandRngType_t);
    curandDestroyGenerator(Raw = Theirs);
    curandSetStream(Raw = Theirs, *mut c_void = sys::cudaStream_t);
    curandSetPseudoRandomGeneratorSeed(Raw = Theirs, c_ulonglong = c_ulonglong);
    curandSetGeneratorOffset(Raw = Theirs, c_ulonglong = c_ulonglong);
    curandSetGeneratorOrdering(Raw = Theirs, u32 = sys::curandOrdering_t);
    curandSetQuasiRandomGeneratorDimensions(Raw = Theirs, c_uint = c_uint);
    curandGenerateSeeds(Raw = Theirs);
    curandGenerate(Raw = Theirs, *mut c_uint = *mut c_uint, usize = usize);
    curandGenerateLongLong(Raw = Theirs, *mut c_ulonglong = *mut c_ulonglong, usize = usize);
    curandGenerateUniform(Raw = Theirs, *mut f32 = *mut f32, usize = usize);
    curandGenerateUniformDouble(Raw = Theirs, *mut f64 = *mut f64, usize = usize);
    curandGenerateNormal(Raw = Theirs, *mut f32 = *mut f32, usize = usize, f32 = f32, f32 = f32);
    curandGenerateNormalDouble(Raw = Theirs, *mut f64 = *mut f64, usize = usize, f64 = f64, f64 = f64);
    curandGenerateLogNormal(Raw = Theirs, *mut f32 = *mut f32, usize = usize, f32 = f32, f32 = f32);
    curandGenerateLogNormalDouble(Raw = Theirs, *mut f64 = *mut f64, usize = usize, f64 = f64, f64 = f64);
    curandGeneratePoisson(Raw = Theirs, *mut c_uint = *mut c_uint, usize = usize, f64 = f64);
}

impl Curand {
    /// The file that it was loaded from.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }
}
