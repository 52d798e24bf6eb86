//! All errors, with what was found, what was expected and what to do.

use crate::lt;
use crate::raw::Failure;
use hip_sys::rocblas::rocblas_status;
use hip_sys::{LoadError, Unsupported};

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call. All but [`Error::Status`], [`Error::LtStatus`], [`Error::NoAlgorithm`] and some of
/// [`Error::Hip`] are returned before any call of the library.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// HIP, or memory that cannot be used: of another device, or out of range.
    #[error(transparent)]
    Hip(#[from] hip_safe::Error),
    /// The platform has no rocBLAS, or it could not be loaded.
    #[error("no rocBLAS: {0}")]
    NoLibrary(LoadError),
    /// The library is too old for a function that has no substitute.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A function of the library returned an error.
    #[error("{function} answered {name} ({code}){}", remedy(*code))]
    Status {
        /// The C function.
        function: &'static str,
        /// The status, a `rocblas_status`.
        code: u32,
        /// Its name, such as `rocblas_status_memory_error`.
        name: &'static str,
    },
    /// The platform has no hipBLASLt, or it could not be loaded.
    #[error("no hipBLASLt: {0}. Handle::gemm and gemm_ex do without it")]
    NoLtLibrary(LoadError),
    /// A function of hipBLASLt returned an error.
    #[error("{function} answered {name} ({code}){}", lt_remedy(*code))]
    LtStatus {
        /// The C function.
        function: &'static str,
        /// The status, a `hipblasStatus_t`.
        code: u32,
        /// Its name, such as `HIPBLAS_STATUS_ALLOC_FAILED`.
        name: &'static str,
    },
    /// hipBLASLt has no algorithm for a product.
    #[error(
        "the library has no algorithm for {problem}: take Handle::gemm or gemm_ex, which have every layout, and what follows the \
         product in calls of its own; or allow more work memory (LtHandle::set_work_limit)"
    )]
    NoAlgorithm {
        /// The product, as C gets it.
        problem: String,
    },
    /// A size exceeds 32 bits, and the library has no function for such sizes.
    #[error(
        "a size, leading dimension, increment or number of matrices is above 2147483647, and the library has no {function} \
         (ROCm has it since {since}): split the call into parts"
    )]
    TooLarge {
        /// The function that takes such sizes.
        function: &'static str,
        /// The version of ROCm that brought it.
        since: &'static str,
    },
    /// A leading dimension is shorter than the row or column that it separates.
    #[error(
        "a {layout} matrix of {rows} x {cols} needs a leading dimension of {least} at least, not {ld}: it counts elements from \
         one {step} to the next"
    )]
    LeadingDimension {
        /// How the matrix is stored: `row-major`, `column-major` or a band.
        layout: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
        /// The leading dimension given.
        ld: usize,
        /// The smallest possible one.
        least: usize,
        /// The length that it must not be shorter than.
        step: &'static str,
    },
    /// An operand reaches past the end of its view.
    #[error(
        "{what} reaches over {needed} elements, and the view has {len}: take a longer view, or a smaller {what}"
    )]
    Span {
        /// A vector, a matrix or a batch.
        what: &'static str,
        /// The elements from its first to its last one.
        needed: usize,
        /// The elements of the view.
        len: usize,
    },
    /// A number of elements does not fit an address space.
    #[error("{what} of these sizes and strides is larger than an address space")]
    SizeOverflow {
        /// A vector, a matrix or a batch.
        what: &'static str,
    },
    /// No BLAS can express these strides.
    #[error(
        "a matrix of {rows} x {cols} with strides of {row_stride} and {col_stride} elements is no operand of a BLAS: one stride has \
         to be 1 and the other one no shorter than a row or a column. Copy it to a matrix of its own first"
    )]
    Strides {
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
        /// Elements from one row to the next.
        row_stride: usize,
        /// Elements from one column to the next.
        col_stride: usize,
    },
    /// An increment of zero.
    #[error(
        "the increment of a vector of {len} elements is 0: it counts elements from one to the next, and may be negative"
    )]
    ZeroIncrement {
        /// The vector's length.
        len: usize,
    },
    /// Outputs would overlap.
    #[error(
        "{count} outputs with a stride of {stride} overlap: each needs elements of its own. Take a longer stride"
    )]
    Overlap {
        /// How many there are.
        count: usize,
        /// The stride given.
        stride: usize,
    },
    /// Sizes that must be equal are not.
    #[error("{op}: {what} is {got}, and {wanted} is needed")]
    Shape {
        /// The operation.
        op: &'static str,
        /// The operand with the wrong size.
        what: &'static str,
        /// Its size.
        got: String,
        /// The expected size.
        wanted: String,
    },
    /// The members of a batch differ where they must be alike.
    #[error(
        "member {index} of a batch differs from the first in its {what}: a call has one for all of them. Make two calls"
    )]
    Uneven {
        /// Its index in the batch.
        index: usize,
        /// The property that differs.
        what: &'static str,
    },
    /// Batches of different lengths, or one output for many.
    #[error(
        "{op}: operands of {expected} and of {got} members: they need as many each; inputs may also be single ones"
    )]
    BatchCount {
        /// The operation.
        op: &'static str,
        /// The count of the first batch.
        expected: usize,
        /// The count that differs.
        got: usize,
    },
    /// One scalar on the host, one on the device.
    #[error("{op}: alpha and beta have to be both values, or both elements of device memory")]
    MixedScalars {
        /// The operation.
        op: &'static str,
    },
    /// A scalar or a result on the device has not the needed number of elements.
    #[error("{what} on the device takes a view of {wanted} elements, not of {got}")]
    ScalarLen {
        /// The scalar or the result.
        what: &'static str,
        /// The elements needed.
        wanted: usize,
        /// The elements given.
        got: usize,
    },
    /// BLAS has no such operation.
    #[error("{op}: {what} is not in BLAS: {remedy}")]
    NotSupported {
        /// The operation.
        op: &'static str,
        /// The requested operation.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Status { function, status } => {
                Self::Status { function, code: status.0, name: crate::convert::status_name(status) }
            }
            Failure::Absent { function, since } if function.ends_with("_64") => {
                Self::TooLarge { function, since }
            }
            Failure::Absent { function, since } => Self::Unsupported(Unsupported { symbol: function, since }),
        }
    }
}

