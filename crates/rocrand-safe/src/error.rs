//! All errors, with what was found, what was expected and what to do.

use crate::Kind;
use crate::convert::status_name;
use crate::raw::Failure;
use hip_sys::rocrand::rocrand_status;
use hip_sys::{LoadError, Unsupported};

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call. All but [`Error::Status`], [`Error::NoKind`] and some of [`Error::Hip`] are returned before any
/// call of the library.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// HIP, or memory that cannot be used: of another device, or out of range.
    #[error(transparent)]
    Hip(#[from] hip_safe::Error),
    /// The platform has no rocRAND, or it could not be loaded.
    #[error("no rocRAND: {0}")]
    NoLibrary(LoadError),
    /// The library is too old for a function.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A function of the library returned an error.
    #[error("{function} answered {name} ({code}){}", remedy(*code))]
    Status {
        /// The C function.
        function: &'static str,
        /// The status, a `rocrand_status`.
        code: u32,
        /// Its name, such as `ROCRAND_STATUS_TYPE_ERROR`.
        name: &'static str,
    },
    /// The platform's library has no generators of a kind.
    #[error(
        "{library} has no generators of the kind {kind:?}: COVERAGE.md of rocrand-safe lists those of each platform"
    )]
    NoKind {
        /// The kind.
        kind: Kind,
        /// The library's file.
        library: String,
    },
    /// Generators of this kind have no such thing.
    #[error("a generator of the kind {kind:?} has no {what}: {remedy}")]
    NotOfKind {
        /// The kind.
        kind: Kind,
        /// What was asked for.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// An output that is not made of whole points.
    #[error("{len} numbers are not points of {dimensions} dimensions: take a multiple of {dimensions}")]
    Length {
        /// The numbers of the output.
        len: usize,
        /// The generator's dimensions.
        dimensions: u32,
    },
    /// A quasi-random sequence would go round. Its points are numbered with 32 bits.
    #[error("{wanted} points after the first {position} are more than the {} of a sequence: set the offset to start again", 1_u64 << 32)]
    Exhausted {
        /// How many were drawn already, the offset included.
        position: u64,
        /// How many more were asked for.
        wanted: u64,
    },
    /// An argument without a meaning.
    #[error("{what} is {value}, and has to be {wanted}")]
    Argument {
        /// The argument.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it has to be.
        wanted: &'static str,
    },
}

hip_sys::debug_by_display!(Error);

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Status { function, status } => {
                Self::Status { function, code: status.0, name: status_name(status) }
            }
            Failure::Absent(absent) => Self::Unsupported(absent),
        }
    }
}

fn remedy(code: u32) -> &'static str {
    match rocrand_status(code) {
        rocrand_status::ROCRAND_STATUS_TYPE_ERROR => {
            ". This platform's library has no such numbers of this kind"
        }
        rocrand_status::ROCRAND_STATUS_LENGTH_NOT_MULTIPLE => {
            ". This platform's library wants an even number of normal numbers, and whole words of bytes"
        }
        rocrand_status::ROCRAND_STATUS_OUT_OF_RANGE => ". The library does not take this argument",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_and_what_to_do() {
        let status = rocrand_status::ROCRAND_STATUS_TYPE_ERROR;
        let error = Error::from(Failure::Status { function: "rocrand_generate_char", status });
        assert_eq!(
            error.to_string(),
            "rocrand_generate_char answered ROCRAND_STATUS_TYPE_ERROR (103). This platform's library has no such numbers of this kind"
        );
        let error = Error::Length { len: 7, dimensions: 3 };
        assert_eq!(error.to_string(), "7 numbers are not points of 3 dimensions: take a multiple of 3");
        let error = Error::Exhausted { position: 5, wanted: 4_294_967_296 };
        assert_eq!(
            error.to_string(),
            "4294967296 points after the first 5 are more than the 4294967296 of a sequence: set the offset to start again"
        );
    }
}
