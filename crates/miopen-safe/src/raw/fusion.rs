//! Fusion plans.

use super::{Failure, calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenActivationMode_t, miopenBatchNormMode_t, miopenConvFwdAlgorithm_t, miopenConvolutionDescriptor_t,
    miopenFusionDirection_t, miopenFusionOpDescriptor_t, miopenFusionPlanDescriptor_t, miopenHandle_t,
    miopenOperatorArgs_t, miopenTensorDescriptor_t,
};
use std::ffi::{c_int, c_void};

calls! {
    create_fusion_plan = miopenCreateFusionPlan(
        fuse_plan_desc: *mut miopenFusionPlanDescriptor_t, fuse_direction: miopenFusionDirection_t,
        input_desc: miopenTensorDescriptor_t,
    );
    destroy_fusion_plan = miopenDestroyFusionPlan(fuse_plan_desc: miopenFusionPlanDescriptor_t);
    compile_fusion_plan = miopenCompileFusionPlan(
        handle: miopenHandle_t, fuse_plan_desc: miopenFusionPlanDescriptor_t,
    );
    fusion_plan_convolution_get_algo = miopenFusionPlanConvolutionGetAlgo(
        fuse_plan_desc: miopenFusionPlanDescriptor_t, request_algo_count: c_int,
        returned_algo_count: *mut c_int, returned_algos: *mut miopenConvFwdAlgorithm_t,
    );
    create_op_conv_forward = miopenCreateOpConvForward(
        fuse_plan_desc: miopenFusionPlanDescriptor_t, conv_op: *mut miopenFusionOpDescriptor_t,
        conv_desc: miopenConvolutionDescriptor_t, w_desc: miopenTensorDescriptor_t,
    );
    create_op_activation_forward = miopenCreateOpActivationForward(
        fuse_plan_desc: miopenFusionPlanDescriptor_t, activ_fwd_op: *mut miopenFusionOpDescriptor_t,
        mode: miopenActivationMode_t,
    );
    create_op_bias_forward = miopenCreateOpBiasForward(
        fuse_plan_desc: miopenFusionPlanDescriptor_t, bias_op: *mut miopenFusionOpDescriptor_t,
        b_desc: miopenTensorDescriptor_t,
    );
    create_op_batch_norm_inference = miopenCreateOpBatchNormInference(
        fuse_plan_desc: miopenFusionPlanDescriptor_t, bn_op: *mut miopenFusionOpDescriptor_t,
        bn_mode: miopenBatchNormMode_t, bn_scale_bias_mean_var_desc: miopenTensorDescriptor_t,
    );
    create_operator_args = miopenCreateOperatorArgs(args: *mut miopenOperatorArgs_t);
    destroy_operator_args = miopenDestroyOperatorArgs(args: miopenOperatorArgs_t);
    set_op_args_conv_forward = miopenSetOpArgsConvForward(
        args: miopenOperatorArgs_t, conv_op: miopenFusionOpDescriptor_t, alpha: *const c_void,
        beta: *const c_void, w: *const c_void,
    );
    set_op_args_activ_forward = miopenSetOpArgsActivForward(
        args: miopenOperatorArgs_t, activ_fwd_op: miopenFusionOpDescriptor_t, alpha: *const c_void,
        beta: *const c_void, activ_alpha: f64, activ_beta: f64, activ_gamma: f64,
    );
    set_op_args_batch_norm_inference = miopenSetOpArgsBatchNormInference(
        args: miopenOperatorArgs_t, bn_op: miopenFusionOpDescriptor_t, alpha: *const c_void,
        beta: *const c_void, bn_scale: *const c_void, bn_bias: *const c_void, estimated_mean: *const c_void,
        estimated_variance: *const c_void, epsilon: f64,
    );
    set_op_args_bias_forward = miopenSetOpArgsBiasForward(
        args: miopenOperatorArgs_t, bias_op: miopenFusionOpDescriptor_t, alpha: *const c_void,
        beta: *const c_void, bias: *const c_void,
    );
    execute_fusion_plan = miopenExecuteFusionPlan(
        handle: miopenHandle_t, fuse_plan_desc: miopenFusionPlanDescriptor_t,
        input_desc: miopenTensorDescriptor_t, input: *const c_void, output_desc: miopenTensorDescriptor_t,
        output: *mut c_void, args: miopenOperatorArgs_t,
    );
}
