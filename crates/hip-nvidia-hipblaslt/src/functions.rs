//! cuBLASLt's functions. The compiler compares each with its header, as cudarc declares it.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::cublaslt::sys;
use std::ffi::{c_int, c_void};

/// The result of every function: a `cublasStatus_t`.
pub(super) type Code = u32;
/// A handle or a descriptor.
pub(super) type Raw = *mut c_void;

hip_nvidia::cuda_functions! {
    CublasLt: sys::cublasStatus_t, cublasLtCreate;
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
