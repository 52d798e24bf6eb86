//! Compressed bundles ("CCOB"): a header, and a bundle in zlib's or Zstandard's format.
//!
//! The header has grown twice. After the four magic bytes it has, all little-endian: the version and the
//! method, 2 bytes each; from version 2 on the length of the file; the decompressed length; a checksum.
//! Lengths have 4 bytes, and 8 from version 3 on. The checksum is the first half of the MD5 of the
//! decompressed bytes.

use crate::{Error, Reader, part};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

const MAGIC: &[u8] = b"CCOB";

/// The limit on the decompressed size of a bundle: 2 GiB.
pub const MAX_UNCOMPRESSED: u64 = 1 << 31;

/// The compression method of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// DEFLATE in zlib's format.
    Zlib,
    /// Zstandard.
    Zstd,
}

impl Method {
    /// The largest number of output bytes per input byte. DEFLATE's longest matches take two bits. A block of
    /// Zstandard has at most 128 KiB and takes at least 4 bytes.
    fn most_per_byte(self) -> u64 {
        match self {
            Self::Zlib => 1032,
            Self::Zstd => 32 << 10,
        }
    }
}

pub(crate) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The parsed header.
struct Header<'a> {
    method: Method,
    length: u64,
    sum: u64,
    data: &'a [u8],
}

/// Decompresses a bundle.
pub(crate) fn decompress(bytes: &[u8]) -> Result<(Method, Vec<u8>), Error> {
    let Header { method, length, sum, data } = read_header(bytes)?;
    if length > MAX_UNCOMPRESSED {
        return Err(Error::TooLarge { bytes: length, limit: MAX_UNCOMPRESSED });
    }
    if length > (data.len() as u64).saturating_mul(method.most_per_byte()) {
        return refuse(format!("{} bytes cannot hold the {length} that it names", data.len()));
    }
    let found = without_panics(|| match method {
        Method::Zlib => inflate(data, length),
        Method::Zstd => zstd(data, length),
    })?;
    if found.len() as u64 != length {
        return refuse(format!("it holds {} bytes and names {length}", found.len()));
    }
    let digest = md5::compute(&found);
    if Reader::new(&digest.0, 0).number::<8>() != Ok(sum) {
        return refuse("its contents are damaged: the sum is another".into());
    }
    Ok((method, found))
}

fn read_header(bytes: &[u8]) -> Result<Header<'_>, Error> {
    let mut reader = Reader::new(bytes, MAGIC.len());
    let mut short = || reader.number::<2>().map_err(Error::compressed);
    let (version, method) = (short()?, short()?);
    let method = match method {
        0 => Method::Zlib,
        1 => Method::Zstd,
        other => return refuse(format!("its method {other} is not known")),
    };
    let mut length = |has_8_bytes: bool| {
        let read = if has_8_bytes { reader.number::<8>() } else { reader.number::<4>() };
        read.map_err(Error::compressed)
    };
    let (total, length) = match version {
        1 => (bytes.len() as u64, length(false)?),
        2 => (length(false)?, length(false)?),
        3 => (length(true)?, length(true)?),
        other => return refuse(format!("its version {other} is not known; build it without compression")),
    };
    let sum = reader.number::<8>().map_err(Error::compressed)?;
    let start = reader.position() as u64;
    let Some(size) = total.checked_sub(start) else {
        return refuse(format!("it names {total} bytes, which are fewer than its header has"));
    };
    Ok(Header { method, length, sum, data: part(bytes, start, size).map_err(Error::compressed)? })
}

/// The data may be untrusted: if a decoder panics, that becomes an error too.
///
/// The panic hook runs all the same. A program built with `panic = "abort"` ends.
fn without_panics<T>(decode: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| refuse("its decoder gave up on what is in it".into()))
}

fn inflate(data: &[u8], length: u64) -> Result<Vec<u8>, Error> {
    let mut found = buffer_of(length)?;
    found.resize(length as usize, 0);
    let written =
        miniz_oxide::inflate::decompress_slice_iter_to_slice(&mut found, std::iter::once(data), true, false)
            .map_err(|status| Error::Compressed(format!("its zlib data: {status:?}")))?;
    found.truncate(written);
    Ok(found)
}

fn zstd(mut data: &[u8], length: u64) -> Result<Vec<u8>, Error> {
    let words = |e: String| Error::Compressed(format!("its Zstandard data: {e}"));
    // A decoder must support windows of 8 MiB. A window larger than the contents is never needed.
    let window = length.max(8 << 20);
    let decoder = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(&mut data, window)
        .map_err(|e| words(e.to_string()))?;
    let mut found = buffer_of(length)?;
    decoder.take(length + 1).read_to_end(&mut found).map_err(|e| words(e.to_string()))?;
    Ok(found)
}

/// Allocates a buffer for that many bytes, without aborting if memory runs out.
fn buffer_of(length: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let reserved = usize::try_from(length).map(|length| bytes.try_reserve_exact(length));
    match reserved {
        Ok(Ok(())) => Ok(bytes),
        _ => refuse(format!("there is no memory for the {length} bytes that it names")),
    }
}

fn refuse<T>(reason: String) -> Result<T, Error> {
    Err(Error::Compressed(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_that_panics_is_an_error() {
        assert_eq!(without_panics(|| Ok(1)), Ok(1));
        let text = without_panics::<()>(|| panic!("a block of a kind that does not exist"))
            .expect_err("it gave up")
            .to_string();
        assert_eq!(text, "the bundle cannot be decompressed: its decoder gave up on what is in it");
    }
}
