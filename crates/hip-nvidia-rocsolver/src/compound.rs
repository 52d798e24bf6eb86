//! What cuSOLVER has no function for, made of what it has, and of cuBLAS's products.

use crate::blas::{ADJOINT, At, PLAIN, adjoint, solve};
use crate::call::{Outcome, Work, done, driven};
use crate::functions::Element;
use crate::solver::once;
use hip_nvidia::library::{Temporary, copy_rows, fill_rows, fill_with_zeros};
use hip_sys::provider::Batched;
use std::ffi::c_schar;

const UPPER: u32 = 1;
const NON_UNIT: u32 = 0;
const LEFT: u32 = 0;
const NONE: c_schar = b'N' as c_schar;
const ALL: c_schar = b'A' as c_schar;
/// What overwrites the matrix.
const OVERWRITE: c_schar = b'O' as c_schar;

fn bytes<T>(elements: i32) -> usize {
    elements as usize * size_of::<T>()
}

/// Memory for a matrix without gaps.
fn temporary<T>(work: &Work, [rows, cols]: [i32; 2]) -> Outcome<Temporary> {
    // SAFETY: S11: the stream is the handle's, whose device is current until the call returns.
    driven(unsafe { Temporary::new(bytes::<T>(rows) * cols as usize, work.stream) })
}

/// The member of a batch as a batch of one.
fn one<T: Copy>(operand: Batched<T>, index: usize) -> Batched<T> {
    Batched { address: crate::call::member(operand, index), ..operand }
}

/// Copies a matrix.
///
/// # Safety
/// Both are memory of the device with these sizes.
unsafe fn copy<T>(work: &Work, [rows, cols]: [i32; 2], from: At<T>, to: At<T>) -> Outcome {
    let (to, from) = ((to.0.cast(), bytes::<T>(to.1)), (from.0.cast_const().cast(), bytes::<T>(from.1)));
    // SAFETY: S2, S11: as the caller vouches.
    driven(unsafe { copy_rows(to, from, bytes::<T>(rows), cols as usize, work.stream) })
}

/// Which element of the diagonal of an upper triangle is the first zero, from 1; 0 if none is. cuSOLVER tells it who inverts the triangle.
///
/// # Safety
/// They are memory of the device with these sizes; `spare` has n x n elements.
unsafe fn first_zero<T: Element>(
    work: &Work,
    n: i32,
    triangle: At<T>,
    spare: *mut T,
    info: *mut i32,
) -> Outcome {
    let (cusolver, raw, order) = (work.cusolver, work.raw, i64::from(n));
    // SAFETY: S11: as the caller vouches.
    unsafe { copy(work, [n, n], triangle, (spare, n)) }?;
    let (mut on_device, mut on_host) = (0, 0);
    // SAFETY: S1, S11: live variables, and the caller's memory.
    done(unsafe {
        (cusolver.trtri_size)(
            raw,
            UPPER,
            NON_UNIT,
            order,
            T::DATA_TYPE,
            spare.cast(),
            order,
            &mut on_device,
            &mut on_host,
        )
    })?;
    let space = work.space::<u8>(on_device)?;
    let mut host = vec![0_u8; on_host];
    // SAFETY: S11: the caller's memory, and work memory of the sizes asked for.
    done(unsafe {
        (cusolver.trtri)(
            raw,
            UPPER,
            NON_UNIT,
            order,
            T::DATA_TYPE,
            spare.cast(),
            order,
            space.cast(),
            on_device,
            host.as_mut_ptr().cast(),
            on_host,
            info,
        )
    })
}

/// The inverse, as the solution of a system whose right sides are those of the identity.
///
/// # Safety
/// As `rocsolver_sgetri`.
pub(crate) fn getri<T: Element>(
    work: &Work,
    n: i32,
    a: Batched<T>,
    ipiv: Batched<i32>,
    info: *mut i32,
) -> Outcome {
    let spare = temporary::<T>(work, [n, n])?;
    let (inverse, stream) = (spare.at::<T>(), work.stream);
    (0..work.members).try_for_each(|index| {
        let (a, ipiv) = (one(a, index), one(ipiv, index));
        // SAFETY: S2, S11: the program's operands, and memory of their size. The number one has its bits in the last word of its real part.
        unsafe {
            first_zero(work, n, (a.address, a.ld), inverse, info.wrapping_add(index))?;
            driven(fill_with_zeros(inverse.cast(), bytes::<T>(n) * n as usize, stream))?;
            let diagonal = inverse.cast::<u32>().wrapping_add(size_of::<T::Real>() / 4 - 1);
            driven(fill_rows(
                (diagonal.cast(), bytes::<T>(n + 1)),
                T::LAST_WORD_OF_ONE,
                1,
                n as usize,
                stream,
            ))?;
        }
        once::<T>(
            work,
            |_, _| 0,
            |f, _, _| {
                // SAFETY: S11: as above.
                unsafe {
                    (f.getrs)(work.raw, 0, n, n, a.address, a.ld, ipiv.address, inverse, n, work.info())
                }
            },
        )?;
        // SAFETY: S11: as above.
        unsafe { copy(work, [n, n], (inverse, n), (a.address, a.ld)) }
    })
}

