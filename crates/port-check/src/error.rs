//! Why sources could not be checked.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why sources could not be checked.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path that is missing, or that this user may not read.
    #[error("cannot read {}: {source}; name files or folders that exist and that you may read", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A folder without source files.
    #[error("{} has no CUDA source (.cu, .cuh, .h, .hpp and the like); name its files one by one if they end otherwise", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A name that is no rule's.
    #[error("no rule is called {name:?}; `--list` shows all rules")]
    UnknownRule {
        /// The name.
        name: String,
    },
    /// A macro that is given as no compiler would take it.
    #[error("{given:?} defines no macro; write NAME or NAME=INTEGER")]
    BadDefine {
        /// The argument.
        given: String,
    },
}

/// The same as `Display`, which includes all causes: `main() -> Result` and `unwrap` print this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Error::Read { path: path.to_path_buf(), source }
    }
}
