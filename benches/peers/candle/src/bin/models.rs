//! candle's quantized Llama and Gemma 3 on its CPU backend, timed as `hipstack bench` times ours.
//!
//!     models SmolLM2-135M-Instruct.Q4_1.gguf [PROMPT [TOKENS]]

use std::time::Instant;

use candle_core::quantized::gguf_file::Content;
use candle_core::{D, Device, Result, Tensor};
use candle_transformers::models::{quantized_gemma3, quantized_llama};

enum Model {
    Llama(quantized_llama::ModelWeights),
    Gemma3(quantized_gemma3::ModelWeights),
}

impl Model {
    /// The likeliest token behind these, of which the first is at `start`. At 0 a new text begins.
    fn next(&mut self, tokens: &[u32], start: usize) -> Result<u32> {
        let input = Tensor::new(tokens, &Device::Cpu)?.unsqueeze(0)?;
        let logits = match self {
            Model::Llama(model) => model.forward(&input, start)?,
            Model::Gemma3(model) => model.forward(&input, start)?,
        };
        logits.flatten_all()?.argmax(D::Minus1)?.to_scalar()
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, numbers @ ..] = &arguments[..] else {
        candle_core::bail!("usage: models FILE.gguf [PROMPT [TOKENS]]: tokens of the prompt, and behind it")
    };
    let number = |index: usize, default| numbers.get(index).map_or(default, |text: &String| text.parse().expect("a number"));
    let (prompt, count) = (number(0, 512usize), number(1, 64usize));
    let mut file = std::fs::File::open(path)?;
    let content = Content::read(&mut file)?;
    let vocabulary = content.metadata["tokenizer.ggml.tokens"].to_vec()?.len() as u64;
    let architecture = content.metadata["general.architecture"].to_string()?.clone();
    let mut model = match architecture.as_str() {
        "llama" => Model::Llama(quantized_llama::ModelWeights::from_gguf(content, &mut file, &Device::Cpu)?),
        "gemma3" => Model::Gemma3(quantized_gemma3::ModelWeights::from_gguf(content, &mut file, &Device::Cpu)?),
        other => candle_core::bail!("{other} is not timed here"),
    };
    let tokens: Vec<u32> = (0..prompt as u64)
        .map(|i| ((i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % vocabulary) as u32)
        .collect();
    let (mut read, mut written) = (f64::INFINITY, f64::INFINITY);
    // The fastest of three, after one.
    for round in 0..4 {
        let start = Instant::now();
        let mut token = model.next(&tokens, 0)?;
        let reading = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for index in 0..count {
            token = model.next(&[token], prompt + index)?;
        }
        if round > 0 {
            (read, written) = (read.min(reading), written.min(start.elapsed().as_secs_f64()));
        }
    }
    println!("{architecture}: prompt {:.1} tokens/s, decode {:.1} tokens/s", prompt as f64 / read, count as f64 / written);
    Ok(())
}
