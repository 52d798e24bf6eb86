//! Operations. See the [module](super) for what the unsafe functions ask.

use super::{Api, Result, Stage, call, size_and_work};
use hip_sys::rocsparse::{
    rocsparse_const_dnmat_descr, rocsparse_const_dnvec_descr, rocsparse_const_spmat_descr,
    rocsparse_const_spvec_descr, rocsparse_datatype, rocsparse_dnmat_descr, rocsparse_dnvec_descr,
    rocsparse_operation, rocsparse_sddmm_alg, rocsparse_spgemm_alg, rocsparse_spgemm_stage,
    rocsparse_spmat_descr, rocsparse_spmm_alg, rocsparse_spmm_stage, rocsparse_spmv_alg,
    rocsparse_spmv_stage, rocsparse_spsm_alg, rocsparse_spsm_stage, rocsparse_spsv_alg, rocsparse_spsv_stage,
    rocsparse_spvec_descr,
};
use std::ffi::c_void;

/// Factors of an operation, by their addresses.
pub(crate) type Factors = [*const c_void; 2];

pub(crate) unsafe fn spmv(
    api: Api<'_>,
    op: rocsparse_operation,
    [alpha, beta]: Factors,
    matrix: rocsparse_spmat_descr,
    (x, y): (rocsparse_dnvec_descr, rocsparse_dnvec_descr),
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spmv_stage::rocsparse_spmv_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spmv_stage::rocsparse_spmv_stage_preprocess,
        Stage::Compute(_) => rocsparse_spmv_stage::rocsparse_spmv_stage_compute,
    };
    let algorithm = rocsparse_spmv_alg::rocsparse_spmv_alg_default;
    let (size, work) = size_and_work(stage);
    let (matrix, x): (rocsparse_const_spmat_descr, rocsparse_const_dnvec_descr) = (matrix, x);
    call!(
        api.table,
        rocsparse_spmv(api.handle, op, alpha, matrix, x, beta, y, kind, algorithm, number, size, work)
    )
}

pub(crate) unsafe fn spmm(
    api: Api<'_>,
    [op, op_b]: [rocsparse_operation; 2],
    [alpha, beta]: Factors,
    matrix: rocsparse_spmat_descr,
    (b, c): (rocsparse_dnmat_descr, rocsparse_dnmat_descr),
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spmm_stage::rocsparse_spmm_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spmm_stage::rocsparse_spmm_stage_preprocess,
        Stage::Compute(_) => rocsparse_spmm_stage::rocsparse_spmm_stage_compute,
    };
    let algorithm = rocsparse_spmm_alg::rocsparse_spmm_alg_default;
    let (size, work) = size_and_work(stage);
    call!(
        api.table,
        rocsparse_spmm(api.handle, op, op_b, alpha, matrix, b, beta, c, kind, algorithm, number, size, work)
    )
}

pub(crate) unsafe fn spsv(
    api: Api<'_>,
    op: rocsparse_operation,
    alpha: *const c_void,
    matrix: rocsparse_spmat_descr,
    (x, y): (rocsparse_dnvec_descr, rocsparse_dnvec_descr),
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spsv_stage::rocsparse_spsv_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spsv_stage::rocsparse_spsv_stage_preprocess,
        Stage::Compute(_) => rocsparse_spsv_stage::rocsparse_spsv_stage_compute,
    };
    let algorithm = rocsparse_spsv_alg::rocsparse_spsv_alg_default;
    let (size, work) = size_and_work(stage);
    call!(api.table, rocsparse_spsv(api.handle, op, alpha, matrix, x, y, kind, algorithm, number, size, work))
}

pub(crate) unsafe fn spsm(
    api: Api<'_>,
    [op, op_b]: [rocsparse_operation; 2],
    alpha: *const c_void,
    matrix: rocsparse_spmat_descr,
    (b, c): (rocsparse_dnmat_descr, rocsparse_dnmat_descr),
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spsm_stage::rocsparse_spsm_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spsm_stage::rocsparse_spsm_stage_preprocess,
        Stage::Compute(_) => rocsparse_spsm_stage::rocsparse_spsm_stage_compute,
    };
    let algorithm = rocsparse_spsm_alg::rocsparse_spsm_alg_default;
    let (size, work) = size_and_work(stage);
    call!(
        api.table,
        rocsparse_spsm(api.handle, op, op_b, alpha, matrix, b, c, kind, algorithm, number, size, work)
    )
}

/// The product of two sparse matrices. Its preprocessing counts the entries of the result, and writes its offsets.
pub(crate) unsafe fn spgemm(
    api: Api<'_>,
    alpha: *const c_void,
    [a, b, none, c]: [rocsparse_spmat_descr; 4],
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spgemm_stage::rocsparse_spgemm_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spgemm_stage::rocsparse_spgemm_stage_nnz,
        Stage::Compute(_) => rocsparse_spgemm_stage::rocsparse_spgemm_stage_compute,
    };
    let algorithm = rocsparse_spgemm_alg::rocsparse_spgemm_alg_default;
    let op = rocsparse_operation::rocsparse_operation_none;
    let beta = std::ptr::null();
    let (size, work) = size_and_work(stage);
    call!(
        api.table,
        rocsparse_spgemm(api.handle, op, op, alpha, a, b, beta, none, c, kind, algorithm, number, size, work)
    )
}

pub(crate) unsafe fn sddmm(
    api: Api<'_>,
    [op_a, op_b]: [rocsparse_operation; 2],
    [alpha, beta]: Factors,
    (a, b): (rocsparse_dnmat_descr, rocsparse_dnmat_descr),
    matrix: rocsparse_spmat_descr,
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let algorithm = rocsparse_sddmm_alg::rocsparse_sddmm_alg_default;
    let (a, b): (rocsparse_const_dnmat_descr, rocsparse_const_dnmat_descr) = (a, b);
    match stage {
        Stage::Size(bytes) => call!(
            api.table,
            rocsparse_sddmm_buffer_size(
                api.handle, op_a, op_b, alpha, a, b, beta, matrix, kind, algorithm, bytes
            )
        ),
        Stage::Preprocess(work) => call!(
            api.table,
            rocsparse_sddmm_preprocess(
                api.handle, op_a, op_b, alpha, a, b, beta, matrix, kind, algorithm, work
            )
        ),
        Stage::Compute(work) => call!(
            api.table,
            rocsparse_sddmm(api.handle, op_a, op_b, alpha, a, b, beta, matrix, kind, algorithm, work)
        ),
    }
}

pub(crate) unsafe fn axpby(
    api: Api<'_>,
    [alpha, beta]: Factors,
    x: rocsparse_const_spvec_descr,
    y: rocsparse_dnvec_descr,
) -> Result {
    call!(api.table, rocsparse_axpby(api.handle, alpha, x, beta, y))
}

pub(crate) unsafe fn gather(
    api: Api<'_>,
    y: rocsparse_const_dnvec_descr,
    x: rocsparse_spvec_descr,
) -> Result {
    call!(api.table, rocsparse_gather(api.handle, y, x))
}

pub(crate) unsafe fn scatter(
    api: Api<'_>,
    x: rocsparse_const_spvec_descr,
    y: rocsparse_dnvec_descr,
) -> Result {
    call!(api.table, rocsparse_scatter(api.handle, x, y))
}
