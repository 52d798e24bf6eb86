//! ger, geru and gerc: a += alpha x yᵀ; gerc conjugates y.

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, SIZE, counts, ensure, matrix, vector};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan, Vector};
use super::super::parallel;
use super::super::scalar::{Element, Field, Int};
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use std::ops::Range;

forms! { "ger", "" [T: Element<Value: Field>, const CONJ: bool] [T::Value, CONJ]
ger(m: int, n: int, alpha: *const T, [x: in T, incx, stride_x], [y: in T, incy, stride_y], [a: out T, lda, stride_a], batch) }

unsafe fn ger<T: Field, const CONJ: bool>(
    call: Call,
    m: i64,
    n: i64,
    alpha: *const impl Sized,
    x: Operand,
    y: Operand,
    a: Operand,
    batch: i64,
) -> Outcome {
    ensure(x.step != 0 && y.step != 0 && a.step >= m && a.step >= 1, SIZE)?;
    let [m, n, batch] = counts([m, n, batch])?;
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    there(alpha)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let alpha = unsafe { plan.scalar(alpha.cast::<T>())? };
    if alpha.is(T::ZERO) {
        return Ok(());
    }
    ensure(!a.is_null() && !x.is_null() && !y.is_null(), POINTER)?;
    let x = plan.read::<T>(x, vector(m, x.step))?;
    let y = plan.read::<T>(y, vector(n, y.step))?;
    let a = plan.write::<T>(a, matrix(m, n, a.step))?;
    let body = move |index| {
        let alpha = alpha.value();
        if alpha == T::ZERO {
            return;
        }
        // SAFETY: S2: named above.
        unsafe {
            let x = Vector::<T>::new(x.at(index), m, x.step()).to_vec(m);
            let y = Vector::<T>::new(y.at(index), n, y.step());
            let factor = |column| alpha * y.get(column).conj_if(CONJ);
            add(a.at(index), a.step() as isize, n, &x, factor, |_| 0..m);
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(2.0 * m as f64 * n as f64, body) }
}

/// Adds multiples of x to n columns, in the rows that each column has.
///
/// # Safety
/// The rows of the columns are there, and nobody else uses them.
pub(super) unsafe fn add<T: Field>(
    a: *mut T,
    leading: isize,
    n: usize,
    x: &[T],
    factor: impl Fn(usize) -> T,
    rows: impl Fn(usize) -> Range<usize> + Sync,
) {
    let (a, factors) = (Vector::new(a, 1, 1), (0..n).map(factor).collect::<Vec<T>>());
    parallel::ranges(n, 1 + (1 << 14) / (x.len() + 1), 2.0 * x.len() as f64, &|columns| {
        for column in columns {
            let (rows, factor) = (rows(column), factors[column]);
            // SAFETY: S2: the caller vouches for the column.
            let start = unsafe { a.address_of(0) }.wrapping_offset(leading.wrapping_mul(column as isize));
            for (row, x) in rows.clone().zip(&x[rows]) {
                // SAFETY: S2, S12: as above; the columns are disjoint.
                unsafe {
                    let address = start.wrapping_add(row);
                    address.write(address.read() + *x * factor);
                }
            }
        }
    });
}
