//! The functions of vectors.

use super::functions;
use crate::rocblas::level1::{
    axpy, axpy::ex as axpy_ex, dot, dot::ex as dot_ex, nrm2, nrm2::ex as nrm2_ex, scal, scal::ex as scal_ex,
};
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_bfloat16, rocblas_double_complex, rocblas_float_complex, rocblas_half};

/// Puts them into the table.
pub(super) fn fill(table: &mut RocblasTable) {
    untyped(table);
    functions! { table, "6.1"
        axpy [rocblas_half] rocblas_haxpy rocblas_haxpy_batched rocblas_haxpy_strided_batched
            rocblas_haxpy_64 rocblas_haxpy_batched_64 rocblas_haxpy_strided_batched_64
        axpy [f32] rocblas_saxpy rocblas_saxpy_batched rocblas_saxpy_strided_batched
            rocblas_saxpy_64 rocblas_saxpy_batched_64 rocblas_saxpy_strided_batched_64
        axpy [f64] rocblas_daxpy rocblas_daxpy_batched rocblas_daxpy_strided_batched
            rocblas_daxpy_64 rocblas_daxpy_batched_64 rocblas_daxpy_strided_batched_64
        axpy [rocblas_float_complex] rocblas_caxpy rocblas_caxpy_batched rocblas_caxpy_strided_batched
            rocblas_caxpy_64 rocblas_caxpy_batched_64 rocblas_caxpy_strided_batched_64
        axpy [rocblas_double_complex] rocblas_zaxpy rocblas_zaxpy_batched rocblas_zaxpy_strided_batched
            rocblas_zaxpy_64 rocblas_zaxpy_batched_64 rocblas_zaxpy_strided_batched_64
        scal [f32, f32] rocblas_sscal rocblas_sscal_batched rocblas_sscal_strided_batched
            rocblas_sscal_64 rocblas_sscal_batched_64 rocblas_sscal_strided_batched_64
        scal [f64, f64] rocblas_dscal rocblas_dscal_batched rocblas_dscal_strided_batched
            rocblas_dscal_64 rocblas_dscal_batched_64 rocblas_dscal_strided_batched_64
        scal [rocblas_float_complex, rocblas_float_complex] rocblas_cscal rocblas_cscal_batched rocblas_cscal_strided_batched
            rocblas_cscal_64 rocblas_cscal_batched_64 rocblas_cscal_strided_batched_64
        scal [rocblas_double_complex, rocblas_double_complex] rocblas_zscal rocblas_zscal_batched rocblas_zscal_strided_batched
            rocblas_zscal_64 rocblas_zscal_batched_64 rocblas_zscal_strided_batched_64
        scal [f32, rocblas_float_complex] rocblas_csscal rocblas_csscal_batched rocblas_csscal_strided_batched
            rocblas_csscal_64 rocblas_csscal_batched_64 rocblas_csscal_strided_batched_64
        scal [f64, rocblas_double_complex] rocblas_zdscal rocblas_zdscal_batched rocblas_zdscal_strided_batched
            rocblas_zdscal_64 rocblas_zdscal_batched_64 rocblas_zdscal_strided_batched_64
        dot [rocblas_half, false] rocblas_hdot rocblas_hdot_batched rocblas_hdot_strided_batched
            rocblas_hdot_64 rocblas_hdot_batched_64 rocblas_hdot_strided_batched_64
        dot [rocblas_bfloat16, false] rocblas_bfdot rocblas_bfdot_batched rocblas_bfdot_strided_batched
            rocblas_bfdot_64 rocblas_bfdot_batched_64 rocblas_bfdot_strided_batched_64
        dot [f32, false] rocblas_sdot rocblas_sdot_batched rocblas_sdot_strided_batched
            rocblas_sdot_64 rocblas_sdot_batched_64 rocblas_sdot_strided_batched_64
        dot [f64, false] rocblas_ddot rocblas_ddot_batched rocblas_ddot_strided_batched
            rocblas_ddot_64 rocblas_ddot_batched_64 rocblas_ddot_strided_batched_64
        dot [rocblas_float_complex, false] rocblas_cdotu rocblas_cdotu_batched rocblas_cdotu_strided_batched
            rocblas_cdotu_64 rocblas_cdotu_batched_64 rocblas_cdotu_strided_batched_64
        dot [rocblas_float_complex, true] rocblas_cdotc rocblas_cdotc_batched rocblas_cdotc_strided_batched
            rocblas_cdotc_64 rocblas_cdotc_batched_64 rocblas_cdotc_strided_batched_64
        dot [rocblas_double_complex, false] rocblas_zdotu rocblas_zdotu_batched rocblas_zdotu_strided_batched
            rocblas_zdotu_64 rocblas_zdotu_batched_64 rocblas_zdotu_strided_batched_64
        dot [rocblas_double_complex, true] rocblas_zdotc rocblas_zdotc_batched rocblas_zdotc_strided_batched
            rocblas_zdotc_64 rocblas_zdotc_batched_64 rocblas_zdotc_strided_batched_64
        nrm2 [f32, f32] rocblas_snrm2 rocblas_snrm2_batched rocblas_snrm2_strided_batched
            rocblas_snrm2_64 rocblas_snrm2_batched_64 rocblas_snrm2_strided_batched_64
        nrm2 [f64, f64] rocblas_dnrm2 rocblas_dnrm2_batched rocblas_dnrm2_strided_batched
            rocblas_dnrm2_64 rocblas_dnrm2_batched_64 rocblas_dnrm2_strided_batched_64
        nrm2 [rocblas_float_complex, f32] rocblas_scnrm2 rocblas_scnrm2_batched rocblas_scnrm2_strided_batched
            rocblas_scnrm2_64 rocblas_scnrm2_batched_64 rocblas_scnrm2_strided_batched_64
        nrm2 [rocblas_double_complex, f64] rocblas_dznrm2 rocblas_dznrm2_batched rocblas_dznrm2_strided_batched
            rocblas_dznrm2_64 rocblas_dznrm2_batched_64 rocblas_dznrm2_strided_batched_64
    }
}

/// Those whose types are arguments.
fn untyped(table: &mut RocblasTable) {
    functions! { table, "6.1"
        axpy_ex [] rocblas_axpy_ex rocblas_axpy_batched_ex rocblas_axpy_strided_batched_ex
            rocblas_axpy_ex_64 rocblas_axpy_batched_ex_64 rocblas_axpy_strided_batched_ex_64
        dot_ex [false] rocblas_dot_ex rocblas_dot_batched_ex rocblas_dot_strided_batched_ex
            rocblas_dot_ex_64 rocblas_dot_batched_ex_64 rocblas_dot_strided_batched_ex_64
        dot_ex [true] rocblas_dotc_ex rocblas_dotc_batched_ex rocblas_dotc_strided_batched_ex
            rocblas_dotc_ex_64 rocblas_dotc_batched_ex_64 rocblas_dotc_strided_batched_ex_64
        nrm2_ex [] rocblas_nrm2_ex rocblas_nrm2_batched_ex rocblas_nrm2_strided_batched_ex
            rocblas_nrm2_ex_64 rocblas_nrm2_batched_ex_64 rocblas_nrm2_strided_batched_ex_64
        scal_ex [] rocblas_scal_ex rocblas_scal_batched_ex rocblas_scal_strided_batched_ex
            rocblas_scal_ex_64 rocblas_scal_batched_ex_64 rocblas_scal_strided_batched_ex_64
    }
}
