//! What tensors are read from: a file, by position or memory-mapped; the parts of one; or bytes in memory.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind as Io};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::{file_error, io_error};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::memory::zero_bytes;
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::upload::Upload;

/// An open regular file, and its length when it was opened. Readers of formats check ranges against this length.
///
/// Bytes in memory, and a file that was cut into parts, are read in the same way. `operation` is what errors begin with,
/// such as "safetensors::open".
///
/// ```
/// use tensor_core::file::Source;
///
/// # fn main() -> tensor_core::Result<()> {
/// let source = Source::from_bytes(vec![1, 2, 3, 4]);
/// let mut two = [0; 2];
/// source.read(1, &mut two, "example")?;
/// assert_eq!((source.length(), two), (4, [2, 3]));
/// # Ok(())
/// # }
/// ```
pub struct Source {
    path: PathBuf,
    length: u64,
    bytes: Bytes,
}

enum Bytes {
    /// Reads by position. If the file changes meanwhile, a read returns bytes or an error.
    At(File),
    /// The files whose bytes follow each other, each with the offset that it ends at.
    Parts(Vec<(File, u64)>),
    Mapped(Mmap),
    Memory(Vec<u8>),
}

impl Source {
    /// Opens the file at `path`, to be read by position.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io), or [`ErrorKind::File`](crate::ErrorKind::File) if it is no regular file.
    pub fn open(path: impl AsRef<Path>, operation: &'static str) -> Result<Source> {
        let path = path.as_ref();
        let (file, length) = open(path, operation)?;
        Ok(Source { path: path.to_owned(), length, bytes: Bytes::At(file) })
    }

    /// Opens a file that was cut into parts, which are given in their order. Errors name the first part.
    ///
    /// # Errors
    /// As [`Source::open`], for any part; [`ErrorKind::Argument`](crate::ErrorKind::Argument) for no parts.
    pub fn open_parts<P: AsRef<Path>>(paths: &[P], operation: &'static str) -> Result<Source> {
        let Some(first) = paths.first() else {
            let what = "a file of no parts cannot be opened".to_owned();
            return Err(Error::new(operation, crate::ErrorKind::Argument { what }));
        };
        let mut length = 0u64;
        let mut parts = Vec::new();
        for path in paths {
            let (file, bytes) = open(path.as_ref(), operation)?;
            let end = length.checked_add(bytes);
            length = end.ok_or_else(|| file_error(operation, path.as_ref(), "the parts are too long"))?;
            parts.push((file, length));
        }
        Ok(Source { path: first.as_ref().to_owned(), length, bytes: Bytes::Parts(parts) })
    }

    /// Bytes in memory. Errors call them "bytes in memory" in place of a path.
    pub fn from_bytes(bytes: Vec<u8>) -> Source {
        Source::named_bytes("bytes in memory".into(), bytes)
    }

    /// As [`Source::from_bytes`]; errors name `path`.
    pub(super) fn named_bytes(path: PathBuf, bytes: Vec<u8>) -> Source {
        Source { path, length: bytes.len() as u64, bytes: Bytes::Memory(bytes) }
    }

