//! cuSOLVER's functions. The compiler compares each with its header, as cudarc declares it.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::cusolver::sys;
use hip_sys::LoadError;
use hip_sys::RocblasTable;
use hip_sys::provider::{SharedLibrary, SolverElement};
use hip_sys::rocblas::{rocblas_diagonal, rocblas_fill, rocblas_handle, rocblas_operation};
use hip_sys::rocblas::{rocblas_double_complex as C64, rocblas_float_complex as C32};
use hip_sys::rocblas::{rocblas_side, rocblas_status};
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};

/// The types of C's arguments. Where C has an enumeration we have its number, and where C has a handle, an address.
mod ours {
    pub(crate) type Handle = *mut std::ffi::c_void;
    pub(crate) type Stream = *mut std::ffi::c_void;
    pub(crate) type Status = u32;
    pub(crate) type Operation = u32;
    pub(crate) type Fill = u32;
    pub(crate) type Side = u32;
    pub(crate) type Mode = u32;
    pub(crate) type Problem = u32;
}

/// The header's types.
mod theirs {
    use super::sys;
    pub(crate) type Handle = sys::cusolverDnHandle_t;
    pub(crate) type Stream = sys::cudaStream_t;
    pub(crate) type Status = sys::cusolverStatus_t;
    pub(crate) type Operation = sys::cublasOperation_t;
    pub(crate) type Fill = sys::cublasFillMode_t;
    pub(crate) type Side = sys::cublasSideMode_t;
    pub(crate) type Mode = sys::cusolverEigMode_t;
    pub(crate) type Problem = sys::cusolverEigType_t;
}

/// The size and the alignment of each of ours are those of theirs.
macro_rules! same {
    ($($name:ident)*) => {
        $(const _: () = assert!(
            size_of::<ours::$name>() == size_of::<theirs::$name>() && align_of::<ours::$name>() == align_of::<theirs::$name>()
        );)*
    };
}

same! { Handle Stream Status Operation Fill Side Mode Problem }

pub(crate) use ours::Handle;

/// Compares a type's functions with the header: each name with its arguments.
macro_rules! declared {
    ($module:ident: $T:ty, $R:ty; $($name:ident($($type:ty),*);)*) => {
        #[allow(unused_imports, reason = "not every type is in every list")]
        mod $module {
            use super::theirs::*;
            use super::sys;
            use std::ffi::{c_int, c_schar};
            type T = $T;
            type R = $R;
            $(const _: unsafe fn($($type),*) -> Status = sys::$name;)*
        }
    };
}

/// `field its_name_for_each_of_four_types (arguments);`
macro_rules! functions {
    ($($field:ident $s:ident $d:ident $c:ident $z:ident ($($type:ty),*);)*) => {
        declared! { single: f32, f32; $($s($($type),*);)* }
        declared! { double: f64, f64; $($d($($type),*);)* }
        declared! { single_complex: sys::cuComplex, f32; $($c($($type),*);)* }
        declared! { double_complex: sys::cuDoubleComplex, f64; $($z($($type),*);)* }

        mod table {
            use super::ours::*;
            use std::ffi::{c_int, c_schar};

            /// The functions of one type of element, `T`, whose real numbers are `R`.
            pub(crate) struct Dense<T, R> {
                $(pub(crate) $field: unsafe extern "C" fn($($type),*) -> Status,)*
            }
        }

        #[allow(clippy::missing_transmute_annotations, reason = "the field has the type")]
        fn single(library: &SharedLibrary) -> Result<Dense<f32, f32>, LoadError> {
            // SAFETY: S1: the functions of these names have had these signatures since CUDA 12.0, by the comparisons above.
            unsafe { Ok(Dense { $($field: std::mem::transmute::<*mut c_void, _>(library.required(stringify!($s))?),)* }) }
        }

        #[allow(clippy::missing_transmute_annotations, reason = "the field has the type")]
        fn double(library: &SharedLibrary) -> Result<Dense<f64, f64>, LoadError> {
            // SAFETY: S1: as above.
            unsafe { Ok(Dense { $($field: std::mem::transmute::<*mut c_void, _>(library.required(stringify!($d))?),)* }) }
        }

        #[allow(clippy::missing_transmute_annotations, reason = "the field has the type")]
        fn single_complex(library: &SharedLibrary) -> Result<Dense<C32, f32>, LoadError> {
            // SAFETY: S1: as above; the complex numbers have one layout.
            unsafe { Ok(Dense { $($field: std::mem::transmute::<*mut c_void, _>(library.required(stringify!($c))?),)* }) }
        }

        #[allow(clippy::missing_transmute_annotations, reason = "the field has the type")]
        fn double_complex(library: &SharedLibrary) -> Result<Dense<C64, f64>, LoadError> {
            // SAFETY: S1: as above; the complex numbers have one layout.
            unsafe { Ok(Dense { $($field: std::mem::transmute::<*mut c_void, _>(library.required(stringify!($z))?),)* }) }
        }
    };
}

