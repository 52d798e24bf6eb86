//! `cargo xtask sanitize`: runs the shipped kernels under AddressSanitizer or ThreadSanitizer, or kernels
//! with planted bugs, to check that the sanitizers find them. docs/SANITIZERS.md describes what is found and
//! what is not.

mod coverage;
mod planted;
mod report;
mod setup;

use crate::workspace;
use report::Report;
use setup::{Built, Kind, Programs};
use std::ffi::OsStr;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  cargo xtask sanitize                            both sanitizers on every kernel that ships
  cargo xtask sanitize address                    AddressSanitizer: overruns, use after free
  cargo xtask sanitize thread                     ThreadSanitizer: missing barriers, races
  cargo xtask sanitize thread --filter sum/f32    the parity cases whose id contains sum/f32
  cargo xtask sanitize address --all              every parity case, not only those that reach every kernel
  cargo xtask sanitize --planted                  kernels with a bug each: is every one found, at its line?

Needs g++ with its sanitizers (on Debian: apt-get install g++). Reports go to target/sanitize-address and
target/sanitize-thread. Exit code: 0 if nothing was found and, without --filter, every kernel
ran; with --planted if everything was found.";

/// Options of `cargo xtask sanitize`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SanitizeArgs {
    /// Which sanitizer [default: one after the other]
    #[arg(value_enum)]
    sanitizer: Option<Kind>,
    /// Only the parity cases whose id contains this, or, with * or ?, whose whole id matches it
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Every parity case, not a selection that reaches every kernel
    #[arg(long, conflicts_with = "filter")]
    all: bool,
    /// Run kernels with planted bugs instead, and compare the reports with the lines that have the bugs
    #[arg(long, conflicts_with_all = ["filter", "all"])]
    planted: bool,
}

/// Whether this machine's compiler has both sanitizers; otherwise what to install.
pub fn available() -> Result<(), String> {
    setup::library(Kind::Address)?;
    setup::library(Kind::Thread).map(drop)
}

/// Runs the command; the error is the text to show.
pub fn run(args: &SanitizeArgs) -> Result<(), String> {
    let root = workspace::root()?;
    let kinds = args.sanitizer.map_or_else(|| vec![Kind::Address, Kind::Thread], |kind| vec![kind]);
    let mut failed = Vec::new();
    for kind in kinds {
        let programs = if args.planted { Programs::Planted } else { Programs::Shipped };
        let built = setup::build(&root, kind, programs)?;
        let result = if args.planted { planted::run(&root, &built) } else { shipped(args, &built) };
        if let Err(message) = result {
            eprintln!("{message}");
            failed.push(kind.name());
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("sanitize: {} failed; see above", failed.join(" and ")))
    }
}

/// The parity cases on both of hip-host's devices.
fn shipped(args: &SanitizeArgs, built: &Built) -> Result<(), String> {
    let seen = built.folder.join("kernels.txt");
    remove(&seen)?;
    let words = words(args.filter.as_deref(), args.all, built.kind);
    println!("{}: parity cases: {}", built.kind.name(), words.join(" "));
    let words: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
    let cases = built.run("cases", &words, &seen)?;
    // The last line has the number of cases.
    println!("{}: {}", built.kind.name(), cases.output.lines().last().unwrap_or_default());
    let mut runs = vec![cases];
    if args.filter.is_none() {
        for test in setup::TESTS {
            println!("{}: kernels-hip's test {test}", built.kind.name());
            runs.push(built.run(test, &[], &seen)?);
        }
    }
    let reports = report::unique(runs.iter().flat_map(|run| run.reports.clone()).collect());
    for (report, count) in &reports {
        print!("{}", describe(report, *count));
    }
    let complete = args.filter.is_none();
    let coverage = coverage::read(&seen, complete)?;
    print!("{}", coverage.text);
    println!("{}: {} different reports", built.kind.name(), reports.len());
    if !reports.is_empty() {
        return Err(format!("sanitize: reports in full: {}", built.reports().display()));
    }
    if let Some(run) = runs.iter().find(|run| !run.success) {
        return Err(format!("sanitize: a run failed without a report:\n{}", run.output));
    }
    if complete && coverage.missing > 0 {
        return Err(format!("sanitize: {} kernels did not run; see above", coverage.missing));
    }
    Ok(())
}

/// The arguments of parity's example `cases`: the filter, or all cases, or the selection for this sanitizer.
fn words(filter: Option<&str>, all: bool, kind: Kind) -> Vec<String> {
    let which = match filter {
        Some(text) => ["--filter", text],
        None if all => ["--choose", "all"],
        None => ["--choose", kind.name()],
    };
    which.iter().chain(&["host:0", "host:1"]).map(ToString::to_string).collect()
}

fn describe(report: &Report, count: usize) -> String {
    let locations: String = report.locations.iter().map(|location| format!("    {location}\n")).collect();
    format!("REPORT {} ({count} times)\n{locations}", report.title)
}

fn remove(file: &Path) -> Result<(), String> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", file.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_passed_on_and_without_one_the_sanitizer_chooses() {
        assert_eq!(words(Some("sum*"), false, Kind::Thread), ["--filter", "sum*", "host:0", "host:1"]);
        assert_eq!(words(None, false, Kind::Address), ["--choose", "address", "host:0", "host:1"]);
        assert_eq!(words(None, true, Kind::Address), ["--choose", "all", "host:0", "host:1"]);
    }
}
