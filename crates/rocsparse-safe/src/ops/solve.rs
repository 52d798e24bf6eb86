//! Triangular systems.

use super::spmm::same_shape;
use super::{Op, factor};
use crate::matrix::Operand;
use crate::parts::{Format, Parts};
use crate::prepared::{Prepared, check_length, check_shape, nowhere};
use crate::raw::{self, Stage};
use crate::{DenseMatrix, DenseShape, Error, Handle, Index, Order, Result, Scalar, SparseMatrix, convert};
use hip_safe::{DeviceSlice, DeviceSliceMut};

/// Which triangle of a matrix is solved with. Entries in the other one are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// The diagonal and what is below.
    Lower,
    /// The diagonal and what is above.
    Upper,
}

/// What the diagonal of a triangle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagonalKind {
    /// As it is stored.
    Stored,
    /// Ones, whatever is stored.
    Unit,
}

/// A triangular system op(A)·y = α·x, prepared for a square matrix A in CSR or COO, with entries in order and none twice.
///
/// Dropping it waits for the device.
pub struct Spsv<A, V> {
    prepared: Prepared,
    matrix: SparseMatrix<A, V>,
    op: Op,
}

/// Triangular systems op(A)·C = α·op(B), a column each, prepared as [`Spsv`] for A and the shapes of B and C.
pub struct Spsm<A, V> {
    prepared: Prepared,
    matrix: SparseMatrix<A, V>,
    ops: [Op; 2],
    b: DenseShape,
    c: DenseShape,
}

const ONE: &str = "a triangular system";
const MANY: &str = "triangular systems";

impl<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>> Spsv<A, V> {
    /// Looks for zeros on the diagonal, for which it copies the matrix to the host; then asks for the work memory, takes it from the stream's pool,
    /// and looks for the order in which rows can be solved.
    ///
    /// # Errors
    /// [`Error::Singular`]; [`Error::Format`], [`Error::Order`], [`Error::Shape`] for a matrix that is not square; [`Error::Adjoint`] for complex
    /// numbers; [`Error::Status`] if the library has no such solve; [`Error::Hip`].
    #[doc(alias = "rocsparse_spsv")]
    #[doc(alias = "rocsparse_spmat_set_attribute")]
    pub fn prepare(
        handle: &Handle,
        (triangle, diagonal): (Triangle, DiagonalKind),
        op: Op,
        matrix: SparseMatrix<A, V>,
    ) -> Result<Self> {
        let op = op.without_adjoint::<T>(ONE)?;
        check_triangle(handle, ONE, diagonal, &matrix)?;
        let size = matrix.shape()[0];
        let (number, c_op) = (T::ZERO, convert::operation(op));
        let (fill, kind) = (convert::triangle(triangle), convert::diagonal(diagonal));
        // SAFETY: S1, S2: descriptors of vectors live during the call, which does not use their elements before it computes.
        let prepared = unsafe {
            Prepared::new(handle, ONE, &[&matrix as &dyn Operand], |api, descriptors, stage| {
                if let Stage::Size(_) = stage {
                    raw::set_triangle(api, descriptors[0], fill, kind)?;
                }
                let x = raw::create_dnvec(api, size, nowhere(), T::TYPE)?;
                let y = raw::create_dnvec(api, size, nowhere(), T::TYPE)?;
                raw::spsv(api, c_op, factor(&number), descriptors[0], (x.raw, y.raw), T::TYPE, stage)
            })
        }?;
        Ok(Self { prepared, matrix, op })
    }

    /// Solves op(A)·y = α·x.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Status`]; [`Error::Hip`].
    #[doc(alias = "rocsparse_spsv")]
    pub fn compute(
        &self,
        alpha: T,
        x: &(impl DeviceSlice<Item = T> + ?Sized),
        y: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
    ) -> Result<()> {
        let size = self.matrix.shape()[0];
        let (x, mut y) = (x.as_view(), y.as_view_mut());
        check_length("x", size, x.len())?;
        check_length("y", size, y.len())?;
        if size == 0 {
            return Ok(());
        }
        let (from, to) = (x.device_ptr().cast_mut().cast(), y.device_ptr_mut().cast());
        let mut submission = self.prepared.stream().submission();
        self.matrix.read(&mut submission);
        submission.read(&x).write(&mut y);
        let op = convert::operation(self.op);
        // SAFETY: S1, S2: the vectors have this length, and the descriptors and the factor live during the call.
        unsafe {
            self.prepared.compute(submission, ONE, |api, descriptors, stage| {
                let x = raw::create_dnvec(api, size, from, T::TYPE)?;
                let y = raw::create_dnvec(api, size, to, T::TYPE)?;
                raw::spsv(api, op, factor(&alpha), descriptors[0], (x.raw, y.raw), T::TYPE, stage)
            })
        }
    }

    /// Gives the matrix back.
    pub fn into_matrix(self) -> SparseMatrix<A, V> {
        self.matrix
    }
}

