//! All errors, with what was found, what was expected and what to do.

use hip_sys::LoadError;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call. Those of matrices come from [`Info::check`](crate::Info::check): they name the first member of a batch that failed, and
/// its other members have their results.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Operands that do not fit, HIP, or a status of the library: what rocblas-safe says of them.
    #[error(transparent)]
    Blas(#[from] rocblas_safe::Error),
    /// The platform has no rocSOLVER, or it could not be loaded.
    #[error("no rocSOLVER: {0}")]
    NoLibrary(LoadError),
    /// A size exceeds what rocSOLVER's functions take.
    #[error("{op}: {what} is {size}, and at most 2147483647 is possible")]
    TooLarge {
        /// The operation.
        op: &'static str,
        /// The size.
        what: &'static str,
        /// Its value.
        size: usize,
    },
    /// A matrix without an inverse.
    #[error(
        "{op}: pivot {pivot}{} is exactly zero: the matrix is singular, and no system can be solved with its factors", of(*member)
    )]
    Singular {
        /// The operation.
        op: &'static str,
        /// The first pivot that is zero, from 1 on.
        pivot: usize,
        /// The first member of the batch with such a pivot, from 0 on.
        member: Option<usize>,
    },
    /// A matrix that is not positive definite.
    #[error("{op}: the leading minor of order {minor}{} is not positive: the matrix is not positive definite", of(*member))]
    NotPositiveDefinite {
        /// The operation.
        op: &'static str,
        /// The order of the first minor that is not positive, from 1 on.
        minor: usize,
        /// The first member of the batch with such a minor, from 0 on.
        member: Option<usize>,
    },
    /// A least-squares problem without a unique solution.
    #[error(
        "{op}: element {element} on the diagonal of the triangular factor{} is exactly zero: the matrix does not have full rank", of(*member)
    )]
    RankDeficient {
        /// The operation.
        op: &'static str,
        /// The first element that is zero, from 1 on.
        element: usize,
        /// The first member of the batch with such an element, from 0 on.
        member: Option<usize>,
    },
    /// Eigenvalues or singular values were not found.
    #[error(
        "{op}: the iteration{} did not converge (info {info}): look for infinities and NaN in the matrix", of(*member)
    )]
    NotConverged {
        /// The operation.
        op: &'static str,
        /// LAPACK's number.
        info: i32,
        /// The first member of the batch without values, from 0 on.
        member: Option<usize>,
    },
    /// The library answered a negative number, which names an argument of its function.
    #[error(
        "{op}: the library answered info {info}{}: it did not accept argument {} of its function, and computed nothing", of(*member), info.unsigned_abs()
    )]
    InvalidArgument {
        /// The operation.
        op: &'static str,
        /// The library's number, below 0.
        info: i32,
        /// The first member of the batch with such a number, from 0 on.
        member: Option<usize>,
    },
}

hip_sys::debug_by_display!(Error);

impl From<hip_safe::Error> for Error {
    fn from(error: hip_safe::Error) -> Self {
        Self::Blas(error.into())
    }
}

impl Error {
    pub(crate) fn shape(op: &'static str, what: &'static str, got: String, wanted: String) -> Self {
        Self::Blas(rocblas_safe::Error::Shape { op, what, got, wanted })
    }

    pub(crate) fn not_supported(op: &'static str, what: &'static str, remedy: &'static str) -> Self {
        Self::Blas(rocblas_safe::Error::NotSupported { op, what, remedy })
    }
}

fn of(member: Option<usize>) -> String {
    member.map(|member| format!(" of member {member} of the batch")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_pivot_and_member() {
        let error = Error::Singular { op: "getrf", pivot: 3, member: Some(0) };
        let text = "getrf: pivot 3 of member 0 of the batch is exactly zero: the matrix is singular, and no system can be solved with its factors";
        assert_eq!(error.to_string(), text);
        let error = Error::NotPositiveDefinite { op: "potrf", minor: 2, member: None };
        let text = "potrf: the leading minor of order 2 is not positive: the matrix is not positive definite";
        assert_eq!(error.to_string(), text);
    }
}
