//! A quantized Llama from a GGUF file, greedily: candle-transformers' `quantized_llama`.
//!
//!     llama SmolLM2-135M-Instruct.Q4_1.gguf --device host:0 --prompt "The capital of France is"

use candle_core::quantized::gguf_file;
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use candle_core::{D, Result, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;
use clap::Parser;
use std::path::PathBuf;
use std::time::Instant;
use tokenizers::Tokenizer;

#[derive(Parser)]
struct Args {
    /// A GGUF file of the Llama architecture.
    file: PathBuf,
    /// cpu, host:0, amd:0 or nvidia:0.
    #[arg(long, default_value = "host:0")]
    device: String,
    #[arg(long, default_value = "The capital of France is")]
    prompt: String,
    /// How many tokens to generate.
    #[arg(long, default_value_t = 32)]
    tokens: usize,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let device = candle_hip_models::device(&args.device)?;
    let opened = std::fs::File::open(&args.file);
    let mut file = opened.map_err(|error| candle_core::Error::from(error).with_path(&args.file))?;
    let content = gguf_file::Content::read(&mut file)?;
    let tokenizer = Tokenizer::from_gguf(&content)?;
    let mut model = ModelWeights::from_gguf(content, &mut file, &device)?;

    let encoded = tokenizer.encode(args.prompt, true).map_err(candle_core::Error::wrap)?;
    let mut tokens = encoded.get_ids().to_vec();
    let mut seen = 0;
    let started = Instant::now();
    for _ in 0..args.tokens {
        let input = Tensor::new(&tokens[seen..], &device)?.unsqueeze(0)?;
        let logits = model.forward(&input, seen)?;
        seen = tokens.len();
        tokens.push(logits.squeeze(0)?.argmax(D::Minus1)?.to_scalar()?);
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{}", tokenizer.decode(&tokens, true).map_err(candle_core::Error::wrap)?);
    println!("{}: {} tokens, {:.1} a second", args.device, args.tokens, args.tokens as f64 / seconds);
    println!("ids: {:?}", &tokens[tokens.len() - args.tokens..]);
    Ok(())
}
