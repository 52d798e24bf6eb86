//! gemv: y = alpha op(a) x + beta y. The result may be wider than the factors; the product is computed in alpha's type.

use super::super::c::forms::forms;
use super::super::check::{Op, Outcome, POINTER, SIZE, counts, ensure, matrix, operation, vector};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int, Scalar};
use super::columns::{Columns, Whole, times, transposed_times};
use hip_sys::rocblas::{rocblas_handle, rocblas_operation, rocblas_status};

forms! { "gemv", "" [T: Element, O: Element<Value: Scalar<Wide = Wide<T>>>, S: Element<Value = Wide<T>>] [T::Value, O::Value]
gemv(trans: rocblas_operation, m: int, n: int, alpha: *const S, [a: in T, lda, stride_a], [x: in T, incx, stride_x],
    beta: *const S, [y: out O, incy, stride_y], batch) }

/// The type that elements are computed in.
type Wide<T> = <<T as Element>::Value as Scalar>::Wide;

unsafe fn gemv<T: Scalar, O: Scalar<Wide = T::Wide>>(
    call: Call,
    trans: rocblas_operation,
    m: i64,
    n: i64,
    alpha: *const impl Sized,
    a: Operand,
    x: Operand,
    beta: *const impl Sized,
    y: Operand,
    batch: i64,
) -> Outcome {
    let op = operation(trans)?;
    let sizes = counts([m, n, batch])?;
    ensure(a.step >= 1 && a.step >= m && x.step != 0 && y.step != 0, SIZE)?;
    let columns = move |start, leading| Whole { start, rows: sizes[0], leading };
    // SAFETY: S11: the C function's contract; the types have the same layout.
    unsafe { multiply::<T, O, _>(call, op, sizes, sizes[0], alpha.cast(), a, x, beta.cast(), y, columns) }
}

/// y = alpha op(a) x + beta y for m × n matrices whose columns take so many rows of memory.
///
/// # Safety
/// As for the C function; the stored columns are within those rows.
pub(super) unsafe fn multiply<T: Scalar, O: Scalar<Wide = T::Wide>, C: Columns<T>>(
    call: Call,
    op: Op,
    [m, n, batch]: [usize; 3],
    rows: usize,
    alpha: *const T::Wide,
    a: Operand,
    x: Operand,
    beta: *const T::Wide,
    y: Operand,
    columns: impl Fn(*const T, isize) -> C + Send + Sync + 'static,
) -> Outcome {
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!alpha.is_null() && !beta.is_null(), POINTER)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the caller vouches for them.
    let (alpha, beta) = unsafe { (plan.scalar(alpha)?, plan.scalar(beta)?) };
    if alpha.is(T::Wide::ZERO) && beta.is(T::Wide::ONE) {
        return Ok(());
    }
    let used = usize::from(!alpha.is(T::Wide::ZERO));
    ensure(!y.is_null() && (used == 0 || !a.is_null() && !x.is_null()), POINTER)?;
    let (long_x, long_y) = if op.transposed { (m, n) } else { (n, m) };
    let a = plan.read::<T>(a, used * matrix(rows, n, a.step))?;
    let x = plan.read::<T>(x, used * vector(long_x, x.step))?;
    let y = plan.write::<O>(y, vector(long_y, y.step))?;
    let body = move |index| {
        let (alpha, beta) = (alpha.value(), beta.value());
        // SAFETY: S2: named above; what has no part in the result is not followed.
        unsafe {
            let y = Vector::<O>::new(y.at(index), long_y, y.step());
            if alpha == T::Wide::ZERO {
                return finish(long_y, y, alpha, &[], beta);
            }
            let x = Vector::<T>::new(x.at(index), long_x, x.step()).to_vec(long_x);
            let a = columns(a.at(index), a.step() as isize);
            let sums =
                if op.transposed { transposed_times(&a, n, &x, op.conjugated) } else { times(&a, m, &x) };
            finish(long_y, y, alpha, &sums, beta);
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(2.0 * rows as f64 * n as f64, body) }
}

/// y = alpha sums + beta y. If `beta` is zero y is not read; if `alpha` is zero there are no sums.
///
/// # Safety
/// y has `n` elements, and nobody else uses it.
pub(super) unsafe fn finish<T: Scalar>(
    n: usize,
    y: Vector<T>,
    alpha: T::Wide,
    sums: &[T::Wide],
    beta: T::Wide,
) {
    for index in 0..n {
        let product = sums.get(index).map_or(T::Wide::ZERO, |sum| alpha * *sum);
        // SAFETY: S2: the caller vouches for y.
        unsafe {
            let value = if beta == T::Wide::ZERO { product } else { product + beta * y.get(index) };
            y.set(index, value);
        }
    }
}
