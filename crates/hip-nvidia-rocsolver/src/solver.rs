//! rocSOLVER's functions by cuSOLVER's.

use crate::call::{INTERNAL, Outcome, SIZE, Status, VALUE, Work, done, ensure, member, with};
use crate::compound;
use crate::functions::{Dense, Element};
use hip_sys::provider::{Batched, Context, Solver};
use hip_sys::rocblas::{rocblas_fill, rocblas_operation, rocblas_side};
use hip_sys::rocsolver::{rocblas_eform, rocblas_evect, rocblas_svect};
use std::ffi::{c_int, c_schar};

/// This crate's functions.
pub(crate) enum Nvidia {}

fn operation(trans: rocblas_operation) -> Outcome<u32> {
    match trans {
        rocblas_operation::rocblas_operation_none => Ok(0),
        rocblas_operation::rocblas_operation_transpose => Ok(1),
        rocblas_operation::rocblas_operation_conjugate_transpose => Ok(2),
        _ => Err(VALUE),
    }
}

fn fill(uplo: rocblas_fill) -> Outcome<u32> {
    match uplo {
        rocblas_fill::rocblas_fill_lower => Ok(0),
        rocblas_fill::rocblas_fill_upper => Ok(1),
        _ => Err(VALUE),
    }
}

fn mode(evect: rocblas_evect) -> Outcome<u32> {
    match evect {
        rocblas_evect::rocblas_evect_none => Ok(0),
        rocblas_evect::rocblas_evect_original => Ok(1),
        _ => Err(VALUE),
    }
}

fn letter(svect: rocblas_svect) -> Outcome<c_schar> {
    match svect {
        rocblas_svect::rocblas_svect_all => Ok(b'A' as c_schar),
        rocblas_svect::rocblas_svect_singular => Ok(b'S' as c_schar),
        rocblas_svect::rocblas_svect_overwrite => Ok(b'O' as c_schar),
        rocblas_svect::rocblas_svect_none => Ok(b'N' as c_schar),
        _ => Err(VALUE),
    }
}

/// Whether there is anything to do; no size may be negative.
fn any(sizes: &[i32]) -> Outcome<bool> {
    ensure(sizes.iter().all(|&size| size >= 0), SIZE)?;
    Ok(sizes.iter().all(|&size| size > 0))
}

/// The work memory that `size` asks for, and its elements.
fn sized<T: Element, W>(
    work: &Work,
    size: impl FnOnce(&Dense<T, T::Real>, *mut c_int) -> u32,
) -> Outcome<(*mut W, c_int)> {
    let mut elements = 0;
    done(size(T::functions(work.cusolver), &mut elements))?;
    let space = work.space::<W>(usize::try_from(elements).map_err(|_| INTERNAL)?)?;
    Ok((space, elements))
}

/// Calls a function for each member. `size` asks for the elements of work memory.
fn each<T: Element, W>(
    work: &Work,
    size: impl FnOnce(&Dense<T, T::Real>, *mut c_int) -> u32,
    call: impl Fn(&Dense<T, T::Real>, usize, *mut W, c_int) -> u32,
) -> Outcome {
    let (space, elements) = sized::<T, W>(work, size)?;
    let functions = T::functions(work.cusolver);
    (0..work.members).try_for_each(|index| done(call(functions, index, space, elements)))
}

/// Calls a function for one member.
pub(crate) fn once<T: Element>(
    work: &Work,
    size: impl FnOnce(&Dense<T, T::Real>, *mut c_int) -> u32,
    call: impl FnOnce(&Dense<T, T::Real>, *mut T, c_int) -> u32,
) -> Outcome {
    let (space, elements) = sized::<T, T>(work, size)?;
    done(call(T::functions(work.cusolver), space, elements))
}

// SAFETY: S11: each passes the program's operands to cuSOLVER's function of that name, which uses no more of them than rocSOLVER's does.
unsafe impl<T: Element> Solver<T> for Nvidia {
    unsafe fn getrf(
        context: Context,
        m: i32,
        n: i32,
        a: Batched<T>,
        ipiv: Batched<i32>,
        info: *mut i32,
    ) -> Status {
        with(context, |work| {
            if !any(&[m, n])? {
                return Ok(());
            }
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            let size = |f: &Dense<T, T::Real>, size| unsafe {
                (f.getrf_size)(work.raw, m, n, a.address, a.ld, size)
            };
            each::<T, T>(work, size, |f, i, space, _| {
                let (a, ipiv, info) = ((member(a, i), a.ld), member(ipiv, i), info.wrapping_add(i));
                // SAFETY: S11: as above.
                unsafe { (f.getrf)(work.raw, m, n, a.0, a.1, space, ipiv, info) }
            })
        })
    }

