//! Language models and sentence encoders, from GGUF files and from folders with safetensors files.
//!
//! ```no_run
//! use models::{LanguageModel, Session, SessionOptions, greedy};
//! use tensor_core::Device;
//!
//! # fn main() -> models::Result<()> {
//! // A GGUF file, or a folder with model.safetensors and config.json.
//! let model = LanguageModel::open("SmolLM2-135M-Instruct.Q4_1.gguf", &Device::Cpu)?;
//!
//! // A session has the keys and values of one text. Sessions share the weights.
//! let mut session = Session::new(&model, &SessionOptions { context: Some(1024), ..Default::default() })?;
//! let prompt = [1, 9690, 198];
//! for token in session.generate(&prompt, &[2], greedy)?.take(64) {
//!     println!("{}", token?);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Parts
//! - [`Settings`] are what the files say of a model, [`Config`] is what that means. [`Architecture`] lists what there is.
//! - [`LanguageModel`] continues texts. A [`Session`] is one text, a [`Generator`] gives its tokens, and a [`Batch`] is several
//!   texts that get their tokens together. An [`Answer`] is text of a session, and a [`Conversation`] has messages besides.
//! - [`Bert`] makes vectors of texts.
//! - [`text`] has tokenizers, chat templates, and the choice of the next token.
//!
//! Weights are those of a [`weights::Model`]: a model is made of references to them.
//!
#![forbid(unsafe_code)]

mod answer;
mod batch;
mod bert;
mod blocks;
mod cache;
mod config;
mod conversation;
mod error;
mod files;
mod gemma3;
mod generate;
mod llama;
mod model;
mod profile;
mod qwen2;
mod qwen3;
mod step;
mod steps;
pub mod text;
mod trace;

pub use answer::{Answer, AnswerOptions};
pub use batch::{Batch, SessionOptions};
pub use bert::{Bert, BertConfig, Pooling};
pub use cache::{Cache, CacheFormat};
pub use config::{Architecture, Config, Origin, Rope, Scaling, Settings};
pub use conversation::Conversation;
pub use error::{Error, Result};
pub use generate::{Generator, Session, greedy};
pub use model::LanguageModel;
pub use profile::OperationTime;
pub use step::Logits;
pub use trace::{Activation, Drift, drift};
