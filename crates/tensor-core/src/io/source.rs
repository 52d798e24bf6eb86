//! A file that tensors are read from, either by position or memory-mapped.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind as Io};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::{file_error, io_error};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{On, Result};
use crate::memory::zero_bytes;
use crate::shape::Shape;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// An open regular file, and its length when it was opened. Callers check ranges against this length.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    length: u64,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    /// Reads by position. If the file changes meanwhile, a read returns bytes or an error.
    At(File),
    Mapped(Mmap),
}

impl Source {
    /// Opens the file at `path`, to be read by position.
    pub(super) fn open(path: &Path, operation: &'static str) -> Result<Source> {
        let (file, length) = open(path, operation)?;
        Ok(Source { path: path.to_owned(), length, bytes: Bytes::At(file) })
    }

    /// Maps the file at `path`.
    ///
    /// # Safety
    /// Until the source is dropped nobody, in this process or another, truncates the file or writes to it in place.
    pub(super) unsafe fn map(path: &Path, operation: &'static str) -> Result<Source> {
        let (file, _) = open(path, operation)?;
        // SAFETY: S13: the map is read-only, and the caller vouches for the file.
        let map = unsafe { Mmap::map(&file) }.map_err(|source| io_error(operation, path, source))?;
        Ok(Source { path: path.to_owned(), length: map.len() as u64, bytes: Bytes::Mapped(map) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file's length when it was opened.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Fills `out` with the file's bytes from `start` on.
    pub(super) fn read(&self, start: u64, out: &mut [u8], operation: &'static str) -> Result<()> {
        let read = match &self.bytes {
            Bytes::At(file) => read_exact_at(file, out, start),
            Bytes::Mapped(map) => {
                let there = usize::try_from(start).ok().and_then(|start| map.get(start..)?.get(..out.len()));
                there.map(|bytes| out.copy_from_slice(bytes)).ok_or_else(|| Io::UnexpectedEof.into())
            }
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

    /// The bytes of a range: borrowed if the file is mapped, else read.
    pub(super) fn bytes(&self, range: Range<u64>, operation: &'static str) -> Result<Cow<'_, [u8]>> {
        if let Bytes::Mapped(map) = &self.bytes {
            // The range lies in the map, whose length is a `usize`.
            return Ok(Cow::Borrowed(&map[range.start as usize..range.end as usize]));
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
        device: &Device,
        operation: &'static str,
    ) -> Result<Tensor> {
        let count = shape.elements(operation).on(device)?;
        let storage = Storage::filled(device, dtype, count, operation, &mut |first, piece| {
            self.read(start + first as u64, piece, operation)?;
            change(piece);
            Ok(())
        })?;
        Tensor::tight(storage, shape, operation)
    }
}

/// Opens a regular file only. Opening other files may block (a FIFO) or have side effects (a device).
fn open(path: &Path, operation: &'static str) -> Result<(File, u64)> {
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
