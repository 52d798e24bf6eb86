//! Why a file is refused. Each variant stands for a part of the file.

use crate::CutShort;
use std::fmt;

/// What is wrong with a file, as text.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ELF file itself: a header, a segment, a section, a symbol.
    #[error("it is no whole 64-bit ELF file: {0}")]
    Elf(String),
    /// The target GPU.
    #[error("its target is unclear: {0}")]
    Target(String),
    /// The note that describes the kernels.
    #[error("its kernel metadata is malformed: {0}")]
    Metadata(String),
    /// A kernel that the note describes, but that the file lacks or contradicts.
    #[error("its kernels are not those of its metadata: {0}")]
    Kernel(String),
    /// The list of entries of a bundle.
    #[error("the bundle is malformed: {0}")]
    Bundle(String),
    /// The compressed form of a bundle.
    #[error("the bundle cannot be decompressed: {0}")]
    Compressed(String),
    /// A compressed bundle that is larger than the limit; nothing else is known about it.
    #[error(
        "the bundle has {bytes} bytes when decompressed, allowed are {limit}; build it without compression"
    )]
    TooLarge {
        /// Its decompressed size in bytes, according to its header.
        bytes: u64,
        /// The size allowed.
        limit: u64,
    },
    /// A code object in a bundle.
    #[error("{id} in the bundle: {error}")]
    Entry {
        /// Its name in the bundle.
        id: String,
        /// What is wrong with it.
        error: Box<Error>,
    },
}

/// The same as `Display`, which includes all causes: `main() -> Result` and `unwrap` print this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// The refused part of the file, as one word.
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
