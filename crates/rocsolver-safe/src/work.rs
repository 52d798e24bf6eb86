//! One operation before it is submitted: its operands, and the memory that it uses.

use crate::info::Meaning;
use crate::pivots::refuse_capture;
use crate::raw::{Call, Failure, Operand};
use crate::{Error, Info, Lapack, Pivots, Result, Solver};
use hip_safe::{AnyBits, DeviceBuffer, DeviceSlice, DeviceSliceMut, DeviceView, DeviceViewMut};
use rocblas_safe::{Columns, MatrixBatch, MatrixBatchMut, Storage};
use std::ffi::c_void;

/// What an operation uses. Its matrices come first: they say how many members there are.
pub(crate) struct Work<'a> {
    op: &'static str,
    /// The members of the batch; `None` for single matrices.
    count: Option<usize>,
    reads: Vec<DeviceView<'a, u8>>,
    writes: Vec<DeviceViewMut<'a, u8>>,
    /// The addresses of the members of the matrices that lie anywhere.
    lists: Vec<Vec<*mut c_void>>,
    /// Members are called one after the other: one of the matrices lies anywhere, or the library has no batches.
    one_by_one: bool,
}

/// A matrix of an operation.
#[derive(Clone, Copy)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// The rows, as C takes them.
    pub(crate) m: i32,
    /// The columns, as C takes them.
    pub(crate) n: i32,
    pub(crate) operand: Operand,
}

impl<'a> Work<'a> {
    /// An operation, and its first matrix, which it writes and which says how many members there are.
    pub(crate) fn new<T: Lapack>(op: &'static str, a: MatrixBatchMut<'a, T>) -> Result<(Self, Matrix)> {
        let columns = a.into_columns().ok_or_else(|| not_columns(op))?;
        let (reads, writes, lists) = (Vec::new(), Vec::new(), Vec::new());
        let count = count_of(&columns.storage);
        let mut work = Self { op, count, reads, writes, lists, one_by_one: false };
        let matrix = work.matrix_to_write(columns)?;
        Ok((work, matrix))
    }

    /// Another matrix that is written, and perhaps read.
    pub(crate) fn write<T: Lapack>(
        &mut self,
        what: &'static str,
        matrix: MatrixBatchMut<'a, T>,
    ) -> Result<Matrix> {
        let columns = matrix.into_columns().ok_or_else(|| not_columns(self.op))?;
        self.check_count(what, count_of(&columns.storage))?;
        self.matrix_to_write(columns)
    }

    /// A matrix that is read. A single one serves all members of a batch.
    pub(crate) fn read<T: Lapack>(
        &mut self,
        what: &'static str,
        matrix: MatrixBatch<'a, T>,
    ) -> Result<Matrix> {
        let columns = matrix.into_columns().ok_or_else(|| not_columns(self.op))?;
        let count = count_of(&columns.storage);
        if count.is_some() {
            self.check_count(what, count)?;
        }
        let Columns { storage, rows, cols, ld } = columns;
        let operand = match storage {
            Storage::One(view) => operand::<T>(self.note_read(view)?, 0)?,
            Storage::Strided { view, stride, .. } => operand::<T>(self.note_read(view)?, stride)?,
            Storage::Many(views) => {
                let list = views.into_iter().map(|view| self.note_read(view)).collect::<Result<_>>()?;
                self.anywhere::<T>(list)
            }
        };
        self.matrix([rows, cols], ld, operand)
    }

    /// A vector of so many elements in each member, to write.
    pub(crate) fn write_vector<V: AnyBits>(
        &mut self,
        what: &'static str,
        vector: &'a mut (impl DeviceSliceMut<Item = V> + ?Sized),
        len: usize,
    ) -> Result<Operand> {
        let needed = self.reach(what, len, vector.as_view().len())?;
        let address = self.note_write(vector.as_view_mut().into_slice(..needed)?)?;
        operand::<V>(address, len)
    }

    /// A vector of so many elements in each member, to read.
    pub(crate) fn read_vector<V: AnyBits>(
        &mut self,
        what: &'static str,
        vector: &'a (impl DeviceSlice<Item = V> + ?Sized),
        len: usize,
    ) -> Result<Operand> {
        let needed = self.reach(what, len, vector.as_view().len())?;
        let address = self.note_read(vector.as_view().slice(..needed)?)?;
        operand::<V>(address, len)
    }

