//! Dropout.

use super::{Failure, calls};
use hip_sys::Miopen;
use hip_sys::miopen::{miopenDropoutDescriptor_t, miopenHandle_t, miopenRNGType_t, miopenTensorDescriptor_t};
use std::ffi::{c_ulonglong, c_void};

calls! {
    create_dropout_descriptor = miopenCreateDropoutDescriptor(dropout_desc: *mut miopenDropoutDescriptor_t);
    destroy_dropout_descriptor = miopenDestroyDropoutDescriptor(dropout_desc: miopenDropoutDescriptor_t);
    set_dropout_descriptor = miopenSetDropoutDescriptor(
        dropout_desc: miopenDropoutDescriptor_t, handle: miopenHandle_t, dropout: f32, states: *mut c_void,
        state_size_in_bytes: usize, seed: c_ulonglong, use_mask: bool, state_evo: bool,
        rng_mode: miopenRNGType_t,
    );
    restore_dropout_descriptor = miopenRestoreDropoutDescriptor(
        dropout_desc: miopenDropoutDescriptor_t, handle: miopenHandle_t, dropout: f32, states: *mut c_void,
        state_size_in_bytes: usize, seed: c_ulonglong, use_mask: bool, state_evo: bool,
        rng_mode: miopenRNGType_t,
    );
    dropout_get_states_size = miopenDropoutGetStatesSize(
        handle: miopenHandle_t, state_size_in_bytes: *mut usize,
    );
    dropout_get_reserve_space_size = miopenDropoutGetReserveSpaceSize(
        x_desc: miopenTensorDescriptor_t, reserve_space_size_in_bytes: *mut usize,
    );
    dropout_forward = miopenDropoutForward(
        handle: miopenHandle_t, dropout_desc: miopenDropoutDescriptor_t,
        noise_shape: miopenTensorDescriptor_t, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        y_desc: miopenTensorDescriptor_t, y: *mut c_void, reserve_space: *mut c_void,
        reserve_space_size_in_bytes: usize,
    );
    dropout_backward = miopenDropoutBackward(
        handle: miopenHandle_t, dropout_desc: miopenDropoutDescriptor_t,
        noise_shape: miopenTensorDescriptor_t, dy_desc: miopenTensorDescriptor_t, dy: *const c_void,
        dx_desc: miopenTensorDescriptor_t, dx: *mut c_void, reserve_space: *mut c_void,
        reserve_space_size_in_bytes: usize,
    );
}
