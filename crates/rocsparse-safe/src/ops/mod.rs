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

use crate::{Error, Result, Scalar};

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

    /// The same for an operation that rocSPARSE has without adjoints. That of a real matrix is its transpose.
    pub(crate) fn without_adjoint<T: Scalar>(self, operation: &'static str) -> Result<Self> {
        match self {
            Self::Adjoint if T::COMPLEX => Err(Error::Adjoint { operation }),
            Self::Adjoint => Ok(Self::Transpose),
            op => Ok(op),
        }
    }
}

/// A number by its address, as C takes factors.
fn factor<T>(number: &T) -> *const std::ffi::c_void {
    std::ptr::from_ref(number).cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Complex;

    #[test]
    fn the_adjoint_of_a_real_matrix_is_its_transpose() {
        assert!(matches!(Op::Adjoint.without_adjoint::<f32>("it"), Ok(Op::Transpose)));
        assert!(matches!(Op::Adjoint.without_adjoint::<f64>("it"), Ok(Op::Transpose)));
        let error = Op::Adjoint.without_adjoint::<Complex<f32>>("a sampled product").unwrap_err();
        assert_eq!(
            error.to_string(),
            "a sampled product takes no adjoint of a complex matrix, because rocSPARSE has none: conjugate the numbers, and take the transpose"
        );
        for op in [Op::None, Op::Transpose] {
            assert_eq!(op.without_adjoint::<Complex<f64>>("it").unwrap(), op);
        }
    }
}