pub(crate) use table::Dense;

functions! {
    getrf_size cusolverDnSgetrf_bufferSize cusolverDnDgetrf_bufferSize cusolverDnCgetrf_bufferSize cusolverDnZgetrf_bufferSize (Handle, c_int, c_int, *mut T, c_int, *mut c_int);
    getrf cusolverDnSgetrf cusolverDnDgetrf cusolverDnCgetrf cusolverDnZgetrf (Handle, c_int, c_int, *mut T, c_int, *mut T, *mut c_int, *mut c_int);
    getrs cusolverDnSgetrs cusolverDnDgetrs cusolverDnCgetrs cusolverDnZgetrs (Handle, Operation, c_int, c_int, *const T, c_int, *const c_int, *mut T, c_int, *mut c_int);
    potrf_size cusolverDnSpotrf_bufferSize cusolverDnDpotrf_bufferSize cusolverDnCpotrf_bufferSize cusolverDnZpotrf_bufferSize (Handle, Fill, c_int, *mut T, c_int, *mut c_int);
    potrf cusolverDnSpotrf cusolverDnDpotrf cusolverDnCpotrf cusolverDnZpotrf (Handle, Fill, c_int, *mut T, c_int, *mut T, c_int, *mut c_int);
    potrs cusolverDnSpotrs cusolverDnDpotrs cusolverDnCpotrs cusolverDnZpotrs (Handle, Fill, c_int, c_int, *const T, c_int, *mut T, c_int, *mut c_int);
    geqrf_size cusolverDnSgeqrf_bufferSize cusolverDnDgeqrf_bufferSize cusolverDnCgeqrf_bufferSize cusolverDnZgeqrf_bufferSize (Handle, c_int, c_int, *mut T, c_int, *mut c_int);
    geqrf cusolverDnSgeqrf cusolverDnDgeqrf cusolverDnCgeqrf cusolverDnZgeqrf (Handle, c_int, c_int, *mut T, c_int, *mut T, *mut T, c_int, *mut c_int);
    orgqr_size cusolverDnSorgqr_bufferSize cusolverDnDorgqr_bufferSize cusolverDnCungqr_bufferSize cusolverDnZungqr_bufferSize (Handle, c_int, c_int, c_int, *const T, c_int, *const T, *mut c_int);
    orgqr cusolverDnSorgqr cusolverDnDorgqr cusolverDnCungqr cusolverDnZungqr (Handle, c_int, c_int, c_int, *mut T, c_int, *const T, *mut T, c_int, *mut c_int);
    ormqr_size cusolverDnSormqr_bufferSize cusolverDnDormqr_bufferSize cusolverDnCunmqr_bufferSize cusolverDnZunmqr_bufferSize (Handle, Side, Operation, c_int, c_int, c_int, *const T, c_int, *const T, *const T, c_int, *mut c_int);
    ormqr cusolverDnSormqr cusolverDnDormqr cusolverDnCunmqr cusolverDnZunmqr (Handle, Side, Operation, c_int, c_int, c_int, *const T, c_int, *const T, *mut T, c_int, *mut T, c_int, *mut c_int);
    gesvd_size cusolverDnSgesvd_bufferSize cusolverDnDgesvd_bufferSize cusolverDnCgesvd_bufferSize cusolverDnZgesvd_bufferSize (Handle, c_int, c_int, *mut c_int);
    gesvd cusolverDnSgesvd cusolverDnDgesvd cusolverDnCgesvd cusolverDnZgesvd (Handle, c_schar, c_schar, c_int, c_int, *mut T, c_int, *mut R, *mut T, c_int, *mut T, c_int, *mut T, c_int, *mut R, *mut c_int);
    syevd_size cusolverDnSsyevd_bufferSize cusolverDnDsyevd_bufferSize cusolverDnCheevd_bufferSize cusolverDnZheevd_bufferSize (Handle, Mode, Fill, c_int, *const T, c_int, *const R, *mut c_int);
    syevd cusolverDnSsyevd cusolverDnDsyevd cusolverDnCheevd cusolverDnZheevd (Handle, Mode, Fill, c_int, *mut T, c_int, *mut R, *mut T, c_int, *mut c_int);
    sygvd_size cusolverDnSsygvd_bufferSize cusolverDnDsygvd_bufferSize cusolverDnChegvd_bufferSize cusolverDnZhegvd_bufferSize (Handle, Problem, Mode, Fill, c_int, *const T, c_int, *const T, c_int, *const R, *mut c_int);
    sygvd cusolverDnSsygvd cusolverDnDsygvd cusolverDnChegvd cusolverDnZhegvd (Handle, Problem, Mode, Fill, c_int, *mut T, c_int, *mut T, c_int, *mut R, *mut T, c_int, *mut c_int);
}

