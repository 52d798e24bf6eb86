//! One text after another: prompts in chunks, then token by token.

use tensor_core::{DType, Tensor};

use crate::cache::Cache;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::model::LanguageModel;
use crate::step::Logits;

/// The most tokens that a session holds by itself.
const USUAL_CONTEXT: usize = 4096;
/// Tokens of a prompt that are computed at once by default. The matrices are read once for each chunk, and the activations of a
/// chunk are in memory.
const CHUNK: usize = 512;

/// What a session is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionOptions {
    /// The most tokens of prompts and answers; `None` for those that the model was made for, but no more than 4096.
    pub context: Option<usize>,
    /// The dtype of keys and values: `f32`, `f16` or `bf16`; `None` for that of activations.
    pub cache_dtype: Option<DType>,
    /// The most tokens that are computed at once, at least 1.
    pub chunk: usize,
}

impl SessionOptions {
    /// The most tokens of a session of a model with these settings.
    pub fn capacity(&self, config: &Config) -> usize {
        self.context.unwrap_or_else(|| config.context.min(USUAL_CONTEXT))
    }
}

impl Default for SessionOptions {
    fn default() -> SessionOptions {
        SessionOptions { context: None, cache_dtype: None, chunk: CHUNK }
    }
}

/// A text in the making: a model, and the keys and values of the tokens so far. Sessions of clones of one model share its
/// weights; each computes by itself.
///
/// From the second token on a step allocates nothing from the driver: what it needs is in the device's pool by then.
#[derive(Debug)]
pub struct Session {
    model: LanguageModel,
    cache: Cache,
    chunk: usize,
}

impl Session {
    /// A session without tokens.
    ///
    /// # Errors
    /// As [`LanguageModel::new_cache`].
    pub fn new(model: &LanguageModel, options: &SessionOptions) -> Result<Session> {
        let cache = model.new_cache(
            options.capacity(model.config()),
            options.cache_dtype.unwrap_or_else(|| model.dtype()),
        )?;
        Ok(Session { model: model.clone(), cache, chunk: options.chunk.max(1) })
    }

    /// The model.
    pub fn model(&self) -> &LanguageModel {
        &self.model
    }

    /// Tokens so far.
    pub fn length(&self) -> usize {
        self.cache.length()
    }

    /// The most tokens.
    pub fn capacity(&self) -> usize {
        self.cache.capacity()
    }

    /// Forgets all tokens but the first `length`, so that a text may go on from there in another way.
    pub fn truncate(&mut self, length: usize) {
        self.cache.truncate(length);
    }

    /// Adds tokens, and gives the logits of the next one: `[vocabulary]` in `f32`, on the device.
    ///
    /// # Errors
    /// As [`LanguageModel::forward`]. The session then has the tokens that it had.
    pub fn feed(&mut self, tokens: &[u32]) -> Result<Tensor> {
        let last = self.in_chunks(tokens, Logits::Last)?.pop().ok_or(Error::NoTokens)?;
        Ok(last.squeeze(0)?)
    }

    /// Adds tokens, and gives the logits after each of them: `[tokens, vocabulary]` in `f32`, on the device.
    ///
    /// # Errors
    /// As [`Session::feed`].
    pub fn feed_all(&mut self, tokens: &[u32]) -> Result<Tensor> {
        let all = self.in_chunks(tokens, Logits::All)?;
        if all.is_empty() { Err(Error::NoTokens) } else { Ok(Tensor::cat(&all, 0)?) }
    }

    /// The tokens that follow `prompt`, one after another. `choose` takes one by its logits, `[vocabulary]` in `f32`:
    /// [`greedy`] takes the likeliest. The text ends before a token of `stops`, and after an error, such as that of a full
    /// context. Whoever drops the generator may go on with the session.
    ///
    /// # Errors
    /// As [`Session::feed`] of the prompt.
    pub fn generate<'a, F: FnMut(&Tensor) -> Result<u32>>(
        &'a mut self,
        prompt: &[u32],
        stops: &'a [u32],
        choose: F,
    ) -> Result<Generator<'a, F>> {
        let logits = self.feed(prompt)?;
        Ok(Generator { session: self, stops, choose, next: Next::Logits(logits) })
    }

    /// Logits of each chunk of tokens.
    fn in_chunks(&mut self, tokens: &[u32], logits: Logits) -> Result<Vec<Tensor>> {
        let (used, capacity) = (self.length(), self.capacity());
        if tokens.len() > capacity - used {
            return Err(Error::ContextTooLong { tokens: tokens.len(), used, capacity });
        }
        let mut found = Vec::new();
        for chunk in tokens.chunks(self.chunk) {
            match self.model.forward(chunk, &mut self.cache, logits) {
                Ok(logits) => found.push(logits),
                Err(error) => {
                    self.truncate(used);
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

/// The token with the greatest logit; of equal ones the first. Waits for the device.
///
/// # Errors
/// An error of the device.
#[doc(alias = "argmax")]
pub fn greedy(logits: &Tensor) -> Result<u32> {
    Ok(logits.argmax(0)?.to_vec0::<u32>()?)
}

/// The tokens of a text, one after another: see [`Session::generate`].
#[derive(Debug)]
pub struct Generator<'a, F> {
    session: &'a mut Session,
    stops: &'a [u32],
    choose: F,
    next: Next,
}

/// What the next token depends on.
#[derive(Debug)]
enum Next {
    Logits(Tensor),
    /// The token that was given last, which is not computed before another one is asked for.
    Token(u32),
    Nothing,
}

impl<F: FnMut(&Tensor) -> Result<u32>> Generator<'_, F> {
    fn token(&mut self) -> Result<u32> {
        let logits = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Logits(logits) => logits,
            Next::Token(token) => self.session.feed(&[token])?,
            Next::Nothing => return Err(Error::NoTokens),
        };
        (self.choose)(&logits)
    }
}

impl<F: FnMut(&Tensor) -> Result<u32>> Iterator for Generator<'_, F> {
    type Item = Result<u32>;

    fn next(&mut self) -> Option<Result<u32>> {
        if matches!(self.next, Next::Nothing) {
            return None;
        }
        match self.token() {
            Ok(token) if self.stops.contains(&token) => None,
            Ok(token) => {
                self.next = Next::Token(token);
                Some(Ok(token))
            }
            Err(error) => Some(Err(error)),
        }
    }
}
