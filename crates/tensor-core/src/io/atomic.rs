//! Reading a file by mapping it, and writing one so that it is there whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, ErrorKind, Result};

/// The bytes of the file at `path`, mapped into memory.
///
/// The file must not be truncated by another process while the map lives: reading past the new end would end this process.
/// Replacing it by a rename, as [`write`] does, is safe.
pub(super) fn map(path: &Path, operation: &'static str) -> Result<Mmap> {
    let file = File::open(path).map_err(|source| io_error(operation, path, source))?;
    // Opening a directory succeeds on some systems, mapping it does not; metadata says so more clearly.
    let metadata = file.metadata().map_err(|source| io_error(operation, path, source))?;
    if !metadata.is_file() {
        return Err(file_error(operation, path, "is not a regular file"));
    }
    // SAFETY: S13: the map is read-only, every reader checks its ranges against the map's length, and the documentation of the
    // public functions that call this says that the file must not be truncated meanwhile.
    unsafe { Mmap::map(&file) }.map_err(|source| io_error(operation, path, source))
}

/// Writes a file through `content` under a temporary name in the same folder, then renames it to `path`. If anything fails,
/// the temporary file is removed and what was at `path` stays.
pub(super) fn write(
    path: &Path,
    operation: &'static str,
    content: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let failed = |source: io::Error| io_error(operation, path, source);
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tensor-").suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file; the umask takes away what it should.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder).map_err(failed)?;
    let mut writer = BufWriter::with_capacity(1 << 20, temporary);
    content(&mut |bytes| writer.write_all(bytes).map_err(failed))?;
    let temporary = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    temporary.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// An error that the system reported about a file.
fn io_error(operation: &'static str, path: &Path, source: io::Error) -> Error {
    Error::new(operation, ErrorKind::Io { path: path.to_owned(), source })
}

/// An error about what is in a file.
pub(super) fn file_error(operation: &'static str, path: &Path, what: impl Into<String>) -> Error {
    Error::new(operation, ErrorKind::File { path: path.to_owned(), what: what.into() })
}
