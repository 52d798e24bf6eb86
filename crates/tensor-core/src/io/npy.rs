//! NumPy's `.npy` files, with one array each.
//!
//! The reader is our own. The format is simple: a magic number, a length and one line of Python. Our reader explains
//! what is wrong with any damaged file, supports `f16`, and needs no other crate. It reads versions 1, 2 and 3, in C
//! and Fortran order, of either byte order. The writer writes version 1 (2 if the header needs it), in C order and
//! little-endian. NumPy has no `bf16` and no `f8e4m3`, and supports arrays of up to [`MAX_RANK`] axes.

use std::ops::Range;
use std::path::Path;

use super::npy_header::Header;
use super::source::Source;
use super::{atomic, file_error};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::upload::Upload;

/// The maximum rank that is read or written, which is NumPy's own.
pub const MAX_RANK: usize = 64;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The maximum length of magic number, version and header length.
const FIXED: usize = 12;
/// The longest header that is read. Headers of supported dtypes have a few hundred bytes.
const LONGEST: u64 = 1 << 20;

/// An array as stored in a file. Tensors need not support its dtype.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    /// NumPy's name of the dtype, with the byte order: "|b1", "<u2", ">c16".
    pub descr: String,
    /// The shape.
    pub shape: Shape,
    /// Whether elements are contiguous along the first axis (column-major) instead of the last.
    pub fortran_order: bool,
    /// The elements' bytes.
    pub bytes: Vec<u8>,
}

/// Reads the array in the file at `path` to `device`. An array in Fortran order becomes a transposed view.
///
/// A file that is truncated during the call is an error.
///
/// # Errors
/// [`ErrorKind::Io`]; [`ErrorKind::File`] with a reason if it is not a complete `.npy` file of a supported dtype; or an
/// error of the device.
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<Tensor> {
    let operation = "npy::read";
    read_from(Source::open(path, operation)?, operation, device)
}

/// [`read`] for `operation`, from an open file or from memory.
pub(super) fn read_from(source: Source, operation: &'static str, device: &Device) -> Result<Tensor> {
    let array = Array::of(source, operation)?;
    let dtype = array.header.descr.dtype().ok_or_else(|| array.error(array.header.descr.unsupported()))?;
    let size = dtype.size_in_bytes();
    let swapped = array.header.descr.is_big_endian() && size > 1;
    array.tensor(dtype, device, &|bytes| {
        if swapped {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
    })
}

/// The longest beginning of a file that its header may take.
pub(super) const LONGEST_HEAD: u64 = FIXED as u64 + LONGEST;

/// The bytes that a whole file has, according to the header in its beginning.
pub(super) fn whole_length(beginning: Source, operation: &'static str) -> Result<u64> {
    let array = Array::of(beginning, operation)?;
    Ok(array.start + array.needed()? as u64)
}

/// Reads an array of booleans (`b1`) to `device`, as `u8` 0 or 1.
///
/// # Errors
/// As [`read`], and [`ErrorKind::File`] if the array has another dtype.
pub fn read_bool(path: impl AsRef<Path>, device: &Device) -> Result<Tensor> {
    let array = Array::open(path.as_ref(), "npy::read_bool")?;
    if !array.header.descr.is_bool() {
        return Err(array.error(format!("its dtype is {:?}, not \"|b1\"", array.header.descr.0)));
    }
    array.tensor(DType::U8, device, &super::truth_values)
}

/// Reads the array in the file at `path` without conversion. For dtypes that tensors do not have, such as `b1`, `i1`,
/// `u2` and `u8`.
///
/// # Errors
/// [`ErrorKind::Io`]; [`ErrorKind::File`] with a reason if it is not a complete `.npy` file of fixed-size elements; or
/// [`ErrorKind::OutOfMemory`].
pub fn read_raw(path: impl AsRef<Path>) -> Result<Raw> {
    let array = Array::open(path.as_ref(), "npy::read_raw")?;
    let range = array.range()?;
    let bytes = array.source.bytes(range, array.operation)?.into_owned();
    let Header { descr, fortran_order, shape } = array.header;
    Ok(Raw { descr: descr.0, shape, fortran_order, bytes })
}

/// An open file and its parsed header.
struct Array {
    source: Source,
    operation: &'static str,
    header: Header,
    /// Offset of the elements.
    start: u64,
}

impl Array {
    fn open(path: &Path, operation: &'static str) -> Result<Array> {
        Array::of(Source::open(path, operation)?, operation)
    }

    fn of(source: Source, operation: &'static str) -> Result<Array> {
        let error = |what: String| source.error(operation, what);
        let mut fixed = [0; FIXED];
        let fixed = &mut fixed[..source.length().min(FIXED as u64) as usize];
        source.read(0, fixed, operation)?;
        let range = header_range(fixed, source.length()).map_err(error)?;
        let start = range.end;
        let text = source.bytes(range, operation)?.into_owned();
        let text = std::str::from_utf8(&text).map_err(|e| error(format!("the header is not text: {e}")))?;
        let header = Header::parse(text).map_err(error)?;
        Ok(Array { source, operation, header, start })
    }

    /// The bytes of the elements.
    fn needed(&self) -> Result<usize> {
        let Header { descr, shape, .. } = &self.header;
        let size = descr.size().ok_or_else(|| self.error(descr.unsupported()))?;
        let needed = shape.count().and_then(|count| count.checked_mul(size));
        needed.ok_or_else(|| self.error(format!("the shape {shape} is too large for the address space")))
    }

    /// The byte range of the elements. Checks that the file has exactly these bytes after the header.
    fn range(&self) -> Result<Range<u64>> {
        let Header { descr, shape, .. } = &self.header;
        let needed = self.needed()?;
        let (got, end) = (self.source.length() - self.start, self.source.length());
        if got != needed as u64 {
            let name = descr.dtype().map_or(&descr.0[..], |dtype| dtype.name());
            return Err(self.error(format!("{got} bytes of data, but {shape} of {name} needs {needed}")));
        }
        Ok(self.start..end)
    }

    /// Reads elements of the size of `dtype`, and applies `change` to their bytes.
    fn tensor(&self, dtype: DType, device: &Device, change: &dyn Fn(&mut [u8])) -> Result<Tensor> {
        let start = self.range()?.start;
        let shape = &self.header.shape;
        let read = |shape| {
            self.source.tensor(start, (dtype, shape), change, &mut Upload::plain(device), self.operation)
        };
        if !self.header.fortran_order {
            return read(shape.clone());
        }
        let axes: Vec<usize> = (0..shape.rank()).rev().collect();
        read(shape.iter().rev().copied().collect())?.permute(axes)
    }

    fn error(&self, what: String) -> Error {
        file_error(self.operation, self.source.path(), what)
    }
}

/// Writes `tensor` to the file at `path`, which is replaced completely or not at all. The new file keeps the old one's
/// permissions. Symbolic links are followed. Anything but a regular file, such as `/dev/stdout` to a pipe, is written
/// to directly.
///
/// # Errors
/// [`ErrorKind::UnsupportedDType`] for `bf16` and `f8e4m3`, [`ErrorKind::Rank`] for more than [`MAX_RANK`] axes,
/// [`ErrorKind::Io`], or an error of the device.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let Some(name) = tensor.dtype().npy_name() else {
        let kind = ErrorKind::UnsupportedDType {
            dtype: tensor.dtype(),
            shape: tensor.shape().clone(),
            remedy: "NumPy has no such type: cast it with to_dtype, or write a safetensors file",
        };
        return Err(Error::new("npy::write", kind));
    };
    if tensor.rank() > MAX_RANK {
        let kind =
            ErrorKind::Rank { shape: tensor.shape().clone(), expected: "at most 64, as NumPy's arrays have" };
        return Err(Error::new("npy::write", kind));
    }
    let order = if tensor.dtype().size_in_bytes() == 1 { '|' } else { '<' };
    let dims: Vec<String> = tensor.dims().iter().map(|length| format!("{length}, ")).collect();
    let dims = dims.concat();
    // Python writes a tuple of one with a trailing comma, other tuples without.
    let shape = if tensor.rank() == 1 { dims.trim_end() } else { dims.trim_end_matches(", ") };
    let header = format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({shape}), }}");
    let preamble = preamble(&header);
    let elements = tensor.to_cpu_storage()?;
    atomic::write(path.as_ref(), "npy::write", |put| {
        put(&preamble)?;
        put(elements.as_bytes())
    })
}

