//! The program behind `cargo xtask parity`; everything is in the library beside it.

use clap::Parser;
use parity::cli::{self, ParityArgs};

fn main() -> std::process::ExitCode {
    cli::run(ParityArgs::parse())
}
