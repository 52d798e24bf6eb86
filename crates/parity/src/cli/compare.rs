//! `parity compare`: two files of results against each other.

use std::path::PathBuf;

use clap::Args;

use super::say;
use crate::Error;
use crate::comparison::{self, Comparison, Known};
use crate::record::NamedRecord;

const EXAMPLES: &str = r#"Examples:
  cargo xtask parity compare crates/parity/records/cuda-h200.tsv target/parity/amd-0.tsv
  cargo xtask parity compare a.tsv b.tsv --differences known.toml     with a list of known differences

A list of known differences is a file of entries such as
  [[difference]]
  case = "matmul/f16/*"
  reason = "the library sums in 16 bits"
An entry that no case needs is an error.

Exit code: 0 if no results differ but those that are listed, 1 if others do or an entry is not needed, 2 if a file cannot be used or no
case can be compared."#;

/// Options of `cargo xtask parity compare`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// A record, as `cargo xtask parity record` writes it
    #[arg(value_name = "A")]
    pub left: PathBuf,
    /// Another one
    #[arg(value_name = "B")]
    pub right: PathBuf,
    /// Known differences: a TOML file with `[[difference]]` entries of `case` (an id with * and ?) and `reason`
    #[arg(long, value_name = "FILE")]
    pub differences: Option<PathBuf>,
}

/// Whether no results differ but those that are listed.
pub(super) fn run(args: &CompareArgs) -> Result<bool, Error> {
    let (left, right) = (NamedRecord::read(&args.left)?, NamedRecord::read(&args.right)?);
    let known = args.differences.as_deref().map_or(Ok(Vec::new()), Known::read)?;
    let comparison = Comparison::new(&left, &right, &known)?;
    say(&comparison::render(&comparison));
    Ok(comparison.is_good())
}
