//! A model's weights on a device, by name and by layer.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;
use std::path::Path;
use std::sync::Arc;

use tensor_core::{Device, Error, ErrorKind, Result, Upload};

use crate::checkpoint::Checkpoint;
use crate::gguf::Metadata;
use crate::layer::Layer;
use crate::names;
use crate::progress::Progress;
use crate::weight::Weight;

/// A model's weights on a device. Cloning a model counts one reference, whatever its size, and so does cloning a weight
/// that [`Model::get`] gives; the memory goes back when the last of them is dropped.
///
/// A weight is found by the name that its file has. GGUF's name, such as `blk.3.attn_q.weight`, leads to the same weight
/// in a checkpoint of Hugging Face's, which calls it `model.layers.3.self_attn.q_proj.weight`. Only names are
/// translated: llama.cpp's converter gives the rows of some weights another order.
///
/// ```
/// use std::collections::BTreeMap;
/// use tensor_core::{Device, Tensor, safetensors};
/// use weights::Model;
///
/// # fn main() -> tensor_core::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// let projection = Tensor::new([[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
/// let named = [("model.layers.0.self_attn.q_proj.weight", &projection)];
/// safetensors::write(&path, named, &BTreeMap::new())?;
///
/// let model = Model::open(&path, &Device::Cpu)?;
/// let weight = &model.layer(0)?["attn_q.weight"];
/// assert_eq!(weight.tensor()?.to_vec2::<f32>()?, [[1.0, 2.0], [3.0, 4.0]]);
/// assert!(std::sync::Arc::ptr_eq(weight, model.get("model.layers.0.self_attn.q_proj.weight")?));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Model {
    inner: Arc<Inner>,
}

struct Inner {
    device: Device,
    weights: BTreeMap<String, Arc<Weight>>,
    /// GGUF's names, where the file has others.
    aliases: BTreeMap<String, String>,
    layers: BTreeMap<usize, Layer>,
    left_out: Vec<String>,
    metadata: Metadata,
}

impl Model {
    /// Loads the model in a file or folder: see [`Checkpoint::open`] and [`Model::load`].
    ///
    /// # Errors
    /// As there.
    pub fn open(path: impl AsRef<Path>, device: &Device) -> Result<Model> {
        Model::load(&Checkpoint::open(path)?, device, &mut |_| ())
    }

    /// Loads all tensors of a checkpoint to `device`, one at a time: by position from the file into page-locked memory,
    /// and from there to the device. `progress` is called after each: [`crate::progress_bar`] makes one that shows a bar.
    ///
    /// At its peak this takes the memory of the model and of its largest quantized tensor on the device, whose blocks get
    /// another order there, and on the host that of one [`Upload`]. Tensors of a format that tensors do not have, such as `bool`, are left out: see [`Model::left_out`].
    ///
    /// # Errors
    /// As [`Checkpoint::load`].
    pub fn load(
        checkpoint: &Checkpoint,
        device: &Device,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Model> {
        let mut upload = Upload::new(device)?;
        let (mut weights, mut left_out) = (BTreeMap::new(), Vec::new());
        let (all_tensors, all_bytes) = (checkpoint.len(), checkpoint.byte_len());
        let mut bytes = 0;
        for (index, name) in checkpoint.names_in_order().into_iter().enumerate() {
            let info = checkpoint.info(name).expect("the checkpoint has its names");
            if info.format.is_some() {
                weights.insert(name.to_owned(), Arc::new(checkpoint.load(name, &mut upload)?));
            } else {
                left_out.push(name.to_owned());
            }
            bytes += info.bytes;
            progress(Progress { name, tensors: index + 1, all_tensors, bytes, all_bytes });
        }
        upload.finish()?;
        left_out.sort_unstable();
        Ok(Model::of(device, weights, left_out, checkpoint.metadata().clone()))
    }

    /// The model of weights that are on `device` already, under names of files or of GGUF.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a weight of another device.
    pub fn from_weights(
        device: &Device,
        weights: impl IntoIterator<Item = (String, Arc<Weight>)>,
        metadata: Metadata,
    ) -> Result<Model> {
        let weights: BTreeMap<String, Arc<Weight>> = weights.into_iter().collect();
        if let Some((name, weight)) = weights.iter().find(|(_, weight)| !weight.device().same_device(device))
        {
            let what = format!("the weight {name} is on {}, and the model on {device}", weight.device());
            return Err(Error::new("from_weights", ErrorKind::Argument { what }));
        }
        Ok(Model::of(device, weights, Vec::new(), metadata))
    }

    fn of(
        device: &Device,
        weights: BTreeMap<String, Arc<Weight>>,
        left_out: Vec<String>,
        metadata: Metadata,
    ) -> Model {
        let named = names::by_layer(weights.keys().map(String::as_str));
        let aliases = names::aliases(weights.keys().map(String::as_str), &named);
        let layers = named.into_iter().map(|(number, named)| {
            let named = named.into_iter().map(|(rest, name)| (rest, Arc::clone(&weights[name])));
            (number, Layer::new(number, named.collect()))
        });
        let (layers, device) = (layers.collect(), device.clone());
        Model { inner: Arc::new(Inner { device, weights, aliases, layers, left_out, metadata }) }
    }

    /// The weight of that name, of the file or of GGUF. Clone the reference to keep it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is none.
    pub fn get(&self, name: &str) -> Result<&Arc<Weight>> {
        self.find(name).ok_or_else(|| {
            let what = format!("the model has no weight {name:?} among its {}", self.len());
            Error::new("model", ErrorKind::Argument { what })
        })
    }

    /// As [`Model::get`]; `None` if there is no weight of that name, as for a bias that only some models have.
    pub fn find(&self, name: &str) -> Option<&Arc<Weight>> {
        let weights = &self.inner.weights;
        weights.get(name).or_else(|| weights.get(self.inner.aliases.get(name)?))
    }

    /// The names in the file, in alphabetical order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inner.weights.keys().map(String::as_str)
    }

    /// The names in the file and the weights, in alphabetical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Arc<Weight>)> {
        self.inner.weights.iter().map(|(name, weight)| (name.as_str(), weight))
    }

    /// The number of weights.
    pub fn len(&self) -> usize {
        self.inner.weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.inner.weights.is_empty()
    }

    /// The weights of a layer, from 0 on. They are the model's own.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such layer.
    pub fn layer(&self, number: usize) -> Result<&Layer> {
        self.inner.layers.get(&number).ok_or_else(|| {
            let what = format!("the model has no layer {number} among its {}", self.inner.layers.len());
            Error::new("model", ErrorKind::Argument { what })
        })
    }

    /// All layers, in order.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = &Layer> {
        self.inner.layers.values()
    }

    /// The metadata of the files.
    pub fn metadata(&self) -> &Metadata {
        &self.inner.metadata
    }

    /// The tensors that were not loaded, because tensors do not have their format.
    pub fn left_out(&self) -> &[String] {
        &self.inner.left_out
    }

    /// The device of the weights.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// The bytes that the weights take on their device.
    pub fn byte_len(&self) -> usize {
        self.inner.weights.values().map(|weight| weight.byte_len()).sum()
    }
}

impl Index<&str> for Model {
    type Output = Arc<Weight>;

    /// The weight of that name.
    ///
    /// # Panics
    /// If there is none, as with maps; [`Model::get`] returns an error.
    fn index(&self, name: &str) -> &Arc<Weight> {
        self.get(name).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({} weights, {} bytes on {})", self.len(), self.byte_len(), self.device())
    }
}
