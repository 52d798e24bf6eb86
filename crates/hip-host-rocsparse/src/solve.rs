//! Triangular systems, row after row.

use crate::handle::{self, failure};
use crate::number::{Number, by_scalar};
use crate::operand::{Dense, Sparse, factor, flags, no_work, slice, slice_mut};
use crate::product::same;
use hip_host::library::Uses;
use hip_sys::provider::sparse::{self, Outcome, SparseMatrix, ensure, status};
use hip_sys::rocsparse::{
    rocsparse_const_dnmat_descr, rocsparse_const_dnvec_descr, rocsparse_const_spmat_descr,
    rocsparse_datatype, rocsparse_diag_type, rocsparse_dnmat_descr, rocsparse_dnvec_descr,
    rocsparse_fill_mode, rocsparse_format as Format, rocsparse_handle, rocsparse_operation as Operation,
    rocsparse_spsm_alg, rocsparse_spsm_stage as SpsmStage, rocsparse_spsv_alg,
    rocsparse_spsv_stage as SpsvStage, rocsparse_status as Status,
};
use std::ffi::c_void;

const SIZE: Status = Status::rocsparse_status_invalid_size;
const VALUE: Status = Status::rocsparse_status_invalid_value;

/// A triangle of a matrix, with an operation on it.
#[derive(Clone, Copy)]
struct Triangle {
    matrix: Sparse,
    /// Of the stored matrix.
    lower: bool,
    unit: bool,
    turned: bool,
    conjugated: bool,
}

impl Triangle {
    fn new(of: &SparseMatrix, operation: Operation) -> Outcome<Self> {
        let offered = matches!(of.format, Format::rocsparse_format_csr | Format::rocsparse_format_coo);
        ensure(offered, Status::rocsparse_status_not_implemented)?;
        let (turned, conjugated) = flags(operation)?;
        let matrix = Sparse::new(of)?;
        ensure(matrix.rows == matrix.cols, SIZE)?;
        Ok(Self {
            matrix,
            lower: of.fill == rocsparse_fill_mode::rocsparse_fill_mode_lower,
            unit: of.diagonal == rocsparse_diag_type::rocsparse_diag_type_unit,
            turned,
            conjugated,
        })
    }

    /// Reads the matrix once, for any number of right sides.
    ///
    /// # Safety
    /// The matrix's memory was named by the call that runs.
    unsafe fn read<T: Number>(&self) -> Rows<T> {
        let size = self.matrix.rows;
        let mut diagonal = vec![if self.unit { T::ONE } else { T::ZERO }; size];
        let mut rows = vec![Vec::new(); size];
        // SAFETY: S11: as the caller vouches.
        unsafe {
            let values = self.matrix.values::<T>();
            self.matrix.each(|row, col, at| {
                let value = if self.conjugated { values[at].conjugate() } else { values[at] };
                if row == col {
                    if !self.unit {
                        diagonal[row] = value;
                    }
                } else if (row > col) == self.lower {
                    let (row, col) = if self.turned { (col, row) } else { (row, col) };
                    rows[row].push((col, value));
                }
            });
        }
        Rows { diagonal, rows, backward: self.lower == self.turned }
    }
}

/// The diagonal of a triangle, and each row's other entries.
struct Rows<T> {
    diagonal: Vec<T>,
    rows: Vec<Vec<(usize, T)>>,
    /// Whether the last row is solved first.
    backward: bool,
}

impl<T: Number> Rows<T> {
    /// Solves in place of the right side.
    fn solve(&self, x: &mut [T]) {
        let solve = |row: usize| {
            let sum = self.rows[row].iter().fold(x[row], |sum, &(col, value)| sum - value * x[col]);
            x[row] = sum / self.diagonal[row];
        };
        if self.backward {
            (0..self.rows.len()).rev().for_each(solve);
        } else {
            (0..self.rows.len()).for_each(solve);
        }
    }
}

