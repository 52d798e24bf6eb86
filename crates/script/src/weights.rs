//! Files of tensors, models of weights, and their layers.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use rhai::{Dynamic, Map};
use tensor_core::{Device, QTensor, Tensor, npy, npz, safetensors};
use weights::gguf::{self, Metadata};
use weights::{Checkpoint, Format, Layer, Model, Weight};

use crate::argument::{Argument, array, described, is_a};
use crate::error::{Returned, failed};
use crate::interpreter::Context;
use crate::metadata;
use crate::operands::naming_operands;
use crate::registry::{Registry, finish, properties};
use crate::tensors::shown;

/// A layer: a copy counts a reference, where one of [`Layer`] would copy its names.
pub(crate) type SharedLayer = Arc<Layer>;

pub(crate) fn add(registry: &mut Registry, context: &Rc<Context>) {
    registry.engine.register_type_with_name::<Model>("model");
    registry.engine.register_type_with_name::<SharedLayer>("layer");
    files(registry, context);
    models(registry);
    layers(registry);
    registry.named("quantize").register_fn("quantize", |this: &mut Tensor, format: Dynamic| {
        naming_operands(this, &[], |this| {
            let name = String::take(&format, "quantize", "the format")?;
            match Format::from_name(&name) {
                Some(Format::Quantized(format)) => finish(QTensor::quantize(this, format)),
                _ => Err(failed(format!(
                    "quantize: {name:?} is no quantized format, such as \"q4_0\" \"q8_0\" \"q4_k\""
                ))),
            }
        })
    });
}

fn files(registry: &mut Registry, context: &Rc<Context>) {
    let here = Rc::clone(context);
    registry.named("load").register_fn("load", move |path: Dynamic| load(&here, &path, &here.device));
    let here = Rc::clone(context);
    registry.engine.register_fn("load", move |path: Dynamic, device: Device| load(&here, &path, &device));
    let here = Rc::clone(context);
    registry
        .named("save")
        .register_fn("save", move |value: Dynamic, path: Dynamic| save(&here, &value, &path, &Map::new()));
    let here = Rc::clone(context);
    registry.engine.register_fn("save", move |value: Dynamic, path: Dynamic, metadata: Map| {
        save(&here, &value, &path, &metadata)
    });
    let here = Rc::clone(context);
    registry.named("model").register_fn("model", move |named: Map| {
        let weights = of_map(&named)?;
        // Without weights the device is the script's.
        let device = weights.first().map_or_else(|| here.device.clone(), |(_, weight)| weight.device());
        let model = Model::from_weights(&device, weights, Metadata::new()).map_err(failed)?;
        Ok::<_, Box<rhai::EvalAltResult>>(Dynamic::from(model))
    });
}

fn models(registry: &mut Registry) {
    properties! { registry, Model, this;
        "device" => this.device().clone();
        "bytes" => this.byte_len();
        "names" => this.names().map(str::to_owned).collect::<Vec<_>>();
        "layers" => array(this.layers().map(|layer| Dynamic::from(Arc::new(layer.clone()))));
        "left_out" => this.left_out().to_vec();
    }
    let get = |this: &mut Model, name: Dynamic| {
        let name = String::take(&name, "get", "the name")?;
        this.get(&name).map(value_of).map_err(failed)
    };
    registry.named("get").register_fn("get", get);
    registry.engine.register_indexer_get(get);
    registry.named("layer").register_fn("layer", |this: &mut Model, number: Dynamic| {
        let layer = this.layer(usize::take(&number, "layer", "the number")?).map_err(failed)?;
        Ok::<_, Box<rhai::EvalAltResult>>(Dynamic::from(Arc::new(layer.clone())))
    });
    registry.named("metadata").register_fn("metadata", |this: &mut Model, key: Dynamic| {
        let key = String::take(&key, "metadata", "the key")?;
        let found = this.metadata().get(&key).map_or(Dynamic::UNIT, metadata::to_value);
        Ok::<_, Box<rhai::EvalAltResult>>(found)
    });
    registry.engine.register_fn("len", |this: &mut Model| this.len() as i64);
    registry
        .named("contains")
        .register_fn("contains", |this: &mut Model, name: &str| this.find(name).is_some());
    shown::<Model>(registry, |model| format!("{model:?}"));
}

fn layers(registry: &mut Registry) {
    properties! { registry, SharedLayer, this;
        "number" => this.number();
        "bytes" => this.byte_len();
        "names" => this.names().map(str::to_owned).collect::<Vec<_>>();
    }
    let get = |this: &mut SharedLayer, name: Dynamic| {
        let name = String::take(&name, "get", "the name")?;
        this.get(&name).map(value_of).map_err(failed)
    };
    registry.engine.register_fn("get", get);
    registry.engine.register_indexer_get(get);
    registry.engine.register_fn("len", |this: &mut SharedLayer| this.len() as i64);
    registry.engine.register_fn("contains", |this: &mut SharedLayer, name: &str| this.find(name).is_some());
    shown::<SharedLayer>(registry, |layer| {
        format!("layer {} with {} weights of {} bytes", layer.number(), layer.len(), layer.byte_len())
    });
}