/// Least squares, and the smallest solutions, by reflectors of the matrix, or of its adjoint if that has more rows.
///
/// # Safety
/// As `rocsolver_sgels`.
pub(crate) fn gels<T: Element>(
    work: &Work,
    transposed: bool,
    [m, n, nrhs]: [i32; 3],
    a: Batched<T>,
    b: Batched<T>,
    info: *mut i32,
) -> Outcome {
    let (p, q, stream) = (m.max(n), m.min(n), work.stream);
    // SAFETY: S11: the program's numbers.
    driven(unsafe { fill_with_zeros(info.cast(), 4 * work.members, stream) })?;
    // Rows of the right sides, or solutions, from one on.
    let clear = |b: Batched<T>, from: i32| {
        let (to, words) = (b.address.wrapping_add(from as usize), bytes::<T>(p - from) / 4);
        if words == 0 || nrhs == 0 {
            return Ok(());
        }
        // SAFETY: S2, S11: the program's operand, which has p rows.
        driven(unsafe { fill_rows((to.cast(), bytes::<T>(b.ld)), 0, words, nrhs as usize, stream) })
    };
    if q == 0 {
        return (0..work.members).try_for_each(|index| clear(one(b, index), 0));
    }
    let wide = m < n;
    let (spare, tau) = (temporary::<T>(work, [q, q])?, temporary::<T>(work, [q, 1])?);
    let turned = if wide { Some(temporary::<T>(work, [p, q])?) } else { None };
    let (raw, tau) = (work.raw, tau.at::<T>());
    (0..work.members).try_for_each(|index| {
        let (a, b) = (one(a, index), one(b, index));
        let (f, ld) = turned.as_ref().map_or((a.address, a.ld), |turned| (turned.at(), p));
        if wide {
            // SAFETY: S11: the program's operand, and memory of its size.
            unsafe { adjoint(work, [p, q], (a.address, a.ld), (f, ld)) }?;
        }
        once::<T>(
            work,
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            |of, size| unsafe { (of.geqrf_size)(raw, p, q, f, ld, size) },
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            |of, space, elements| unsafe { (of.geqrf)(raw, p, q, f, ld, tau, space, elements, work.info()) },
        )?;
        // SAFETY: S11: as above.
        unsafe { first_zero(work, q, (f, ld), spare.at(), info.wrapping_add(index)) }?;
        let reflect = |op: u32| {
            once::<T>(
                work,
                // SAFETY: S11: the program's operands, and work memory of the size asked for.
                |of, size| unsafe {
                    (of.ormqr_size)(raw, LEFT, op, p, nrhs, q, f, ld, tau, b.address, b.ld, size)
                },
                // SAFETY: S11: the program's operands, and work memory of the size asked for.
                |of, space, elements| unsafe {
                    (of.ormqr)(
                        raw,
                        LEFT,
                        op,
                        p,
                        nrhs,
                        q,
                        f,
                        ld,
                        tau,
                        b.address,
                        b.ld,
                        space,
                        elements,
                        work.info(),
                    )
                },
            )
        };
        if nrhs > 0 {
            let triangle = (f, ld);
            // SAFETY: S11: as above.
            let solve = |op| unsafe { solve(work, op, [q, nrhs], triangle, (b.address, b.ld)) };
            if transposed == wide {
                // More equations than unknowns.
                reflect(if T::COMPLEX { 2 } else { 1 })?;
                solve(PLAIN)?;
            } else {
                solve(ADJOINT)?;
                clear(b, q)?;
                reflect(0)?;
            }
        }
        // The factors of the matrix itself: L is the adjoint of R.
        // SAFETY: S11: as above.
        if wide { unsafe { adjoint(work, [m, n], (f, ld), (a.address, a.ld)) } } else { Ok(()) }
    })
}

/// Singular values of a matrix with more columns than rows: those of its adjoint, whose vectors are exchanged.
///
/// # Safety
/// As `rocsolver_sgesvd`.
pub(crate) fn wide_gesvd<T: Element>(
    work: &Work,
    [left, right]: [c_schar; 2],
    [m, n]: [i32; 2],
    a: Batched<T>,
    s: Batched<T::Real>,
    [u, v]: [Batched<T>; 2],
    e: Batched<T::Real>,
    info: *mut i32,
) -> Outcome {
    crate::call::ensure(left != OVERWRITE && right != OVERWRITE, crate::call::NOT_IMPLEMENTED)?;
    let raw = work.raw;
    let turned = temporary::<T>(work, [n, m])?;
    // The adjoint's own vectors: n x n or n x m on the left, m x m on the right.
    let cols = if right == ALL { n } else { m };
    let (own_left, own_right) = (temporary::<T>(work, [n, cols])?, temporary::<T>(work, [m, m])?);
    let (turned, own_left, own_right) = (turned.at::<T>(), own_left.at::<T>(), own_right.at::<T>());
    (0..work.members).try_for_each(|index| {
        let [a, u, v] = [a, u, v].map(|operand| one(operand, index));
        let (s, e, info) = (one(s, index).address, one(e, index).address, info.wrapping_add(index));
        // SAFETY: S11: the program's operand, and memory of its size.
        unsafe { adjoint(work, [n, m], (a.address, a.ld), (turned, n)) }?;
        once::<T>(
            work,
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            |f, size| unsafe { (f.gesvd_size)(raw, n, m, size) },
            // SAFETY: S11: the program's operands, and work memory of the size asked for.
            |f, space, elements| unsafe {
                (f.gesvd)(
                    raw, right, left, n, m, turned, n, s, own_left, n, own_right, m, space, elements, e, info,
                )
            },
        )?;
        // SAFETY: S11: as above.
        unsafe {
            if right != NONE {
                adjoint(work, [cols, n], (own_left, n), (v.address, v.ld))?;
            }
            if left != NONE {
                adjoint(work, [m, m], (own_right, m), (u.address, u.ld))?;
            }
        }
        Ok(())
    })
}
