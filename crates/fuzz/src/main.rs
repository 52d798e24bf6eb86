//! The program behind `cargo xtask fuzz`: tests the reader of code objects with inputs that are made from real ones.
//!
//! An input is a real object with a change. Then the lengths around the change are corrected, so that the reader gets past its
//! first checks; see `mutate.rs`. The input ends in front of a page without read permission, so that a read past its end stops
//! the process. Decompressed data is in ordinary memory, where only Rust's checks help. Integer overflow panics in the reader
//! and its libraries, in release builds too. An accepted input is walked once more, by `walk.rs`. A child process reads; this
//! process saves the input that ended the child.

mod base;
mod check;
mod guard;
mod mutate;
mod packed;
mod random;
#[cfg(test)]
#[path = "../../code-object/tests/common/skip.rs"]
mod skip;
#[cfg(test)]
#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../../code-object/tests/common/tool.rs"]
mod tool;
mod tree;
mod walk;
mod workers;

use base::Base;
use check::Outcome;
use clap::Parser;
use mutate::Container;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// All memory that the reader may use. Inputs have at most 2 MiB.
const MEMORY: u64 = 4 << 30;
/// Test the reader of code objects with inputs that are made from real ones.
#[derive(Parser, Debug)]
#[command(
    bin_name = "cargo xtask fuzz",
    max_term_width = 110,
    after_help = "Examples:
  cargo xtask fuzz                           1,000,000 inputs
  cargo xtask fuzz --inputs 50000 --seed 7   others, and fewer
  cargo xtask fuzz --objects DIR             made of the .hsaco files below a folder
  cargo xtask fuzz --input FILE --arch gfx942
                                             one input again, as a failed run names it

An input ends where readable memory ends, so reading too far is seen at once; what is decompressed from it does not. The
same seed and objects make the same inputs. Without --objects `cargo xtask fuzz` builds some kernels first. Objects above
320 KiB are left out. What a run fails on is saved in target/fuzz."
)]
struct Args {
    /// How many inputs to make and read
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    inputs: u64,
    /// Which inputs
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// The folder of real objects, such as target/kernels/amd
    #[arg(long, value_name = "DIR", required_unless_present = "input")]
    objects: Option<PathBuf>,
    /// LLVM's clang-offload-bundler, which packs some of the objects
    #[arg(long, value_name = "PROGRAM")]
    bundler: Option<PathBuf>,
    /// Read this file only, and say how it ends
    #[arg(long, value_name = "FILE", conflicts_with = "objects")]
    input: Option<PathBuf>,
    /// The device that --input is read for
    #[arg(long, default_value = "gfx942", requires = "input")]
    arch: String,
    /// Where inputs are written
    #[arg(long, value_name = "DIR", default_value = "target/fuzz")]
    folder: PathBuf,
    /// Read the inputs in this process, without saving one that ends it
    #[arg(long, hide = true)]
    in_this_process: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    if let Some(file) = &args.input {
        return read_one(file, &args.arch, folder);
    }
    let objects = args.objects.as_deref().ok_or("fuzz: without --objects there is nothing to change")?;
    if args.in_this_process {
        return fuzz(args, objects, folder);
    }
    read_bases(objects)?;
    start(args, objects, folder)
}

fn read_bases(objects: &Path) -> Result<Vec<Base>, String> {
    let bases = if objects.is_dir() { base::read_folder(objects)? } else { Vec::new() };
    if bases.is_empty() {
        return Err(format!(
            "fuzz: no .hsaco file of at most 320 KiB below {}; `cargo xtask build-kernels --platform amd` makes some",
            objects.display()
        ));
    }
    Ok(bases)
}

