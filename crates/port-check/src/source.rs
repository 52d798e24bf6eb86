//! The files of a project: what is read, and where a byte stands.

use crate::Error;
use std::path::{Path, PathBuf};

/// The endings of files that are read from a folder.
const ENDINGS: [&str; 9] = ["cu", "cuh", "h", "hh", "hip", "hpp", "hxx", "inc", "inl"];

/// A file's name and text.
#[derive(Clone, Debug)]
pub struct Source {
    /// How findings name it.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl Source {
    /// A text that is in no file.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Source { path: path.into(), text: text.into() }
    }

    /// Reads these files and all source files in these folders, in the order of their names. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// When a path cannot be read, or a folder has no source file.
    pub fn read_all<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<Source>, Error> {
        let mut files = Vec::new();
        for path in paths.iter().map(AsRef::as_ref) {
            let meta = std::fs::metadata(path).map_err(|source| Error::read(path, source))?;
            if meta.is_dir() {
                let before = files.len();
                walk(path, &mut files)?;
                if files.len() == before {
                    return Err(Error::Empty { path: path.to_path_buf() });
                }
            } else {
                files.push(path.to_path_buf());
            }
        }
        files.sort();
        files.dedup();
        files.into_iter().map(read).collect()
    }

    /// The line and the column of a byte, both from 1; a column is a character.
    pub(crate) fn position(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }
}

fn read(path: PathBuf) -> Result<Source, Error> {
    let bytes = std::fs::read(&path).map_err(|source| Error::read(&path, source))?;
    Ok(Source { text: String::from_utf8_lossy(&bytes).into_owned(), path })
}

/// Adds the source files below a folder, but neither those in hidden folders nor those behind links.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let entries = std::fs::read_dir(folder).map_err(|source| Error::read(folder, source))?;
    for entry in entries {
        let entry = entry.map_err(|source| Error::read(folder, source))?;
        let kind = entry.file_type().map_err(|source| Error::read(&entry.path(), source))?;
        let path = entry.path();
        let is_source = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        if kind.is_dir() && !entry.file_name().as_encoded_bytes().starts_with(b".") {
            walk(&path, files)?;
        } else if kind.is_file() && is_source {
            files.push(path);
        }
    }
    Ok(())
}
