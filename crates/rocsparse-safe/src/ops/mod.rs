//! The operations: those in phases as types of their own, the others as methods of [`Handle`](crate::Handle).

mod dense;
mod formats;
mod sddmm;
mod solve;
mod sort;
mod spgemm;
mod spmm;
mod spmv;
mod vectors;

pub use sddmm::Sddmm;
pub use solve::{DiagonalKind, Spsm, Spsv, Triangle};
pub use spgemm::Spgemm;
pub use spmm::Spmm;
pub use spmv::Spmv;

/// What a product or a solve takes of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// The matrix.
    None,
    /// Its transpose.
    Transpose,
    /// The complex conjugate of its transpose.
    Adjoint,
}

impl Op {
    /// Rows and columns of the matrix that is taken.
    pub(crate) fn of(self, [rows, cols]: [usize; 2]) -> [usize; 2] {
        if self == Self::None { [rows, cols] } else { [cols, rows] }
    }
}

/// A number by its address, as C takes factors.
fn factor<T>(number: &T) -> *const std::ffi::c_void {
    std::ptr::from_ref(number).cast()
}
