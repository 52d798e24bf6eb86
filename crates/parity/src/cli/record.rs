//! `parity record`: writes a device's results to a file.

use std::path::PathBuf;

use clap::Args;

use super::{CaseArgs, check_writable, compile, folder, progress, registered, say};
use crate::{Error, devices, record, table};

const EXAMPLES: &str = "\
Examples:
  cargo xtask parity record --device amd:0                            to target/parity/amd-0.tsv
  cargo xtask parity record --device nvidia:0 --out cuda-h200.tsv     to another file
  cargo xtask parity record --device nvidia:0 --full                  with the cases that take seconds each
  cargo xtask parity record --device host:1 --filter exp/f32          only the cases whose id contains exp/f32

The results are held against the reference on the way, and the table is that of a run. What is wrong is recorded as it is, what failed
as its error. docs/PARITY.md says what is in the file and how to send one.

Exit code: 0 if all is right, 1 if a result is wrong or missing, 2 if nothing could be recorded.";

/// Options of `cargo xtask parity record`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct RecordArgs {
    /// The device: cpu, host:0 (wave 32), host:1 (wave 64), amd:0, nvidia:0, …
    #[arg(long, value_name = "NAME")]
    pub device: String,
    /// The file to write  [default: parity/DEVICE.tsv in cargo's target folder]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also run the cases that take seconds each
    #[arg(long)]
    pub full: bool,
    /// Which cases
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// Returns whether all results are right.
pub(super) fn run(args: &RecordArgs) -> Result<bool, Error> {
    let cases = registered(&args.cases, args.full)?;
    let device = devices::open(std::slice::from_ref(&args.device))?.remove(0);
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| folder::of_reports().join(format!("{}.tsv", device.name.replace(':', "-"))));
    check_writable(&out)?;
    compile(&cases, std::slice::from_ref(&device))?;
    let bar = progress(cases.len());
    let made = record::record_cases(&cases, &device, args.cases.seed, &mut || bar.inc(1));
    bar.finish_and_clear();
    made.record.write(&out)?;
    let table = table::render(&made.report, "");
    say(&format!("{table}Recorded: {} cases in {}\n", made.record.entries().len(), out.display()));
    Ok(made.report.totals.failures() == 0)
}
