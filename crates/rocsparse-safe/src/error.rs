//! All errors, with what was found, what was expected and what to do.

use crate::convert::status_name;
use crate::raw::Failure;
use crate::{Format, Order};
use hip_sys::LoadError;
use hip_sys::rocsparse::rocsparse_status;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call. All but [`Error::Status`] and some of [`Error::Hip`] are returned before any call of the library.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// HIP, or memory that cannot be used: of another device, or out of range.
    #[error(transparent)]
    Hip(#[from] hip_safe::Error),
    /// The platform has no rocSPARSE, or it could not be loaded.
    #[error("no rocSPARSE: {0}")]
    NoLibrary(LoadError),
    /// A function of the library returned an error.
    #[error("{function} answered {name} ({code}){}", remedy(*code))]
    Status {
        /// The C function.
        function: &'static str,
        /// The status, a `rocsparse_status`.
        code: u32,
        /// Its name, such as `rocsparse_status_not_implemented`.
        name: &'static str,
    },
    /// Memory that has another number of elements than the sizes ask for.
    #[error("{what}: {len} elements, and these sizes need {needed}")]
    Length {
        /// What the memory is for.
        what: &'static str,
        /// The elements that are needed.
        needed: usize,
        /// The elements that there are.
        len: usize,
    },
    /// Sizes that do not belong together.
    #[error("{what}: {found:?}, and {needed:?} is needed here")]
    Shape {
        /// What has this shape.
        what: &'static str,
        /// Rows and columns.
        found: [usize; 2],
        /// Rows and columns.
        needed: [usize; 2],
    },
    /// A size that the type of the indices cannot express.
    #[error(
        "{what}: {size} is more than an index of type {index} can be, {most}: take i64, or a smaller matrix"
    )]
    TooLarge {
        /// What is so large.
        what: &'static str,
        /// Its size.
        size: usize,
        /// The type of the indices.
        index: &'static str,
        /// Its greatest value.
        most: usize,
    },
    /// A size without a meaning.
    #[error("{what} is {value}: {wanted}")]
    Argument {
        /// The argument.
        what: &'static str,
        /// Its value.
        value: usize,
        /// What it has to be.
        wanted: &'static str,
    },
    /// Offsets that do not start at 0, do not ascend, or do not end at the number of entries.
    #[error(
        "offset {at} is {value}: offsets start at 0, never descend, and end at the number of stored entries, {stored}"
    )]
    Offset {
        /// Which offset, from 0.
        at: usize,
        /// Its value.
        value: i64,
        /// The number of stored entries, or blocks.
        stored: usize,
    },
    /// An index outside of the matrix.
    #[error("{what} of entry {at} is {value}, and has to be from 0 to below {below}")]
    Index {
        /// Which kind of index.
        what: &'static str,
        /// Which entry, or block, from 0.
        at: usize,
        /// The index.
        value: i64,
        /// What it has to be below.
        below: usize,
    },
    /// Entries in an order that an operation cannot take.
    #[error("{operation} needs entries that are {needed}, and from entry {at} on they are only {found}: {}", order_remedy(*needed))]
    Order {
        /// The operation.
        operation: &'static str,
        /// The order that it needs.
        needed: Order,
        /// The order of the matrix.
        found: Order,
        /// The first entry that breaks the needed order.
        at: usize,
    },
    /// A format that an operation does not take.
    #[error("{operation} has no matrix in the format {format}: it takes {takes}")]
    Format {
        /// The operation.
        operation: &'static str,
        /// The matrix's format.
        format: Format,
        /// The formats that it takes.
        takes: &'static str,
    },
    /// The adjoint of a complex matrix, for an operation that rocSPARSE has for the transpose only.
    #[error(
        "{operation} takes no adjoint of a complex matrix, because rocSPARSE has none: conjugate the numbers, and take the transpose"
    )]
    Adjoint {
        /// The operation.
        operation: &'static str,
    },
    /// A triangular matrix that has no inverse.
    #[error("row {row} has {} on the diagonal, so the system has no solution: set the entry, or solve with a unit diagonal", if *stored { "a zero" } else { "no entry" })]
    Singular {
        /// The first such row.
        row: usize,
        /// Whether the diagonal is stored, and zero.
        stored: bool,
    },
    /// Memory that a graph writes when it is launched, after it was looked at.
    #[error(
        "{what} are in memory that a graph writes, or whose stream captures a graph: copy them with Stream::clone_of outside of a capture"
    )]
    WrittenByGraph {
        /// Which memory.
        what: &'static str,
    },
}

hip_sys::debug_by_display!(Error);

impl From<Failure> for Error {
    fn from(Failure { function, status }: Failure) -> Self {
        Self::Status { function, code: status.0, name: status_name(status) }
    }
}

fn remedy(code: u32) -> &'static str {
    if code == rocsparse_status::rocsparse_status_not_implemented.0 {
        ". This platform's library has no such operation: COVERAGE.md of rocsparse-safe lists what each has"
    } else {
        ""
    }
}

fn order_remedy(needed: Order) -> &'static str {
    match needed {
        Order::Unique => "sort the matrix, and add up the entries of each position",
        _ => "sort the matrix",
    }
}
