//! The functions of vectors.

use super::functions;
use crate::level1::{
    asum, axpy, axpy::ex as axpy_ex, copy, dot, dot::ex as dot_ex, extreme::iamax, extreme::iamin, nrm2,
    nrm2::ex as nrm2_ex, rot, rot::ex as rot_ex, rotg, scal, scal::ex as scal_ex, swap,
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
        asum [f32, f32] rocblas_sasum rocblas_sasum_batched rocblas_sasum_strided_batched
            rocblas_sasum_64 rocblas_sasum_batched_64 rocblas_sasum_strided_batched_64
        asum [f64, f64] rocblas_dasum rocblas_dasum_batched rocblas_dasum_strided_batched
            rocblas_dasum_64 rocblas_dasum_batched_64 rocblas_dasum_strided_batched_64
        asum [rocblas_float_complex, f32] rocblas_scasum rocblas_scasum_batched rocblas_scasum_strided_batched
            rocblas_scasum_64 rocblas_scasum_batched_64 rocblas_scasum_strided_batched_64
        asum [rocblas_double_complex, f64] rocblas_dzasum rocblas_dzasum_batched rocblas_dzasum_strided_batched
            rocblas_dzasum_64 rocblas_dzasum_batched_64 rocblas_dzasum_strided_batched_64
        iamax [f32] rocblas_isamax rocblas_isamax_batched rocblas_isamax_strided_batched
            rocblas_isamax_64 rocblas_isamax_batched_64 rocblas_isamax_strided_batched_64
        iamax [f64] rocblas_idamax rocblas_idamax_batched rocblas_idamax_strided_batched
            rocblas_idamax_64 rocblas_idamax_batched_64 rocblas_idamax_strided_batched_64
        iamax [rocblas_float_complex] rocblas_icamax rocblas_icamax_batched rocblas_icamax_strided_batched
            rocblas_icamax_64 rocblas_icamax_batched_64 rocblas_icamax_strided_batched_64
        iamax [rocblas_double_complex] rocblas_izamax rocblas_izamax_batched rocblas_izamax_strided_batched
            rocblas_izamax_64 rocblas_izamax_batched_64 rocblas_izamax_strided_batched_64
        iamin [f32] rocblas_isamin rocblas_isamin_batched rocblas_isamin_strided_batched
            rocblas_isamin_64 rocblas_isamin_batched_64 rocblas_isamin_strided_batched_64
        iamin [f64] rocblas_idamin rocblas_idamin_batched rocblas_idamin_strided_batched
            rocblas_idamin_64 rocblas_idamin_batched_64 rocblas_idamin_strided_batched_64
        iamin [rocblas_float_complex] rocblas_icamin rocblas_icamin_batched rocblas_icamin_strided_batched
            rocblas_icamin_64 rocblas_icamin_batched_64 rocblas_icamin_strided_batched_64
        iamin [rocblas_double_complex] rocblas_izamin rocblas_izamin_batched rocblas_izamin_strided_batched
            rocblas_izamin_64 rocblas_izamin_batched_64 rocblas_izamin_strided_batched_64
        copy [f32] rocblas_scopy rocblas_scopy_batched rocblas_scopy_strided_batched
            rocblas_scopy_64 rocblas_scopy_batched_64 rocblas_scopy_strided_batched_64
        copy [f64] rocblas_dcopy rocblas_dcopy_batched rocblas_dcopy_strided_batched
            rocblas_dcopy_64 rocblas_dcopy_batched_64 rocblas_dcopy_strided_batched_64
        copy [rocblas_float_complex] rocblas_ccopy rocblas_ccopy_batched rocblas_ccopy_strided_batched
            rocblas_ccopy_64 rocblas_ccopy_batched_64 rocblas_ccopy_strided_batched_64
        copy [rocblas_double_complex] rocblas_zcopy rocblas_zcopy_batched rocblas_zcopy_strided_batched
            rocblas_zcopy_64 rocblas_zcopy_batched_64 rocblas_zcopy_strided_batched_64
        swap [f32] rocblas_sswap rocblas_sswap_batched rocblas_sswap_strided_batched
            rocblas_sswap_64 rocblas_sswap_batched_64 rocblas_sswap_strided_batched_64
        swap [f64] rocblas_dswap rocblas_dswap_batched rocblas_dswap_strided_batched
            rocblas_dswap_64 rocblas_dswap_batched_64 rocblas_dswap_strided_batched_64
        swap [rocblas_float_complex] rocblas_cswap rocblas_cswap_batched rocblas_cswap_strided_batched
            rocblas_cswap_64 rocblas_cswap_batched_64 rocblas_cswap_strided_batched_64
        swap [rocblas_double_complex] rocblas_zswap rocblas_zswap_batched rocblas_zswap_strided_batched
            rocblas_zswap_64 rocblas_zswap_batched_64 rocblas_zswap_strided_batched_64
        rot [f32, f32, f32] rocblas_srot rocblas_srot_batched rocblas_srot_strided_batched
            rocblas_srot_64 rocblas_srot_batched_64 rocblas_srot_strided_batched_64
        rot [f64, f64, f64] rocblas_drot rocblas_drot_batched rocblas_drot_strided_batched
            rocblas_drot_64 rocblas_drot_batched_64 rocblas_drot_strided_batched_64
        rot [rocblas_float_complex, f32, rocblas_float_complex] rocblas_crot rocblas_crot_batched rocblas_crot_strided_batched
            rocblas_crot_64 rocblas_crot_batched_64 rocblas_crot_strided_batched_64
        rot [rocblas_double_complex, f64, rocblas_double_complex] rocblas_zrot rocblas_zrot_batched rocblas_zrot_strided_batched
            rocblas_zrot_64 rocblas_zrot_batched_64 rocblas_zrot_strided_batched_64
        rot [rocblas_float_complex, f32, f32] rocblas_csrot rocblas_csrot_batched rocblas_csrot_strided_batched
            rocblas_csrot_64 rocblas_csrot_batched_64 rocblas_csrot_strided_batched_64
        rot [rocblas_double_complex, f64, f64] rocblas_zdrot rocblas_zdrot_batched rocblas_zdrot_strided_batched
            rocblas_zdrot_64 rocblas_zdrot_batched_64 rocblas_zdrot_strided_batched_64
        rotg [f32, f32] rocblas_srotg rocblas_srotg_batched rocblas_srotg_strided_batched
            rocblas_srotg_64 rocblas_srotg_batched_64 rocblas_srotg_strided_batched_64
        rotg [f64, f64] rocblas_drotg rocblas_drotg_batched rocblas_drotg_strided_batched
            rocblas_drotg_64 rocblas_drotg_batched_64 rocblas_drotg_strided_batched_64
        rotg [rocblas_float_complex, f32] rocblas_crotg rocblas_crotg_batched rocblas_crotg_strided_batched
            rocblas_crotg_64 rocblas_crotg_batched_64 rocblas_crotg_strided_batched_64
        rotg [rocblas_double_complex, f64] rocblas_zrotg rocblas_zrotg_batched rocblas_zrotg_strided_batched
            rocblas_zrotg_64 rocblas_zrotg_batched_64 rocblas_zrotg_strided_batched_64
    }
}

/// Functions whose types are arguments.
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
        rot_ex [] rocblas_rot_ex rocblas_rot_batched_ex rocblas_rot_strided_batched_ex
            rocblas_rot_ex_64 rocblas_rot_batched_ex_64 rocblas_rot_strided_batched_ex_64
        scal_ex [] rocblas_scal_ex rocblas_scal_batched_ex rocblas_scal_strided_batched_ex
            rocblas_scal_ex_64 rocblas_scal_batched_ex_64 rocblas_scal_strided_batched_ex_64
    }
}