    unsafe fn getrs(
        context: Context,
        trans: rocblas_operation,
        n: i32,
        nrhs: i32,
        a: Batched<T>,
        ipiv: Batched<i32>,
        b: Batched<T>,
    ) -> Status {
        with(context, |work| {
            let trans = operation(trans)?;
            if !any(&[n, nrhs])? {
                return Ok(());
            }
            each::<T, T>(
                work,
                |_, _| 0,
                |f, i, _, _| {
                    let (ipiv, info) = (member(ipiv, i), work.info());
                    // SAFETY: S11: the program's operands.
                    unsafe {
                        (f.getrs)(
                            work.raw,
                            trans,
                            n,
                            nrhs,
                            member(a, i),
                            a.ld,
                            ipiv,
                            member(b, i),
                            b.ld,
                            info,
                        )
                    }
                },
            )
        })
    }

    unsafe fn getri(context: Context, n: i32, a: Batched<T>, ipiv: Batched<i32>, info: *mut i32) -> Status {
        with(context, |work| if any(&[n])? { compound::getri(work, n, a, ipiv, info) } else { Ok(()) })
    }

    unsafe fn gels(
        context: Context,
        trans: rocblas_operation,
        m: i32,
        n: i32,
        nrhs: i32,
        a: Batched<T>,
        b: Batched<T>,
        info: *mut i32,
    ) -> Status {
        with(context, |work| {
            let trans = operation(trans)?;
            ensure(trans == 0 || (trans == 2) == T::COMPLEX, VALUE)?;
            any(&[m, n, nrhs])?;
            compound::gels(work, trans != 0, [m, n, nrhs], a, b, info)
        })
    }

    unsafe fn potrf(context: Context, uplo: rocblas_fill, n: i32, a: Batched<T>, info: *mut i32) -> Status {
        with(context, |work| {
            let uplo = fill(uplo)?;
            if !any(&[n])? {
                return Ok(());
            }
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            let size = |f: &Dense<T, T::Real>, size| unsafe {
                (f.potrf_size)(work.raw, uplo, n, a.address, a.ld, size)
            };
            each::<T, T>(work, size, |f, i, space, elements| {
                // SAFETY: S11: as above.
                unsafe {
                    (f.potrf)(work.raw, uplo, n, member(a, i), a.ld, space, elements, info.wrapping_add(i))
                }
            })
        })
    }

    unsafe fn potrs(
        context: Context,
        uplo: rocblas_fill,
        n: i32,
        nrhs: i32,
        a: Batched<T>,
        b: Batched<T>,
    ) -> Status {
        with(context, |work| {
            let uplo = fill(uplo)?;
            if !any(&[n, nrhs])? {
                return Ok(());
            }
            each::<T, T>(
                work,
                |_, _| 0,
                |f, i, _, _| {
                    // SAFETY: S11: the program's operands.
                    unsafe {
                        (f.potrs)(
                            work.raw,
                            uplo,
                            n,
                            nrhs,
                            member(a, i),
                            a.ld,
                            member(b, i),
                            b.ld,
                            work.info(),
                        )
                    }
                },
            )
        })
    }

    /// A matrix without a factor leaves numbers without a meaning in `b`.
    unsafe fn posv(
        context: Context,
        uplo: rocblas_fill,
        n: i32,
        nrhs: i32,
        a: Batched<T>,
        b: Batched<T>,
        info: *mut i32,
    ) -> Status {
        // SAFETY: S11: the C function's contract.
        unsafe {
            match <Self as Solver<T>>::potrf(context, uplo, n, a, info) {
                Status::rocblas_status_success => <Self as Solver<T>>::potrs(context, uplo, n, nrhs, a, b),
                status => status,
            }
        }
    }

    unsafe fn geqrf(context: Context, m: i32, n: i32, a: Batched<T>, tau: Batched<T>) -> Status {
        with(context, |work| {
            if !any(&[m, n])? {
                return Ok(());
            }
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            let size = |f: &Dense<T, T::Real>, size| unsafe {
                (f.geqrf_size)(work.raw, m, n, a.address, a.ld, size)
            };
            each::<T, T>(work, size, |f, i, space, elements| {
                let (a, tau) = ((member(a, i), a.ld), member(tau, i));
                // SAFETY: S11: as above.
                unsafe { (f.geqrf)(work.raw, m, n, a.0, a.1, tau, space, elements, work.info()) }
            })
        })
    }

    unsafe fn orgqr(context: Context, m: i32, n: i32, k: i32, a: Batched<T>, tau: Batched<T>) -> Status {
        with(context, |work| {
            if !any(&[m, n])? || k < 0 {
                return ensure(k >= 0, SIZE);
            }
            let (raw, at) = (work.raw, (a.address, a.ld));
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            let size = |f: &Dense<T, T::Real>, size| unsafe {
                (f.orgqr_size)(raw, m, n, k, at.0, at.1, tau.address, size)
            };
            each::<T, T>(work, size, |f, i, space, elements| {
                // SAFETY: S11: as above.
                unsafe {
                    (f.orgqr)(raw, m, n, k, member(a, i), a.ld, member(tau, i), space, elements, work.info())
                }
            })
        })
    }

