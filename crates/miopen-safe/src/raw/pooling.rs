//! Pooling.

use super::{Failure, calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenHandle_t, miopenIndexType_t, miopenPoolingDescriptor_t, miopenPoolingMode_t,
    miopenPoolingWorkspaceIndexMode_t, miopenTensorDescriptor_t,
};
use std::ffi::{c_int, c_void};

calls! {
    create_pooling_descriptor = miopenCreatePoolingDescriptor(pool_desc: *mut miopenPoolingDescriptor_t);
    destroy_pooling_descriptor = miopenDestroyPoolingDescriptor(pool_desc: miopenPoolingDescriptor_t);
    set_nd_pooling_descriptor = miopenSetNdPoolingDescriptor(
        pool_desc: miopenPoolingDescriptor_t, mode: miopenPoolingMode_t, nb_dims: c_int,
        window_dim_a: *const c_int, pad_a: *const c_int, strides_a: *const c_int,
    );
    set_pooling_index_type = miopenSetPoolingIndexType(
        pool_desc: miopenPoolingDescriptor_t, index_type: miopenIndexType_t,
    );
    set_pooling_workspace_index_mode = miopenSetPoolingWorkSpaceIndexMode(
        pool_desc: miopenPoolingDescriptor_t, workspace_index: miopenPoolingWorkspaceIndexMode_t,
    );
    get_pooling_nd_forward_output_dim = miopenGetPoolingNdForwardOutputDim(
        pool_desc: miopenPoolingDescriptor_t, tensor_desc: miopenTensorDescriptor_t, dims: c_int,
        tensor_dim_arr: *mut c_int,
    );
    pooling_get_workspace_size_v2 = miopenPoolingGetWorkSpaceSizeV2(
        pool_desc: miopenPoolingDescriptor_t, y_desc: miopenTensorDescriptor_t, work_space_size: *mut usize,
    );
    pooling_forward = miopenPoolingForward(
        handle: miopenHandle_t, pool_desc: miopenPoolingDescriptor_t, alpha: *const c_void,
        x_desc: miopenTensorDescriptor_t, x: *const c_void, beta: *const c_void,
        y_desc: miopenTensorDescriptor_t, y: *mut c_void, do_backward: bool, work_space: *mut c_void,
        work_space_size: usize,
    );
    pooling_backward = miopenPoolingBackward(
        handle: miopenHandle_t, pool_desc: miopenPoolingDescriptor_t, alpha: *const c_void,
        y_desc: miopenTensorDescriptor_t, y: *const c_void, dy_desc: miopenTensorDescriptor_t,
        dy: *const c_void, x_desc: miopenTensorDescriptor_t, x: *const c_void, beta: *const c_void,
        dx_desc: miopenTensorDescriptor_t, dx: *mut c_void, work_space: *mut c_void,
    );
}
