//! The files of a model, of either format, before its weights are loaded.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use tensor_core::{Error, ErrorKind, Result, Shape, Upload, file, safetensors};

use crate::format::Format;
use crate::gguf::{self, Metadata};
use crate::names;
use crate::sharded::{self, INDEX_SUFFIX};
use crate::weight::Weight;

const OPEN: &str = "checkpoint";

/// The open files of a model: GGUF or safetensors, one or several. Nothing but the headers was read.
#[derive(Debug)]
pub struct Checkpoint {
    files: Files,
    metadata: Metadata,
    tensors: BTreeMap<String, Info>,
}

/// A tensor of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// How its numbers are stored, if tensors can have them.
    pub format: Option<Format>,
    /// The name of the format in lower case, such as "bf16", "q4_k", "bool".
    pub format_name: String,
    /// The shape, outermost dimension first.
    pub shape: Shape,
    /// The size in the file, in bytes.
    pub bytes: u64,
}

#[derive(Debug)]
enum Files {
    Gguf(gguf::File),
    /// The files, and which of them has a tensor.
    Safetensors(Vec<safetensors::File>, BTreeMap<String, usize>),
}

impl Checkpoint {
    /// Opens the file at `path`, or the model in that folder.
    ///
    /// A GGUF file may be one of a split model, or the first part of a file that was cut: see [`gguf::File::open`]. The
    /// index of a model in several safetensors files, `model.safetensors.index.json`, stands for all of them. A folder
    /// has such an index, or a `model.safetensors`, or one model in GGUF files.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], or [`ErrorKind::File`] that names the file, the tensor and what is wrong with it.
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint> {
        let path = path.as_ref();
        if path.is_dir() {
            return Checkpoint::open(sharded::model_in(path)?);
        }
        if path.to_str().is_some_and(|path| path.ends_with(INDEX_SUFFIX)) {
            let (files, file_indices) = sharded::open(path)?;
            return Checkpoint::of_safetensors(files, file_indices);
        }
        let source = file::Source::open(path, OPEN)?;
        let mut magic = [0; 4];
        let is_gguf = source.read(0, &mut magic, OPEN).is_ok() && &magic == gguf::MAGIC;
        drop(source);
        if is_gguf {
            gguf::File::open(path).map(Checkpoint::of_gguf)
        } else {
            Checkpoint::of_one(safetensors::File::open(path)?)
        }
    }