impl<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>> Spsm<A, V> {
    /// As [`Spsv::prepare`]. `ops` are of A and of B; `b` and `c` are the shapes of B, before its operation, and of C.
    ///
    /// # Errors
    /// As [`Spsv::prepare`]; [`Error::Argument`] for a shape without a meaning; [`Error::TooLarge`] for one beyond the type of the indices.
    #[doc(alias = "rocsparse_spsm")]
    pub fn prepare(
        handle: &Handle,
        (triangle, diagonal): (Triangle, DiagonalKind),
        ops: [Op; 2],
        matrix: SparseMatrix<A, V>,
        b: DenseShape,
        c: DenseShape,
    ) -> Result<Self> {
        let ops = [ops[0].without_adjoint::<T>(MANY)?, ops[1].without_adjoint::<T>(MANY)?];
        for shape in [b, c] {
            shape.extent()?;
            shape.check_index::<I>()?;
        }
        check_triangle(handle, MANY, diagonal, &matrix)?;
        check_shape("C", [matrix.shape()[0], c.cols], [c.rows, c.cols])?;
        check_shape("op(B)", [c.rows, c.cols], ops[1].of([b.rows, b.cols]))?;
        let (number, c_ops) = (T::ZERO, ops.map(convert::operation));
        let (fill, kind) = (convert::triangle(triangle), convert::diagonal(diagonal));
        // SAFETY: S1, S2: descriptors of dense matrices live during the call, which does not use their elements before it computes.
        let prepared = unsafe {
            Prepared::new(handle, MANY, &[&matrix as &dyn Operand], |api, descriptors, stage| {
                if let Stage::Size(_) = stage {
                    raw::set_triangle(api, descriptors[0], fill, kind)?;
                }
                let b = raw::create_dnmat(api, &b.describe::<T>(nowhere()))?;
                let c = raw::create_dnmat(api, &c.describe::<T>(nowhere()))?;
                raw::spsm(api, c_ops, factor(&number), descriptors[0], (b.raw, c.raw), T::TYPE, stage)
            })
        }?;
        Ok(Self { prepared, matrix, ops, b, c })
    }

    /// Solves op(A)·C = α·op(B).
    ///
    /// # Errors
    /// [`Error::Shape`] for another shape, or other gaps, than it was prepared for; [`Error::Status`]; [`Error::Hip`].
    #[doc(alias = "rocsparse_spsm")]
    pub fn compute<B: DeviceSlice<Item = T>, C: DeviceSliceMut<Item = T>>(
        &self,
        alpha: T,
        b: &DenseMatrix<B>,
        c: &mut DenseMatrix<C>,
    ) -> Result<()> {
        same_shape("B", self.b, b.shape())?;
        same_shape("C", self.c, c.shape())?;
        if self.c.extent()? == 0 {
            return Ok(());
        }
        let (from, to) = (b.describe(), c.describe_mut());
        let mut output = c.memory_mut();
        let mut submission = self.prepared.stream().submission();
        self.matrix.read(&mut submission);
        submission.read(b.memory()).write(&mut output);
        let ops = self.ops.map(convert::operation);
        // SAFETY: S1, S2: the matrices have memory for these shapes, and the descriptors and the factor live during the call.
        unsafe {
            self.prepared.compute(submission, MANY, |api, descriptors, stage| {
                let (b, c) = (raw::create_dnmat(api, &from)?, raw::create_dnmat(api, &to)?);
                raw::spsm(api, ops, factor(&alpha), descriptors[0], (b.raw, c.raw), T::TYPE, stage)
            })
        }
    }

    /// Gives the matrix back.
    pub fn into_matrix(self) -> SparseMatrix<A, V> {
        self.matrix
    }
}

fn check_triangle<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>>(
    handle: &Handle,
    what: &'static str,
    diagonal: DiagonalKind,
    matrix: &SparseMatrix<A, V>,
) -> Result<()> {
    matrix.format().require(what, "CSR, COO")?;
    matrix.ordered().require(what, Order::Unique)?;
    let [rows, cols] = matrix.shape();
    check_shape("the matrix of a triangular system", [rows, rows], [rows, cols])?;
    match diagonal {
        DiagonalKind::Stored => check_diagonal(&matrix.download(handle.stream())?),
        DiagonalKind::Unit => Ok(()),
    }
}

/// Fails for the first row whose diagonal is zero or not stored. Rows ascend, and no position has two entries, so elements of the diagonal ascend too.
/// No memory is taken for rows: COO has rows that nothing is stored for.
fn check_diagonal<I: Index, T: Scalar>(parts: &Parts<Vec<I>, Vec<T>>) -> Result<()> {
    let Parts { rows, format, outer, inner, values, .. } = parts;
    let outer = outer.as_deref().unwrap_or_default();
    let mut next = 0;
    let mut see = |row: usize, at: usize| {
        if inner[at].to_size() != Some(row) {
            return Ok(());
        }
        if row != next {
            return Err(Error::Singular { row: next, stored: false });
        }
        if values[at] == T::ZERO {
            return Err(Error::Singular { row, stored: true });
        }
        next += 1;
        Ok(())
    };
    let size = |index: I| index.to_size().unwrap_or_default();
    if *format == Format::Coo {
        outer.iter().enumerate().try_for_each(|(at, &row)| see(size(row), at))?;
    } else {
        for (row, pair) in outer.windows(2).enumerate() {
            (size(pair[0])..size(pair[1])).try_for_each(|at| see(row, at))?;
        }
    }
    if next < *rows { Err(Error::Singular { row: next, stored: false }) } else { Ok(()) }
}
