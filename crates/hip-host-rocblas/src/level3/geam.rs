//! geam: c = alpha op(a) + beta op(b).

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, SIZE, counts, ensure, matrix, operation};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan};
use super::super::parallel;
use super::super::scalar::{Element, Field, Int};
use super::matrix::Matrix;
use hip_sys::rocblas::{rocblas_handle, rocblas_operation, rocblas_status};

forms! { "geam", "" [T: Element<Value: Field>] [T::Value]
geam(trans_a: rocblas_operation, trans_b: rocblas_operation, m: int, n: int, alpha: *const T, [a: in T, lda, stride_a],
    beta: *const T, [b: in T, ldb, stride_b], [c: out T, ldc, stride_c], batch) }

unsafe fn geam<T: Field>(
    call: Call,
    trans_a: rocblas_operation,
    trans_b: rocblas_operation,
    m: i64,
    n: i64,
    alpha: *const impl Sized,
    a: Operand,
    beta: *const impl Sized,
    b: Operand,
    c: Operand,
    batch: i64,
) -> Outcome {
    let (op_a, op_b) = (operation(trans_a)?, operation(trans_b)?);
    let fits = |transposed: bool, leading: i64| leading >= if transposed { n } else { m };
    ensure(c.step >= m && fits(op_a.transposed, a.step) && fits(op_b.transposed, b.step), SIZE)?;
    let [m, n, batch] = counts([m, n, batch])?;
    // The result may overwrite an operand only if the operation is element by element.
    let apart = |other: Operand, transposed: bool| !c.is(other) || other.step == c.step && !transposed;
    ensure(apart(a, op_a.transposed) && apart(b, op_b.transposed), SIZE)?;
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!c.is_null() && !alpha.is_null() && !beta.is_null(), POINTER)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let (alpha, beta) = unsafe { (plan.scalar(alpha.cast::<T>())?, plan.scalar(beta.cast::<T>())?) };
    let (uses_a, uses_b) = (!alpha.is(T::ZERO), !beta.is(T::ZERO));
    ensure((!uses_a || !a.is_null()) && (!uses_b || !b.is_null()), POINTER)?;
    let count = |used: bool, transposed: bool, leading| {
        let (rows, columns) = if transposed { (n, m) } else { (m, n) };
        usize::from(used) * matrix(rows, columns, leading)
    };
    let a = plan.read::<T>(a, count(uses_a, op_a.transposed, a.step))?;
    let b = plan.read::<T>(b, count(uses_b, op_b.transposed, b.step))?;
    let c = plan.write::<T>(c, matrix(m, n, c.step))?;
    let body = move |index| {
        let (alpha, beta) = (alpha.value(), beta.value());
        // SAFETY: S2: named above; what has no part in the result is not followed.
        let (a, b, c) = unsafe {
            let a = (alpha != T::ZERO).then(|| Matrix::<T>::new(a.at(index), a.step()).after(op_a));
            let b = (beta != T::ZERO).then(|| Matrix::<T>::new(b.at(index), b.step()).after(op_b));
            (a, b, Matrix::<T>::new(c.at(index), c.step()))
        };
        parallel::ranges(n, 1 + (1 << 15) / m, m as f64, &|columns| {
            for column in columns {
                for row in 0..m {
                    let part = |factor: T, matrix: Option<Matrix<T>>| {
                        // SAFETY: S2: as above.
                        let value = matrix.map(|it| unsafe { it.get(row, column) }.conj_if(it.conjugated));
                        value.map(|value| factor * value)
                    };
                    let sum = match (part(alpha, a), part(beta, b)) {
                        (Some(a), Some(b)) => a + b,
                        (one, other) => one.or(other).unwrap_or(T::ZERO),
                    };
                    // SAFETY: S2, S12: as above; the columns are disjoint.
                    unsafe { c.set(row, column, sum) };
                }
            }
        });
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(2.0 * m as f64 * n as f64, body) }
}
