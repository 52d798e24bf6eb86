//! Several texts at once.

use tensor_core::Tensor;

use crate::cache::{Cache, CacheFormat};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::model::LanguageModel;
use crate::step::Logits;
use crate::steps::Steps;

/// The most tokens that a sequence has by default.
const USUAL_CONTEXT: usize = 4096;
/// Tokens of a prompt that are computed at once by default. The matrices are read once for each chunk, and the activations of a
/// chunk are in memory.
const CHUNK: usize = 512;

/// What a session or a batch is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionOptions {
    /// The most tokens of prompts and answers; `None` for those that the model was made for, but no more than 4096.
    pub context: Option<usize>,
    /// The format of keys and values; `None` for the dtype of activations.
    pub cache: Option<CacheFormat>,
    /// The most tokens of a prompt that are computed at once, at least 1.
    pub chunk: usize,
    /// The tokens of all sequences that there is memory for, in pages of 64; `None` for all sequences at their most tokens.
    pub pool: Option<usize>,
}

impl SessionOptions {
    /// The most tokens of a sequence of a model with these settings.
    pub fn capacity(&self, config: &Config) -> usize {
        self.context.unwrap_or_else(|| config.context.min(USUAL_CONTEXT))
    }
}

impl Default for SessionOptions {
    fn default() -> SessionOptions {
        SessionOptions { context: None, cache: None, chunk: CHUNK, pool: None }
    }
}

/// Several texts in the making, which get a token each in one step. The weights are read once in a step, however many
/// sequences there are.
///
/// On a HIP device a step is a graph that is captured once and launched for each token. From the second step on a step allocates
/// nothing from the driver and waits for nothing, until a text has more tokens than the graph reads: then another graph replaces
/// it.
///
/// Keys and values are in pages of 64 tokens. A sequence has as many as its tokens need, so that a batch may have more sequences than there
/// is memory for at their most tokens: see [`SessionOptions::pool`].
///
/// ```no_run
/// use models::{Batch, LanguageModel, SessionOptions};
/// use tensor_core::Device;
///
/// # fn main() -> models::Result<()> {
/// let model = LanguageModel::open("SmolLM2-135M-Instruct.Q4_1.gguf", &Device::Cpu)?;
/// let mut batch = Batch::new(&model, 2, &SessionOptions::default())?;
/// batch.feed(0, &[1, 9690, 198])?;
/// batch.feed(1, &[504, 3575])?;
/// // [2, vocabulary]: what follows 282 in the first text, and 6280 in the second.
/// let logits = batch.step(&[Some(282), Some(6280)])?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Batch {
    model: LanguageModel,
    cache: Cache,
    steps: Steps,
    chunk: usize,
}

impl Batch {
    /// A batch of empty sequences.
    ///
    /// # Errors
    /// As [`LanguageModel::new_cache`].
    pub fn new(model: &LanguageModel, sequences: usize, options: &SessionOptions) -> Result<Batch> {
        let format = options.cache.unwrap_or_else(|| CacheFormat::of(model.dtype()));
        let sizes = (sequences, options.capacity(model.config()), options.pool);
        let cache = model.pooled_cache(sizes, format)?;
        let steps = Steps::new(&cache, model.device(), !model.has_budget())?;
        Ok(Batch { model: model.clone(), cache, steps, chunk: options.chunk.max(1) })
    }

    /// The model.
    pub fn model(&self) -> &LanguageModel {
        &self.model
    }

    /// How many sequences there are.
    pub fn sequences(&self) -> usize {
        self.cache.sequences()
    }

    /// The tokens of a sequence so far.
    ///
    /// # Errors
    /// [`Error::UnknownSequence`].
    pub fn length(&self, sequence: usize) -> Result<usize> {
        self.cache.length(sequence)
    }

    /// The most tokens of a sequence.
    pub fn capacity(&self) -> usize {
        self.cache.capacity()
    }

    /// The pages that sequences have, and all pages. A page holds 64 tokens.
    pub fn pages(&self) -> (usize, usize) {
        self.cache.pages()
    }