    /// Maps the file at `path`.
    ///
    /// # Safety
    /// Until the source is dropped nobody, in this process or another, truncates the file or writes to it in place.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub unsafe fn map(path: impl AsRef<Path>, operation: &'static str) -> Result<Source> {
        let path = path.as_ref();
        let (file, _) = open(path, operation)?;
        // SAFETY: S13: the map is read-only, and the caller vouches for the file.
        let map = unsafe { Mmap::map(&file) }.map_err(|source| io_error(operation, path, source))?;
        Ok(Source { path: path.to_owned(), length: map.len() as u64, bytes: Bytes::Mapped(map) })
    }

    /// The path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length in bytes when it was opened; of all parts together.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// An error in the content, which names the file.
    pub fn error(&self, operation: &'static str, what: impl Into<String>) -> Error {
        file_error(operation, &self.path, what)
    }

    /// Fills `out` with the file's bytes from `start` on.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io), or [`ErrorKind::File`](crate::ErrorKind::File) if the file ends before.
    pub fn read(&self, start: u64, out: &mut [u8], operation: &'static str) -> Result<()> {
        let read = match &self.bytes {
            Bytes::At(file) => read_exact_at(file, out, start),
            Bytes::Parts(parts) => read_parts(parts, out, start),
            Bytes::Mapped(map) => copy_out(map, out, start),
            Bytes::Memory(bytes) => copy_out(bytes, out, start),
        };
        read.map_err(|source| match source.kind() {
            Io::UnexpectedEof => {
                let end = start.saturating_add(out.len() as u64);
                let what = format!(
                    "it was cut short while it was open: it had {} bytes, and bytes {start}..{end} are not there",
                    self.length
                );
                file_error(operation, &self.path, what)
            }
            _ => io_error(operation, &self.path, source),
        })
    }

    /// The bytes of a range, which lies within [`Source::length`]: borrowed if the file is mapped or in memory, else
    /// read.
    ///
    /// # Errors
    /// As [`Source::read`]; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory);
    /// [`ErrorKind::File`](crate::ErrorKind::File) if the range does not lie within the file.
    pub fn bytes(&self, range: Range<u64>, operation: &'static str) -> Result<Cow<'_, [u8]>> {
        if range.start > range.end || range.end > self.length {
            let what = format!("it has {} bytes, and bytes {range:?} were asked for", self.length);
            return Err(self.error(operation, what));
        }
        // The range lies in the memory, whose length is a `usize`.
        let index = range.start as usize..range.end as usize;
        match &self.bytes {
            Bytes::Mapped(map) => return Ok(Cow::Borrowed(&map[index])),
            Bytes::Memory(bytes) => return Ok(Cow::Borrowed(&bytes[index])),
            Bytes::At(_) | Bytes::Parts(_) => {}
        }
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut bytes = zero_bytes(length, operation)?;
        self.read(range.start, &mut bytes, operation)?;
        Ok(Cow::Owned(bytes))
    }

    /// A tensor of the bytes from `start` on. `change` is applied to all bytes, in pieces of whole elements.
    pub(super) fn tensor(
        &self,
        start: u64,
        (dtype, shape): (DType, Shape),
        change: &dyn Fn(&mut [u8]),
        upload: &mut Upload,
        operation: &'static str,
    ) -> Result<Tensor> {
        upload.fill(dtype, shape, operation, &mut |first, piece| {
            self.read(start + first as u64, piece, operation)?;
            change(piece);
            Ok(())
        })
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({}, {} bytes)", self.path.display(), self.length)
    }
}

fn copy_out(bytes: &[u8], out: &mut [u8], start: u64) -> io::Result<()> {
    let there = usize::try_from(start).ok().and_then(|start| bytes.get(start..)?.get(..out.len()));
    there.map(|bytes| out.copy_from_slice(bytes)).ok_or_else(|| Io::UnexpectedEof.into())
}

/// Reads from each part what lies in it.
fn read_parts(parts: &[(File, u64)], mut out: &mut [u8], mut start: u64) -> io::Result<()> {
    let mut first = 0;
    for (file, end) in parts {
        if start < *end && !out.is_empty() {
            let here = usize::try_from(end - start).unwrap_or(usize::MAX).min(out.len());
            let (now, later) = out.split_at_mut(here);
            read_exact_at(file, now, start - first)?;
            (out, start) = (later, *end);
        }
        first = *end;
    }
    if out.is_empty() { Ok(()) } else { Err(Io::UnexpectedEof.into()) }
}

