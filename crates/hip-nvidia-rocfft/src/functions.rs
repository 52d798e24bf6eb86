//! cuFFT's functions. The compiler compares each with its header, as cudarc declares it.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::cufft::sys;
use std::ffi::{c_int, c_longlong, c_void};

/// A `cufftHandle`.
pub(super) type Raw = c_int;

hip_nvidia::cuda_functions! {
    Cufft: sys::cufftResult_t, cufftCreate;
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
