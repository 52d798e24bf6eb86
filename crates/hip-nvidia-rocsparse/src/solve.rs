//! Triangular systems. cuSPARSE keeps what it found out in a descriptor of the operation, which stays with the matrix.

use crate::descriptor::{self, Descriptor, computes, operation};
use crate::factor::Factor;
use crate::functions::{Code, Raw};
use crate::handle::{done, with};
use crate::kept::{Kept, keep, kept};
use crate::library::cusparse;
use crate::product::{given, nothing};
use cudarc::cusparse::sys;
use hip_sys::provider::sparse::{self, Outcome, SparseMatrix, ensure};
use hip_sys::rocsparse::{
    rocsparse_const_dnmat_descr, rocsparse_const_dnvec_descr, rocsparse_const_spmat_descr,
    rocsparse_datatype, rocsparse_dnmat_descr, rocsparse_dnvec_descr, rocsparse_format as Format,
    rocsparse_handle, rocsparse_operation as Operation, rocsparse_spsm_alg,
    rocsparse_spsm_stage as SpsmStage, rocsparse_spsv_alg, rocsparse_spsv_stage as SpsvStage,
    rocsparse_status as Status,
};
use std::ffi::c_void;
use std::ptr::null_mut;

const VALUE: Status = Status::rocsparse_status_invalid_value;

/// cuSPARSE's descriptors of a triangle and of an operation on it.
fn first(
    of: &SparseMatrix,
    create: unsafe extern "C" fn(*mut Raw) -> Code,
    destroy: unsafe extern "C" fn(Raw) -> Code,
) -> Outcome<Kept> {
    // cuSPARSE has no others, and would print its refusal.
    let has = [Format::rocsparse_format_csr, Format::rocsparse_format_coo].contains(&of.format);
    ensure(has, Status::rocsparse_status_not_implemented)?;
    let matrix = descriptor::sparse(of)?;
    // The numbers of both enumerations are the same in both libraries.
    let attributes = [
        (sys::cusparseSpMatAttribute_t::CUSPARSE_SPMAT_FILL_MODE, of.fill.0),
        (sys::cusparseSpMatAttribute_t::CUSPARSE_SPMAT_DIAG_TYPE, of.diagonal.0),
    ];
    for (attribute, mut value) in attributes {
        let (data, bytes) = ((&raw mut value).cast(), size_of_val(&value));
        // SAFETY: S1: a live descriptor and a live value of so many bytes.
        done(unsafe { (cusparse().cusparseSpMatSetAttribute)(matrix.raw, attribute as u32, data, bytes) })?;
    }
    let mut raw = null_mut();
    // SAFETY: S1: a live variable.
    done(unsafe { create(&mut raw) })?;
    Ok(Kept { operation: Some(Descriptor::new(raw, destroy)), matrix })
}

const _: () = assert!(
    sys::cusparseFillMode_t::CUSPARSE_FILL_MODE_LOWER as u32 == 0
        && sys::cusparseFillMode_t::CUSPARSE_FILL_MODE_UPPER as u32 == 1
        && sys::cusparseDiagType_t::CUSPARSE_DIAG_TYPE_NON_UNIT as u32 == 0
        && sys::cusparseDiagType_t::CUSPARSE_DIAG_TYPE_UNIT as u32 == 1
);

/// The descriptor of the operation.
fn of_operation(kept: &Kept) -> Outcome<Raw> {
    kept.operation.as_ref().map(|operation| operation.raw).ok_or(VALUE)
}

