//! MIOpen's C functions on the threads of the CPU: the MIOpen of the platform hip-host.
//!
//! miopen-safe uses this crate if its feature `host` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! use hip_sys::miopen::miopenStatus_t;
//!
//! let miopen = hip_host_miopen::library();
//! let mut tensor = std::ptr::null_mut();
//! // SAFETY: S1: a live variable; and a descriptor, which is destroyed last.
//! unsafe {
//!     let table = miopen.table();
//!     assert_eq!((table.miopenCreateTensorDescriptor)(&mut tensor), miopenStatus_t::miopenStatusSuccess);
//!     assert_eq!((table.miopenDestroyTensorDescriptor)(tensor), miopenStatus_t::miopenStatusSuccess);
//! }
//! assert_eq!(miopen.version().to_string(), "3.4.0");
//! ```
//!
//! A call checks its arguments as MIOpen does, declares the memory that it uses, and submits one operation to its handle's stream,
//! which a graph may capture. Descriptors are read when the call is made. 16-bit values are computed in floats and rounded
//! once. Types, modes and factors that MIOpen refuses are refused here, too.

mod activation;
mod answer;
mod attention;
mod batchnorm;
mod convolution;
mod ctc;
mod dropout;
mod fusion;
mod handle;
mod job;
mod lrn;
mod norms;
mod ops;
mod pooling;
mod reduce;
mod registry;
mod rnn;
mod softmax;
mod tensor;

pub use hip_host::library::serves;

use activation::*;
use attention::{options::*, problem::*, solution::*};
use batchnorm::*;
use convolution::{bias::*, call::*, descriptor::*, find::*};
use ctc::*;
use dropout::*;
use fusion::{call::*, plan::*};
use handle::*;
use hip_sys::{Miopen, MiopenTable, Optional, Version};
use lrn::*;
use norms::*;
use ops::*;
use pooling::{call::*, descriptor::*};
use reduce::*;
use rnn::{call::*, descriptor::*, sequences::*, sizes::*, weights::*};
use softmax::*;
use tensor::descriptor::*;

/// The version of MIOpen whose behaviour this follows.
const VERSION: Version = Version { major: 3, minor: 4, patch: 0 };

/// Functions of later versions, with the version that introduced them.
macro_rules! table {
    ([$($name:ident),* $(,)?], $($since:literal: [$($later:ident),* $(,)?]),* $(,)?) => {
        MiopenTable {
            $($name,)*
            $($($later: Optional::present($later, stringify!($later), $since),)*)*
            ..MiopenTable::not_implemented()
        }
    };
}

/// The library. A function that it lacks returns `miopenStatusNotImplemented`.
pub fn library() -> Miopen {
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    unsafe { Miopen::from_table(VERSION, "hip-host".into(), functions()) }
}