    /// Memory for the pivots of the operation's matrices, which have so many rows: `len` for each member.
    pub(crate) fn new_pivots(&self, solver: &Solver<'_>, rows: usize, len: usize) -> Result<Pivots> {
        let all =
            len.checked_mul(self.members()).ok_or(rocblas_safe::Error::SizeOverflow { what: "pivots" })?;
        let buffer = solver.handle.stream().alloc_zeros(all)?.named("pivots of rocSOLVER");
        Ok(Pivots { buffer, rows, len, count: self.count })
    }

    /// The pivots of a square matrix of that order in each member. Those of a single matrix serve all members of a batch.
    pub(crate) fn read_pivots(&mut self, pivots: &'a Pivots, order: usize) -> Result<Operand> {
        // With fewer rows no pivot leads out of the matrix either, but then there are too few steps.
        if (pivots.rows, pivots.len) != (order, order) {
            let words = |len, rows| format!("{len} steps on {rows} rows");
            let (got, wanted) = (words(pivots.len, pivots.rows), words(order, order));
            return Err(Error::shape(self.op, "pivots", got, wanted));
        }
        if pivots.count.is_some() {
            self.check_count("pivots", pivots.count)?;
        }
        let address = self.note_read(pivots.view())?;
        operand::<i32>(address, pivots.count.map_or(0, |_| order))
    }

    /// Memory of the library alone, for so many elements in each member.
    pub(crate) fn scratch<V: AnyBits>(&self, solver: &Solver<'_>, len: usize) -> Result<DeviceBuffer<V>> {
        let all =
            len.checked_mul(self.members()).ok_or(rocblas_safe::Error::SizeOverflow { what: "batch" })?;
        // SAFETY: S15: the library writes it before it reads it.
        Ok(unsafe { solver.handle.stream().alloc_uninit(all.max(1)) }?.named("memory of rocSOLVER"))
    }

    /// The members of the batch; 1 without one.
    pub(crate) fn members(&self) -> usize {
        self.count.unwrap_or(1)
    }

    /// Calls the members one after the other: the library has no batches.
    pub(crate) fn one_by_one(mut self) -> Self {
        self.one_by_one = true;
        self
    }

    /// A size as C takes it.
    pub(crate) fn size(&self, what: &'static str, size: usize) -> Result<i32> {
        narrow(self.op, what, size)
    }

    /// Fails if a matrix has not the given size.
    pub(crate) fn check(&self, what: &'static str, matrix: &Matrix, rows: usize, cols: usize) -> Result<()> {
        if (matrix.rows, matrix.cols) == (rows, cols) {
            return Ok(());
        }
        let got = format!("{} x {}", matrix.rows, matrix.cols);
        Err(Error::shape(self.op, what, got, format!("{rows} x {cols}")))
    }

