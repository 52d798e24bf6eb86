//! What descriptors say.

use super::{Outcome, ensure};
use crate::rocsparse::{
    rocsparse_datatype as DataType, rocsparse_diag_type, rocsparse_direction, rocsparse_fill_mode,
    rocsparse_format as Format, rocsparse_indextype as IndexType, rocsparse_order,
    rocsparse_status as Status,
};
use std::any::Any;
use std::sync::Arc;

/// A type of indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
}

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// Two `f32`.
    C32,
    /// Two `f64`.
    C64,
}

impl Index {
    /// # Errors
    /// `rocsparse_status_not_implemented` for the other types.
    pub fn of(kind: IndexType) -> Outcome<Self> {
        match kind {
            IndexType::rocsparse_indextype_i32 => Ok(Self::I32),
            IndexType::rocsparse_indextype_i64 => Ok(Self::I64),
            _ => Err(Status::rocsparse_status_not_implemented),
        }
    }
}

impl Scalar {
    /// # Errors
    /// `rocsparse_status_not_implemented` for the other types.
    pub fn of(kind: DataType) -> Outcome<Self> {
        match kind {
            DataType::rocsparse_datatype_f32_r => Ok(Self::F32),
            DataType::rocsparse_datatype_f64_r => Ok(Self::F64),
            DataType::rocsparse_datatype_f32_c => Ok(Self::C32),
            DataType::rocsparse_datatype_f64_c => Ok(Self::C64),
            _ => Err(Status::rocsparse_status_not_implemented),
        }
    }
}

/// A sparse matrix: its indices start at zero. Addresses are of device memory, 0 for none.
#[derive(Clone)]
pub struct SparseMatrix {
    /// How its entries lie.
    pub format: Format,
    /// Of a matrix in blocks: rows of blocks.
    pub rows: usize,
    /// Of a matrix in blocks: columns of blocks.
    pub cols: usize,
    /// Stored entries, padding included; of a matrix in blocks: stored blocks.
    pub stored: usize,
    /// CSR, BSR: offsets of rows. CSC: offsets of columns. COO: row indices. ELL: none.
    pub outer: usize,
    /// Column indices; CSC: row indices.
    pub inner: usize,
    /// The numbers.
    pub values: usize,
    /// The type of all its indices.
    pub index: Index,
    /// The type of its numbers.
    pub scalar: Scalar,
    /// The rows of a block; otherwise 1.
    pub block: usize,
    /// How the numbers of a block lie.
    pub direction: rocsparse_direction,
    /// The triangle that a solve uses.
    pub fill: rocsparse_fill_mode,
    /// Whether a solve takes the diagonal as ones.
    pub diagonal: rocsparse_diag_type,
    /// What a platform keeps with it from one stage to the next.
    pub attached: Option<Arc<dyn Any + Send + Sync>>,
}

/// A dense vector.
pub struct Vector {
    /// Its elements.
    pub size: usize,
    /// Their address.
    pub values: usize,
    /// Their type.
    pub scalar: Scalar,
}

/// A sparse vector.
pub struct SparseVector {
    /// Its elements, zeros included.
    pub size: usize,
    /// Its stored elements.
    pub stored: usize,
    /// The address of their indices.
    pub indices: usize,
    /// The address of their values.
    pub values: usize,
    /// The type of the indices.
    pub index: Index,
    /// The type of the values.
    pub scalar: Scalar,
}

/// A dense matrix.
pub struct DenseMatrix {
    /// Its rows.
    pub rows: usize,
    /// Its columns.
    pub cols: usize,
    /// From one row to the next, or from one column to the next.
    pub leading: usize,
    /// The address of its elements.
    pub values: usize,
    /// Their type.
    pub scalar: Scalar,
    /// Whether a row or a column is contiguous.
    pub order: rocsparse_order,
}

impl DenseMatrix {
    /// The distances from one row to the next, and from one column to the next.
    pub fn strides(&self) -> [usize; 2] {
        if self.order == rocsparse_order::rocsparse_order_row { [self.leading, 1] } else { [1, self.leading] }
    }

    /// The elements from its first to its last one.
    ///
    /// # Errors
    /// `rocsparse_status_invalid_size` beyond an address space.
    pub fn extent(&self) -> Outcome<usize> {
        if self.rows == 0 || self.cols == 0 {
            return Ok(0);
        }
        let [row, col] = self.strides();
        let of = |count: usize, stride: usize| (count - 1).checked_mul(stride);
        let last = of(self.rows, row).zip(of(self.cols, col)).and_then(|(a, b)| a.checked_add(b));
        last.and_then(|last| last.checked_add(1)).ok_or(Status::rocsparse_status_invalid_size)
    }
}

/// A size of C's.
pub(super) fn size(size: i64) -> Outcome<usize> {
    usize::try_from(size).map_err(|_| Status::rocsparse_status_invalid_size)
}

/// An address, which there has to be for more than no elements.
pub(super) fn address<T>(pointer: *mut T, elements: usize) -> Outcome<usize> {
    ensure(elements == 0 || !pointer.is_null(), Status::rocsparse_status_invalid_pointer)?;
    Ok(pointer as usize)
}
