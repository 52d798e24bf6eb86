//! Names of weights: those of GGUF files, and those of Hugging Face's checkpoints.
//!
//! The short names are GGUF's, because they are the same for all architectures. Only names are translated: the rows of a
//! weight may have another order. llama.cpp's converter permutes those of `attn_q` and `attn_k` of Llama models.

use std::collections::BTreeMap;

/// What comes before the number of a layer.
const BEFORE_NUMBER: [&str; 6] = [
    "blk.",
    "model.layers.",
    "layers.",
    "model.language_model.layers.",
    "language_model.model.layers.",
    "transformer.h.",
];

/// Names within a layer, without their last part, `weight` or `bias`: Hugging Face's and GGUF's.
const IN_LAYER: [(&str, &str); 24] = [
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.qkv_proj", "attn_qkv"),
    ("self_attn.o_proj", "attn_output"),
    ("self_attn.q_norm", "attn_q_norm"),
    ("self_attn.k_norm", "attn_k_norm"),
    ("self_attn.sinks", "attn_sinks"),
    ("input_layernorm", "attn_norm"),
    ("post_attention_layernorm", "ffn_norm"),
    ("pre_feedforward_layernorm", "ffn_norm"),
    ("post_feedforward_layernorm", "post_ffw_norm"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
    ("mlp.gate_up_proj", "ffn_up"),
    ("mlp.gate", "ffn_gate_inp"),
    ("block_sparse_moe.gate", "ffn_gate_inp"),
    // GPT-2's.
    ("attn.c_attn", "attn_qkv"),
    ("attn.c_proj", "attn_output"),
    ("mlp.c_fc", "ffn_up"),
    ("mlp.c_proj", "ffn_down"),
    ("ln_1", "attn_norm"),
    ("ln_2", "ffn_norm"),
];

/// Names outside of layers.
const OUTSIDE: [(&str, &str); 6] = [
    ("model.embed_tokens", "token_embd"),
    ("model.language_model.embed_tokens", "token_embd"),
    ("language_model.model.embed_tokens", "token_embd"),
    ("model.norm", "output_norm"),
    ("model.language_model.norm", "output_norm"),
    ("lm_head", "output"),
];

/// The norm whose meaning depends on whether the layer has another one before its network.
const AFTER_ATTENTION: &str = "post_attention_layernorm";
/// That other one.
const BEFORE_NETWORK: &str = "pre_feedforward_layernorm.";

/// The names of each layer, within it and in the file.
pub(crate) type ByLayer<'a> = BTreeMap<usize, Vec<(&'a str, &'a str)>>;

/// Sorts the names that belong to layers.
pub(crate) fn by_layer<'a>(names: impl IntoIterator<Item = &'a str>) -> ByLayer<'a> {
    let mut layers = ByLayer::new();
    for name in names {
        if let Some((number, rest)) = in_layer(name) {
            layers.entry(number).or_default().push((rest, name));
        }
    }
    layers
}

/// GGUF's names of those that have another one in the file, each with that.
pub(crate) fn aliases<'a>(
    names: impl IntoIterator<Item = &'a str>,
    layers: &ByLayer<'a>,
) -> BTreeMap<String, String> {
    let mut aliases: BTreeMap<String, String> =
        names.into_iter().filter_map(|name| Some((outside(name)?, name.to_owned()))).collect();
    for (number, named) in layers {
        for (short, (_, name)) in shorts(named.iter().map(|(rest, _)| *rest)).into_iter().zip(named) {
            let alias = format!("blk.{number}.{short}");
            if alias != *name {
                aliases.insert(alias, (*name).to_owned());
            }
        }
    }
    aliases
}

/// GGUF's names of all names within one layer.
pub(crate) fn shorts<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let own_norm = names.clone().any(|name| name.starts_with(BEFORE_NETWORK));
    names.map(|name| short(name, own_norm)).collect()
}

/// The number of the layer that a name is in.
pub(crate) fn layer(name: &str) -> Option<usize> {
    Some(in_layer(name)?.0)
}

