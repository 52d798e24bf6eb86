//! What files leave out: each default with where it is from.

use super::architecture::Architecture;
use super::settings::Origin;

/// A value that an architecture has where the file has none.
struct Default {
    architecture: Architecture,
    /// The files that it holds for; `None` for all.
    origin: Option<Origin>,
    /// GGUF's key.
    key: &'static str,
    value: f64,
    /// Who says so.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers, and a test"))]
    source: &'static str,
}

/// The default of a setting, by GGUF's key.
pub(super) fn find(architecture: Architecture, origin: Origin, key: &str) -> Option<f64> {
    let fits = |row: &&Default| {
        row.architecture == architecture && row.key == key && row.origin.is_none_or(|of| of == origin)
    };
    DEFAULTS.iter().find(fits).map(|row| row.value)
}

const fn all(architecture: Architecture, key: &'static str, value: f64, source: &'static str) -> Default {
    Default { architecture, origin: None, key, value, source }
}

const fn json(architecture: Architecture, key: &'static str, value: f64, source: &'static str) -> Default {
    Default { architecture, origin: Some(Origin::HuggingFace), key, value, source }
}

use Architecture::{Bert, Gemma3, Llama, Qwen2, Qwen3};

const LLAMA_CONFIG: &str = "transformers, LlamaConfig";
const QWEN2_CONFIG: &str = "transformers, Qwen2Config";
const QWEN3_CONFIG: &str = "transformers, Qwen3Config";
const GEMMA3_CONFIG: &str = "transformers, Gemma3TextConfig";
const BERT_CONFIG: &str = "transformers, BertConfig";
const LLAMA_CPP: &str = "llama.cpp, src/llama-model.cpp, load_hparams; transformers has the same";
const GEMMA3_CPP: &str = "llama.cpp, src/models/gemma3.cpp; transformers, Gemma3TextConfig, has the same";

/// All of them. An epsilon and a context are in every GGUF file.
const DEFAULTS: [Default; 24] = [
    all(Llama, "rope.freq_base", 1e4, LLAMA_CPP),
    json(Llama, "attention.layer_norm_rms_epsilon", 1e-6, LLAMA_CONFIG),
    json(Llama, "context_length", 2048.0, LLAMA_CONFIG),
    all(Qwen2, "rope.freq_base", 1e4, LLAMA_CPP),
    json(Qwen2, "attention.layer_norm_rms_epsilon", 1e-6, QWEN2_CONFIG),
    json(Qwen2, "context_length", 32768.0, QWEN2_CONFIG),
    json(Qwen2, "max_window_layers", 28.0, QWEN2_CONFIG),
    all(Qwen3, "rope.freq_base", 1e4, LLAMA_CPP),
    json(Qwen3, "attention.layer_norm_rms_epsilon", 1e-6, QWEN3_CONFIG),
    json(Qwen3, "attention.key_length", 128.0, QWEN3_CONFIG),
    json(Qwen3, "context_length", 32768.0, QWEN3_CONFIG),
    json(Qwen3, "max_window_layers", 28.0, QWEN3_CONFIG),
    all(Gemma3, "rope.freq_base", 1e6, "transformers, Gemma3TextConfig; llama.cpp's converter writes it"),
    all(Gemma3, "rope.freq_base_swa", 1e4, "llama.cpp, src/llama-hparams.h; transformers, Gemma3TextConfig"),
    all(Gemma3, "attention.sliding_window_pattern", 6.0, GEMMA3_CPP),
    json(Gemma3, "attention.sliding_window", 4096.0, GEMMA3_CONFIG),
    json(Gemma3, "attention.head_count", 8.0, GEMMA3_CONFIG),
    json(Gemma3, "attention.head_count_kv", 4.0, GEMMA3_CONFIG),
    json(Gemma3, "attention.key_length", 256.0, GEMMA3_CONFIG),
    json(Gemma3, "query_pre_attn_scalar", 256.0, GEMMA3_CONFIG),
    json(Gemma3, "attention.layer_norm_rms_epsilon", 1e-6, GEMMA3_CONFIG),
    json(Gemma3, "context_length", 131072.0, GEMMA3_CONFIG),
    json(Bert, "attention.layer_norm_epsilon", 1e-12, BERT_CONFIG),
    json(Bert, "context_length", 512.0, BERT_CONFIG),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_has_a_source_and_stands_once() {
        for (index, row) in DEFAULTS.iter().enumerate() {
            assert!(!row.source.is_empty(), "{}", row.key);
            let same = |other: &Default| other.architecture == row.architecture && other.key == row.key;
            assert!(!DEFAULTS[..index].iter().any(same), "{} {}", row.architecture, row.key);
        }
        assert_eq!(find(Gemma3, Origin::Gguf, "attention.sliding_window"), None);
        assert_eq!(find(Gemma3, Origin::HuggingFace, "attention.sliding_window"), Some(4096.0));
        assert_eq!(find(Gemma3, Origin::Gguf, "rope.freq_base_swa"), Some(10_000.0));
    }
}
