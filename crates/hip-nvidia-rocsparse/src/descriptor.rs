//! cuSPARSE's descriptors, of ours.

use crate::functions::{Code, Number, Raw};
use crate::handle::done;
use crate::library::cusparse;
use cudarc::cusparse::sys;
use hip_sys::provider::sparse::{DenseMatrix, Index, Outcome, Scalar, SparseMatrix, SparseVector, Vector};
use hip_sys::rocsparse::{
    rocsparse_datatype, rocsparse_format as Format, rocsparse_operation as Operation, rocsparse_order,
    rocsparse_status as Status,
};
use std::ptr::{NonNull, null_mut};

pub(super) const ZERO: Number = sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO as Number;

/// A descriptor of cuSPARSE's. It is memory of the host, which queued work does not use.
pub(super) struct Descriptor {
    pub(super) raw: Raw,
    destroy: unsafe extern "C" fn(Raw) -> Code,
}

// SAFETY: S8: it is an address; calls with it are made under the lock of a handle.
unsafe impl Send for Descriptor {}
// SAFETY: S8: as above.
unsafe impl Sync for Descriptor {}

impl Descriptor {
    /// Takes a new descriptor of the caller's, which nobody else destroys.
    pub(super) fn new(raw: Raw, destroy: unsafe extern "C" fn(Raw) -> Code) -> Self {
        Self { raw, destroy }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: S1, S4: nobody else has it. What it answers nobody waits for.
        unsafe { (self.destroy)(self.raw) };
    }
}

pub(super) fn kind(scalar: Scalar) -> Number {
    (match scalar {
        Scalar::F32 => sys::cudaDataType::CUDA_R_32F,
        Scalar::F64 => sys::cudaDataType::CUDA_R_64F,
        Scalar::C32 => sys::cudaDataType::CUDA_C_32F,
        Scalar::C64 => sys::cudaDataType::CUDA_C_64F,
    }) as Number
}

/// The type that a call computes in.
pub(super) fn computes(compute: rocsparse_datatype) -> Outcome<(Scalar, Number)> {
    let scalar = Scalar::of(compute)?;
    Ok((scalar, kind(scalar)))
}

/// An operation. cuSPARSE takes adjoints of complex matrices alone.
pub(super) fn operation(operation: Operation, scalar: Scalar) -> Outcome<Number> {
    let complex = matches!(scalar, Scalar::C32 | Scalar::C64);
    Ok(match operation {
        Operation::rocsparse_operation_none => sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE,
        Operation::rocsparse_operation_conjugate_transpose if complex => {
            sys::cusparseOperation_t::CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
        }
        Operation::rocsparse_operation_transpose | Operation::rocsparse_operation_conjugate_transpose => {
            sys::cusparseOperation_t::CUSPARSE_OPERATION_TRANSPOSE
        }
        _ => return Err(Status::rocsparse_status_invalid_value),
    } as Number)
}

fn index(index: Index) -> Number {
    (match index {
        Index::I32 => sys::cusparseIndexType_t::CUSPARSE_INDEX_32I,
        Index::I64 => sys::cusparseIndexType_t::CUSPARSE_INDEX_64I,
    }) as Number
}

pub(super) fn sparse(of: &SparseMatrix) -> Outcome<Descriptor> {
    let (functions, mut raw) = (cusparse(), null_mut());
    let [rows, cols, stored] = [of.rows, of.cols, of.stored].map(|size| size as i64);
    let [outer, inner, values] = [of.outer, of.inner, of.values].map(|address| address as Raw);
    let (index, kind) = (index(of.index), kind(of.scalar));
    // SAFETY: S1, S11: a live variable, and the caller's memory.
    done(unsafe {
        match of.format {
            Format::rocsparse_format_csr => (functions.cusparseCreateCsr)(
                &mut raw, rows, cols, stored, outer, inner, values, index, index, ZERO, kind,
            ),
            Format::rocsparse_format_csc => (functions.cusparseCreateCsc)(
                &mut raw, rows, cols, stored, outer, inner, values, index, index, ZERO, kind,
            ),
            Format::rocsparse_format_coo => (functions.cusparseCreateCoo)(
                &mut raw, rows, cols, stored, outer, inner, values, index, ZERO, kind,
            ),
            _ => return Err(Status::rocsparse_status_not_implemented),
        }
    })?;
    Ok(Descriptor::new(raw, functions.cusparseDestroySpMat))
}

/// The sparse factor of a product. cuSPARSE divides by sizes of zero: a matrix without entries is one without offsets, of one row and column at least.
pub(super) fn factor(of: &SparseMatrix) -> Outcome<Descriptor> {
    if of.stored > 0 || of.block > 1 {
        return sparse(of);
    }
    let format = Format::rocsparse_format_coo;
    let (rows, cols) = (of.rows.max(1), of.cols.max(1));
    sparse(&SparseMatrix { format, rows, cols, outer: 0, inner: 0, values: 0, ..of.clone() })
}

/// The address of elements of which there may be none.
pub(super) fn pointer(address: usize) -> Raw {
    if address == 0 { NonNull::<u128>::dangling().as_ptr().cast() } else { address as Raw }
}

/// A vector, of one element at least: see [`factor`].
pub(super) fn vector(of: &Vector) -> Outcome<Descriptor> {
    let (functions, mut raw) = (cusparse(), null_mut());
    let (size, values) = (of.size.max(1) as i64, pointer(of.values));
    // SAFETY: S1, S11: a live variable, and the caller's memory.
    done(unsafe { (functions.cusparseCreateDnVec)(&mut raw, size, values, kind(of.scalar)) })?;
    Ok(Descriptor::new(raw, functions.cusparseDestroyDnVec))
}

/// A dense matrix, of one row and column at least: see [`factor`].
pub(super) fn dense(of: &DenseMatrix) -> Outcome<Descriptor> {
    let (functions, mut raw) = (cusparse(), null_mut());
    let [rows, cols, leading] = [of.rows, of.cols, of.leading].map(|size| size.max(1) as i64);
    let order = if of.order == rocsparse_order::rocsparse_order_row {
        sys::cusparseOrder_t::CUSPARSE_ORDER_ROW
    } else {
        sys::cusparseOrder_t::CUSPARSE_ORDER_COL
    };
    let (values, kind) = (pointer(of.values), kind(of.scalar));
    // SAFETY: S1, S11: a live variable, and the caller's memory.
    done(unsafe {
        (functions.cusparseCreateDnMat)(&mut raw, rows, cols, leading, values, kind, order as Number)
    })?;
    Ok(Descriptor::new(raw, functions.cusparseDestroyDnMat))
}

pub(super) fn sparse_vector(of: &SparseVector) -> Outcome<Descriptor> {
    let (functions, mut raw) = (cusparse(), null_mut());
    let [size, stored] = [of.size, of.stored].map(|size| size as i64);
    let (indices, values) = (of.indices as Raw, of.values as Raw);
    let (index, kind) = (index(of.index), kind(of.scalar));
    // SAFETY: S1, S11: a live variable, and the caller's memory.
    done(unsafe {
        (functions.cusparseCreateSpVec)(&mut raw, size, stored, indices, values, index, ZERO, kind)
    })?;
    Ok(Descriptor::new(raw, functions.cusparseDestroySpVec))
}
