//! Which layers attend to a window of tokens only.

use serde_json::Value as Json;

use super::architecture::Architecture;
use super::settings::{Origin, Settings};
use crate::error::Result;

const WINDOW: &str = "attention.sliding_window";
const PATTERN: &str = "attention.sliding_window_pattern";

/// The window of each layer.
pub(super) fn read(settings: &Settings, layers: usize) -> Result<Vec<Option<usize>>> {
    let Some(window) = window(settings)? else { return Ok(vec![None; layers]) };
    let has = has_window(settings, layers)?;
    Ok(has.into_iter().map(|has| has.then_some(window)).collect())
}

/// The window, if the model has one.
fn window(settings: &Settings) -> Result<Option<usize>> {
    match (settings.architecture(), settings.origin()) {
        (Architecture::Gemma3, _) => {}
        // llama.cpp ignores the windows of Mistral 7B v0.1 and of Qwen2.
        (_, Origin::Gguf) => return Ok(None),
        (Architecture::Qwen2 | Architecture::Qwen3, Origin::HuggingFace) => {
            if settings.find_flag("use_sliding_window")? != Some(true) {
                return Ok(None);
            }
        }
        (_, Origin::HuggingFace) => {}
    }
    Ok(settings.find_count(WINDOW)?.filter(|window| *window > 0))
}

/// Which layers have it.
fn has_window(settings: &Settings, layers: usize) -> Result<Vec<bool>> {
    if let Some(kinds) =
        settings.json().and_then(|json| json.get("layer_types")).filter(|kinds| !kinds.is_null())
    {
        return kinds_of_layers(settings, kinds, layers);
    }
    match settings.architecture() {
        Architecture::Gemma3 => {
            if let Some(flags) = settings.find_flags(PATTERN) {
                if flags.len() != layers {
                    return Err(settings.wrong(PATTERN, format!("a truth value for each of {layers} layers")));
                }
                return Ok(flags.to_vec());
            }
            let every = match settings.find_count("_sliding_window_pattern")? {
                None => settings.count(PATTERN)?,
                Some(every) => every,
            };
            // The last of every so many layers sees everything; 0 stands for none of them.
            Ok((0..layers).map(|layer| every == 0 || (layer + 1) % every != 0).collect())
        }
        Architecture::Qwen2 | Architecture::Qwen3 => {
            let first = settings.count("max_window_layers")?;
            Ok((0..layers).map(|layer| layer >= first).collect())
        }
        _ => Ok(vec![true; layers]),
    }
}

/// What config.json says of each layer.
fn kinds_of_layers(settings: &Settings, kinds: &Json, layers: usize) -> Result<Vec<bool>> {
    let kind = |kind: &Json| match kind.as_str() {
        Some("sliding_attention") => Some(true),
        Some("full_attention") => Some(false),
        _ => None,
    };
    let all = kinds.as_array().filter(|kinds| kinds.len() == layers);
    all.and_then(|kinds| kinds.iter().map(kind).collect()).ok_or_else(|| {
        let expected = format!("full_attention or sliding_attention for each of {layers} layers");
        settings.wrong("layer_types", expected)
    })
}
