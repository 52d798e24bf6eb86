//! The program `hipstack`: runs language models, looks at their files and at GPUs, and makes models smaller.

mod bench;
mod chat;
mod devices;
mod drift;
mod embed;
mod generate;
mod inspect;
mod load;
mod memory;
mod quantize;
mod random;
mod repl;
mod run;
mod shown;
mod stages;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// An error of any part, as text for people.
type Failure = Box<dyn std::error::Error>;

/// Language models on any device.
#[derive(Parser, Debug)]
#[command(
    name = "hipstack",
    version,
    max_term_width = 110,
    after_help = "Examples:
  hipstack chat SmolLM2-135M-Instruct.Q4_1.gguf
  hipstack generate model.gguf --prompt 'Once upon a time' --device host:0 -n 64 --temperature 0
  hipstack generate Llama-3.2-1B --prompt 'def main():' --stop '\n\n' --json
  hipstack embed all-MiniLM-L6-v2 'a cat sleeps' 'a kitten naps' 'stock prices fell'
  hipstack bench model.gguf --device nvidia:0 --prompt 2048 --tokens 128
  hipstack bench model.gguf --device amd:0 --batch 8                 eight texts at once
  hipstack bench random:8b:q4_k --device amd:0                       random weights: tiny, 1b, 2gb, 8b
  hipstack drift model.gguf --device amd:0 --device cpu              where the devices part, layer by layer
  hipstack memory model.gguf --device amd:0      in use, reserved, peak and buffers at each stage
  hipstack generate large.gguf --device amd:0 --budget 12GB -p 'The'   layers are loaded for each token, within that memory
  hipstack inspect model.gguf                    metadata, tensors and formats
  hipstack inspect model-00001-of-00003.gguf     a split model: all of its files
  hipstack inspect model.gguf.part00             a file that was cut into parts, as one
  hipstack inspect Llama-3.2-1B                  a folder with safetensors files and their index
  hipstack inspect model.gguf --json | jq .formats
  hipstack quantize model-f16.gguf model-q4_k.gguf --format q4_k
  hipstack devices                               GPUs: temperature, power, use, memory, processes
  hipstack run examples/scripts/01_tensors.rhai  a script; hipstack run --help has more

Exit code: 0, or 1 if something failed, a memory check too."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Continue a text
    Generate(generate::GenerateArguments),
    /// Talk to a model, line by line
    Chat(chat::ChatArguments),
    /// Print how similar texts are, or their vectors
    Embed(embed::EmbedArguments),
    /// Measure how many tokens a second a model reads and writes; random:SHAPE:FORMAT makes one up
    Bench(bench::BenchArguments),
    /// Print what a model, also random:SHAPE:FORMAT, takes of the device's memory when it is loaded, used and dropped
    Memory(stages::StagesArguments),
    /// Compute a text on two devices, and print where the activations part; exit with 1 if they do
    Drift(drift::DriftArguments),
    /// Print what the files of a model say and hold, without loading it
    Inspect(inspect::InspectArguments),
    /// Print what the machine's GPUs measure: temperature, power, use, memory, processes
    Devices(devices::DevicesArguments),
    /// Write a model as one GGUF file, with its matrices in a smaller format
    Quantize(quantize::QuantizeArguments),
    /// Run a script whose values are tensors and models, or read its lines one by one
    #[command(after_help = run::EXAMPLES)]
    Run(run::RunArguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Chat(arguments) => chat::run(&arguments),
        Command::Embed(arguments) => embed::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Memory(arguments) => stages::run(&arguments),
        Command::Drift(arguments) => match drift::run(&arguments) {
            Ok(true) => Ok(()),
            Ok(false) => return ExitCode::FAILURE,
            Err(error) => Err(error),
        },
        Command::Inspect(arguments) => inspect::run(&arguments).map_err(Failure::from),
        Command::Devices(arguments) => {
            devices::run(&arguments);
            Ok(())
        }
        Command::Quantize(arguments) => quantize::run(&arguments).map_err(Failure::from),
        Command::Run(arguments) => run::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hipstack: {error}");
            ExitCode::FAILURE
        }
    }
}
