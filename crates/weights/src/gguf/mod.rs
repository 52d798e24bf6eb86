//! GGUF files: named values, and named tensors of ggml's formats. Versions 2 and 3 are read, version 3 is written.
//!
//! ```
//! use tensor_core::{DType, Device, Tensor};
//! use weights::gguf::{self, Metadata};
//! use weights::Weight;
//!
//! # fn main() -> tensor_core::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("model.gguf");
//! let metadata: Metadata = [("general.architecture", "llama")].into_iter().collect();
//! let norm = Weight::from(Tensor::new([1f32, 2.0], &Device::Cpu)?);
//! gguf::write(&path, &metadata, [("output_norm.weight", &norm)])?;
//!
//! let file = gguf::File::open(&path)?;
//! assert_eq!(file.metadata().str("general.architecture"), Some("llama"));
//! assert_eq!(file.info("output_norm.weight").unwrap().shape.dims(), [2]);
//! # Ok(())
//! # }
//! ```

mod cursor;
mod header;
mod kind;
mod metadata;
pub(crate) mod split;
mod strings;
mod value;
mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use tensor_core::file::Source;
use tensor_core::{DType, Error, QStorage, QTensor, QuantFormat, Result, Tensor, Upload};

use crate::format::Format;
use crate::weight::Weight;
use header::Header;

pub use header::Info;
pub(crate) use header::MAGIC;
pub use metadata::Metadata;
pub use strings::Strings;
pub use value::{Array, Value};
pub use write::{Planned, write, write_planned};

const OPEN: &str = "gguf::open";
const LOAD: &str = "gguf::load";
/// The longest name that messages have in full.
const LONGEST_SHOWN: usize = 100;

/// An open GGUF file, or all files of a split model, with checked headers. Tensors are read one at a time when asked for.
///
/// A header is trusted in nothing: every count and length is compared with the bytes that are left of the file before
/// memory is allocated for it, and the tensors lie in the file, aligned, each on bytes of its own.
#[derive(Debug)]
pub struct File {
    sources: Vec<Source>,
    version: u32,
    alignment: u64,
    metadata: Metadata,
    tensors: BTreeMap<String, Info>,
}

impl File {
    /// Opens the file at `path`. If it is one file of a split model, `NAME-00001-of-00003.gguf`, all of them are opened.
    /// If it is the first part of a file that was cut, `NAME.gguf.part00` or `NAME.gguf.part01`, the parts that follow
    /// it are read as one file.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](tensor_core::ErrorKind::Io), also for a file of a split model that is missing;
    /// [`ErrorKind::File`](tensor_core::ErrorKind::File) that names the file, the value or tensor, and what is wrong
    /// with it.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref();
        if let Some(files) = split::files(path) {
            let sources = files.iter().map(|path| Source::open(path, OPEN)).collect::<Result<_>>()?;
            return File::of(sources);
        }
        if let Some(parts) = split::parts(path) {
            return File::open_parts(&parts);
        }
        File::of(vec![Source::open(path, OPEN)?])
    }

    /// Opens a file that was cut into parts, which are given in their order. They are not joined on the disk.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open_parts<P: AsRef<Path>>(parts: &[P]) -> Result<File> {
        File::of(vec![Source::open_parts(parts, OPEN)?])
    }

    /// The file with these bytes.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<File> {
        File::of(vec![Source::from_bytes(bytes)])
    }

    fn of(sources: Vec<Source>) -> Result<File> {
        let mut headers = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            headers.push(Header::read(source, index)?);
        }
        let Header { version, metadata, tensors, alignment } = split::join(&sources, headers)?;
        Ok(File { sources, version, alignment, metadata, tensors })
    }

    /// How many files there are: more than one for a split model.
    pub fn file_count(&self) -> usize {
        self.sources.len()
    }

    /// The version of the format: 2 or 3.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The alignment of tensors in the file, in bytes.
    pub fn alignment(&self) -> u64 {
        self.alignment
    }

    /// The metadata; of a split model that of its first file.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The names of the tensors, in alphabetical order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether the file has no tensors.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The format and shape of a tensor, without reading it.
    pub fn info(&self, name: &str) -> Option<&Info> {
        self.tensors.get(name)
    }

    /// The key that sorts tensors as the files have them: the index of the file, and the start in it.
    pub(crate) fn order(&self, name: &str) -> (usize, u64) {
        self.info(name).map_or((0, 0), |info| (info.file, info.range.start))
    }

    /// Reads a tensor to the device of `upload`. Quantized numbers stay as they are.
    ///
    /// # Errors
    /// [`ErrorKind::File`](tensor_core::ErrorKind::File) if there is no tensor of that name, tensors do not have its
    /// format, or the file was truncated; [`ErrorKind::Io`](tensor_core::ErrorKind::Io); or an error of the device.
    pub fn load(&self, name: &str, upload: &mut Upload) -> Result<Weight> {
        let info = self.named(name)?;
        let format = info.format.ok_or_else(|| {
            let what = format!(
                "tensor {} has format {}, which tensors do not have: File::bytes gives its bytes",
                shown(name),
                info.format_name
            );
            self.sources[info.file].error(LOAD, what)
        })?;
        match format {
            Format::Dense(dtype) => self.tensor(info, dtype, info.shape.clone(), upload).map(Weight::Dense),
            Format::Quantized(format) => self.quantized(info, format, upload).map(Weight::Quantized),
        }
    }

    /// The bytes of a tensor of any format, as stored in the file: borrowed if the file is in memory, else read.
    ///
    /// # Errors
    /// As [`File::load`]; [`ErrorKind::OutOfMemory`](tensor_core::ErrorKind::OutOfMemory).
    pub fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>> {
        let info = self.named(name)?;
        self.sources[info.file].bytes(info.range.clone(), "gguf::bytes")
    }

    fn named(&self, name: &str) -> Result<&Info> {
        self.info(name).ok_or_else(|| self.missing(name))
    }

    fn missing(&self, name: &str) -> Error {
        self.sources[0].error(LOAD, format!("there is no tensor {} among its {}", shown(name), self.len()))
    }

    fn quantized(&self, info: &Info, format: QuantFormat, upload: &mut Upload) -> Result<QTensor> {
        // The header was read into this address space.
        let bytes = info.byte_len() as usize;
        let bytes = self.tensor(info, DType::U8, bytes.into(), upload)?;
        // The device's stream rearranges the blocks. Without this it would wait for a copy on the upload's own stream.
        if upload.has_own_stream() {
            upload.finish()?;
        }
        QTensor::new(QStorage::from_tensor(bytes, format)?, info.shape.clone())
    }

    /// The bytes of a tensor as elements of `dtype`, which were counted when the header was read.
    fn tensor(
        &self,
        info: &Info,
        dtype: DType,
        shape: tensor_core::Shape,
        upload: &mut Upload,
    ) -> Result<Tensor> {
        let source = &self.sources[info.file];
        upload.tensor(dtype, shape, &mut |first, piece| {
            source.read(info.range.start + first as u64, piece, LOAD)
        })
    }
}

/// A name in a message. Those of damaged files may be as long as the file.
fn shown(name: &str) -> String {
    match name.char_indices().nth(LONGEST_SHOWN) {
        None => format!("{name:?}"),
        Some((end, _)) => format!("{:?}…", &name[..end]),
    }
}