impl From<lt::Failure> for Error {
    fn from(lt::Failure { function, status }: lt::Failure) -> Self {
        Self::LtStatus { function, code: status.0, name: lt::status_name(status) }
    }
}

hip_sys::debug_by_display!(Error);

impl Error {
    /// Whether memory or another resource was lacking, so that the same call may succeed later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Hip(_) => true,
            Self::Status { code, .. } => *code == rocblas_status::rocblas_status_memory_error.0,
            Self::LtStatus { code, .. } => {
                *code == hip_sys::hipblaslt::hipblasStatus_t::HIPBLAS_STATUS_ALLOC_FAILED.0
            }
            _ => false,
        }
    }

    /// What the status of a function says: rocBLAS's own, and those of libraries that answer with its statuses.
    ///
    /// # Errors
    /// [`Error::Status`] for all but success, and success with less memory than the library would like.
    pub fn check_status(function: &'static str, status: rocblas_status) -> Result<()> {
        Ok(crate::raw::status(function, status)?)
    }

    pub(crate) fn shape(
        op: &'static str,
        what: &'static str,
        got: impl Into<String>,
        wanted: impl Into<String>,
    ) -> Self {
        Self::Shape { op, what, got: got.into(), wanted: wanted.into() }
    }
}

fn remedy(code: u32) -> &'static str {
    match code {
        2 => ". This platform does not offer it",
        5 => ". The workspace is too small, or memory ran out: Handle::set_workspace with more bytes",
        14 | 15 => ". The library was built without it, or not for this device",
        _ => "",
    }
}

fn lt_remedy(code: u32) -> &'static str {
    match code {
        2 => ". Memory ran out: LtHandle::set_work_limit with fewer bytes, or drop buffers",
        7 => ". This platform does not offer it: take Handle::gemm",
        8 => ". The library has no kernels for this card: take Handle::gemm",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_and_what_to_do() {
        let status = rocblas_status::rocblas_status_memory_error;
        let error = Error::from(Failure::Status { function: "rocblas_strsm", status });
        assert_eq!(
            error.to_string(),
            "rocblas_strsm answered rocblas_status_memory_error (5). The workspace is too small, or memory ran out: \
             Handle::set_workspace with more bytes"
        );
        let error = Error::shape("gemm", "a", "2 x 3", "2 x 4");
        assert_eq!(error.to_string(), "gemm: a is 2 x 3, and 2 x 4 is needed");
    }
}