/// Reads one file in this process.
fn read_one(file: &Path, arch: &str, folder: &Path) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    let mut guarded = guard::Guarded::new(&folder.join("one.input"), bytes.len())?;
    match check::check(guarded.put(0, &bytes), arch, None) {
        Outcome::Wrong(why) => Err(format!("fuzz: {}: {why}", file.display())),
        outcome => {
            let text = hip_sys::Image::new(&bytes, arch)
                .map_or_else(|error| error.to_string(), |image| image.to_string());
            println!("fuzz: {}: {outcome:?}: {text}", file.display());
            Ok(())
        }
    }
}

/// Starts the process that reads the inputs. If it is killed, saves the inputs that it was reading.
fn start(args: &Args, objects: &Path, folder: &Path) -> Result<(), String> {
    let us = std::env::current_exe().map_err(|e| format!("fuzz: cannot tell where this program is: {e}"))?;
    let mut command = Command::new(us);
    command.args(["--in-this-process", "--inputs", &args.inputs.to_string()]);
    command.args(["--seed", &args.seed.to_string(), "--objects"]).arg(objects).arg("--folder").arg(folder);
    if let Some(bundler) = &args.bundler {
        command.arg("--bundler").arg(bundler);
    }
    let status = command.status().map_err(|e| format!("fuzz: cannot start the reader: {e}"))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(_) => Err("fuzz: the reader is wrong, see above".into()),
        None => Err(saved(args, objects, folder, &status.to_string())?),
    }
}

/// Saves the inputs that were being read, and prints how to read them again.
fn saved(args: &Args, objects: &Path, folder: &Path, status: &str) -> Result<String, String> {
    let mut bases = read_bases(objects)?;
    // The same bases as in the ended process give the same inputs.
    let _ = packed::add(&mut bases, args.bundler.as_deref(), folder);
    let mut message = format!("fuzz: the reader was ended ({status}) by one of these inputs:");
    for left in (0..worker_count()).filter_map(|worker| guard::left_in(&workers::file(folder, worker))) {
        let arch = mutate::input(&bases, args.seed, left.index).arch;
        message += &match save(folder, args.seed, left.index, arch, &left.bytes) {
            Ok(command) => format!("\n  {command}"),
            Err(error) => format!("\n  input {}: {error}", left.index),
        };
    }
    Ok(message)
}

/// Saves an input, and returns the command that reads it again.
fn save(folder: &Path, seed: u64, index: u64, arch: &str, bytes: &[u8]) -> Result<String, String> {
    let file = folder.join(format!("seed-{seed}-input-{index}.bin"));
    std::fs::write(&file, bytes).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    Ok(format!("cargo xtask fuzz --input {} --arch {arch}", file.display()))
}

fn worker_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn fuzz(args: &Args, objects: &Path, folder: &Path) -> Result<(), String> {
    let mut bases = read_bases(objects)?;
    let llvm = packed::add(&mut bases, args.bundler.as_deref(), folder);
    let bases = &bases[..];
    guard::limit_memory(MEMORY)?;
    let sizes = bases.iter().map(|base| base.bytes.len());
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    println!("fuzz: {} objects of {least} to {most} bytes, seed {}", bases.len(), args.seed);
    match llvm {
        Ok(()) => println!(
            "fuzz: LLVM's bundler made {} compressed bundles of them and {} others",
            packed::count(bases, Container::Compressed),
            packed::count(bases, Container::Bundle)
        ),
        Err(why) => println!("fuzz: no bundles of LLVM's: {why}"),
    }
    let begin = Instant::now();
    let found = workers::run(bases, folder, args.inputs, args.seed, worker_count())?;
    print!("{}", workers::table(&found.counts));
    let inputs: u64 = found.counts.values().sum();
    println!("fuzz: {inputs} inputs in {:.1} s", begin.elapsed().as_secs_f64());
    let Some((index, why)) = found.wrong else { return Ok(()) };
    let input = mutate::input(bases, args.seed, index);
    let command = save(folder, args.seed, index, input.arch, &input.bytes)?;
    Err(format!("fuzz: input {index}: {why}\n  {command}"))
}
