//! What can be missing: a library, or a function in it.

use thiserror::Error;

/// A library could not be loaded.
#[derive(Clone, PartialEq, Eq, Error)]
pub enum LoadError {
    /// No file of any of the names could be opened.
    #[error(
        "{library} was not found; tried {}. {remedy}",
        tried_list(.tried)
    )]
    NotFound {
        /// What was looked for.
        library: &'static str,
        /// What to do about it.
        remedy: &'static str,
        /// Each name tried, with the loader's answer.
        tried: Vec<(String, String)>,
    },
    /// The library lacks a function that every supported version has.
    #[error("{library} has no function {symbol}: it is too old, or something else of that name")]
    MissingSymbol {
        /// The file.
        library: String,
        /// The name looked up.
        symbol: String,
    },
    /// The library was opened and did not answer its version.
    #[error("{library}: {call} answered error {code}")]
    Refused {
        /// The file.
        library: String,
        /// The call.
        call: &'static str,
        /// Its status.
        code: u32,
    },
    /// The library is older than what is needed.
    #[error("{library} is version {found}, and at least {needed} is needed: update it")]
    TooOld {
        /// The file.
        library: String,
        /// Its version.
        found: String,
        /// The oldest that works.
        needed: &'static str,
    },
    /// The library is linked to another HIP than the one in use, whose streams and memory mean nothing to it.
    #[error(
        "{library} is linked to another HIP than the one in use: install both from one ROCm, or set ROCM_PATH to the folder above its lib/"
    )]
    OtherHip {
        /// The file.
        library: String,
    },
    /// The library is linked to another rocBLAS than the one in use, whose handles mean nothing to it.
    #[error(
        "{library} is linked to another rocBLAS than the one in use: install both from one ROCm, or set ROCM_PATH to the folder above its lib/"
    )]
    OtherRocblas {
        /// The file.
        library: String,
    },
    /// The library is newer than the headers that this crate was made from.
    #[error(
        "{library} is version {found}, and the declarations of {first}.0 and later are not known here: install one before {first}.0"
    )]
    TooNew {
        /// The file.
        library: String,
        /// Its version.
        found: crate::Version,
        /// The first major version that is not known.
        first: u32,
    },
    /// This platform has no such library at all.
    #[error("{library} does not exist on this platform: {reason}")]
    NotProvided {
        /// What was asked for.
        library: &'static str,
        /// Why there is none, and what to do instead.
        reason: &'static str,
    },
}

/// The names that were tried. If a file exists and was not loaded, the loader's answer follows its name.
fn tried_list(tried: &[(String, String)]) -> String {
    let item = |(name, answer): &(String, String)| {
        let absent = answer.starts_with(name.as_str()) && answer.contains("No such file");
        if absent { name.clone() } else { format!("{name} ({answer})") }
    };
    tried.iter().map(item).collect::<Vec<_>>().join(", ")
}

/// The platform's library has no such function.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[error("{symbol} is not in this platform's library: ROCm has it since {since}")]
pub struct Unsupported {
    /// The C function.
    pub symbol: &'static str,
    /// The ROCm version that introduced it.
    pub since: &'static str,
}

crate::debug_by_display!(LoadError, Unsupported);
