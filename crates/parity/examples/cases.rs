//! Runs the cases whose ids a file lists, one a line, on the devices that are named: `cargo xtask parity` without the
//! rest of xtask, for `cargo xtask sanitize`, which has to build it twice more.
//!
//! ```sh
//! cargo run --release -p parity --example cases -- cases.txt host:0 host:1
//! ```

use parity::{Case, devices, registry, run_cases, table};
use std::collections::HashSet;
use std::process::ExitCode;

const SEED: u64 = 7;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("cases: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether every result was right.
fn run() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name a file with the ids of cases, then devices")?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let wanted: HashSet<&str> = text.lines().collect();
    let cases: Vec<Case> =
        registry::all().into_iter().filter(|case| wanted.contains(case.id().as_str())).collect();
    if cases.len() != wanted.len() {
        return Err(format!("{} of the {} lines of {file} are ids of cases", cases.len(), wanted.len()));
    }
    let devices = devices::open(&arguments.collect::<Vec<_>>()).map_err(|error| error.to_string())?;
    let report = run_cases(&cases, &devices, SEED, &mut || ());
    if report.totals.failures() > 0 {
        print!("{}", table::render(&report, ""));
    }
    println!("{} cases, {} results", report.totals.cases, report.totals.results);
    Ok(report.totals.failures() == 0)
}
