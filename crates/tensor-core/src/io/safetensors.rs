//! Safetensors files: a JSON header, followed by the data of named tensors.
//!
//! ```
//! use std::collections::BTreeMap;
//! use tensor_core::{Device, Tensor, safetensors};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("model.safetensors");
//! let bias = Tensor::new([1f32, 2.0, 3.0], &Device::Cpu)?;
//! safetensors::write(&path, [("bias", &bias)], &BTreeMap::new())?;
//!
//! let file = safetensors::File::open(&path)?;
//! assert_eq!(file.names().collect::<Vec<_>>(), ["bias"]);
//! assert_eq!(file.load("bias", &Device::Cpu)?.to_vec1::<f32>()?, [1.0, 2.0, 3.0]);
//! # Ok(())
//! # }
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use super::safetensors_header::{self, FIXED, Header};
use super::source::Source;
use super::{atomic, file_error};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::upload::Upload;

pub use super::safetensors_header::Info;

const OPEN: &str = "safetensors::open";
const LOAD: &str = "safetensors::load";
/// The dtype name of booleans.
const BOOL: &str = "BOOL";

/// An open safetensors file with a checked header. Tensors are read one at a time when asked for, directly to their
/// destination.
///
/// A read from a truncated file is an error. In-place writes to the file are visible to later reads. Replacing the file
/// by a rename has no effect on an open `File`.
#[derive(Debug)]
pub struct File {
    source: Source,
    header: Header,
}

/// The result of [`File::load_all`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The tensors by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// Tensors skipped because their dtype is not supported, such as `I8` and `BOOL`. [`File::bytes`] reads them.
    pub left_out: BTreeMap<String, Info>,
}

impl File {
    /// Opens the file at `path` and checks its header: the file must be complete, and the tensors' bytes must cover the
    /// data without overlaps or gaps.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`], or [`crate::ErrorKind::File`] that names the tensor and what is wrong with it.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        File::of(Source::open(path.as_ref(), OPEN)?)
    }

    /// As [`File::open`], but maps the file, so that [`File::bytes`] does not copy. Loading is not faster.
    ///
    /// # Safety
    /// Until this is dropped nobody, in this process or another, truncates the file or writes to it in place. A read
    /// past its new end would kill the process, and bytes that change while they are borrowed are a data race.
    /// Replacing the file by a rename is fine.
    ///
    /// # Errors
    /// As [`File::open`].
    #[doc(alias = "mmap")]
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<File> {
        // SAFETY: S13: the caller's promise.
        File::of(unsafe { Source::map(path.as_ref(), OPEN) }?)
    }

    /// As [`File::open`], of the bytes of a file in memory.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<File> {
        File::of(Source::from_bytes(bytes))
    }

    fn of(source: Source) -> Result<File> {
        let length = source.length();
        let error = |what: String| file_error(OPEN, source.path(), what);
        let mut fixed = [0; FIXED];
        let fixed = &mut fixed[..length.min(FIXED as u64) as usize];
        source.read(0, fixed, OPEN)?;
        let json = FIXED as u64..FIXED as u64 + Header::length(fixed, length).map_err(error)?;
        let data_length = length - json.end;
        let header = Header::parse(&source.bytes(json, OPEN)?, data_length).map_err(error)?;
        Ok(File { source, header })
    }

    /// The names of the tensors, in alphabetical order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.header.tensors.keys().map(String::as_str)
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.header.tensors.len()
    }

    /// Whether the file has no tensors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The dtype and shape of a tensor, without reading it.
    pub fn info(&self, name: &str) -> Option<&Info> {
        self.header.tensors.get(name)
    }

    /// The file's metadata, stored as `__metadata__`.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.header.metadata
    }

    /// Reads a tensor to `device`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::File`] if there is no tensor of that name or its dtype is not supported; or an error of the
    /// device.
    pub fn load(&self, name: &str, device: &Device) -> Result<Tensor> {
        self.load_by(name, &mut Upload::plain(device))
    }

    /// As [`File::load`], to the device of `upload` and by its memory and stream.
    ///
    /// # Errors
    /// As [`File::load`].
    pub fn load_by(&self, name: &str, upload: &mut Upload) -> Result<Tensor> {
        let info = self.named(name)?;
        let dtype = info.dtype.ok_or_else(|| {
            let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.safetensors_name()).collect();
            let (dtype, known) = (&info.dtype_name, known.join(" "));
            let bool = if dtype == BOOL { "File::load_bool reads it as u8, " } else { "" };
            self.error(format!(
                "tensor {name:?} has dtype {dtype}, which is not supported; {known} are: {bool}File::bytes gives its bytes"
            ))
        })?;
        self.tensor(info, dtype, &|_| (), upload)
    }

    /// Reads a tensor of booleans (`BOOL`) to `device`, as `u8` 0 or 1.
    ///
    /// # Errors
    /// As [`File::load`], and [`crate::ErrorKind::File`] if the tensor has another dtype.
    pub fn load_bool(&self, name: &str, device: &Device) -> Result<Tensor> {
        let info = self.named(name)?;
        if info.dtype_name != BOOL {
            return Err(self.error(format!("tensor {name:?} has dtype {}, not {BOOL}", info.dtype_name)));
        }
        self.tensor(info, DType::U8, &super::truth_values, &mut Upload::plain(device))
    }

    /// The bytes of a tensor of any dtype, as stored in the file: little-endian, row-major. [`File::info`] has its
    /// dtype's name and shape. The bytes are borrowed if the file is mapped, else read.
    ///
    /// # Errors
    /// [`crate::ErrorKind::File`] if there is no tensor of that name, or the file was truncated;
    /// [`crate::ErrorKind::Io`]; [`crate::ErrorKind::OutOfMemory`].
    pub fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>> {
        self.source.bytes(self.named(name)?.range.clone(), "safetensors::bytes")
    }

    /// Reads all tensors to `device`. Those of an unsupported dtype are skipped and listed in the result.
    ///
    /// # Errors
    /// As [`File::load`].
    pub fn load_all(&self, device: &Device) -> Result<Loaded> {
        let mut loaded = Loaded { tensors: BTreeMap::new(), left_out: BTreeMap::new() };
        for (name, info) in &self.header.tensors {
            if info.dtype.is_some() {
                loaded.tensors.insert(name.clone(), self.load(name, device)?);
            } else {
                loaded.left_out.insert(name.clone(), info.clone());
            }
        }
        Ok(loaded)
    }

    /// The header's entry of a tensor.
    fn named(&self, name: &str) -> Result<&Info> {
        let missing = || self.error(format!("there is no tensor {name:?} among its {}", self.len()));
        self.info(name).ok_or_else(missing)
    }

    /// Reads a tensor's elements, of the size of `dtype`, and applies `change` to their bytes.
    fn tensor(
        &self,
        info: &Info,
        dtype: DType,
        change: &dyn Fn(&mut [u8]),
        upload: &mut Upload,
    ) -> Result<Tensor> {
        // The header's ranges were checked against the file's length, dtypes and shapes.
        self.source.tensor(info.range.start, (dtype, info.shape.clone()), change, upload, LOAD)
    }

    fn error(&self, what: String) -> Error {
        file_error(LOAD, self.source.path(), what)
    }
}

