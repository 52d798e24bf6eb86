//! Reading the small files of a model.

use std::io;
use std::path::Path;

/// The bytes of a regular file. Others are an error: a FIFO may keep its reader waiting, and a device may have no end.
pub(crate) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file: name one, not a pipe or a device",
        ));
    }
    std::fs::read(path)
}

/// The text of a regular file.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    String::from_utf8(bytes(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
