//! Some elements of a product of dense matrices.

use super::spmm::same_shape;
use super::{Op, factor};
use crate::matrix::Operand;
use crate::prepared::{Prepared, check_length, check_shape, nowhere};
use crate::{DenseMatrix, DenseShape, Handle, Index, Order, Result, Scalar, SparseMatrix, convert, raw};
use hip_safe::{DeviceSlice, DeviceSliceMut};

/// The elements of α·op(A)·op(B) + β·C in the pattern of a sparse matrix C (CSR, CSC or COO), for dense matrices A and B. It is prepared for the pattern
/// and the shapes of A and B.
///
/// Dropping it waits for the device.
pub struct Sddmm<A, V> {
    prepared: Prepared,
    pattern: SparseMatrix<A, V>,
    ops: [Op; 2],
    a: DenseShape,
    b: DenseShape,
}

const WHAT: &str = "a sampled product";

impl<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>> Sddmm<A, V> {
    /// Asks for the work memory, takes it from the stream's pool, and reads the pattern. `ops` are of A and of B; `a` and `b` are their
    /// shapes before that.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format); [`Error::Order`](crate::Error::Order) for a COO matrix whose rows do not ascend;
    /// [`Error::Shape`](crate::Error::Shape); [`Error::Argument`](crate::Error::Argument) for a shape without a meaning;
    /// [`Error::TooLarge`](crate::Error::TooLarge) for one beyond the type of the indices; [`Error::Adjoint`](crate::Error::Adjoint);
    /// [`Error::Status`](crate::Error::Status) if the library has no such product; [`Error::Hip`](crate::Error::Hip).
    #[doc(alias = "rocsparse_sddmm_buffer_size")]
    #[doc(alias = "rocsparse_sddmm_preprocess")]
    pub fn prepare(
        handle: &Handle,
        ops: [Op; 2],
        a: DenseShape,
        b: DenseShape,
        pattern: SparseMatrix<A, V>,
    ) -> Result<Self> {
        pattern.format().require(WHAT, "CSR, CSC, COO")?;
        pattern.ordered().require(WHAT, Order::Grouped)?;
        let ops = [ops[0].without_adjoint::<T>(WHAT)?, ops[1].without_adjoint::<T>(WHAT)?];
        for shape in [a, b] {
            shape.extent()?;
            shape.check_index::<I>()?;
        }
        let ([rows, cols], [a_rows, inner]) = (pattern.shape(), ops[0].of([a.rows, a.cols]));
        check_shape("op(A)", [rows, inner], [a_rows, inner])?;
        check_shape("op(B)", [inner, cols], ops[1].of([b.rows, b.cols]))?;
        let (number, c_ops) = (T::ZERO, ops.map(convert::operation));
        // SAFETY: S1, S2: descriptors of dense matrices live during the call, which does not use their elements before it computes.
        let prepared = unsafe {
            Prepared::new(handle, WHAT, &[&pattern as &dyn Operand], |api, descriptors, stage| {
                let a = raw::create_dnmat(api, &a.describe::<T>(nowhere()))?;
                let b = raw::create_dnmat(api, &b.describe::<T>(nowhere()))?;
                let factors = [factor(&number); 2];
                raw::sddmm(api, c_ops, factors, (a.raw, b.raw), descriptors[0], T::TYPE, stage)
            })
        }?;
        Ok(Self { prepared, pattern, ops, a, b })
    }

    /// Computes the numbers of the pattern into `values`, in the order of its entries: α·op(A)·op(B) + β·values.
    /// [`SparseMatrix::with_values`] makes a matrix of them.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length); [`Error::Shape`](crate::Error::Shape) for another shape, or other gaps, than it was prepared for;
    /// [`Error::Status`](crate::Error::Status); [`Error::Hip`](crate::Error::Hip).
    #[doc(alias = "rocsparse_sddmm")]
    #[doc(alias = "rocsparse_spmat_set_values")]
    pub fn compute<L: DeviceSlice<Item = T>, R: DeviceSlice<Item = T>>(
        &self,
        alpha: T,
        a: &DenseMatrix<L>,
        b: &DenseMatrix<R>,
        beta: T,
        values: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
    ) -> Result<()> {
        same_shape("A", self.a, a.shape())?;
        same_shape("B", self.b, b.shape())?;
        let mut values = values.as_view_mut();
        check_length("the values", self.pattern.stored(), values.len())?;
        if values.is_empty() {
            return Ok(());
        }
        let (from_a, from_b, to) = (a.describe(), b.describe(), values.device_ptr_mut().cast());
        let mut submission = self.prepared.stream().submission();
        self.pattern.read(&mut submission);
        submission.read(a.memory()).read(b.memory()).write(&mut values);
        let ops = self.ops.map(convert::operation);
        // SAFETY: S1, S2: the matrices have memory for these shapes, the values are as many as the entries of the pattern, and the descriptors and the
        // factors live during the call.
        unsafe {
            self.prepared.compute(submission, WHAT, |api, descriptors, stage| {
                raw::set_values(api, descriptors[0], to)?;
                let (a, b) = (raw::create_dnmat(api, &from_a)?, raw::create_dnmat(api, &from_b)?);
                let factors = [factor(&alpha), factor(&beta)];
                raw::sddmm(api, ops, factors, (a.raw, b.raw), descriptors[0], T::TYPE, stage)
            })
        }
    }

    /// The pattern.
    pub fn pattern(&self) -> &SparseMatrix<A, V> {
        &self.pattern
    }

    /// Gives the pattern back.
    pub fn into_pattern(self) -> SparseMatrix<A, V> {
        self.pattern
    }
}
