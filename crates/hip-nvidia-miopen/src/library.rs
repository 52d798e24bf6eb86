//! cuDNN's functions, by name.
#![allow(non_snake_case, reason = "cuDNN's names")]

use super::{Outcome, Status};
use cudarc::cudnn::sys;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

/// The result of every function: a `cudnnStatus_t`, also one that is newer than our list of them.
pub(super) type Code = c_uint;
/// Device memory, or factors in host memory.
pub(super) type In = *const c_void;
/// Device memory.
pub(super) type Out = *mut c_void;
type H = sys::cudnnHandle_t;
type T = sys::cudnnTensorDescriptor_t;
type F = sys::cudnnFilterDescriptor_t;
type C = sys::cudnnConvolutionDescriptor_t;
type B = sys::cudnnBackendDescriptor_t;

/// `cudnnGetVersion`, which writes 9.8 as 90800.
type GetVersion = unsafe extern "C" fn() -> usize;

macro_rules! cudnn {
    ($($name:ident($($argument:ty),* $(,)?);)*) => {
        /// The functions. Each field has its C function's name.
        pub(super) struct Cudnn {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> Code,)*
            pub(super) file: PathBuf,
        }

        /// This compiles only if the types above equal those of cudarc's bindings.
        const _: () = {
            $(let _: unsafe fn($($argument),*) -> sys::cudnnStatus_t = sys::$name;)*
            let _: unsafe fn() -> usize = sys::cudnnGetVersion;
            assert!(size_of::<sys::cudnnStatus_t>() == size_of::<Code>());
        };

        impl Cudnn {
            fn fill(library: &SharedLibrary) -> Result<Self, LoadError> {
                let name = || library.path().display().to_string();
                let ask = library.required("cudnnGetVersion")?;
                // SAFETY: S1: the function of that name takes nothing and gives a number, in every version.
                let version = unsafe { std::mem::transmute::<*mut c_void, GetVersion>(ask)() };
                if version < OLDEST {
                    let found = format!("{version} (as cudnnGetVersion writes it)");
                    return Err(LoadError::TooOld { library: name(), found, needed: "9.0" });
                }
                // SAFETY: S1: the functions of these names have had these signatures since cuDNN 9.0.
                unsafe {
                    Ok(Self {
                        $($name: std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($argument),*) -> Code,
                        >(library.required(stringify!($name))?),)*
                        file: library.file(ask),
                    })
                }
            }
        }
    };
}

