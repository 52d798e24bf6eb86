//! Weights of models: read from GGUF and safetensors files, loaded to a device, shared, and cached.
//!
//! ```
//! use tensor_core::{Device, Tensor};
//! use weights::gguf::{self, Metadata};
//! use weights::{Checkpoint, Model, Weight};
//!
//! # fn main() -> tensor_core::Result<()> {
//! # let path = std::env::temp_dir().join(format!("hipstack-weights-{}.gguf", std::process::id()));
//! # let device = Device::Cpu;
//! // A file with metadata and a weight; quantized formats are written as they were read.
//! let metadata: Metadata = [("general.architecture", "llama")].into_iter().collect();
//! let gate = Weight::from(Tensor::new([[1f32, 2.0], [3.0, 4.0]], &device)?);
//! gguf::write(&path, &metadata, [("blk.0.ffn_gate.weight", &gate)])?;
//!
//! // The header says what there is before anything is loaded.
//! let checkpoint = Checkpoint::open(&path)?;
//! let info = checkpoint.info("blk.0.ffn_gate.weight").unwrap();
//! assert_eq!((info.format_name.as_str(), info.shape.dims(), info.bytes), ("f32", &[2, 2][..], 16));
//!
//! // Weights are found by name and by layer. A clone of the model, of a layer or of a weight counts a reference.
//! let model = Model::load(&checkpoint, &device, &mut |progress| println!("{}", progress.name))?;
//! let gate = &model.layer(0)?["ffn_gate.weight"];
//! assert_eq!(gate.tensor()?.to_vec2::<f32>()?, [[1.0, 2.0], [3.0, 4.0]]);
//! assert!(std::sync::Arc::ptr_eq(gate, model.get("blk.0.ffn_gate.weight")?));
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! # Parts
//! - [`Checkpoint`] is the open files of a model: safetensors, one or several with an index, or GGUF, one file or split.
//!   [`gguf`] reads and writes GGUF files; [`tensor_core::safetensors`] writes the others.
//! - [`Model`] has all weights on a device, a [`Layer`] those of one layer. A [`Weight`] is a tensor, or quantized
//!   numbers as the file has them.
//! - [`convert`] writes a checkpoint again, as a GGUF file with its numbers in other formats.
//! - [`Cache`] has a budget of bytes, for models that are larger than the device.
//!
//! # Files are not trusted
//! Every count, length and offset of a file is checked against the file's size before memory is allocated for it. A
//! damaged file is an error that names it, the tensor or value, and what to do; it is never a panic.

#![forbid(unsafe_code)]

mod cache;
mod checkpoint;
mod convert;
mod format;
pub mod gguf;
mod layer;
mod model;
mod names;
mod progress;
mod sharded;
mod weight;

pub use cache::{Cache, CacheStatistics};
pub use checkpoint::{Checkpoint, Info};
pub use convert::convert;
pub use format::Format;
pub use layer::Layer;
pub use model::Model;
pub use progress::{Progress, progress_bar};
pub use tensor_core::{Error, QTensor, QuantFormat, Result};
pub use weight::Weight;
