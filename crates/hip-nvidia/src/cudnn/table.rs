//! The table of the functions.

use super::activation::*;
use super::convolution::*;
use super::handle::*;
use super::ops::*;
use super::pooling::*;
use super::softmax::*;
use super::tensor::*;
use hip_sys::{MiopenTable, Optional};

macro_rules! optional {
    ($function:ident, $since:literal) => {
        Optional::present($function, stringify!($function), $since)
    };
}

/// MIOpen's functions, as far as cuDNN can do what they do.
pub(super) fn table() -> MiopenTable {
    MiopenTable {
        miopenActivationBackward,
        miopenActivationForward,
        miopenConvolutionBackwardBias,
        miopenConvolutionBackwardData,
        miopenConvolutionBackwardDataCompileSolution,
        miopenConvolutionBackwardDataGetSolution,
        miopenConvolutionBackwardDataGetSolutionCount,
        miopenConvolutionBackwardDataGetSolutionWorkspaceSize,
        miopenConvolutionBackwardDataGetWorkSpaceSize,
        miopenConvolutionBackwardDataImmediate,
        miopenConvolutionBackwardWeights,
        miopenConvolutionBackwardWeightsCompileSolution,
        miopenConvolutionBackwardWeightsGetSolution,
        miopenConvolutionBackwardWeightsGetSolutionCount,
        miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize,
        miopenConvolutionBackwardWeightsGetWorkSpaceSize,
        miopenConvolutionBackwardWeightsImmediate,
        miopenConvolutionForward,
        miopenConvolutionForwardBias,
        miopenConvolutionForwardCompileSolution,
        miopenConvolutionForwardGetSolution,
        miopenConvolutionForwardGetSolutionCount,
        miopenConvolutionForwardGetSolutionWorkspaceSize,
        miopenConvolutionForwardGetWorkSpaceSize,
        miopenConvolutionForwardImmediate,
        miopenCreate,
        miopenCreateActivationDescriptor,
        miopenCreateConvolutionDescriptor,
        miopenCreatePoolingDescriptor,
        miopenCreateTensorDescriptor,
        miopenCreateWithStream,
        miopenDeriveBNTensorDescriptor,
        miopenDestroy,
        miopenDestroyActivationDescriptor,
        miopenDestroyConvolutionDescriptor,
        miopenDestroyPoolingDescriptor,
        miopenDestroyTensorDescriptor,
        miopenEnableProfiling,
        miopenFindConvolutionBackwardDataAlgorithm,
        miopenFindConvolutionBackwardWeightsAlgorithm,
        miopenFindConvolutionForwardAlgorithm,
        miopenGet2dPoolingDescriptor,
        miopenGet4dTensorDescriptor,
        miopenGetActivationDescriptor,
        miopenGetConvolutionAttribute,
        miopenGetConvolutionDescriptor,
        miopenGetConvolutionForwardOutputDim,
        miopenGetConvolutionGroupCount: optional!(miopenGetConvolutionGroupCount, "6.0"),
        miopenGetConvolutionNdDescriptor,
        miopenGetConvolutionNdForwardOutputDim,
        miopenGetConvolutionSpatialDim: optional!(miopenGetConvolutionSpatialDim, "5.5"),
        miopenGetErrorString,
        miopenGetNdPoolingDescriptor,
        miopenGetPoolingForwardOutputDim,
        miopenGetPoolingIndexType,
        miopenGetPoolingNdForwardOutputDim,
        miopenGetPoolingWorkSpaceIndexMode,
        miopenGetSolverIdConvAlgorithm: optional!(miopenGetSolverIdConvAlgorithm, "5.7"),
        miopenGetStream,
        miopenGetTensorDescriptor,
        miopenGetTensorDescriptorSize,
        miopenGetTensorNumBytes,
        miopenGetVersion,
        miopenInitConvolutionDescriptor,
        miopenInitConvolutionNdDescriptor,
        miopenOpTensor,
        miopenPoolingBackward,
        miopenPoolingForward,
        miopenPoolingGetWorkSpaceSize,
        miopenPoolingGetWorkSpaceSizeV2,
        miopenScaleTensor,
        miopenSet2dPoolingDescriptor,
        miopenSet4dTensorDescriptor,
        miopenSet4dTensorDescriptorEx,
        miopenSetActivationDescriptor,
        miopenSetAllocator,
        miopenSetConvolutionAttribute,
        miopenSetConvolutionGroupCount,
        miopenSetNdPoolingDescriptor,
        miopenSetNdTensorDescriptorWithLayout: optional!(miopenSetNdTensorDescriptorWithLayout, "5.3"),
        miopenSetPoolingIndexType,
        miopenSetPoolingWorkSpaceIndexMode,
        miopenSetStream,
        miopenSetTensor,
        miopenSetTensorDescriptor,
        miopenSetTensorDescriptorV2: optional!(miopenSetTensorDescriptorV2, "6.2"),
        miopenSetTransposeConvNdOutputPadding,
        miopenSetTransposeConvOutputPadding,
        miopenSoftmaxBackward,
        miopenSoftmaxBackward_V2,
        miopenSoftmaxForward,
        miopenSoftmaxForward_V2,
        miopenTransformTensor,
        ..MiopenTable::not_implemented()
    }
}
