//! Convolutions: their descriptor, found and immediate.

use super::{Failure, calls, optional_calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenActivationDescriptor_t, miopenConvAlgoPerf_t, miopenConvBwdDataAlgorithm_t,
    miopenConvBwdWeightsAlgorithm_t, miopenConvFwdAlgorithm_t, miopenConvSolution_t,
    miopenConvolutionAttrib_t, miopenConvolutionDescriptor_t, miopenConvolutionMode_t, miopenHandle_t,
    miopenTensorDescriptor_t,
};
use std::ffi::{c_int, c_void};

calls! {
    create_convolution_descriptor = miopenCreateConvolutionDescriptor(
        conv_desc: *mut miopenConvolutionDescriptor_t,
    );
    destroy_convolution_descriptor = miopenDestroyConvolutionDescriptor(
        conv_desc: miopenConvolutionDescriptor_t,
    );
    init_convolution_nd_descriptor = miopenInitConvolutionNdDescriptor(
        conv_desc: miopenConvolutionDescriptor_t, spatial_dim: c_int, pad_a: *const c_int,
        stride_a: *const c_int, dilation_a: *const c_int, c_mode: miopenConvolutionMode_t,
    );
    set_convolution_group_count = miopenSetConvolutionGroupCount(
        conv_desc: miopenConvolutionDescriptor_t, group_count: c_int,
    );
    set_transpose_conv_nd_output_padding = miopenSetTransposeConvNdOutputPadding(
        conv_desc: miopenConvolutionDescriptor_t, spatial_dim: c_int, adj_a: *const c_int,
    );
    get_convolution_nd_forward_output_dim = miopenGetConvolutionNdForwardOutputDim(
        conv_desc: miopenConvolutionDescriptor_t, input_tensor_desc: miopenTensorDescriptor_t,
        filter_desc: miopenTensorDescriptor_t, n_dim: *mut c_int, output_tensor_dim_a: *mut c_int,
    );
    set_convolution_attribute = miopenSetConvolutionAttribute(
        conv_desc: miopenConvolutionDescriptor_t, attr: miopenConvolutionAttrib_t, value: c_int,
    );
    get_convolution_attribute = miopenGetConvolutionAttribute(
        conv_desc: miopenConvolutionDescriptor_t, attr: miopenConvolutionAttrib_t, value: *mut c_int,
    );
    convolution_forward_get_workspace_size = miopenConvolutionForwardGetWorkSpaceSize(
        handle: miopenHandle_t, w_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, y_desc: miopenTensorDescriptor_t,
        work_space_size: *mut usize,
    );
    convolution_forward = miopenConvolutionForward(
        handle: miopenHandle_t, alpha: *const c_void, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        w_desc: miopenTensorDescriptor_t, w: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        algo: miopenConvFwdAlgorithm_t, beta: *const c_void, y_desc: miopenTensorDescriptor_t,
        y: *mut c_void, work_space: *mut c_void, work_space_size: usize,
    );
    convolution_forward_get_solution_count = miopenConvolutionForwardGetSolutionCount(
        handle: miopenHandle_t, w_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, y_desc: miopenTensorDescriptor_t,
        solution_count: *mut usize,
    );
    convolution_forward_get_solution = miopenConvolutionForwardGetSolution(
        handle: miopenHandle_t, w_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, y_desc: miopenTensorDescriptor_t,
        max_solution_count: usize, solution_count: *mut usize, solutions: *mut miopenConvSolution_t,
    );
    convolution_forward_get_solution_workspace_size = miopenConvolutionForwardGetSolutionWorkspaceSize(
        handle: miopenHandle_t, w_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, y_desc: miopenTensorDescriptor_t, solution_id: u64,
        work_space_size: *mut usize,
    );
    convolution_forward_compile_solution = miopenConvolutionForwardCompileSolution(
        handle: miopenHandle_t, w_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, y_desc: miopenTensorDescriptor_t, solution_id: u64,
    );
    convolution_forward_immediate = miopenConvolutionForwardImmediate(
        handle: miopenHandle_t, w_desc: miopenTensorDescriptor_t, w: *const c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        y_desc: miopenTensorDescriptor_t, y: *mut c_void, work_space: *mut c_void, work_space_size: usize,
        solution_id: u64,
    );
    convolution_backward_data_get_workspace_size = miopenConvolutionBackwardDataGetWorkSpaceSize(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, w_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dx_desc: miopenTensorDescriptor_t,
        work_space_size: *mut usize,
    );
    convolution_backward_data = miopenConvolutionBackwardData(
        handle: miopenHandle_t, alpha: *const c_void, dy_desc: miopenTensorDescriptor_t, dy: *const c_void,
        w_desc: miopenTensorDescriptor_t, w: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        algo: miopenConvBwdDataAlgorithm_t, beta: *const c_void, dx_desc: miopenTensorDescriptor_t,
        dx: *mut c_void, work_space: *mut c_void, work_space_size: usize,
    );
    convolution_backward_data_get_solution_count = miopenConvolutionBackwardDataGetSolutionCount(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, w_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dx_desc: miopenTensorDescriptor_t,
        solution_count: *mut usize,
    );
    convolution_backward_data_get_solution = miopenConvolutionBackwardDataGetSolution(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, w_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dx_desc: miopenTensorDescriptor_t,
        max_solution_count: usize, solution_count: *mut usize, solutions: *mut miopenConvSolution_t,
    );
    convolution_backward_data_get_solution_workspace_size = miopenConvolutionBackwardDataGetSolutionWorkspaceSize(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, w_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dx_desc: miopenTensorDescriptor_t, solution_id: u64,
        work_space_size: *mut usize,
    );
    convolution_backward_data_compile_solution = miopenConvolutionBackwardDataCompileSolution(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, w_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dx_desc: miopenTensorDescriptor_t, solution_id: u64,
    );
    convolution_backward_data_immediate = miopenConvolutionBackwardDataImmediate(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, dy: *const c_void,
        w_desc: miopenTensorDescriptor_t, w: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        dx_desc: miopenTensorDescriptor_t, dx: *mut c_void, work_space: *mut c_void, work_space_size: usize,
        solution_id: u64,
    );
    convolution_backward_weights_get_workspace_size = miopenConvolutionBackwardWeightsGetWorkSpaceSize(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dw_desc: miopenTensorDescriptor_t,
        work_space_size: *mut usize,
    );
    convolution_backward_weights = miopenConvolutionBackwardWeights(
        handle: miopenHandle_t, alpha: *const c_void, dy_desc: miopenTensorDescriptor_t, dy: *const c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        algo: miopenConvBwdWeightsAlgorithm_t, beta: *const c_void, dw_desc: miopenTensorDescriptor_t,
        dw: *mut c_void, work_space: *mut c_void, work_space_size: usize,
    );
    convolution_backward_weights_get_solution_count = miopenConvolutionBackwardWeightsGetSolutionCount(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dw_desc: miopenTensorDescriptor_t,
        solution_count: *mut usize,
    );
    convolution_backward_weights_get_solution = miopenConvolutionBackwardWeightsGetSolution(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dw_desc: miopenTensorDescriptor_t,
        max_solution_count: usize, solution_count: *mut usize, solutions: *mut miopenConvSolution_t,
    );
    convolution_backward_weights_get_solution_workspace_size = miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dw_desc: miopenTensorDescriptor_t, solution_id: u64,
        work_space_size: *mut usize,
    );
    convolution_backward_weights_compile_solution = miopenConvolutionBackwardWeightsCompileSolution(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, dw_desc: miopenTensorDescriptor_t, solution_id: u64,
    );
    convolution_backward_weights_immediate = miopenConvolutionBackwardWeightsImmediate(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, dy: *const c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        dw_desc: miopenTensorDescriptor_t, dw: *mut c_void, work_space: *mut c_void, work_space_size: usize,
        solution_id: u64,
    );
    find_convolution_forward_algorithm = miopenFindConvolutionForwardAlgorithm(
        handle: miopenHandle_t, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        w_desc: miopenTensorDescriptor_t, w: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        y_desc: miopenTensorDescriptor_t, y: *mut c_void, request_algo_count: c_int,
        returned_algo_count: *mut c_int, perf_results: *mut miopenConvAlgoPerf_t, work_space: *mut c_void,
        work_space_size: usize, exhaustive_search: bool,
    );
    find_convolution_backward_data_algorithm = miopenFindConvolutionBackwardDataAlgorithm(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, dy: *const c_void,
        w_desc: miopenTensorDescriptor_t, w: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        dx_desc: miopenTensorDescriptor_t, dx: *mut c_void, request_algo_count: c_int,
        returned_algo_count: *mut c_int, perf_results: *mut miopenConvAlgoPerf_t, work_space: *mut c_void,
        work_space_size: usize, exhaustive_search: bool,
    );
    find_convolution_backward_weights_algorithm = miopenFindConvolutionBackwardWeightsAlgorithm(
        handle: miopenHandle_t, dy_desc: miopenTensorDescriptor_t, dy: *const c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        dw_desc: miopenTensorDescriptor_t, dw: *mut c_void, request_algo_count: c_int,
        returned_algo_count: *mut c_int, perf_results: *mut miopenConvAlgoPerf_t, work_space: *mut c_void,
        work_space_size: usize, exhaustive_search: bool,
    );
    convolution_forward_bias = miopenConvolutionForwardBias(
        handle: miopenHandle_t, alpha: *const c_void, b_desc: miopenTensorDescriptor_t, b: *const c_void,
        beta: *const c_void, y_desc: miopenTensorDescriptor_t, y: *mut c_void,
    );
    convolution_backward_bias = miopenConvolutionBackwardBias(
        handle: miopenHandle_t, alpha: *const c_void, dy_desc: miopenTensorDescriptor_t, dy: *const c_void,
        beta: *const c_void, db_desc: miopenTensorDescriptor_t, db: *mut c_void,
    );
}

optional_calls! {
    convolution_bias_activation_forward = miopenConvolutionBiasActivationForward(
        handle: miopenHandle_t, alpha1: *const c_void, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        w_desc: miopenTensorDescriptor_t, w: *const c_void, conv_desc: miopenConvolutionDescriptor_t,
        algo: miopenConvFwdAlgorithm_t, workspace: *mut c_void, workspace_size_in_bytes: usize,
        alpha2: *const c_void, z_desc: miopenTensorDescriptor_t, z: *const c_void,
        bias_desc: miopenTensorDescriptor_t, bias: *const c_void,
        activation_desc: miopenActivationDescriptor_t, y_desc: miopenTensorDescriptor_t, y: *mut c_void,
    );
}
