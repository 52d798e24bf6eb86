//! Opening a model for a command: files, device, tokenizer and chat template, and what they take.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use models::text::{ChatTemplate, Tokenizer};
use models::{CacheFormat, Config, LanguageModel, Session, SessionOptions, Settings};
use tensor_core::Device;
use weights::{Checkpoint, Model, progress_bar};

use crate::memory::Memory;
use crate::{Failure, random, shown};

/// Which model a command takes, and where it computes.
#[derive(clap::Args, Debug)]
pub(crate) struct ModelArguments {
    /// A GGUF file, or the folder of a model with safetensors files
    pub path: PathBuf,
    #[command(flatten)]
    device_arguments: DeviceArguments,
}

/// Where a command computes.
#[derive(clap::Args, Debug)]
pub(crate) struct DeviceArguments {
    /// Where it computes: cpu, host:0, amd:0, nvidia:0
    #[arg(long, default_value = "cpu")]
    device: String,
    /// At the end, check that all memory of the device went back; exit with 1 if not. Not for cpu, which counts nothing
    #[arg(long)]
    memory_check: bool,
}

/// As [`ModelArguments`], for a model that continues texts.
#[derive(clap::Args, Debug)]
pub(crate) struct LanguageArguments {
    #[command(flatten)]
    pub model: ModelArguments,
    /// The most tokens of prompts and answers; without it those the model was made for, but no more than 4096
    #[arg(long, value_name = "TOKENS")]
    context: Option<usize>,
    /// The format of keys and values: f32, f16, bf16, q8_0; without it the numbers of activations
    #[arg(long, value_name = "FORMAT")]
    cache: Option<CacheFormat>,
    /// The most bytes of weights on the device at once, such as 8GB; if not all fit, layers are loaded for each token
    #[arg(long, value_name = "BYTES", value_parser = shown::parsed_bytes)]
    budget: Option<u64>,
}

/// A loaded model that continues texts.
pub(crate) struct Loaded {
    pub session: Session,
    pub tokenizer: Tokenizer,
    pub template: Option<ChatTemplate>,
    pub took: Duration,
}

impl ModelArguments {
    /// # Errors
    /// As [`DeviceArguments::open`].
    pub(crate) fn device(&self) -> Result<(Device, Memory), Failure> {
        self.device_arguments.open()
    }

    /// # Errors
    /// As [`DeviceArguments::end`].
    pub(crate) fn end(&self, memory: &Memory) -> Result<(), Failure> {
        self.device_arguments.end(memory)
    }
}

impl DeviceArguments {
    /// The device, and its memory now.
    ///
    /// # Errors
    /// The device's, with what `--device` may be; that it counts no memory.
    pub(crate) fn open(&self) -> Result<(Device, Memory), Failure> {
        let device = Device::parse(&self.device)?;
        if self.memory_check && device.as_hip().is_none() {
            return Err("--memory-check: the device cpu counts no memory; host:0 does".into());
        }
        let memory = Memory::before(&device)?;
        if self.memory_check {
            // From now on, so that the list has what the command made alone.
            hip_safe::MemoryCheck::Names.start();
        }
        Ok((device, memory))
    }

    /// Ends a command that has dropped its model.
    ///
    /// # Errors
    /// Of the memory check, if it was asked for.
    pub(crate) fn end(&self, memory: &Memory) -> Result<(), Failure> {
        if self.memory_check { memory.check() } else { Ok(()) }
    }
}

impl LanguageArguments {
    /// What sessions are made for.
    pub(crate) fn options(&self) -> SessionOptions {
        SessionOptions { context: self.context, cache: self.cache, ..SessionOptions::default() }
    }

    /// Loads the model with a progress bar, or makes up that of `random:SHAPE:FORMAT`.
    ///
    /// # Errors
    /// Of the files and the device; if the device has not enough memory, with what would help.
    pub(crate) fn language_model(&self, device: &Device) -> Result<LanguageModel, Failure> {
        match random::model(&self.model.path.to_string_lossy(), device)? {
            Some(_) if self.budget.is_some() => {
                Err("--budget: random weights have no file that they could be loaded from again".into())
            }
            Some(model) => Ok(model),
            None => self.loaded(&Checkpoint::open(&self.model.path)?, device),
        }
    }

    /// Loads the model, its tokenizer and its chat template.
    ///
    /// # Errors
    /// As [`LanguageArguments::language_model`]; that there is no tokenizer, or what is wrong with it.
    pub(crate) fn load(&self, device: &Device) -> Result<Loaded, Failure> {
        let start = Instant::now();
        let path = &self.model.path;
        let checkpoint = Checkpoint::open(path)?;
        let tokenizer = Tokenizer::of_model(path, &checkpoint)?;
        let template = ChatTemplate::of_model(path, &checkpoint, &tokenizer)?;
        let session = Session::new(&self.loaded(&checkpoint, device)?, &self.options())?;
        device.synchronize()?;
        Ok(Loaded { session, tokenizer, template, took: start.elapsed() })
    }

    fn loaded(&self, checkpoint: &Checkpoint, device: &Device) -> Result<LanguageModel, Failure> {
        let config = Config::new(&Settings::read(&self.model.path, checkpoint)?)?;
        let weights = checkpoint.byte_len();
        self.require_memory(&config, self.budget.map_or(weights, |budget| budget.min(weights)), device)?;
        if let Some(budget) = self.budget {
            return Ok(LanguageModel::open_within(&self.model.path, device, budget)?);
        }
        let weights = Model::load(checkpoint, device, &mut progress_bar())?;
        Ok(LanguageModel::new(config, &weights)?)
    }
    /// An error before anything is loaded, if weights, keys and values cannot fit the device's free memory.
    fn require_memory(&self, config: &Config, weights: u64, device: &Device) -> Result<(), Failure> {
        let Some(hip) = device.as_hip() else { return Ok(()) };
        let (free, options) = (hip.memory_info()?.free as u64, self.options());
        let context = options.capacity(config);
        // Without --cache keys and values have the dtype of activations, which is known when the weights are: 16 bits at least.
        let cache = config.cache_bytes(1, context, options.cache.unwrap_or(CacheFormat::F16));
        let cache = cache.map_or(u64::MAX, |bytes| bytes as u64);
        if weights.saturating_add(cache) <= free {
            return Ok(());
        }
        let (weights, cache, free) = (shown::bytes(weights), shown::bytes(cache), shown::bytes(free));
        Err(format!(
            "{device} has {free} free, and the model takes {weights} and its {context} tokens of context {cache}: \
             take a smaller --context, --cache q8_0, a file with a smaller format, or a --budget of bytes for the weights, \
             which loads layers again for each token"
        )
        .into())
    }
}
