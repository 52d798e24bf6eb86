//! syrk and herk: c = alpha op(a) op(a)ᵀ + beta c, in one triangle; herk's second factor is conjugated.

use super::super::c::forms::forms;
use super::super::check::{Op, Outcome, POINTER, SIZE, VALUE, counts, ensure, is_lower, matrix, operation};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan, Source};
use super::super::scalar::{Element, Field, Int};
use super::matrix::Matrix;
use super::product::{product, steps};
use hip_sys::rocblas::{rocblas_fill, rocblas_handle, rocblas_operation, rocblas_status};

forms! { "syrk", "" [T: Element<Value: Field + From<S::Value>>, S: Element<Value: Field>, const HERMITIAN: bool]
[T::Value, S::Value, HERMITIAN]
syrk(uplo: rocblas_fill, trans: rocblas_operation, n: int, k: int, alpha: *const S, [a: in T, lda, stride_a],
    beta: *const S, [c: out T, ldc, stride_c], batch) }

/// Rows and columns of the blocks on the diagonal, which are computed whole.
const BLOCK: usize = 128;

unsafe fn syrk<T: Field + From<S>, S: Field, const HERMITIAN: bool>(
    call: Call,
    uplo: rocblas_fill,
    trans: rocblas_operation,
    n: i64,
    k: i64,
    alpha: *const impl Sized,
    a: Operand,
    beta: *const impl Sized,
    c: Operand,
    batch: i64,
) -> Outcome {
    let (lower, op) = (is_lower(uplo)?, operation(trans)?);
    let complex = size_of::<T>() != size_of::<<T as Field>::Part>();
    // Of complex matrices one of the two transpositions makes sense.
    ensure(!complex || !op.transposed || op.conjugated == HERMITIAN, VALUE)?;
    ensure(c.step >= n && a.step >= if op.transposed { k } else { n }, SIZE)?;
    let [n, k, batch] = counts([n, k, batch])?;
    if n == 0 || batch == 0 {
        return Ok(());
    }
    there(beta)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let (alpha, beta) = unsafe {
        let alpha = if k == 0 { Source::Known(S::ZERO) } else { plan.scalar(alpha.cast::<S>())? };
        (alpha, plan.scalar(beta.cast::<S>())?)
    };
    let used = usize::from(!alpha.is(S::ZERO));
    if used == 0 && beta.is(S::ONE) {
        return Ok(());
    }
    ensure(!c.is_null() && (used == 0 || !a.is_null()), POINTER)?;
    let (rows, columns) = if op.transposed { (k, n) } else { (n, k) };
    let a = plan.read::<T>(a, used * matrix(rows, columns, a.step))?;
    let c = plan.write::<T>(c, matrix(n, n, c.step))?;
    let body = move |index| {
        let (alpha, beta) = (alpha.value(), beta.value());
        if alpha == S::ZERO && beta == S::ONE {
            return;
        }
        // SAFETY: S2: named above; what has no part in the result is not followed.
        unsafe {
            let start = if used == 0 { std::ptr::null_mut() } else { a.at(index) };
            let left = Matrix::<T>::new(start, a.step()).after(op);
            let right = left.transposed().after(Op { transposed: false, conjugated: HERMITIAN });
            let depth = if alpha == S::ZERO { 0 } else { k };
            let c = Matrix::<T>::new(c.at(index), c.step());
            update::<T, HERMITIAN>((n, depth), lower, T::from(alpha), left, right, T::from(beta), c);
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(steps((n, n, k)) / 2.0, body) }
}

/// c = alpha left right + beta c in a triangle.
///
/// # Safety
/// left is n × k, right is k × n, c is n × n; nobody else uses the triangle.
unsafe fn update<T: Field, const HERMITIAN: bool>(
    (n, k): (usize, usize),
    lower: bool,
    alpha: T,
    left: Matrix<T>,
    right: Matrix<T>,
    beta: T,
    c: Matrix<T>,
) {
    let mut block = vec![T::ZERO; BLOCK * BLOCK];
    for first in (0..n).step_by(BLOCK) {
        let size = BLOCK.min(n - first);
        let (next, rest) = (first + size, n - first - size);
        let whole = Matrix::of(&mut block, size);
        // SAFETY: S2: the caller vouches for the matrices; the block has room.
        unsafe {
            let (here, across) = (left.from(first, 0), right.from(0, first));
            product((size, size, k), alpha, here, across, T::ZERO, whole);
            let corner = c.from(first, first);
            for column in 0..size {
                let rows = if lower { column..size } else { 0..column + 1 };
                for row in rows {
                    let new = whole.get(row, column);
                    let sum = if beta == T::ZERO { new } else { new + beta * corner.get(row, column) };
                    let real = HERMITIAN && row == column;
                    corner.set(row, column, if real { T::of_real(sum.real()) } else { sum });
                }
            }
            if lower {
                product((rest, size, k), alpha, left.from(next, 0), across, beta, c.from(next, first));
            } else {
                product((size, rest, k), alpha, here, right.from(0, next), beta, c.from(first, next));
            }
        }
    }
}
