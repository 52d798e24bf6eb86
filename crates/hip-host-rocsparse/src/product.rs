//! Products of a sparse matrix.

use crate::handle::{self, failure};
use crate::number::{Number, by_scalar};
use crate::operand::{Dense, Indices, Sparse, factor, flags, no_work, slice, slice_mut};
use hip_host::library::Uses;
use hip_sys::provider::sparse::{self, Index, Outcome, Scalar, ensure, lock, status};
use hip_sys::rocsparse::{
    rocsparse_const_dnmat_descr, rocsparse_const_dnvec_descr, rocsparse_const_spmat_descr,
    rocsparse_datatype, rocsparse_dnmat_descr, rocsparse_dnvec_descr, rocsparse_format as Format,
    rocsparse_handle, rocsparse_operation as Operation, rocsparse_sddmm_alg, rocsparse_spgemm_alg,
    rocsparse_spgemm_stage as SpgemmStage, rocsparse_spmat_descr, rocsparse_spmm_alg,
    rocsparse_spmm_stage as SpmmStage, rocsparse_spmv_alg, rocsparse_spmv_stage as SpmvStage,
    rocsparse_status as Status,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;

const SIZE: Status = Status::rocsparse_status_invalid_size;
const VALUE: Status = Status::rocsparse_status_invalid_value;
const NOT_IMPLEMENTED: Status = Status::rocsparse_status_not_implemented;

/// Fails if operands are of other numbers than the computation.
pub(crate) fn same(compute: rocsparse_datatype, operands: &[Scalar]) -> Outcome<Scalar> {
    let scalar = Scalar::of(compute)?;
    ensure(operands.iter().all(|&of| of == scalar), NOT_IMPLEMENTED)?;
    Ok(scalar)
}

pub(crate) unsafe extern "C" fn spmv(
    handle: rocsparse_handle,
    operation: Operation,
    alpha: *const c_void,
    matrix: rocsparse_const_spmat_descr,
    x: rocsparse_const_dnvec_descr,
    beta: *const c_void,
    y: rocsparse_dnvec_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spmv_alg,
    stage: SpmvStage,
    buffer_size: *mut usize,
    _work: *mut c_void,
) -> Status {
    let run = || {
        let handle = handle::get(handle)?;
        let (matrix, x, y) = (sparse::matrix_now(matrix)?, sparse::vector(x)?, sparse::vector(y)?);
        let scalar = same(compute, &[matrix.scalar, x.scalar, y.scalar])?;
        let (turned, conjugated) = flags(operation)?;
        ensure(!(turned && matrix.format == Format::rocsparse_format_bsr), NOT_IMPLEMENTED)?;
        let matrix = Sparse::new(&matrix)?;
        let [rows, cols] = if turned { [matrix.cols, matrix.rows] } else { [matrix.rows, matrix.cols] };
        ensure(x.size == cols && y.size == rows, SIZE)?;
        match stage {
            // SAFETY: S11: the caller's out-pointer.
            SpmvStage::rocsparse_spmv_stage_buffer_size => unsafe { no_work(buffer_size) },
            SpmvStage::rocsparse_spmv_stage_preprocess => Ok(()),
            SpmvStage::rocsparse_spmv_stage_compute => {
                let vectors = ((x.values, x.size), (y.values, y.size));
                by_scalar!(scalar, submit_spmv(&handle, matrix, (turned, conjugated), [alpha, beta], vectors))
            }
            _ => Err(VALUE),
        }
    };
    status(run())
}

fn submit_spmv<T: Number>(
    handle: &handle::Handle,
    matrix: Sparse,
    (turned, conjugated): (bool, bool),
    [alpha, beta]: [*const c_void; 2],
    (x, y): ((usize, usize), (usize, usize)),
) -> Outcome {
    // SAFETY: S11: the caller's factors.
    let (alpha, beta) = unsafe { (factor::<T>(alpha)?, factor::<T>(beta)?) };
    let mut uses = Uses::default();
    matrix.name::<T>(&mut uses, false)?;
    uses.read(x.0 as *const T, x.1).and_then(|()| uses.write(y.0 as *mut T, y.1)).map_err(failure)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (values, x, y) = (matrix.values::<T>(), slice::<T>(x.0, x.1), slice_mut::<T>(y.0, y.1));
            y.iter_mut().for_each(|y| *y = y.scaled(beta));
            matrix.each(|row, col, at| {
                let value = if conjugated { values[at].conjugate() } else { values[at] };
                let (to, from) = if turned { (col, row) } else { (row, col) };
                y[to] = y[to] + alpha * (value * x[from]);
            });
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_spmv", uses, body) }
}

pub(crate) unsafe extern "C" fn spmm(
    handle: rocsparse_handle,
    operation: Operation,
    operation_b: Operation,
    alpha: *const c_void,
    matrix: rocsparse_const_spmat_descr,
    b: rocsparse_const_dnmat_descr,
    beta: *const c_void,
    c: rocsparse_dnmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spmm_alg,
    stage: SpmmStage,
    buffer_size: *mut usize,
    _work: *mut c_void,
) -> Status {
    let run = || {
        let handle = handle::get(handle)?;
        let (matrix, b, c) = (sparse::matrix_now(matrix)?, sparse::dense(b)?, sparse::dense(c)?);
        let scalar = same(compute, &[matrix.scalar, b.scalar, c.scalar])?;
        let (turned, conjugated) = flags(operation)?;
        let offered = match matrix.format {
            Format::rocsparse_format_bsr => !turned,
            Format::rocsparse_format_ell => false,
            _ => true,
        };
        ensure(offered, NOT_IMPLEMENTED)?;
        let (matrix, b, c) = (Sparse::new(&matrix)?, Dense::new(&b, operation_b)?, Dense::plain(&c)?);
        let [rows, cols] = if turned { [matrix.cols, matrix.rows] } else { [matrix.rows, matrix.cols] };
        ensure(b.rows == cols && c.rows == rows && b.cols == c.cols, SIZE)?;
        match stage {
            // SAFETY: S11: the caller's out-pointer.
            SpmmStage::rocsparse_spmm_stage_buffer_size => unsafe { no_work(buffer_size) },
            SpmmStage::rocsparse_spmm_stage_preprocess => Ok(()),
            SpmmStage::rocsparse_spmm_stage_compute => {
                by_scalar!(scalar, submit_spmm(&handle, matrix, (turned, conjugated), [alpha, beta], b, c))
            }
            _ => Err(VALUE),
        }
    };
    status(run())
}

fn submit_spmm<T: Number>(
    handle: &handle::Handle,
    matrix: Sparse,
    (turned, conjugated): (bool, bool),
    [alpha, beta]: [*const c_void; 2],
    b: Dense,
    c: Dense,
) -> Outcome {
    // SAFETY: S11: the caller's factors.
    let (alpha, beta) = unsafe { (factor::<T>(alpha)?, factor::<T>(beta)?) };
    let mut uses = Uses::default();
    matrix.name::<T>(&mut uses, false)?;
    b.name::<T>(&mut uses, false)?;
    c.name::<T>(&mut uses, true)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (values, from, to) = (matrix.values::<T>(), b.elements::<T>(), c.elements_mut::<T>());
            for row in 0..c.rows {
                for at in (0..c.cols).map(|col| c.at(row, col)) {
                    to[at] = to[at].scaled(beta);
                }
            }
            matrix.each(|row, col, at| {
                let value = alpha * if conjugated { values[at].conjugate() } else { values[at] };
                let (row, inner) = if turned { (col, row) } else { (row, col) };
                for col in 0..c.cols {
                    let element = from[b.at(inner, col)];
                    let element = if b.conjugated { element.conjugate() } else { element };
                    let at = c.at(row, col);
                    to[at] = to[at] + value * element;
                }
            });
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_spmm", uses, body) }
}

pub(crate) unsafe extern "C" fn sddmm_buffer_size(
    handle: rocsparse_handle,
    _operation_a: Operation,
    _operation_b: Operation,
    _alpha: *const c_void,
    a: rocsparse_const_dnmat_descr,
    b: rocsparse_const_dnmat_descr,
    _beta: *const c_void,
    c: rocsparse_spmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_sddmm_alg,
    buffer_size: *mut usize,
) -> Status {
    status(handle::get(handle).and_then(|_| {
        same(compute, &[sparse::dense(a)?.scalar, sparse::dense(b)?.scalar, sparse::matrix_now(c)?.scalar])?;
        // SAFETY: S11: the caller's out-pointer.
        unsafe { no_work(buffer_size) }
    }))
}

pub(crate) unsafe extern "C" fn sddmm_preprocess(
    handle: rocsparse_handle,
    _operation_a: Operation,
    _operation_b: Operation,
    _alpha: *const c_void,
    _a: rocsparse_const_dnmat_descr,
    _b: rocsparse_const_dnmat_descr,
    _beta: *const c_void,
    _c: rocsparse_spmat_descr,
    _compute: rocsparse_datatype,
    _algorithm: rocsparse_sddmm_alg,
    _work: *mut c_void,
) -> Status {
    status(handle::get(handle).map(drop))
}

pub(crate) unsafe extern "C" fn sddmm(
    handle: rocsparse_handle,
    operation_a: Operation,
    operation_b: Operation,
    alpha: *const c_void,
    a: rocsparse_const_dnmat_descr,
    b: rocsparse_const_dnmat_descr,
    beta: *const c_void,
    c: rocsparse_spmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_sddmm_alg,
    _work: *mut c_void,
) -> Status {
    let run = || {
        let handle = handle::get(handle)?;
        let (c, a, b) = (sparse::matrix_now(c)?, sparse::dense(a)?, sparse::dense(b)?);
        let scalar = same(compute, &[c.scalar, a.scalar, b.scalar])?;
        ensure(c.format != Format::rocsparse_format_bsr, NOT_IMPLEMENTED)?;
        let (c, a, b) = (Sparse::new(&c)?, Dense::new(&a, operation_a)?, Dense::new(&b, operation_b)?);
        ensure(a.rows == c.rows && b.cols == c.cols && a.cols == b.rows, SIZE)?;
        by_scalar!(scalar, submit_sddmm(&handle, [alpha, beta], a, b, c))
    };
    status(run())
}

fn submit_sddmm<T: Number>(
    handle: &handle::Handle,
    [alpha, beta]: [*const c_void; 2],
    a: Dense,
    b: Dense,
    c: Sparse,
) -> Outcome {
    // SAFETY: S11: the caller's factors.
    let (alpha, beta) = unsafe { (factor::<T>(alpha)?, factor::<T>(beta)?) };
    let mut uses = Uses::default();
    c.name::<T>(&mut uses, true)?;
    a.name::<T>(&mut uses, false)?;
    b.name::<T>(&mut uses, false)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (left, right, values) = (a.elements::<T>(), b.elements::<T>(), c.values_mut::<T>());
            let of =
                |matrix: &Dense, element: T| if matrix.conjugated { element.conjugate() } else { element };
            c.each(|row, col, at| {
                let product = (0..a.cols).fold(T::ZERO, |sum, inner| {
                    sum + of(&a, left[a.at(row, inner)]) * of(&b, right[b.at(inner, col)])
                });
                values[at] = alpha * product + values[at].scaled(beta);
            });
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_sddmm", uses, body) }
}

pub(crate) unsafe extern "C" fn spgemm(
    handle: rocsparse_handle,
    operation_a: Operation,
    operation_b: Operation,
    alpha: *const c_void,
    a: rocsparse_const_spmat_descr,
    b: rocsparse_const_spmat_descr,
    beta: *const c_void,
    d: rocsparse_const_spmat_descr,
    c: rocsparse_spmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spgemm_alg,
    stage: SpgemmStage,
    buffer_size: *mut usize,
    _work: *mut c_void,
) -> Status {
    let run = || {
        let handle = handle::get(handle)?;
        let (left, right, result) = (sparse::matrix_now(a)?, sparse::matrix_now(b)?, sparse::matrix(c)?);
        let now = lock(&result).clone();
        let scalar = same(compute, &[left.scalar, right.scalar, sparse::matrix_now(d)?.scalar, now.scalar])?;
        // Here is only the product, of matrices by rows.
        let by_rows =
            [&left, &right, &now].iter().all(|matrix| matrix.format == Format::rocsparse_format_csr);
        let plain = !flags(operation_a)?.0 && !flags(operation_b)?.0 && beta.is_null();
        ensure(by_rows && plain, NOT_IMPLEMENTED)?;
        let (left, right, to) = (Sparse::new(&left)?, Sparse::new(&right)?, Sparse::new(&now)?);
        ensure(left.cols == right.rows && to.rows == left.rows && to.cols == right.cols, SIZE)?;
        match stage {
            // SAFETY: S11: the caller's out-pointer.
            SpgemmStage::rocsparse_spgemm_stage_buffer_size => unsafe { no_work(buffer_size) },
            SpgemmStage::rocsparse_spgemm_stage_nnz => {
                let stored = count_products(&handle, left, right, to.outer)?;
                let most = if now.index == Index::I32 { i32::MAX as usize } else { i64::MAX as usize };
                ensure(stored <= most, SIZE)?;
                lock(&result).stored = stored;
                Ok(())
            }
            SpgemmStage::rocsparse_spgemm_stage_compute => {
                by_scalar!(scalar, submit_spgemm(&handle, left, right, to, alpha))
            }
            _ => Err(NOT_IMPLEMENTED),
        }
    };
    status(run())
}

/// Writes the offsets of a product, and returns how many entries it has.
fn count_products(handle: &handle::Handle, a: Sparse, b: Sparse, offsets: Indices) -> Outcome<usize> {
    let mut uses = Uses::default();
    for indices in [a.outer, a.inner, b.outer, b.inner] {
        indices.name(&mut uses, false)?;
    }
    offsets.name(&mut uses, true)?;
    let body = move || {
        let mut stored = 0;
        // SAFETY: S11: the call named these indices.
        unsafe {
            offsets.set(0, 0);
            for row in 0..a.rows {
                let mut cols = BTreeSet::new();
                each_product(a, b, row, |col, _, _| _ = cols.insert(col));
                stored += cols.len();
                offsets.set(row + 1, stored);
            }
        }
        stored
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.ask("rocsparse_spgemm", uses, body) }
}

fn submit_spgemm<T: Number>(
    handle: &handle::Handle,
    a: Sparse,
    b: Sparse,
    c: Sparse,
    alpha: *const c_void,
) -> Outcome {
    // SAFETY: S11: the caller's factor.
    let alpha = unsafe { factor::<T>(alpha) }?;
    let mut uses = Uses::default();
    a.name::<T>(&mut uses, false)?;
    b.name::<T>(&mut uses, false)?;
    c.name::<T>(&mut uses, true)?;
    c.inner.name(&mut uses, true)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (left, right, values) = (a.values::<T>(), b.values::<T>(), c.values_mut::<T>());
            for row in 0..a.rows {
                let mut sums = BTreeMap::new();
                each_product(a, b, row, |col, at_a, at_b| {
                    let sum = sums.entry(col).or_insert(T::ZERO);
                    *sum = *sum + left[at_a] * right[at_b];
                });
                for (at, (col, sum)) in (c.outer.get(row)..).zip(sums) {
                    c.inner.set(at, col);
                    values[at] = alpha * sum;
                }
            }
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_spgemm", uses, body) }
}

/// Calls `see` with the column of each product that a row of the result is a sum of, and the offsets of its two factors.
///
/// # Safety
/// Offsets and indices of both were named by the call that runs.
unsafe fn each_product(a: Sparse, b: Sparse, row: usize, mut see: impl FnMut(usize, usize, usize)) {
    // SAFETY: S11: as the caller vouches.
    unsafe {
        for at_a in a.outer.get(row)..a.outer.get(row + 1) {
            let inner = a.inner.get(at_a);
            for at_b in b.outer.get(inner)..b.outer.get(inner + 1) {
                see(b.inner.get(at_b), at_a, at_b);
            }
        }
    }
}
