//! Descriptors of tensors, and elementwise work on them.

use super::{Failure, calls};
use hip_sys::Miopen;
use hip_sys::miopen::{miopenDataType_t, miopenHandle_t, miopenTensorDescriptor_t, miopenTensorOp_t};
use std::ffi::{c_int, c_void};

calls! {
    create_tensor_descriptor = miopenCreateTensorDescriptor(tensor_desc: *mut miopenTensorDescriptor_t);
    set_tensor_descriptor = miopenSetTensorDescriptor(
        tensor_desc: miopenTensorDescriptor_t, data_type: miopenDataType_t, nb_dims: c_int,
        dims_a: *const c_int, strides_a: *const c_int,
    );
    get_tensor_descriptor_size = miopenGetTensorDescriptorSize(
        tensor_desc: miopenTensorDescriptor_t, size: *mut c_int,
    );
    get_tensor_descriptor = miopenGetTensorDescriptor(
        tensor_desc: miopenTensorDescriptor_t, data_type: *mut miopenDataType_t, dims_a: *mut c_int,
        strides_a: *mut c_int,
    );
    get_tensor_num_bytes = miopenGetTensorNumBytes(
        tensor_desc: miopenTensorDescriptor_t, num_bytes: *mut usize,
    );
    destroy_tensor_descriptor = miopenDestroyTensorDescriptor(tensor_desc: miopenTensorDescriptor_t);
    op_tensor = miopenOpTensor(
        handle: miopenHandle_t, tensor_op: miopenTensorOp_t, alpha1: *const c_void,
        a_desc: miopenTensorDescriptor_t, a: *const c_void, alpha2: *const c_void,
        b_desc: miopenTensorDescriptor_t, b: *const c_void, beta: *const c_void,
        c_desc: miopenTensorDescriptor_t, c: *mut c_void,
    );
    set_tensor = miopenSetTensor(
        handle: miopenHandle_t, y_desc: miopenTensorDescriptor_t, y: *mut c_void, alpha: *const c_void,
    );
    scale_tensor = miopenScaleTensor(
        handle: miopenHandle_t, y_desc: miopenTensorDescriptor_t, y: *mut c_void, alpha: *const c_void,
    );
    transform_tensor = miopenTransformTensor(
        handle: miopenHandle_t, alpha: *const c_void, x_desc: miopenTensorDescriptor_t, x: *const c_void,
        beta: *const c_void, y_desc: miopenTensorDescriptor_t, y: *mut c_void,
    );
}
