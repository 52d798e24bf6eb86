//! How positions turn queries and keys.

use serde_json::Value as Json;

use super::architecture::Architecture;
use super::settings::{Origin, Settings};
use crate::error::{Error, Result};

/// The rotary embedding of positions: pair i of a head of d numbers turns by position · base^(−2i/d), scaled.
#[doc(alias = "RoPE")]
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Rope {
    /// The base of the frequencies.
    pub base: f64,
    /// How the frequencies were changed for longer contexts.
    pub scaling: Scaling,
}

/// How frequencies of positions are changed for contexts that are longer than those of the training.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Scaling {
    /// Not at all, or by the factors in the weight `rope_freqs`, which GGUF files of Llama 3 have.
    None,
    /// All frequencies are divided by this factor.
    Linear(f64),
    /// Llama 3's: low frequencies are divided, high ones are not, and those between are in part.
    Llama3 {
        /// The divisor of low frequencies.
        factor: f64,
        /// Waves longer than `original` / `low` are low frequencies.
        low: f64,
        /// Waves shorter than `original` / `high` are high ones.
        high: f64,
        /// The context of the training, in tokens.
        original: f64,
    },
}

/// The positions of layers without and with a window.
pub(super) fn read(settings: &Settings, head_size: usize) -> Result<(Rope, Rope)> {
    match settings.origin() {
        Origin::Gguf => of_gguf(settings, head_size),
        Origin::HuggingFace => of_json(settings),
    }
}

fn of_gguf(settings: &Settings, head_size: usize) -> Result<(Rope, Rope)> {
    const TURNED: &str = "rope.dimension_count";
    const KIND: &str = "rope.scaling.type";
    if settings.find_count(TURNED)?.is_some_and(|turned| turned != head_size) {
        return Err(settings.wrong(TURNED, format!("{head_size}, the size of a head")));
    }
    settings.require_text(KIND, &["none", "linear"])?;
    let factor = match settings.find_number("rope.scaling.factor")? {
        None => settings.find_number("rope.scale_linear")?,
        found => found,
    };
    let scaling = match (settings.find_text(KIND)?, factor) {
        (Some("none"), _) | (_, None) => Scaling::None,
        // Files have 0 for none.
        (_, Some(factor)) if factor > 0.0 => Scaling::Linear(factor),
        _ => Scaling::None,
    };
    let rope = Rope { base: base(settings, "rope.freq_base")?, scaling };
    Ok((rope, local(settings, rope)?))
}

/// The positions of layers with a window: the same, but for Gemma 3.
fn local(settings: &Settings, rope: Rope) -> Result<Rope> {
    if settings.architecture() != Architecture::Gemma3 {
        return Ok(rope);
    }
    Ok(Rope { base: base(settings, "rope.freq_base_swa")?, scaling: Scaling::None })
}

fn base(settings: &Settings, key: &str) -> Result<f64> {
    let base = settings.number(key)?;
    if base > 0.0 { Ok(base) } else { Err(settings.wrong(key, "more than 0")) }
}

/// Newer files have `rope_parameters`, for Gemma 3 one for each kind of layer. Older ones have the base beside a
/// `rope_scaling`.
fn of_json(settings: &Settings) -> Result<(Rope, Rope)> {
    let json = settings.json().unwrap_or(&Json::Null);
    if let Some(share) = json.get("partial_rotary_factor").and_then(Json::as_f64)
        && share != 1.0
    {
        return Err(settings.wrong("partial_rotary_factor", "1"));
    }
    let parameters = json.get("rope_parameters").filter(|parameters| parameters.is_object());
    let of_kind = |kind: &str| parameters.map(|all| all.get(kind).unwrap_or(all));
    let full = of_kind("full_attention");
    let scaling = full.or_else(|| json.get("rope_scaling")).map_or(Ok(Scaling::None), scaling)?;
    let base_of = |parameters: Option<&Json>, key: &str| {
        let own = parameters.and_then(|own| own.get("rope_theta")).and_then(Json::as_f64);
        own.filter(|base| *base > 0.0).map_or_else(|| base(settings, key), Ok)
    };
    let rope = Rope { base: base_of(full, "rope.freq_base")?, scaling };
    // Gemma 3's windows have positions of their own only where the two kinds are told apart.
    let apart = parameters.and_then(|all| all.get("sliding_attention"));
    let local = match apart {
        Some(own) => Rope { base: base_of(Some(own), "rope.freq_base_swa")?, scaling: self::scaling(own)? },
        None => local(settings, rope)?,
    };
    Ok((rope, local))
}

/// The scaling in `rope_scaling` or `rope_parameters`.
fn scaling(parameters: &Json) -> Result<Scaling> {
    let kind = parameters.get("rope_type").or_else(|| parameters.get("type")).and_then(Json::as_str);
    let number = |key: &str| {
        let found = parameters.get(key);
        found.and_then(Json::as_f64).filter(|number| *number > 0.0).ok_or_else(|| match found {
            None => Error::MissingSetting { location: LOCATION, key: key.to_owned() },
            Some(found) => wrong(key, &found.to_string(), "a number greater than 0"),
        })
    };
    match kind {
        None | Some("default") => Ok(Scaling::None),
        Some("linear") => Ok(Scaling::Linear(number("factor")?)),
        Some("llama3") => Ok(Scaling::Llama3 {
            factor: number("factor")?,
            low: number("low_freq_factor")?,
            high: number("high_freq_factor")?,
            original: number("original_max_position_embeddings")?,
        }),
        Some(other) => Err(wrong("rope_type", &format!("{other:?}"), "default, linear or llama3")),
    }
}

const LOCATION: &str = "config.json's rope_parameters or rope_scaling";

fn wrong(key: &str, found: &str, expected: &str) -> Error {
    let (key, found, expected) = (key.to_owned(), found.to_owned(), expected.to_owned());
    Error::WrongSetting { location: LOCATION, key, found, expected }
}
