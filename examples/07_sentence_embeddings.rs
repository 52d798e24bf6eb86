//! Computes sentence embeddings with all-MiniLM-L6-v2, and the similarity of the sentences.
//!
//! `cargo run --release -p examples --bin 07_sentence_embeddings -- FOLDER [DEVICE] [SENTENCE…]`
//!
//! FOLDER has model.safetensors and tokenizer.json; `ci/fetch-weights.sh` puts them into target/ci/weights.

use models::{Error, MiniLm};
use tensor_core::{DType, Device};

fn main() -> Result<(), Error> {
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

    let model = MiniLm::load(folder, DType::F32, &device)?;
    let embeddings = model.embed(&sentences)?;
    // Embeddings have length 1, so the cosine of two is their dot product.
    let cosines = embeddings.matmul(&embeddings.t()?)?.to_vec2::<f32>()?;
    for (row, sentence) in cosines.iter().zip(&sentences) {
        let row: String = row.iter().map(|cosine| format!("{cosine:7.3}")).collect();
        println!("{row}   {sentence}");
    }
    Ok(())
}
