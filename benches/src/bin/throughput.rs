//! `throughput`: what operations of tensor-core move a second on a device, beside PyTorch's figures.

use benches::overhead;
use benches::throughput::measure::Effort;
use benches::throughput::records::Records;
use benches::throughput::report::table;
use benches::throughput::rows::Sizes;
use benches::throughput::run::{Findings, Request, run};
use clap::{Parser, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};
use tensor_core::{DType, Device};

const EXAMPLES: &str = "\
Examples:
  throughput --device nvidia:0                          every row at 16384 x 8192
  throughput --device nvidia:0 --dtype bf16 --filter sum
  python3 benches/peers/torch_throughput.py --tsv torch.tsv
  throughput --device nvidia:0 --vs torch.tsv           the same beside PyTorch's figures
  throughput --device host:0 --rows 256 --cols 128 --matmul 64
  throughput --device nvidia:0 --products               matrix products and convolutions at the sizes of networks
  throughput --device nvidia:0 --overhead               what hip-safe itself costs the host

Every result is held against the reference at some places before its operation is timed.
Exit code: 0 if all was measured, 1 if a result is wrong or something could not be measured, 2 if the run could not be made.";

/// Measures how much memory tensor-core's operations move a second, and what one small addition costs the host.
#[derive(Parser)]
#[command(after_help = EXAMPLES)]
struct Options {
    /// The device: nvidia:0, amd:0, host:0, cpu
    #[arg(long)]
    device: String,
    /// Rows of the large matrices
    #[arg(long, default_value_t = 16384, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// Columns of the large matrices
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u64).range(1..))]
    cols: u64,
    /// Rows and columns of the matrix that is multiplied by itself
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u64).range(1..))]
    matmul: u64,
    /// The dtypes, separated by commas
    #[arg(long, value_delimiter = ',', value_enum, default_values = ["f32", "f16", "bf16"])]
    dtype: Vec<Float>,
    /// Matrix products and convolutions at the sizes of networks, instead of memory operations
    #[arg(long)]
    products: bool,
    /// Let convolutions use Winograd's and Fourier's transforms, as PyTorch does; their results are held to the same bounds
    #[arg(long, requires = "products")]
    winograd: bool,
    /// Calls of a repeat; fewer where a repeat would take more than a second
    #[arg(long, default_value_t = 20)]
    calls: u32,
    /// Only rows whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Write the figures to this file
    #[arg(long, value_name = "FILE")]
    tsv: Option<PathBuf>,
    /// Measure instead what hip-safe itself costs the host, in nanoseconds: handles, the pool, launches, hand-overs
    #[arg(long)]
    overhead: bool,
    /// With --overhead: bytes of the buffer whose sharing is measured
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30, requires = "overhead")]
    large: usize,
    /// Put the figures beside those of this file, which torch_throughput.py wrote
    #[arg(long, value_name = "FILE")]
    vs: Option<PathBuf>,
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

/// Prints what hip-safe itself costs. A missed bar is marked and no error: on a busy machine all are missed.
fn overhead(options: &Options) -> Result<Findings, String> {
    let device = Device::parse(&options.device).map_err(|error| error.to_string())?;
    let device = device.as_hip().ok_or_else(|| format!("{} is no HIP device", options.device))?;
    print!("{}", overhead::table(&overhead::rows(device, options.large)?));
    Ok(Findings::default())
}

/// Runs, prints the tables and writes the file.
fn measured(options: &Options) -> Result<Findings, String> {
    // Before the run: a bad file is no reason to measure for minutes.
    let mut peer = options.vs.as_deref().map(read).transpose()?;
    if let Some(peer) = &mut peer {
        same_shape(peer, options)?;
    }
    let device = Device::parse(&options.device).map_err(|error| error.to_string())?;
    device.check_kernels().map_err(|error| error.to_string())?;
    let dtype = |float: &Float| match float {
        Float::F32 => DType::F32,
        Float::F16 => DType::F16,
        Float::Bf16 => DType::BF16,
    };
    let sizes = Sizes {
        rows: options.rows as usize,
        columns: options.cols as usize,
        matmul: options.matmul as usize,
    };
    let request = Request {
        device,
        dtypes: options.dtype.iter().map(dtype).collect(),
        sizes,
        products: options.products,
        winograd: options.winograd,
        filter: options.filter.clone(),
        effort: Effort { calls: options.calls, ..Effort::default() },
    };
    let findings = run(&request, |line| eprintln!("{line}")).map_err(|error| error.to_string())?;
    if let Some(path) = &options.tsv {
        fs::write(path, findings.records.to_tsv()).map_err(|error| failed(path, "written", &error))?;
    }
    let table = table(&findings.records, peer.as_ref());
    println!("{}\n{}", table.text(), table.markdown());
    Ok(findings)
}

fn read(path: &Path) -> Result<Records, String> {
    let text = fs::read_to_string(path).map_err(|error| failed(path, "read", &error))?;
    Records::from_tsv(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Refuses figures of another shape. What both notes say is shown once.
fn same_shape(peer: &mut Records, options: &Options) -> Result<(), String> {
    let shape = match options.products {
        true => "products,".into(),
        false => format!("{} x {},", options.rows, options.cols),
    };
    if !peer.notes.iter().any(|note| note.starts_with(&shape)) {
        let found = peer.notes.join("; ");
        return Err(format!(
            "the figures of --vs are not of {shape} run both with the same --rows and --cols, or --products ({found})"
        ));
    }
    peer.notes.retain(|note| !note.starts_with(&shape));
    Ok(())
}

fn failed(path: &Path, what: &str, error: &io::Error) -> String {
    format!("{} cannot be {what}: {error}", path.display())
}
