//! `hipstack generate`: continues a text.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use models::Session;
use models::text::{EncodeOptions, Sampler, Sampling, StopStrings, Tokenizer};
use serde_json::json;

use crate::load::{LanguageArguments, Loaded};
use crate::{Failure, shown};

#[derive(clap::Args, Debug)]
pub(crate) struct GenerateArguments {
    #[command(flatten)]
    language: LanguageArguments,
    /// The text to continue
    #[arg(long, short)]
    prompt: String,
    #[command(flatten)]
    sampling: SamplingArguments,
    /// Print one JSON object at the end: text, tokens, times and memory
    #[arg(long)]
    json: bool,
}

/// How tokens are chosen, and when to stop.
#[derive(clap::Args, Debug)]
pub(crate) struct SamplingArguments {
    /// The most tokens of an answer
    #[arg(long, short = 'n', value_name = "TOKENS", default_value_t = 256)]
    most: usize,
    /// 0 takes the likeliest token each time
    #[arg(long, default_value_t = 0.8)]
    temperature: f32,
    /// Of how many of the likeliest tokens one is drawn; 0 for all
    #[arg(long, default_value_t = 40)]
    top_k: usize,
    /// Of the likeliest tokens with this probability together
    #[arg(long, default_value_t = 0.95)]
    top_p: f32,
    /// Of tokens with at least this share of the likeliest one's probability
    #[arg(long, default_value_t = 0.05)]
    min_p: f32,
    /// Makes tokens of the last 64 less likely; 1 does nothing
    #[arg(long, default_value_t = 1.0)]
    repetition_penalty: f32,
    /// Where the random numbers begin: the same seed gives the same text
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Ends an answer before this text; may be given several times
    #[arg(long, value_name = "TEXT")]
    stop: Vec<String>,
}

impl SamplingArguments {
    fn sampler(&self) -> Result<Sampler, Failure> {
        Ok(Sampler::new(Sampling {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            repetition_penalty: self.repetition_penalty,
            seed: self.seed,
            ..Sampling::default()
        })?)
    }
}

/// What an answer is, and how long it took.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub text: String,
    pub tokens: Vec<u32>,
    pub prompt_tokens: usize,
    /// From the prompt to the first token.
    pub first: Duration,
    /// From the first token to the last.
    pub rest: Duration,
    /// Ctrl-C ended it.
    pub interrupted: bool,
}

impl Answer {
    /// Tokens a second of the prompt.
    pub(crate) fn prompt_rate(&self) -> f64 {
        self.prompt_tokens as f64 / self.first.as_secs_f64().max(1e-9)
    }

    /// Tokens a second after the first one.
    pub(crate) fn rate(&self) -> f64 {
        self.tokens.len().saturating_sub(1) as f64 / self.rest.as_secs_f64().max(1e-9)
    }

    /// In a line.
    pub(crate) fn summary(&self) -> String {
        format!(
            "prompt {} tokens, {:.1}/s; answer {} tokens, {:.1}/s; first token after {:.0} ms",
            self.prompt_tokens,
            self.prompt_rate(),
            self.tokens.len(),
            self.rate(),
            self.first.as_secs_f64() * 1e3
        )
    }
}

/// Runs the command.
///
/// # Errors
/// Of the model, of the device, or of the memory check.
pub(crate) fn run(arguments: &GenerateArguments) -> Result<(), Failure> {
    let model = &arguments.language.model;
    let (device, memory) = model.device()?;
    let Loaded { mut session, tokenizer, took, .. } = arguments.language.load(&device)?;
    let prompt = tokenizer.encode(&arguments.prompt, EncodeOptions::default())?;
    catch_interrupts()?;
    let (mut out, quiet) = (std::io::stdout(), arguments.json);
    let mut show = |text: &str| {
        if quiet {
            return Ok(());
        }
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    };
    let answer = answer(&mut session, &tokenizer, (&[], &prompt), &arguments.sampling, &mut show)?;
    let peak = memory.peak();
    drop(session);
    if arguments.json {
        let found = json!({
            "text": answer.text,
            "tokens": answer.tokens,
            "prompt_tokens": answer.prompt_tokens,
            "load_seconds": took.as_secs_f64(),
            "first_token_seconds": answer.first.as_secs_f64(),
            "prompt_tokens_per_second": answer.prompt_rate(),
            "tokens_per_second": answer.rate(),
            "peak_memory_bytes": peak,
            "interrupted": answer.interrupted,
        });
        println!("{found}");
    } else {
        println!();
        eprintln!("{}; peak memory {}", answer.summary(), peak.map_or("unknown".to_owned(), shown::bytes));
    }
    model.end(&memory)
}

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C ends an answer; a second one before it has ended ends the program.
///
/// # Errors
/// The system's.
pub(crate) fn catch_interrupts() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// Continues the session's text, whose tokens are `known`, with `prompt` and an answer, whose text `show` gets in whole
/// characters. A full context ends the answer.
///
/// # Errors
/// Of the model or the device, a full context, or of `show`.
pub(crate) fn answer(
    session: &mut Session,
    tokenizer: &Tokenizer,
    (known, prompt): (&[u32], &[u32]),
    arguments: &SamplingArguments,
    show: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> Result<Answer, Failure> {
    INTERRUPTED.store(false, Ordering::Relaxed);
    let mut sampler = arguments.sampler()?;
    let stop_tokens: Vec<u32> = tokenizer.stop_tokens().iter().copied().collect();
    let mut stops = StopStrings::new(arguments.stop.iter().cloned());
    let mut stream = tokenizer.stream();
    let history = RefCell::new([known, prompt].concat());
    // The session's errors are those of models: one of the sampler ends the loop.
    let problem = Cell::new(None);
    let mut answer = Answer { prompt_tokens: prompt.len(), ..Answer::default() };
    let start = Instant::now();
    let choose = |logits: &tensor_core::Tensor| {
        let mut logits = logits.to_vec1::<f32>()?;
        match sampler.sample(&mut logits, &history.borrow()) {
            Ok(token) => Ok(token),
            Err(error) => {
                problem.set(Some(error));
                Ok(0)
            }
        }
    };
    for token in session.generate(prompt, &stop_tokens, choose)?.take(arguments.most) {
        if let Some(problem) = problem.take() {
            return Err(problem.into());
        }
        let token = match token {
            Err(models::Error::ContextTooLong { .. }) if !answer.tokens.is_empty() => break,
            token => token?,
        };
        if answer.tokens.is_empty() {
            answer.first = start.elapsed();
        }
        answer.tokens.push(token);
        history.borrow_mut().push(token);
        let text = stops.push(&stream.push(token)?);
        show(&text)?;
        answer.text += &text;
        answer.interrupted = INTERRUPTED.load(Ordering::Relaxed);
        if stops.is_stopped() || answer.interrupted {
            break;
        }
    }
    if let Some(problem) = problem.take() {
        return Err(problem.into());
    }
    let whole = start.elapsed();
    if answer.tokens.is_empty() {
        answer.first = whole;
    }
    answer.rest = whole - answer.first;
    if !stops.is_stopped() {
        let rest = stops.push(&stream.finish()) + &stops.finish();
        show(&rest)?;
        answer.text += &rest;
    }
    Ok(answer)
}