#[rustfmt::skip]
cudnn! {
    cudnnCreate(*mut H);
    cudnnDestroy(H);
    cudnnSetStream(H, sys::cudaStream_t);
    cudnnCreateTensorDescriptor(*mut T);
    cudnnDestroyTensorDescriptor(T);
    cudnnSetTensorNdDescriptor(T, sys::cudnnDataType_t, c_int, *const c_int, *const c_int);
    cudnnCreateFilterDescriptor(*mut F);
    cudnnDestroyFilterDescriptor(F);
    cudnnSetFilterNdDescriptor(F, sys::cudnnDataType_t, sys::cudnnTensorFormat_t, c_int, *const c_int);
    cudnnCreateConvolutionDescriptor(*mut C);
    cudnnDestroyConvolutionDescriptor(C);
    cudnnSetConvolutionNdDescriptor(C, c_int, *const c_int, *const c_int, *const c_int, sys::cudnnConvolutionMode_t, sys::cudnnDataType_t);
    cudnnSetConvolutionGroupCount(C, c_int);
    cudnnSetConvolutionMathType(C, sys::cudnnMathType_t);
    cudnnGetConvolutionForwardAlgorithm_v7(H, T, F, C, T, c_int, *mut c_int, *mut sys::cudnnConvolutionFwdAlgoPerf_t);
    cudnnGetConvolutionBackwardDataAlgorithm_v7(H, F, T, C, T, c_int, *mut c_int, *mut sys::cudnnConvolutionBwdDataAlgoPerf_t);
    cudnnGetConvolutionBackwardFilterAlgorithm_v7(H, T, T, C, F, c_int, *mut c_int, *mut sys::cudnnConvolutionBwdFilterAlgoPerf_t);
    cudnnGetConvolutionForwardWorkspaceSize(H, T, F, C, T, sys::cudnnConvolutionFwdAlgo_t, *mut usize);
    cudnnGetConvolutionBackwardDataWorkspaceSize(H, F, T, C, T, sys::cudnnConvolutionBwdDataAlgo_t, *mut usize);
    cudnnGetConvolutionBackwardFilterWorkspaceSize(H, T, T, C, F, sys::cudnnConvolutionBwdFilterAlgo_t, *mut usize);
    cudnnConvolutionForward(H, In, T, In, F, In, C, sys::cudnnConvolutionFwdAlgo_t, Out, usize, In, T, Out);
    cudnnConvolutionBackwardData(H, In, F, In, T, In, C, sys::cudnnConvolutionBwdDataAlgo_t, Out, usize, In, T, Out);
    cudnnConvolutionBackwardFilter(H, In, T, In, T, In, C, sys::cudnnConvolutionBwdFilterAlgo_t, Out, usize, In, F, Out);
    cudnnConvolutionBackwardBias(H, In, T, In, In, T, Out);
    cudnnConvolutionBiasActivationForward(H, In, T, In, F, In, C, sys::cudnnConvolutionFwdAlgo_t, Out, usize, In, T, In, T, In, sys::cudnnActivationDescriptor_t, T, Out);
    cudnnAddTensor(H, In, T, In, In, T, Out);
    cudnnOpTensor(H, sys::cudnnOpTensorDescriptor_t, In, T, In, In, T, In, In, T, Out);
    cudnnSetTensor(H, T, Out, In);
    cudnnScaleTensor(H, T, Out, In);
    cudnnTransformTensor(H, In, T, In, In, T, Out);
    cudnnCreateOpTensorDescriptor(*mut sys::cudnnOpTensorDescriptor_t);
    cudnnDestroyOpTensorDescriptor(sys::cudnnOpTensorDescriptor_t);
    cudnnSetOpTensorDescriptor(sys::cudnnOpTensorDescriptor_t, sys::cudnnOpTensorOp_t, sys::cudnnDataType_t, sys::cudnnNanPropagation_t);
    cudnnCreateActivationDescriptor(*mut sys::cudnnActivationDescriptor_t);
    cudnnDestroyActivationDescriptor(sys::cudnnActivationDescriptor_t);
    cudnnSetActivationDescriptor(sys::cudnnActivationDescriptor_t, sys::cudnnActivationMode_t, sys::cudnnNanPropagation_t, f64);
    cudnnActivationForward(H, sys::cudnnActivationDescriptor_t, In, T, In, In, T, Out);
    cudnnActivationBackward(H, sys::cudnnActivationDescriptor_t, In, T, In, T, In, T, In, In, T, Out);
    cudnnSoftmaxForward(H, sys::cudnnSoftmaxAlgorithm_t, sys::cudnnSoftmaxMode_t, In, T, In, In, T, Out);
    cudnnSoftmaxBackward(H, sys::cudnnSoftmaxAlgorithm_t, sys::cudnnSoftmaxMode_t, In, T, In, T, In, In, T, Out);
    cudnnCreatePoolingDescriptor(*mut sys::cudnnPoolingDescriptor_t);
    cudnnDestroyPoolingDescriptor(sys::cudnnPoolingDescriptor_t);
    cudnnSetPoolingNdDescriptor(sys::cudnnPoolingDescriptor_t, sys::cudnnPoolingMode_t, sys::cudnnNanPropagation_t, c_int, *const c_int, *const c_int, *const c_int);
    cudnnPoolingForward(H, sys::cudnnPoolingDescriptor_t, In, T, In, In, T, Out);
    cudnnPoolingBackward(H, sys::cudnnPoolingDescriptor_t, In, T, In, T, In, T, In, In, T, Out);
    cudnnBatchNormalizationForwardInference(H, sys::cudnnBatchNormMode_t, In, In, T, In, T, Out, T, In, In, In, In, f64);
    cudnnBatchNormalizationForwardTraining(H, sys::cudnnBatchNormMode_t, In, In, T, In, T, Out, T, In, In, f64, Out, Out, f64, Out, Out);
    cudnnBatchNormalizationBackward(H, sys::cudnnBatchNormMode_t, In, In, In, In, T, In, T, In, T, Out, T, In, Out, Out, f64, In, In);
    cudnnCreateLRNDescriptor(*mut sys::cudnnLRNDescriptor_t);
    cudnnDestroyLRNDescriptor(sys::cudnnLRNDescriptor_t);
    cudnnSetLRNDescriptor(sys::cudnnLRNDescriptor_t, c_uint, f64, f64, f64);
    cudnnLRNCrossChannelForward(H, sys::cudnnLRNDescriptor_t, sys::cudnnLRNMode_t, In, T, In, In, T, Out);
    cudnnLRNCrossChannelBackward(H, sys::cudnnLRNDescriptor_t, sys::cudnnLRNMode_t, In, T, In, T, In, T, In, In, T, Out);
    cudnnCreateReduceTensorDescriptor(*mut sys::cudnnReduceTensorDescriptor_t);
    cudnnDestroyReduceTensorDescriptor(sys::cudnnReduceTensorDescriptor_t);
    cudnnSetReduceTensorDescriptor(sys::cudnnReduceTensorDescriptor_t, sys::cudnnReduceTensorOp_t, sys::cudnnDataType_t, sys::cudnnNanPropagation_t, sys::cudnnReduceTensorIndices_t, sys::cudnnIndicesType_t);
    cudnnGetReductionIndicesSize(H, sys::cudnnReduceTensorDescriptor_t, T, T, *mut usize);
    cudnnGetReductionWorkspaceSize(H, sys::cudnnReduceTensorDescriptor_t, T, T, *mut usize);
    cudnnReduceTensor(H, sys::cudnnReduceTensorDescriptor_t, Out, usize, Out, usize, In, T, In, In, T, Out);
    cudnnCreateDropoutDescriptor(*mut sys::cudnnDropoutDescriptor_t);
    cudnnDestroyDropoutDescriptor(sys::cudnnDropoutDescriptor_t);
    cudnnSetDropoutDescriptor(sys::cudnnDropoutDescriptor_t, H, f32, Out, usize, c_ulonglong);
    cudnnRestoreDropoutDescriptor(sys::cudnnDropoutDescriptor_t, H, f32, Out, usize, c_ulonglong);
    cudnnDropoutGetStatesSize(H, *mut usize);
    cudnnDropoutGetReserveSpaceSize(T, *mut usize);
    cudnnDropoutForward(H, sys::cudnnDropoutDescriptor_t, T, In, T, Out, Out, usize);
    cudnnDropoutBackward(H, sys::cudnnDropoutDescriptor_t, T, In, T, Out, Out, usize);
    cudnnCreateRNNDescriptor(*mut sys::cudnnRNNDescriptor_t);
    cudnnDestroyRNNDescriptor(sys::cudnnRNNDescriptor_t);
    cudnnSetRNNDescriptor_v8(sys::cudnnRNNDescriptor_t, sys::cudnnRNNAlgo_t, sys::cudnnRNNMode_t, sys::cudnnRNNBiasMode_t, sys::cudnnDirectionMode_t, sys::cudnnRNNInputMode_t, sys::cudnnDataType_t, sys::cudnnDataType_t, sys::cudnnMathType_t, i32, i32, i32, i32, sys::cudnnDropoutDescriptor_t, u32);
    cudnnCreateRNNDataDescriptor(*mut sys::cudnnRNNDataDescriptor_t);
    cudnnDestroyRNNDataDescriptor(sys::cudnnRNNDataDescriptor_t);
    cudnnSetRNNDataDescriptor(sys::cudnnRNNDataDescriptor_t, sys::cudnnDataType_t, sys::cudnnRNNDataLayout_t, c_int, c_int, c_int, *const c_int, Out);
    cudnnGetRNNWeightSpaceSize(H, sys::cudnnRNNDescriptor_t, *mut usize);
    cudnnGetRNNWeightParams(H, sys::cudnnRNNDescriptor_t, i32, usize, In, i32, T, *mut Out, T, *mut Out);
    cudnnGetRNNTempSpaceSizes(H, sys::cudnnRNNDescriptor_t, sys::cudnnForwardMode_t, sys::cudnnRNNDataDescriptor_t, *mut usize, *mut usize);
    cudnnRNNForward(H, sys::cudnnRNNDescriptor_t, sys::cudnnForwardMode_t, *const i32, sys::cudnnRNNDataDescriptor_t, In, sys::cudnnRNNDataDescriptor_t, Out, T, In, Out, T, In, Out, usize, In, usize, Out, usize, Out);
    cudnnRNNBackwardData_v8(H, sys::cudnnRNNDescriptor_t, *const i32, sys::cudnnRNNDataDescriptor_t, In, In, sys::cudnnRNNDataDescriptor_t, Out, T, In, In, Out, T, In, In, Out, usize, In, usize, Out, usize, Out);
    cudnnRNNBackwardWeights_v8(H, sys::cudnnRNNDescriptor_t, sys::cudnnWgradMode_t, *const i32, sys::cudnnRNNDataDescriptor_t, In, T, In, sys::cudnnRNNDataDescriptor_t, In, usize, Out, usize, Out, usize, Out);
    cudnnCreateCTCLossDescriptor(*mut sys::cudnnCTCLossDescriptor_t);
    cudnnDestroyCTCLossDescriptor(sys::cudnnCTCLossDescriptor_t);
    cudnnSetCTCLossDescriptorEx(sys::cudnnCTCLossDescriptor_t, sys::cudnnDataType_t, sys::cudnnLossNormalizationMode_t, sys::cudnnNanPropagation_t);
    cudnnGetCTCLossWorkspaceSize(H, T, T, *const c_int, *const c_int, *const c_int, sys::cudnnCTCLossAlgo_t, sys::cudnnCTCLossDescriptor_t, *mut usize);
    cudnnBackendCreateDescriptor(sys::cudnnBackendDescriptorType_t, *mut B);
    cudnnBackendDestroyDescriptor(B);
    cudnnBackendSetAttribute(B, sys::cudnnBackendAttributeName_t, sys::cudnnBackendAttributeType_t, i64, *const c_void);
    cudnnBackendGetAttribute(B, sys::cudnnBackendAttributeName_t, sys::cudnnBackendAttributeType_t, i64, *mut i64, *mut c_void);
    cudnnBackendFinalize(B);
    cudnnBackendExecute(H, B, B);
    cudnnCTCLoss(H, T, In, *const c_int, *const c_int, *const c_int, Out, T, Out, sys::cudnnCTCLossAlgo_t, sys::cudnnCTCLossDescriptor_t, Out, usize);
}

