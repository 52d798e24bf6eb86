//! The tokens of two real models, against those that llama.cpp made: `data/tokens.py` recorded them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use models::text::{EncodeOptions, Tokenizer};
use serde::Deserialize;
use weights::gguf;

#[derive(Deserialize)]
struct Recorded {
    texts: Vec<String>,
    models: BTreeMap<String, Model>,
}

#[derive(Deserialize)]
struct Model {
    tokens: usize,
    bos: u32,
    eos: u32,
    ends: BTreeSet<u32>,
    /// The ids of each text, control tokens not found and found.
    plain: Vec<Vec<u32>>,
    special: Vec<Vec<u32>>,
    /// The bytes of some tokens, in hexadecimal.
    pieces: BTreeMap<u32, String>,
}

/// What was recorded, with the tokenizer of each model; nothing without HIPSTACK_MODELS.
fn models() -> Vec<(String, Vec<String>, Model, Tokenizer)> {
    let Some(folder) = std::env::var_os("HIPSTACK_MODELS") else {
        eprintln!("skipped: HIPSTACK_MODELS names no folder; ci/fetch-models.sh fills target/ci/models");
        return Vec::new();
    };
    let recorded: Recorded = serde_json::from_str(include_str!("../data/tokens.json")).unwrap();
    assert_eq!(recorded.models.len(), 2);
    let models = recorded.models.into_iter().map(|(name, model)| {
        let file = gguf::File::open(Path::new(&folder).join(&name)).unwrap();
        let tokenizer = Tokenizer::from_gguf(file.metadata()).unwrap();
        (name, recorded.texts.clone(), model, tokenizer)
    });
    models.collect()
}

#[test]
fn ids_are_those_of_llama_cpp() {
    for (name, texts, model, tokenizer) in models() {
        assert!(texts.len() >= 60 && model.plain.len() == texts.len() && model.special.len() == texts.len());
        for (expected, parse_special) in [(&model.plain, false), (&model.special, true)] {
            for (text, expected) in texts.iter().zip(expected) {
                let options = EncodeOptions { add_special: true, parse_special };
                let ids = tokenizer.encode(text, options).unwrap();
                assert_eq!(&ids, expected, "{name}: {text:?}, control tokens found: {parse_special}");
            }
        }
    }
}

#[test]
fn pieces_are_those_of_llama_cpp() {
    for (name, _, model, tokenizer) in models() {
        assert!(model.pieces.len() > 600);
        for (id, expected) in model.pieces {
            let piece: String =
                tokenizer.piece(id, false).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(piece, expected, "{name}: {id}");
        }
    }
}

#[test]
fn special_tokens_are_those_of_llama_cpp() {
    for (name, _, model, tokenizer) in models() {
        let special = tokenizer.special();
        assert_eq!(
            (tokenizer.len(), special.bos, special.eos),
            (model.tokens, Some(model.bos), Some(model.eos)),
            "{name}"
        );
        // llama.cpp stops at `</s>` also where it is a tag of HTML, as in Gemma 3's vocabulary.
        let mut ends = model.ends;
        if name.contains("gemma") {
            assert!(ends.remove(&tokenizer.id("</s>").unwrap()));
        }
        assert_eq!(tokenizer.stop_tokens(), &ends, "{name}");
    }
}

#[test]
fn decoding_gives_the_text_back() {
    for (name, texts, _, tokenizer) in models() {
        for text in texts {
            let ids =
                tokenizer.encode(&text, EncodeOptions { add_special: false, parse_special: true }).unwrap();
            // SentencePiece writes this character for a space, and cannot tell them apart.
            let text = if name.contains("gemma") { text.replace('▁', " ") } else { text };
            assert_eq!(tokenizer.decode(&ids, true).unwrap(), text, "{name}");
            let mut stream = tokenizer.stream().with_special(true);
            let mut streamed: String = ids.iter().map(|&id| stream.push(id).unwrap()).collect();
            streamed += &stream.finish();
            assert_eq!(streamed, text, "{name}");
        }
    }
}

#[test]
fn characters_are_never_cut() {
    for (name, _, _, tokenizer) in models() {
        // Neither vocabulary has all of these as tokens.
        let text = "𓀀🀄 and 👩‍👩‍👧‍👦 and 龘靐齉";
        let ids = tokenizer.encode(text, EncodeOptions { add_special: false, parse_special: false }).unwrap();
        let cut =
            ids.iter().filter(|&&id| std::str::from_utf8(&tokenizer.piece(id, false).unwrap()).is_err());
        assert!(cut.count() > 4, "{name}");
        let mut stream = tokenizer.stream();
        let pieces: Vec<String> = ids.iter().map(|&id| stream.push(id).unwrap()).collect();
        assert_eq!((pieces.concat().as_str(), stream.finish().as_str()), (text, ""), "{name}");
    }
}
