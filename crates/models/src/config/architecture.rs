//! The architectures, and their names in files.

use std::fmt;

use crate::error::{Error, Result};

/// How a model computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Architecture {
    /// Llama 2 and 3, Mistral, SmolLM2.
    Llama,
    /// Qwen2 and Qwen2.5.
    Qwen2,
    /// Qwen3, without experts.
    Qwen3,
    /// The text part of Gemma 3.
    Gemma3,
    /// BERT, an encoder, such as all-MiniLM-L6-v2.
    Bert,
}

/// The names in files: `general.architecture` of GGUF, `model_type` of config.json.
const NAMES: [(&str, Architecture); 7] = [
    ("llama", Architecture::Llama),
    ("mistral", Architecture::Llama),
    ("qwen2", Architecture::Qwen2),
    ("qwen3", Architecture::Qwen3),
    ("gemma3", Architecture::Gemma3),
    ("gemma3_text", Architecture::Gemma3),
    ("bert", Architecture::Bert),
];

impl Architecture {
    /// The architecture of that name in a GGUF file or in a config.json.
    ///
    /// ```
    /// use models::Architecture;
    ///
    /// assert_eq!(Architecture::from_name("mistral").unwrap(), Architecture::Llama);
    /// let error = Architecture::from_name("mamba").unwrap_err().to_string();
    /// assert_eq!(
    ///     error,
    ///     "the architecture \"mamba\" is not known; known are llama mistral qwen2 qwen3 gemma3 gemma3_text bert"
    /// );
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownArchitecture`], which lists the known ones.
    pub fn from_name(name: &str) -> Result<Architecture> {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known
            .map(|(_, architecture)| *architecture)
            .ok_or_else(|| Error::UnknownArchitecture { found: name.to_owned() })
    }

    /// The name in GGUF files, which is the prefix of its settings there.
    pub const fn name(self) -> &'static str {
        match self {
            Architecture::Llama => "llama",
            Architecture::Qwen2 => "qwen2",
            Architecture::Qwen3 => "qwen3",
            Architecture::Gemma3 => "gemma3",
            Architecture::Bert => "bert",
        }
    }

    /// All known names, for messages.
    pub(crate) fn known() -> String {
        NAMES.map(|(name, _)| name).join(" ")
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
