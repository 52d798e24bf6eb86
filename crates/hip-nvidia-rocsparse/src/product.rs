//! Products, and operations of sparse vectors.

use crate::descriptor::{self, Descriptor, computes, operation};
use crate::factor::Factor;
use crate::handle::{done, with};
use crate::library::cusparse;
use cudarc::cusparse::sys;
use hip_sys::provider::sparse::{self, Outcome, ensure};
use hip_sys::rocsparse::{
    rocsparse_const_dnmat_descr, rocsparse_const_dnvec_descr, rocsparse_const_spmat_descr,
    rocsparse_const_spvec_descr, rocsparse_datatype, rocsparse_dnmat_descr, rocsparse_dnvec_descr,
    rocsparse_format as Format, rocsparse_handle, rocsparse_operation as Operation, rocsparse_sddmm_alg,
    rocsparse_spmat_descr, rocsparse_spmm_alg, rocsparse_spmm_stage as SpmmStage, rocsparse_spmv_alg,
    rocsparse_spmv_stage as SpmvStage, rocsparse_spvec_descr, rocsparse_status as Status,
};
use std::ffi::c_void;

const POINTER: Status = Status::rocsparse_status_invalid_pointer;
const VALUE: Status = Status::rocsparse_status_invalid_value;

/// The pointer to the work memory or to its size, which must not be null.
pub(super) fn given<T>(pointer: *mut T) -> Outcome<*mut T> {
    ensure(!pointer.is_null(), POINTER)?;
    Ok(pointer)
}

/// A call whose result has no elements: it needs no work memory. cuSPARSE would divide by their number.
pub(super) fn nothing(asks: bool, buffer_size: *mut usize) -> Outcome {
    if asks {
        // SAFETY: S11: the caller's output pointer.
        unsafe { given(buffer_size)?.write(0) };
    }
    Ok(())
}

pub(super) unsafe extern "C" fn spmv(
    handle: rocsparse_handle,
    op: Operation,
    alpha: *const c_void,
    matrix: rocsparse_const_spmat_descr,
    x: rocsparse_const_dnvec_descr,
    beta: *const c_void,
    y: rocsparse_dnvec_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spmv_alg,
    stage: SpmvStage,
    buffer_size: *mut usize,
    work: *mut c_void,
) -> Status {
    with(handle, |raw| {
        let (scalar, kind) = computes(compute)?;
        let op = operation(op, scalar)?;
        let (matrix, result) = (sparse::matrix_now(matrix)?, sparse::vector(y)?);
        if result.size == 0 {
            return nothing(stage == SpmvStage::rocsparse_spmv_stage_buffer_size, buffer_size);
        }
        let matrix = descriptor::factor(&matrix)?;
        let (x, y) = (descriptor::vector(&*sparse::vector(x)?)?, descriptor::vector(&result)?);
        let algorithm = sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_ALG_DEFAULT as u32;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::of(alpha, scalar)?, Factor::of(beta, scalar)?) };
        match stage {
            SpmvStage::rocsparse_spmv_stage_buffer_size => {
                let size = given(buffer_size)?;
                // SAFETY: S1, S11: live descriptors and factors, and the caller's output pointer.
                done(unsafe {
                    (cusparse().cusparseSpMV_bufferSize)(
                        raw,
                        op,
                        alpha.address(),
                        matrix.raw,
                        x.raw,
                        beta.address(),
                        y.raw,
                        kind,
                        algorithm,
                        size,
                    )
                })
            }
            // cuSPARSE's own is optional, and would be of a descriptor that lives as long as this call.
            SpmvStage::rocsparse_spmv_stage_preprocess => Ok(()),
            SpmvStage::rocsparse_spmv_stage_compute => {
                let work = given(work)?;
                // SAFETY: S1, S2, S11: live descriptors and factors, and the caller's memory.
                done(unsafe {
                    (cusparse().cusparseSpMV)(
                        raw,
                        op,
                        alpha.address(),
                        matrix.raw,
                        x.raw,
                        beta.address(),
                        y.raw,
                        kind,
                        algorithm,
                        work,
                    )
                })
            }
            _ => Err(VALUE),
        }
    })
}

