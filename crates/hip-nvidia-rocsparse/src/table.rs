//! The C functions.

use crate::convert::{self, Turn};
use crate::{handle, product, solve, spgemm};
use hip_sys::RocsparseTable;
use hip_sys::provider::sparse::{self, Scalar};
use hip_sys::rocsparse::{
    rocsparse_action, rocsparse_double_complex, rocsparse_float_complex, rocsparse_handle,
    rocsparse_index_base, rocsparse_status,
};
use std::ffi::c_void;

/// All functions. Those of descriptors are the same on all platforms but AMD's.
pub(crate) fn functions() -> RocsparseTable {
    RocsparseTable {
        rocsparse_create_handle: handle::create,
        rocsparse_destroy_handle: handle::destroy,
        rocsparse_set_stream: handle::set_stream,
        rocsparse_get_version: handle::get_version,
        rocsparse_spmv: product::spmv,
        rocsparse_spmm: product::spmm,
        rocsparse_spgemm: spgemm::spgemm,
        rocsparse_spsv: solve::spsv,
        rocsparse_spsm: solve::spsm,
        rocsparse_sddmm_buffer_size: product::sddmm_buffer_size,
        rocsparse_sddmm_preprocess: product::sddmm_preprocess,
        rocsparse_sddmm: product::sddmm,
        rocsparse_axpby: product::axpby,
        rocsparse_gather: product::gather,
        rocsparse_scatter: product::scatter,
        rocsparse_sparse_to_dense: convert::sparse_to_dense,
        rocsparse_dense_to_sparse: convert::dense_to_sparse,
        rocsparse_csr2coo: convert::csr2coo,
        rocsparse_coo2csr: convert::coo2csr,
        rocsparse_csr2csc_buffer_size: convert::csr2csc_buffer_size,
        rocsparse_scsr2csc,
        rocsparse_dcsr2csc,
        rocsparse_ccsr2csc,
        rocsparse_zcsr2csc,
        rocsparse_coosort_buffer_size: convert::coosort_buffer_size,
        rocsparse_coosort_by_row: convert::coosort_by_row,
        rocsparse_csrsort_buffer_size: convert::csrsort_buffer_size,
        rocsparse_csrsort: convert::csrsort,
        rocsparse_create_identity_permutation: convert::identity,
        ..sparse::table()
    }
}

macro_rules! csr2csc {
    ($($function:ident: $T:ty = $scalar:ident;)*) => {$(
        unsafe extern "C" fn $function(
            handle: rocsparse_handle,
            rows: i32,
            cols: i32,
            stored: i32,
            values: *const $T,
            offsets: *const i32,
            indices: *const i32,
            to_values: *mut $T,
            to_indices: *mut i32,
            to_offsets: *mut i32,
            action: rocsparse_action,
            base: rocsparse_index_base,
            work: *mut c_void,
        ) -> rocsparse_status {
            let (values, to_values) = (values.cast(), to_values.cast());
            let sizes = [rows, cols, stored];
            let of = Turn { sizes, offsets, indices, values, to_offsets, to_indices, to_values, work };
            convert::csr2csc(handle, Scalar::$scalar, of, action, base)
        }
    )*};
}

csr2csc! {
    rocsparse_scsr2csc: f32 = F32;
    rocsparse_dcsr2csc: f64 = F64;
    rocsparse_ccsr2csc: rocsparse_float_complex = C32;
    rocsparse_zcsr2csc: rocsparse_double_complex = C64;
}
