//! CSR into COO or CSC, and back. The library has them for indices of 32 bits.

use crate::check::Ordered;
use crate::matrix::OwnedMatrix;
use crate::parts::{Format, Parts};
use crate::raw::{self, Transposed};
use crate::{Handle, Order, Result, Scalar, SparseMatrix};
use hip_safe::{DeviceBuffer, DeviceSlice};
use std::ptr::null_mut;

impl Handle {
    /// A CSR matrix as COO. Column indices and numbers stay where they are.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format); [`Error::Status`](crate::Error::Status); [`Error::Hip`](crate::Error::Hip). The matrix is
    /// dropped then.
    #[doc(alias = "rocsparse_csr2coo")]
    pub fn csr_to_coo<V>(
        &self,
        matrix: SparseMatrix<DeviceBuffer<i32>, V>,
    ) -> Result<SparseMatrix<DeviceBuffer<i32>, V>> {
        const WHAT: &str = "a conversion from CSR to COO";
        matrix.format().require(WHAT, "CSR")?;
        let (ordered, parts) = (*matrix.ordered(), matrix.into_parts());
        let (stored, rows) = (parts.inner.len(), parts.rows);
        // SAFETY: S15: the call below writes it whole.
        let mut indices = unsafe { self.stream().alloc_uninit::<i32>(stored) }?;
        if let (Some(offsets), 1..) = (&parts.outer, stored) {
            let (from, to) = (offsets.device_ptr(), indices.device_ptr_mut());
            let mut submission = self.stream().submission();
            submission.read(offsets).write(&mut indices);
            // SAFETY: S1, S2: rows and entries are as many as the memory was checked for.
            unsafe {
                self.shared()
                    .submit(submission, WHAT, |api| raw::csr2coo(api, from, stored as i32, rows as i32, to))
            }?;
        }
        Ok(SparseMatrix::made(Parts { format: Format::Coo, outer: Some(indices), ..parts }, ordered))
    }

    /// A COO matrix, whose rows ascend, as CSR. Column indices and numbers stay where they are.
    ///
    /// # Errors
    /// [`Error::Order`](crate::Error::Order), and as [`Handle::csr_to_coo`].
    #[doc(alias = "rocsparse_coo2csr")]
    pub fn coo_to_csr<V>(
        &self,
        matrix: SparseMatrix<DeviceBuffer<i32>, V>,
    ) -> Result<SparseMatrix<DeviceBuffer<i32>, V>> {
        const WHAT: &str = "a conversion from COO to CSR";
        matrix.format().require(WHAT, "COO")?;
        matrix.ordered().require(WHAT, Order::Grouped)?;
        let (ordered, parts) = (*matrix.ordered(), matrix.into_parts());
        let (stored, rows) = (parts.inner.len(), parts.rows);
        let mut offsets = self.stream().alloc_zeros::<i32>(rows + 1)?;
        if let (Some(indices), 1..) = (&parts.outer, stored) {
            let (from, to) = (indices.device_ptr(), offsets.device_ptr_mut());
            let mut submission = self.stream().submission();
            submission.read(indices).write(&mut offsets);
            // SAFETY: S1, S2: rows and entries are as many as the memory was checked for.
            unsafe {
                self.shared()
                    .submit(submission, WHAT, |api| raw::coo2csr(api, from, stored as i32, rows as i32, to))
            }?;
        }
        Ok(SparseMatrix::made(Parts { format: Format::Csr, outer: Some(offsets), ..parts }, ordered))
    }

