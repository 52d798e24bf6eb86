//! Conversions between sparse and dense matrices, and between formats.

use crate::handle::{self, failure};
use crate::number::{Number, by_scalar};
use crate::operand::{Dense, Sparse, no_work, slice, slice_mut};
use crate::product::same;
use hip_host::library::Uses;
use hip_sys::provider::sparse::{self, Outcome, Scalar, ensure, lock, status};
use hip_sys::rocsparse::{
    rocsparse_action, rocsparse_const_dnmat_descr, rocsparse_const_spmat_descr, rocsparse_datatype,
    rocsparse_dense_to_sparse_alg, rocsparse_dnmat_descr, rocsparse_format as Format, rocsparse_handle,
    rocsparse_index_base, rocsparse_sparse_to_dense_alg, rocsparse_spmat_descr, rocsparse_status as Status,
};
use std::ffi::c_void;

const SIZE: Status = Status::rocsparse_status_invalid_size;

/// Fails for formats that neither conversion has.
fn convertible(format: Format) -> Outcome {
    let offered = [Format::rocsparse_format_csr, Format::rocsparse_format_csc, Format::rocsparse_format_coo];
    ensure(offered.contains(&format), Status::rocsparse_status_not_implemented)
}

pub(crate) unsafe extern "C" fn sparse_to_dense(
    handle: rocsparse_handle,
    from: rocsparse_const_spmat_descr,
    to: rocsparse_dnmat_descr,
    _algorithm: rocsparse_sparse_to_dense_alg,
    buffer_size: *mut usize,
    work: *mut c_void,
) -> Status {
    let run = || {
        let (handle, from, to) = (handle::get(handle)?, sparse::matrix_now(from)?, sparse::dense(to)?);
        convertible(from.format)?;
        ensure(from.scalar == to.scalar, Status::rocsparse_status_not_implemented)?;
        ensure(from.rows == to.rows && from.cols == to.cols, SIZE)?;
        if work.is_null() {
            // SAFETY: S11: the caller's out-pointer.
            return unsafe { no_work(buffer_size) };
        }
        by_scalar!(from.scalar, submit_to_dense(&handle, Sparse::new(&from)?, Dense::plain(&to)?))
    };
    status(run())
}

fn submit_to_dense<T: Number>(handle: &handle::Handle, from: Sparse, to: Dense) -> Outcome {
    let mut uses = Uses::default();
    from.name::<T>(&mut uses, false)?;
    to.name::<T>(&mut uses, true)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (values, elements) = (from.values::<T>(), to.elements_mut::<T>());
            for row in 0..to.rows {
                (0..to.cols).for_each(|col| elements[to.at(row, col)] = T::ZERO);
            }
            from.each(|row, col, at| elements[to.at(row, col)] = values[at]);
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_sparse_to_dense", uses, body) }
}

pub(crate) unsafe extern "C" fn dense_to_sparse(
    handle: rocsparse_handle,
    from: rocsparse_const_dnmat_descr,
    to: rocsparse_spmat_descr,
    _algorithm: rocsparse_dense_to_sparse_alg,
    buffer_size: *mut usize,
    work: *mut c_void,
) -> Status {
    let run = || {
        let (handle, from, result) = (handle::get(handle)?, sparse::dense(from)?, sparse::matrix(to)?);
        let now = lock(&result).clone();
        convertible(now.format)?;
        ensure(from.scalar == now.scalar, Status::rocsparse_status_not_implemented)?;
        ensure(from.rows == now.rows && from.cols == now.cols, SIZE)?;
        if work.is_null() {
            // SAFETY: S11: the caller's out-pointer.
            return unsafe { no_work(buffer_size) };
        }
        let dense = Dense::plain(&from)?;
        if buffer_size.is_null() {
            lock(&result).stored = by_scalar!(from.scalar, count_elements(&handle, dense))?;
            return Ok(());
        }
        by_scalar!(from.scalar, submit_to_sparse(&handle, dense, Sparse::new(&now)?))
    };
    status(run())
}