/// Opens a regular file only. Opening other files may block (a FIFO) or have side effects (a device).
pub(super) fn open(path: &Path, operation: &'static str) -> Result<(File, u64)> {
    let failed = |source: io::Error| io_error(operation, path, source);
    let regular = |metadata: std::fs::Metadata| {
        metadata
            .is_file()
            .then_some(metadata.len())
            .ok_or_else(|| file_error(operation, path, "is not a regular file"))
    };
    regular(std::fs::metadata(path).map_err(failed)?)?;
    let mut options = File::options();
    options.read(true);
    // The file may have been replaced by a FIFO since. Opening that must not block.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = options.open(path).map_err(failed)?;
    let length = regular(file.metadata().map_err(failed)?)?;
    Ok((file, length))
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, start)
}

#[cfg(not(unix))]
fn read_exact_at(mut file: &File, out: &mut [u8], start: u64) -> io::Result<()> {
    // Seeking and reading are two calls.
    static ONE: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
    let _one = ONE.lock();
    io::Seek::seek(&mut file, io::SeekFrom::Start(start))?;
    io::Read::read_exact(&mut file, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn mapped_or_not_the_bytes_are_the_same() {
        let file = file(&[1, 2, 3, 4, 5]);
        let at = Source::open(file.path(), "test").unwrap();
        // SAFETY: S13: nobody else knows of the file.
        let mapped = unsafe { Source::map(file.path(), "test") }.unwrap();
        for source in [&at, &mapped] {
            assert_eq!((source.length(), source.path()), (5, file.path()));
            assert_eq!(source.bytes(1..4, "test").unwrap()[..], [2, 3, 4]);
            assert!(source.bytes(5..5, "test").unwrap().is_empty());
            let mut out = [0; 3];
            source.read(2, &mut out, "test").unwrap();
            assert_eq!(out, [3, 4, 5]);
            assert!(source.read(3, &mut out, "test").unwrap_err().to_string().contains("bytes 3..6 are not"));
            assert!(source.read(u64::MAX, &mut out, "test").is_err());
        }
        assert!(matches!(at.bytes(1..2, "test"), Ok(Cow::Owned(_))));
        assert!(matches!(mapped.bytes(1..2, "test"), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn parts_are_read_as_one_file() {
        let files = [&[1u8, 2, 3][..], &[], &[4], &[5, 6]].map(file);
        let paths = files.each_ref().map(|file| file.path());
        let parts = Source::open_parts(&paths, "test").unwrap();
        assert_eq!((parts.length(), parts.path()), (6, paths[0]));
        let whole = [1, 2, 3, 4, 5, 6];
        for start in 0..=6 {
            for end in start..=6 {
                let bytes = parts.bytes(start as u64..end as u64, "test").unwrap();
                assert_eq!(bytes[..], whole[start..end], "{start}..{end}");
            }
        }
        assert!(parts.read(5, &mut [0; 2], "test").is_err());
        assert!(parts.read(u64::MAX, &mut [0; 2], "test").is_err());
        assert!(Source::open_parts::<&Path>(&[], "test").unwrap_err().to_string().contains("no parts"));
    }

    #[test]
    fn bytes_in_memory_are_read_as_a_file() {
        let memory = Source::from_bytes(vec![1, 2, 3]);
        assert!(matches!(memory.bytes(1..3, "test"), Ok(Cow::Borrowed([2, 3]))));
        let error = memory.bytes(1..4, "test").unwrap_err().to_string();
        assert_eq!(error, "test: bytes in memory: it has 3 bytes, and bytes 1..4 were asked for");
        assert!(memory.read(2, &mut [0; 2], "test").is_err());
    }

    #[test]
    fn a_file_that_is_cut_short_meanwhile_is_an_error() {
        let file = file(&[7; 9000]);
        let source = Source::open(file.path(), "test").unwrap();
        file.as_file().set_len(5000).unwrap();
        assert_eq!(source.bytes(4000..5000, "test").unwrap().len(), 1000);
        let expected = format!(
            "test: {}: it was cut short while it was open: it had 9000 bytes, and bytes 4000..5001 are not there",
            file.path().display()
        );
        assert_eq!(source.bytes(4000..5001, "test").unwrap_err().to_string(), expected);
    }
}
