//! A sparse matrix times a dense one.

use super::{Op, factor};
use crate::matrix::Operand;
use crate::parts::Format;
use crate::prepared::{Prepared, check_shape, nowhere};
use crate::{
    DenseMatrix, DenseShape, Error, Handle, Index, Order, Result, Scalar, SparseMatrix, convert, raw,
};
use hip_safe::{DeviceSlice, DeviceSliceMut};

/// A product C = α·op(A)·op(B) + β·C of a sparse matrix A with a dense matrix B, prepared for A and the shapes of B and C. A is CSR, CSC, COO, or BSR
/// without an operation on it, and without an adjoint of B.
///
/// Dropping it waits for the device.
pub struct Spmm<A, V> {
    prepared: Prepared,
    matrix: SparseMatrix<A, V>,
    ops: [Op; 2],
    b: DenseShape,
    c: DenseShape,
}

const WHAT: &str = "a product with a dense matrix";

impl<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>> Spmm<A, V> {
    /// Asks for the work memory, takes it from the stream's pool, and looks at the matrix. `ops` are of A and of B; `b` and `c` are the shapes of B,
    /// before its operation, and of C.
    ///
    /// # Errors
    /// [`Error::Format`]; [`Error::Order`] for a COO matrix whose rows do not ascend; [`Error::Shape`]; [`Error::Argument`] for a shape without a
    /// meaning; [`Error::TooLarge`] for one beyond the type of the indices; [`Error::Status`] if the library has no such product; [`Error::Hip`].
    #[doc(alias = "rocsparse_spmm")]
    pub fn prepare(
        handle: &Handle,
        ops: [Op; 2],
        matrix: SparseMatrix<A, V>,
        b: DenseShape,
        c: DenseShape,
    ) -> Result<Self> {
        matrix.format().require(WHAT, "CSR, CSC, COO, BSR")?;
        matrix.ordered().require(WHAT, Order::Grouped)?;
        // rocSPARSE refuses the first one, and would take the second one for a transpose.
        if let Format::Bsr { .. } = matrix.format() {
            let (format, takes) = (matrix.format(), "CSR, CSC, COO");
            if ops[0] != Op::None {
                let operation = "a product of a transpose with a dense matrix";
                return Err(Error::Format { operation, format, takes });
            }
            if ops[1] == Op::Adjoint {
                let operation = "a product with the adjoint of a dense matrix";
                return Err(Error::Format { operation, format, takes });
            }
        }
        for shape in [b, c] {
            shape.extent()?;
            shape.check_index::<I>()?;
        }
        let [rows, inner] = ops[0].of(matrix.shape());
        check_shape("C", [rows, c.cols], [c.rows, c.cols])?;
        check_shape("op(B)", [inner, c.cols], ops[1].of([b.rows, b.cols]))?;
        let (number, c_ops) = (T::ZERO, ops.map(convert::operation));
        // SAFETY: S1, S2: descriptors of dense matrices live during the call, which does not use their elements before it computes.
        let prepared = unsafe {
            Prepared::new(handle, WHAT, &[&matrix as &dyn Operand], |api, descriptors, stage| {
                let b = raw::create_dnmat(api, &b.describe::<T>(nowhere()))?;
                let c = raw::create_dnmat(api, &c.describe::<T>(nowhere()))?;
                let factors = [factor(&number); 2];
                raw::spmm(api, c_ops, factors, descriptors[0], (b.raw, c.raw), T::TYPE, stage)
            })
        }?;
        Ok(Self { prepared, matrix, ops, b, c })
    }

    /// Computes C = α·op(A)·op(B) + β·C. With β = 0 what C was does not matter.
    ///
    /// # Errors
    /// [`Error::Shape`] for another shape, or other gaps, than it was prepared for; [`Error::Status`]; [`Error::Hip`].
    #[doc(alias = "rocsparse_spmm")]
    #[doc(alias = "rocsparse_create_dnmat_descr")]
    pub fn compute<B: DeviceSlice<Item = T>, C: DeviceSliceMut<Item = T>>(
        &self,
        alpha: T,
        b: &DenseMatrix<B>,
        beta: T,
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
        // SAFETY: S1, S2: the matrices have memory for these shapes, and the descriptors and the factors live during the call.
        unsafe {
            self.prepared.compute(submission, WHAT, |api, descriptors, stage| {
                let (b, c) = (raw::create_dnmat(api, &from)?, raw::create_dnmat(api, &to)?);
                let factors = [factor(&alpha), factor(&beta)];
                raw::spmm(api, ops, factors, descriptors[0], (b.raw, c.raw), T::TYPE, stage)
            })
        }
    }

    /// The matrix.
    pub fn matrix(&self) -> &SparseMatrix<A, V> {
        &self.matrix
    }

    /// Gives the matrix back.
    pub fn into_matrix(self) -> SparseMatrix<A, V> {
        self.matrix
    }
}

/// Fails if a dense matrix has another shape, or other gaps, than an operation was prepared for.
pub(super) fn same_shape(what: &'static str, needed: DenseShape, found: DenseShape) -> Result<()> {
    check_shape(what, [needed.rows, needed.cols], [found.rows, found.cols])?;
    if needed == found {
        return Ok(());
    }
    let wanted = "it has to be that of the preparation, and so has the layout";
    Err(Error::Argument { what: "the leading dimension", value: found.leading, wanted })
}
