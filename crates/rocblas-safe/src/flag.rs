//! The operation on a stored matrix before it is used.

use hip_sys::rocblas::rocblas_operation;

/// A matrix is stored column-major, and used unchanged, transposed, conjugated, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Flag {
    pub(crate) transposed: bool,
    pub(crate) conjugated: bool,
}

impl Flag {
    pub(crate) const NONE: Self = Self { transposed: false, conjugated: false };

    pub(crate) fn t(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }

    pub(crate) fn t_if(self, transpose: bool) -> Self {
        if transpose { self.t() } else { self }
    }

    /// Conjugates complex numbers.
    pub(crate) fn conj(self, complex: bool) -> Self {
        Self { conjugated: self.conjugated != complex, ..self }
    }

    /// C's value. There is none for conjugation alone.
    pub(crate) fn operation(self) -> Option<rocblas_operation> {
        match (self.transposed, self.conjugated) {
            (false, false) => Some(rocblas_operation::rocblas_operation_none),
            (true, false) => Some(rocblas_operation::rocblas_operation_transpose),
            (true, true) => Some(rocblas_operation::rocblas_operation_conjugate_transpose),
            (false, true) => None,
        }
    }
}
