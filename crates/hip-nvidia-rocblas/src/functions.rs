//! cuBLAS's functions, with rocBLAS's types for the same arguments. Each operation is a trait that [`Cublas`] implements for every
//! size width and element type that cuBLAS has.
#![allow(non_snake_case, reason = "CUDA's names")]

use super::convert::{Algorithm, AtomicsMode, Compute, DataType, Diagonal, Fill, MathMode};
use super::convert::{Operation, PointerMode, Property, Side};
use super::proof::Declared;
use cudarc::cublas::sys;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use hip_sys::rocblas::rocblas_double_complex as C64;
use hip_sys::rocblas::rocblas_float_complex as C32;
use std::ffi::{c_int, c_void};
use std::path::PathBuf;

/// The result of every function: a `cublasStatus_t`.
pub(super) type Code = u32;
/// A `cublasHandle_t`.
pub(super) type Raw = *mut Context;
/// A `cudaStream_t`, which is a `CUstream`.
pub(super) type Stream = *mut StreamTarget;

/// What a handle points to.
#[repr(C)]
pub(super) struct Context([u8; 0]);

/// What a stream's handle points to.
#[repr(C)]
pub(super) struct StreamTarget([u8; 0]);

macro_rules! functions {
    (
        single { $($single:ident($($given:ty),*);)* }
        $($(#[$doc:meta])* $Call:ident.$method:ident<$($G:ident),*>($($argument:ty),*) {
            $(<$($T:ty),*> $narrow:ident $wide:ident;)*
        })*
    ) => {
        /// The signature of each operation, generic over its types.
        mod signatures {
            use super::*;
            $(pub(in super::super) type $Call<$($G),*> = unsafe extern "C" fn(Raw, $($argument),*) -> Code;)*
        }

        $(
            $(#[$doc])*
            pub(super) trait $Call<$($G),*> {
                fn $method(&self) -> signatures::$Call<$($G),*>;
            }
            $(
                impl $Call<i32, $($T),*> for Cublas {
                    fn $method(&self) -> signatures::$Call<i32, $($T),*> {
                        self.$narrow
                    }
                }
                impl $Call<i64, $($T),*> for Cublas {
                    fn $method(&self) -> signatures::$Call<i64, $($T),*> {
                        self.$wide
                    }
                }
                const _: <signatures::$Call<i32, $($T),*> as Declared>::Theirs = sys::$narrow;
                const _: <signatures::$Call<i64, $($T),*> as Declared>::Theirs = sys::$wide;
            )*
        )*
        $(const _: <unsafe extern "C" fn($($given),*) -> Code as Declared>::Theirs = sys::$single;)*

        /// The functions. Each field has its C function's name.
        pub(super) struct Cublas {
            $(pub(super) $single: unsafe extern "C" fn($($given),*) -> Code,)*
            $($(
                $narrow: signatures::$Call<i32, $($T),*>,
                $wide: signatures::$Call<i64, $($T),*>,
            )*)*
            file: PathBuf,
        }

        /// Their names.
        #[cfg(test)]
        const SYMBOLS: &[&str] = &[
            $(stringify!($single),)*
            $($(stringify!($narrow), stringify!($wide),)*)*
        ];

        impl Cublas {
            pub(super) fn fill(library: &SharedLibrary) -> Result<Self, LoadError> {
                // SAFETY: S1: the functions of these names have had these signatures since CUDA 12.0, by the proofs above.
                unsafe {
                    Ok(Self {
                        $($single: std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($given),*) -> Code,
                        >(library.required(stringify!($single))?),)*
                        $($(
                            $narrow: std::mem::transmute::<*mut c_void, signatures::$Call<i32, $($T),*>>(
                                library.required(stringify!($narrow))?,
                            ),
                            $wide: std::mem::transmute::<*mut c_void, signatures::$Call<i64, $($T),*>>(
                                library.required(stringify!($wide))?,
                            ),
                        )*)*
                        file: library.file(library.required("cublasCreate_v2")?),
                    })
                }
            }
        }
    };
}

