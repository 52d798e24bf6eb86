//! Matrices and vectors in memory.

use crate::handle::failure;
use hip_host::library::Uses;
use hip_sys::provider::sparse::{DenseMatrix, Index, Outcome, SparseMatrix, ensure};
use hip_sys::rocsparse::{
    rocsparse_direction, rocsparse_format as Format, rocsparse_operation as Operation,
    rocsparse_status as Status,
};
use std::ffi::c_void;

/// Indices in memory.
#[derive(Clone, Copy)]
pub(crate) struct Indices {
    address: usize,
    count: usize,
    kind: Index,
}

impl Indices {
    pub(crate) fn new(address: usize, count: usize, kind: Index) -> Self {
        Self { address, count, kind }
    }

    /// Names them as read, or as written too.
    pub(crate) fn name(self, uses: &mut Uses, writes: bool) -> Outcome {
        let Self { address, count, kind } = self;
        match (kind, writes) {
            (Index::I32, false) => uses.read(address as *const i32, count),
            (Index::I64, false) => uses.read(address as *const i64, count),
            (Index::I32, true) => uses.write(address as *mut i32, count),
            (Index::I64, true) => uses.write(address as *mut i64, count),
        }
        .map_err(failure)
    }

    /// One of them; padding is −1.
    ///
    /// # Safety
    /// They were named by the call that runs.
    pub(crate) unsafe fn signed(self, at: usize) -> i64 {
        assert!(at < self.count, "index {at} is beyond the {} that there are", self.count);
        // SAFETY: S2, S11: it is one of the indices that the call named.
        unsafe {
            match self.kind {
                Index::I32 => (self.address as *const i32).add(at).read().into(),
                Index::I64 => (self.address as *const i64).add(at).read(),
            }
        }
    }

    /// One of them.
    ///
    /// # Safety
    /// As [`Indices::signed`].
    pub(crate) unsafe fn get(self, at: usize) -> usize {
        // SAFETY: S11: as the caller vouches.
        let index = unsafe { self.signed(at) };
        usize::try_from(index).expect("indices are not negative")
    }

    /// # Safety
    /// They were named as written by the call that runs.
    pub(crate) unsafe fn set(self, at: usize, index: usize) {
        assert!(at < self.count, "index {at} is beyond the {} that there are", self.count);
        // SAFETY: S2, S11: it is one of the indices that the call named.
        unsafe {
            match self.kind {
                Index::I32 => (self.address as *mut i32).add(at).write(index as i32),
                Index::I64 => (self.address as *mut i64).add(at).write(index as i64),
            }
        }
    }
}

/// A sparse matrix in memory.
#[derive(Clone, Copy)]
pub(crate) struct Sparse {
    pub(crate) format: Format,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) outer: Indices,
    pub(crate) inner: Indices,
    values: usize,
    count: usize,
    block: usize,
    by_row: bool,
}

impl Sparse {
    pub(crate) fn new(of: &SparseMatrix) -> Outcome<Self> {
        let offsets = match of.format {
            // Without rows there may be no offsets.
            _ if of.outer == 0 => 0,
            Format::rocsparse_format_csr | Format::rocsparse_format_bsr => of.rows + 1,
            Format::rocsparse_format_csc => of.cols + 1,
            Format::rocsparse_format_coo => of.stored,
            _ => 0,
        };
        let size = |size: usize, by: usize| size.checked_mul(by).ok_or(Status::rocsparse_status_invalid_size);
        Ok(Self {
            format: of.format,
            rows: size(of.rows, of.block)?,
            cols: size(of.cols, of.block)?,
            outer: Indices::new(of.outer, offsets, of.index),
            inner: Indices::new(of.inner, of.stored, of.index),
            values: of.values,
            count: size(of.stored, size(of.block, of.block)?)?,
            block: of.block,
            by_row: of.direction == rocsparse_direction::rocsparse_direction_row,
        })
    }

    /// Names its memory as read, but for the values, if those are written.
    pub(crate) fn name<T>(&self, uses: &mut Uses, writes_values: bool) -> Outcome {
        self.outer.name(uses, false)?;
        self.inner.name(uses, false)?;
        if writes_values {
            uses.write(self.values as *mut T, self.count).map_err(failure)
        } else {
            uses.read(self.values as *const T, self.count).map_err(failure)
        }
    }

    /// Its numbers.
    ///
    /// # Safety
    /// They are of this type, and were named by the call that runs.
    pub(crate) unsafe fn values<T>(&self) -> &[T] {
        // SAFETY: S11, S12: as the caller vouches.
        unsafe { slice(self.values, self.count) }
    }

    /// Its numbers, to write.
    ///
    /// # Safety
    /// They are of this type, and were named as written by the call that runs, which has no other slice of them.
    pub(crate) unsafe fn values_mut<'a, T>(self) -> &'a mut [T] {
        // SAFETY: S11, S12: as the caller vouches.
        unsafe { slice_mut(self.values, self.count) }
    }

