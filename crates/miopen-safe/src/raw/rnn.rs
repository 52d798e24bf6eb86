//! Recurrent networks.

use super::{Failure, calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenDataType_t, miopenDropoutDescriptor_t, miopenHandle_t, miopenRNNAlgo_t, miopenRNNBiasMode_t,
    miopenRNNDescriptor_t, miopenRNNDirectionMode_t, miopenRNNInputMode_t, miopenRNNMode_t,
    miopenTensorDescriptor_t,
};
use std::ffi::{c_int, c_void};

calls! {
    create_rnn_descriptor = miopenCreateRNNDescriptor(rnn_desc: *mut miopenRNNDescriptor_t);
    destroy_rnn_descriptor = miopenDestroyRNNDescriptor(rnn_desc: miopenRNNDescriptor_t);
    set_rnn_descriptor = miopenSetRNNDescriptor(
        rnn_desc: miopenRNNDescriptor_t, hsize: c_int, nlayers: c_int, in_mode: miopenRNNInputMode_t,
        direction: miopenRNNDirectionMode_t, rnn_mode: miopenRNNMode_t, bias_mode: miopenRNNBiasMode_t,
        algo: miopenRNNAlgo_t, data_type: miopenDataType_t,
    );
    set_rnn_descriptor_v2 = miopenSetRNNDescriptor_V2(
        rnn_desc: miopenRNNDescriptor_t, hsize: c_int, nlayers: c_int,
        dropout_desc: miopenDropoutDescriptor_t, in_mode: miopenRNNInputMode_t,
        direction: miopenRNNDirectionMode_t, rnn_mode: miopenRNNMode_t, bias_mode: miopenRNNBiasMode_t,
        algo: miopenRNNAlgo_t, data_type: miopenDataType_t,
    );
    get_rnn_workspace_size = miopenGetRNNWorkspaceSize(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, sequence_len: c_int,
        x_desc: *const miopenTensorDescriptor_t, num_bytes: *mut usize,
    );
    get_rnn_training_reserve_size = miopenGetRNNTrainingReserveSize(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, sequence_len: c_int,
        x_desc: *const miopenTensorDescriptor_t, num_bytes: *mut usize,
    );
    get_rnn_params_size = miopenGetRNNParamsSize(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, x_desc: miopenTensorDescriptor_t,
        num_bytes: *mut usize, dtype: miopenDataType_t,
    );
    get_rnn_params_descriptor = miopenGetRNNParamsDescriptor(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, x_desc: miopenTensorDescriptor_t,
        w_desc: miopenTensorDescriptor_t, dtype: miopenDataType_t,
    );
    get_rnn_layer_param = miopenGetRNNLayerParam(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, layer: c_int,
        x_desc: miopenTensorDescriptor_t, w_desc: miopenTensorDescriptor_t, w: *const c_void,
        param_id: c_int, param_desc: miopenTensorDescriptor_t, layer_param: *mut c_void,
    );
    get_rnn_layer_bias = miopenGetRNNLayerBias(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, layer: c_int,
        x_desc: miopenTensorDescriptor_t, w_desc: miopenTensorDescriptor_t, w: *const c_void,
        bias_id: c_int, bias_desc: miopenTensorDescriptor_t, layer_bias: *mut c_void,
    );
    get_rnn_layer_param_offset = miopenGetRNNLayerParamOffset(
        rnn_desc: miopenRNNDescriptor_t, layer: c_int, x_desc: miopenTensorDescriptor_t, param_id: c_int,
        param_desc: miopenTensorDescriptor_t, layer_param_offset: *mut usize,
    );
    get_rnn_layer_bias_offset = miopenGetRNNLayerBiasOffset(
        rnn_desc: miopenRNNDescriptor_t, layer: c_int, x_desc: miopenTensorDescriptor_t, bias_id: c_int,
        bias_desc: miopenTensorDescriptor_t, layer_bias_offset: *mut usize,
    );
    rnn_forward_inference = miopenRNNForwardInference(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, sequence_len: c_int,
        x_desc: *const miopenTensorDescriptor_t, x: *const c_void, hx_desc: miopenTensorDescriptor_t,
        hx: *const c_void, cx_desc: miopenTensorDescriptor_t, cx: *const c_void,
        w_desc: miopenTensorDescriptor_t, w: *const c_void, y_desc: *const miopenTensorDescriptor_t,
        y: *mut c_void, hy_desc: miopenTensorDescriptor_t, hy: *mut c_void,
        cy_desc: miopenTensorDescriptor_t, cy: *mut c_void, work_space: *mut c_void,
        work_space_num_bytes: usize,
    );
    rnn_forward_training = miopenRNNForwardTraining(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, sequence_len: c_int,
        x_desc: *const miopenTensorDescriptor_t, x: *const c_void, hx_desc: miopenTensorDescriptor_t,
        hx: *const c_void, cx_desc: miopenTensorDescriptor_t, cx: *const c_void,
        w_desc: miopenTensorDescriptor_t, w: *const c_void, y_desc: *const miopenTensorDescriptor_t,
        y: *mut c_void, hy_desc: miopenTensorDescriptor_t, hy: *mut c_void,
        cy_desc: miopenTensorDescriptor_t, cy: *mut c_void, work_space: *mut c_void,
        work_space_num_bytes: usize, reserve_space: *mut c_void, reserve_space_num_bytes: usize,
    );
    rnn_backward_data = miopenRNNBackwardData(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, sequence_len: c_int,
        y_desc: *const miopenTensorDescriptor_t, y: *const c_void, dy_desc: *const miopenTensorDescriptor_t,
        dy: *const c_void, dhy_desc: miopenTensorDescriptor_t, dhy: *const c_void,
        dcy_desc: miopenTensorDescriptor_t, dcy: *const c_void, w_desc: miopenTensorDescriptor_t,
        w: *const c_void, hx_desc: miopenTensorDescriptor_t, hx: *const c_void,
        cx_desc: miopenTensorDescriptor_t, cx: *const c_void, dx_desc: *const miopenTensorDescriptor_t,
        dx: *mut c_void, dhx_desc: miopenTensorDescriptor_t, dhx: *mut c_void,
        dcx_desc: miopenTensorDescriptor_t, dcx: *mut c_void, work_space: *mut c_void,
        work_space_num_bytes: usize, reserve_space: *mut c_void, reserve_space_num_bytes: usize,
    );
    rnn_backward_weights = miopenRNNBackwardWeights(
        handle: miopenHandle_t, rnn_desc: miopenRNNDescriptor_t, sequence_len: c_int,
        x_desc: *const miopenTensorDescriptor_t, x: *const c_void, hx_desc: miopenTensorDescriptor_t,
        hx: *const c_void, y_desc: *const miopenTensorDescriptor_t, y: *const c_void,
        dw_desc: miopenTensorDescriptor_t, dw: *mut c_void, work_space: *mut c_void,
        work_space_num_bytes: usize, reserve_space: *const c_void, reserve_space_num_bytes: usize,
    );
}