fn count_elements<T: Number>(handle: &handle::Handle, from: Dense) -> Outcome<usize> {
    let mut uses = Uses::default();
    from.name::<T>(&mut uses, false)?;
    let body = move || {
        // SAFETY: S11, S12: the call named this memory.
        let elements = unsafe { from.elements::<T>() };
        let in_row = |row| (0..from.cols).filter(|&col| elements[from.at(row, col)] != T::ZERO).count();
        (0..from.rows).map(in_row).sum()
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.ask("rocsparse_dense_to_sparse", uses, body) }
}

fn submit_to_sparse<T: Number>(handle: &handle::Handle, from: Dense, to: Sparse) -> Outcome {
    let mut uses = Uses::default();
    from.name::<T>(&mut uses, false)?;
    to.name::<T>(&mut uses, true)?;
    to.outer.name(&mut uses, true)?;
    to.inner.name(&mut uses, true)?;
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (elements, values) = (from.elements::<T>(), to.values_mut::<T>());
            let by_cols = to.format == Format::rocsparse_format_csc;
            let (lists, length) = if by_cols { (from.cols, from.rows) } else { (from.rows, from.cols) };
            let pairs = to.format == Format::rocsparse_format_coo;
            let mut stored = 0;
            for list in 0..lists {
                for index in 0..length {
                    let (row, col) = if by_cols { (index, list) } else { (list, index) };
                    let element = elements[from.at(row, col)];
                    if element != T::ZERO {
                        values[stored] = element;
                        to.inner.set(stored, index);
                        if pairs {
                            to.outer.set(stored, list);
                        }
                        stored += 1;
                    }
                }
                if !pairs {
                    to.outer.set(list + 1, stored);
                }
            }
            if !pairs {
                to.outer.set(0, 0);
            }
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_dense_to_sparse", uses, body) }
}

/// Sizes of C's older functions, whose indices start at zero.
pub(crate) fn sizes<const N: usize>(sizes: [i32; N], base: rocsparse_index_base) -> Outcome<[usize; N]> {
    let zero = base == rocsparse_index_base::rocsparse_index_base_zero;
    ensure(zero, Status::rocsparse_status_not_implemented)?;
    ensure(sizes.iter().all(|&size| size >= 0), SIZE)?;
    Ok(sizes.map(|size| size as usize))
}

pub(crate) unsafe extern "C" fn csr2coo(
    handle: rocsparse_handle,
    offsets: *const i32,
    stored: i32,
    rows: i32,
    indices: *mut i32,
    base: rocsparse_index_base,
) -> Status {
    let run = || {
        let (handle, [stored, rows]) = (handle::get(handle)?, sizes([stored, rows], base)?);
        let mut uses = Uses::default();
        uses.read(offsets, rows + 1).and_then(|()| uses.write(indices, stored)).map_err(failure)?;
        let (offsets, indices) = (offsets as usize, indices as usize);
        let body = move || {
            // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
            let (offsets, indices) =
                unsafe { (slice::<i32>(offsets, rows + 1), slice_mut::<i32>(indices, stored)) };
            for (row, pair) in offsets.windows(2).enumerate() {
                indices[pair[0] as usize..pair[1] as usize].fill(row as i32);
            }
        };
        // SAFETY: S11: the body uses what was named.
        unsafe { handle.submit("rocsparse_csr2coo", uses, body) }
    };
    status(run())
}

pub(crate) unsafe extern "C" fn coo2csr(
    handle: rocsparse_handle,
    indices: *const i32,
    stored: i32,
    rows: i32,
    offsets: *mut i32,
    base: rocsparse_index_base,
) -> Status {
    let run = || {
        let (handle, [stored, rows]) = (handle::get(handle)?, sizes([stored, rows], base)?);
        let mut uses = Uses::default();
        uses.read(indices, stored).and_then(|()| uses.write(offsets, rows + 1)).map_err(failure)?;
        let (offsets, indices) = (offsets as usize, indices as usize);
        let body = move || {
            // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
            let (indices, offsets) =
                unsafe { (slice::<i32>(indices, stored), slice_mut::<i32>(offsets, rows + 1)) };
            for (row, offset) in offsets.iter_mut().enumerate() {
                *offset = indices.partition_point(|&index| (index as usize) < row) as i32;
            }
        };
        // SAFETY: S11: the body uses what was named.
        unsafe { handle.submit("rocsparse_coo2csr", uses, body) }
    };
    status(run())
}

