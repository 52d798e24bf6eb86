//! Activations and softmax.

use super::{Failure, calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenActivationDescriptor_t, miopenActivationMode_t, miopenHandle_t, miopenSoftmaxAlgorithm_t,
    miopenSoftmaxMode_t, miopenTensorDescriptor_t,
};
use std::ffi::c_void;

calls! {
    create_activation_descriptor = miopenCreateActivationDescriptor(
        activ_desc: *mut miopenActivationDescriptor_t,
    );
    destroy_activation_descriptor = miopenDestroyActivationDescriptor(
        activ_desc: miopenActivationDescriptor_t,
    );
    set_activation_descriptor = miopenSetActivationDescriptor(
        activ_desc: miopenActivationDescriptor_t, mode: miopenActivationMode_t, activ_alpha: f64,
        activ_beta: f64, activ_gamma: f64,
    );
    activation_forward = miopenActivationForward(
        handle: miopenHandle_t, activ_desc: miopenActivationDescriptor_t, alpha: *const c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, beta: *const c_void,
        y_desc: miopenTensorDescriptor_t, y: *mut c_void,
    );
    activation_backward = miopenActivationBackward(
        handle: miopenHandle_t, activ_desc: miopenActivationDescriptor_t, alpha: *const c_void,
        y_desc: miopenTensorDescriptor_t, y: *const c_void, dy_desc: miopenTensorDescriptor_t,
        dy: *const c_void, x_desc: miopenTensorDescriptor_t, x: *const c_void, beta: *const c_void,
        dx_desc: miopenTensorDescriptor_t, dx: *mut c_void,
    );
    softmax_forward_v2 = miopenSoftmaxForward_V2(
        handle: miopenHandle_t, alpha: *const c_void, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        beta: *const c_void, y_desc: miopenTensorDescriptor_t, y: *mut c_void,
        algorithm: miopenSoftmaxAlgorithm_t, mode: miopenSoftmaxMode_t,
    );
    softmax_backward_v2 = miopenSoftmaxBackward_V2(
        handle: miopenHandle_t, alpha: *const c_void, y_desc: miopenTensorDescriptor_t, y: *const c_void,
        dy_desc: miopenTensorDescriptor_t, dy: *const c_void, beta: *const c_void,
        dx_desc: miopenTensorDescriptor_t, dx: *mut c_void, algorithm: miopenSoftmaxAlgorithm_t,
        mode: miopenSoftmaxMode_t,
    );
}