pub(crate) unsafe extern "C" fn spsv(
    handle: rocsparse_handle,
    operation: Operation,
    alpha: *const c_void,
    matrix: rocsparse_const_spmat_descr,
    x: rocsparse_const_dnvec_descr,
    y: rocsparse_dnvec_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spsv_alg,
    stage: SpsvStage,
    buffer_size: *mut usize,
    _work: *mut c_void,
) -> Status {
    let run = || {
        let handle = handle::get(handle)?;
        let (matrix, x, y) = (sparse::matrix_now(matrix)?, sparse::vector(x)?, sparse::vector(y)?);
        let scalar = same(compute, &[matrix.scalar, x.scalar, y.scalar])?;
        let triangle = Triangle::new(&matrix, operation)?;
        ensure(x.size == triangle.matrix.rows && y.size == x.size, SIZE)?;
        match stage {
            // SAFETY: S11: the caller's out-pointer.
            SpsvStage::rocsparse_spsv_stage_buffer_size => unsafe { no_work(buffer_size) },
            SpsvStage::rocsparse_spsv_stage_preprocess => Ok(()),
            SpsvStage::rocsparse_spsv_stage_compute => {
                by_scalar!(scalar, submit_spsv(&handle, triangle, alpha, x.values, y.values))
            }
            _ => Err(VALUE),
        }
    };
    status(run())
}

fn submit_spsv<T: Number>(
    handle: &handle::Handle,
    triangle: Triangle,
    alpha: *const c_void,
    x: usize,
    y: usize,
) -> Outcome {
    // SAFETY: S11: the caller's factor.
    let alpha = unsafe { factor::<T>(alpha) }?;
    let (mut uses, size) = (Uses::default(), triangle.matrix.rows);
    triangle.matrix.name::<T>(&mut uses, false)?;
    uses.read(x as *const T, size).and_then(|()| uses.write(y as *mut T, size)).map_err(failure)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let mut solved: Vec<T> = slice::<T>(x, size).iter().map(|&x| alpha * x).collect();
            triangle.read().solve(&mut solved);
            slice_mut::<T>(y, size).copy_from_slice(&solved);
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_spsv", uses, body) }
}

pub(crate) unsafe extern "C" fn spsm(
    handle: rocsparse_handle,
    operation: Operation,
    operation_b: Operation,
    alpha: *const c_void,
    matrix: rocsparse_const_spmat_descr,
    b: rocsparse_const_dnmat_descr,
    c: rocsparse_dnmat_descr,
    compute: rocsparse_datatype,
    _algorithm: rocsparse_spsm_alg,
    stage: SpsmStage,
    buffer_size: *mut usize,
    _work: *mut c_void,
) -> Status {
    let run = || {
        let handle = handle::get(handle)?;
        let (matrix, b, c) = (sparse::matrix_now(matrix)?, sparse::dense(b)?, sparse::dense(c)?);
        let scalar = same(compute, &[matrix.scalar, b.scalar, c.scalar])?;
        let (triangle, b, c) =
            (Triangle::new(&matrix, operation)?, Dense::new(&b, operation_b)?, Dense::plain(&c)?);
        ensure(c.rows == triangle.matrix.rows && b.rows == c.rows && b.cols == c.cols, SIZE)?;
        match stage {
            // SAFETY: S11: the caller's out-pointer.
            SpsmStage::rocsparse_spsm_stage_buffer_size => unsafe { no_work(buffer_size) },
            SpsmStage::rocsparse_spsm_stage_preprocess => Ok(()),
            SpsmStage::rocsparse_spsm_stage_compute => {
                by_scalar!(scalar, submit_spsm(&handle, triangle, alpha, b, c))
            }
            _ => Err(VALUE),
        }
    };
    status(run())
}

fn submit_spsm<T: Number>(
    handle: &handle::Handle,
    triangle: Triangle,
    alpha: *const c_void,
    b: Dense,
    c: Dense,
) -> Outcome {
    // SAFETY: S11: the caller's factor.
    let alpha = unsafe { factor::<T>(alpha) }?;
    let mut uses = Uses::default();
    triangle.matrix.name::<T>(&mut uses, false)?;
    b.name::<T>(&mut uses, false)?;
    c.name::<T>(&mut uses, true)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let rows = triangle.read();
            let (from, to) = (b.elements::<T>(), c.elements_mut::<T>());
            for col in 0..c.cols {
                let right = |row| {
                    let element = from[b.at(row, col)];
                    alpha * if b.conjugated { element.conjugate() } else { element }
                };
                let mut solved: Vec<T> = (0..c.rows).map(right).collect();
                rows.solve(&mut solved);
                (0..c.rows).zip(solved).for_each(|(row, element)| to[c.at(row, col)] = element);
            }
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_spsm", uses, body) }
}
