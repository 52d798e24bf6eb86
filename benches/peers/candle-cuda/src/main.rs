//! candle's CUDA backend, timed with the models and the matrices that hipstack's own programs are timed with.
//!
//!     candle-cuda llama 8b q4_k --prompt 2048 --tokens 64
//!     candle-cuda qmatmul --rows 1,512

mod dense;
mod device;
mod llama;
mod packed;
mod qmatmul;
mod shape;

use std::process::ExitCode;

const USAGE: &str = "\
usage: candle-cuda llama SHAPE FORMAT [--prompt 2048] [--tokens 64] [--repeats 2] [--track-events]
       candle-cuda qmatmul [--format q4_0,q4_k,q6_k,q8_0] [--rows 1,512] [--dtype f32] [--track-events]

llama    random weights of a shape (1b, 8b, tiny) in a format (bf16, q4_0, q4_k, q6_k, q8_0): tokens of the prompt a second,
         and greedy tokens a second behind it. One line of JSON for each precision of cuBLAS's products; the fastest
         round after a warm-up counts.
qmatmul  products of distinct packed matrices, 512 MB together, with rows of activations (--dtype f32, f16 or bf16):
         microseconds of one product, and packed bytes a second.

Neither uses flash-attn. candle's tracking of uses by events is off, since there is one stream; --track-events keeps it.";

/// The arguments behind the mode.
pub struct Arguments {
    names: Vec<String>,
    options: Vec<(String, String)>,
    /// Whether candle records the uses of its memory with events.
    pub track_events: bool,
}

impl Arguments {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut names, mut options, mut track_events) = (Vec::new(), Vec::new(), false);
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                Some("track-events") => track_events = true,
                Some(name @ ("prompt" | "tokens" | "repeats" | "format" | "rows" | "dtype")) => {
                    let value = arguments.next().ok_or(format!("--{name} has no value"))?;
                    options.push((name.to_owned(), value));
                }
                Some(_) => return Err(format!("there is no option {argument}\n{USAGE}")),
                None => names.push(argument),
            }
        }
        Ok(Self { names, options, track_events })
    }

    /// The value of an option, or `default`.
    pub fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        let given = self.options.iter().rev().find(|(option, _)| option == name);
        given.map_or(default, |(_, value)| value)
    }

    /// The numbers of an option, separated by commas.
    ///
    /// # Errors
    /// The value is not of positive numbers.
    pub fn numbers(&self, name: &str, default: &str) -> Result<Vec<usize>, String> {
        let number = |text: &str| text.trim().parse().ok().filter(|number: &usize| *number > 0);
        let value = self.text(name, default);
        value
            .split(',')
            .map(|text| number(text).ok_or(format!("--{name} {value}: not positive numbers")))
            .collect()
    }

    /// The number of an option.
    ///
    /// # Errors
    /// The value is not one positive number.
    pub fn number(&self, name: &str, default: &str) -> Result<usize, String> {
        match self.numbers(name, default)?[..] {
            [number] => Ok(number),
            _ => Err(format!("--{name} takes one number")),
        }
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let done = Arguments::parse(arguments).and_then(|arguments| {
        let names: Vec<&str> = arguments.names.iter().map(String::as_str).collect();
        match (mode.as_str(), &names[..]) {
            ("llama", [shape, format]) => llama::run(shape, format, &arguments),
            ("qmatmul", []) => qmatmul::run(&arguments),
            ("--help" | "-h", _) => {
                println!("{USAGE}");
                Ok(())
            }
            _ => Err(USAGE.to_owned()),
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("candle-cuda: {error}");
            ExitCode::FAILURE
        }
    }
}

/// An error as text.
pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
