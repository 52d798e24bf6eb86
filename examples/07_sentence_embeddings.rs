//! Computes sentence embeddings with all-MiniLM-L6-v2, and the similarity of the sentences.
//!
//! `cargo run --release -p examples --bin 07_sentence_embeddings -- FOLDER [DEVICE] [SENTENCE…]`
//!
//! FOLDER has model.safetensors, config.json and tokenizer.json; `ci/fetch-weights.sh` puts them into target/ci/weights.

use std::path::Path;

use models::Bert;
use tensor_core::Device;
use tokenizers::{Tokenizer, TruncationParams};

/// Tokens of a sentence; the rest is cut off, as in the original.
const LONGEST: usize = 128;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.first() else {
        println!("usage: 07_sentence_embeddings FOLDER [DEVICE] [SENTENCE...]");
        return Ok(());
    };
    let device = Device::parse(arguments.get(1).map_or("host:0", String::as_str))?;
    let given: Vec<&str> = arguments.iter().skip(2).map(String::as_str).collect();
    let sentences = if given.is_empty() {
        vec![
            "A cat sleeps on the warm windowsill.",
            "The kitten naps by the sunny window.",
            "Shares fell today.",
        ]
    } else {
        given
    };

    let mut tokenizer = Tokenizer::from_file(Path::new(folder).join("tokenizer.json"))?;
    tokenizer.with_padding(None);
    tokenizer
        .with_truncation(Some(TruncationParams { max_length: LONGEST, ..TruncationParams::default() }))?;
    let tokens = sentences.iter().map(|sentence| Ok(tokenizer.encode(*sentence, true)?.get_ids().to_vec()));
    let tokens: Vec<Vec<u32>> = tokens.collect::<tokenizers::Result<_>>()?;

    let model = Bert::open(folder, &device)?;
    let embeddings = model.embed(&tokens)?;
    // Embeddings have length 1, so the cosine of two is their dot product.
    let cosines = embeddings.matmul(&embeddings.t()?)?.to_vec2::<f32>()?;
    for (row, sentence) in cosines.iter().zip(&sentences) {
        let row: String = row.iter().map(|cosine| format!("{cosine:7.3}")).collect();
        println!("{row}   {sentence}");
    }
    Ok(())
}