/// The number of the layer in a name, and what follows it: `model.layers.3.mlp.up_proj.weight` is `(3,
/// "mlp.up_proj.weight")`. `None` for a name outside of layers.
fn in_layer(name: &str) -> Option<(usize, &str)> {
    let rest = BEFORE_NUMBER.iter().find_map(|before| name.strip_prefix(before))?;
    let (number, rest) = rest.split_once('.')?;
    // "+3" and "03" are numbers to `parse`, and no layer's.
    let plain = number == "0" || number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    Some((number.parse().ok().filter(|_| plain)?, rest))
}

/// GGUF's name of one within a layer; the name itself if there is no other. `own_norm`: the norm after attention is not
/// the one before the network.
fn short(rest: &str, own_norm: bool) -> String {
    let (stem, last) = rest.rsplit_once('.').unwrap_or((rest, ""));
    let dot = if last.is_empty() { "" } else { "." };
    if own_norm && stem == AFTER_ATTENTION {
        return format!("post_attention_norm{dot}{last}");
    }
    // `self_attn.sinks` has no last part of its own.
    if let Some((_, short)) = IN_LAYER.iter().find(|(long, _)| *long == rest) {
        return format!("{short}.weight");
    }
    match IN_LAYER.iter().find(|(long, _)| *long == stem) {
        Some((_, short)) => format!("{short}{dot}{last}"),
        None => rest.to_owned(),
    }
}

/// GGUF's name of one outside of layers; `None` if there is no other.
fn outside(name: &str) -> Option<String> {
    let (stem, last) = name.rsplit_once('.')?;
    OUTSIDE.iter().find(|(long, _)| *long == stem).map(|(_, short)| format!("{short}.{last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of llama.cpp's converter (`gguf/tensor_mapping.py`).
    #[test]
    fn both_schemes_lead_to_the_same_names() {
        for (name, number, short_name) in [
            ("blk.3.attn_q.weight", 3, "attn_q.weight"),
            ("model.layers.3.self_attn.q_proj.weight", 3, "attn_q.weight"),
            ("model.layers.0.self_attn.o_proj.weight", 0, "attn_output.weight"),
            ("model.layers.11.self_attn.k_proj.bias", 11, "attn_k.bias"),
            ("model.layers.2.input_layernorm.weight", 2, "attn_norm.weight"),
            ("model.layers.2.post_attention_layernorm.weight", 2, "ffn_norm.weight"),
            ("language_model.model.layers.2.mlp.down_proj.weight", 2, "ffn_down.weight"),
            ("transformer.h.1.attn.c_attn.weight", 1, "attn_qkv.weight"),
            ("transformer.h.1.ln_2.bias", 1, "ffn_norm.bias"),
            ("model.layers.2.self_attn.sinks", 2, "attn_sinks.weight"),
            ("model.layers.2.something.new.weight", 2, "something.new.weight"),
        ] {
            let (found, rest) = in_layer(name).unwrap();
            assert_eq!((found, short(rest, false).as_str()), (number, short_name), "{name}");
        }
        for name in [
            "token_embd.weight",
            "model.layers.x.weight",
            "blk.03.a",
            "blk.+3.a",
            "blk.",
            "vision.layers.1.a",
            "blk.1",
        ] {
            assert_eq!(in_layer(name), None, "{name}");
        }
        assert_eq!(outside("model.embed_tokens.weight").as_deref(), Some("token_embd.weight"));
        assert_eq!(outside("lm_head.weight").as_deref(), Some("output.weight"));
        assert_eq!(outside("token_embd.weight"), None);
    }

    #[test]
    fn gemmas_norms_are_told_apart() {
        let after = "post_attention_layernorm.weight";
        assert_eq!(shorts([after].into_iter()), ["ffn_norm.weight"]);
        let all = [after, "pre_feedforward_layernorm.weight", "post_feedforward_layernorm.weight"];
        let expected = ["post_attention_norm.weight", "ffn_norm.weight", "post_ffw_norm.weight"];
        assert_eq!(shorts(all.into_iter()), expected);
    }
}