pub(crate) unsafe extern "C" fn csr2csc_buffer_size(
    handle: rocsparse_handle,
    _rows: i32,
    _cols: i32,
    _stored: i32,
    _offsets: *const i32,
    _indices: *const i32,
    _action: rocsparse_action,
    buffer_size: *mut usize,
) -> Status {
    // SAFETY: S11: the caller's out-pointer.
    status(handle::get(handle).and_then(|_| unsafe { no_work(buffer_size) }))
}

/// A matrix by rows, and the memory for the same matrix by columns.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) sizes: [i32; 3],
    pub(crate) offsets: *const i32,
    pub(crate) indices: *const i32,
    pub(crate) values: *const c_void,
    pub(crate) to_offsets: *mut i32,
    pub(crate) to_indices: *mut i32,
    pub(crate) to_values: *mut c_void,
}

/// The body of the functions for one type of numbers each.
pub(crate) fn csr2csc(
    handle: rocsparse_handle,
    scalar: rocsparse_datatype,
    of: Turn,
    action: rocsparse_action,
    base: rocsparse_index_base,
) -> Status {
    let run = || {
        let (handle, sizes, scalar) = (handle::get(handle)?, sizes(of.sizes, base)?, same(scalar, &[])?);
        let numeric = action == rocsparse_action::rocsparse_action_numeric;
        ensure(numeric, Status::rocsparse_status_not_implemented)?;
        submit(&handle, scalar, of, sizes)
    };
    fn submit(handle: &handle::Handle, scalar: Scalar, of: Turn, sizes: [usize; 3]) -> Outcome {
        by_scalar!(scalar, submit_csr2csc(handle, of, sizes))
    }
    status(run())
}

fn submit_csr2csc<T: Number>(handle: &handle::Handle, of: Turn, [rows, cols, stored]: [usize; 3]) -> Outcome {
    let mut uses = Uses::default();
    let mut name = || {
        uses.read(of.offsets, rows + 1)?;
        uses.read(of.indices, stored)?;
        uses.read(of.values.cast::<T>(), stored)?;
        uses.write(of.to_offsets, cols + 1)?;
        uses.write(of.to_indices, stored)?;
        uses.write(of.to_values.cast::<T>(), stored)
    };
    name().map_err(failure)?;
    let from = [of.offsets as usize, of.indices as usize, of.values as usize];
    let to = [of.to_offsets as usize, of.to_indices as usize, of.to_values as usize];
    let body = move || {
        // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
        unsafe {
            let (offsets, indices) = (slice::<i32>(from[0], rows + 1), slice::<i32>(from[1], stored));
            let values = slice::<T>(from[2], stored);
            let (to_offsets, to_indices) =
                (slice_mut::<i32>(to[0], cols + 1), slice_mut::<i32>(to[1], stored));
            let to_values = slice_mut::<T>(to[2], stored);
            // First how many entries each column has, then where the next one of each goes.
            let mut next = vec![0_usize; cols + 1];
            indices.iter().for_each(|&col| next[col as usize + 1] += 1);
            for col in 0..cols {
                next[col + 1] += next[col];
            }
            to_offsets.iter_mut().zip(&next).for_each(|(offset, &next)| *offset = next as i32);
            for (row, pair) in offsets.windows(2).enumerate() {
                for at in pair[0] as usize..pair[1] as usize {
                    let slot = &mut next[indices[at] as usize];
                    (to_indices[*slot], to_values[*slot]) = (row as i32, values[at]);
                    *slot += 1;
                }
            }
        }
    };
    // SAFETY: S11: the body uses what was named.
    unsafe { handle.submit("rocsparse_csr2csc", uses, body) }
}
