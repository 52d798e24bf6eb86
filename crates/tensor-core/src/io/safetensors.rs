//! Safetensors files: named tensors behind a JSON header.
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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::atomic::{self, file_error};
use super::safetensors_header::{self, Header};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;

pub use super::safetensors_header::Info;

/// An open safetensors file. Its header has been checked; tensors are read from the mapped file when asked for, one at a time.
///
/// The file must not be truncated by another process while this lives; replacing it by a rename is safe.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    map: Mmap,
    header: Header,
}

impl File {
    /// Opens the file at `path` and checks its header: that it is whole, that every tensor's bytes are there, and that they
    /// neither overlap nor leave gaps.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`], or [`crate::ErrorKind::File`], saying what is wrong with which tensor.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref();
        let map = atomic::map(path, "safetensors::open")?;
        let header = Header::parse(&map).map_err(|what| file_error("safetensors::open", path, what))?;
        Ok(File { path: path.to_owned(), map, header })
    }

    /// The names of the tensors, in alphabetical order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.header.tensors.keys().map(String::as_str)
    }

    /// How many tensors there are.
    pub fn len(&self) -> usize {
        self.header.tensors.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The dtype and shape of a tensor, without reading it.
    pub fn info(&self, name: &str) -> Option<&Info> {
        self.header.tensors.get(name)
    }

    /// The free text that the file carries under `__metadata__`.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.header.metadata
    }

    /// Reads a tensor to `device`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::File`] if there is no tensor of that name, or it has a dtype that tensors do not have; or an error of the
    /// device.
    pub fn load(&self, name: &str, device: &Device) -> Result<Tensor> {
        let Some(info) = self.info(name) else {
            return Err(self.error(format!("there is no tensor {name:?} among its {}", self.len())));
        };
        let dtype = info.dtype.ok_or_else(|| {
            let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.safetensors_name()).collect();
            let (dtype, known) = (&info.dtype_name, known.join(" "));
            self.error(format!("tensor {name:?} has dtype {dtype}, which is not supported; {known} are"))
        })?;
        // The header's ranges were checked against the length of the map.
        Tensor::from_bytes(&self.map[info.range.clone()], dtype, info.shape.clone(), device)
    }

    /// Reads all tensors to `device`.
    ///
    /// # Errors
    /// As [`File::load`].
    pub fn load_all(&self, device: &Device) -> Result<BTreeMap<String, Tensor>> {
        self.names().map(|name| Ok((name.to_owned(), self.load(name, device)?))).collect()
    }

    fn error(&self, what: String) -> Error {
        file_error("safetensors::load", &self.path, what)
    }
}

/// Reads all tensors of the file at `path` to `device`.
///
/// # Errors
/// As [`File::open`] and [`File::load`].
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    File::open(path)?.load_all(device)
}

/// Writes named tensors, and free text under `__metadata__`, to the file at `path`, which is replaced as a whole or not at all.
/// Tensors are written one at a time.
///
/// # Errors
/// [`crate::ErrorKind::Argument`] for a name given twice or for `__metadata__`, [`crate::ErrorKind::Io`], or an error of a device.
pub fn write<'a, N: Into<String>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
    metadata: &BTreeMap<String, String>,
) -> Result<()> {
    let mut named: Vec<(String, &Tensor)> =
        tensors.into_iter().map(|(name, tensor)| (name.into(), tensor)).collect();
    // Large element types first, so that every tensor is aligned to its own.
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