    /// Forgets all tokens of a sequence but the first `length`, so that its text may go on from there in another way. Pages that are no
    /// longer needed may be used by any sequence.
    ///
    /// # Errors
    /// [`Error::UnknownSequence`].
    pub fn truncate(&mut self, sequence: usize, length: usize) -> Result<()> {
        self.cache.truncate(sequence, length)
    }

    /// Adds tokens to a sequence, and gives the logits of the next one: `[vocabulary]` in `f32`, on the device.
    ///
    /// # Errors
    /// As [`LanguageModel::forward`]. The sequence then has the tokens that it had.
    pub fn feed(&mut self, sequence: usize, tokens: &[u32]) -> Result<Tensor> {
        let last = self.in_chunks(sequence, tokens, Logits::Last)?.pop().ok_or(Error::NoTokens)?;
        Ok(last.squeeze(0)?)
    }

    /// Adds tokens to a sequence, and gives the logits after each of them: `[tokens, vocabulary]` in `f32`, on the device.
    ///
    /// # Errors
    /// As [`Batch::feed`].
    pub fn feed_all(&mut self, sequence: usize, tokens: &[u32]) -> Result<Tensor> {
        let all = self.in_chunks(sequence, tokens, Logits::All)?;
        if all.is_empty() { Err(Error::NoTokens) } else { Ok(Tensor::cat(&all, 0)?) }
    }

    /// Adds a token to each sequence that has one here, and gives the logits of the next ones: `[sequences, vocabulary]` in
    /// `f32`, on the device. The rows of other sequences mean nothing.
    ///
    /// # Errors
    /// [`Error::WrongBatch`], [`Error::NoTokens`] if no sequence has one, and as [`LanguageModel::forward`]. The sequences
    /// then have the tokens that they had.
    pub fn step(&mut self, tokens: &[Option<u32>]) -> Result<Tensor> {
        let sequences = self.sequences();
        if tokens.len() != sequences {
            return Err(Error::WrongBatch { found: tokens.len(), sequences });
        }
        if tokens.iter().all(Option::is_none) {
            return Err(Error::NoTokens);
        }
        let given = || tokens.iter().enumerate().filter(|(_, token)| token.is_some());
        for (sequence, token) in given() {
            self.model.check(&self.cache, sequence, token.as_slice())?;
        }
        // Without a graph one sequence takes fewer operations as a chunk of one token.
        let graphs = self.model.device().as_hip().is_some() && !self.model.has_budget();
        if let (&[Some(token)], false) = (tokens, graphs) {
            return self.model.forward(&[token], &mut self.cache, 0, Logits::Last);
        }
        self.cache.reserve(&given().map(|(sequence, _)| (sequence, 1)).collect::<Vec<_>>())?;
        let logits = self.model.step(tokens, &mut self.cache, &mut self.steps);
        for (sequence, _) in given() {
            match &logits {
                Ok(_) => self.cache.lengths[sequence] += 1,
                Err(_) => self.cache.release(sequence),
            }
        }
        logits
    }

    /// Logits of each chunk of tokens.
    fn in_chunks(&mut self, sequence: usize, tokens: &[u32], logits: Logits) -> Result<Vec<Tensor>> {
        let used = self.length(sequence)?;
        let capacity = self.capacity();
        if tokens.len() > capacity - used {
            return Err(Error::ContextTooLong { tokens: tokens.len(), used, capacity });
        }
        self.cache.reserve(&[(sequence, tokens.len())])?;
        self.steps.forget_graph();
        let mut found = Vec::new();
        for chunk in tokens.chunks(self.chunk) {
            match self.model.forward(chunk, &mut self.cache, sequence, logits) {
                Ok(logits) => found.push(logits),
                Err(error) => {
                    self.truncate(sequence, used)?;
                    return Err(error);
                }
            }
            if logits == Logits::Last {
                // Only those of the last chunk are asked for.
                found.drain(..found.len() - 1);
            }
        }
        Ok(found)
    }
}
