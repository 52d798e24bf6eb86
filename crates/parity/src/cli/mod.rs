//! The command line: `cargo xtask parity` and its subcommands, one file each.

mod check;
mod compare;
mod compare_tensors;
mod export;
mod folder;
mod record;
mod sabotage;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use crate::case::Case;
use crate::devices::NamedDevice;
use crate::{Error, compile, filter, registry};
pub use compare::CompareArgs;
pub use compare_tensors::CompareTensorsArgs;
pub use export::ExportArgs;
pub use record::RecordArgs;

/// Exit code if a device's results are wrong.
const MISMATCH: u8 = 1;
/// Exit code if the run could not be made: an invalid option, no such device or case, a file that cannot be read or
/// written.
pub(crate) const UNUSABLE: u8 = 2;

const EXAMPLES: &str = "\
Examples:
  cargo xtask parity                                  on every device of this machine, a subset that stands for all cases
  cargo xtask parity --all                            every case
  cargo xtask parity --full                           every case, including those that take seconds each
  cargo xtask parity --device cpu,host:1              on the CPU device and on the host platform's wave 64
  cargo xtask parity --filter sum/f32                 the cases whose id contains sum/f32
  cargo xtask parity --filter 'exp/*/transposed/*'    the cases whose whole id matches
  cargo xtask parity --list --filter matmul           ids, one per line
  cargo xtask parity --device amd:0 --differences crates/parity/differences/amd-emulated.toml
                                                      with known differences; an entry whose cases all agree is stale
  cargo xtask parity --weights model.safetensors      the operations on a checkpoint's tensors
  cargo xtask parity --history before.json            with a trend against an earlier report
  cargo xtask parity --sabotage                       plant errors, and check that each is caught
  cargo xtask parity --model DIR --device amd:0,cpu   the first layer of a language model that two devices do not agree on
  cargo xtask parity record --device amd:0            write the device's results to a file, for another machine
  cargo xtask parity compare cuda-h200.tsv amd.tsv    compare two such files
  cargo xtask parity compare-tensors ours.npz cuda.npz
                                                      compare two files of tensors

Exit code: 0 if all is right, 1 if a result is wrong or missing, a listed difference does not occur, or a planted error was not caught, 2 if the run could not be made.";

/// Compares every device of this machine with the reference and the records, operation by operation.
#[derive(Debug, Clone, Parser)]
#[command(name = "cargo xtask parity", bin_name = "cargo xtask parity", max_term_width = 110)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ParityArgs {
    /// A subcommand; without one, a run.
    #[command(subcommand)]
    pub command: Option<ParityCommand>,
    /// Devices, separated by commas: cpu, host:0 (wave 32), host:1 (wave 64), amd:0, …  [default: all of this machine]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub device: Vec<String>,
    /// Which cases, and how they are generated.
    #[command(flatten)]
    pub cases: CaseArgs,
    /// Run every case except those of --full, not only the subset
    #[arg(long, conflicts_with = "weights")]
    pub all: bool,
    /// Run every case, including those that take seconds each: more than 65,535 blocks of work in every family
    #[arg(long, conflicts_with = "weights")]
    pub full: bool,
    /// Print the ids of the cases, one per line, and run nothing
    #[arg(long)]
    pub list: bool,
    /// Plant errors in good results and check that every one is caught
    #[arg(long, conflicts_with_all = ["weights", "list"])]
    pub sabotage: bool,
    /// Run the operations on the tensors of this safetensors file
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Compare what each operation of each layer of a language model gives on two devices: a GGUF file, or a folder with
    /// safetensors files. `cargo xtask` starts `hipstack drift` for this, whose options --device, --prompt, --tokens,
    /// --tolerance and --json can follow
    #[arg(long, value_name = "PATH", conflicts_with_all = ["weights", "list", "sabotage"])]
    pub model: Option<PathBuf>,
    /// Also compare the results with this record, besides the embedded ones; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["weights", "list", "sabotage"])]
    pub against: Vec<PathBuf>,
    /// Known differences: a TOML file with `[[difference]]` entries, as `parity compare --help` describes them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["weights", "list", "sabotage"])]
    pub differences: Option<PathBuf>,
    /// An earlier report.json, for the page's trend, besides those kept next to the new one; may be repeated, the oldest
    /// first
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "sabotage"])]
    pub history: Vec<PathBuf>,
    /// Where to write the report; its HTML page is written next to it, and an earlier report there is kept under a number,
    /// as report-1.json [default: parity/report.json in cargo's target folder]
    #[arg(long, value_name = "PATH")]
    pub json: Option<PathBuf>,
}

