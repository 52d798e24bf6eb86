//! A triangular matrix, as columns.

use super::super::check::{
    Op, Outcome, POINTER, SIZE, counts, ensure, is_lower, is_unit, matrix, operation, vector,
};
use super::super::handle::Call;
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::Field;
use super::columns::Columns;
use hip_sys::rocblas::{rocblas_diagonal, rocblas_fill, rocblas_operation};
use std::ops::Range;

/// The triangle below or above the diagonal of n columns, with or without the diagonal.
pub(super) struct Triangle<T> {
    pub(super) start: *const T,
    pub(super) leading: isize,
    pub(super) n: usize,
    pub(super) lower: bool,
    pub(super) diagonal: bool,
}

// SAFETY: S8: an address, of what is only read.
unsafe impl<T: Sync> Sync for Triangle<T> {}

impl<T: Sync> Columns<T> for Triangle<T> {
    fn rows(&self, column: usize) -> Range<usize> {
        if self.lower {
            column + usize::from(!self.diagonal)..self.n
        } else {
            0..column + usize::from(self.diagonal)
        }
    }

    fn start(&self, column: usize) -> *const T {
        self.start.wrapping_offset(self.leading.wrapping_mul(column as isize))
    }
}

/// Replaces each vector x of a batch by what `apply` makes of its triangle, the operation, whether the diagonal is one, and x.
///
/// # Safety
/// The operands are C's; `apply` reads no more of a matrix than its triangle and the diagonal.
pub(super) unsafe fn update<T: Field>(
    call: Call,
    (uplo, trans, diag): (rocblas_fill, rocblas_operation, rocblas_diagonal),
    n: i64,
    a: Operand,
    x: Operand,
    batch: i64,
    apply: unsafe fn(&Triangle<T>, Op, bool, Vec<T>) -> Vec<T>,
) -> Outcome {
    let (lower, op, unit) = (is_lower(uplo)?, operation(trans)?, is_unit(diag)?);
    ensure(a.step >= n && a.step >= 1 && x.step != 0, SIZE)?;
    let [n, batch] = counts([n, batch])?;
    if n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!a.is_null() && !x.is_null(), POINTER)?;
    let mut plan = Plan::new(call, batch);
    let a = plan.read::<T>(a, matrix(n, n, a.step))?;
    let x = plan.write::<T>(x, vector(n, x.step))?;
    let body = move |index| {
        // SAFETY: S2: named above.
        unsafe {
            let elements = Vector::<T>::new(x.at(index), n, x.step());
            let (start, leading) = (a.at(index).cast_const(), a.step() as isize);
            let triangle = Triangle { start, leading, n, lower, diagonal: !unit };
            for (index, x) in apply(&triangle, op, unit, elements.to_vec(n)).into_iter().enumerate() {
                elements.set(index, x);
            }
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(n as f64 * n as f64, body) }
}
