//! The program behind `cargo xtask parity`. All code is in the library.

use clap::Parser;
use parity::cli::{self, ParityArgs};

fn main() -> std::process::ExitCode {
    cli::run(ParityArgs::parse())
}
