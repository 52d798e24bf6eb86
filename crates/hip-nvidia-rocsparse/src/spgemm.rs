//! Products of two sparse matrices. cuSPARSE's functions for a product that is computed again write offsets and columns in one step: the columns are
//! kept with the result until the program has memory for them.

use crate::descriptor::{self, Descriptor, computes};
use crate::factor::{self, Factor};
use crate::functions::{Number, Raw};
use crate::handle::{done, driven, with_stream};
use crate::kept::{keep, kept};
use crate::library::cusparse;
use crate::product::given;
use cudarc::cusparse::sys;
use hip_nvidia::library::{Device, Lasting, RawStream, Temporary, copy, fill_with_zeros};
use hip_sys::provider::sparse::{self, Index, Outcome, SparseMatrix, ensure, lock};
use hip_sys::rocsparse::{
    rocsparse_const_spmat_descr, rocsparse_datatype, rocsparse_format as Format, rocsparse_handle,
    rocsparse_operation as Operation, rocsparse_spgemm_alg, rocsparse_spgemm_stage as Stage,
    rocsparse_spmat_descr, rocsparse_status as Status,
};
use std::ffi::c_void;
use std::ptr::null_mut;

const AS_IT_IS: Number = sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE as Number;
const ALGORITHM: Number = sys::cusparseSpGEMMAlg_t::CUSPARSE_SPGEMM_DEFAULT as Number;
/// What was found out of a product with entries.
struct Product {
    operation: Descriptor,
    /// Of the two factors and of the result.
    matrices: [Descriptor; 3],
    cols: Lasting,
    /// Memory of cuSPARSE's between the steps.
    _work: [Lasting; 2],
}

pub(super) unsafe extern "C" fn spgemm(
    handle: rocsparse_handle,
    operation_a: Operation,
    operation_b: Operation,
    alpha: *const c_void,
    a: rocsparse_const_spmat_descr,
    b: rocsparse_const_spmat_descr,
    beta: *const c_void,
    _d: rocsparse_const_spmat_descr,
    c: rocsparse_spmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spgemm_alg,
    stage: Stage,
    buffer_size: *mut usize,
    _work: *mut c_void,
) -> Status {
    with_stream(handle, |raw, stream, device| {
        let (scalar, kind) = computes(compute)?;
        let (left, right) = (sparse::matrix_now(a)?, sparse::matrix_now(b)?);
        let result = sparse::matrix(c)?;
        let now = lock(&result).clone();
        let all = [&left, &right, &now];
        // As on the other platforms only the product, of matrices by rows; cuSPARSE has it for indices of 32 bits.
        let plain = [operation_a, operation_b] == [Operation::rocsparse_operation_none; 2] && beta.is_null();
        let by_rows = all
            .iter()
            .all(|matrix| matrix.format == Format::rocsparse_format_csr && matrix.index == Index::I32);
        ensure(plain && by_rows, Status::rocsparse_status_not_implemented)?;
        let fits = left.cols == right.rows && now.rows == left.rows && now.cols == right.cols;
        ensure(fits, Status::rocsparse_status_invalid_size)?;
        match stage {
            Stage::rocsparse_spgemm_stage_buffer_size => {
                // The sizes of cuSPARSE's work memory are known step by step.
                // SAFETY: S11: the caller's output pointer.
                unsafe { given(buffer_size)?.write(1) };
                Ok(())
            }
            Stage::rocsparse_spgemm_stage_nnz => {
                let stored = if left.stored == 0 || right.stored == 0 {
                    0
                } else {
                    let (product, stored) = count(raw, stream, device, all)?;
                    keep(c, product)?;
                    stored
                };
                if stored == 0 {
                    // cuSPARSE does not write the offsets then.
                    // SAFETY: S2, S11: the caller's memory.
                    driven(unsafe { fill_with_zeros(now.outer as *mut c_void, 4 * (now.rows + 1), stream) })?;
                }
                lock(&result).stored = stored;
                Ok(())
            }
            Stage::rocsparse_spgemm_stage_compute if now.stored == 0 => Ok(()),
            Stage::rocsparse_spgemm_stage_compute => {
                let product = kept::<Product>(c)?;
                for (descriptor, matrix) in product.matrices.iter().zip(all) {
                    point(descriptor, matrix)?;
                }
                let [a, b, c] = product.matrices.each_ref().map(|matrix| matrix.raw);
                // SAFETY: S2, S11: the caller's memory for the entries that were counted.
                driven(unsafe { copy(now.inner as *mut c_void, product.cols.at(), 4 * now.stored, stream) })?;
                // SAFETY: S11: the caller's factor.
                let (alpha, zero) = (unsafe { Factor::of(alpha, scalar) }?, Factor::ZERO);
                let operation = product.operation.raw;
                // SAFETY: S1, S2, S11: live descriptors and factors, and the caller's memory.
                done(unsafe {
                    (cusparse().cusparseSpGEMMreuse_compute)(
                        raw,
                        AS_IT_IS,
                        AS_IT_IS,
                        alpha.address(),
                        a,
                        b,
                        zero.address(),
                        c,
                        kind,
                        ALGORITHM,
                        operation,
                    )
                })
            }
            _ => Err(Status::rocsparse_status_invalid_value),
        }
    })
}