    unsafe fn ormqr(
        context: Context,
        side: rocblas_side,
        trans: rocblas_operation,
        m: i32,
        n: i32,
        k: i32,
        a: Batched<T>,
        tau: Batched<T>,
        c: Batched<T>,
    ) -> Status {
        with(context, |work| {
            let side = match side {
                rocblas_side::rocblas_side_left => 0,
                rocblas_side::rocblas_side_right => 1,
                _ => return Err(VALUE),
            };
            let trans = operation(trans)?;
            ensure(trans == 0 || (trans == 2) == T::COMPLEX, VALUE)?;
            if !any(&[m, n, k])? {
                return Ok(());
            }
            let (raw, at) = (work.raw, (a.address, a.ld));
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            let size = |f: &Dense<T, T::Real>, size| unsafe {
                (f.ormqr_size)(raw, side, trans, m, n, k, at.0, at.1, tau.address, c.address, c.ld, size)
            };
            each::<T, T>(work, size, |f, i, space, elements| {
                let (at, tau, to) = ((member(a, i), a.ld), member(tau, i), (member(c, i), c.ld));
                // SAFETY: S11: as above.
                unsafe {
                    (f.ormqr)(
                        raw,
                        side,
                        trans,
                        m,
                        n,
                        k,
                        at.0,
                        at.1,
                        tau,
                        to.0,
                        to.1,
                        space,
                        elements,
                        work.info(),
                    )
                }
            })
        })
    }

    unsafe fn gesvd(
        context: Context,
        left: rocblas_svect,
        right: rocblas_svect,
        m: i32,
        n: i32,
        a: Batched<T>,
        s: Batched<T::Real>,
        u: Batched<T>,
        v: Batched<T>,
        e: Batched<T::Real>,
        info: *mut i32,
    ) -> Status {
        with(context, |work| {
            let (left, right) = (letter(left)?, letter(right)?);
            if !any(&[m, n])? {
                return Ok(());
            }
            if m < n {
                return compound::wide_gesvd(work, [left, right], [m, n], a, s, [u, v], e, info);
            }
            let raw = work.raw;
            // It looks at them where they are not used too.
            let (ldu, ldv) = (u.ld.max(if left == b'N' as c_schar { m } else { 1 }), v.ld.max(n));
            // SAFETY: S11: work memory of the size asked for.
            let size = |f: &Dense<T, T::Real>, size| unsafe { (f.gesvd_size)(raw, m, n, size) };
            each::<T, T>(work, size, |f, i, space, elements| {
                let [u, v] = [u, v].map(|operand| member(operand, i));
                let (at, s, e, info) = (member(a, i), member(s, i), member(e, i), info.wrapping_add(i));
                // SAFETY: S11: the program's operands.
                unsafe {
                    (f.gesvd)(raw, left, right, m, n, at, a.ld, s, u, ldu, v, ldv, space, elements, e, info)
                }
            })
        })
    }

    unsafe fn syevd(
        context: Context,
        evect: rocblas_evect,
        uplo: rocblas_fill,
        n: i32,
        a: Batched<T>,
        d: Batched<T::Real>,
        _e: Batched<T::Real>,
        info: *mut i32,
    ) -> Status {
        with(context, |work| {
            let (mode, uplo) = (mode(evect)?, fill(uplo)?);
            if !any(&[n])? {
                return Ok(());
            }
            let (raw, at) = (work.raw, (a.address, a.ld));
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            let size = |f: &Dense<T, T::Real>, size| unsafe {
                (f.syevd_size)(raw, mode, uplo, n, at.0, at.1, d.address, size)
            };
            each::<T, T>(work, size, |f, i, space, elements| {
                let (d, info) = (member(d, i), info.wrapping_add(i));
                // SAFETY: S11: as above.
                unsafe { (f.syevd)(raw, mode, uplo, n, member(a, i), a.ld, d, space, elements, info) }
            })
        })
    }

    unsafe fn sygvd(
        context: Context,
        itype: rocblas_eform,
        evect: rocblas_evect,
        uplo: rocblas_fill,
        n: i32,
        a: Batched<T>,
        b: Batched<T>,
        d: Batched<T::Real>,
        _e: Batched<T::Real>,
        info: *mut i32,
    ) -> Status {
        with(context, |work| {
            let problem = match itype {
                rocblas_eform::rocblas_eform_ax => 1,
                rocblas_eform::rocblas_eform_abx => 2,
                rocblas_eform::rocblas_eform_bax => 3,
                _ => return Err(VALUE),
            };
            let (mode, uplo) = (mode(evect)?, fill(uplo)?);
            if !any(&[n])? {
                return Ok(());
            }
            let (raw, at, with) = (work.raw, (a.address, a.ld), (b.address, b.ld));
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            let size = |f: &Dense<T, T::Real>, size| unsafe {
                (f.sygvd_size)(raw, problem, mode, uplo, n, at.0, at.1, with.0, with.1, d.address, size)
            };
            each::<T, T>(work, size, |f, i, space, elements| {
                let (at, with, d) = ((member(a, i), a.ld), (member(b, i), b.ld), member(d, i));
                let info = info.wrapping_add(i);
                // SAFETY: S11: as above.
                unsafe {
                    (f.sygvd)(
                        raw, problem, mode, uplo, n, at.0, at.1, with.0, with.1, d, space, elements, info,
                    )
                }
            })
        })
    }
}
