//! cuBLASLt's functions. The compiler compares each with its header, as cudarc declares it.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::cublaslt::sys;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};

/// The result of every function: a `cublasStatus_t`.
pub(super) type Code = u32;
/// A handle or a descriptor.
pub(super) type Raw = *mut c_void;

/// `name(our argument = the header's, …)`. Where C has an enumeration we have its number, and where C has a handle, an address.
macro_rules! functions {
    ($($name:ident($($ours:ty = $theirs:ty),* $(,)?);)*) => {
        $(
            const _: unsafe fn($($theirs),*) -> sys::cublasStatus_t = sys::$name;
            const _: () = {
                $(assert!(size_of::<$ours>() == size_of::<$theirs>() && align_of::<$ours>() == align_of::<$theirs>());)*
                assert!(size_of::<Code>() == size_of::<sys::cublasStatus_t>());
            };
        )*

        /// The functions. Each field has its C function's name.
        pub(super) struct CublasLt {
            $(pub(super) $name: unsafe extern "C" fn($($ours),*) -> Code,)*
            file: PathBuf,
        }

        impl CublasLt {
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
                        file: library.file(required("cublasLtCreate")?),
                    })
                }
            }
        }
    };
}

functions! {
    cublasLtCreate(*mut Raw = *mut sys::cublasLtHandle_t);
    cublasLtDestroy(Raw = sys::cublasLtHandle_t);
    cublasLtMatrixLayoutCreate(
        *mut Raw = *mut sys::cublasLtMatrixLayout_t, u32 = sys::cudaDataType, u64 = u64, u64 = u64, i64 = i64
    );
    cublasLtMatrixLayoutDestroy(Raw = sys::cublasLtMatrixLayout_t);
    cublasLtMatrixLayoutSetAttribute(
        Raw = sys::cublasLtMatrixLayout_t,
        u32 = sys::cublasLtMatrixLayoutAttribute_t,
        *const c_void = *const c_void,
        usize = usize,
    );
    cublasLtMatmulDescCreate(
        *mut Raw = *mut sys::cublasLtMatmulDesc_t, u32 = sys::cublasComputeType_t, u32 = sys::cudaDataType_t
    );
    cublasLtMatmulDescDestroy(Raw = sys::cublasLtMatmulDesc_t);
    cublasLtMatmulDescSetAttribute(
        Raw = sys::cublasLtMatmulDesc_t,
        u32 = sys::cublasLtMatmulDescAttributes_t,
        *const c_void = *const c_void,
        usize = usize,
    );
    cublasLtMatmulPreferenceCreate(*mut Raw = *mut sys::cublasLtMatmulPreference_t);
    cublasLtMatmulPreferenceDestroy(Raw = sys::cublasLtMatmulPreference_t);
    cublasLtMatmulPreferenceSetAttribute(
        Raw = sys::cublasLtMatmulPreference_t,
        u32 = sys::cublasLtMatmulPreferenceAttributes_t,
        *const c_void = *const c_void,
        usize = usize,
    );
    cublasLtMatmulAlgoGetHeuristic(
        Raw = sys::cublasLtHandle_t,
        Raw = sys::cublasLtMatmulDesc_t,
        Raw = sys::cublasLtMatrixLayout_t,
        Raw = sys::cublasLtMatrixLayout_t,
        Raw = sys::cublasLtMatrixLayout_t,
        Raw = sys::cublasLtMatrixLayout_t,
        Raw = sys::cublasLtMatmulPreference_t,
        c_int = c_int,
        *mut Heuristic = *mut sys::cublasLtMatmulHeuristicResult_t,
        *mut c_int = *mut c_int,
    );
    cublasLtMatmul(
        Raw = sys::cublasLtHandle_t,
        Raw = sys::cublasLtMatmulDesc_t,
        *const c_void = *const c_void,
        *const c_void = *const c_void,
        Raw = sys::cublasLtMatrixLayout_t,
        *const c_void = *const c_void,
        Raw = sys::cublasLtMatrixLayout_t,
        *const c_void = *const c_void,
        *const c_void = *const c_void,
        Raw = sys::cublasLtMatrixLayout_t,
        *mut c_void = *mut c_void,
        Raw = sys::cublasLtMatrixLayout_t,
        *const Algorithm = *const sys::cublasLtMatmulAlgo_t,
        *mut c_void = *mut c_void,
        usize = usize,
        *mut c_void = sys::cudaStream_t,
    );
}

/// A `cublasLtMatmulAlgo_t`.
pub(super) type Algorithm = [u64; 8];

/// A `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
#[derive(Default)]
pub(super) struct Heuristic {
    pub(super) algorithm: Algorithm,
    pub(super) work_bytes: usize,
    pub(super) state: Code,
    pub(super) waves: f32,
    reserved: [c_int; 4],
}

const _: () = {
    assert!(size_of::<Algorithm>() == size_of::<sys::cublasLtMatmulAlgo_t>());
    assert!(size_of::<Heuristic>() == size_of::<sys::cublasLtMatmulHeuristicResult_t>());
    assert!(
        std::mem::offset_of!(Heuristic, work_bytes)
            == std::mem::offset_of!(sys::cublasLtMatmulHeuristicResult_t, workspaceSize)
    );
    assert!(
        std::mem::offset_of!(Heuristic, state)
            == std::mem::offset_of!(sys::cublasLtMatmulHeuristicResult_t, state)
    );
};

impl CublasLt {
    /// The file that it was loaded from.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }
}
