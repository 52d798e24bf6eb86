//! A sparse matrix times a sparse one.

use super::factor;
use crate::check::{self, Ordered};
use crate::matrix::{Operand, OwnedMatrix};
use crate::parts::Parts;
use crate::prepared::{Prepared, check_shape};
use crate::raw::{self, Description, Kind, Stage};
use crate::{Error, Handle, Index, Order, Result, Scalar, SparseMatrix};
use hip_safe::{DeviceBuffer, DeviceSlice, Submission};
use std::ptr::null_mut;

/// A product C = α·A·B of sparse matrices in CSR, with entries in order and none twice. Preparing it finds out how many entries C has.
///
/// Dropping it waits for the device.
pub struct Spgemm<I: Index, A, V, B, W> {
    prepared: Prepared,
    a: SparseMatrix<A, V>,
    b: SparseMatrix<B, W>,
    result: Target<I>,
    stored: usize,
}

/// The result, which has no entries yet.
struct Target<I: Index> {
    description: Description,
    offsets: DeviceBuffer<I>,
}

// SAFETY: S8: the addresses in the description are of memory that this or nobody owns.
unsafe impl<I: Index> Send for Target<I> {}
// SAFETY: S8: as above; nothing changes after the preparation.
unsafe impl<I: Index> Sync for Target<I> {}

/// The matrix that C's function adds, of which there is none.
struct Nothing(Description);

const WHAT: &str = "a product of sparse matrices";

impl<I: Index, T, A, V, B, W> Spgemm<I, A, V, B, W>
where
    T: Scalar,
    A: DeviceSlice<Item = I>,
    B: DeviceSlice<Item = I>,
    V: DeviceSlice<Item = T>,
    W: DeviceSlice<Item = T>,
{
    /// Asks for the work memory, takes it from the stream's pool, counts the entries of the product, copies its offsets to the host, and waits for
    /// that.
    ///
    /// # Errors
    /// [`Error::Format`], [`Error::Order`], [`Error::Shape`]; [`Error::TooLarge`] for more entries than the indices can count; [`Error::Status`] if
    /// the library has no such product; [`Error::Hip`].
    #[doc(alias = "rocsparse_spgemm")]
    pub fn prepare(handle: &Handle, a: SparseMatrix<A, V>, b: SparseMatrix<B, W>) -> Result<Self> {
        for matrix in [(a.format(), a.ordered()), (b.format(), b.ordered())] {
            matrix.0.require(WHAT, "CSR")?;
            matrix.1.require(WHAT, Order::Unique)?;
        }
        let ([rows, inner], [b_rows, cols]) = (a.shape(), b.shape());
        check_shape("the second matrix", [inner, cols], [b_rows, cols])?;
        let offsets = handle.stream().alloc_zeros::<I>(rows + 1)?;
        let empty = Description {
            format: Kind::Csr,
            sizes: [rows, cols, 0],
            outer: offsets.device_ptr().cast_mut().cast(),
            inner: null_mut(),
            values: null_mut(),
            index: I::TYPE,
            kind: T::TYPE,
        };
        let nothing = Nothing(Description { sizes: [0; 3], outer: null_mut(), ..empty });
        let result = Target { description: empty, offsets };
        let (mut stored, one) = (0, T::ONE);
        let operands: [&dyn Operand; 4] = [&a, &b, &nothing, &result];
        // SAFETY: S1, S2: the factor lives during the call; the result's offsets are its own.
        let prepared = unsafe {
            Prepared::new(handle, WHAT, &operands, |api, descriptors, stage| {
                let counts = matches!(stage, Stage::Preprocess(_));
                let all = [descriptors[0], descriptors[1], descriptors[2], descriptors[3]];
                raw::spgemm(api, factor(&one), all, T::TYPE, stage)?;
                if counts {
                    stored = raw::stored(api, all[3])?;
                }
                Ok(())
            })
        }?;
        let stored = usize::try_from(stored).unwrap_or_default();
        // The library sums up the entries of rows in the type of the indices, and does not notice an overflow. A row has no more entries than an
        // index can express, so the first sum that overflows is negative.
        if check::offsets(&handle.stream().download(&result.offsets)?, stored).is_err() {
            let (what, size) = ("the number of entries of the product, at least", I::MOST.saturating_add(1));
            return Err(Error::TooLarge { what, size, index: I::NAME, most: I::MOST });
        }
        Ok(Self { prepared, a, b, result, stored })
    }

    /// The entries of the product.
    #[doc(alias = "rocsparse_spmat_get_nnz")]
    pub fn stored(&self) -> usize {
        self.stored
    }

    /// Computes C = α·A·B, in memory of its own.
    ///
    /// # Errors
    /// [`Error::Status`]; [`Error::Hip`].
    #[doc(alias = "rocsparse_spgemm")]
    #[doc(alias = "rocsparse_csr_set_pointers")]
    pub fn compute(&self, alpha: T) -> Result<OwnedMatrix<I, T>> {
        let stream = self.prepared.stream();
        let offsets = stream.clone_of(&self.result.offsets)?;
        // SAFETY: S15: the call below writes both whole.
        let (mut inner, mut values) =
            unsafe { (stream.alloc_uninit::<I>(self.stored)?, stream.alloc_uninit::<T>(self.stored)?) };
        if self.stored > 0 {
            let outer = self.result.description.outer;
            let pointers = [outer, inner.device_ptr_mut().cast(), values.device_ptr_mut().cast()];
            let mut submission = stream.submission();
            self.a.read(&mut submission);
            self.b.read(&mut submission);
            submission.read(&self.result.offsets).write(&mut inner).write(&mut values);
            // SAFETY: S1, S2: the result has memory for its entries, and the factor lives during the call.
            unsafe {
                self.prepared.compute(submission, WHAT, |api, descriptors, stage| {
                    let all = [descriptors[0], descriptors[1], descriptors[2], descriptors[3]];
                    raw::set_pointers(api, all[3], Kind::Csr, pointers)?;
                    raw::spgemm(api, factor(&alpha), all, T::TYPE, stage)
                })
            }?;
        }
        let parts = Parts::csr(self.a.shape()[0], self.b.shape()[1], offsets, inner, values);
        Ok(SparseMatrix::made(parts, Ordered::UNIQUE))
    }

    /// Gives the matrices back.
    pub fn into_matrices(self) -> (SparseMatrix<A, V>, SparseMatrix<B, W>) {
        (self.a, self.b)
    }
}

impl<I: Index> Operand for Target<I> {
    fn description(&self) -> Description {
        self.description
    }

    fn read<'a>(&'a self, submission: &mut Submission<'a>) {
        // The preparation writes them.
        submission.order_by(&self.offsets);
    }
}

impl Operand for Nothing {
    fn description(&self) -> Description {
        self.0
    }

    fn read<'a>(&'a self, _submission: &mut Submission<'a>) {}
}
