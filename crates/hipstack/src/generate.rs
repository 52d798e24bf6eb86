//! `hipstack generate`: continues a text.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use models::text::{EncodeOptions, Sampling};
use models::{Answer, AnswerOptions};
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
    #[arg(long, short = 'n', value_name = "TOKENS", default_value_t = AnswerOptions::default().most)]
    most: usize,
    /// 0 takes the likeliest token each time
    #[arg(long, default_value_t = Sampling::default().temperature)]
    temperature: f32,
    /// Of how many of the likeliest tokens one is drawn; 0 for all
    #[arg(long, default_value_t = Sampling::default().top_k)]
    top_k: usize,
    /// Of the likeliest tokens with this probability together
    #[arg(long, default_value_t = Sampling::default().top_p)]
    top_p: f32,
    /// Of tokens with at least this share of the likeliest one's probability
    #[arg(long, default_value_t = Sampling::default().min_p)]
    min_p: f32,
    /// Makes tokens of the last 64 less likely; 1 does nothing
    #[arg(long, default_value_t = Sampling::default().repetition_penalty)]
    repetition_penalty: f32,
    /// Where the random numbers begin: the same seed gives the same text
    #[arg(long, default_value_t = Sampling::default().seed)]
    seed: u64,
    /// Ends an answer before this text; may be given several times
    #[arg(long, value_name = "TEXT")]
    stop: Vec<String>,
}

impl SamplingArguments {
    pub(crate) fn options(&self) -> AnswerOptions {
        let sampling = Sampling {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            repetition_penalty: self.repetition_penalty,
            seed: self.seed,
            ..Sampling::default()
        };
        AnswerOptions { sampling, most: self.most, stops: self.stop.clone() }
    }
}

/// An answer's figures in a line.
pub(crate) fn summary(answer: &Answer) -> String {
    format!(
        "prompt {} tokens, {:.1}/s; answer {} tokens, {:.1}/s; first token after {:.0} ms",
        answer.prompt_tokens,
        answer.prompt_rate(),
        answer.tokens.len(),
        answer.rate(),
        answer.first.as_secs_f64() * 1e3
    )
}

/// Prints an answer as it comes, until Ctrl-C or an error of the output.
pub(crate) struct Printer {
    is_quiet: bool,
    written: std::io::Result<()>,
}

impl Printer {
    /// A printer of one answer, before it. A quiet one prints nothing.
    pub(crate) fn new(is_quiet: bool) -> Printer {
        begin();
        Printer { is_quiet, written: Ok(()) }
    }

    pub(crate) fn show(&mut self, text: &str) -> ControlFlow<()> {
        if !self.is_quiet {
            let mut out = std::io::stdout();
            self.written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
        if self.written.is_err() || interrupted() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// # Errors
    /// Of the output.
    pub(crate) fn end(self) -> std::io::Result<()> {
        self.written
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
    let mut printer = Printer::new(arguments.json);
    let options = arguments.sampling.options();
    let answer = session.answer(&tokenizer, (&[], &prompt), &options, &mut |text| printer.show(text))?;
    printer.end()?;
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
        eprintln!("{}; peak memory {}", summary(&answer), peak.map_or("unknown".to_owned(), shown::bytes));
    }
    model.end(&memory)
}

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was pressed since [`begin`].
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Ends an answer or a script, as Ctrl-C does.
pub(crate) fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// From here on [`interrupted`] counts.
pub(crate) fn begin() {
    INTERRUPTED.store(false, Ordering::Relaxed);
}

/// From now on Ctrl-C ends an answer or a script; a second one before it has ended ends the program.
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