pub(super) unsafe extern "C" fn spmm(
    handle: rocsparse_handle,
    op: Operation,
    op_b: Operation,
    alpha: *const c_void,
    matrix: rocsparse_const_spmat_descr,
    b: rocsparse_const_dnmat_descr,
    beta: *const c_void,
    c: rocsparse_dnmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spmm_alg,
    stage: SpmmStage,
    buffer_size: *mut usize,
    work: *mut c_void,
) -> Status {
    with(handle, |raw| {
        let (scalar, kind) = computes(compute)?;
        let (op, op_b) = (operation(op, scalar)?, operation(op_b, scalar)?);
        let (matrix, result) = (sparse::matrix_now(matrix)?, sparse::dense(c)?);
        if result.rows == 0 || result.cols == 0 {
            return nothing(stage == SpmmStage::rocsparse_spmm_stage_buffer_size, buffer_size);
        }
        let matrix = descriptor::factor(&matrix)?;
        let (b, c) = (descriptor::dense(&*sparse::dense(b)?)?, descriptor::dense(&result)?);
        let algorithm = sys::cusparseSpMMAlg_t::CUSPARSE_SPMM_ALG_DEFAULT as u32;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::of(alpha, scalar)?, Factor::of(beta, scalar)?) };
        match stage {
            SpmmStage::rocsparse_spmm_stage_buffer_size => {
                let size = given(buffer_size)?;
                // SAFETY: S1, S11: live descriptors and factors, and the caller's output pointer.
                done(unsafe {
                    (cusparse().cusparseSpMM_bufferSize)(
                        raw,
                        op,
                        op_b,
                        alpha.address(),
                        matrix.raw,
                        b.raw,
                        beta.address(),
                        c.raw,
                        kind,
                        algorithm,
                        size,
                    )
                })
            }
            SpmmStage::rocsparse_spmm_stage_preprocess => Ok(()),
            SpmmStage::rocsparse_spmm_stage_compute => {
                let work = given(work)?;
                // SAFETY: S1, S2, S11: live descriptors and factors, and the caller's memory.
                done(unsafe {
                    (cusparse().cusparseSpMM)(
                        raw,
                        op,
                        op_b,
                        alpha.address(),
                        matrix.raw,
                        b.raw,
                        beta.address(),
                        c.raw,
                        kind,
                        algorithm,
                        work,
                    )
                })
            }
            _ => Err(VALUE),
        }
    })
}

/// The result of a sampled product; none of one without entries. cuSPARSE has it by rows alone, and would print its refusal of others.
fn by_rows(c: rocsparse_spmat_descr) -> Outcome<Option<Descriptor>> {
    let now = sparse::matrix_now(c)?;
    ensure(now.format == Format::rocsparse_format_csr, Status::rocsparse_status_not_implemented)?;
    if now.stored == 0 { Ok(None) } else { descriptor::sparse(&now).map(Some) }
}

const SAMPLED: u32 = sys::cusparseSDDMMAlg_t::CUSPARSE_SDDMM_ALG_DEFAULT as u32;

pub(super) unsafe extern "C" fn sddmm_buffer_size(
    handle: rocsparse_handle,
    op_a: Operation,
    op_b: Operation,
    alpha: *const c_void,
    a: rocsparse_const_dnmat_descr,
    b: rocsparse_const_dnmat_descr,
    beta: *const c_void,
    c: rocsparse_spmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_sddmm_alg,
    buffer_size: *mut usize,
) -> Status {
    with(handle, |raw| {
        let (scalar, kind) = computes(compute)?;
        let (op_a, op_b) = (operation(op_a, scalar)?, operation(op_b, scalar)?);
        let (a, b) = (descriptor::dense(&*sparse::dense(a)?)?, descriptor::dense(&*sparse::dense(b)?)?);
        let Some(c) = by_rows(c)? else { return nothing(true, buffer_size) };
        let size = given(buffer_size)?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::of(alpha, scalar)?, Factor::of(beta, scalar)?) };
        // SAFETY: S1, S11: live descriptors and factors, and the caller's output pointer.
        done(unsafe {
            (cusparse().cusparseSDDMM_bufferSize)(
                raw,
                op_a,
                op_b,
                alpha.address(),
                a.raw,
                b.raw,
                beta.address(),
                c.raw,
                kind,
                SAMPLED,
                size,
            )
        })
    })
}

