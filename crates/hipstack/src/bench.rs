//! `hipstack bench`: how many tokens a second a model reads and writes.

use std::time::Instant;

use models::greedy;
use serde_json::json;

use crate::load::{Loaded, ModelArguments};
use crate::memory::Memory;
use crate::{Failure, shown};

#[derive(clap::Args, Debug)]
pub(crate) struct BenchArguments {
    #[command(flatten)]
    model: ModelArguments,
    /// Tokens of the prompt
    #[arg(long, default_value_t = 512)]
    prompt: usize,
    /// Tokens that are generated behind it
    #[arg(long, default_value_t = 64)]
    tokens: usize,
    /// How often; the median counts
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
    let device = arguments.model.device()?;
    let memory = Memory::before(&device)?;
    let Loaded { mut session, took, .. } = arguments.model.load(&device)?;
    let vocabulary = session.model().vocabulary().max(1) as u64;
    let prompt: Vec<u32> = (0..arguments.prompt.max(1) as u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % vocabulary)
        .map(|token| token as u32)
        .collect();
    let mut times = Vec::new();
    for repeat in 0..=arguments.repeats.max(1) {
        session.truncate(0);
        let start = Instant::now();
        let mut token = greedy(&session.feed(&prompt)?)?;
        let read = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..arguments.tokens {
            token = greedy(&session.feed(&[token])?)?;
        }
        // The first round loads kernels.
        if repeat > 0 {
            times.push((read, start.elapsed().as_secs_f64()));
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (read, written): (Vec<f64>, Vec<f64>) = times.into_iter().unzip();
    let reading = prompt.len() as f64 / median(read);
    let writing = arguments.tokens as f64 / median(written).max(1e-9);
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
    if arguments.model.memory_check { memory.check() } else { Ok(()) }
}
