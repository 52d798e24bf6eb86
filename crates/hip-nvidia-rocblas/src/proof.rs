//! Compile-time checks that our declarations of cuBLAS's functions match its header, as cudarc declares it.

use super::convert::{Algorithm, AtomicsMode, Compute, DataType, Diagonal, Fill, MathMode};
use super::convert::{Operation, PointerMode, Property, Side};
use super::functions::{Code, Context, StreamTarget};
use cudarc::cublas::sys;
use hip_sys::rocblas::{rocblas_double_complex, rocblas_float_complex};
use std::ffi::c_void;

/// A type of ours that stands for a type of the header.
pub(super) trait Same {
    type Theirs;
}

/// A function that is declared with our types.
pub(super) trait Declared {
    /// The same function with the header's types, from cudarc.
    type Theirs;
}

macro_rules! same {
    ($($ours:ty => $theirs:ty;)*) => {$(
        impl Same for $ours {
            type Theirs = $theirs;
        }
        const _: () = assert!(size_of::<$ours>() == size_of::<$theirs>() || size_of::<$ours>() == 0);
    )*};
}

same! {
    i32 => i32;
    i64 => i64;
    usize => usize;
    f32 => f32;
    f64 => f64;
    c_void => c_void;
    rocblas_float_complex => sys::cuComplex;
    rocblas_double_complex => sys::cuDoubleComplex;
    Context => sys::cublasContext;
    StreamTarget => sys::CUstream_st;
    Operation => sys::cublasOperation_t;
    Fill => sys::cublasFillMode_t;
    Diagonal => sys::cublasDiagType_t;
    Side => sys::cublasSideMode_t;
    DataType => sys::cudaDataType;
    Compute => sys::cublasComputeType_t;
    Algorithm => sys::cublasGemmAlgo_t;
    PointerMode => sys::cublasPointerMode_t;
    AtomicsMode => sys::cublasAtomicsMode_t;
    MathMode => sys::cublasMath_t;
    Property => sys::libraryPropertyType;
}

impl<T: Same> Same for *const T {
    type Theirs = *const T::Theirs;
}

impl<T: Same> Same for *mut T {
    type Theirs = *mut T::Theirs;
}

macro_rules! declared {
    ($first:ident $($rest:ident)*) => {
        impl<$first: Same, $($rest: Same),*> Declared for unsafe extern "C" fn($first, $($rest),*) -> Code {
            type Theirs = unsafe fn($first::Theirs, $($rest::Theirs),*) -> sys::cublasStatus_t;
        }
        declared!($($rest)*);
    };
    () => {};
}

declared!(A B C D E F G H I J K L M N O P Q R S T U V W);
