//! cuSPARSE's functions. The compiler compares each with its header, as cudarc declares it.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::cusparse::sys;
use std::ffi::{c_int, c_void};

/// The result of every function: a `cusparseStatus_t`.
pub(super) type Code = u32;
/// A handle or a descriptor.
pub(super) type Raw = *mut c_void;
/// A value of an enumeration.
pub(super) type Number = u32;

hip_nvidia::cuda_functions! {
    Cusparse: sys::cusparseStatus_t, cusparseCreate;
    cusparseCreate(*mut Raw = *mut sys::cusparseHandle_t);
    cusparseDestroy(Raw = sys::cusparseHandle_t);
    cusparseSetStream(Raw = sys::cusparseHandle_t, Raw = sys::cudaStream_t);
    cusparseCreateCsr(
        *mut Raw = *mut sys::cusparseSpMatDescr_t, i64 = i64, i64 = i64, i64 = i64, *mut c_void = *mut c_void,
        *mut c_void = *mut c_void, *mut c_void = *mut c_void, Number = sys::cusparseIndexType_t,
        Number = sys::cusparseIndexType_t, Number = sys::cusparseIndexBase_t, Number = sys::cudaDataType,
    );
    cusparseCreateCsc(
        *mut Raw = *mut sys::cusparseSpMatDescr_t, i64 = i64, i64 = i64, i64 = i64, *mut c_void = *mut c_void,
        *mut c_void = *mut c_void, *mut c_void = *mut c_void, Number = sys::cusparseIndexType_t,
        Number = sys::cusparseIndexType_t, Number = sys::cusparseIndexBase_t, Number = sys::cudaDataType,
    );
    cusparseCreateCoo(
        *mut Raw = *mut sys::cusparseSpMatDescr_t, i64 = i64, i64 = i64, i64 = i64, *mut c_void = *mut c_void,
        *mut c_void = *mut c_void, *mut c_void = *mut c_void, Number = sys::cusparseIndexType_t,
        Number = sys::cusparseIndexBase_t, Number = sys::cudaDataType,
    );
    cusparseDestroySpMat(Raw = sys::cusparseConstSpMatDescr_t);
    cusparseSpMatSetAttribute(
        Raw = sys::cusparseSpMatDescr_t, Number = sys::cusparseSpMatAttribute_t, *mut c_void = *mut c_void, usize = usize,
    );
    cusparseSpMatGetSize(
        Raw = sys::cusparseConstSpMatDescr_t, *mut i64 = *mut i64, *mut i64 = *mut i64, *mut i64 = *mut i64,
    );
    cusparseCsrSetPointers(
        Raw = sys::cusparseSpMatDescr_t, *mut c_void = *mut c_void, *mut c_void = *mut c_void, *mut c_void = *mut c_void,
    );
    cusparseCscSetPointers(
        Raw = sys::cusparseSpMatDescr_t, *mut c_void = *mut c_void, *mut c_void = *mut c_void, *mut c_void = *mut c_void,
    );
    cusparseCooSetPointers(
        Raw = sys::cusparseSpMatDescr_t, *mut c_void = *mut c_void, *mut c_void = *mut c_void, *mut c_void = *mut c_void,
    );
    cusparseCreateDnVec(
        *mut Raw = *mut sys::cusparseDnVecDescr_t, i64 = i64, *mut c_void = *mut c_void, Number = sys::cudaDataType,
    );
    cusparseDestroyDnVec(Raw = sys::cusparseConstDnVecDescr_t);
    cusparseCreateDnMat(
        *mut Raw = *mut sys::cusparseDnMatDescr_t, i64 = i64, i64 = i64, i64 = i64, *mut c_void = *mut c_void,
        Number = sys::cudaDataType, Number = sys::cusparseOrder_t,
    );
    cusparseDestroyDnMat(Raw = sys::cusparseConstDnMatDescr_t);
    cusparseCreateSpVec(
        *mut Raw = *mut sys::cusparseSpVecDescr_t, i64 = i64, i64 = i64, *mut c_void = *mut c_void,
        *mut c_void = *mut c_void, Number = sys::cusparseIndexType_t, Number = sys::cusparseIndexBase_t,
        Number = sys::cudaDataType,
    );
    cusparseDestroySpVec(Raw = sys::cusparseConstSpVecDescr_t);
    cusparseSpMV_bufferSize(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, *const c_void = *const c_void,
        Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnVecDescr_t, *const c_void = *const c_void,
        Raw = sys::cusparseDnVecDescr_t, Number = sys::cudaDataType, Number = sys::cusparseSpMVAlg_t,
        *mut usize = *mut usize,
    );
    cusparseSpMV(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, *const c_void = *const c_void,
        Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnVecDescr_t, *const c_void = *const c_void,
        Raw = sys::cusparseDnVecDescr_t, Number = sys::cudaDataType, Number = sys::cusparseSpMVAlg_t,
        *mut c_void = *mut c_void,
    );
    cusparseSpMM_bufferSize(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        *const c_void = *const c_void, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnMatDescr_t,
        *const c_void = *const c_void, Raw = sys::cusparseDnMatDescr_t, Number = sys::cudaDataType,
        Number = sys::cusparseSpMMAlg_t, *mut usize = *mut usize,
    );
    cusparseSpMM(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        *const c_void = *const c_void, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnMatDescr_t,
        *const c_void = *const c_void, Raw = sys::cusparseDnMatDescr_t, Number = sys::cudaDataType,
        Number = sys::cusparseSpMMAlg_t, *mut c_void = *mut c_void,
    );
    cusparseSpGEMM_createDescr(*mut Raw = *mut sys::cusparseSpGEMMDescr_t);
    cusparseSpGEMM_destroyDescr(Raw = sys::cusparseSpGEMMDescr_t);
    cusparseSpGEMMreuse_workEstimation(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseSpMatDescr_t,
        Number = sys::cusparseSpGEMMAlg_t, Raw = sys::cusparseSpGEMMDescr_t, *mut usize = *mut usize,
        *mut c_void = *mut c_void,
    );
    cusparseSpGEMMreuse_nnz(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseSpMatDescr_t,
        Number = sys::cusparseSpGEMMAlg_t, Raw = sys::cusparseSpGEMMDescr_t, *mut usize = *mut usize,
        *mut c_void = *mut c_void, *mut usize = *mut usize, *mut c_void = *mut c_void, *mut usize = *mut usize,
        *mut c_void = *mut c_void,
    );
    cusparseSpGEMMreuse_copy(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseSpMatDescr_t,
        Number = sys::cusparseSpGEMMAlg_t, Raw = sys::cusparseSpGEMMDescr_t, *mut usize = *mut usize,
        *mut c_void = *mut c_void,
    );
    cusparseSpGEMMreuse_compute(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        *const c_void = *const c_void, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstSpMatDescr_t,
        *const c_void = *const c_void, Raw = sys::cusparseSpMatDescr_t, Number = sys::cudaDataType,
        Number = sys::cusparseSpGEMMAlg_t, Raw = sys::cusparseSpGEMMDescr_t,
    );
    cusparseSDDMM_bufferSize(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        *const c_void = *const c_void, Raw = sys::cusparseConstDnMatDescr_t, Raw = sys::cusparseConstDnMatDescr_t,
        *const c_void = *const c_void, Raw = sys::cusparseSpMatDescr_t, Number = sys::cudaDataType,
        Number = sys::cusparseSDDMMAlg_t, *mut usize = *mut usize,
    );
    cusparseSDDMM(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        *const c_void = *const c_void, Raw = sys::cusparseConstDnMatDescr_t, Raw = sys::cusparseConstDnMatDescr_t,
        *const c_void = *const c_void, Raw = sys::cusparseSpMatDescr_t, Number = sys::cudaDataType,
        Number = sys::cusparseSDDMMAlg_t, *mut c_void = *mut c_void,
    );
    cusparseSpSV_createDescr(*mut Raw = *mut sys::cusparseSpSVDescr_t);
    cusparseSpSV_destroyDescr(Raw = sys::cusparseSpSVDescr_t);
    cusparseSpSV_bufferSize(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, *const c_void = *const c_void,
        Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnVecDescr_t, Raw = sys::cusparseDnVecDescr_t,
        Number = sys::cudaDataType, Number = sys::cusparseSpSVAlg_t, Raw = sys::cusparseSpSVDescr_t,
        *mut usize = *mut usize,
    );
    cusparseSpSV_analysis(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, *const c_void = *const c_void,
        Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnVecDescr_t, Raw = sys::cusparseDnVecDescr_t,
        Number = sys::cudaDataType, Number = sys::cusparseSpSVAlg_t, Raw = sys::cusparseSpSVDescr_t,
        *mut c_void = *mut c_void,
    );
    cusparseSpSV_solve(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, *const c_void = *const c_void,
        Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnVecDescr_t, Raw = sys::cusparseDnVecDescr_t,
        Number = sys::cudaDataType, Number = sys::cusparseSpSVAlg_t, Raw = sys::cusparseSpSVDescr_t,
    );
    cusparseSpSM_createDescr(*mut Raw = *mut sys::cusparseSpSMDescr_t);
    cusparseSpSM_destroyDescr(Raw = sys::cusparseSpSMDescr_t);
    cusparseSpSM_bufferSize(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        *const c_void = *const c_void, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnMatDescr_t,
        Raw = sys::cusparseDnMatDescr_t, Number = sys::cudaDataType, Number = sys::cusparseSpSMAlg_t,
        Raw = sys::cusparseSpSMDescr_t, *mut usize = *mut usize,
    );
    cusparseSpSM_analysis(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        *const c_void = *const c_void, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnMatDescr_t,
        Raw = sys::cusparseDnMatDescr_t, Number = sys::cudaDataType, Number = sys::cusparseSpSMAlg_t,
        Raw = sys::cusparseSpSMDescr_t, *mut c_void = *mut c_void,
    );
    cusparseSpSM_solve(
        Raw = sys::cusparseHandle_t, Number = sys::cusparseOperation_t, Number = sys::cusparseOperation_t,
        *const c_void = *const c_void, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseConstDnMatDescr_t,
        Raw = sys::cusparseDnMatDescr_t, Number = sys::cudaDataType, Number = sys::cusparseSpSMAlg_t,
        Raw = sys::cusparseSpSMDescr_t,
    );
    cusparseAxpby(
        Raw = sys::cusparseHandle_t, *const c_void = *const c_void, Raw = sys::cusparseConstSpVecDescr_t,
        *const c_void = *const c_void, Raw = sys::cusparseDnVecDescr_t,
    );
    cusparseGather(
        Raw = sys::cusparseHandle_t, Raw = sys::cusparseConstDnVecDescr_t, Raw = sys::cusparseSpVecDescr_t,
    );
    cusparseScatter(
        Raw = sys::cusparseHandle_t, Raw = sys::cusparseConstSpVecDescr_t, Raw = sys::cusparseDnVecDescr_t,
    );
    cusparseSparseToDense_bufferSize(
        Raw = sys::cusparseHandle_t, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseDnMatDescr_t,
        Number = sys::cusparseSparseToDenseAlg_t, *mut usize = *mut usize,
    );
    cusparseSparseToDense(
        Raw = sys::cusparseHandle_t, Raw = sys::cusparseConstSpMatDescr_t, Raw = sys::cusparseDnMatDescr_t,
        Number = sys::cusparseSparseToDenseAlg_t, *mut c_void = *mut c_void,
    );
    cusparseDenseToSparse_bufferSize(
        Raw = sys::cusparseHandle_t, Raw = sys::cusparseConstDnMatDescr_t, Raw = sys::cusparseSpMatDescr_t,
        Number = sys::cusparseDenseToSparseAlg_t, *mut usize = *mut usize,
    );
    cusparseDenseToSparse_analysis(
        Raw = sys::cusparseHandle_t, Raw = sys::cusparseConstDnMatDescr_t, Raw = sys::cusparseSpMatDescr_t,
        Number = sys::cusparseDenseToSparseAlg_t, *mut c_void = *mut c_void,
    );
    cusparseDenseToSparse_convert(
        Raw = sys::cusparseHandle_t, Raw = sys::cusparseConstDnMatDescr_t, Raw = sys::cusparseSpMatDescr_t,
        Number = sys::cusparseDenseToSparseAlg_t, *mut c_void = *mut c_void,
    );
    cusparseXcsr2coo(
        Raw = sys::cusparseHandle_t, *const c_int = *const c_int, c_int = c_int, c_int = c_int, *mut c_int = *mut c_int,
        Number = sys::cusparseIndexBase_t,
    );
    cusparseXcoo2csr(
        Raw = sys::cusparseHandle_t, *const c_int = *const c_int, c_int = c_int, c_int = c_int, *mut c_int = *mut c_int,
        Number = sys::cusparseIndexBase_t,
    );
    cusparseCsr2cscEx2_bufferSize(
        Raw = sys::cusparseHandle_t, c_int = c_int, c_int = c_int, c_int = c_int, *const c_void = *const c_void,
        *const c_int = *const c_int, *const c_int = *const c_int, *mut c_void = *mut c_void, *mut c_int = *mut c_int,
        *mut c_int = *mut c_int, Number = sys::cudaDataType, Number = sys::cusparseAction_t,
        Number = sys::cusparseIndexBase_t, Number = sys::cusparseCsr2CscAlg_t, *mut usize = *mut usize,
    );
    cusparseCsr2cscEx2(
        Raw = sys::cusparseHandle_t, c_int = c_int, c_int = c_int, c_int = c_int, *const c_void = *const c_void,
        *const c_int = *const c_int, *const c_int = *const c_int, *mut c_void = *mut c_void, *mut c_int = *mut c_int,
        *mut c_int = *mut c_int, Number = sys::cudaDataType, Number = sys::cusparseAction_t,
        Number = sys::cusparseIndexBase_t, Number = sys::cusparseCsr2CscAlg_t, *mut c_void = *mut c_void,
    );
    cusparseXcoosort_bufferSizeExt(
        Raw = sys::cusparseHandle_t, c_int = c_int, c_int = c_int, c_int = c_int, *const c_int = *const c_int,
        *const c_int = *const c_int, *mut usize = *mut usize,
    );
    cusparseXcoosortByRow(
        Raw = sys::cusparseHandle_t, c_int = c_int, c_int = c_int, c_int = c_int, *mut c_int = *mut c_int,
        *mut c_int = *mut c_int, *mut c_int = *mut c_int, *mut c_void = *mut c_void,
    );
    cusparseXcsrsort_bufferSizeExt(
        Raw = sys::cusparseHandle_t, c_int = c_int, c_int = c_int, c_int = c_int, *const c_int = *const c_int,
        *const c_int = *const c_int, *mut usize = *mut usize,
    );
    cusparseCreateMatDescr(*mut Raw = *mut sys::cusparseMatDescr_t);
    cusparseDestroyMatDescr(Raw = sys::cusparseMatDescr_t);
    cusparseXcsrsort(
        Raw = sys::cusparseHandle_t, c_int = c_int, c_int = c_int, c_int = c_int, Raw = sys::cusparseMatDescr_t,
        *const c_int = *const c_int, *mut c_int = *mut c_int, *mut c_int = *mut c_int, *mut c_void = *mut c_void,
    );
    cusparseCreateIdentityPermutation(Raw = sys::cusparseHandle_t, c_int = c_int, *mut c_int = *mut c_int);
}
