//! The names of an encoder's weights: GGUF's, and those of Hugging Face's checkpoints.

use weights::Model;

/// Outside of layers, without the last part: GGUF's and Hugging Face's.
const OUTSIDE: [(&str, &str); 4] = [
    ("token_embd", "embeddings.word_embeddings"),
    ("position_embd", "embeddings.position_embeddings"),
    ("token_types", "embeddings.token_type_embeddings"),
    ("token_embd_norm", "embeddings.LayerNorm"),
];

/// Within a layer.
const INSIDE: [(&str, &str); 8] = [
    ("attn_q", "attention.self.query"),
    ("attn_k", "attention.self.key"),
    ("attn_v", "attention.self.value"),
    ("attn_output", "attention.output.dense"),
    ("attn_output_norm", "attention.output.LayerNorm"),
    ("ffn_up", "intermediate.dense"),
    ("ffn_down", "output.dense"),
    ("layer_output_norm", "output.LayerNorm"),
];

/// Which names a file has.
pub(super) enum Names {
    Gguf,
    /// With what is in front of all of them: nothing, or `bert.` if the encoder is a part of another model.
    HuggingFace(&'static str),
}

impl Names {
    /// The names of these weights.
    pub(super) fn new(weights: &Model) -> Names {
        let has = |prefix: &str| weights.find(&format!("{prefix}{}.weight", OUTSIDE[0].1)).is_some();
        match (has(""), has("bert.")) {
            (true, _) => Names::HuggingFace(""),
            (_, true) => Names::HuggingFace("bert."),
            _ => Names::Gguf,
        }
    }

    /// The file's name of a weight that GGUF gives this name.
    pub(super) fn in_file(&self, name: &str) -> String {
        let Names::HuggingFace(prefix) = self else { return name.to_owned() };
        translated(name).map_or_else(|| name.to_owned(), |other| format!("{prefix}{other}"))
    }
}

fn translated(name: &str) -> Option<String> {
    let (stem, last) = name.rsplit_once('.')?;
    let other = |table: &[(&str, &'static str)], stem: &str| {
        table.iter().find(|(known, _)| *known == stem).map(|(_, other)| *other)
    };
    match stem.strip_prefix("blk.").and_then(|rest| rest.split_once('.')) {
        None => Some(format!("{}.{last}", other(&OUTSIDE, stem)?)),
        Some((layer, part)) => Some(format!("encoder.layer.{layer}.{}.{last}", other(&INSIDE, part)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_translated() {
        let plain = Names::HuggingFace("");
        assert_eq!(plain.in_file("token_embd_norm.bias"), "embeddings.LayerNorm.bias");
        let part = Names::HuggingFace("bert.");
        let expected = "bert.encoder.layer.11.attention.output.LayerNorm.weight";
        assert_eq!(part.in_file("blk.11.attn_output_norm.weight"), expected);
        assert_eq!(Names::Gguf.in_file("blk.0.ffn_up.bias"), "blk.0.ffn_up.bias");
        assert_eq!(plain.in_file("blk.0.other.bias"), "blk.0.other.bias");
    }
}