    /// Submits it.
    ///
    /// # Safety
    /// The call uses the operands of this work and nothing else; what it writes was given to be written.
    pub(crate) unsafe fn submit(
        mut self,
        solver: &Solver<'_>,
        call: impl Fn(&Call<'_>) -> Result<(), Failure>,
    ) -> Result<()> {
        let batch = self.count.map(|count| narrow(self.op, "the number of matrices", count)).transpose()?;
        let (members, one_by_one) = (self.members(), self.one_by_one);
        let op = self.op;
        let Self { reads, writes, lists, .. } = &mut self;
        // SAFETY: S2, S5, S23: the caller vouches for the call; rocSOLVER submits to the handle's stream, and its other memory is the handle's
        // workspace.
        let answer = unsafe {
            solver.handle.submit_call(op, reads, writes, |handle| {
                let all = Call { table: solver.table, handle, batch, member: None, lists };
                if !one_by_one {
                    return call(&all);
                }
                (0..members).try_for_each(|i| call(&Call { batch: None, member: Some(i), ..all }))
            })
        }?;
        Ok(answer
            .or_else(|Failure { function, status }| rocblas_safe::Error::check_status(function, status))?)
    }

    /// As [`Work::submit`], for a call that says what became of each member. Without a member nothing is done.
    ///
    /// # Safety
    /// As there; the call writes a number for each member at the address that it gets.
    ///
    /// # Errors
    /// Those of [`Work::submit`], and [`hip_safe::Error::Capturing`]: between a capture and the first launch the numbers would be zeros, which mean
    /// success, and so would the pivots, which are not rows.
    pub(crate) unsafe fn submit_with_info(
        mut self,
        solver: &Solver<'_>,
        meaning: Meaning,
        call: impl Fn(&Call<'_>, *mut i32) -> Result<(), Failure>,
    ) -> Result<Info> {
        let (op, batched, stream) = (self.op, self.count.is_some(), solver.handle.stream());
        refuse_capture(&stream, op)?;
        let mut numbers = stream.alloc_zeros::<i32>(self.members())?.named("info of rocSOLVER");
        {
            let (reads, lists) = (std::mem::take(&mut self.reads), std::mem::take(&mut self.lists));
            let (writes, count, one_by_one) = (self.writes, self.count, self.one_by_one);
            let mut whole = Work { op, count, reads, writes, lists, one_by_one };
            let address: *mut i32 = whole.note_write(numbers.view_mut())?.cast();
            // SAFETY: S2: as the caller vouches; there is a number for each member.
            unsafe { whole.submit(solver, |it| call(it, address.wrapping_add(it.member.unwrap_or(0)))) }?;
        }
        Ok(Info { op, meaning, batched, stream, numbers: Some(numbers) })
    }

    /// What an operation without anything to do answers.
    pub(crate) fn nothing(self, solver: &Solver<'_>, meaning: Meaning) -> Info {
        let (op, batched, stream) = (self.op, self.count.is_some(), solver.handle.stream());
        Info { op, meaning, batched, stream, numbers: None }
    }

    fn matrix_to_write<T: Lapack>(&mut self, columns: Columns<DeviceViewMut<'a, T>>) -> Result<Matrix> {
        let Columns { storage, rows, cols, ld } = columns;
        let operand = match storage {
            Storage::One(view) => operand::<T>(self.note_write(view)?, 0)?,
            Storage::Strided { view, stride, .. } => operand::<T>(self.note_write(view)?, stride)?,
            Storage::Many(views) => {
                let list = views.into_iter().map(|view| self.note_write(view)).collect::<Result<_>>()?;
                self.anywhere::<T>(list)
            }
        };
        self.matrix([rows, cols], ld, operand)
    }

    fn anywhere<T>(&mut self, addresses: Vec<*mut c_void>) -> Operand {
        self.one_by_one = true;
        self.lists.push(addresses);
        Operand { element: size_of::<T>(), list: Some(self.lists.len() - 1), ..Operand::NONE }
    }

    fn matrix(&self, [rows, cols]: [usize; 2], ld: usize, operand: Operand) -> Result<Matrix> {
        let (m, n) =
            (narrow(self.op, "the number of rows", rows)?, narrow(self.op, "the number of columns", cols)?);
        // The library looks at it where a matrix has one column or none too.
        let ld = narrow(self.op, "the leading dimension", if cols > 1 { ld } else { rows.max(1) })?;
        Ok(Matrix { rows, cols, m, n, operand: Operand { ld, ..operand } })
    }

    fn check_count(&self, what: &'static str, got: Option<usize>) -> Result<()> {
        if got == self.count {
            return Ok(());
        }
        let words =
            |count: Option<usize>| count.map_or("a single matrix".to_owned(), |n| format!("a batch of {n}"));
        Err(Error::shape(self.op, what, words(got), words(self.count)))
    }

    fn reach(&self, what: &'static str, len: usize, given: usize) -> Result<usize> {
        let needed = len.checked_mul(self.members()).ok_or(rocblas_safe::Error::SizeOverflow { what })?;
        if needed > given {
            return Err(rocblas_safe::Error::Span { what, needed, len: given }.into());
        }
        Ok(needed)
    }

    fn note_read<V: AnyBits>(&mut self, view: DeviceView<'a, V>) -> Result<*mut c_void> {
        self.reads.push(view.recast()?);
        Ok(view.device_ptr().cast_mut().cast())
    }

    fn note_write<V: AnyBits>(&mut self, mut view: DeviceViewMut<'a, V>) -> Result<*mut c_void> {
        let address = view.device_ptr_mut().cast();
        self.writes.push(view.recast()?);
        Ok(address)
    }
}

fn narrow(op: &'static str, what: &'static str, size: usize) -> Result<i32> {
    i32::try_from(size).map_err(|_| Error::TooLarge { op, what, size })
}

fn not_columns(op: &'static str) -> Error {
    Error::not_supported(op, "a matrix that is row-major or conjugated", "store it by columns")
}

/// A matrix or a vector with a distance from one member to the next.
fn operand<T>(address: *mut c_void, stride: usize) -> Result<Operand> {
    let stride = i64::try_from(stride).map_err(|_| rocblas_safe::Error::SizeOverflow { what: "batch" })?;
    Ok(Operand { address, stride, element: size_of::<T>(), ..Operand::NONE })
}

/// How many members a batch has; `None` for a single matrix.
fn count_of<V>(storage: &Storage<V>) -> Option<usize> {
    match storage {
        Storage::One(_) => None,
        batch => Some(batch.count()),
    }
}
