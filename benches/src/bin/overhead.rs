//! `overhead`: what hip-safe itself costs the host, in nanoseconds, held against its bars.

use benches::overhead::{rows, table};
use clap::Parser;
use std::process::ExitCode;
use tensor_core::Device;

const EXAMPLES: &str = "\
Examples:
  overhead --device host:0
  overhead --device nvidia:0     beside it: peers' cudarc program, see docs/BENCHMARKING.md

Exit code: 0 if all was measured, 2 if the run could not be made. A missed bar is marked, not an error: a loaded machine misses them.";

/// Measures what hip-safe itself costs the host.
#[derive(Parser)]
#[command(after_help = EXAMPLES)]
struct Options {
    /// The device: host:0, nvidia:0, amd:0
    #[arg(long)]
    device: String,
    /// Bytes of the buffer whose sharing is measured
    #[arg(long, default_value_t = 1 << 30)]
    large: usize,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let measured = Device::parse(&options.device).map_err(|error| error.to_string()).and_then(|device| {
        let device = device.as_hip().ok_or_else(|| format!("{} is no HIP device", options.device))?;
        rows(device, options.large)
    });
    match measured {
        Ok(rows) => {
            print!("{}", table(&rows));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("overhead: {error}");
            ExitCode::from(2)
        }
    }
}
