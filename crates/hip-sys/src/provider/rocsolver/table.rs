//! The whole table.

use super::{Solver, forms};
use crate::RocsolverTable;
use crate::rocblas::{rocblas_double_complex, rocblas_float_complex};

/// A table of the functions of an implementation. `rocsolver_get_version_string` answers "not implemented".
pub fn table<S>() -> RocsolverTable
where
    S: Solver<f32> + Solver<f64> + Solver<rocblas_float_complex> + Solver<rocblas_double_complex>,
{
    let mut table = RocsolverTable::not_implemented();
    macro_rules! fill {
        ($($op:ident [$T:ty] $plain:ident $($strided:ident)?;)*) => {
            $(
                table.$plain = forms::$op::plain::<S, $T>;
                $(table.$strided = forms::$op::strided::<S, $T>;)?
            )*
        };
    }
    fill! {
        getrf [f32] rocsolver_sgetrf rocsolver_sgetrf_strided_batched;
        getrf [f64] rocsolver_dgetrf rocsolver_dgetrf_strided_batched;
        getrf [rocblas_float_complex] rocsolver_cgetrf rocsolver_cgetrf_strided_batched;
        getrf [rocblas_double_complex] rocsolver_zgetrf rocsolver_zgetrf_strided_batched;
        getrs [f32] rocsolver_sgetrs rocsolver_sgetrs_strided_batched;
        getrs [f64] rocsolver_dgetrs rocsolver_dgetrs_strided_batched;
        getrs [rocblas_float_complex] rocsolver_cgetrs rocsolver_cgetrs_strided_batched;
        getrs [rocblas_double_complex] rocsolver_zgetrs rocsolver_zgetrs_strided_batched;
        getri [f32] rocsolver_sgetri rocsolver_sgetri_strided_batched;
        getri [f64] rocsolver_dgetri rocsolver_dgetri_strided_batched;
        getri [rocblas_float_complex] rocsolver_cgetri rocsolver_cgetri_strided_batched;
        getri [rocblas_double_complex] rocsolver_zgetri rocsolver_zgetri_strided_batched;
        potrf [f32] rocsolver_spotrf rocsolver_spotrf_strided_batched;
        potrf [f64] rocsolver_dpotrf rocsolver_dpotrf_strided_batched;
        potrf [rocblas_float_complex] rocsolver_cpotrf rocsolver_cpotrf_strided_batched;
        potrf [rocblas_double_complex] rocsolver_zpotrf rocsolver_zpotrf_strided_batched;
        potrs [f32] rocsolver_spotrs rocsolver_spotrs_strided_batched;
        potrs [f64] rocsolver_dpotrs rocsolver_dpotrs_strided_batched;
        potrs [rocblas_float_complex] rocsolver_cpotrs rocsolver_cpotrs_strided_batched;
        potrs [rocblas_double_complex] rocsolver_zpotrs rocsolver_zpotrs_strided_batched;
        posv [f32] rocsolver_sposv rocsolver_sposv_strided_batched;
        posv [f64] rocsolver_dposv rocsolver_dposv_strided_batched;
        posv [rocblas_float_complex] rocsolver_cposv rocsolver_cposv_strided_batched;
        posv [rocblas_double_complex] rocsolver_zposv rocsolver_zposv_strided_batched;
        geqrf [f32] rocsolver_sgeqrf rocsolver_sgeqrf_strided_batched;
        geqrf [f64] rocsolver_dgeqrf rocsolver_dgeqrf_strided_batched;
        geqrf [rocblas_float_complex] rocsolver_cgeqrf rocsolver_cgeqrf_strided_batched;
        geqrf [rocblas_double_complex] rocsolver_zgeqrf rocsolver_zgeqrf_strided_batched;
        gels [f32] rocsolver_sgels rocsolver_sgels_strided_batched;
        gels [f64] rocsolver_dgels rocsolver_dgels_strided_batched;
        gels [rocblas_float_complex] rocsolver_cgels rocsolver_cgels_strided_batched;
        gels [rocblas_double_complex] rocsolver_zgels rocsolver_zgels_strided_batched;
        gesvd [f32] rocsolver_sgesvd rocsolver_sgesvd_strided_batched;
        gesvd [f64] rocsolver_dgesvd rocsolver_dgesvd_strided_batched;
        gesvd [rocblas_float_complex] rocsolver_cgesvd rocsolver_cgesvd_strided_batched;
        gesvd [rocblas_double_complex] rocsolver_zgesvd rocsolver_zgesvd_strided_batched;
        syevd [f32] rocsolver_ssyevd rocsolver_ssyevd_strided_batched;
        syevd [f64] rocsolver_dsyevd rocsolver_dsyevd_strided_batched;
        syevd [rocblas_float_complex] rocsolver_cheevd rocsolver_cheevd_strided_batched;
        syevd [rocblas_double_complex] rocsolver_zheevd rocsolver_zheevd_strided_batched;
        sygvd [f32] rocsolver_ssygvd rocsolver_ssygvd_strided_batched;
        sygvd [f64] rocsolver_dsygvd rocsolver_dsygvd_strided_batched;
        sygvd [rocblas_float_complex] rocsolver_chegvd rocsolver_chegvd_strided_batched;
        sygvd [rocblas_double_complex] rocsolver_zhegvd rocsolver_zhegvd_strided_batched;
        orgqr [f32] rocsolver_sorgqr;
        orgqr [f64] rocsolver_dorgqr;
        orgqr [rocblas_float_complex] rocsolver_cungqr;
        orgqr [rocblas_double_complex] rocsolver_zungqr;
        ormqr [f32] rocsolver_sormqr;
        ormqr [f64] rocsolver_dormqr;
        ormqr [rocblas_float_complex] rocsolver_cunmqr;
        ormqr [rocblas_double_complex] rocsolver_zunmqr;
    }
    table
}
