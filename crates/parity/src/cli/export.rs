//! `parity export`: exports cases and their inputs for another program.

use std::path::PathBuf;

use clap::Args;

use super::{CaseArgs, progress, registered, say};
use crate::{Error, export};

const EXAMPLES: &str = "\
Examples:
  cargo xtask parity export --out target/cases                        every case
  cargo xtask parity export --out target/cases --filter matmul        only the cases whose id contains matmul
  python3 benches/witness/torch_witness.py target/cases               compute them with PyTorch
  cargo xtask parity compare target/cases/results.safetensors         judge what PyTorch computed

The folder gets cases.json, which says what each case is, and inputs-000.safetensors and so on with the stored arrays: about 300 MB
for all cases.

Exit code: 0 if all is written, 2 if not; then nothing is left in the folder.";

/// Options of `cargo xtask parity export`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// The folder to write to: empty, or not there yet
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,
    /// Which cases
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// Always returns true, because no results are judged.
pub(super) fn run(args: &ExportArgs) -> Result<bool, Error> {
    let cases = registered(&args.cases, false)?;
    let bar = progress(cases.len());
    let filter = args.cases.filter.as_deref().unwrap_or_default();
    let done = export::export(&cases, filter, args.cases.seed, &args.out, &mut || bar.inc(1))?;
    bar.finish_and_clear();
    let export::Exported { cases, operands, arrays, bytes, files } = done;
    let (folder, megabytes) = (args.out.display(), bytes as f64 / 1e6);
    let files = if files == 1 { "1 file".to_string() } else { format!("{files} files") };
    say(&format!(
        "Exported: {cases} cases to {folder}: {operands} operands as {arrays} arrays, {megabytes:.1} MB in {files}\n"
    ));
    Ok(true)
}
