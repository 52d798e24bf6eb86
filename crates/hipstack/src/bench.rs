//! `hipstack bench`: how many tokens a second a model reads and writes.

use std::time::Instant;

use models::greedy;
use serde_json::json;

use crate::load::{LanguageArguments, Loaded};
use crate::{Failure, shown};

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
    /// How often; the fastest counts
    #[arg(long, default_value_t = 3)]
    repeats: usize,
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
    let Loaded { mut session, took, .. } = arguments.language.load(&device)?;
    let vocabulary = session.model().vocabulary().max(1) as u64;
    let prompt: Vec<u32> = (0..arguments.prompt.max(1) as u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % vocabulary)
        .map(|token| token as u32)
        .collect();
    let (mut read, mut written) = (f64::INFINITY, f64::INFINITY);
    for repeat in 0..=arguments.repeats.max(1) {
        session.truncate(0);
        let start = Instant::now();
        let mut token = greedy(&session.feed(&prompt)?)?;
        let reading = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..arguments.tokens {
            token = greedy(&session.feed(&[token])?)?;
        }
        // The first round loads kernels.
        if repeat > 0 {
            (read, written) = (read.min(reading), written.min(start.elapsed().as_secs_f64()));
        }
    }
    let reading = prompt.len() as f64 / read;
    let writing = arguments.tokens as f64 / written.max(1e-9);
    let (bytes, peak) = (session.model().weights().byte_len() as u64, memory.peak());
    drop(session);
    if arguments.json {
        let found = json!({
            "prompt_tokens": prompt.len(), "prompt_tokens_per_second": reading,
            "tokens": arguments.tokens, "tokens_per_second": writing,
            "weight_bytes": bytes, "peak_memory_bytes": peak, "load_seconds": took.as_secs_f64(),
        });
        println!("{found}");
    } else {
        println!("prompt    {:>6} tokens  {reading:>9.1} tokens/s", prompt.len());
        println!("decode    {:>6} tokens  {writing:>9.1} tokens/s", arguments.tokens);
        println!(
            "weights   {:>13}  {:>9.1} GB/s read for a token",
            shown::bytes(bytes),
            writing * bytes as f64 / 1e9
        );
        println!("peak      {:>13}", peak.map_or("unknown".to_owned(), shown::bytes));
    }
    model.end(&memory)
}