fn functions() -> MiopenTable {
    table! {
        [
            miopenCreate, miopenCreateWithStream, miopenDestroy, miopenSetStream, miopenGetStream, miopenSetAllocator,
            miopenEnableProfiling, miopenGetKernelTime, miopenGetVersion, miopenGetErrorString,
            miopenCreateTensorDescriptor, miopenDestroyTensorDescriptor, miopenSet4dTensorDescriptor,
            miopenSet4dTensorDescriptorEx, miopenSetTensorDescriptor, miopenGet4dTensorDescriptor,
            miopenGetTensorDescriptor, miopenGetTensorDescriptorSize, miopenGetTensorNumBytes,
            miopenOpTensor, miopenSetTensor, miopenScaleTensor, miopenTransformTensor,
            miopenCreateConvolutionDescriptor, miopenDestroyConvolutionDescriptor, miopenInitConvolutionDescriptor,
            miopenInitConvolutionNdDescriptor, miopenSetConvolutionGroupCount, miopenSetTransposeConvOutputPadding,
            miopenSetTransposeConvNdOutputPadding, miopenGetConvolutionDescriptor, miopenGetConvolutionNdDescriptor,
            miopenGetConvolutionForwardOutputDim, miopenGetConvolutionNdForwardOutputDim,
            miopenSetConvolutionAttribute, miopenGetConvolutionAttribute,
            miopenConvolutionForward, miopenConvolutionBackwardData, miopenConvolutionBackwardWeights,
            miopenConvolutionForwardImmediate, miopenConvolutionBackwardDataImmediate,
            miopenConvolutionBackwardWeightsImmediate, miopenConvolutionForwardBias, miopenConvolutionBackwardBias,
            miopenFindConvolutionForwardAlgorithm, miopenFindConvolutionBackwardDataAlgorithm,
            miopenFindConvolutionBackwardWeightsAlgorithm,
            miopenConvolutionForwardGetWorkSpaceSize, miopenConvolutionForwardGetSolutionCount,
            miopenConvolutionForwardGetSolution, miopenConvolutionForwardGetSolutionWorkspaceSize,
            miopenConvolutionForwardCompileSolution,
            miopenConvolutionBackwardDataGetWorkSpaceSize, miopenConvolutionBackwardDataGetSolutionCount,
            miopenConvolutionBackwardDataGetSolution, miopenConvolutionBackwardDataGetSolutionWorkspaceSize,
            miopenConvolutionBackwardDataCompileSolution,
            miopenConvolutionBackwardWeightsGetWorkSpaceSize, miopenConvolutionBackwardWeightsGetSolutionCount,
            miopenConvolutionBackwardWeightsGetSolution, miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize,
            miopenConvolutionBackwardWeightsCompileSolution,
            miopenCreatePoolingDescriptor, miopenDestroyPoolingDescriptor, miopenSet2dPoolingDescriptor,
            miopenSetNdPoolingDescriptor, miopenGet2dPoolingDescriptor, miopenGetNdPoolingDescriptor,
            miopenSetPoolingIndexType, miopenGetPoolingIndexType, miopenSetPoolingWorkSpaceIndexMode,
            miopenGetPoolingWorkSpaceIndexMode, miopenGetPoolingForwardOutputDim, miopenGetPoolingNdForwardOutputDim,
            miopenPoolingGetWorkSpaceSize, miopenPoolingGetWorkSpaceSizeV2, miopenPoolingForward, miopenPoolingBackward,
            miopenCreateActivationDescriptor, miopenDestroyActivationDescriptor, miopenSetActivationDescriptor,
            miopenGetActivationDescriptor, miopenActivationForward, miopenActivationBackward,
            miopenSoftmaxForward, miopenSoftmaxForward_V2, miopenSoftmaxBackward, miopenSoftmaxBackward_V2,
            miopenDeriveBNTensorDescriptor, miopenBatchNormalizationForwardTraining,
            miopenBatchNormalizationForwardInference, miopenBatchNormalizationBackward,
            miopenCreateLRNDescriptor, miopenDestroyLRNDescriptor, miopenSetLRNDescriptor, miopenGetLRNDescriptor,
            miopenLRNGetWorkSpaceSize, miopenLRNForward, miopenLRNBackward,
            miopenCreateReduceTensorDescriptor, miopenDestroyReduceTensorDescriptor, miopenSetReduceTensorDescriptor,
            miopenGetReduceTensorDescriptor, miopenGetReductionIndicesSize, miopenGetReductionWorkspaceSize,
            miopenReduceTensor,
            miopenCreateDropoutDescriptor, miopenDestroyDropoutDescriptor, miopenDropoutGetReserveSpaceSize,
            miopenDropoutGetStatesSize, miopenSetDropoutDescriptor, miopenRestoreDropoutDescriptor,
            miopenGetDropoutDescriptor, miopenDropoutForward, miopenDropoutBackward,
            miopenCreateRNNDescriptor, miopenDestroyRNNDescriptor, miopenSetRNNDescriptor, miopenSetRNNDescriptor_V2,
            miopenGetRNNDescriptor, miopenGetRNNDescriptor_V2, miopenGetRNNParamsSize, miopenGetRNNParamsDescriptor,
            miopenGetRNNWorkspaceSize, miopenGetRNNTrainingReserveSize, miopenGetRNNInputTensorSize,
            miopenGetRNNHiddenTensorSize, miopenGetRNNLayerParamSize, miopenGetRNNLayerBiasSize,
            miopenGetRNNLayerParamOffset, miopenGetRNNLayerBiasOffset, miopenGetRNNLayerParam, miopenGetRNNLayerBias,
            miopenSetRNNLayerParam, miopenSetRNNLayerBias, miopenRNNForwardInference, miopenRNNForwardTraining, miopenRNNBackwardData, miopenRNNBackwardWeights,
            miopenCreateFusionPlan, miopenDestroyFusionPlan, miopenCompileFusionPlan, miopenFusionPlanGetOp,
            miopenFusionPlanGetWorkSpaceSize, miopenFusionPlanConvolutionGetAlgo, miopenFusionPlanConvolutionSetAlgo,
            miopenCreateOpConvForward, miopenCreateOpBiasForward, miopenCreateOpActivationForward,
            miopenCreateOpBatchNormInference, miopenCreateOperatorArgs, miopenDestroyOperatorArgs,
            miopenSetOpArgsConvForward, miopenSetOpArgsBiasForward, miopenSetOpArgsActivForward,
            miopenSetOpArgsBatchNormInference, miopenExecuteFusionPlan,
            miopenCreateCTCLossDescriptor, miopenDestroyCTCLossDescriptor, miopenSetCTCLossDescriptor,
            miopenGetCTCLossDescriptor, miopenGetCTCLossWorkspaceSize, miopenCTCLoss,
        ],
        "5.3": [miopenSetNdTensorDescriptorWithLayout],
        "5.4": [
            miopenConvolutionBiasActivationForward, miopenSetProblemTensorDescriptor, miopenDestroyProblem,
            miopenCreateFindOptions, miopenDestroyFindOptions, miopenSetFindOptionTuning,
            miopenSetFindOptionResultsOrder, miopenSetFindOptionWorkspaceLimit, miopenFindSolutions,
            miopenGetSolutionWorkspaceSize, miopenGetSolutionTime, miopenRunSolution, miopenDestroySolution,
        ],
        "5.5": [miopenGetConvolutionSpatialDim],
        "5.6": [miopenSetFindOptionPreallocatedTensor, miopenSetFindOptionPreallocatedWorkspace],
        "5.7": [miopenGetSolverIdConvAlgorithm],
        "6.0": [
            miopenGetConvolutionGroupCount, miopenSetTensorCastType, miopenLayerNormForward,
            miopenCreateSeqTensorDescriptor, miopenDestroySeqTensorDescriptor, miopenSetRNNDataSeqTensorDescriptor,
            miopenGetRNNDataSeqTensorDescriptor, miopenSetRNNPaddingMode, miopenGetRNNPaddingMode,
            miopenGetRNNTempSpaceSizes, miopenRNNForward, miopenRNNBackwardSeqData, miopenRNNBackwardWeightsSeqTensor,
        ],
        "6.1": [miopenGroupNormForward],
        "6.2": [
            miopenSetTensorDescriptorV2, miopenAddLayerNormForward, miopenT5LayerNormForward, miopenT5LayerNormBackward,
            miopenGetT5LayerNormBackwardWorkspaceSize, miopenCreateMhaDescriptor, miopenSetMhaDescriptor,
            miopenGetMhaDescriptor, miopenCreateMhaProblem,
        ],
    }
}