/// cuDNN 9.0, as `cudnnGetVersion` writes it.
const OLDEST: usize = 90_000;
const NAMES: [&str; 2] = ["libcudnn.so.9", "libcudnn.so"];
const REMEDY: &str = "Install NVIDIA's cuDNN 9 (on PyPI nvidia-cudnn-cu12 or nvidia-cudnn-cu13) and put its folder into LD_LIBRARY_PATH, or set HIPSTACK_CUDNN to the file libcudnn.so.9";

static CUDNN: OnceLock<Result<Cudnn, LoadError>> = OnceLock::new();

/// Opens cuDNN, once for the process.
pub(super) fn open() -> Result<&'static Cudnn, LoadError> {
    let load = || SharedLibrary::open("cuDNN (libcudnn)", REMEDY, candidates()).and_then(|l| Cudnn::fill(&l));
    CUDNN.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The opened cuDNN. Callers use the table, which exists only if the library is open.
pub(super) fn cudnn() -> Result<&'static Cudnn, Status> {
    CUDNN.get().and_then(|loaded| loaded.as_ref().ok()).ok_or(Status::miopenStatusNotInitialized)
}

/// cuDNN's status as MIOpen's.
pub(super) fn check(code: Code) -> Outcome {
    Err(match code {
        0 => return Ok(()),
        // Not initialised, mismatched versions of its parts, or not found.
        1001..=1003 | 1008 => Status::miopenStatusNotInitialized,
        1004 | 3000..=3999 => Status::miopenStatusUnsupportedOp,
        2000..=2999 => Status::miopenStatusBadParm,
        4003 | 4004 => Status::miopenStatusAllocFailed,
        4000..=5999 => Status::miopenStatusInternalError,
        _ => Status::miopenStatusUnknownError,
    })
}

fn candidates() -> Vec<PathBuf> {
    let own = std::env::var_os("HIPSTACK_CUDNN").map(PathBuf::from);
    own.into_iter().chain(hip_nvidia::library::candidates(&NAMES)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_miopens() {
        assert_eq!(check(0), Ok(()));
        for (code, status) in [
            (1001, Status::miopenStatusNotInitialized),
            (2000, Status::miopenStatusBadParm),
            (2008, Status::miopenStatusBadParm),
            (3000, Status::miopenStatusUnsupportedOp),
            (3007, Status::miopenStatusUnsupportedOp),
            (4000, Status::miopenStatusInternalError),
            (4004, Status::miopenStatusAllocFailed),
            (5003, Status::miopenStatusInternalError),
            (77, Status::miopenStatusUnknownError),
        ] {
            assert_eq!(check(code), Err(status), "{code}");
        }
    }

    /// Opens the library that `HIPSTACK_CUDNN` names, if it is set, and expects every function of the list.
    #[test]
    fn the_real_library_has_every_function() {
        if std::env::var_os("HIPSTACK_CUDNN").is_some() {
            let library = open().expect("the library that HIPSTACK_CUDNN names");
            assert!(library.file.exists(), "{}", library.file.display());
        }
    }
}
