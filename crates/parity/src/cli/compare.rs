//! `parity compare`: two files of results against each other.

use std::path::PathBuf;

use clap::Args;

use super::say;
use crate::Error;
use crate::record::{Agreement, NamedRecord, compare};

const EXAMPLES: &str = "\
Examples:
  cargo xtask parity compare crates/parity/records/cuda-h200.tsv target/parity/amd-0.tsv
  cargo xtask parity compare a.tsv b.tsv --differences known.toml     with a list of known differences

Exit code: 0 if no results differ but those that are listed, 1 if others do, 2 if a file cannot be used.";

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
}

/// Whether no results differ.
pub(super) fn run(args: &CompareArgs) -> Result<bool, Error> {
    let (left, right) = (NamedRecord::read(&args.left)?, NamedRecord::read(&args.right)?);
    let mut differ = 0;
    for entry in left.record.entries() {
        let Some(other) = right.record.get(entry.hash, &entry.id) else { continue };
        if let Agreement::Differs(difference) = compare(entry, other) {
            differ += 1;
            say(&format!("DIFFER {}: {}\n", entry.id, difference.describe(&left.name, &right.name)));
        }
    }
    say(&format!("{differ} differ.\n"));
    Ok(differ == 0)
}
