//! The program `hipstack`: looks at the files of models, and makes them smaller.

mod inspect;
mod quantize;
mod shown;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tools for the files of models.
#[derive(Parser, Debug)]
#[command(
    name = "hipstack",
    version,
    max_term_width = 110,
    after_help = "Examples:
  hipstack inspect model.gguf                    metadata, tensors and formats
  hipstack inspect model-00001-of-00003.gguf     a split model: all of its files
  hipstack inspect model.gguf.part00             a file that was cut into parts, as one
  hipstack inspect Llama-3.2-1B                  a folder with safetensors files and their index
  hipstack inspect model.gguf --json | jq .formats
  hipstack quantize Llama-3.2-1B model-f16.gguf --format f16

Exit code: 0, or 1 if a file cannot be read."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Print what the files of a model say and hold, without loading it
    Inspect(inspect::InspectArguments),
    /// Write a model as one GGUF file, with its matrices in a smaller format
    Quantize(quantize::QuantizeArguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Quantize(arguments) => quantize::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hipstack: {error}");
            ExitCode::FAILURE
        }
    }
}
