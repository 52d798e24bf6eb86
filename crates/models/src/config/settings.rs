//! The settings of a model as its files have them: GGUF's metadata, or a config.json.

use std::path::Path;

use serde_json::Value as Json;
use weights::Checkpoint;
use weights::gguf::{Array, Metadata, Value};

use super::architecture::Architecture;
use super::defaults;
use crate::error::{Error, Result};
use crate::files;

/// Who wrote the files. Besides the keys of settings, weights differ: llama.cpp's converter permutes the rows of q and k of
/// Llama models, and adds 1 to the weights of Gemma's norms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A GGUF file, as llama.cpp's converter writes it.
    Gguf,
    /// Safetensors files and a config.json, as Hugging Face's transformers writes them.
    HuggingFace,
}

/// GGUF's keys, without the architecture in front, and those of config.json.
const KEYS: [(&str, &str); 15] = [
    ("context_length", "max_position_embeddings"),
    ("embedding_length", "hidden_size"),
    ("block_count", "num_hidden_layers"),
    ("feed_forward_length", "intermediate_size"),
    ("attention.head_count", "num_attention_heads"),
    ("attention.head_count_kv", "num_key_value_heads"),
    ("attention.key_length", "head_dim"),
    ("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
    ("attention.layer_norm_epsilon", "layer_norm_eps"),
    ("attention.sliding_window", "sliding_window"),
    ("attention.sliding_window_pattern", "sliding_window_pattern"),
    ("rope.freq_base", "rope_theta"),
    ("rope.freq_base_swa", "rope_local_base_freq"),
    ("final_logit_softcapping", "final_logit_softcapping"),
    ("attn_logit_softcapping", "attn_logit_softcapping"),
];

/// The settings of a model, by GGUF's keys. In a config.json they are found by the names that are used there.
#[derive(Debug, Clone)]
pub struct Settings {
    architecture: Architecture,
    values: Values,
}

#[derive(Debug, Clone)]
enum Values {
    Gguf(Metadata),
    Json(Json),
}

/// A setting that is there.
enum Found<'a> {
    Gguf(&'a Value),
    Json(&'a Json),
}

impl Settings {
    /// The settings of the model at `path`, a file or folder, whose checkpoint is open: the metadata of a GGUF file, or the
    /// config.json beside safetensors files.
    ///
    /// # Errors
    /// [`Error::ConfigFile`], [`Error::Json`], or as [`Settings::from_gguf`].
    pub fn read(path: impl AsRef<Path>, checkpoint: &Checkpoint) -> Result<Settings> {
        if checkpoint.as_gguf().is_some() {
            return Settings::from_gguf(checkpoint.metadata());
        }
        let path = path.as_ref();
        let folder = if path.is_dir() { Some(path) } else { path.parent() };
        let path = folder.unwrap_or(Path::new("")).join("config.json");
        match files::text(&path) {
            Ok(text) => Settings::from_json(&text),
            Err(source) => Err(Error::ConfigFile { path, source }),
        }
    }

    /// The settings in the metadata of a GGUF file.
    ///
    /// # Errors
    /// [`Error::MissingSetting`] without `general.architecture`; [`Error::UnknownArchitecture`].
    pub fn from_gguf(metadata: &Metadata) -> Result<Settings> {
        const KEY: &str = "general.architecture";
        let name = metadata.str(KEY).ok_or_else(|| Error::MissingSetting {
            location: Origin::Gguf.location(),
            key: KEY.to_owned(),
        })?;
        let architecture = Architecture::from_name(name)?;
        Ok(Settings { architecture, values: Values::Gguf(metadata.clone()) })
    }

    /// The settings in the text of a config.json. Of a model for texts and images it takes those of the text part.
    ///
    /// # Errors
    /// [`Error::Json`]; [`Error::MissingSetting`] without `model_type`; [`Error::UnknownArchitecture`].
    pub fn from_json(text: &str) -> Result<Settings> {
        let mut values: Json = serde_json::from_str(text)?;
        let name = values.get("model_type").and_then(Json::as_str).ok_or_else(|| Error::MissingSetting {
            location: Origin::HuggingFace.location(),
            key: "model_type".to_owned(),
        })?;
        let architecture = Architecture::from_name(name)?;
        if let Some(part) = values.get_mut("text_config").filter(|part| part.is_object()) {
            let part = part.take();
            return Ok(Settings { architecture, values: Values::Json(part) });
        }
        Ok(Settings { architecture, values: Values::Json(values) })
    }

    /// The architecture.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Who wrote the files.
    pub fn origin(&self) -> Origin {
        match self.values {
            Values::Gguf(_) => Origin::Gguf,
            Values::Json(_) => Origin::HuggingFace,
        }
    }

    /// The whole config.json, for settings that only it has.
    pub(super) fn json(&self) -> Option<&Json> {
        match &self.values {
            Values::Gguf(_) => None,
            Values::Json(json) => Some(json),
        }
    }

    /// A whole number.
    pub(crate) fn count(&self, key: &str) -> Result<usize> {
        self.find_count(key)?.ok_or_else(|| self.missing(key))
    }

    /// A whole number that may be missing, or its default.
    pub(crate) fn find_count(&self, key: &str) -> Result<Option<usize>> {
        let number = match self.find(key) {
            None => return Ok(self.default(key).map(|value| value as usize)),
            Some(Found::Gguf(value)) => value.as_u64(),
            Some(Found::Json(value)) => value.as_u64(),
        };
        // Products of two are no larger than a `usize`.
        match number.and_then(|number| u32::try_from(number).ok()) {
            Some(number) => Ok(Some(number as usize)),
            None => Err(self.wrong(key, "a whole number below 2^32")),
        }
    }

    /// A number.
    pub(crate) fn number(&self, key: &str) -> Result<f64> {
        self.find_number(key)?.ok_or_else(|| self.missing(key))
    }

    /// A number that may be missing, or its default.
    pub(crate) fn find_number(&self, key: &str) -> Result<Option<f64>> {
        let number = match self.find(key) {
            None => return Ok(self.default(key)),
            Some(Found::Gguf(value)) => value.as_f64(),
            Some(Found::Json(value)) => value.as_f64(),
        };
        number.filter(|number| number.is_finite()).map(Some).ok_or_else(|| self.wrong(key, "a number"))
    }

    /// A text that may be missing.
    pub(crate) fn find_text(&self, key: &str) -> Result<Option<&str>> {
        let text = match self.find(key) {
            None => return Ok(None),
            Some(Found::Gguf(value)) => value.as_str(),
            Some(Found::Json(value)) => value.as_str(),
        };
        text.map(Some).ok_or_else(|| self.wrong(key, "a text"))
    }

    /// A truth value that may be missing.
    pub(crate) fn find_flag(&self, key: &str) -> Result<Option<bool>> {
        let flag = match self.find(key) {
            None => return Ok(None),
            Some(Found::Gguf(value)) => value.as_bool(),
            Some(Found::Json(value)) => value.as_bool(),
        };
        flag.map(Some).ok_or_else(|| self.wrong(key, "true or false"))
    }

    /// The truth values of a list, if the setting is a list of such in a GGUF file.
    pub(super) fn find_flags(&self, key: &str) -> Option<&[bool]> {
        match self.find(key) {
            Some(Found::Gguf(Value::Array(Array::Bool(flags)))) => Some(flags),
            _ => None,
        }
    }

    /// An error unless the setting, if it is there, is one of these texts.
    pub(crate) fn require_text(&self, key: &str, known: &[&str]) -> Result<()> {
        match self.find_text(key)? {
            Some(found) if !known.contains(&found) => Err(self.wrong(key, known.join(" or "))),
            _ => Ok(()),
        }
    }

    /// The error for a setting that is missing.
    pub(crate) fn missing(&self, key: &str) -> Error {
        Error::MissingSetting { location: self.origin().location(), key: self.own_key(key) }
    }

    /// The error for a setting with another value than `expected`.
    pub(crate) fn wrong(&self, key: &str, expected: impl Into<String>) -> Error {
        let found = match self.find(key) {
            None => "missing".to_owned(),
            Some(Found::Gguf(value)) => shown(value),
            Some(Found::Json(value)) => value.to_string(),
        };
        let (location, key) = (self.origin().location(), self.own_key(key));
        Error::WrongSetting { location, key, found, expected: expected.into() }
    }

    fn default(&self, key: &str) -> Option<f64> {
        defaults::find(self.architecture, self.origin(), key)
    }

    fn find(&self, key: &str) -> Option<Found<'_>> {
        let own = self.own_key(key);
        match &self.values {
            Values::Gguf(metadata) => metadata.get(&own).map(Found::Gguf),
            // `null` stands for a value that a class of Python leaves out.
            Values::Json(json) => json.get(&own).filter(|value| !value.is_null()).map(Found::Json),
        }
    }

    /// The key as the file has it.
    fn own_key(&self, key: &str) -> String {
        match self.values {
            Values::Gguf(_) => format!("{}.{key}", self.architecture),
            Values::Json(_) => {
                KEYS.iter().find(|(known, _)| *known == key).map_or(key, |(_, json)| json).to_owned()
            }
        }
    }
}

impl Origin {
    /// Where the settings are, in messages.
    pub(crate) const fn location(self) -> &'static str {
        match self {
            Origin::Gguf => "the GGUF file's metadata",
            Origin::HuggingFace => "config.json",
        }
    }
}

/// A value in a message: arrays only by their type, for they may be as long as the file.
fn shown(value: &Value) -> String {
    match (value, value.as_u64(), value.as_f64()) {
        (Value::String(text), ..) => format!("{text:?}"),
        (Value::Bool(flag), ..) => flag.to_string(),
        (_, Some(number), _) => number.to_string(),
        (_, _, Some(number)) => number.to_string(),
        _ => format!("of type {}", value.type_name()),
    }
}
