//! Sparse matrices into dense ones, and back.

use crate::check::{self, Ordered};
use crate::matrix::{Operand, OwnedMatrix};
use crate::parts::{Format, Parts};
use crate::prepared::{Prepared, check_shape};
use crate::raw::{self, Description, Stage};
use crate::{DenseMatrix, Handle, Index, Order, Result, Scalar, SparseMatrix};
use hip_safe::{DeviceBuffer, DeviceSlice, DeviceSliceMut, DeviceView, Submission};
use std::ptr::null_mut;

const TO_DENSE: &str = "a conversion to a dense matrix";
const TO_SPARSE: &str = "a conversion to a sparse matrix";
const FORMATS: &str = "CSR, CSC, COO";

impl Handle {
    /// Writes a sparse matrix (CSR, CSC or COO, with entries in order and none twice) as a dense one, zeros included.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format), [`Error::Order`](crate::Error::Order), [`Error::Shape`](crate::Error::Shape);
    /// [`Error::TooLarge`](crate::Error::TooLarge) for a leading dimension beyond the type of the indices; [`Error::Status`](crate::Error::Status);
    /// [`Error::Hip`](crate::Error::Hip).
    #[doc(alias = "rocsparse_sparse_to_dense")]
    pub fn to_dense<I: Index, T: Scalar, A, V, D>(
        &self,
        matrix: &SparseMatrix<A, V>,
        dense: &mut DenseMatrix<D>,
    ) -> Result<()>
    where
        A: DeviceSlice<Item = I>,
        V: DeviceSlice<Item = T>,
        D: DeviceSliceMut<Item = T>,
    {
        matrix.format().require(TO_DENSE, FORMATS)?;
        matrix.ordered().require(TO_DENSE, Order::Unique)?;
        let shape = dense.shape();
        check_shape("the dense matrix", matrix.shape(), [shape.rows, shape.cols])?;
        shape.check_index::<I>()?;
        if shape.extent()? == 0 {
            return Ok(());
        }
        let (from, to) = (matrix.description(), dense.describe_mut());
        let (stream, shared) = (self.stream(), self.shared());
        let mut bytes = 0;
        // SAFETY: S1, S2: the descriptors live during the call, which uses no elements.
        unsafe {
            shared.submit(stream.submission(), TO_DENSE, |api| {
                let (from, to) = (raw::spmat(api, &from)?, raw::create_dnmat(api, &to)?);
                raw::sparse_to_dense(api, from.raw, to.raw, Stage::Size(&mut bytes))
            })
        }?;
        // SAFETY: S15: it is the library's alone, which reads what it has written there.
        let mut work = unsafe { stream.alloc_uninit::<u8>(bytes.max(1)) }?;
        let space = work.device_ptr_mut().cast();
        let mut output = dense.memory_mut();
        let mut submission = stream.submission();
        matrix.read(&mut submission);
        submission.write(&mut output).write(&mut work);
        // SAFETY: S1, S2: the matrices have memory for this shape, and the descriptors live during the call.
        unsafe {
            shared.submit(submission, TO_DENSE, |api| {
                let (from, to) = (raw::spmat(api, &from)?, raw::create_dnmat(api, &to)?);
                raw::sparse_to_dense(api, from.raw, to.raw, Stage::Compute(space))
            })
        }
    }

