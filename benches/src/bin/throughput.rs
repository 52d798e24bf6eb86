//! `throughput`: measures the throughput of tensor-core's operations on a device, alternating with PyTorch.

use benches::overhead;
use benches::throughput::measure::Effort;
use benches::throughput::peer::Peer;
use benches::throughput::report;
use benches::throughput::results::{Figures, to_json};
use benches::throughput::rows::Set;
use benches::throughput::run::{Findings, Request, run};
use benches::throughput::targets::Verdict;
use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{ffi::OsString, fs, io};
use tensor_core::{DType, Device};

const EXAMPLES: &str = "\
Examples:
  throughput --device nvidia:0                          every row, ours alone
  throughput --device nvidia:0 --peer benches/peers/torch_throughput.py --out benches/h200
  throughput --device nvidia:0 --set memory --dtype bf16 --filter \"sum_last 16384\"
  throughput --device nvidia:0 --set products --winograd
  throughput --device host:0 --shrink 64                the program itself, on the CPU
  throughput --device nvidia:0 --overhead               what hip-safe itself costs the host

Some elements of every result are compared with the reference before its operation is timed. Each repeat of ours is followed by one of
the peer's.
Exit code: 0 if all was measured, whether targets were missed or not; 1 if a result is wrong or something could not be measured; 2 if
the run could not be made.";

/// Measures the memory throughput of tensor-core's operations, and the host time of a small addition.
#[derive(Parser)]
#[command(after_help = EXAMPLES)]
struct Options {
    /// The device: nvidia:0, amd:0, host:0, cpu
    #[arg(long)]
    device: String,
    /// The rows, separated by commas
    #[arg(long, value_delimiter = ',', value_enum, default_values = ["memory", "select", "attention", "products", "host"])]
    set: Vec<Set>,
    /// The dtypes, separated by commas
    #[arg(long, value_delimiter = ',', value_enum, default_values = ["f32", "f16", "bf16"])]
    dtype: Vec<Float>,
    /// Only rows whose operation, shape and dtype contain this: "sum_last 16384x8192 f16"
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Measure PyTorch too, in alternation, with this script: benches/peers/torch_throughput.py
    #[arg(long, value_name = "FILE")]
    peer: Option<PathBuf>,
    /// The program that runs the script
    #[arg(long, value_name = "PROGRAM", default_value = "python3", requires = "peer")]
    python: OsString,
    /// Write SET.json for each set of rows, and notes.txt, to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the tables as Markdown
    #[arg(long)]
    markdown: bool,
    /// Repeats; the result is their median
    #[arg(long, default_value_t = Effort::default().repeats, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Duration of a repeat in milliseconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    repeat_ms: u64,
    /// Divide all sizes by this, to try the program on a small device
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    shrink: u32,
    /// Let convolutions use Winograd's and Fourier's transforms, as PyTorch does; their results have the same
    /// error bounds
    #[arg(long)]
    winograd: bool,
    /// Let attention use the kernels for matrix units, as it does by default
    #[arg(long)]
    matrix_attention: bool,
    /// Measure instead the host time of hip-safe itself, in nanoseconds: handles, the pool, launches, waits
    /// between streams
    #[arg(long)]
    overhead: bool,
    /// With --overhead: bytes of the buffer whose sharing is measured
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30, requires = "overhead")]
    large: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Float {
    F32,
    F16,
    Bf16,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = if options.overhead { overhead(&options) } else { measured(&options) };
    match outcome {
        Ok(findings) => {
            findings.wrong.iter().for_each(|line| eprintln!("throughput: {line}"));
            ExitCode::from(u8::from(!findings.wrong.is_empty()))
        }
        Err(error) => {
            eprintln!("throughput: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the host time of hip-safe itself. A missed target is marked but is not an error: on a busy machine
/// all are missed.
fn overhead(options: &Options) -> Result<Findings, String> {
    let device = Device::parse(&options.device).map_err(|error| error.to_string())?;
    let device = device.as_hip().ok_or_else(|| format!("{} is no HIP device", options.device))?;
    print!("{}", overhead::table(&overhead::rows(device, options.large)?));
    Ok(Findings::default())
}

/// Runs, prints the tables and writes the files.
fn measured(options: &Options) -> Result<Findings, String> {
    let device = Device::parse(&options.device).map_err(|error| error.to_string())?;
    device.check_kernels().map_err(|error| error.to_string())?;
    // Checked before the run: a missing output folder should not be found out after minutes of measuring.
    if let Some(folder) = &options.out {
        fs::create_dir_all(folder).map_err(|error| failed(folder, "made", &error))?;
    }
    let mut peer = match &options.peer {
        Some(script) => Some(Peer::start(&options.python, script)?),
        None => None,
    };
    let dtype = |float: &Float| match float {
        Float::F32 => DType::F32,
        Float::F16 => DType::F16,
        Float::Bf16 => DType::BF16,
    };
    let mut request = Request {
        device,
        dtypes: options.dtype.iter().map(dtype).collect(),
        sets: Vec::new(),
        shrink: options.shrink as usize,
        winograd: options.winograd,
        matrix_attention: options.matrix_attention,
        filter: options.filter.clone(),
        effort: Effort {
            repeats: options.repeats,
            repeat: Duration::from_millis(options.repeat_ms),
            ..Effort::default()
        },
    };
    let template = "{prefix} {bar:30} {pos}/{len} rows, {elapsed} gone, {eta} to go: {msg}";
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    let mut all = Findings::default();
    for &set in &options.set {
        request.sets = vec![set];
        let bar = ProgressBar::new(0).with_style(style.clone()).with_prefix(set.name());
        let findings = run(&request, peer.as_mut(), &mut |done, total, label| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.set_message(label.to_owned());
        });
        bar.finish_and_clear();
        let findings = findings?;
        // Written at once, so that results are not lost if the run is interrupted.
        if let Some(folder) = &options.out {
            write(folder, &findings)?;
        }
        show(&findings, all.notes.is_empty(), options.markdown);
        all.notes = findings.notes;
        all.sets.extend(findings.sets);
        all.wrong.extend(findings.wrong);
    }
    let rows = || all.sets.iter().flat_map(|(_, rows)| rows);
    let verdicts = || rows().map(Verdict::of);
    let missed = verdicts().filter(|verdict| verdict.is_missed()).count();
    let held = verdicts().filter(|verdict| *verdict != Verdict::None).count();
    println!("\n{} rows; {held} have a target, {missed} of them missed it", rows().count());
    Ok(all)
}

/// Prints the tables, with the notes above the first.
fn show(findings: &Findings, notes: bool, markdown: bool) {
    if notes {
        findings.notes.iter().for_each(|note| println!("{note}"));
    }
    let table = if markdown { report::markdown } else { report::text };
    for (set, rows) in &findings.sets {
        println!("\n{}:\n\n{}", set.name(), table(rows).trim_end());
    }
}

/// Writes a file for each set that has rows, and the notes.
fn write(folder: &Path, findings: &Findings) -> Result<(), String> {
    let put = |name: String, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, "written", &error))
    };
    for (set, rows) in &findings.sets {
        let rows: &[Figures] = rows;
        put(format!("{}.json", set.name()), to_json(rows))?;
    }
    put("notes.txt".into(), findings.notes.iter().map(|note| format!("{note}\n")).collect())
}

fn failed(path: &Path, what: &str, error: &io::Error) -> String {
    format!("{} cannot be {what}: {error}", path.display())
}
