//! Writing a checkpoint again, with its numbers in other formats.

use std::path::Path;

use tensor_core::{Device, Error, ErrorKind, QTensor, Result, Upload};

use crate::checkpoint::{Checkpoint, Info};
use crate::format::Format;
use crate::gguf::{Metadata, Planned, write_planned};
use crate::progress::Progress;
use crate::weight::Weight;

/// What a GGUF file says of its formats as a whole, which is not so any more.
const FILE_TYPE: &str = "general.file_type";

/// Writes a checkpoint's tensors to the GGUF file at `path`, each in the format that `choose` gives: see
/// [`file::write`](tensor_core::file::write). One tensor at a time is in memory. Names, shapes and metadata stay,
/// but `general.file_type`. Tensors that keep their format are copied.
///
/// ```
/// use tensor_core::{DType, Device, Tensor};
/// use weights::{Checkpoint, Format, Weight, convert, gguf};
///
/// # fn main() -> tensor_core::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let (path, smaller) = (folder.path().join("f32.gguf"), folder.path().join("f16.gguf"));
/// let weight = Weight::from(Tensor::new([[1f32, 2.0]], &Device::Cpu)?);
/// gguf::write(&path, &gguf::Metadata::new(), [("output.weight", &weight)])?;
///
/// let half = |_: &str, _: &weights::Info| Some(Format::Dense(DType::F16));
/// convert(&Checkpoint::open(&path)?, &smaller, &half, &mut |_| ())?;
/// assert_eq!(*Checkpoint::open(&smaller)?.bytes("output.weight")?, [0x00, 0x3c, 0x00, 0x40]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`] if `choose` gives `None` for a tensor, or a format that its numbers are not converted to; those
/// of [`Checkpoint::load`] and [`gguf::write`](crate::gguf::write).
pub fn convert(
    checkpoint: &Checkpoint,
    path: impl AsRef<Path>,
    choose: &dyn Fn(&str, &Info) -> Option<Format>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<()> {
    let mut planned = Vec::new();
    for name in checkpoint.names_in_order() {
        let info = checkpoint.info(name).expect("the checkpoint has its names");
        let format = choose(name, info).ok_or_else(|| {
            bad(format!("tensor {name:?} has format {}, which GGUF files do not have", info.format_name))
        })?;
        check(name, info.format, format)?;
        planned.push(Planned { name: name.to_owned(), format, shape: info.shape.clone() });
    }
    let mut metadata: Metadata = checkpoint.metadata().clone();
    metadata.remove(FILE_TYPE);
    let (all_tensors, all_bytes) = (planned.len(), checkpoint.byte_len());
    let mut bytes = 0;
    write_planned(path, &metadata, &planned, |index, put| {
        let Planned { name, format, .. } = &planned[index];
        match converted(checkpoint, name, *format)? {
            Some(weight) => put(&weight.to_bytes()?)?,
            None => put(&checkpoint.bytes(name)?)?,
        }
        bytes += checkpoint.info(name).map_or(0, |info| info.bytes);
        progress(Progress { name, tensors: index + 1, all_tensors, bytes, all_bytes });
        Ok(())
    })
}

/// Whether numbers of one format are converted to another.
fn check(name: &str, from: Option<Format>, to: Format) -> Result<()> {
    match (from, to) {
        (Some(from), to) if from == to => Ok(()),
        (Some(from), to) if from.can_convert_from() && to.can_convert_to() => Ok(()),
        (from, to) => {
            let from = from.map_or("another format", Format::name);
            Err(bad(format!("tensor {name:?} is {from}, which is not converted to {to}; keep its format")))
        }
    }
}

/// A tensor in a format that it is converted to; `None` if it has that format. Quantized numbers become `f32` on the way.
fn converted(checkpoint: &Checkpoint, name: &str, to: Format) -> Result<Option<Weight>> {
    let from = checkpoint.info(name).and_then(|info| info.format);
    if from == Some(to) {
        return Ok(None);
    }
    let tensor = match checkpoint.load(name, &mut Upload::new(&Device::Cpu)?)? {
        Weight::Dense(tensor) => tensor,
        Weight::Quantized(tensor) => tensor.dequantize(&Device::Cpu)?,
    };
    Ok(Some(match to {
        Format::Dense(dtype) => Weight::Dense(tensor.to_dtype(dtype)?),
        Format::Quantized(format) => Weight::Quantized(QTensor::quantize(&tensor, format)?),
    }))
}

fn bad(what: String) -> Error {
    Error::new("convert", ErrorKind::Argument { what })
}
