//! NumPy's `.npz` files: archives of `.npy` files, one for each named array.
//!
//! The crate `zip` reads the archive, whether its members are stored or deflated, and [`npy`](crate::npy) the arrays.
//!
//! ```no_run
//! use tensor_core::{Device, npz};
//!
//! # fn main() -> tensor_core::Result<()> {
//! for (name, tensor) in npz::read("weights.npz", &Device::Cpu)? {
//!     println!("{name}: {}", tensor.shape());
//! }
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::io::{ErrorKind as Io, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use super::source::{self, Source};
use super::{file_error, io_error, npy};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

const OPEN: &str = "npz::open";
const LOAD: &str = "npz::load";
/// What NumPy appends to the names of arrays.
const SUFFIX: &str = ".npy";

/// An open `.npz` file. Arrays are read when they are asked for.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    archive: ZipArchive<std::fs::File>,
}

impl File {
    /// Opens the file at `path` and reads its list of arrays.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io), or [`ErrorKind::File`](crate::ErrorKind::File) if it is no archive.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref().to_owned();
        let (file, _) = source::open(&path, OPEN)?;
        let archive = ZipArchive::new(file).map_err(|error| failed(OPEN, &path, error))?;
        Ok(File { path, archive })
    }

    /// The names of the arrays, without `.npy`, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.archive.file_names().filter_map(|name| name.strip_suffix(SUFFIX))
    }

    /// Reads the array of that name to `device`. Its bytes are in host memory meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::File`](crate::ErrorKind::File) if there is no such array, it is damaged, or its dtype is not supported;
    /// [`ErrorKind::Io`](crate::ErrorKind::Io); or an error of the device.
    pub fn load(&mut self, name: &str, device: &Device) -> Result<Tensor> {
        let member = format!("{name}{SUFFIX}");
        let path = self.path.join(&member);
        let Some(index) = self.archive.index_for_name(&member) else {
            let what = format!("there is no array {name:?} among its {}", self.names().count());
            return Err(file_error(LOAD, &self.path, what));
        };
        let mut file = self.archive.by_index(index).map_err(|error| failed(LOAD, &path, error))?;
        let broken = |error| failed(LOAD, &path, ZipError::Io(error));
        let mut bytes = Vec::new();
        file.by_ref().take(npy::LONGEST_HEAD).read_to_end(&mut bytes).map_err(broken)?;
        // Little compressed data can be very much: no more of it is taken than the header asks for, and a byte that is too many.
        if bytes.len() as u64 == npy::LONGEST_HEAD {
            let beginning = Source::named_bytes(path.clone(), bytes.clone());
            let left = npy::whole_length(beginning, LOAD)?.saturating_sub(npy::LONGEST_HEAD);
            let reserved = usize::try_from(left).is_ok_and(|left| bytes.try_reserve_exact(left).is_ok());
            if !reserved {
                return Err(file_error(LOAD, &path, format!("there is no host memory for {left} bytes")));
            }
            file.take(left + 1).read_to_end(&mut bytes).map_err(broken)?;
        }
        npy::read_from(Source::named_bytes(path, bytes), LOAD, device)
    }
}

/// Reads all arrays of the file at `path` to `device`.
///
/// # Errors
/// As [`File::open`] and [`File::load`].
#[doc(alias = "read_npz")]
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    let mut file = File::open(path)?;
    let names: Vec<String> = file.names().map(str::to_owned).collect();
    let load = |name: String| file.load(&name, device).map(|tensor| (name, tensor));
    names.into_iter().map(load).collect()
}

/// An error of the archive at `path`, or of its member there. Damage that shows while bytes are read is reported like any
/// other.
fn failed(operation: &'static str, path: &Path, error: ZipError) -> Error {
    match error {
        ZipError::Io(error)
            if !matches!(error.kind(), Io::InvalidData | Io::InvalidInput | Io::UnexpectedEof) =>
        {
            io_error(operation, path, error)
        }
        ZipError::Io(error) => file_error(operation, path, format!("damaged: {error}")),
        error => file_error(operation, path, format!("not read as an archive: {error}")),
    }
}
