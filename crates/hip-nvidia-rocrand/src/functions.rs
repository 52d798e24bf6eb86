//! cuRAND's functions. The compiler compares each with its header, as cudarc declares it.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::curand::sys;
use std::ffi::{c_uint, c_ulonglong, c_void};

/// A `curandGenerator_t`.
pub(super) type Raw = *mut c_void;

type Theirs = sys::curandGenerator_t;

hip_nvidia::cuda_functions! {
    Curand: sys::curandStatus_t, curandCreateGenerator;
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
