//! Text: tokens and back, chats, the choice of the next token, and the end of generation.
//!
//! ```
//! use models::text::{ChatOptions, ChatTemplate, Message, Sampler, Sampling, StopStrings};
//!
//! # fn main() -> models::text::Result<()> {
//! // A conversation becomes a prompt by the model's own template.
//! let template = ChatTemplate::new("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>")?;
//! let prompt = template.render(&[Message::user("Hello!")], &ChatOptions::default())?;
//! assert_eq!(prompt, "<user>Hello!<assistant>");
//!
//! // Each step of the model gives logits, and a sampler chooses a token.
//! let mut sampler = Sampler::new(Sampling { top_k: 2, seed: 7, ..Sampling::default() })?;
//! let mut logits = [1.0, 3.0, -2.0, 2.5];
//! let token = sampler.sample(&mut logits, &[])?;
//! assert!(token == 1 || token == 3);
//!
//! // Text ends at a stop string, also if it comes in pieces.
//! let mut stops = StopStrings::new(["<user>"]);
//! assert_eq!((stops.push("Hi!<us"), stops.push("er>"), stops.is_stopped()), ("Hi!".into(), "".into(), true));
//! # Ok(())
//! # }
//! ```
//!
//! # Parts
//! - [`Tokenizer`] encodes and decodes, from a GGUF file's metadata or a `tokenizer.json`. [`TextStream`] decodes tokens
//!   as they come, in whole characters.
//! - [`ChatTemplate`] renders messages.
//! - [`Sampler`] chooses a token from logits on the host.
//! - [`Tokenizer::stop_tokens`] and [`StopStrings`] end generation.

mod alphabet;
mod bpe;
mod candidates;
mod chat;
mod error;
mod gguf;
mod json;
mod open;
mod partition;
mod pre_tokenizer;
mod python;
mod sampler;
mod sentencepiece;
mod special;
mod stop;
mod stream;
mod tokenizer;
mod vocabulary;

pub use chat::{ChatOptions, ChatTemplate, Message};
pub use error::{Error, Result};
pub use sampler::{Candidate, NEAR_TIE, Sampler, Sampling};
pub use special::SpecialTokens;
pub use stop::StopStrings;
pub use stream::TextStream;
pub use tokenizer::{EncodeOptions, Tokenizer};
pub use vocabulary::TokenKind;
