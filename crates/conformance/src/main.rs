//! The program behind `cargo xtask conformance`.

use clap::Parser;
use conformance::cli::{self, ConformanceArgs};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = conformance::child() {
        return code;
    }
    match cli::run(&ConformanceArgs::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
