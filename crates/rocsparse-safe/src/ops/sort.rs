//! Entries in order. The library sorts indices of 32 bits.

use crate::matrix::OwnedMatrix;
use crate::parts::{Format, Parts};
use crate::raw::{self, Sorted, Stage, VectorDescription};
use crate::{Handle, Index, Result, Scalar, SparseMatrix};

const WHAT: &str = "a sort";

impl Handle {
    /// Sorts the entries of a CSR matrix in each row, or those of a COO matrix by row and column. Entries of one position stay separate. The
    /// indices are checked again: they are copied to the host, which waits for that.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format); [`Error::Status`](crate::Error::Status); [`Error::Hip`](crate::Error::Hip). The matrix is
    /// dropped then.
    #[doc(alias = "rocsparse_csrsort")]
    #[doc(alias = "rocsparse_csrsort_buffer_size")]
    #[doc(alias = "rocsparse_coosort_by_row")]
    #[doc(alias = "rocsparse_coosort_buffer_size")]
    #[doc(alias = "rocsparse_create_identity_permutation")]
    #[doc(alias = "rocsparse_create_mat_descr")]
    #[doc(alias = "rocsparse_destroy_mat_descr")]
    pub fn sort<T: Scalar>(&self, matrix: OwnedMatrix<i32, T>) -> Result<OwnedMatrix<i32, T>> {
        matrix.format().require(WHAT, "CSR, COO")?;
        let stored = matrix.stored();
        let Parts { rows, cols, format, outer, mut inner, values } = matrix.into_parts();
        let (stream, shared) = (self.stream(), self.shared());
        let Some(mut outer) = outer.filter(|_| stored > 0) else {
            // There are no entries: offsets of a matrix without any are zeros.
            let count = if format == Format::Csr { rows + 1 } else { 0 };
            let outer = Some(stream.alloc_zeros::<i32>(count)?);
            return SparseMatrix::new(Parts { rows, cols, format, outer, inner, values }, stream);
        };
        // SAFETY: S15: the calls below write both whole.
        let (mut permutation, mut moved) =
            unsafe { (stream.alloc_uninit::<i32>(stored)?, stream.alloc_uninit::<T>(stored)?) };
        let of = Sorted {
            sizes: [rows as i32, cols as i32, stored as i32],
            outer: outer.device_ptr_mut(),
            inner: inner.device_ptr_mut(),
            permutation: permutation.device_ptr_mut(),
        };
        let sort = if format == Format::Csr { raw::csrsort } else { raw::coosort };
        let mut bytes = 0;
        let mut submission = stream.submission();
        submission.read(&outer).read(&inner);
        // SAFETY: S1, S2: sizes and memory are those of a checked matrix.
        unsafe { shared.submit(submission, WHAT, |api| sort(api, &of, Stage::Size(&mut bytes))) }?;
        // SAFETY: S15: it is the library's alone, which reads what it has written there.
        let mut work = unsafe { stream.alloc_uninit::<u8>(bytes.max(1)) }?;
        let space = work.device_ptr_mut().cast();
        let order = VectorDescription {
            sizes: [stored; 2],
            indices: of.permutation.cast(),
            values: moved.device_ptr_mut().cast(),
            index: i32::TYPE,
            kind: T::TYPE,
        };
        let from = values.device_ptr().cast_mut().cast();
        let mut submission = stream.submission();
        submission.read(&values).write(&mut outer).write(&mut inner);
        submission.write(&mut permutation).write(&mut moved).write(&mut work);
        // SAFETY: S1, S2: as above; the permutation and the numbers are as many as the entries.
        unsafe {
            shared.submit(submission, WHAT, |api| {
                raw::identity(api, stored as i32, of.permutation)?;
                sort(api, &of, Stage::Compute(space))?;
                let from = raw::create_dnvec(api, stored, from, T::TYPE)?;
                let to = raw::create_spvec(api, &order)?;
                raw::gather(api, from.raw, to.raw)
            })
        }?;
        SparseMatrix::new(Parts { rows, cols, format, outer: Some(outer), inner, values: moved }, stream)
    }
}
