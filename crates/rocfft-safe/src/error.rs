//! All errors, with what was found, what was expected and what to do.

use crate::convert::status_name;
use crate::raw::Failure;
use hip_sys::LoadError;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call. All but [`Error::Status`] and some of [`Error::Hip`] are returned before any call of the library.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// HIP, or memory that cannot be used: of another device, or out of range.
    #[error(transparent)]
    Hip(#[from] hip_safe::Error),
    /// The platform has no rocFFT, or it could not be loaded.
    #[error("no rocFFT: {0}")]
    NoLibrary(LoadError),
    /// A function of the library returned an error.
    #[error("{function} answered {name} ({code}){}", remedy(function))]
    Status {
        /// The C function.
        function: &'static str,
        /// The status, a `rocfft_status`.
        code: u32,
        /// Its name, such as `rocfft_status_failure`.
        name: &'static str,
    },
    /// A description that no plan can be made of.
    #[error("{what}: {wanted}")]
    Spec {
        /// What is wrong.
        what: String,
        /// What is needed.
        wanted: &'static str,
    },
    /// Memory that is too short for a plan.
    #[error("the {what} reaches over {needed} elements, and the memory has {len}")]
    TooShort {
        /// The input or the output.
        what: &'static str,
        /// The elements from its first to its last one.
        needed: usize,
        /// The elements of the memory.
        len: usize,
    },
    /// A plan of another transform than the method's.
    #[error("{method} is for another plan than this one, which is of {plan}: call {right}")]
    OtherPlan {
        /// The method.
        method: &'static str,
        /// What the plan is of.
        plan: &'static str,
        /// The method for it.
        right: &'static str,
    },
}

hip_sys::debug_by_display!(Error);

impl From<Failure> for Error {
    fn from(Failure { function, status }: Failure) -> Self {
        Self::Status { function, code: status.0, name: status_name(status) }
    }
}

fn remedy(function: &str) -> &'static str {
    match function {
        "rocfft_plan_create" => {
            ". This platform's library has no such transform: COVERAGE.md of rocfft-safe lists what each has"
        }
        _ => "",
    }
}
