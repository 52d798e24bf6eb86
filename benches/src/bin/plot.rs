//! `plot`: draws the figures that benches/h200/run.sh measured, and writes a part of docs/BENCHMARKING.md and
//! the tables of benches/h200/ROWS.md.

use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  cargo run -p benches --bin plot                  draw benches/h200 for docs/BENCHMARKING.md
  cargo run -p benches --bin plot -- --root DIR    the same in another checkout

It reads benches/h200/*.json, which benches/h200/run.sh writes, and writes docs/figures/h200-*.svg, for light and dark pages, and the
part of docs/BENCHMARKING.md between its marks: the drawings, and the rows that missed their target with the reasons that
benches/h200/reasons.tsv has. It writes benches/h200/ROWS.md: all rows, and candle's CUDA backend beside ours (candle.tsv).

Exit code: 0, or 1 if a file cannot be read or written, or if a row missed its target and has no reason.";

/// Draws what was measured on an H200, and writes the pages that show it.
#[derive(Parser)]
#[command(after_help = EXAMPLES)]
struct Options {
    /// The checkout to read and write, instead of the one that this program was built from
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

fn main() -> ExitCode {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default();
    match benches::plot::run(&Options::parse().root.unwrap_or_else(own)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