/// cuSPARSE's own is optional.
pub(super) unsafe extern "C" fn sddmm_preprocess(
    handle: rocsparse_handle,
    _op_a: Operation,
    _op_b: Operation,
    _alpha: *const c_void,
    _a: rocsparse_const_dnmat_descr,
    _b: rocsparse_const_dnmat_descr,
    _beta: *const c_void,
    _c: rocsparse_spmat_descr,
    _compute: rocsparse_datatype,
    _algorithm: rocsparse_sddmm_alg,
    _work: *mut c_void,
) -> Status {
    with(handle, |_| Ok(()))
}

pub(super) unsafe extern "C" fn sddmm(
    handle: rocsparse_handle,
    op_a: Operation,
    op_b: Operation,
    alpha: *const c_void,
    a: rocsparse_const_dnmat_descr,
    b: rocsparse_const_dnmat_descr,
    beta: *const c_void,
    c: rocsparse_spmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_sddmm_alg,
    work: *mut c_void,
) -> Status {
    with(handle, |raw| {
        let (scalar, kind) = computes(compute)?;
        let (op_a, op_b) = (operation(op_a, scalar)?, operation(op_b, scalar)?);
        let (a, b) = (descriptor::dense(&*sparse::dense(a)?)?, descriptor::dense(&*sparse::dense(b)?)?);
        let Some(c) = by_rows(c)? else { return Ok(()) };
        let work = given(work)?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::of(alpha, scalar)?, Factor::of(beta, scalar)?) };
        // SAFETY: S1, S2, S11: live descriptors and factors, and the caller's memory.
        done(unsafe {
            (cusparse().cusparseSDDMM)(
                raw,
                op_a,
                op_b,
                alpha.address(),
                a.raw,
                b.raw,
                beta.address(),
                c.raw,
                kind,
                SAMPLED,
                work,
            )
        })
    })
}

pub(super) unsafe extern "C" fn axpby(
    handle: rocsparse_handle,
    alpha: *const c_void,
    x: rocsparse_const_spvec_descr,
    beta: *const c_void,
    y: rocsparse_dnvec_descr,
) -> Status {
    with(handle, |raw| {
        let y = sparse::vector(y)?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::of(alpha, y.scalar)?, Factor::of(beta, y.scalar)?) };
        let (x, y) = (descriptor::sparse_vector(&*sparse::sparse_vector(x)?)?, descriptor::vector(&y)?);
        // SAFETY: S1, S2, S11: live descriptors and factors, and the caller's memory.
        done(unsafe { (cusparse().cusparseAxpby)(raw, alpha.address(), x.raw, beta.address(), y.raw) })
    })
}

pub(super) unsafe extern "C" fn gather(
    handle: rocsparse_handle,
    y: rocsparse_const_dnvec_descr,
    x: rocsparse_spvec_descr,
) -> Status {
    with(handle, |raw| {
        let x = descriptor::sparse_vector(&*sparse::sparse_vector(x)?)?;
        let y = descriptor::vector(&*sparse::vector(y)?)?;
        // SAFETY: S1, S2, S11: live descriptors, and the caller's memory.
        done(unsafe { (cusparse().cusparseGather)(raw, y.raw, x.raw) })
    })
}

pub(super) unsafe extern "C" fn scatter(
    handle: rocsparse_handle,
    x: rocsparse_const_spvec_descr,
    y: rocsparse_dnvec_descr,
) -> Status {
    with(handle, |raw| {
        let x = descriptor::sparse_vector(&*sparse::sparse_vector(x)?)?;
        let y = descriptor::vector(&*sparse::vector(y)?)?;
        // SAFETY: S1, S2, S11: live descriptors, and the caller's memory.
        done(unsafe { (cusparse().cusparseScatter)(raw, x.raw, y.raw) })
    })
}