/// Magic number, version, length and header, padded so that the data start at a multiple of 64.
fn preamble(header: &str) -> Vec<u8> {
    let (version, length_bytes) = if header.len() + 64 < usize::from(u16::MAX) { (1, 2) } else { (2, 4) };
    let fixed = MAGIC.len() + 2 + length_bytes;
    let total = (fixed + header.len() + 1).next_multiple_of(64);
    let length = (total - fixed) as u32;
    let mut bytes = MAGIC.to_vec();
    bytes.extend([version, 0]);
    bytes.extend(&length.to_le_bytes()[..length_bytes]);
    bytes.extend(header.bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The range of the header's text in a file of `length` bytes. `fixed` is the first [`FIXED`] bytes, or all if the file
/// is shorter.
fn header_range(fixed: &[u8], length: u64) -> Result<Range<u64>, String> {
    let Some(rest) = fixed.strip_prefix(MAGIC) else {
        return Err("not an .npy file: it does not start with \\x93NUMPY".to_owned());
    };
    let Some(([major, minor], rest)) = rest.split_first_chunk::<2>() else {
        return Err("truncated: it ends before the version".to_owned());
    };
    let cut = || "truncated: it ends before the header's length".to_owned();
    let (text, start) = match major {
        1 => (u64::from(u16::from_le_bytes(*rest.first_chunk().ok_or_else(cut)?)), FIXED - 2),
        2 | 3 => (u64::from(u32::from_le_bytes(*rest.first_chunk().ok_or_else(cut)?)), FIXED),
        _ => return Err(format!("version {major}.{minor} is not known; 1, 2 and 3 are")),
    };
    let (start, left) = (start as u64, length - start as u64);
    if text > left {
        return Err(format!("truncated: the header has {text} bytes, {left} are left in the file"));
    }
    if text > LONGEST {
        return Err(format!("the header has {text} bytes, more than {LONGEST}"));
    }
    Ok(start..start + text)
}