    /// A sparse matrix (CSR, CSC or COO) of the elements of a dense one that are not zero. It waits until they are counted.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format); [`Error::TooLarge`](crate::Error::TooLarge) for more elements, zeros included, than the indices can count;
    /// [`Error::WrittenByGraph`](crate::Error::WrittenByGraph) for a matrix that may change after its elements were counted;
    /// [`Error::Status`](crate::Error::Status); [`Error::Hip`](crate::Error::Hip).
    #[doc(alias = "rocsparse_dense_to_sparse")]
    #[doc(alias = "rocsparse_csc_set_pointers")]
    #[doc(alias = "rocsparse_coo_set_pointers")]
    pub fn to_sparse<I: Index, T: Scalar, D: DeviceSlice<Item = T>>(
        &self,
        dense: &DenseMatrix<D>,
        format: Format,
    ) -> Result<OwnedMatrix<I, T>> {
        format.require(TO_SPARSE, FORMATS)?;
        let (stream, shape) = (self.stream(), dense.shape());
        let (rows, cols) = (shape.rows, shape.cols);
        shape.check_index::<I>()?;
        shape.check_elements::<I>()?;
        check::not_written_by_graphs("the elements of the dense matrix", dense.memory().as_view())?;
        let count = match format {
            Format::Csr => rows + 1,
            Format::Csc => cols + 1,
            _ => 0,
        };
        let mut outer = stream.alloc_zeros::<I>(count)?;
        let (mut stored, mut prepared) = (0, None);
        let from = dense.describe();
        if shape.extent()? > 0 {
            let description = Description {
                format: format.kind(),
                sizes: [rows, cols, 0],
                outer: if count > 0 { outer.device_ptr_mut().cast() } else { null_mut() },
                inner: null_mut(),
                values: null_mut(),
                index: I::TYPE,
                kind: T::TYPE,
            };
            let target = Target { description, offsets: &outer, dense: dense.memory().as_view() };
            // SAFETY: S1, S2: the dense matrix has memory for its shape, and its descriptor lives during the call.
            let made = unsafe {
                Prepared::new(self, TO_SPARSE, &[&target as &dyn Operand], |api, descriptors, stage| {
                    let counts = matches!(stage, Stage::Preprocess(_));
                    let from = raw::create_dnmat(api, &from)?;
                    raw::dense_to_sparse(api, from.raw, descriptors[0], stage)?;
                    if counts {
                        stored = raw::stored(api, descriptors[0])?;
                    }
                    Ok(())
                })
            }?;
            prepared = Some(made);
        }
        let stored = usize::try_from(stored).unwrap_or_default();
        if format == Format::Coo {
            // SAFETY: S15: the call below writes it whole.
            outer = unsafe { stream.alloc_uninit::<I>(stored) }?;
        }
        // SAFETY: S15: the call below writes both whole.
        let (mut inner, mut values) =
            unsafe { (stream.alloc_uninit::<I>(stored)?, stream.alloc_uninit::<T>(stored)?) };
        if let Some(prepared) = prepared.filter(|_| stored > 0) {
            let pointers = [
                outer.device_ptr_mut().cast(),
                inner.device_ptr_mut().cast(),
                values.device_ptr_mut().cast(),
            ];
            let mut submission = stream.submission();
            submission.read(dense.memory()).write(&mut outer).write(&mut inner).write(&mut values);
            // SAFETY: S1, S2: there is memory for as many entries as were counted, and the descriptor lives during the call.
            unsafe {
                prepared.compute(submission, TO_SPARSE, |api, descriptors, stage| {
                    raw::set_pointers(api, descriptors[0], format.kind(), pointers)?;
                    let from = raw::create_dnmat(api, &from)?;
                    raw::dense_to_sparse(api, from.raw, descriptors[0], stage)
                })
            }?;
        }
        let parts = Parts { rows, cols, format, outer: Some(outer), inner, values };
        Ok(SparseMatrix::made(parts, Ordered::UNIQUE))
    }
}

/// A sparse matrix without entries yet, and the dense one that they are counted in.
struct Target<'a, I: Index, T> {
    description: Description,
    offsets: &'a DeviceBuffer<I>,
    dense: DeviceView<'a, T>,
}

impl<I: Index, T: Scalar> Operand for Target<'_, I, T> {
    fn description(&self) -> Description {
        self.description
    }

    fn read<'a>(&'a self, submission: &mut Submission<'a>) {
        submission.order_by(self.offsets).read(&self.dense);
    }
}