    /// A CSR matrix as CSC.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format); [`Error::Status`](crate::Error::Status); [`Error::Hip`](crate::Error::Hip).
    #[doc(alias = "rocsparse_csr2csc_buffer_size")]
    #[doc(alias = "rocsparse_scsr2csc")]
    #[doc(alias = "rocsparse_dcsr2csc")]
    #[doc(alias = "rocsparse_ccsr2csc")]
    #[doc(alias = "rocsparse_zcsr2csc")]
    pub fn csr_to_csc<T: Scalar, A, V>(&self, matrix: &SparseMatrix<A, V>) -> Result<OwnedMatrix<i32, T>>
    where
        A: DeviceSlice<Item = i32>,
        V: DeviceSlice<Item = T>,
    {
        const WHAT: &str = "a conversion from CSR to CSC";
        matrix.format().require(WHAT, "CSR")?;
        self.turn(WHAT, matrix, Format::Csc)
    }

    /// A CSC matrix as CSR.
    ///
    /// # Errors
    /// As [`Handle::csr_to_csc`].
    #[doc(alias = "rocsparse_scsr2csc")]
    pub fn csc_to_csr<T: Scalar, A, V>(&self, matrix: &SparseMatrix<A, V>) -> Result<OwnedMatrix<i32, T>>
    where
        A: DeviceSlice<Item = i32>,
        V: DeviceSlice<Item = T>,
    {
        const WHAT: &str = "a conversion from CSC to CSR";
        matrix.format().require(WHAT, "CSC")?;
        self.turn(WHAT, matrix, Format::Csr)
    }

    /// By rows what is by columns, or the reverse, which is the transpose of the other.
    fn turn<T: Scalar, A, V>(
        &self,
        what: &'static str,
        matrix: &SparseMatrix<A, V>,
        format: Format,
    ) -> Result<OwnedMatrix<i32, T>>
    where
        A: DeviceSlice<Item = i32>,
        V: DeviceSlice<Item = T>,
    {
        let (stream, shared, stored) = (self.stream(), self.shared(), matrix.stored());
        let [rows, cols] = matrix.shape();
        let [lists, length] = if format == Format::Csc { [rows, cols] } else { [cols, rows] };
        let mut to_offsets = stream.alloc_zeros::<i32>(length + 1)?;
        // SAFETY: S15: the call below writes both whole.
        let (mut to_indices, mut to_values) =
            unsafe { (stream.alloc_uninit::<i32>(stored)?, stream.alloc_uninit::<T>(stored)?) };
        let parts = matrix.parts();
        if let (Some(offsets), 1..) = (&parts.outer, stored) {
            let mut of = Transposed {
                sizes: [lists as i32, length as i32, stored as i32],
                offsets: offsets.as_view().device_ptr(),
                indices: parts.inner.as_view().device_ptr(),
                values: parts.values.as_view().device_ptr().cast(),
                to_offsets: to_offsets.device_ptr_mut(),
                to_indices: to_indices.device_ptr_mut(),
                to_values: to_values.device_ptr_mut().cast(),
                work: null_mut(),
            };
            let mut submission = stream.submission();
            submission.read(offsets).read(&parts.inner);
            // SAFETY: S1, S2: sizes and memory are those of a checked matrix.
            let bytes = unsafe { shared.submit(submission, what, |api| raw::csr2csc_buffer_size(api, &of)) }?;
            // SAFETY: S15: it is the library's alone, which reads what it has written there.
            let mut work = unsafe { stream.alloc_uninit::<u8>(bytes.max(1)) }?;
            of.work = work.device_ptr_mut().cast();
            let mut submission = stream.submission();
            submission.read(offsets).read(&parts.inner).read(&parts.values).write(&mut work);
            submission.write(&mut to_offsets).write(&mut to_indices).write(&mut to_values);
            // SAFETY: S1, S2: as above; the result has as many entries, and an offset for each list and the end.
            unsafe { shared.submit(submission, what, |api| T::transpose(api, &of)) }?;
        }
        // Entries of one position may come in another order than before.
        let ordered = match matrix.order() {
            Order::Unique => Ordered::UNIQUE,
            _ => Ordered::vouched(Order::Grouped),
        };
        let parts =
            Parts { rows, cols, format, outer: Some(to_offsets), inner: to_indices, values: to_values };
        Ok(SparseMatrix::made(parts, ordered))
    }
}