pub(super) unsafe extern "C" fn spsv(
    handle: rocsparse_handle,
    op: Operation,
    alpha: *const c_void,
    matrix: rocsparse_const_spmat_descr,
    x: rocsparse_const_dnvec_descr,
    y: rocsparse_dnvec_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spsv_alg,
    stage: SpsvStage,
    buffer_size: *mut usize,
    work: *mut c_void,
) -> Status {
    with(handle, |raw| {
        let functions = cusparse();
        let (scalar, kind) = computes(compute)?;
        let op = operation(op, scalar)?;
        let result = sparse::vector(y)?;
        if result.size == 0 {
            return nothing(stage == SpsvStage::rocsparse_spsv_stage_buffer_size, buffer_size);
        }
        let (x, y) = (descriptor::vector(&*sparse::vector(x)?)?, descriptor::vector(&result)?);
        let algorithm = sys::cusparseSpSVAlg_t::CUSPARSE_SPSV_ALG_DEFAULT as u32;
        // SAFETY: S11: the caller's factor.
        let alpha = unsafe { Factor::of(alpha, scalar) }?;
        if stage == SpsvStage::rocsparse_spsv_stage_buffer_size {
            let (create, destroy) = (functions.cusparseSpSV_createDescr, functions.cusparseSpSV_destroyDescr);
            let made = keep(matrix, first(&sparse::matrix_now(matrix)?, create, destroy)?)?;
            let (size, solve) = (given(buffer_size)?, of_operation(&made)?);
            // SAFETY: S1, S11: live descriptors and factor, and the caller's output pointer.
            return done(unsafe {
                (functions.cusparseSpSV_bufferSize)(
                    raw,
                    op,
                    alpha.address(),
                    made.matrix.raw,
                    x.raw,
                    y.raw,
                    kind,
                    algorithm,
                    solve,
                    size,
                )
            });
        }
        let made = kept::<Kept>(matrix)?;
        let (work, solve) = (given(work)?, of_operation(&made)?);
        // SAFETY: S1, S2, S11: live descriptors and factor, and the caller's memory.
        done(unsafe {
            match stage {
                SpsvStage::rocsparse_spsv_stage_preprocess => (functions.cusparseSpSV_analysis)(
                    raw,
                    op,
                    alpha.address(),
                    made.matrix.raw,
                    x.raw,
                    y.raw,
                    kind,
                    algorithm,
                    solve,
                    work,
                ),
                SpsvStage::rocsparse_spsv_stage_compute => (functions.cusparseSpSV_solve)(
                    raw,
                    op,
                    alpha.address(),
                    made.matrix.raw,
                    x.raw,
                    y.raw,
                    kind,
                    algorithm,
                    solve,
                ),
                _ => return Err(VALUE),
            }
        })
    })
}

pub(super) unsafe extern "C" fn spsm(
    handle: rocsparse_handle,
    op: Operation,
    op_b: Operation,
    alpha: *const c_void,
    matrix: rocsparse_const_spmat_descr,
    b: rocsparse_const_dnmat_descr,
    c: rocsparse_dnmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spsm_alg,
    stage: SpsmStage,
    buffer_size: *mut usize,
    work: *mut c_void,
) -> Status {
    with(handle, |raw| {
        let functions = cusparse();
        let (scalar, kind) = computes(compute)?;
        let (op, op_b) = (operation(op, scalar)?, operation(op_b, scalar)?);
        let result = sparse::dense(c)?;
        if result.rows == 0 || result.cols == 0 {
            return nothing(stage == SpsmStage::rocsparse_spsm_stage_buffer_size, buffer_size);
        }
        let (b, c) = (descriptor::dense(&*sparse::dense(b)?)?, descriptor::dense(&result)?);
        let algorithm = sys::cusparseSpSMAlg_t::CUSPARSE_SPSM_ALG_DEFAULT as u32;
        // SAFETY: S11: the caller's factor.
        let alpha = unsafe { Factor::of(alpha, scalar) }?;
        if stage == SpsmStage::rocsparse_spsm_stage_buffer_size {
            let (create, destroy) = (functions.cusparseSpSM_createDescr, functions.cusparseSpSM_destroyDescr);
            let made = keep(matrix, first(&sparse::matrix_now(matrix)?, create, destroy)?)?;
            let (size, solve) = (given(buffer_size)?, of_operation(&made)?);
            // SAFETY: S1, S11: live descriptors and factor, and the caller's output pointer.
            return done(unsafe {
                (functions.cusparseSpSM_bufferSize)(
                    raw,
                    op,
                    op_b,
                    alpha.address(),
                    made.matrix.raw,
                    b.raw,
                    c.raw,
                    kind,
                    algorithm,
                    solve,
                    size,
                )
            });
        }
        let made = kept::<Kept>(matrix)?;
        let (work, solve) = (given(work)?, of_operation(&made)?);
        // SAFETY: S1, S2, S11: live descriptors and factor, and the caller's memory.
        done(unsafe {
            match stage {
                SpsmStage::rocsparse_spsm_stage_preprocess => (functions.cusparseSpSM_analysis)(
                    raw,
                    op,
                    op_b,
                    alpha.address(),
                    made.matrix.raw,
                    b.raw,
                    c.raw,
                    kind,
                    algorithm,
                    solve,
                    work,
                ),
                SpsmStage::rocsparse_spsm_stage_compute => (functions.cusparseSpSM_solve)(
                    raw,
                    op,
                    op_b,
                    alpha.address(),
                    made.matrix.raw,
                    b.raw,
                    c.raw,
                    kind,
                    algorithm,
                    solve,
                ),
                _ => return Err(VALUE),
            }
        })
    })
}