    /// Calls `see` with each entry: its row, its column, and which of the values it is.
    ///
    /// # Safety
    /// Offsets and indices were named by the call that runs.
    pub(crate) unsafe fn each(&self, mut see: impl FnMut(usize, usize, usize)) {
        let &Self { format, rows, cols, outer, inner, block, by_row, .. } = self;
        // SAFETY: S11: as the caller vouches.
        let list = |list: usize| unsafe { outer.get(list)..outer.get(list + 1) };
        // SAFETY: S11: as the caller vouches.
        let at = |at: usize| unsafe { inner.get(at) };
        match format {
            Format::rocsparse_format_csr => {
                (0..rows).for_each(|row| list(row).for_each(|entry| see(row, at(entry), entry)));
            }
            Format::rocsparse_format_csc => {
                (0..cols).for_each(|col| list(col).for_each(|entry| see(at(entry), col, entry)));
            }
            Format::rocsparse_format_coo => {
                // SAFETY: S11: as the caller vouches.
                (0..self.count).for_each(|entry| see(unsafe { outer.get(entry) }, at(entry), entry));
            }
            Format::rocsparse_format_ell => {
                let width = self.count.checked_div(rows).unwrap_or_default();
                for row in 0..rows {
                    for entry in (0..width).map(|entry_of_row| entry_of_row * rows + row) {
                        // SAFETY: S11: as the caller vouches.
                        if unsafe { inner.signed(entry) } < 0 {
                            break;
                        }
                        see(row, at(entry), entry);
                    }
                }
            }
            _ => {
                for row in 0..rows {
                    for entry in list(row / block) {
                        for k in 0..block {
                            let offset =
                                if by_row { row % block * block + k } else { k * block + row % block };
                            see(row, at(entry) * block + k, entry * block * block + offset);
                        }
                    }
                }
            }
        }
    }
}

/// A dense matrix in memory, with an operation on it.
#[derive(Clone, Copy)]
pub(crate) struct Dense {
    /// Of the matrix after its operation.
    pub(crate) rows: usize,
    /// Of the matrix after its operation.
    pub(crate) cols: usize,
    strides: [usize; 2],
    pub(crate) conjugated: bool,
    address: usize,
    extent: usize,
}

impl Dense {
    pub(crate) fn new(of: &DenseMatrix, operation: Operation) -> Outcome<Self> {
        let (turned, conjugated) = flags(operation)?;
        let ([row, col], extent) = (of.strides(), of.extent()?);
        let (rows, cols, strides) =
            if turned { (of.cols, of.rows, [col, row]) } else { (of.rows, of.cols, [row, col]) };
        Ok(Self { rows, cols, strides, conjugated, address: of.values, extent })
    }

    pub(crate) fn plain(of: &DenseMatrix) -> Outcome<Self> {
        Self::new(of, Operation::rocsparse_operation_none)
    }

    pub(crate) fn name<T>(&self, uses: &mut Uses, writes: bool) -> Outcome {
        if writes {
            uses.write(self.address as *mut T, self.extent).map_err(failure)
        } else {
            uses.read(self.address as *const T, self.extent).map_err(failure)
        }
    }

    /// Where an element lies.
    pub(crate) fn at(&self, row: usize, col: usize) -> usize {
        row * self.strides[0] + col * self.strides[1]
    }

    /// Its elements, gaps included.
    ///
    /// # Safety
    /// As [`Sparse::values`].
    pub(crate) unsafe fn elements<T>(&self) -> &[T] {
        // SAFETY: S11, S12: as the caller vouches.
        unsafe { slice(self.address, self.extent) }
    }

    /// Its elements, to write.
    ///
    /// # Safety
    /// As [`Sparse::values_mut`].
    pub(crate) unsafe fn elements_mut<'a, T>(self) -> &'a mut [T] {
        // SAFETY: S11, S12: as the caller vouches.
        unsafe { slice_mut(self.address, self.extent) }
    }
}

/// Whether an operation transposes, and whether it conjugates.
pub(crate) fn flags(operation: Operation) -> Outcome<(bool, bool)> {
    match operation {
        Operation::rocsparse_operation_none => Ok((false, false)),
        Operation::rocsparse_operation_transpose => Ok((true, false)),
        Operation::rocsparse_operation_conjugate_transpose => Ok((true, true)),
        _ => Err(Status::rocsparse_status_invalid_value),
    }
}

/// A factor of the host.
///
/// # Safety
/// The pointer is null or a number of this type.
pub(crate) unsafe fn factor<T: Copy>(pointer: *const c_void) -> Outcome<T> {
    ensure(!pointer.is_null(), Status::rocsparse_status_invalid_pointer)?;
    // SAFETY: S11: the caller's number.
    Ok(unsafe { pointer.cast::<T>().read_unaligned() })
}

/// Answers that no work memory is needed.
///
/// # Safety
/// The pointer is null or writable.
pub(crate) unsafe fn no_work(bytes: *mut usize) -> Outcome {
    ensure(!bytes.is_null(), Status::rocsparse_status_invalid_pointer)?;
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { bytes.write(0) };
    Ok(())
}

/// # Safety
/// There are that many values at the address, and nothing writes them while the slice lives.
pub(crate) unsafe fn slice<'a, T>(address: usize, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: S12: as the caller vouches; the call that named them found them aligned.
    unsafe { std::slice::from_raw_parts(address as *const T, count) }
}

/// # Safety
/// There are that many values at the address, and nothing else uses them while the slice lives.
pub(crate) unsafe fn slice_mut<'a, T>(address: usize, count: usize) -> &'a mut [T] {
    if count == 0 {
        return &mut [];
    }
    // SAFETY: S12: as the caller vouches; the call that named them found them aligned.
    unsafe { std::slice::from_raw_parts_mut(address as *mut T, count) }
}
