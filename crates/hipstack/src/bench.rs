//! `hipstack bench`: how many tokens a second a model reads and writes.

use std::time::Instant;

use models::{Batch, LanguageModel, OperationTime, SessionOptions};
use serde_json::json;
use tensor_core::{DType, Device, Tensor};

use crate::load::LanguageArguments;
use crate::{Failure, shown};

/// Bytes of the tensor whose copies are timed, one after the other. It does not fit a cache.
const COPIED: usize = 1 << 28;
const COPIES: usize = 8;

#[derive(clap::Args, Debug)]
pub(crate) struct BenchArguments {
    #[command(flatten)]
    language: LanguageArguments,
    /// Tokens of the prompt
    #[arg(long, default_value_t = 512)]
    prompt: usize,
    /// Tokens that are generated behind it
    #[arg(long, default_value_t = 64)]
    tokens: usize,
    /// Texts that are continued at once
    #[arg(long, default_value_t = 1)]
    batch: usize,
    /// How often; the fastest counts
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Time the operations of a prompt as well, each kind of them
    #[arg(long)]
    profile: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Measures prompts of tokens without meaning, and the greedy tokens behind them.
///
/// # Errors
/// Of the model, of the device, or of the memory check.
pub(crate) fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    let model = &arguments.language.model;
    let (device, memory) = model.device()?;
    let start = Instant::now();
    let options = arguments.language.options();
    let language = arguments.language.language_model(&device)?;
    device.synchronize()?;
    let took = start.elapsed();
    let (bytes, read_bytes) = (language.weight_bytes(), read_for_a_token(&language));
    let vocabulary = language.vocabulary().max(1) as u64;
    let prompt: Vec<u32> = (0..arguments.prompt.max(1) as u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % vocabulary)
        .map(|token| token as u32)
        .collect();
    let needed = arguments.prompt.max(1) + arguments.tokens;
    let options = SessionOptions { context: options.context.or(Some(needed)), ..options };
    let sequences = arguments.batch.max(1);
    let operations = if arguments.profile { profile(&language, &prompt, options.chunk)? } else { Vec::new() };
    let mut batch = Batch::new(&language, sequences, &options)?;
    drop(language);
    let (mut read, mut written) = (f64::INFINITY, f64::INFINITY);
    for repeat in 0..=arguments.repeats.max(1) {
        let mut tokens = Vec::new();
        let start = Instant::now();
        for sequence in 0..sequences {
            batch.truncate(sequence, 0)?;
            let logits = batch.feed(sequence, &prompt)?.unsqueeze(0)?;
            tokens.extend(likeliest(&logits)?);
        }
        let reading = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..arguments.tokens {
            tokens = likeliest(&batch.step(&tokens)?)?;
        }
        let writing = start.elapsed().as_secs_f64();
        // The first round loads kernels.
        if repeat > 0 {
            (read, written) = (read.min(reading), written.min(writing));
        }
    }
    let reading = (sequences * prompt.len()) as f64 / read;
    let steps = arguments.tokens as f64 / written.max(1e-9);
    let (peak, writing) = (memory.peak(), steps * sequences as f64);
    drop(batch);
    let (weights_rate, copy_rate) = (steps * read_bytes as f64, copy_rate(&device)?);
    if arguments.json {
        let found = json!({
            "sequences": sequences,
            "prompt_tokens": prompt.len(), "prompt_tokens_per_second": reading,
            "tokens": arguments.tokens, "tokens_per_second": writing,
            "weight_bytes": bytes, "weight_bytes_per_second": weights_rate,
            "copy_bytes_per_second": copy_rate,
            "peak_memory_bytes": peak, "load_seconds": took.as_secs_f64(),
            "prompt_operations": operations.iter().map(|one| json!({
                "operation": one.operation, "count": one.count, "seconds": one.time.as_secs_f64(),
            })).collect::<Vec<_>>(),
        });
        println!("{found}");
    } else {
        println!("prompt    {:>6} tokens  {reading:>9.1} tokens/s", prompt.len());
        println!("decode    {:>6} tokens  {writing:>9.1} tokens/s", arguments.tokens);
        println!("weights   {:>13}  {:>9.1} GB/s read in steps", shown::bytes(bytes), weights_rate / 1e9);
        println!("copy      {:>13}  {:>9.1} GB/s read and written", "", copy_rate / 1e9);
        println!("share     {:>13}  {:>9.1} %", "", 100.0 * weights_rate / copy_rate);
        println!("peak      {:>13}", peak.map_or("unknown".to_owned(), shown::bytes));
        print_operations(&operations);
    }
    model.end(&memory)
}

/// The times of a prompt's operations, the longest first. A pass before it loads kernels.
fn profile(language: &LanguageModel, prompt: &[u32], chunk: usize) -> Result<Vec<OperationTime>, Failure> {
    language.profile(prompt, chunk)?;
    let mut times = language.profile(prompt, chunk)?;
    times.sort_by_key(|one| std::cmp::Reverse(one.time));
    Ok(times)
}

fn print_operations(operations: &[OperationTime]) {
    let all: f64 = operations.iter().map(|one| one.time.as_secs_f64()).sum();
    for OperationTime { operation, count, time, .. } in operations {
        let (time, share) = (time.as_secs_f64(), 100.0 * time.as_secs_f64() / all.max(1e-9));
        println!("{share:>5.1} % of the prompt  {:>9.3} ms  {count:>5} × {operation}", time * 1e3);
    }
}

/// The likeliest token of each row of logits.
fn likeliest(logits: &Tensor) -> Result<Vec<Option<u32>>, Failure> {
    Ok(logits.argmax(1)?.to_vec1::<u32>()?.into_iter().map(Some).collect())
}

/// The bytes of the weights that a step reads: all of them, but of an embedding that is not the output as well one row.
fn read_for_a_token(model: &LanguageModel) -> u64 {
    let weights = model.weights();
    let size = |name: &str| weights.find(name).map_or(0, |weight| weight.byte_len());
    let unread = if weights.find("output.weight").is_some() { size("token_embd.weight") } else { 0 };
    model.weight_bytes() - unread as u64
}

/// Bytes that are read and written in a second by a copy on the device: the fastest of some.
fn copy_rate(device: &Device) -> Result<f64, Failure> {
    let source = Tensor::zeros(COPIED, DType::U8, device)?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        device.synchronize()?;
        let start = Instant::now();
        for _ in 0..COPIES {
            source.copy()?;
        }
        device.synchronize()?;
        best = best.min(start.elapsed().as_secs_f64() / COPIES as f64);
    }
    Ok(2.0 * COPIED as f64 / best)
}
