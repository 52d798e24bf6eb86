//! The command line: `cargo xtask parity`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use crate::case::Case;
use crate::devices::{self, NamedDevice};
use crate::report::{Report, quote};
use crate::sabotage::{self, Sabotage};
use crate::weights::Weights;
use crate::{Error, filter, html, registry, run_cases, table};

/// Exit code of a run in which something is wrong with a device's results.
const MISMATCH: u8 = 1;
/// Exit code of a run that could not be made: a wrong option, no such device or case, a file that cannot be read or written.
const UNUSABLE: u8 = 2;

const EXAMPLES: &str = "\
Examples:
  cargo xtask parity                                  every case on every device of this machine
  cargo xtask parity --device cpu,host:1              on the CPU device and on the host platform's wave 64
  cargo xtask parity --filter sum/f32                 the cases whose id contains sum/f32
  cargo xtask parity --filter 'exp/*/transposed/*'    the cases whose whole id matches
  cargo xtask parity --list --filter matmul           their ids, one a line
  cargo xtask parity --weights model.safetensors      the operations on a checkpoint's tensors
  cargo xtask parity --sabotage                       plant errors, and see that each is caught

Exit code: 0 if all is right, 1 if a result is wrong or missing or a planted error was not caught, 2 if the run could not be made.";

/// Holds every device of this machine against the reference, operation by operation.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct ParityArgs {
    /// Devices, separated by commas: cpu, host:0 (wave 32), host:1 (wave 64), amd:0, …  [default: all of this machine]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub device: Vec<String>,
    /// Only cases whose id contains this, or, with * or ?, whose whole id matches it
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Seed of the inputs
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Print the ids of the cases, one a line, and run nothing
    #[arg(long)]
    pub list: bool,
    /// Plant errors in good results and see that every one is caught
    #[arg(long, conflicts_with_all = ["weights", "list"])]
    pub sabotage: bool,
    /// Run the operations on the tensors of this safetensors file
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Where the report goes; a page of the same name ending in .html goes beside it
    #[arg(long, value_name = "PATH", default_value = "target/parity/report.json")]
    pub json: PathBuf,
    /// Threads that make inputs and judge  [default: one per core]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Does what the arguments ask for; prints to the standard streams.
pub fn run(args: ParityArgs) -> ExitCode {
    match try_run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(MISMATCH),
        Err(error) => {
            eprintln!("parity: {error}");
            ExitCode::from(UNUSABLE)
        }
    }
}

/// Whether all was right.
fn try_run(args: &ParityArgs) -> Result<bool, Error> {
    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build()?;
        return pool.install(|| chosen(args));
    }
    chosen(args)
}

fn chosen(args: &ParityArgs) -> Result<bool, Error> {
    let weights = args.weights.as_deref().map(Weights::open).transpose()?;
    let all = match &weights {
        Some(weights) => weights.cases()?,
        None => registry::all(),
    };
    if let (true, Some(path)) = (all.is_empty(), &args.weights) {
        return Err(Error::NoTensors { path: path.clone() });
    }
    let cases = select(all, args.filter.as_deref())?;
    if args.list {
        say(&cases.iter().map(|case| case.id() + "\n").collect::<String>());
        return Ok(true);
    }
    if !args.sabotage {
        check_writable(&args.json)?;
    }
    let devices = devices::open(&args.device)?;
    if args.sabotage {
        return sabotage(args, &cases, &devices);
    }
    let (bar, origin) = (progress(cases.len()), origin(args));
    let report = match &weights {
        Some(weights) => weights.run(&cases, &devices, args.seed, &origin, &mut || bar.inc(1))?,
        None => run_cases(&cases, &devices, args.seed, &mut || bar.inc(1)),
    };
    bar.finish_and_clear();
    write(&report, &args.json)?;
    say(&format!("{}Report: {}\n", table::render(&report, &origin), args.json.display()));
    Ok(report.totals.failures() == 0)
}

/// Prints; a reader that has seen enough, such as head, is no error.
fn say(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Finds out before the run whether its report can be written.
fn check_writable(json: &Path) -> Result<(), Error> {
    if json.extension().is_some_and(|ending| ending == "html") {
        return Err(Error::ReportName { path: json.to_path_buf() });
    }
    let folder = json.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let tried = std::fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder).map(drop));
    let tried = tried.and_then(|()| match json.is_dir() {
        true => Err(std::io::ErrorKind::IsADirectory.into()),
        false => Ok(()),
    });
    // tempfile names its temporary in the message; the kind says enough.
    tried.map_err(|error| Error::Write { path: json.to_path_buf(), source: error.kind().into() })
}

fn select(cases: Vec<Case>, text: Option<&str>) -> Result<Vec<Case>, Error> {
    let Some(text) = text else { return Ok(cases) };
    let chosen = filter::select(cases, text);
    if chosen.is_empty() {
        return Err(Error::NoCase { filter: text.to_string() });
    }
    Ok(chosen)
}

fn sabotage(args: &ParityArgs, cases: &[Case], devices: &[NamedDevice]) -> Result<bool, Error> {
    let cases = sabotage::benches(cases);
    if cases.is_empty() {
        return Err(Error::NothingToSabotage { filter: args.filter.clone().unwrap_or_default() });
    }
    let bar = progress(cases.len());
    let found = sabotage::run(&cases, devices, args.seed, &mut || bar.inc(1));
    bar.finish_and_clear();
    tell(&found);
    // Without a filter every fault has a place; with one, those that fit.
    let missing = if args.filter.is_none() { found.never_planted(devices) } else { Vec::new() };
    missing.iter().for_each(|fault| println!("NEVER PLANTED {fault}"));
    Ok(found.is_complete() && missing.is_empty())
}

fn tell(found: &Sabotage) {
    for (fault, caught, planted) in found.kinds() {
        println!("{fault:<30} {caught:>6} of {planted:>6}");
    }
    for plant in found.plants.iter().filter(|plant| !plant.caught) {
        println!("MISSED {:?} in {} on {}", plant.fault, plant.case, plant.device);
    }
    for spoiled in &found.spoiled {
        println!("NOT PLANTED in {spoiled}");
    }
    let operations: std::collections::BTreeSet<&str> =
        found.plants.iter().map(|plant| plant.operation).collect();
    println!(
        "{} of {} planted errors caught, in {} operations.",
        found.caught(),
        found.plants.len(),
        operations.len()
    );
}

fn write(report: &Report, json: &Path) -> Result<(), Error> {
    let wrap = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Write { path, source }
    };
    report.write_json(json).map_err(wrap(json))?;
    let page = json.with_extension("html");
    html::write(report, &page).map_err(wrap(&page))
}

/// What else a rerun of one case has to be given.
fn origin(args: &ParityArgs) -> String {
    args.weights
        .as_ref()
        .map_or(String::new(), |path| format!(" --weights {}", quote(&path.display().to_string())))
}

/// A bar on the terminal; nothing where the output goes elsewhere.
fn progress(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {elapsed} gone, {eta} to go");
    ProgressBar::new(cases as u64).with_style(style.expect("the template is a constant"))
}
