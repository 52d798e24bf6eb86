//! Why a model cannot be made or used.

use std::path::PathBuf;

use tensor_core::Shape;

use crate::config::Architecture;

/// A `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

hip_sys::debug_by_display!(Error);

/// Why a model cannot be made or used.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file, an operation or a device failed.
    #[error(transparent)]
    Tensor(#[from] tensor_core::Error),
    /// Text could not be encoded, decoded or rendered, or a token could not be chosen.
    #[error(transparent)]
    Text(#[from] crate::text::Error),
    /// The settings name an architecture that this crate does not have.
    #[error("the architecture {found:?} is not known; known are {}", Architecture::known())]
    UnknownArchitecture {
        /// The name in the file.
        found: String,
    },
    /// The architecture does something else than what was asked for.
    #[error("{architecture} {is}, and does not {asked}")]
    WrongKind {
        /// The architecture of the model.
        architecture: Architecture,
        /// What models of this architecture are.
        is: &'static str,
        /// What they were asked to do.
        asked: &'static str,
    },
    /// A setting is missing, and the architecture has no default for it.
    #[error("{location} has no {key:?}")]
    MissingSetting {
        /// Where it was looked for.
        location: &'static str,
        /// The key there.
        key: String,
    },
    /// A setting has another type or value than models here have.
    #[error("{key:?} of {location} is {found}; expected {expected}")]
    WrongSetting {
        /// Where the setting is.
        location: &'static str,
        /// The key there.
        key: String,
        /// What was found.
        found: String,
        /// What would do.
        expected: String,
    },
    /// The file with the settings cannot be read.
    #[error("{}: {source}; a folder with safetensors files needs its config.json", path.display())]
    ConfigFile {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The settings are no JSON.
    #[error("config.json: {0}")]
    Json(#[from] serde_json::Error),
    /// The model lacks a weight that its architecture needs.
    #[error("the model has no weight {name:?}, which {architecture} needs")]
    MissingWeight {
        /// GGUF's name of the weight.
        name: String,
        /// The architecture.
        architecture: Architecture,
    },
    /// A weight has another shape than the settings say.
    #[error("the weight {name:?} is {found}; by the settings it is {expected}")]
    WrongShape {
        /// GGUF's name of the weight.
        name: String,
        /// Its shape.
        found: Box<Shape>,
        /// The shape that the settings give.
        expected: Box<Shape>,
    },
    /// The tokens do not fit what is left of the context.
    #[error(
        "{tokens} more tokens after {used} do not fit a context of {capacity}; make a session with a larger context, or begin anew"
    )]
    ContextTooLong {
        /// Tokens to be added.
        tokens: usize,
        /// Tokens that the context holds.
        used: usize,
        /// The most that it holds.
        capacity: usize,
    },
    /// The pages that are free do not hold the tokens.
    #[error(
        "pages of {page} tokens: {needed} more are needed, and {free} of {pages} are free; truncate a sequence, or make the batch with a larger pool (SessionOptions::pool)"
    )]
    OutOfPages {
        /// Pages to be taken.
        needed: usize,
        /// Tokens of a page.
        page: usize,
        /// Pages that no sequence has.
        free: usize,
        /// All pages.
        pages: usize,
    },
    /// The budget of a model's weights does not hold what has to be on the device at once.
    #[error(
        "a budget of {budget} bytes is too small: the largest layer and what is outside of layers take {needed}; give at least these"
    )]
    BudgetTooSmall {
        /// The bytes that were given.
        budget: u64,
        /// The fewest that do.
        needed: u64,
    },
    /// A token that the vocabulary does not have.
    #[error("the token {token} is not in the vocabulary, which has {vocabulary}")]
    UnknownToken {
        /// The token.
        token: u32,
        /// The size of the vocabulary.
        vocabulary: usize,
    },
    /// There are no tokens to compute something for.
    #[error("there are no tokens to begin with")]
    NoTokens,
    /// A cache was made for another model.
    #[error("the cache has {found} layers, and the model has {expected}: it was made for another model")]
    WrongCache {
        /// Layers of the cache.
        found: usize,
        /// Layers of the model.
        expected: usize,
    },
    /// A sequence that the batch or the cache does not have.
    #[error("there is no sequence {sequence}: there are {sequences}, and the first is 0")]
    UnknownSequence {
        /// The sequence.
        sequence: usize,
        /// How many there are.
        sequences: usize,
    },
    /// A step of a batch got another number of tokens than it has sequences.
    #[error(
        "a step got {found} tokens or gaps, and the batch has {sequences} sequences: give one of them for each"
    )]
    WrongBatch {
        /// Tokens and gaps of the step.
        found: usize,
        /// Sequences of the batch.
        sequences: usize,
    },
}