/// Which cases, and how they are generated.
#[derive(Debug, Clone, Args)]
pub struct CaseArgs {
    /// Only cases whose id contains this text, or whose whole id matches it if it has * or ?
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Seed of the inputs
    #[arg(long, default_value_t = SEED)]
    pub seed: u64,
    /// Threads that generate inputs and judge  [default: one per core]
    #[arg(long, value_name = "COUNT", value_parser = threads_parser())]
    pub threads: Option<u16>,
    /// The cases of a program of its own, in place of the registry's: see [`crate::custom::main`]
    #[arg(skip)]
    pub own: Option<Vec<Case>>,
}

/// The subcommands of `cargo xtask parity`.
#[derive(Debug, Clone, Subcommand)]
pub enum ParityCommand {
    /// Write a device's results to a file, to compare them on another machine
    Record(RecordArgs),
    /// Compare two files of results
    Compare(CompareArgs),
    /// Compare two files or folders of tensors, such as those of PyTorch on another machine
    CompareTensors(CompareTensorsArgs),
    /// Write the cases and their inputs to a folder, for another program to compute
    Export(ExportArgs),
}

/// The default seed of the inputs.
const SEED: u64 = 7;

fn threads_parser() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=1024)
}

/// Runs the command, and prints to the standard streams.
pub fn run(args: ParityArgs) -> ExitCode {
    let done = match &args.command {
        None if args.model.is_some() => Err(Error::Model),
        None => with_threads(args.cases.threads, || check::run(&args)),
        Some(ParityCommand::Record(args)) => with_threads(args.cases.threads, || record::run(args)),
        Some(ParityCommand::Compare(args)) => compare::run(args),
        Some(ParityCommand::CompareTensors(args)) => compare_tensors::run(args),
        Some(ParityCommand::Export(args)) => with_threads(args.cases.threads, || export::run(args)),
    };
    exit(done)
}

/// The exit code of what was done; an error is printed.
pub(crate) fn exit(done: Result<bool, Error>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(MISMATCH),
        Err(error) => {
            eprintln!("parity: {error}");
            ExitCode::from(UNUSABLE)
        }
    }
}

/// Runs `work` on a pool of this many threads.
fn with_threads(
    threads: Option<u16>,
    work: impl FnOnce() -> Result<bool, Error> + Send,
) -> Result<bool, Error> {
    match threads {
        Some(threads) => rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build()?.install(work),
        None => work(),
    }
}

/// Prints a text. A closed pipe, as with head, is not an error.
fn say(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Checks before the run whether a file can be written.
fn check_writable(path: &Path) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let tried = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        // A device or a FIFO is written to directly, and opening it may wait.
        Ok(found) if !found.is_file() => Ok(()),
        _ => std::fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder).map(drop)),
    };
    // tempfile's message includes the temporary name; the error kind is enough.
    tried.map_err(|error| Error::Write { path: path.to_path_buf(), source: error.kind().into() })
}

/// The requested cases of the registry, or of the program.
fn registered(args: &CaseArgs, full: bool) -> Result<Vec<Case>, Error> {
    let mut cases = args.own.clone().unwrap_or_else(registry::all);
    if full && args.own.is_none() {
        cases.extend(registry::long());
    }
    select(cases, args.filter.as_deref())
}

fn select(cases: Vec<Case>, text: Option<&str>) -> Result<Vec<Case>, Error> {
    let Some(text) = text else { return Ok(cases) };
    let chosen = filter::select(cases, text);
    if chosen.is_empty() {
        return Err(Error::NoCase { filter: text.to_string() });
    }
    Ok(chosen)
}

/// Compiles the cases' kernels, with a progress bar on a terminal.
fn compile(cases: &[Case], devices: &[NamedDevice]) -> Result<(), Error> {
    let style =
        ProgressStyle::with_template("{bar:40} {pos}/{len} units of kernels for {msg}, {elapsed} gone");
    let bar = ProgressBar::new(0).with_style(style.expect("the template is a constant"));
    let step = |device: &str, done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_message(device.to_owned());
        bar.set_position(done as u64);
        // Without a terminal the bar is hidden.
        if bar.is_hidden() && (done.is_multiple_of(25) || done == all) {
            eprintln!("parity: {done} of {all} units of kernels for {device}");
        }
    };
    let compiled = compile::compile(cases, devices, &step);
    bar.finish_and_clear();
    compiled.map_err(|source| Error::Kernels { source })
}

fn progress(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {elapsed} gone, {eta} to go");
    ProgressBar::new(cases as u64).with_style(style.expect("the template is a constant"))
}
