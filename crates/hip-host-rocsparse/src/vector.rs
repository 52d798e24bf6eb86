//! Sparse and dense vectors.

use crate::handle::{self, failure};
use crate::number::{Number, by_scalar};
use crate::operand::{Indices, factor, slice, slice_mut};
use hip_host::library::Uses;
use hip_sys::provider::sparse::{self, Outcome, SparseVector, Vector, ensure, status};
use hip_sys::rocsparse::{
    rocsparse_const_dnvec_descr, rocsparse_const_spvec_descr, rocsparse_dnvec_descr, rocsparse_handle,
    rocsparse_spvec_descr, rocsparse_status as Status,
};
use std::ffi::c_void;

/// Fails for vectors of different sizes or types. Returns the indices of the sparse one.
fn fit(x: &SparseVector, y: &Vector) -> Outcome<Indices> {
    ensure(x.size == y.size, Status::rocsparse_status_invalid_size)?;
    ensure(x.scalar == y.scalar, Status::rocsparse_status_not_implemented)?;
    Ok(Indices::new(x.indices, x.stored, x.index))
}

pub(crate) unsafe extern "C" fn gather(
    handle: rocsparse_handle,
    y: rocsparse_const_dnvec_descr,
    x: rocsparse_spvec_descr,
) -> Status {
    let run = || {
        let (handle, y, x) = (handle::get(handle)?, sparse::vector(y)?, sparse::sparse_vector(x)?);
        let indices = fit(&x, &y)?;
        by_scalar!(x.scalar, submit_gather(&handle, indices, (y.values, y.size), (x.values, x.stored)))
    };
    status(run())
}

fn submit_gather<T: Number>(
    handle: &handle::Handle,
    indices: Indices,
    y: (usize, usize),
    x: (usize, usize),
) -> Outcome {
    let mut uses = Uses::default();
    indices.name(&mut uses, false)?;
    uses.read(y.0 as *const T, y.1).and_then(|()| uses.write(x.0 as *mut T, x.1)).map_err(failure)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (from, to) = (slice::<T>(y.0, y.1), slice_mut::<T>(x.0, x.1));
            to.iter_mut().enumerate().for_each(|(at, to)| *to = from[indices.get(at)]);
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_gather", uses, body) }
}

pub(crate) unsafe extern "C" fn scatter(
    handle: rocsparse_handle,
    x: rocsparse_const_spvec_descr,
    y: rocsparse_dnvec_descr,
) -> Status {
    let run = || {
        let (handle, y, x) = (handle::get(handle)?, sparse::vector(y)?, sparse::sparse_vector(x)?);
        let indices = fit(&x, &y)?;
        by_scalar!(x.scalar, submit_scatter(&handle, indices, (x.values, x.stored), (y.values, y.size)))
    };
    status(run())
}

fn submit_scatter<T: Number>(
    handle: &handle::Handle,
    indices: Indices,
    x: (usize, usize),
    y: (usize, usize),
) -> Outcome {
    let mut uses = Uses::default();
    indices.name(&mut uses, false)?;
    uses.read(x.0 as *const T, x.1).and_then(|()| uses.write(y.0 as *mut T, y.1)).map_err(failure)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (from, to) = (slice::<T>(x.0, x.1), slice_mut::<T>(y.0, y.1));
            from.iter().enumerate().for_each(|(at, &from)| to[indices.get(at)] = from);
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_scatter", uses, body) }
}

pub(crate) unsafe extern "C" fn axpby(
    handle: rocsparse_handle,
    alpha: *const c_void,
    x: rocsparse_const_spvec_descr,
    beta: *const c_void,
    y: rocsparse_dnvec_descr,
) -> Status {
    let run = || {
        let (handle, y, x) = (handle::get(handle)?, sparse::vector(y)?, sparse::sparse_vector(x)?);
        let indices = fit(&x, &y)?;
        let operands = ((x.values, x.stored), (y.values, y.size));
        by_scalar!(x.scalar, submit_axpby(&handle, [alpha, beta], indices, operands))
    };
    status(run())
}

fn submit_axpby<T: Number>(
    handle: &handle::Handle,
    [alpha, beta]: [*const c_void; 2],
    indices: Indices,
    (x, y): ((usize, usize), (usize, usize)),
) -> Outcome {
    // SAFETY: S11: the caller's factors.
    let (alpha, beta) = unsafe { (factor::<T>(alpha)?, factor::<T>(beta)?) };
    let mut uses = Uses::default();
    indices.name(&mut uses, false)?;
    uses.read(x.0 as *const T, x.1).and_then(|()| uses.write(y.0 as *mut T, y.1)).map_err(failure)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (from, to) = (slice::<T>(x.0, x.1), slice_mut::<T>(y.0, y.1));
            to.iter_mut().for_each(|y| *y = y.scaled(beta));
            for (at, &from) in from.iter().enumerate() {
                let element = &mut to[indices.get(at)];
                *element = *element + alpha * from;
            }
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_axpby", uses, body) }
}
