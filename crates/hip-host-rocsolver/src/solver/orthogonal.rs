//! Orthogonal factors, and least squares.

use super::is_adjoint;
use crate::call::{Call, Outcome, SIZE, VALUE, counts, ensure};
use crate::qr;
use crate::scalar::{Element, Scalar};
use hip_sys::provider::{Batched, Context};
use hip_sys::rocblas::{rocblas_operation, rocblas_side};

/// # Safety
/// The C function's contract.
pub(super) unsafe fn geqrf<C: Element>(
    context: Context,
    m: i32,
    n: i32,
    a: Batched<C>,
    tau: Batched<C>,
) -> Outcome {
    let [m, n] = counts([m, n])?;
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, m, n)?;
    let tau = call.write::<C::Value>(tau, m.min(n), 1)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_geqrf", move |member| {
            let mut matrix = a.matrix(member);
            let mut factors = vec![C::Value::ZERO; m.min(n)];
            qr::factor(&mut matrix, &mut factors);
            a.store(member, matrix.elements());
            tau.store(member, &factors);
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn orgqr<C: Element>(
    context: Context,
    m: i32,
    n: i32,
    k: i32,
    a: Batched<C>,
    tau: Batched<C>,
) -> Outcome {
    let [m, n, k] = counts([m, n, k])?;
    ensure(n <= m && k <= n, SIZE)?;
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, m, n)?;
    let tau = call.read::<C::Value>(tau, k, 1)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_orgqr", move |member| {
            let q = qr::generate(&a.matrix(member), &tau.load(member), n);
            a.store(member, q.elements());
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn ormqr<C: Element>(
    context: Context,
    side: rocblas_side,
    trans: rocblas_operation,
    m: i32,
    n: i32,
    k: i32,
    a: Batched<C>,
    tau: Batched<C>,
    c: Batched<C>,
) -> Outcome {
    let left = match side {
        rocblas_side::rocblas_side_left => true,
        rocblas_side::rocblas_side_right => false,
        _ => return Err(VALUE),
    };
    let (adjoint, [m, n, k]) = (is_adjoint::<C::Value>(trans)?, counts([m, n, k])?);
    let order = if left { m } else { n };
    ensure(k <= order, SIZE)?;
    let mut call = Call::new(context)?;
    let a = call.read::<C::Value>(a, order, k)?;
    let tau = call.read::<C::Value>(tau, k, 1)?;
    let c = call.write::<C::Value>(c, m, n)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_ormqr", move |member| {
            let (a, tau, mut matrix) = (a.matrix(member), tau.load(member), c.matrix(member));
            if left {
                qr::apply(&a, &tau, adjoint, &mut matrix);
            } else {
                // C Q is the adjoint of Qᴴ Cᴴ.
                let mut turned = matrix.adjoint();
                qr::apply(&a, &tau, !adjoint, &mut turned);
                matrix = turned.adjoint();
            }
            c.store(member, matrix.elements());
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn gels<C: Element>(
    context: Context,
    trans: rocblas_operation,
    m: i32,
    n: i32,
    nrhs: i32,
    a: Batched<C>,
    b: Batched<C>,
    info: *mut i32,
) -> Outcome {
    let (adjoint, [m, n, nrhs]) = (is_adjoint::<C::Value>(trans)?, counts([m, n, nrhs])?);
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, m, n)?;
    let b = call.write::<C::Value>(b, m.max(n), nrhs)?;
    let info = call.info(info)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_gels", move |member| {
            let (mut matrix, mut x) = (a.matrix(member), b.matrix(member));
            let answer = qr::least_squares(&mut matrix, adjoint, &mut x);
            a.store(member, matrix.elements());
            b.store(member, x.elements());
            info.store(member, &[answer]);
        })
    }
}
