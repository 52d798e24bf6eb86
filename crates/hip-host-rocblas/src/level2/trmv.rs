//! trmv: x = op(a) x, of a triangular matrix.

use super::super::c::forms::forms;
use super::super::check::{Op, Outcome};
use super::super::handle::{Call, begin, status};
use super::super::operand::Operand;
use super::super::scalar::{Element, Field, Int};
use super::columns::{times, transposed_times};
use super::triangle::{Triangle, update};
use hip_sys::rocblas::{rocblas_diagonal, rocblas_fill, rocblas_handle, rocblas_operation, rocblas_status};

forms! { "trmv", "" [T: Element<Value: Field>] [T::Value]
trmv(uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, n: int, [a: in T, lda, stride_a],
    [x: out T, incx, stride_x], batch) }

unsafe fn trmv<T: Field>(
    call: Call,
    uplo: rocblas_fill,
    trans: rocblas_operation,
    diag: rocblas_diagonal,
    n: i64,
    a: Operand,
    x: Operand,
    batch: i64,
) -> Outcome {
    // SAFETY: S11: the C function's contract; the product reads the triangle alone.
    unsafe { update(call, (uplo, trans, diag), n, a, x, batch, product::<T>) }
}

/// # Safety
/// The triangle is allocated and initialised; x has as many elements as there are columns.
unsafe fn product<T: Field>(triangle: &Triangle<T>, op: Op, unit: bool, x: Vec<T>) -> Vec<T> {
    // SAFETY: S2: the caller vouches for the triangle.
    let sums = unsafe {
        match op.transposed {
            true => transposed_times(triangle, x.len(), &x, op.conjugated),
            false => times(triangle, x.len(), &x),
        }
    };
    sums.into_iter().zip(x).map(|(sum, x)| if unit { sum + x } else { sum }).collect()
}
