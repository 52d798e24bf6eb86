//! An answer: text that goes on from a prompt, as it comes.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::generate::Session;
use crate::text::{Sampler, Sampling, StopStrings, Tokenizer};

/// How the tokens of an answer are chosen, and when it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerOptions {
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// The most tokens of the answer.
    pub most: usize,
    /// Texts that end the answer; it does not have them.
    pub stops: Vec<String>,
}

impl Default for AnswerOptions {
    /// 256 tokens at most, chosen by [`Sampling::default`].
    fn default() -> AnswerOptions {
        AnswerOptions { sampling: Sampling::default(), most: 256, stops: Vec::new() }
    }
}

/// What an answer is, and how long it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The text, without what ended it.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<u32>,
    /// How many tokens the prompt had that were new.
    pub prompt_tokens: usize,
    /// From the prompt to the first token.
    pub first: Duration,
    /// From the first token to the last.
    pub rest: Duration,
    /// Whether the receiver of the text ended it.
    pub interrupted: bool,
}

impl Answer {
    /// Tokens a second of the prompt.
    pub fn prompt_rate(&self) -> f64 {
        self.prompt_tokens as f64 / self.first.as_secs_f64().max(1e-9)
    }

    /// Tokens a second after the first one.
    pub fn rate(&self) -> f64 {
        self.tokens.len().saturating_sub(1) as f64 / self.rest.as_secs_f64().max(1e-9)
    }
}

impl Session {
    /// Adds the tokens of `prompt` and of an answer, whose text `show` gets in whole characters, until `show` breaks. `known` are
    /// the tokens that the session has: the penalty for repetition looks at them. A full context ends the answer.
    ///
    /// # Errors
    /// As [`Session::feed`] of the prompt; [`Error::Text`] for settings of the sampler out of range.
    pub fn answer(
        &mut self,
        tokenizer: &Tokenizer,
        (known, prompt): (&[u32], &[u32]),
        options: &AnswerOptions,
        show: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Answer> {
        let mut sampler = Sampler::new(options.sampling.clone())?;
        let stop_tokens: Vec<u32> = tokenizer.stop_tokens().iter().copied().collect();
        let mut stops = StopStrings::new(options.stops.iter().cloned());
        let mut stream = tokenizer.stream();
        let history = RefCell::new([known, prompt].concat());
        let mut answer = Answer { prompt_tokens: prompt.len(), ..Answer::default() };
        let start = Instant::now();
        let choose = |logits: &tensor_core::Tensor| {
            let mut logits = logits.to_vec1::<f32>()?;
            Ok(sampler.sample(&mut logits, &history.borrow())?)
        };
        for token in self.generate(prompt, &stop_tokens, choose)?.take(options.most) {
            let token = match token {
                Err(Error::ContextTooLong { .. }) if !answer.tokens.is_empty() => break,
                token => token?,
            };
            if answer.tokens.is_empty() {
                answer.first = start.elapsed();
            }
            answer.tokens.push(token);
            history.borrow_mut().push(token);
            let text = stops.push(&stream.push(token)?);
            answer.interrupted = show(&text).is_break();
            answer.text += &text;
            if stops.is_stopped() || answer.interrupted {
                break;
            }
        }
        let whole = start.elapsed();
        if answer.tokens.is_empty() {
            answer.first = whole;
        }
        answer.rest = whole - answer.first;
        if !stops.is_stopped() {
            let rest = stops.push(&stream.finish()) + &stops.finish();
            // Whoever broke is not asked again.
            answer.interrupted = answer.interrupted || show(&rest).is_break();
            answer.text += &rest;
        }
        Ok(answer)
    }
}
