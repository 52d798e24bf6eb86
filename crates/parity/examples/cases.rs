//! Runs cases on the devices that are named: `cargo xtask parity` without its command line, records and report, for
//! `cargo xtask sanitize`, which builds it for each sanitizer.
//!
//! ```sh
//! cargo run --release -p hipstack-parity --example cases -- --choose address host:0 host:1
//! ```

use std::process::ExitCode;

use clap::Parser;
use parity::choice::{Sanitizer, for_sanitizer};
use parity::{Case, compile, devices, filter, registry, run_cases, table};

const SEED: u64 = 7;

/// Runs parity cases on named devices.
#[derive(Parser)]
struct Arguments {
    /// Which cases: those that show most under a sanitizer, or all
    #[arg(long, value_name = "WHICH", value_parser = ["address", "thread", "all"], default_value = "all")]
    choose: String,
    /// Only cases whose id contains this, or, with * or ?, whose whole id matches it
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// The devices
    #[arg(required = true)]
    devices: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("cases: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether every result was right.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut cases: Vec<Case> = match arguments.choose.as_str() {
        "address" => for_sanitizer(registry::all(), Sanitizer::Address),
        "thread" => for_sanitizer(registry::all(), Sanitizer::Thread),
        _ => registry::all(),
    };
    if let Some(text) = &arguments.filter {
        cases = filter::select(cases, text);
        if cases.is_empty() {
            return Err(format!("no case fits {text:?}; `cargo xtask parity --list` shows them"));
        }
    }
    let devices = devices::open(&arguments.devices).map_err(|error| error.to_string())?;
    compile::compile(&cases, &devices, &|_, _, _| ()).map_err(|error| error.to_string())?;
    let report = run_cases(&cases, &devices, SEED, &mut || ());
    if report.totals.failures() > 0 {
        print!("{}", table::render(&report, ""));
    }
    println!("{} cases, {} results", report.totals.cases, report.totals.results);
    Ok(report.totals.failures() == 0)
}