/// Sets a descriptor's memory to that which a matrix has now.
fn point(descriptor: &Descriptor, of: &SparseMatrix) -> Outcome {
    let [outer, inner, values] = [of.outer, of.inner, of.values].map(|address| address as Raw);
    // SAFETY: S1, S11: a live descriptor, and the caller's memory.
    done(unsafe { (cusparse().cusparseCsrSetPointers)(descriptor.raw, outer, inner, values) })
}

/// Writes the offsets of the product of the first two, and returns how many entries it has.
fn count(
    raw: Raw,
    stream: RawStream,
    device: &'static Device,
    [left, right, result]: [&SparseMatrix; 3],
) -> Outcome<(Product, usize)> {
    let functions = cusparse();
    let empty = SparseMatrix { stored: 0, inner: 0, values: 0, ..result.clone() };
    let matrices = [descriptor::sparse(left)?, descriptor::sparse(right)?, descriptor::sparse(&empty)?];
    let [a, b, c] = matrices.each_ref().map(|matrix| matrix.raw);
    let mut operation = null_mut();
    // SAFETY: S1: a live variable.
    done(unsafe { (functions.cusparseSpGEMM_createDescr)(&mut operation) })?;
    let operation = Descriptor::new(operation, functions.cusparseSpGEMM_destroyDescr);
    // SAFETY: S11: the stream is the handle's.
    let temporary = |bytes| driven(unsafe { Temporary::new(bytes, stream) });
    let lasting = |bytes| driven(Lasting::new(bytes, device));

    let mut bytes = 0;
    let estimate = |bytes: &mut usize, memory| {
        let of = operation.raw;
        // SAFETY: S1, S2, S11: live descriptors and variables, the caller's memory, and memory of the size asked for.
        done(unsafe {
            (functions.cusparseSpGEMMreuse_workEstimation)(
                raw, AS_IT_IS, AS_IT_IS, a, b, c, ALGORITHM, of, bytes, memory,
            )
        })
    };
    estimate(&mut bytes, null_mut())?;
    let estimation = temporary(bytes)?;
    estimate(&mut bytes, estimation.at())?;

    let mut sizes = [0; 3];
    let count = |[second, third, fourth]: &mut [usize; 3], memory: [*mut c_void; 3]| {
        let of = operation.raw;
        // SAFETY: S1, S2, S11: as above.
        done(unsafe {
            (functions.cusparseSpGEMMreuse_nnz)(
                raw, AS_IT_IS, AS_IT_IS, a, b, c, ALGORITHM, of, second, memory[0], third, memory[1], fourth,
                memory[2],
            )
        })
    };
    count(&mut sizes, [null_mut(); 3])?;
    let (second, third, fourth) = (temporary(sizes[0])?, temporary(sizes[1])?, lasting(sizes[2])?);
    count(&mut sizes, [second.at(), third.at(), fourth.at()])?;

    let [mut rows, mut width, mut stored] = [0; 3];
    // SAFETY: S1: a live descriptor and live variables.
    done(unsafe { (functions.cusparseSpMatGetSize)(c, &mut rows, &mut width, &mut stored) })?;
    let stored = usize::try_from(stored).map_err(|_| Status::rocsparse_status_internal_error)?;
    let cols = lasting(4 * stored)?;
    // The values are not written yet, but have to have memory.
    let values = temporary(stored * factor::bytes(left.scalar))?;
    let filled =
        SparseMatrix { inner: cols.at::<u8>() as usize, values: values.at::<u8>() as usize, ..empty };
    point(&matrices[2], &filled)?;
    let mut bytes = 0;
    let write = |bytes: &mut usize, memory| {
        let of = operation.raw;
        // SAFETY: S1, S2, S11: as above.
        done(unsafe {
            (functions.cusparseSpGEMMreuse_copy)(
                raw, AS_IT_IS, AS_IT_IS, a, b, c, ALGORITHM, of, bytes, memory,
            )
        })
    };
    write(&mut bytes, null_mut())?;
    let fifth = lasting(bytes)?;
    write(&mut bytes, fifth.at())?;
    Ok((Product { operation, matrices, cols, _work: [fourth, fifth] }, stored))
}