/// Reads all tensors of the file at `path` to `device`. Those of an unsupported dtype are skipped and listed in the
/// result.
///
/// # Errors
/// As [`File::open`] and [`File::load`].
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<Loaded> {
    File::open(path)?.load_all(device)
}

/// Writes named tensors, and `metadata` as `__metadata__`, to the file at `path`, which is replaced completely or not
/// at all. Tensors are written one at a time. The new file keeps the old one's permissions. Symbolic links are
/// followed. Anything but a regular file, such as a FIFO, is written to directly.
///
/// # Errors
/// [`crate::ErrorKind::Argument`] if a name is given twice or is `__metadata__`, [`crate::ErrorKind::Io`], or an error
/// of a device.
pub fn write<'a, N: Into<String>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
    metadata: &BTreeMap<String, String>,
) -> Result<()> {
    let mut named: Vec<(String, &Tensor)> =
        tensors.into_iter().map(|(name, tensor)| (name.into(), tensor)).collect();
    // Large element types first, which aligns every tensor to its element size.
    let size = |tensor: &Tensor| tensor.dtype().size_in_bytes();
    named.sort_by(|a, b| size(b.1).cmp(&size(a.1)).then_with(|| a.0.cmp(&b.0)));
    let listed: Vec<(&str, DType, &Shape)> =
        named.iter().map(|(name, tensor)| (name.as_str(), tensor.dtype(), tensor.shape())).collect();
    let header = safetensors_header::encode(&listed, metadata)?;
    atomic::write(path.as_ref(), "safetensors::write", |put| {
        put(&header)?;
        named.iter().try_for_each(|(_, tensor)| put(tensor.to_cpu_storage()?.as_bytes()))
    })
}
