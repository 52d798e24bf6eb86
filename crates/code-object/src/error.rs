//! Why a file is refused. Each kind is a part of the file.

use crate::CutShort;
use std::fmt;

/// What is wrong with a file, in words.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ELF file itself: a header, a segment, a section, a symbol.
    #[error("it is no whole 64-bit ELF file: {0}")]
    Elf(String),
    /// For which GPU it is.
    #[error("its target is unclear: {0}")]
    Target(String),
    /// The note that tells of kernels.
    #[error("its kernel metadata is malformed: {0}")]
    Metadata(String),
    /// What the note tells of and the file lacks, or tells otherwise.
    #[error("its kernels are not those of its metadata: {0}")]
    Kernel(String),
    /// The list of entries of a bundle.
    #[error("the bundle is malformed: {0}")]
    Bundle(String),
    /// The compressed form of a bundle.
    #[error("the bundle cannot be decompressed: {0}")]
    Compressed(String),
    /// A compressed bundle that is larger than was allowed; nothing more is known of it.
    #[error(
        "the bundle has {bytes} bytes when decompressed, allowed are {limit}; build it without compression"
    )]
    TooLarge {
        /// Its size in bytes, decompressed, as it says itself.
        bytes: u64,
        /// The size allowed.
        limit: u64,
    },
    /// A code object in a bundle.
    #[error("{id} in the bundle: {error}")]
    Entry {
        /// The name that the bundle has for it.
        id: String,
        /// What is wrong with it.
        error: Box<Error>,
    },
}

/// What `Display` shows, which has every cause in it: `main() -> Result` and `unwrap` print this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// The part of the file that was refused, in one word.
    pub fn stage(&self) -> &'static str {
        match self {
            Self::Elf(_) => "ELF",
            Self::Target(_) => "target",
            Self::Metadata(_) => "metadata",
            Self::Kernel(_) => "kernel",
            Self::Bundle(_) => "bundle",
            Self::Compressed(_) => "compressed",
            Self::TooLarge { .. } => "too large",
            Self::Entry { error, .. } => error.stage(),
        }
    }

    pub(crate) fn bundle(cut: CutShort) -> Self {
        Self::Bundle(cut.to_string())
    }

    pub(crate) fn compressed(cut: CutShort) -> Self {
        Self::Compressed(cut.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_message() {
        let cut = CutShort { offset: 1, length: 2, available: 3 };
        let said = "it is cut short: bytes 1 and 2 more are named, it has 3";
        assert_eq!(format!("{cut:?}"), said);
        let error = Error::Entry { id: "host".into(), error: Box::new(Error::bundle(cut)) };
        assert_eq!(format!("{error:?}"), format!("host in the bundle: the bundle is malformed: {said}"));
    }
}