functions! {
    single {
        cublasCreate_v2(*mut Raw);
        cublasDestroy_v2(Raw);
        cublasSetStream_v2(Raw, Stream);
        cublasSetWorkspace_v2(Raw, *mut c_void, usize);
        cublasSetPointerMode_v2(Raw, PointerMode);
        cublasSetAtomicsMode(Raw, AtomicsMode);
        cublasSetMathMode(Raw, MathMode);
        cublasGetProperty(Property, *mut c_int);
        cublasSrotg_v2(Raw, *mut f32, *mut f32, *mut f32, *mut f32);
        cublasDrotg_v2(Raw, *mut f64, *mut f64, *mut f64, *mut f64);
        cublasCrotg_v2(Raw, *mut C32, *mut C32, *mut f32, *mut C32);
        cublasZrotg_v2(Raw, *mut C64, *mut C64, *mut f64, *mut C64);
    }

    /// `y += alpha x`
    Axpy.axpy<I, T>(I, *const T, *const T, I, *mut T, I) {
        <f32> cublasSaxpy_v2 cublasSaxpy_v2_64;
        <f64> cublasDaxpy_v2 cublasDaxpy_v2_64;
        <C32> cublasCaxpy_v2 cublasCaxpy_v2_64;
        <C64> cublasZaxpy_v2 cublasZaxpy_v2_64;
    }
    /// `x *= alpha`
    Scal.scal<I, S, T>(I, *const S, *mut T, I) {
        <f32, f32> cublasSscal_v2 cublasSscal_v2_64;
        <f64, f64> cublasDscal_v2 cublasDscal_v2_64;
        <C32, C32> cublasCscal_v2 cublasCscal_v2_64;
        <C64, C64> cublasZscal_v2 cublasZscal_v2_64;
        <f32, C32> cublasCsscal_v2 cublasCsscal_v2_64;
        <f64, C64> cublasZdscal_v2 cublasZdscal_v2_64;
    }
    /// `y = x`
    CopyTo.copy_to<I, T>(I, *const T, I, *mut T, I) {
        <f32> cublasScopy_v2 cublasScopy_v2_64;
        <f64> cublasDcopy_v2 cublasDcopy_v2_64;
        <C32> cublasCcopy_v2 cublasCcopy_v2_64;
        <C64> cublasZcopy_v2 cublasZcopy_v2_64;
    }
    /// `x` and `y` are exchanged.
    Swap.swap<I, T>(I, *mut T, I, *mut T, I) {
        <f32> cublasSswap_v2 cublasSswap_v2_64;
        <f64> cublasDswap_v2 cublasDswap_v2_64;
        <C32> cublasCswap_v2 cublasCswap_v2_64;
        <C64> cublasZswap_v2 cublasZswap_v2_64;
    }
    /// The sum of `x y`
    Dot.dot<I, T>(I, *const T, I, *const T, I, *mut T) {
        <f32> cublasSdot_v2 cublasSdot_v2_64;
        <f64> cublasDdot_v2 cublasDdot_v2_64;
        <C32> cublasCdotu_v2 cublasCdotu_v2_64;
        <C64> cublasZdotu_v2 cublasZdotu_v2_64;
    }
    /// The sum of `conj(x) y`
    Dotc.dotc<I, T>(I, *const T, I, *const T, I, *mut T) {
        <C32> cublasCdotc_v2 cublasCdotc_v2_64;
        <C64> cublasZdotc_v2 cublasZdotc_v2_64;
    }
    /// The Euclidean norm
    Nrm2.nrm2<I, T, R>(I, *const T, I, *mut R) {
        <f32, f32> cublasSnrm2_v2 cublasSnrm2_v2_64;
        <f64, f64> cublasDnrm2_v2 cublasDnrm2_v2_64;
        <C32, f32> cublasScnrm2_v2 cublasScnrm2_v2_64;
        <C64, f64> cublasDznrm2_v2 cublasDznrm2_v2_64;
    }
    /// The sum of the magnitudes
    Asum.asum<I, T, R>(I, *const T, I, *mut R) {
        <f32, f32> cublasSasum_v2 cublasSasum_v2_64;
        <f64, f64> cublasDasum_v2 cublasDasum_v2_64;
        <C32, f32> cublasScasum_v2 cublasScasum_v2_64;
        <C64, f64> cublasDzasum_v2 cublasDzasum_v2_64;
    }
    /// The index of the greatest magnitude, from 1
    Amax.amax<I, T>(I, *const T, I, *mut I) {
        <f32> cublasIsamax_v2 cublasIsamax_v2_64;
        <f64> cublasIdamax_v2 cublasIdamax_v2_64;
        <C32> cublasIcamax_v2 cublasIcamax_v2_64;
        <C64> cublasIzamax_v2 cublasIzamax_v2_64;
    }
    /// The index of the least magnitude, from 1
    Amin.amin<I, T>(I, *const T, I, *mut I) {
        <f32> cublasIsamin_v2 cublasIsamin_v2_64;
        <f64> cublasIdamin_v2 cublasIdamin_v2_64;
        <C32> cublasIcamin_v2 cublasIcamin_v2_64;
        <C64> cublasIzamin_v2 cublasIzamin_v2_64;
    }
    /// A rotation in the plane
    Rot.rot<I, T, C, S>(I, *mut T, I, *mut T, I, *const C, *const S) {
        <f32, f32, f32> cublasSrot_v2 cublasSrot_v2_64;
        <f64, f64, f64> cublasDrot_v2 cublasDrot_v2_64;
        <C32, f32, C32> cublasCrot_v2 cublasCrot_v2_64;
        <C64, f64, C64> cublasZrot_v2 cublasZrot_v2_64;
        <C32, f32, f32> cublasCsrot_v2 cublasCsrot_v2_64;
        <C64, f64, f64> cublasZdrot_v2 cublasZdrot_v2_64;
    }

    /// `y = alpha A x + beta y`
    Gemv.gemv<I, T>(Operation, I, I, *const T, *const T, I, *const T, I, *const T, *mut T, I) {
        <f32> cublasSgemv_v2 cublasSgemv_v2_64;
        <f64> cublasDgemv_v2 cublasDgemv_v2_64;
        <C32> cublasCgemv_v2 cublasCgemv_v2_64;
        <C64> cublasZgemv_v2 cublasZgemv_v2_64;
    }
    /// The same for a strided batch
    GemvStrided.gemv_strided<I, T>(Operation, I, I, *const T, *const T, I, i64, *const T, I, i64, *const T, *mut T, I, i64, I) {
        <f32> cublasSgemvStridedBatched cublasSgemvStridedBatched_64;
        <f64> cublasDgemvStridedBatched cublasDgemvStridedBatched_64;
        <C32> cublasCgemvStridedBatched cublasCgemvStridedBatched_64;
        <C64> cublasZgemvStridedBatched cublasZgemvStridedBatched_64;
    }
    /// The same for a batch by addresses
    GemvBatched.gemv_batched<I, T>(Operation, I, I, *const T, *const *const T, I, *const *const T, I, *const T, *const *mut T, I, I) {
        <f32> cublasSgemvBatched cublasSgemvBatched_64;
        <f64> cublasDgemvBatched cublasDgemvBatched_64;
        <C32> cublasCgemvBatched cublasCgemvBatched_64;
        <C64> cublasZgemvBatched cublasZgemvBatched_64;
    }
    /// `gemv` of a band matrix
    Gbmv.gbmv<I, T>(Operation, I, I, I, I, *const T, *const T, I, *const T, I, *const T, *mut T, I) {
        <f32> cublasSgbmv_v2 cublasSgbmv_v2_64;
        <f64> cublasDgbmv_v2 cublasDgbmv_v2_64;
        <C32> cublasCgbmv_v2 cublasCgbmv_v2_64;
        <C64> cublasZgbmv_v2 cublasZgbmv_v2_64;
    }
    /// `gemv` of a symmetric matrix
    Symv.symv<I, T>(Fill, I, *const T, *const T, I, *const T, I, *const T, *mut T, I) {
        <f32> cublasSsymv_v2 cublasSsymv_v2_64;
        <f64> cublasDsymv_v2 cublasDsymv_v2_64;
        <C32> cublasCsymv_v2 cublasCsymv_v2_64;
        <C64> cublasZsymv_v2 cublasZsymv_v2_64;
    }
    /// `A += alpha x y^T`
    Ger.ger<I, T>(I, I, *const T, *const T, I, *const T, I, *mut T, I) {
        <f32> cublasSger_v2 cublasSger_v2_64;
        <f64> cublasDger_v2 cublasDger_v2_64;
        <C32> cublasCgeru_v2 cublasCgeru_v2_64;
        <C64> cublasZgeru_v2 cublasZgeru_v2_64;
    }
    /// `A += alpha x y^H`
    Gerc.gerc<I, T>(I, I, *const T, *const T, I, *const T, I, *mut T, I) {
        <C32> cublasCgerc_v2 cublasCgerc_v2_64;
        <C64> cublasZgerc_v2 cublasZgerc_v2_64;
    }
    /// `A += alpha x x^T`, one triangle of it
    Syr.syr<I, T>(Fill, I, *const T, *const T, I, *mut T, I) {
        <f32> cublasSsyr_v2 cublasSsyr_v2_64;
        <f64> cublasDsyr_v2 cublasDsyr_v2_64;
        <C32> cublasCsyr_v2 cublasCsyr_v2_64;
        <C64> cublasZsyr_v2 cublasZsyr_v2_64;
    }
    /// `x = A x` of a triangular matrix
    Trmv.trmv<I, T>(Fill, Operation, Diagonal, I, *const T, I, *mut T, I) {
        <f32> cublasStrmv_v2 cublasStrmv_v2_64;
        <f64> cublasDtrmv_v2 cublasDtrmv_v2_64;
        <C32> cublasCtrmv_v2 cublasCtrmv_v2_64;
        <C64> cublasZtrmv_v2 cublasZtrmv_v2_64;
    }
    /// `A x = b` of a triangular matrix, for `x`
    Trsv.trsv<I, T>(Fill, Operation, Diagonal, I, *const T, I, *mut T, I) {
        <f32> cublasStrsv_v2 cublasStrsv_v2_64;
        <f64> cublasDtrsv_v2 cublasDtrsv_v2_64;
        <C32> cublasCtrsv_v2 cublasCtrsv_v2_64;
        <C64> cublasZtrsv_v2 cublasZtrsv_v2_64;
    }

    /// `C = alpha A B + beta C`
    Gemm.gemm<I, T>(Operation, Operation, I, I, I, *const T, *const T, I, *const T, I, *const T, *mut T, I) {
        <f32> cublasSgemm_v2 cublasSgemm_v2_64;
        <f64> cublasDgemm_v2 cublasDgemm_v2_64;
        <C32> cublasCgemm_v2 cublasCgemm_v2_64;
        <C64> cublasZgemm_v2 cublasZgemm_v2_64;
    }
    /// The same for a strided batch
    GemmStrided.gemm_strided<I, T>(Operation, Operation, I, I, I, *const T, *const T, I, i64, *const T, I, i64, *const T, *mut T, I, i64, I) {
        <f32> cublasSgemmStridedBatched cublasSgemmStridedBatched_64;
        <f64> cublasDgemmStridedBatched cublasDgemmStridedBatched_64;
        <C32> cublasCgemmStridedBatched cublasCgemmStridedBatched_64;
        <C64> cublasZgemmStridedBatched cublasZgemmStridedBatched_64;
    }
    /// The same for a batch by addresses
    GemmBatched.gemm_batched<I, T>(Operation, Operation, I, I, I, *const T, *const *const T, I, *const *const T, I, *const T, *const *mut T, I, I) {
        <f32> cublasSgemmBatched cublasSgemmBatched_64;
        <f64> cublasDgemmBatched cublasDgemmBatched_64;
        <C32> cublasCgemmBatched cublasCgemmBatched_64;
        <C64> cublasZgemmBatched cublasZgemmBatched_64;
    }
    /// `gemm` of a symmetric matrix
    Symm.symm<I, T>(Side, Fill, I, I, *const T, *const T, I, *const T, I, *const T, *mut T, I) {
        <f32> cublasSsymm_v2 cublasSsymm_v2_64;
        <f64> cublasDsymm_v2 cublasDsymm_v2_64;
        <C32> cublasCsymm_v2 cublasCsymm_v2_64;
        <C64> cublasZsymm_v2 cublasZsymm_v2_64;
    }
    /// `C = alpha A A^T + beta C`, or with the conjugate where the scalars are real and the elements complex; one triangle of it
    Syrk.syrk<I, S, T>(Fill, Operation, I, I, *const S, *const T, I, *const S, *mut T, I) {
        <f32, f32> cublasSsyrk_v2 cublasSsyrk_v2_64;
        <f64, f64> cublasDsyrk_v2 cublasDsyrk_v2_64;
        <C32, C32> cublasCsyrk_v2 cublasCsyrk_v2_64;
        <C64, C64> cublasZsyrk_v2 cublasZsyrk_v2_64;
        <f32, C32> cublasCherk_v2 cublasCherk_v2_64;
        <f64, C64> cublasZherk_v2 cublasZherk_v2_64;
    }
    /// `C = alpha A B` of a triangular matrix
    Trmm.trmm<I, T>(Side, Fill, Operation, Diagonal, I, I, *const T, *const T, I, *const T, I, *mut T, I) {
        <f32> cublasStrmm_v2 cublasStrmm_v2_64;
        <f64> cublasDtrmm_v2 cublasDtrmm_v2_64;
        <C32> cublasCtrmm_v2 cublasCtrmm_v2_64;
        <C64> cublasZtrmm_v2 cublasZtrmm_v2_64;
    }
    /// `A X = alpha B` of a triangular matrix, for `X`
    Trsm.trsm<I, T>(Side, Fill, Operation, Diagonal, I, I, *const T, *const T, I, *mut T, I) {
        <f32> cublasStrsm_v2 cublasStrsm_v2_64;
        <f64> cublasDtrsm_v2 cublasDtrsm_v2_64;
        <C32> cublasCtrsm_v2 cublasCtrsm_v2_64;
        <C64> cublasZtrsm_v2 cublasZtrsm_v2_64;
    }
    /// The same for a batch by addresses
    TrsmBatched.trsm_batched<I, T>(Side, Fill, Operation, Diagonal, I, I, *const T, *const *const T, I, *const *mut T, I, I) {
        <f32> cublasStrsmBatched cublasStrsmBatched_64;
        <f64> cublasDtrsmBatched cublasDtrsmBatched_64;
        <C32> cublasCtrsmBatched cublasCtrsmBatched_64;
        <C64> cublasZtrsmBatched cublasZtrsmBatched_64;
    }
    /// `C = alpha A + beta B`
    Geam.geam<I, T>(Operation, Operation, I, I, *const T, *const T, I, *const T, *const T, I, *mut T, I) {
        <f32> cublasSgeam cublasSgeam_64;
        <f64> cublasDgeam cublasDgeam_64;
        <C32> cublasCgeam cublasCgeam_64;
        <C64> cublasZgeam cublasZgeam_64;
    }
    /// `C = A diag(x)`
    Dgmm.dgmm<I, T>(Side, I, I, *const T, I, *const T, I, *mut T, I) {
        <f32> cublasSdgmm cublasSdgmm_64;
        <f64> cublasDdgmm cublasDdgmm_64;
        <C32> cublasCdgmm cublasCdgmm_64;
        <C64> cublasZdgmm cublasZdgmm_64;
    }

    /// `axpy` with types as arguments
    AxpyEx.axpy_ex<I>(I, *const c_void, DataType, *const c_void, DataType, I, *mut c_void, DataType, I, DataType) {
        <> cublasAxpyEx cublasAxpyEx_64;
    }
    /// `dot` with types as arguments
    DotEx.dot_ex<I>(I, *const c_void, DataType, I, *const c_void, DataType, I, *mut c_void, DataType, DataType) {
        <> cublasDotEx cublasDotEx_64;
    }
    /// `dotc` with types as arguments
    DotcEx.dotc_ex<I>(I, *const c_void, DataType, I, *const c_void, DataType, I, *mut c_void, DataType, DataType) {
        <> cublasDotcEx cublasDotcEx_64;
    }
    /// `nrm2` with types as arguments
    Nrm2Ex.nrm2_ex<I>(I, *const c_void, DataType, I, *mut c_void, DataType, DataType) {
        <> cublasNrm2Ex cublasNrm2Ex_64;
    }
    /// `rot` with types as arguments
    RotEx.rot_ex<I>(I, *mut c_void, DataType, I, *mut c_void, DataType, I, *const c_void, *const c_void, DataType, DataType) {
        <> cublasRotEx cublasRotEx_64;
    }
    /// `scal` with types as arguments
    ScalEx.scal_ex<I>(I, *const c_void, DataType, *mut c_void, DataType, I, DataType) {
        <> cublasScalEx cublasScalEx_64;
    }
    /// `gemm` with types as arguments
    GemmEx.gemm_ex<I>(Operation, Operation, I, I, I, *const c_void, *const c_void, DataType, I, *const c_void, DataType, I, *const c_void, *mut c_void, DataType, I, Compute, Algorithm) {
        <> cublasGemmEx cublasGemmEx_64;
    }
    /// The same for a strided batch
    GemmStridedEx.gemm_strided_ex<I>(Operation, Operation, I, I, I, *const c_void, *const c_void, DataType, I, i64, *const c_void, DataType, I, i64, *const c_void, *mut c_void, DataType, I, i64, I, Compute, Algorithm) {
        <> cublasGemmStridedBatchedEx cublasGemmStridedBatchedEx_64;
    }
    /// The same for a batch by addresses
    GemmBatchedEx.gemm_batched_ex<I>(Operation, Operation, I, I, I, *const c_void, *const *const c_void, DataType, I, *const *const c_void, DataType, I, *const c_void, *const *mut c_void, DataType, I, I, Compute, Algorithm) {
        <> cublasGemmBatchedEx cublasGemmBatchedEx_64;
    }
}

impl Cublas {
    /// The library's file.
    pub(super) fn file(&self) -> &std::path::Path {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Needs `HIPSTACK_CUBLAS` to name the file of a real cuBLAS. No GPU is needed.
    #[test]
    fn a_real_library_has_every_function() {
        let Some(file) = std::env::var_os("HIPSTACK_CUBLAS") else { return };
        let library = SharedLibrary::open("cuBLAS", "", vec![PathBuf::from(file)]).unwrap();
        let missing: Vec<_> = SYMBOLS.iter().filter(|symbol| library.address(symbol).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let cublas = Cublas::fill(&library).unwrap();
        let mut major = 0;
        // SAFETY: S1: a live variable.
        assert_eq!(unsafe { (cublas.cublasGetProperty)(Property(0), &mut major) }, 0);
        assert!(major >= 12, "{major}");
    }
}
