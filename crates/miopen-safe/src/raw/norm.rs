//! Normalisation.

use super::{Failure, calls, optional_calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenBatchNormMode_t, miopenHandle_t, miopenLRNDescriptor_t, miopenLRNMode_t, miopenNormMode_t,
    miopenTensorDescriptor_t,
};
use std::ffi::{c_uint, c_void};

calls! {
    derive_bn_tensor_descriptor = miopenDeriveBNTensorDescriptor(
        derived_bn_desc: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t,
        bn_mode: miopenBatchNormMode_t,
    );
    batch_normalization_forward_training = miopenBatchNormalizationForwardTraining(
        handle: miopenHandle_t, bn_mode: miopenBatchNormMode_t, alpha: *mut c_void, beta: *mut c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, y_desc: miopenTensorDescriptor_t,
        y: *mut c_void, bn_scale_bias_mean_var_desc: miopenTensorDescriptor_t, bn_scale: *mut c_void,
        bn_bias: *mut c_void, exp_avg_factor: f64, result_running_mean: *mut c_void,
        result_running_variance: *mut c_void, epsilon: f64, result_save_mean: *mut c_void,
        result_save_inv_variance: *mut c_void,
    );
    batch_normalization_forward_inference = miopenBatchNormalizationForwardInference(
        handle: miopenHandle_t, bn_mode: miopenBatchNormMode_t, alpha: *mut c_void, beta: *mut c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, y_desc: miopenTensorDescriptor_t,
        y: *mut c_void, bn_scale_bias_mean_var_desc: miopenTensorDescriptor_t, bn_scale: *mut c_void,
        bn_bias: *mut c_void, estimated_mean: *mut c_void, estimated_variance: *mut c_void, epsilon: f64,
    );
    batch_normalization_backward = miopenBatchNormalizationBackward(
        handle: miopenHandle_t, bn_mode: miopenBatchNormMode_t, alpha_data_diff: *const c_void,
        beta_data_diff: *const c_void, alpha_param_diff: *const c_void, beta_param_diff: *const c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, dy_desc: miopenTensorDescriptor_t,
        dy: *const c_void, dx_desc: miopenTensorDescriptor_t, dx: *mut c_void,
        bn_scale_bias_diff_desc: miopenTensorDescriptor_t, bn_scale: *const c_void,
        result_bn_scale_diff: *mut c_void, result_bn_bias_diff: *mut c_void, epsilon: f64,
        saved_mean: *const c_void, saved_inv_variance: *const c_void,
    );
    create_lrn_descriptor = miopenCreateLRNDescriptor(lrn_desc: *mut miopenLRNDescriptor_t);
    destroy_lrn_descriptor = miopenDestroyLRNDescriptor(lrn_desc: miopenLRNDescriptor_t);
    set_lrn_descriptor = miopenSetLRNDescriptor(
        lrn_desc: miopenLRNDescriptor_t, mode: miopenLRNMode_t, lrn_n: c_uint, lrn_alpha: f64,
        lrn_beta: f64, lrn_k: f64,
    );
    lrn_get_workspace_size = miopenLRNGetWorkSpaceSize(
        y_desc: miopenTensorDescriptor_t, work_space_size: *mut usize,
    );
    lrn_forward = miopenLRNForward(
        handle: miopenHandle_t, lrn_desc: miopenLRNDescriptor_t, alpha: *const c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, beta: *const c_void,
        y_desc: miopenTensorDescriptor_t, y: *mut c_void, do_backward: bool, work_space: *mut c_void,
    );
    lrn_backward = miopenLRNBackward(
        handle: miopenHandle_t, lrn_desc: miopenLRNDescriptor_t, alpha: *const c_void,
        y_desc: miopenTensorDescriptor_t, y: *const c_void, dy_desc: miopenTensorDescriptor_t,
        dy: *const c_void, x_desc: miopenTensorDescriptor_t, x: *const c_void, beta: *const c_void,
        dx_desc: miopenTensorDescriptor_t, dx: *mut c_void, work_space: *const c_void,
    );
}

optional_calls! {
    layer_norm_forward = miopenLayerNormForward(
        handle: miopenHandle_t, mode: miopenNormMode_t, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        weight_desc: miopenTensorDescriptor_t, weight: *const c_void, bias_desc: miopenTensorDescriptor_t,
        bias: *const c_void, epsilon: f32, normalized_dim: i32, y_desc: miopenTensorDescriptor_t,
        y: *mut c_void, mean_desc: miopenTensorDescriptor_t, mean: *mut c_void,
        rstd_desc: miopenTensorDescriptor_t, rstd: *mut c_void,
    );
    add_layer_norm_forward = miopenAddLayerNormForward(
        handle: miopenHandle_t, mode: miopenNormMode_t, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        x2_desc: miopenTensorDescriptor_t, x2: *const c_void, weight_desc: miopenTensorDescriptor_t,
        weight: *const c_void, bias_desc: miopenTensorDescriptor_t, bias: *const c_void, epsilon: f32,
        normalized_dim: i32, y_desc: miopenTensorDescriptor_t, y: *mut c_void,
        mean_desc: miopenTensorDescriptor_t, mean: *mut c_void, rstd_desc: miopenTensorDescriptor_t,
        rstd: *mut c_void,
    );
    group_norm_forward = miopenGroupNormForward(
        handle: miopenHandle_t, mode: miopenNormMode_t, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        weight_desc: miopenTensorDescriptor_t, weight: *const c_void, bias_desc: miopenTensorDescriptor_t,
        bias: *const c_void, num_groups: u64, epsilon: f32, y_desc: miopenTensorDescriptor_t,
        y: *mut c_void, mean_desc: miopenTensorDescriptor_t, mean: *mut c_void,
        rstd_desc: miopenTensorDescriptor_t, rstd: *mut c_void,
    );
    t5_layer_norm_forward = miopenT5LayerNormForward(
        handle: miopenHandle_t, mode: miopenNormMode_t, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        weight_desc: miopenTensorDescriptor_t, weight: *const c_void, epsilon: f32,
        y_desc: miopenTensorDescriptor_t, y: *mut c_void, rstd_desc: miopenTensorDescriptor_t,
        rstd: *mut c_void,
    );
    t5_layer_norm_backward = miopenT5LayerNormBackward(
        handle: miopenHandle_t, mode: miopenNormMode_t, workspace: *mut c_void,
        workspace_size_in_bytes: usize, dy_desc: miopenTensorDescriptor_t, dy: *const c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, weight_desc: miopenTensorDescriptor_t,
        weight: *const c_void, rstd_desc: miopenTensorDescriptor_t, rstd: *const c_void,
        dx_desc: miopenTensorDescriptor_t, dx: *mut c_void, dw_desc: miopenTensorDescriptor_t,
        dw: *mut c_void,
    );
    get_t5_layer_norm_backward_workspace_size = miopenGetT5LayerNormBackwardWorkspaceSize(
        handle: miopenHandle_t, mode: miopenNormMode_t, dy_desc: miopenTensorDescriptor_t,
        x_desc: miopenTensorDescriptor_t, weight_desc: miopenTensorDescriptor_t,
        rstd_desc: miopenTensorDescriptor_t, dx_desc: miopenTensorDescriptor_t,
        dw_desc: miopenTensorDescriptor_t, size_in_bytes: *mut usize,
    );
}
