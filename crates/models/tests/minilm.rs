//! all-MiniLM-L6-v2 on every device, compared with PyTorch's embeddings in `data/minilm.json`.
//!
//! The weights are in HIPSTACK_WEIGHTS (model.safetensors, with config.json and tokenizer.json next to it), or else where
//! ci/fetch-weights.sh puts them. Without them the tests print a message and pass, unless HIPSTACK_REQUIRE
//! contains the word weights.

use std::path::{Path, PathBuf};

use models::{Bert, BertConfig, Result, Settings};
use serde_json::Value;
use tensor_core::{DType, Device};
use tokenizers::{Tokenizer, TruncationParams};
use weights::{Checkpoint, Model};

/// Computed by PyTorch in f64: sentences, their tokens' ids, their embeddings.
struct Known {
    sentences: Vec<String>,
    ids: Vec<Vec<u32>>,
    embeddings: Vec<Vec<f64>>,
}

fn known() -> Known {
    let file: Value = serde_json::from_str(include_str!("data/minilm.json")).expect("JSON");
    let rows = file["rows"].as_array().expect("rows");
    let numbers = |value: &Value| value.as_array().expect("an array").clone();
    Known {
        sentences: rows.iter().map(|row| row["sentence"].as_str().expect("text").to_owned()).collect(),
        ids: rows
            .iter()
            .map(|row| numbers(&row["ids"]).iter().map(|id| id.as_u64().expect("an id") as u32).collect())
            .collect(),
        embeddings: rows
            .iter()
            .map(|row| numbers(&row["embedding"]).iter().map(|x| x.as_f64().expect("a number")).collect())
            .collect(),
    }
}

/// The folder of the weights; prints a message and returns `None` if there is none.
fn folder() -> Option<PathBuf> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/ci/weights/model.safetensors");
    let file = std::env::var_os("HIPSTACK_WEIGHTS").map_or(usual, PathBuf::from);
    let folder = file.parent().expect("a file lies in a folder");
    if file.is_file() && ["config.json", "tokenizer.json"].iter().all(|name| folder.join(name).is_file()) {
        return Some(folder.to_owned());
    }
    let required = std::env::var("HIPSTACK_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|word| word == "weights"), "no weights in {}", folder.display());
    println!("skipped: no weights in {}; ci/fetch-weights.sh fetches them", folder.display());
    None
}

/// The tokens of the sentences, of at most 128 each, as in the original.
fn tokens(folder: &Path) -> Vec<Vec<u32>> {
    let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json")).expect("the tokenizer");
    tokenizer.with_padding(None);
    let truncation = TruncationParams { max_length: 128, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).expect("a length");
    let known = known();
    let sentences = known.sentences.iter();
    let tokens = sentences.map(|sentence| tokenizer.encode(sentence.as_str(), true).expect("tokens"));
    tokens.map(|tokens| tokens.get_ids().to_vec()).collect()
}

fn embeddings(folder: &Path, dtype: DType, device: &Device) -> Result<Vec<Vec<f64>>> {
    let checkpoint = Checkpoint::open(folder)?;
    let config = BertConfig::new(&Settings::read(folder, &checkpoint)?)?;
    let weights = Model::load(&checkpoint, device, &mut |_| ())?;
    let rows = Bert::new(config, &weights, Some(dtype))?.embed(&tokens(folder))?.to_vec2::<f32>()?;
    Ok(rows.into_iter().map(|row| row.into_iter().map(f64::from).collect()).collect())
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn least_cosine(ours: &[Vec<f64>], theirs: &[Vec<f64>]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).map(|(a, b)| cosine(a, b)).fold(1.0, f64::min)
}

/// Sentences 0 and 1 have the same meaning, 2 and 3, and so on: each is the other's nearest neighbour.
fn pairs_are_nearest(embeddings: &[Vec<f64>]) {
    for (one, embedding) in embeddings.iter().enumerate() {
        let others = (0..embeddings.len()).filter(|other| *other != one);
        let nearest = others
            .max_by(|a, b| cosine(embedding, &embeddings[*a]).total_cmp(&cosine(embedding, &embeddings[*b])));
        assert_eq!(nearest, Some(one ^ 1), "sentence {one}");
    }
}

#[test]
fn sentences_become_the_tokens_that_the_python_tokenizer_gives() {
    let Some(folder) = folder() else { return };
    assert_eq!(tokens(&folder), known().ids);
}

#[test]
#[ignore = "takes half a minute; the step slow-tests runs it"]
fn embeddings_agree_with_pytorch_and_among_devices() {
    let Some(folder) = folder() else { return };
    let theirs = known().embeddings;
    for device in Device::all().expect("the devices of this machine") {
        let ours =
            embeddings(&folder, DType::F32, &device).unwrap_or_else(|error| panic!("{device}: {error}"));
        let apart = ours.iter().flatten().zip(theirs.iter().flatten()).map(|(a, b)| (a - b).abs());
        let (cosine, apart) = (least_cosine(&ours, &theirs), apart.fold(0.0, f64::max));
        println!("{device}: f32, at most {apart:.1e} apart from PyTorch, 1 - cosine {:.1e}", 1.0 - cosine);
        assert!(cosine > 0.999_999_9 && apart < 1e-5, "{device}: {cosine}, {apart}");
        pairs_are_nearest(&ours);
    }
}

#[test]
#[ignore = "takes half a minute; the step slow-tests runs it"]
fn half_precision_keeps_what_the_sentences_mean() {
    let Some(folder) = folder() else { return };
    let theirs = known().embeddings;
    for dtype in [DType::F16, DType::BF16] {
        let on = |device: &Device| {
            embeddings(&folder, dtype, device).unwrap_or_else(|error| panic!("{dtype} on {device}: {error}"))
        };
        let first = on(&Device::Cpu);
        for device in Device::all().expect("the devices of this machine") {
            let ours = on(&device);
            let (among, torch) = (least_cosine(&ours, &first), least_cosine(&ours, &theirs));
            println!(
                "{device}: {dtype}, 1 - cosine {:.1e} to cpu, {:.1e} to PyTorch",
                1.0 - among,
                1.0 - torch
            );
            // Half precision has 11 significant bits, bf16 has 8: a rounding of 2^-9 at each of some twenty
            // steps.
            assert!(
                among > if dtype == DType::F16 { 0.999_99 } else { 0.999 },
                "{dtype} on {device}: {among}"
            );
            assert!(torch > 0.999, "{dtype} on {device}: {torch}");
            pairs_are_nearest(&ours);
        }
    }
}
