//! Factors of square matrices, and solutions of linear systems.

use super::{operation, triangle};
use crate::call::{Call, Outcome, counts};
use crate::scalar::Element;
use crate::{cholesky, lu};
use hip_sys::provider::{Batched, Context};
use hip_sys::rocblas::{rocblas_fill, rocblas_operation};

/// # Safety
/// The C function's contract.
pub(super) unsafe fn getrf<C: Element>(
    context: Context,
    m: i32,
    n: i32,
    a: Batched<C>,
    ipiv: Batched<i32>,
    info: *mut i32,
) -> Outcome {
    let [m, n] = counts([m, n])?;
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, m, n)?;
    let ipiv = call.write::<i32>(ipiv, m.min(n), 1)?;
    let info = call.info(info)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_getrf", move |member| {
            let mut matrix = a.matrix(member);
            let mut pivots = vec![0; m.min(n)];
            let answer = lu::factor(&mut matrix, &mut pivots);
            a.store(member, matrix.elements());
            ipiv.store(member, &pivots);
            info.store(member, &[answer]);
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn getrs<C: Element>(
    context: Context,
    trans: rocblas_operation,
    n: i32,
    nrhs: i32,
    a: Batched<C>,
    ipiv: Batched<i32>,
    b: Batched<C>,
) -> Outcome {
    let (op, [n, nrhs]) = (operation(trans)?, counts([n, nrhs])?);
    let mut call = Call::new(context)?;
    let used = if nrhs == 0 { 0 } else { n };
    let a = call.read::<C::Value>(a, used, used)?;
    let ipiv = call.read::<i32>(ipiv, used, 1)?;
    let b = call.write::<C::Value>(b, n, nrhs)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_getrs", move |member| {
            let mut x = b.matrix(member);
            // If getrf failed, the pivots may be any numbers: clamped, they index no row outside.
            let pivots: Vec<i32> = ipiv.load(member).iter().map(|&row| row.clamp(1, n as i32)).collect();
            lu::solve(&a.matrix(member), &pivots, op, &mut x);
            b.store(member, x.elements());
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn getri<C: Element>(
    context: Context,
    n: i32,
    a: Batched<C>,
    ipiv: Batched<i32>,
    info: *mut i32,
) -> Outcome {
    let [n] = counts([n])?;
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, n, n)?;
    let ipiv = call.read::<i32>(ipiv, n, 1)?;
    let info = call.info(info)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_getri", move |member| {
            let mut matrix = a.matrix(member);
            let pivots: Vec<i32> = ipiv.load(member).iter().map(|&row| row.clamp(1, n as i32)).collect();
            let answer = lu::invert(&mut matrix, &pivots);
            a.store(member, matrix.elements());
            info.store(member, &[answer]);
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn potrf<C: Element>(
    context: Context,
    uplo: rocblas_fill,
    n: i32,
    a: Batched<C>,
    info: *mut i32,
) -> Outcome {
    let (triangle, [n]) = (triangle(uplo)?, counts([n])?);
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, n, n)?;
    let info = call.info(info)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_potrf", move |member| {
            let mut matrix = a.matrix(member);
            let answer = cholesky::factor(&mut matrix, triangle);
            a.store(member, matrix.elements());
            info.store(member, &[answer]);
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn potrs<C: Element>(
    context: Context,
    uplo: rocblas_fill,
    n: i32,
    nrhs: i32,
    a: Batched<C>,
    b: Batched<C>,
) -> Outcome {
    let (triangle, [n, nrhs]) = (triangle(uplo)?, counts([n, nrhs])?);
    let mut call = Call::new(context)?;
    let used = if nrhs == 0 { 0 } else { n };
    let a = call.read::<C::Value>(a, used, used)?;
    let b = call.write::<C::Value>(b, n, nrhs)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_potrs", move |member| {
            let mut x = b.matrix(member);
            cholesky::solve(&a.matrix(member), triangle, &mut x);
            b.store(member, x.elements());
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn posv<C: Element>(
    context: Context,
    uplo: rocblas_fill,
    n: i32,
    nrhs: i32,
    a: Batched<C>,
    b: Batched<C>,
    info: *mut i32,
) -> Outcome {
    let (triangle, [n, nrhs]) = (triangle(uplo)?, counts([n, nrhs])?);
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, n, n)?;
    let b = call.write::<C::Value>(b, n, nrhs)?;
    let info = call.info(info)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_posv", move |member| {
            // rocSOLVER has nothing to do without right sides: `a` keeps its elements.
            if nrhs == 0 {
                return info.store(member, &[0]);
            }
            let (mut matrix, mut x) = (a.matrix(member), b.matrix(member));
            let answer = cholesky::factor(&mut matrix, triangle);
            a.store(member, matrix.elements());
            if answer == 0 {
                cholesky::solve(&matrix, triangle, &mut x);
                b.store(member, x.elements());
            }
            info.store(member, &[answer]);
        })
    }
}