/// `cusolverDnXtrtri` and the sizes of its work memory.
type Trtri = unsafe extern "C" fn(
    ours::Handle,
    ours::Fill,
    u32,
    i64,
    u32,
    *mut c_void,
    i64,
    *mut c_void,
    usize,
    *mut c_void,
    usize,
    *mut c_int,
) -> ours::Status;
type TrtriSize = unsafe extern "C" fn(
    ours::Handle,
    ours::Fill,
    u32,
    i64,
    u32,
    *mut c_void,
    i64,
    *mut usize,
    *mut usize,
) -> ours::Status;

#[allow(clippy::type_complexity, reason = "it is C's")]
const _: unsafe fn(
    theirs::Handle,
    theirs::Fill,
    sys::cublasDiagType_t,
    i64,
    sys::cudaDataType,
    *mut c_void,
    i64,
    *mut c_void,
    usize,
    *mut c_void,
    usize,
    *mut c_int,
) -> theirs::Status = sys::cusolverDnXtrtri;
#[allow(clippy::type_complexity, reason = "it is C's")]
const _: unsafe fn(
    theirs::Handle,
    theirs::Fill,
    sys::cublasDiagType_t,
    i64,
    sys::cudaDataType,
    *mut c_void,
    i64,
    *mut usize,
    *mut usize,
) -> theirs::Status = sys::cusolverDnXtrtri_bufferSize;
const _: () = assert!(size_of::<sys::cublasDiagType_t>() == 4 && size_of::<sys::cudaDataType>() == 4);

const _: unsafe fn(*mut theirs::Handle) -> theirs::Status = sys::cusolverDnCreate;
const _: unsafe fn(theirs::Handle) -> theirs::Status = sys::cusolverDnDestroy;
const _: unsafe fn(theirs::Handle, theirs::Stream) -> theirs::Status = sys::cusolverDnSetStream;

/// The functions of handles, and those of each type.
pub(crate) struct Cusolver {
    pub(crate) create: unsafe extern "C" fn(*mut ours::Handle) -> ours::Status,
    pub(crate) destroy: unsafe extern "C" fn(ours::Handle) -> ours::Status,
    pub(crate) set_stream: unsafe extern "C" fn(ours::Handle, ours::Stream) -> ours::Status,
    pub(crate) trtri: Trtri,
    pub(crate) trtri_size: TrtriSize,
    single: Dense<f32, f32>,
    double: Dense<f64, f64>,
    single_complex: Dense<C32, f32>,
    double_complex: Dense<C64, f64>,
    file: PathBuf,
}

