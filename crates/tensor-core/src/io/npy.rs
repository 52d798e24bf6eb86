//! NumPy's `.npy` files: one array each.
//!
//! The reader is our own: the format is a magic number, a length and one line of Python, and a reader of that size can refuse
//! every damaged file with a reason, knows `f16`, and needs no other crate. Versions 1, 2 and 3 are read, in C and
//! Fortran order, of either byte order; version 1 is written (2 if the header needs it), in C order and little-endian. NumPy has no `bf16`
//! and no `f8e4m3`.

use std::path::Path;

use super::atomic::{self, file_error};
use super::npy_header::Header;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::tensor::Tensor;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads the array in the file at `path` to `device`. An array in Fortran order becomes a transposed view.
///
/// The file is mapped; it must not be truncated while it is read.
///
/// # Errors
/// [`ErrorKind::Io`]; [`ErrorKind::File`], saying what, if it is no whole `.npy` file of a dtype that tensors have; or an
/// error of the device.
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<Tensor> {
    let path = path.as_ref();
    let map = atomic::map(path, "npy::read")?;
    let error = |what: String| file_error("npy::read", path, what);
    let (header, data) = split(&map).map_err(error)?;
    let header = Header::parse(header).map_err(error)?;
    let size = header.dtype.size_in_bytes();
    let needed = header.shape.count().and_then(|count| count.checked_mul(size));
    let Some(needed) = needed else {
        return Err(error(format!("the shape {} is too large for the address space", header.shape)));
    };
    if data.len() != needed {
        let what =
            format!("{} bytes of data, but {} of {} needs {needed}", data.len(), header.shape, header.dtype);
        return Err(error(what));
    }
    let swapped;
    let data = if header.big_endian {
        swapped =
            data.chunks_exact(size).flat_map(|element| element.iter().rev()).copied().collect::<Vec<u8>>();
        &swapped[..]
    } else {
        data
    };
    if !header.fortran_order {
        return Tensor::from_bytes(data, header.dtype, header.shape, device);
    }
    let reversed: Vec<usize> = header.shape.iter().rev().copied().collect();
    let axes: Vec<usize> = (0..reversed.len()).rev().collect();
    Tensor::from_bytes(data, header.dtype, reversed, device)?.permute(axes)
}

/// Writes `tensor` to the file at `path`, which is replaced as a whole or not at all.
///
/// # Errors
/// [`ErrorKind::UnsupportedDType`] for `bf16` and `f8e4m3`, [`ErrorKind::Io`], or an error of the device.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let Some(name) = tensor.dtype().npy_name() else {
        let kind = ErrorKind::UnsupportedDType {
            dtype: tensor.dtype(),
            shape: tensor.shape().clone(),
            remedy: "NumPy has no such type: cast it with to_dtype, or write a safetensors file",
        };
        return Err(Error::new("npy::write", kind));
    };
    let order = if tensor.dtype().size_in_bytes() == 1 { '|' } else { '<' };
    let dims: Vec<String> = tensor.dims().iter().map(|length| format!("{length}, ")).collect();
    let dims = dims.concat();
    // A tuple of one keeps its comma, others lose it.
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

/// The header's text and the data behind it.
fn split(file: &[u8]) -> Result<(&str, &[u8]), String> {
    let Some(rest) = file.strip_prefix(MAGIC) else {
        return Err("not an .npy file: it does not start with \\x93NUMPY".to_owned());
    };
    let Some(([major, minor], rest)) = rest.split_first_chunk::<2>() else {
        return Err("truncated: it ends before the version".to_owned());
    };
    let cut = || "truncated: it ends before the header's length".to_owned();
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => return Err(format!("version {major}.{minor} is not known; 1, 2 and 3 are")),
    };
    let Some((header, data)) = rest.split_at_checked(length) else {
        return Err(format!("truncated: the header has {length} bytes, {} are left in the file", rest.len()));
    };
    match std::str::from_utf8(header) {
        Ok(header) => Ok((header, data)),
        Err(error) => Err(format!("the header is not text: {error}")),
    }
}
