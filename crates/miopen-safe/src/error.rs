//! All errors, with what was expected, what was found and what to do.

use crate::raw::Failure;
use hip_sys::miopen::miopenStatus_t;
use hip_sys::{LoadError, Unsupported};

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of streams or memory; also if memory or a stream is on another device, or a graph cannot contain the work.
    #[error(transparent)]
    Hip(#[from] hip_safe::Error),
    /// The platform has no MIOpen and no replacement.
    #[error("no MIOpen: {0}")]
    NoLibrary(LoadError),
    /// This platform's library does not support the call.
    #[error("{call} is not supported here, asked for {doing}: {reason}")]
    Unsupported {
        /// The C function.
        call: &'static str,
        /// The operation that called it.
        doing: &'static str,
        /// The reason.
        reason: String,
    },
    /// A C function returned an error.
    #[error("{call} answered {name} ({code}), asked for {doing}{}", remedy(*code))]
    Miopen {
        /// The C function.
        call: &'static str,
        /// The status, a `miopenStatus_t`.
        code: u32,
        /// The status's name.
        name: &'static str,
        /// The operation that called it.
        doing: &'static str,
    },
    /// Two properties do not match.
    #[error("{what}: {wanted} is needed, {found} was given")]
    Mismatch {
        /// What was compared.
        what: &'static str,
        /// The expected value.
        wanted: String,
        /// The given value.
        found: String,
    },
    /// An invalid number.
    #[error("{what} is {found}; {wanted}")]
    Invalid {
        /// Which number.
        what: &'static str,
        /// Its value.
        found: String,
        /// The condition that it violates.
        wanted: &'static str,
    },
    /// A size that does not fit the library's 32 bits.
    #[error("{what} is {value}, and MIOpen counts it in 32 bits: at most {limit}. Work on smaller parts")]
    TooLarge {
        /// Which size.
        what: &'static str,
        /// Its value; `usize::MAX` also means any larger size.
        value: usize,
        /// The largest allowed size.
        limit: usize,
    },
    /// The memory is too short for the tensor.
    #[error(
        "a tensor of {dims:?} with strides {strides:?} reaches over {needed} elements, and the memory has {len}"
    )]
    OutOfView {
        /// Lengths of the tensor.
        dims: Vec<usize>,
        /// Its strides.
        strides: Vec<usize>,
        /// The number of elements from its first to its last.
        needed: usize,
        /// The elements given.
        len: usize,
    },
    /// Two elements of a tensor have the same address.
    #[error(
        "a tensor of {dims:?} with strides {strides:?} has elements that share memory: give it strides that keep them apart"
    )]
    SelfOverlap {
        /// Lengths of the tensor.
        dims: Vec<usize>,
        /// Its strides.
        strides: Vec<usize>,
    },
    /// An output overlaps other memory that the same call uses.
    #[error("{doing}: an output lies in memory that the same call uses otherwise; give it memory of its own")]
    Overlap {
        /// The call.
        doing: &'static str,
    },
    /// An object of one platform's library met another platform's.
    #[error("{what} was made for another platform: make one with a handle of this one")]
    OtherPlatform {
        /// The object.
        what: &'static str,
    },
}

hip_sys::debug_by_display!(Error);

impl Error {
    pub(crate) fn of(failure: Failure, doing: &'static str) -> Self {
        match failure {
            Failure::NoLibrary(error) => Self::NoLibrary(error),
            Failure::Absent(Unsupported { symbol, since }) => {
                let reason = format!("the library has no such function; ROCm {since} and later have it");
                Self::Unsupported { call: symbol, doing, reason }
            }
            Failure::Status(
                call,
                status @ (miopenStatus_t::miopenStatusNotImplemented
                | miopenStatus_t::miopenStatusUnsupportedOp),
            ) => {
                let reason = format!("it answered {}", name(status));
                Self::Unsupported { call, doing, reason }
            }
            Failure::Status(call, status) => Self::Miopen { call, code: status.0, name: name(status), doing },
        }
    }

    pub(crate) fn mismatch(
        what: &'static str,
        wanted: impl std::fmt::Debug,
        found: impl std::fmt::Debug,
    ) -> Self {
        Self::Mismatch { what, wanted: format!("{wanted:?}"), found: format!("{found:?}") }
    }

    pub(crate) fn invalid(what: &'static str, found: impl std::fmt::Debug, wanted: &'static str) -> Self {
        Self::Invalid { what, found: format!("{found:?}"), wanted }
    }

    /// Whether the platform lacks the function, so that the call is not at fault.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported { .. })
    }

    /// Whether memory or another resource was lacking, so that the same call may succeed later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Hip(_) => true,
            Self::Miopen { code, .. } => *code == miopenStatus_t::miopenStatusAllocFailed.0,
            _ => false,
        }
    }

    /// The error as hip-safe reports errors of drops.
    pub(crate) fn into_drop_error(self, doing: &str) -> hip_safe::Error {
        let (call, code, name) = match self {
            Self::Hip(error) => return error,
            Self::Miopen { call, code, name, .. } => (call, code, name.to_owned()),
            other => ("MIOpen", miopenStatus_t::miopenStatusUnknownError.0, other.to_string()),
        };
        hip_safe::Error::Hip { call, code, name, doing: doing.to_owned(), cause: None }
    }
}

fn name(status: miopenStatus_t) -> &'static str {
    const NAMES: [&str; 11] = [
        "miopenStatusSuccess",
        "miopenStatusNotInitialized",
        "miopenStatusInvalidValue",
        "miopenStatusBadParm",
        "miopenStatusAllocFailed",
        "miopenStatusInternalError",
        "miopenStatusNotImplemented",
        "miopenStatusUnknownError",
        "miopenStatusUnsupportedOp",
        "miopenStatusGpuOperationsSkipped",
        "miopenStatusVersionMismatch",
    ];
    usize::try_from(status.0).ok().and_then(|at| NAMES.get(at)).copied().unwrap_or("an unknown status")
}

fn remedy(code: u32) -> &'static str {
    match miopenStatus_t(code) {
        miopenStatus_t::miopenStatusAllocFailed => ". Drop buffers, or take smaller ones",
        miopenStatus_t::miopenStatusVersionMismatch => ". Make what was saved anew with this version",
        miopenStatus_t::miopenStatusUnknownError | miopenStatus_t::miopenStatusInternalError => {
            ". MIOPEN_ENABLE_LOGGING=1 and MIOPEN_LOG_LEVEL=6 make AMD's library say more"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_and_what_to_do() {
        let error =
            Error::of(Failure::Status("miopenOpTensor", miopenStatus_t(3)), "an operation on tensors");
        assert_eq!(
            error.to_string(),
            "miopenOpTensor answered miopenStatusBadParm (3), asked for an operation on tensors"
        );
        let error = Error::of(Failure::Status("miopenCTCLoss", miopenStatus_t(6)), "a loss");
        assert!(error.is_unsupported());
        assert_eq!(
            error.to_string(),
            "miopenCTCLoss is not supported here, asked for a loss: it answered miopenStatusNotImplemented"
        );
        let absent = Unsupported { symbol: "miopenGroupNormForward", since: "6.1" };
        assert_eq!(
            Error::of(Failure::Absent(absent), "a norm").to_string(),
            "miopenGroupNormForward is not supported here, asked for a norm: the library has no such function; \
             ROCm 6.1 and later have it"
        );
        assert_eq!(name(miopenStatus_t(99)), "an unknown status");
    }
}
