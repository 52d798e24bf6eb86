//! One text after another: prompts in chunks, then token by token.

use tensor_core::Tensor;

use crate::batch::{Batch, SessionOptions};
use crate::error::{Error, Result};
use crate::model::LanguageModel;

/// A text in the making: a model, and the keys and values of the tokens so far. Sessions of clones of one model share its
/// weights; each computes by itself.
///
/// It is a [`Batch`] of one sequence: there is more on its steps.
#[derive(Debug)]
pub struct Session {
    batch: Batch,
}

impl Session {
    /// A session without tokens.
    ///
    /// # Errors
    /// As [`LanguageModel::new_cache`].
    pub fn new(model: &LanguageModel, options: &SessionOptions) -> Result<Session> {
        Ok(Session { batch: Batch::new(model, 1, options)? })
    }

    /// The model.
    pub fn model(&self) -> &LanguageModel {
        self.batch.model()
    }

    /// Tokens so far.
    pub fn length(&self) -> usize {
        self.batch.length(0).expect("a session has a sequence")
    }

    /// The most tokens.
    pub fn capacity(&self) -> usize {
        self.batch.capacity()
    }

    /// Forgets all tokens but the first `length`, so that a text may go on from there in another way.
    pub fn truncate(&mut self, length: usize) {
        self.batch.truncate(0, length).expect("a session has a sequence");
    }

    /// Adds tokens, and gives the logits of the next one: `[vocabulary]` in `f32`, on the device.
    ///
    /// # Errors
    /// As [`LanguageModel::forward`]. The session then has the tokens that it had.
    pub fn feed(&mut self, tokens: &[u32]) -> Result<Tensor> {
        match *tokens {
            [token] => Ok(self.batch.step(&[Some(token)])?.squeeze(0)?),
            _ => self.batch.feed(0, tokens),
        }
    }

    /// Adds tokens, and gives the logits after each of them: `[tokens, vocabulary]` in `f32`, on the device.
    ///
    /// # Errors
    /// As [`Session::feed`].
    pub fn feed_all(&mut self, tokens: &[u32]) -> Result<Tensor> {
        self.batch.feed_all(0, tokens)
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
