//! Opening a model for a command: files, device, tokenizer and chat template, and what they take.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use models::text::{ChatTemplate, Tokenizer};
use models::{Config, LanguageModel, Session, SessionOptions, Settings};
use tensor_core::{DType, Device};
use weights::{Checkpoint, Model, progress_bar};

use crate::{Failure, shown};

/// What every command with a model takes.
#[derive(clap::Args, Debug)]
pub(crate) struct ModelArguments {
    /// A GGUF file, or the folder of a model with safetensors files
    model: PathBuf,
    /// Where it computes: cpu, host:0, amd:0, nvidia:0
    #[arg(long, default_value = "cpu")]
    device: String,
    /// The most tokens of prompts and answers; without it those the model was made for, but no more than 4096
    #[arg(long, value_name = "TOKENS")]
    context: Option<usize>,
    /// The numbers in which keys and values are kept: f32, f16, bf16; without it those of activations
    #[arg(long, value_name = "DTYPE", value_parser = dtype)]
    cache: Option<DType>,
    /// At the end, check that all memory of the device went back; exit with 1 if not. Not for cpu, which counts nothing
    #[arg(long)]
    pub memory_check: bool,
}

/// A loaded model that continues texts.
pub(crate) struct Loaded {
    pub session: Session,
    pub tokenizer: Tokenizer,
    pub template: Option<ChatTemplate>,
    pub took: Duration,
}

impl ModelArguments {
    pub(crate) fn path(&self) -> &Path {
        &self.model
    }

    /// # Errors
    /// The device's, with what `--device` may be.
    pub(crate) fn device(&self) -> Result<Device, Failure> {
        let device = Device::parse(&self.device)?;
        if self.memory_check && device.as_hip().is_none() {
            return Err("--memory-check: the device cpu counts no memory; host:0 does".into());
        }
        Ok(device)
    }

    /// Loads the model with a progress bar.
    ///
    /// # Errors
    /// Of the files and the device; if the device has not enough memory, with what would help.
    pub(crate) fn load(&self, device: &Device) -> Result<Loaded, Failure> {
        let start = Instant::now();
        let checkpoint = Checkpoint::open(&self.model)?;
        let config = Config::new(&Settings::read(&self.model, &checkpoint)?)?;
        let tokenizer = tokenizer(&self.model, &checkpoint)?;
        let template = match checkpoint.as_gguf() {
            Some(_) => ChatTemplate::from_gguf(checkpoint.metadata(), &tokenizer)?,
            None => ChatTemplate::from_folder(folder(&self.model), &tokenizer)?,
        };
        self.require_room(&config, &checkpoint, device)?;
        let weights = Model::load(&checkpoint, device, &mut progress_bar())?;
        let model = LanguageModel::new(config, &weights)?;
        let options =
            SessionOptions { context: self.context, cache_dtype: self.cache, ..SessionOptions::default() };
        let session = Session::new(&model, &options)?;
        device.synchronize()?;
        Ok(Loaded { session, tokenizer, template, took: start.elapsed() })
    }

    /// An error before anything is loaded, if weights, keys and values do not fit the device's free memory.
    fn require_room(&self, config: &Config, checkpoint: &Checkpoint, device: &Device) -> Result<(), Failure> {
        let Some(hip) = device.as_hip() else { return Ok(()) };
        let free = hip.memory_info()?.free as u64;
        let context = self.context.unwrap_or(config.context.min(4096));
        // Without --cache keys and values have the dtype of activations, which 16-bit weights make 16-bit ones.
        let size = self.cache.map_or(2, DType::size_in_bytes);
        let sizes = [2, config.layers, config.kv_heads, config.head_size, size, context];
        let kept = sizes.into_iter().try_fold(1, |all: u64, size| all.checked_mul(size as u64));
        let (weights, kept) = (checkpoint.byte_len(), kept.unwrap_or(u64::MAX));
        if weights.saturating_add(kept) <= free {
            return Ok(());
        }
        let (weights, kept, free) = (shown::bytes(weights), shown::bytes(kept), shown::bytes(free));
        Err(format!(
            "{device} has {free} free, and the model takes {weights} and its {context} tokens of context {kept}: \
             take a smaller --context, --cache f16, or a file with a smaller format"
        )
        .into())
    }
}

/// The tokenizer of a model: in a GGUF file's metadata, or beside safetensors files.
///
/// # Errors
/// That none is there, or what is wrong with it.
pub(crate) fn tokenizer(model: &Path, checkpoint: &Checkpoint) -> Result<Tokenizer, Failure> {
    Ok(match checkpoint.as_gguf() {
        Some(_) => Tokenizer::from_gguf(checkpoint.metadata())?,
        None => Tokenizer::from_json(folder(model))?,
    })
}

/// The folder that a model is, or lies in.
fn folder(model: &Path) -> &Path {
    let parent = model.parent().filter(|parent| !parent.as_os_str().is_empty());
    if model.is_dir() { model } else { parent.unwrap_or(Path::new(".")) }
}

fn dtype(name: &str) -> Result<DType, String> {
    let known = [DType::F32, DType::F16, DType::BF16];
    known.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| "f32, f16 or bf16".to_owned())
}
