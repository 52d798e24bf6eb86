//! gbmv: y = alpha op(a) x + beta y, of a band matrix.

use super::super::c::forms::forms;
use super::super::check::{Outcome, SIZE, counts, ensure, operation};
use super::super::handle::{Call, begin, status};
use super::super::operand::Operand;
use super::super::scalar::{Element, Field, Int};
use super::columns::Columns;
use super::gemv::multiply;
use hip_sys::rocblas::{rocblas_handle, rocblas_operation, rocblas_status};
use std::ops::Range;

forms! { "gbmv", "" [T: Element<Value: Field>] [T::Value]
gbmv(trans: rocblas_operation, m: int, n: int, kl: int, ku: int, alpha: *const T, [a: in T, lda, stride_a],
    [x: in T, incx, stride_x], beta: *const T, [y: out T, incy, stride_y], batch) }

/// A band matrix: `below` diagonals below the main one and `above` above it. Each diagonal is a row of memory.
struct Band<T> {
    start: *const T,
    leading: isize,
    rows: usize,
    below: usize,
    above: usize,
}

// SAFETY: S8: an address, of what is only read.
unsafe impl<T: Sync> Sync for Band<T> {}

impl<T: Sync> Columns<T> for Band<T> {
    fn rows(&self, column: usize) -> Range<usize> {
        let end = self.rows.min(column.saturating_add(self.below).saturating_add(1));
        column.saturating_sub(self.above).min(end)..end
    }

    fn start(&self, column: usize) -> *const T {
        let main = self.start.wrapping_offset(self.leading.wrapping_mul(column as isize));
        main.wrapping_add(self.above).wrapping_sub(column)
    }
}

unsafe fn gbmv<T: Field>(
    call: Call,
    trans: rocblas_operation,
    m: i64,
    n: i64,
    kl: i64,
    ku: i64,
    alpha: *const impl Sized,
    a: Operand,
    x: Operand,
    beta: *const impl Sized,
    y: Operand,
    batch: i64,
) -> Outcome {
    let op = operation(trans)?;
    let [m, n, below, above, batch] = counts([m, n, kl, ku, batch])?;
    let stored = below.saturating_add(above).saturating_add(1);
    ensure(usize::try_from(a.step).is_ok_and(|leading| leading >= stored), SIZE)?;
    ensure(x.step != 0 && y.step != 0, SIZE)?;
    let columns = move |start, leading| Band { start, leading, rows: m, below, above };
    // SAFETY: S11: the C function's contract; the types have the same layout.
    unsafe {
        multiply::<T, T, _>(call, op, [m, n, batch], stored, alpha.cast(), a, x, beta.cast(), y, columns)
    }
}