    /// The model in the bytes of a file, of either format.
    ///
    /// # Errors
    /// As [`Checkpoint::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Checkpoint> {
        if bytes.starts_with(gguf::MAGIC) {
            return gguf::File::from_bytes(bytes).map(Checkpoint::of_gguf);
        }
        Checkpoint::of_one(safetensors::File::from_bytes(bytes)?)
    }

    /// The GGUF file, if it is one; it has its version and alignment.
    pub fn as_gguf(&self) -> Option<&gguf::File> {
        match &self.files {
            Files::Gguf(file) => Some(file),
            Files::Safetensors(..) => None,
        }
    }

    /// How many files there are.
    pub fn file_count(&self) -> usize {
        match &self.files {
            Files::Gguf(file) => file.file_count(),
            Files::Safetensors(files, _) => files.len(),
        }
    }

    /// The metadata. Those of safetensors files are texts.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The names of the tensors, in alphabetical order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The names of the tensors, in the order in which the files have them.
    pub fn names_in_order(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.names().collect();
        match &self.files {
            Files::Gguf(file) => names.sort_by_key(|name| file.order(name)),
            Files::Safetensors(files, file_indices) => {
                let start = |name, index: usize| files[index].info(name).map(|info| info.byte_range().start);
                names.sort_by_key(|name| file_indices.get(*name).map(|&index| (index, start(name, index))));
            }
        }
        names
    }

    /// The names of the tensors that belong to no layer, such as those of the embedding, in the order in which the files have them.
    /// Tensors of a format that tensors here do not have are left out.
    pub fn names_outside_layers(&self) -> Vec<&str> {
        let mut names = self.names_in_order();
        names.retain(|name| names::layer(name).is_none() && self.tensors[*name].format.is_some());
        names
    }

    /// The bytes that the tensors of each layer have in the files.
    pub fn layer_bytes(&self) -> BTreeMap<usize, u64> {
        let mut bytes = BTreeMap::new();
        for (name, info) in &self.tensors {
            if let Some(layer) = names::layer(name) {
                *bytes.entry(layer).or_default() += info.bytes;
            }
        }
        bytes
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The format, shape and size of a tensor, without reading it.
    pub fn info(&self, name: &str) -> Option<&Info> {
        self.tensors.get(name)
    }

    /// The bytes of all tensors in the files.
    pub fn byte_len(&self) -> u64 {
        self.tensors.values().map(|info| info.bytes).sum()
    }

    /// Reads a tensor to the device of `upload`. Quantized numbers stay as they are.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no tensor of that name; [`ErrorKind::File`] if tensors do not have its format
    /// or the file was truncated; [`ErrorKind::Io`]; or an error of the device.
    pub fn load(&self, name: &str, upload: &mut Upload) -> Result<Weight> {
        let weight = match &self.files {
            Files::Gguf(file) => file.load(name, upload)?,
            Files::Safetensors(files, file_indices) => {
                files[self.file_index(file_indices, name)?].load_by(name, upload).map(Weight::Dense)?
            }
        };
        weight.set_name(name);
        Ok(weight)
    }

    /// The bytes of a tensor of any format, as stored in the file: borrowed if the file is in memory, else read.
    ///
    /// # Errors
    /// As [`Checkpoint::load`].
    pub fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>> {
        match &self.files {
            Files::Gguf(file) => file.bytes(name),
            Files::Safetensors(files, file_indices) => {
                files[self.file_index(file_indices, name)?].bytes(name)
            }
        }
    }

    fn file_index(&self, file_indices: &BTreeMap<String, usize>, name: &str) -> Result<usize> {
        file_indices.get(name).copied().ok_or_else(|| {
            let what = format!("there is no tensor {name:?} among the {} of the model", self.len());
            Error::new(OPEN, ErrorKind::Argument { what })
        })
    }

    fn of_gguf(file: gguf::File) -> Checkpoint {
        let info = |name: &str| {
            let info = file.info(name)?;
            let (format, format_name) = (info.format, info.format_name.to_owned());
            Some(Info { format, format_name, shape: info.shape.clone(), bytes: info.byte_len() })
        };
        let tensors = file.names().filter_map(|name| Some((name.to_owned(), info(name)?))).collect();
        Checkpoint { metadata: file.metadata().clone(), tensors, files: Files::Gguf(file) }
    }

    fn of_one(file: safetensors::File) -> Result<Checkpoint> {
        let file_indices = file.names().map(|name| (name.to_owned(), 0)).collect();
        Checkpoint::of_safetensors(vec![file], file_indices)
    }

    /// Of these files. `file_indices` says which file has each tensor.
    fn of_safetensors(
        files: Vec<safetensors::File>,
        file_indices: BTreeMap<String, usize>,
    ) -> Result<Checkpoint> {
        let mut tensors = BTreeMap::new();
        for (name, &file_index) in &file_indices {
            let Some(info) = files[file_index].info(name) else { continue };
            let format_name = match info.dtype {
                Some(dtype) => dtype.name().to_owned(),
                None => info.dtype_name.to_lowercase(),
            };
            let (format, shape, bytes) = (info.dtype.map(Format::Dense), info.shape.clone(), byte_len(info));
            tensors.insert(name.clone(), Info { format, format_name, shape, bytes });
        }
        // Where two files disagree, the first is right.
        let values: BTreeMap<&String, &String> =
            files.iter().rev().flat_map(|file| file.metadata()).collect();
        let metadata = values.into_iter().map(|(key, value)| (key.clone(), value.as_str())).collect();
        Ok(Checkpoint { metadata, tensors, files: Files::Safetensors(files, file_indices) })
    }
}

fn byte_len(info: &safetensors::Info) -> u64 {
    let range = info.byte_range();
    range.end - range.start
}
