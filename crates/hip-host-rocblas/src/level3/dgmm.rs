//! dgmm: c = diag(x) a, or a diag(x).

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, SIZE, counts, ensure, is_left, matrix, vector};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan, Vector};
use super::super::parallel;
use super::super::scalar::{Element, Field, Int};
use super::matrix::Matrix;
use hip_sys::rocblas::{rocblas_handle, rocblas_side, rocblas_status};

forms! { "dgmm", "" [T: Element<Value: Field>] [T::Value]
dgmm(side: rocblas_side, m: int, n: int, [a: in T, lda, stride_a], [x: in T, incx, stride_x], [c: out T, ldc, stride_c],
    batch) }

unsafe fn dgmm<T: Field>(
    call: Call,
    side: rocblas_side,
    m: i64,
    n: i64,
    a: Operand,
    x: Operand,
    c: Operand,
    batch: i64,
) -> Outcome {
    let left = is_left(side)?;
    ensure(c.step >= m && a.step >= m, SIZE)?;
    let [m, n, batch] = counts([m, n, batch])?;
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!a.is_null() && !x.is_null() && !c.is_null(), POINTER)?;
    let long = if left { m } else { n };
    let mut plan = Plan::new(call, batch);
    let a = plan.read::<T>(a, matrix(m, n, a.step))?;
    let x = plan.read::<T>(x, vector(long, x.step))?;
    let c = plan.write::<T>(c, matrix(m, n, c.step))?;
    let body = move |index| {
        // SAFETY: S2: named above.
        let (a, x, c) = unsafe {
            let x = Vector::<T>::new(x.at(index), long, x.step()).to_vec(long);
            (Matrix::<T>::new(a.at(index), a.step()), x, Matrix::<T>::new(c.at(index), c.step()))
        };
        parallel::ranges(n, 1 + (1 << 15) / m, m as f64, &|columns| {
            for column in columns {
                for row in 0..m {
                    let factor = if left { x[row] } else { x[column] };
                    // SAFETY: S2, S12: as above; the columns are disjoint.
                    unsafe { c.set(row, column, a.get(row, column) * factor) };
                }
            }
        });
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(m as f64 * n as f64, body) }
}
