//! `hipstack drift`: where the activations of a model part on two devices.

use std::path::PathBuf;

use hip_safe::PlatformKind;
use models::text::{EncodeOptions, Tokenizer};
use models::{Config, Drift, LanguageModel, Settings, drift};
use serde_json::json;
use tensor_core::{DType, Device, Generator};
use weights::{Checkpoint, Format, Model, Weight, progress_bar};

use crate::{Failure, random, shown};

#[derive(clap::Args, Debug)]
pub(crate) struct DriftArguments {
    /// A GGUF file, the folder of a model with safetensors files, or random:SHAPE:FORMAT
    path: PathBuf,
    /// Two devices; the second is the one to compare with: cpu, host:0, amd:0, nvidia:0  [default: the first GPU, or host:0 without
    /// one, and the CPU]
    #[arg(long, value_name = "NAME", num_args = 1)]
    device: Vec<String>,
    /// A text whose tokens are computed; without it, tokens from all over the vocabulary
    #[arg(long)]
    prompt: Option<String>,
    /// How many tokens there are without a text
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    tokens: u32,
    /// How far an activation may be off: the norm of the difference as a fraction of the activation's. Without it 1e-4, and with
    /// numbers of 16 bits or less 3e-2
    #[arg(long, value_name = "FRACTION")]
    tolerance: Option<f64>,
    /// Print every activation, as JSON
    #[arg(long)]
    json: bool,
}

/// Prints how far each layer is off, and where the first activation beyond the tolerance is. Returns whether there is none.
///
/// # Errors
/// Of the model or a device; other than two devices.
pub(crate) fn run(arguments: &DriftArguments) -> Result<bool, Failure> {
    let devices = if arguments.device.is_empty() { usual()? } else { arguments.device.clone() };
    let [left, right] = devices.as_slice() else {
        return Err("--device: name it twice, once for each of the two devices".into());
    };
    let (here, tolerance) = one(arguments, left)?;
    let (there, _) = one(arguments, right)?;
    let tolerance = arguments.tolerance.unwrap_or(tolerance);
    let found = drift(&here, &there)?;
    let first = found.iter().position(|activation| is_beyond(activation, tolerance));
    if arguments.json {
        println!("{}", as_json(&devices, &found, first, tolerance));
    } else {
        print!("{}", layers(&found));
        println!("{}", verdict(&found, first, tolerance));
    }
    Ok(first.is_none())
}

/// The first GPU, or a device of the host, and the CPU.
fn usual() -> Result<Vec<String>, Failure> {
    let all = Device::all()?;
    let is_gpu = |device: &&Device| device.platform().is_some_and(|kind| kind != PlatformKind::Host);
    let first = all.iter().find(is_gpu).or_else(|| all.iter().find(|device| device.as_hip().is_some()));
    Ok(first.map(Device::name).into_iter().chain([Device::Cpu.name()]).collect())
}

/// The activations on a device, and the tolerance for their numbers.
fn one(arguments: &DriftArguments, device: &str) -> Result<(Vec<models::Activation>, f64), Failure> {
    let (device, path) = (Device::parse(device)?, &arguments.path);
    // Random weights are drawn on the device and on the CPU; both models need the same.
    for drawing in [&device, &Device::Cpu] {
        drawing.set_seed(Generator::DEFAULT_SEED)?;
    }
    let (model, tokens) = match random::model(&path.to_string_lossy(), &device)? {
        Some(_) if arguments.prompt.is_some() => {
            return Err("--prompt: random weights have no tokenizer; --tokens takes a number".into());
        }
        Some(model) => (model, None),
        None => {
            let checkpoint = Checkpoint::open(path)?;
            let config = Config::new(&Settings::read(path, &checkpoint)?)?;
            let encode = |text: &String| -> Result<Vec<u32>, Failure> {
                Ok(Tokenizer::of_model(path, &checkpoint)?.encode(text, EncodeOptions::default())?)
            };
            let tokens = arguments.prompt.as_ref().map(encode).transpose()?;
            let weights = Model::load(&checkpoint, &device, &mut progress_bar())?;
            (LanguageModel::new(config, &weights)?, tokens)
        }
    };
    let vocabulary = model.vocabulary() as u64;
    // Steps of a prime come to every token before one comes twice.
    let spread = (0..u64::from(arguments.tokens)).map(|i| (i * 7919 % vocabulary) as u32);
    let tokens = tokens.unwrap_or_else(|| spread.collect());
    Ok((model.trace(&tokens)?, tolerance(&model)))
}

/// The tolerance for a model whose weights are all f32 or f64, or for another one: activations of 16 bits, or products of quantized
/// matrices, which round activations to 8 bits, differ by far more.
fn tolerance(model: &LanguageModel) -> f64 {
    let is_exact = |weight: &Weight| matches!(weight.format(), Format::Dense(DType::F32 | DType::F64));
    if model.weights().iter().all(|(_, weight)| is_exact(weight)) { 1e-4 } else { 3e-2 }
}

fn is_beyond(activation: &Drift, tolerance: f64) -> bool {
    !matches!(
        activation.error.partial_cmp(&tolerance),
        Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
    )
}

/// A line for each layer: how far its result is off, and its worst activation.
fn layers(found: &[Drift]) -> String {
    let rows = found.chunk_by(|one, next| one.layer == next.layer).map(|of_layer| {
        let last = &of_layer[of_layer.len() - 1];
        let worst =
            of_layer.iter().fold(last, |worst, one| if one.error > worst.error { one } else { worst });
        let layer = last.layer.map_or(last.name.clone(), |layer| format!("blk.{layer}"));
        vec![format!("{:.1e}", last.error), layer, format!("{:.1e} at {}", worst.error, worst.name)]
    });
    shown::table(&[" off by", "after", "at most"], &rows.collect::<Vec<_>>())
}

fn verdict(found: &[Drift], first: Option<usize>, tolerance: f64) -> String {
    let Some(first) = first else {
        return format!("no activation is off by more than {tolerance:.1e}");
    };
    let Drift { name, operation, error, .. } = &found[first];
    let before = found[..first].iter().map(|drift| drift.error).fold(0.0, f64::max);
    format!(
        "{name} ({operation}) is the first off by more than {tolerance:.1e}: {error:.1e}, and before it at most {before:.1e}"
    )
}

fn as_json(devices: &[String], found: &[Drift], first: Option<usize>, tolerance: f64) -> serde_json::Value {
    // Infinity is no number of JSON: null.
    let one = |drift: &Drift| json!({ "name": drift.name, "operation": drift.operation, "layer": drift.layer, "error": drift.error });
    json!({
        "devices": devices,
        "tolerance": tolerance,
        "first": first.map(|first| found[first].name.clone()),
        "activations": found.iter().map(one).collect::<Vec<_>>(),
    })
}