/// The tensor of a weight: a reference to the same numbers.
fn value_of(weight: &Arc<Weight>) -> Dynamic {
    match &**weight {
        Weight::Quantized(tensor) => Dynamic::from(tensor.clone()),
        other => other.tensor().map_or(Dynamic::UNIT, |tensor| Dynamic::from(tensor.clone())),
    }
}

/// The weight of a tensor.
fn weight(name: &str, value: &Dynamic) -> Returned<Weight> {
    let dense = is_a::<Tensor>(value).map(Weight::from);
    dense.or_else(|| is_a::<QTensor>(value).map(Weight::from)).ok_or_else(|| {
        failed(format!("{name} is {}; expected a tensor or a quantized tensor", described(value)))
    })
}

/// The names and weights of a map of tensors.
fn of_map(map: &Map) -> Returned<Vec<(String, Arc<Weight>)>> {
    map.iter().map(|(name, value)| Ok((name.to_string(), Arc::new(weight(name, value)?)))).collect()
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or("")
}

/// A tensor of an npy file, a map of tensors of an npz file, or the model of another file or folder.
fn load(context: &Context, path: &Dynamic, device: &Device) -> Returned {
    let path = String::take(path, "load", "the path")?;
    let files = &context.files;
    match extension(Path::new(&path)) {
        "npy" => finish(npy::read(files.readable(&path).map_err(failed)?, device)),
        "npz" => {
            let tensors = npz::read(files.readable(&path).map_err(failed)?, device).map_err(failed)?;
            let named = tensors.into_iter().map(|(name, tensor)| (name.into(), Dynamic::from(tensor)));
            Ok(Dynamic::from_map(named.collect()))
        }
        _ => {
            let checkpoint = Checkpoint::open(files.model(&path).map_err(failed)?).map_err(failed)?;
            Model::load(&checkpoint, device, &mut |_| ()).map(Dynamic::from).map_err(failed)
        }
    }
}

/// Writes a tensor to an npy file, or named tensors, a model or a layer to a safetensors or GGUF file.
fn save(context: &Context, value: &Dynamic, path: &Dynamic, more: &Map) -> Returned {
    let path = context.files.writable(&String::take(path, "save", "the path")?).map_err(failed)?;
    let kind = extension(&path);
    if let ("npy", Some(tensor)) = (kind, is_a::<Tensor>(value)) {
        if !more.is_empty() {
            return Err(failed("save: an npy file has no metadata: take .safetensors"));
        }
        return finish(npy::write(&path, &tensor));
    }
    let named = named(value)?;
    match kind {
        "gguf" => {
            let mut metadata =
                is_a::<Model>(value).map_or_else(Metadata::new, |model| model.metadata().clone());
            for (key, value) in metadata::of_map(more)?.iter() {
                metadata.insert(key, value.clone());
            }
            finish(gguf::write(
                &path,
                &metadata,
                named.iter().map(|(name, weight)| (name.as_str(), &**weight)),
            ))
        }
        "safetensors" => {
            // The same values as in GGUF, and no others.
            metadata::of_map(more)?;
            let tensors =
                named.iter().map(|(name, weight)| Ok((name.as_str(), weight.tensor().map_err(failed)?)));
            let tensors: Vec<(&str, &Tensor)> = tensors.collect::<Returned<_>>()?;
            let text = |value: &Dynamic| value.to_string();
            let metadata: BTreeMap<String, String> =
                more.iter().map(|(key, value)| (key.to_string(), text(value))).collect();
            finish(safetensors::write(&path, tensors, &metadata))
        }
        _ => Err(failed(format!(
            "save: {} with {kind:?}: a tensor is written to .npy, maps of tensors, models and layers to .safetensors or .gguf",
            described(value)
        ))),
    }
}

/// Names and weights of a map of tensors, a model or a layer.
fn named(value: &Dynamic) -> Returned<Vec<(String, Arc<Weight>)>> {
    let shared = |(name, weight): (&str, &Arc<Weight>)| (name.to_owned(), Arc::clone(weight));
    if let Some(model) = is_a::<Model>(value) {
        return Ok(model.iter().map(shared).collect());
    }
    if let Some(layer) = is_a::<SharedLayer>(value) {
        return Ok(layer.iter().map(shared).collect());
    }
    if let Some(map) = is_a::<Map>(value) {
        return of_map(&map);
    }
    Err(failed(format!("save: {} has no names for a file; put tensors into a map", described(value))))
}
