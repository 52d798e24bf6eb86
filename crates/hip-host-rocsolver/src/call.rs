//! One call: its operands are looked up, and its work is submitted to the handle's stream.

use crate::matrix::Matrix;
use hip_host::library::Uses;
use hip_sys::provider::{Batched, Context};
use hip_sys::rocblas::rocblas_status;
use std::marker::PhantomData;

pub(crate) use hip_sys::provider::ensure;

pub(crate) type Status = rocblas_status;

/// The outcome of a call: success, or another status.
pub(crate) type Outcome<T = ()> = Result<T, Status>;

pub(crate) const POINTER: Status = Status::rocblas_status_invalid_pointer;
pub(crate) const SIZE: Status = Status::rocblas_status_invalid_size;
pub(crate) const VALUE: Status = Status::rocblas_status_invalid_value;

/// Turns an outcome into the status that a function returns.
pub(crate) fn status(outcome: Outcome) -> Status {
    outcome.err().unwrap_or(Status::rocblas_status_success)
}

/// Sizes as counts; none may be negative.
pub(crate) fn counts<const N: usize>(sizes: [i32; N]) -> Outcome<[usize; N]> {
    let mut counts = [0; N];
    for (count, size) in counts.iter_mut().zip(sizes) {
        *count = usize::try_from(size).map_err(|_| SIZE)?;
    }
    Ok(counts)
}

/// A call in preparation.
pub(crate) struct Call {
    context: Context,
    batch: usize,
    uses: Uses,
}

/// The device memory of one matrix for each member of a batch.
pub(crate) struct Matrices<T> {
    address: usize,
    rows: usize,
    cols: usize,
    ld: usize,
    stride: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for Matrices<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Matrices<T> {}

impl Call {
    pub(crate) fn new(context: Context) -> Outcome<Self> {
        let [batch] = counts([context.batch])?;
        Ok(Self { context, batch, uses: Uses::default() })
    }

    /// Declares a matrix that the work reads. Its elements are of a type with the layout of `T`.
    pub(crate) fn read<T: Copy>(
        &mut self,
        operand: Batched<impl Sized>,
        rows: usize,
        cols: usize,
    ) -> Outcome<Matrices<T>> {
        let (matrices, reach) = self.matrices(operand, rows, cols)?;
        self.uses.read(matrices.address as *const T, reach).map_err(|_| POINTER)?;
        Ok(matrices)
    }

    /// Declares a matrix that the work writes, and may read.
    pub(crate) fn write<T: Copy>(
        &mut self,
        operand: Batched<impl Sized>,
        rows: usize,
        cols: usize,
    ) -> Outcome<Matrices<T>> {
        let (matrices, reach) = self.matrices(operand, rows, cols)?;
        self.uses.write(matrices.address as *mut T, reach).map_err(|_| POINTER)?;
        Ok(matrices)
    }

    /// Declares `info`: for each member a number that says what went wrong.
    pub(crate) fn info(&mut self, info: *mut i32) -> Outcome<Matrices<i32>> {
        self.write(Batched { address: info, ld: 1, stride: 1 }, 1, 1)
    }

    /// A vector of `len` elements is a matrix of one column.
    fn matrices<T>(
        &self,
        operand: Batched<impl Sized>,
        rows: usize,
        cols: usize,
    ) -> Outcome<(Matrices<T>, usize)> {
        let Batched { address, ld, stride } = operand;
        let (ld, stride) =
            (usize::try_from(ld).map_err(|_| SIZE)?, usize::try_from(stride).map_err(|_| SIZE)?);
        ensure(ld >= 1 && (cols <= 1 || ld >= rows), SIZE)?;
        let matrices = Matrices { address: address as usize, rows, cols, ld, stride, element: PhantomData };
        if rows == 0 || cols == 0 || self.batch == 0 {
            return Ok((matrices, 0));
        }
        ensure(!address.is_null(), POINTER)?;
        let reach = |count: usize, step: usize| (count - 1).checked_mul(step);
        let sum = reach(cols, ld).and_then(|columns| columns.checked_add(reach(self.batch, stride)?));
        Ok((matrices, sum.and_then(|sum| sum.checked_add(rows)).ok_or(SIZE)?))
    }

    /// Submits the work: `body` for each member.
    ///
    /// # Safety
    /// The body uses only memory that was declared here, and writes only what was declared as written.
    pub(crate) unsafe fn submit(
        self,
        name: &'static str,
        body: impl Fn(usize) + Send + Sync + 'static,
    ) -> Outcome {
        let Self { context, batch, uses } = self;
        // SAFETY: S11: the caller vouches for the body.
        unsafe { hip_host_rocblas::submit(context.handle, name, uses, move || (0..batch).for_each(&body)) }
    }
}

impl<T: Copy> Matrices<T> {
    fn column(&self, member: usize, column: usize) -> *mut T {
        (self.address as *mut T).wrapping_add(member * self.stride + column * self.ld)
    }

    /// A copy of a member.
    ///
    /// # Safety
    /// This is called by the work that declared it.
    pub(crate) unsafe fn load(&self, member: usize) -> Vec<T> {
        let mut all = Vec::with_capacity(self.rows * self.cols);
        if self.rows > 0 {
            for column in 0..self.cols {
                // SAFETY: S2, S12: looked up when the call was prepared; the stream orders whoever writes it.
                all.extend_from_slice(unsafe {
                    std::slice::from_raw_parts(self.column(member, column), self.rows)
                });
            }
        }
        all
    }

    /// Stores a member's columns.
    ///
    /// # Safety
    /// As [`Matrices::load`]; it was declared as written.
    pub(crate) unsafe fn store(&self, member: usize, elements: &[T]) {
        if self.rows == 0 {
            return;
        }
        for (column, elements) in elements.chunks_exact(self.rows).take(self.cols).enumerate() {
            // SAFETY: S2: as above, and each column has so many elements.
            unsafe { self.column(member, column).copy_from_nonoverlapping(elements.as_ptr(), self.rows) };
        }
    }
}

impl<T: crate::scalar::Scalar> Matrices<T> {
    /// A copy of a member.
    ///
    /// # Safety
    /// As [`Matrices::load`].
    pub(crate) unsafe fn matrix(&self, member: usize) -> Matrix<T> {
        // SAFETY: S2: as the caller vouches.
        Matrix::of_columns(self.rows, self.cols, unsafe { self.load(member) })
    }
}
