//! Sentence embeddings by BERT: candle-transformers' `bert`, on candle's CPU and on a device.
//!
//!     bert all-MiniLM-L6-v2 --device host:0

use candle_core::{DType, Device, Result, Tensor};
use candle_hip_models::{largest_difference, read};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use clap::Parser;
use std::path::PathBuf;
use tokenizers::Tokenizer;

#[derive(Parser)]
struct Args {
    /// A folder with config.json, tokenizer.json and model.safetensors.
    folder: PathBuf,
    /// host:0, amd:0 or nvidia:0.
    #[arg(long, default_value = "host:0")]
    device: String,
}

const SENTENCES: [&str; 3] =
    ["A man is eating food.", "A man is eating a piece of bread.", "The girl is carrying a baby."];

fn main() -> Result<()> {
    let args = Args::parse();
    let tokenizer = Tokenizer::from_bytes(read(&args.folder.join("tokenizer.json"))?)
        .map_err(candle_core::Error::wrap)?;
    let config = read(&args.folder.join("config.json"))?;
    let config: Config = serde_json::from_slice(&config).map_err(candle_core::Error::wrap)?;
    let weights = read(&args.folder.join("model.safetensors"))?;

    let embeddings = |device: &Device| {
        let weights = VarBuilder::from_slice_safetensors(&weights, DType::F32, device)?;
        let model = BertModel::load(weights, &config)?;
        let rows = SENTENCES.map(|sentence| embedding(&model, &tokenizer, sentence, device));
        Tensor::stack(&rows.into_iter().collect::<Result<Vec<_>>>()?, 0)
    };
    let on_cpu = embeddings(&Device::Cpu)?;
    let on_device = embeddings(&candle_hip_models::device(&args.device)?)?;
    println!("cosines of the sentences, on {}:\n{}", args.device, on_device.matmul(&on_device.t()?)?);
    println!("largest difference to candle's CPU: {:e}", largest_difference(&on_cpu, &on_device)?);
    Ok(())
}

/// The mean of the last layer's rows, of length 1.
fn embedding(model: &BertModel, tokenizer: &Tokenizer, sentence: &str, device: &Device) -> Result<Tensor> {
    let encoded = tokenizer.encode(sentence, true).map_err(candle_core::Error::wrap)?;
    let ids: Vec<u32> = encoded
        .get_ids()
        .iter()
        .zip(encoded.get_attention_mask())
        .filter(|(_, seen)| **seen == 1)
        .map(|(id, _)| *id)
        .collect();
    let ids = Tensor::new(ids, device)?.unsqueeze(0)?;
    let mean = model.forward(&ids, &ids.zeros_like()?, None)?.mean(1)?.squeeze(0)?;
    mean.broadcast_div(&mean.sqr()?.sum_all()?.sqrt()?)
}
