//! The tokenizer and the chat template of a model's files.

use std::path::Path;

use weights::Checkpoint;

use super::chat::ChatTemplate;
use super::error::Result;
use super::tokenizer::Tokenizer;

impl Tokenizer {
    /// The tokenizer of the model at `path`, which was opened as `checkpoint`: in a GGUF file's metadata, or beside safetensors
    /// files.
    ///
    /// # Errors
    /// As [`Tokenizer::from_gguf`] and [`Tokenizer::from_json`].
    pub fn of_model(path: &Path, checkpoint: &Checkpoint) -> Result<Tokenizer> {
        match checkpoint.as_gguf() {
            Some(_) => Tokenizer::from_gguf(checkpoint.metadata()),
            None => Tokenizer::from_json(folder(path)),
        }
    }
}

impl ChatTemplate {
    /// The chat template of the model at `path`, which was opened as `checkpoint`, if there is one.
    ///
    /// # Errors
    /// As [`ChatTemplate::from_gguf`] and [`ChatTemplate::from_folder`].
    pub fn of_model(
        path: &Path,
        checkpoint: &Checkpoint,
        tokenizer: &Tokenizer,
    ) -> Result<Option<ChatTemplate>> {
        match checkpoint.as_gguf() {
            Some(_) => ChatTemplate::from_gguf(checkpoint.metadata(), tokenizer),
            None => ChatTemplate::from_folder(folder(path), tokenizer),
        }
    }
}

/// The folder that a model is, or lies in.
fn folder(model: &Path) -> &Path {
    let parent = model.parent().filter(|parent| !parent.as_os_str().is_empty());
    if model.is_dir() { model } else { parent.unwrap_or(Path::new(".")) }
}