/// rocBLAS's `geam` of a type.
type Geam<T> = unsafe extern "C" fn(
    rocblas_handle,
    rocblas_operation,
    rocblas_operation,
    i32,
    i32,
    *const T,
    *const T,
    i32,
    *const T,
    *const T,
    i32,
    *mut T,
    i32,
) -> rocblas_status;
/// rocBLAS's `trsm` of a type.
type Trsm<T> = unsafe extern "C" fn(
    rocblas_handle,
    rocblas_side,
    rocblas_fill,
    rocblas_operation,
    rocblas_diagonal,
    i32,
    i32,
    *const T,
    *const T,
    i32,
    *mut T,
    i32,
) -> rocblas_status;

/// A type of element that cuSOLVER has functions for.
pub(crate) trait Element: SolverElement {
    const COMPLEX: bool;
    const ZERO: Self;
    const ONE: Self;
    /// The last 32 bits of the real number one; the others are zero.
    const LAST_WORD_OF_ONE: u32;
    /// A `cudaDataType`.
    const DATA_TYPE: u32;

    fn functions(cusolver: &Cusolver) -> &Dense<Self, Self::Real>;
    fn geam(table: &RocblasTable) -> Geam<Self>;
    fn trsm(table: &RocblasTable) -> Trsm<Self>;
}

macro_rules! element {
    ($($T:ty, $field:ident, $complex:literal, [$zero:expr, $one:expr], $word:expr, $data_type:ident, $geam:ident, $trsm:ident;)*) => {$(
        impl Element for $T {
            const COMPLEX: bool = $complex;
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const LAST_WORD_OF_ONE: u32 = $word;
            const DATA_TYPE: u32 = sys::cudaDataType_t::$data_type as u32;

            fn functions(cusolver: &Cusolver) -> &Dense<Self, Self::Real> {
                &cusolver.$field
            }

            fn geam(table: &RocblasTable) -> Geam<Self> {
                table.$geam
            }

            fn trsm(table: &RocblasTable) -> Trsm<Self> {
                table.$trsm
            }
        }
    )*};
}

const SINGLE: u32 = 1.0_f32.to_bits();
const DOUBLE: u32 = (1.0_f64.to_bits() >> 32) as u32;

element! {
    f32, single, false, [0.0, 1.0], SINGLE, CUDA_R_32F, rocblas_sgeam, rocblas_strsm;
    f64, double, false, [0.0, 1.0], DOUBLE, CUDA_R_64F, rocblas_dgeam, rocblas_dtrsm;
    C32, single_complex, true, [C32 { x: 0.0, y: 0.0 }, C32 { x: 1.0, y: 0.0 }], SINGLE, CUDA_C_32F, rocblas_cgeam, rocblas_ctrsm;
    C64, double_complex, true, [C64 { x: 0.0, y: 0.0 }, C64 { x: 1.0, y: 0.0 }], DOUBLE, CUDA_C_64F, rocblas_zgeam, rocblas_ztrsm;
}

impl Cusolver {
    pub(crate) fn fill(library: &SharedLibrary) -> Result<Self, LoadError> {
        let create = library.required("cusolverDnCreate")?;
        // SAFETY: S1: the functions of these names have had these signatures since CUDA 12.0, by the comparisons above.
        unsafe {
            Ok(Self {
                create: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut ours::Handle) -> ours::Status,
                >(create),
                destroy: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(ours::Handle) -> ours::Status>(
                    library.required("cusolverDnDestroy")?,
                ),
                set_stream: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(ours::Handle, ours::Stream) -> ours::Status,
                >(library.required("cusolverDnSetStream")?),
                trtri: std::mem::transmute::<*mut c_void, Trtri>(library.required("cusolverDnXtrtri")?),
                trtri_size: std::mem::transmute::<*mut c_void, TrtriSize>(
                    library.required("cusolverDnXtrtri_bufferSize")?,
                ),
                single: single(library)?,
                double: double(library)?,
                single_complex: single_complex(library)?,
                double_complex: double_complex(library)?,
                file: library.file(create),
            })
        }
    }

    /// The file that it was loaded from.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }
}
