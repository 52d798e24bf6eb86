//! Errors of text: files that are damaged or not known, and settings out of range.

use std::path::PathBuf;

/// A `Result` with this module's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

hip_sys::debug_by_display!(Error);

/// Text could not be read, encoded, decoded or rendered, or a token could not be chosen.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A JSON file is damaged, or has what is not understood.
    #[error("{}: {what}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        what: String,
    },
    /// A value of a GGUF file's metadata is missing or wrong.
    #[error("{key} {what}")]
    Metadata {
        /// The name of the value.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    /// `tokenizer.ggml.model` names a kind of tokenizer that is not supported.
    #[error("tokenizer.ggml.model is {found:?}, which is not supported; supported are {known:?}")]
    UnknownTokenizer {
        /// The name in the file.
        found: String,
        /// The names that are supported.
        known: Vec<&'static str>,
    },
    /// `tokenizer.ggml.pre` names a pre-tokenizer that is not known. Another one would encode text differently from how
    /// the model was trained.
    #[error("tokenizer.ggml.pre is {found:?}, which is not known; known are {known:?}")]
    UnknownPreTokenizer {
        /// The name in the file.
        found: String,
        /// The names that are known.
        known: Vec<&'static str>,
    },
    /// A token id that the vocabulary does not have.
    #[error("token {id} is out of range: the vocabulary has {len} tokens")]
    TokenId {
        /// The id.
        id: u32,
        /// How many tokens there are.
        len: usize,
    },
    /// The text could not be encoded: a `tokenizer.json` without a token for it, and without one for unknown text.
    #[error("the text could not be encoded: {what}")]
    Encode {
        /// What the tokenizer says.
        what: String,
    },
    /// The tokens could not be decoded.
    #[error("the tokens could not be decoded: {what}")]
    Decode {
        /// Why.
        what: String,
    },
    /// A chat template is wrong, or refused the messages with `raise_exception`.
    #[error("chat template{}: {what}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Template {
        /// The line of the template, from 1.
        line: Option<usize>,
        /// What is wrong, or the template's own words.
        what: String,
    },
    /// A setting of the sampler is out of range.
    #[error("{name} is {value}; it must be {expected}")]
    Sampling {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f32,
        /// The range.
        expected: &'static str,
    },
    /// No token can be chosen from these logits.
    #[error("no token can be chosen from {len} logits: {what}")]
    Logits {
        /// How many there are.
        len: usize,
        /// What is wrong with them.
        what: &'static str,
    },
}

impl Error {
    /// An error of a GGUF file's metadata.
    pub(super) fn metadata(key: &str, what: impl Into<String>) -> Error {
        Error::Metadata { key: key.to_owned(), what: what.into() }
    }
}
