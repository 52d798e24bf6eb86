//! The loss of connectionist temporal classification.

use super::{Failure, calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenCTCLossAlgo_t, miopenCTCLossDescriptor_t, miopenDataType_t, miopenHandle_t,
    miopenTensorDescriptor_t,
};
use std::ffi::{c_int, c_void};

calls! {
    create_ctc_loss_descriptor = miopenCreateCTCLossDescriptor(
        ctc_loss_desc: *mut miopenCTCLossDescriptor_t,
    );
    destroy_ctc_loss_descriptor = miopenDestroyCTCLossDescriptor(ctc_loss_desc: miopenCTCLossDescriptor_t);
    set_ctc_loss_descriptor = miopenSetCTCLossDescriptor(
        ctc_loss_desc: miopenCTCLossDescriptor_t, data_type: miopenDataType_t, blank_label_id: c_int,
        apply_softmax_layer: bool,
    );
    get_ctc_loss_workspace_size = miopenGetCTCLossWorkspaceSize(
        handle: miopenHandle_t, probs_desc: miopenTensorDescriptor_t,
        gradients_desc: miopenTensorDescriptor_t, labels: *const c_int, label_lengths: *const c_int,
        input_lengths: *const c_int, algo: miopenCTCLossAlgo_t, ctc_loss_desc: miopenCTCLossDescriptor_t,
        work_space_size: *mut usize,
    );
    ctc_loss = miopenCTCLoss(
        handle: miopenHandle_t, probs_desc: miopenTensorDescriptor_t, probs: *const c_void,
        labels: *const c_int, label_lengths: *const c_int, input_lengths: *const c_int, losses: *mut c_void,
        gradients_desc: miopenTensorDescriptor_t, gradients: *mut c_void, algo: miopenCTCLossAlgo_t,
        ctc_loss_desc: miopenCTCLossDescriptor_t, work_space: *mut c_void, work_space_size: usize,
    );
}
