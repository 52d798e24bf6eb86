//! `libraries`: how fast the safe crates of ROCm's libraries are on a device, and what they compute.

use benches::libraries::{Suite, table, to_tsv};
use benches::throughput::measure::Effort;
use benches::throughput::replay::describe;
use clap::Parser;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use tensor_core::Device;

const EXAMPLES: &str = "\
Examples:
  libraries --device nvidia:0
  libraries --device nvidia:0 --tsv ours.tsv --data /tmp/data
  libraries --device nvidia:0 --filter lt
  libraries --device host:0 --shrink 64      the program itself, on the CPU

Times are those of the device's clock, of many calls one after the other, divided by their number: the median of the repeats. Calls
that replace their operands have eight sets of them, which are put back between repeats. benches/peers/vendor_libraries.cu times the same calls of
CUDA's libraries; benches/peers/torch_libraries.py compares the times, and the files of --data with PyTorch's results.
Exit code: 0 if all was measured; 1 if a call failed; 2 if the run could not be made.";

/// Times transforms, random numbers, solvers, sparse products and products with epilogues.
#[derive(Parser)]
#[command(after_help = EXAMPLES)]
struct Options {
    /// The device: nvidia:0, amd:0, host:0
    #[arg(long)]
    device: String,
    /// Only calls whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Write the times to this file: a line for each call, with its name, sizes, seconds and error
    #[arg(long, value_name = "FILE")]
    tsv: Option<PathBuf>,
    /// Write operands and results to this folder, as safetensors
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Divide sizes by this, to try the program on a small device
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    shrink: u16,
    /// Repeats; the result is their median
    #[arg(long, default_value_t = Effort::default().repeats, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(complete) => ExitCode::from(u8::from(!complete)),
        Err(error) => {
            eprintln!("libraries: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all was measured.
fn run(options: &Options) -> Result<bool, String> {
    let device = Device::parse(&options.device).map_err(|error| error.to_string())?;
    let hip = device.as_hip().ok_or("the device must be one of HIP: nvidia:0, amd:0, host:0")?;
    println!("{}", describe(hip));
    let mut suite = Suite {
        stream: hip.stream(),
        shrink: options.shrink.into(),
        filter: options.filter.clone(),
        effort: Effort { repeats: options.repeats, ..Effort::default() },
        data: options.data.clone(),
        rows: Vec::new(),
    };
    suite.run();
    if suite.rows.is_empty() {
        return Err(format!("no call has \"{}\" in its name", options.filter));
    }
    print!("{}", table(&suite.rows));
    if let Some(file) = &options.tsv {
        fs::write(file, to_tsv(&suite.rows)).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(suite.rows.iter().all(|row| row.outcome.is_ok()))
}
