//! Reductions.

use super::{Failure, calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenIndicesType_t, miopenNanPropagation_t,
    miopenReduceTensorDescriptor_t, miopenReduceTensorIndices_t, miopenReduceTensorOp_t,
    miopenTensorDescriptor_t,
};
use std::ffi::c_void;

calls! {
    create_reduce_tensor_descriptor = miopenCreateReduceTensorDescriptor(
        reduce_tensor_desc: *mut miopenReduceTensorDescriptor_t,
    );
    destroy_reduce_tensor_descriptor = miopenDestroyReduceTensorDescriptor(
        reduce_tensor_desc: miopenReduceTensorDescriptor_t,
    );
    set_reduce_tensor_descriptor = miopenSetReduceTensorDescriptor(
        reduce_tensor_desc: miopenReduceTensorDescriptor_t, reduce_tensor_op: miopenReduceTensorOp_t,
        reduce_tensor_comp_type: miopenDataType_t, reduce_tensor_nan_opt: miopenNanPropagation_t,
        reduce_tensor_indices: miopenReduceTensorIndices_t, reduce_tensor_indices_type: miopenIndicesType_t,
    );
    get_reduction_indices_size = miopenGetReductionIndicesSize(
        handle: miopenHandle_t, reduce_tensor_desc: miopenReduceTensorDescriptor_t,
        a_desc: miopenTensorDescriptor_t, c_desc: miopenTensorDescriptor_t, size_in_bytes: *mut usize,
    );
    get_reduction_workspace_size = miopenGetReductionWorkspaceSize(
        handle: miopenHandle_t, reduce_tensor_desc: miopenReduceTensorDescriptor_t,
        a_desc: miopenTensorDescriptor_t, c_desc: miopenTensorDescriptor_t, size_in_bytes: *mut usize,
    );
    reduce_tensor = miopenReduceTensor(
        handle: miopenHandle_t, reduce_tensor_desc: miopenReduceTensorDescriptor_t, indices: *mut c_void,
        indices_size_in_bytes: usize, workspace: *mut c_void, workspace_size_in_bytes: usize,
        alpha: *const c_void, a_desc: miopenTensorDescriptor_t, a: *const c_void, beta: *const c_void,
        c_desc: miopenTensorDescriptor_t, c: *mut c_void,
    );
}
