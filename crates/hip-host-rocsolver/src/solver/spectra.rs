//! Singular values and eigenvalues.

use super::{triangle, wants_vectors};
use crate::call::{Call, Outcome, VALUE, counts, ensure};
use crate::matrix::Matrix;
use crate::scalar::{Element, Scalar};
use crate::spectral::{self, Problem};
use hip_sys::provider::{Batched, Context};
use hip_sys::rocblas::rocblas_fill;
use hip_sys::rocsolver::{rocblas_eform, rocblas_evect, rocblas_svect};

/// Which vectors are stored, and where.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Vectors {
    All,
    Thin,
    InA,
    No,
}

fn vectors(svect: rocblas_svect) -> Outcome<Vectors> {
    match svect {
        rocblas_svect::rocblas_svect_all => Ok(Vectors::All),
        rocblas_svect::rocblas_svect_singular => Ok(Vectors::Thin),
        rocblas_svect::rocblas_svect_overwrite => Ok(Vectors::InA),
        rocblas_svect::rocblas_svect_none => Ok(Vectors::No),
        _ => Err(VALUE),
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn gesvd<C: Element>(
    context: Context,
    left: rocblas_svect,
    right: rocblas_svect,
    m: i32,
    n: i32,
    a: Batched<C>,
    s: Batched<C::Real>,
    u: Batched<C>,
    v: Batched<C>,
    e: Batched<C::Real>,
    info: *mut i32,
) -> Outcome {
    let (left, right, [m, n]) = (vectors(left)?, vectors(right)?, counts([m, n])?);
    ensure(left != Vectors::InA || right != Vectors::InA, VALUE)?;
    let least = m.min(n);
    let stored = |which, all| match which {
        Vectors::All => all,
        Vectors::Thin => least,
        Vectors::InA | Vectors::No => 0,
    };
    let (u_cols, v_rows) = (stored(left, m), stored(right, n));
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, m, n)?;
    let s = call.write::<C::Real>(s, least, 1)?;
    let u = call.write::<C::Value>(u, if u_cols == 0 { 0 } else { m }, u_cols)?;
    let v = call.write::<C::Value>(v, v_rows, if v_rows == 0 { 0 } else { n })?;
    let e = call.write::<C::Real>(e, least.saturating_sub(1), 1)?;
    let info = call.info(info)?;
    let whole = left == Vectors::All || right == Vectors::All;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_gesvd", move |member| {
            let Some(found) = spectral::singular(&a.matrix(member), whole) else {
                info.store(member, &[least.max(1) as i32]);
                return;
            };
            s.store(member, &found.values);
            u.store(member, found.left.elements());
            let rows = if right == Vectors::InA { least } else { v_rows };
            let upper = Matrix::from_fn(rows, n, |i, j| found.right[(i, j)]);
            v.store(member, upper.elements());
            // In A are the first columns of U, or the first rows of Vᴴ.
            match (left, right) {
                (Vectors::InA, _) => a.store(member, found.left.elements()),
                (_, Vectors::InA) => {
                    let kept = a.matrix(member);
                    let over = |i, j| if i < least { upper[(i, j)] } else { kept[(i, j)] };
                    a.store(member, Matrix::from_fn(m, n, over).elements());
                }
                _ => {}
            }
            e.store(member, &vec![<C::Value as Scalar>::Part::ZERO; least.saturating_sub(1)]);
            info.store(member, &[0]);
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn syevd<C: Element>(
    context: Context,
    evect: rocblas_evect,
    uplo: rocblas_fill,
    n: i32,
    a: Batched<C>,
    d: Batched<C::Real>,
    e: Batched<C::Real>,
    info: *mut i32,
) -> Outcome {
    let (wanted, triangle, [n]) = (wants_vectors(evect)?, triangle(uplo)?, counts([n])?);
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, n, n)?;
    let d = call.write::<C::Real>(d, n, 1)?;
    let e = call.write::<C::Real>(e, n, 1)?;
    let info = call.info(info)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_syevd", move |member| {
            let answer = match spectral::eigen(&a.matrix(member), triangle) {
                Some((values, vectors)) => {
                    d.store(member, &values);
                    if wanted {
                        a.store(member, vectors.elements());
                    }
                    0
                }
                None => n.max(1) as i32,
            };
            e.store(member, &vec![<C::Value as Scalar>::Part::ZERO; n]);
            info.store(member, &[answer]);
        })
    }
}

/// # Safety
/// The C function's contract.
pub(super) unsafe fn sygvd<C: Element>(
    context: Context,
    itype: rocblas_eform,
    evect: rocblas_evect,
    uplo: rocblas_fill,
    n: i32,
    a: Batched<C>,
    b: Batched<C>,
    d: Batched<C::Real>,
    e: Batched<C::Real>,
    info: *mut i32,
) -> Outcome {
    let problem = match itype {
        rocblas_eform::rocblas_eform_ax => Problem::Ax,
        rocblas_eform::rocblas_eform_abx => Problem::Abx,
        rocblas_eform::rocblas_eform_bax => Problem::Bax,
        _ => return Err(VALUE),
    };
    let (wanted, triangle, [n]) = (wants_vectors(evect)?, triangle(uplo)?, counts([n])?);
    let mut call = Call::new(context)?;
    let a = call.write::<C::Value>(a, n, n)?;
    let b = call.write::<C::Value>(b, n, n)?;
    let d = call.write::<C::Real>(d, n, 1)?;
    let e = call.write::<C::Real>(e, n, 1)?;
    let info = call.info(info)?;
    // SAFETY: S11: all of it is declared.
    unsafe {
        call.submit("rocsolver_sygvd", move |member| {
            let (matrix, mut second) = (a.matrix(member), b.matrix(member));
            let found = spectral::generalised(problem, &matrix, &mut second, triangle);
            b.store(member, second.elements());
            let answer = match found {
                Ok((values, vectors)) => {
                    d.store(member, &values);
                    if wanted {
                        a.store(member, vectors.elements());
                    }
                    0
                }
                Err(answer) => answer,
            };
            e.store(member, &vec![<C::Value as Scalar>::Part::ZERO; n]);
            info.store(member, &[answer]);
        })
    }
}
