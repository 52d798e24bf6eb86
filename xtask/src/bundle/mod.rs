//! `cargo xtask bundle`: collects everything that a machine with a GPU and without Rust needs to check this
//! stack: programs, tests, kernels, and a script that runs them.

mod glibc;
mod programs;

use crate::build_kernels::{self, target::Platform, target::Target};
use crate::{table::Table, workspace};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Maximum compressed size of a bundle, since it is copied over slow connections.
const MOST_BYTES: u64 = 56 << 20;
/// The oldest glibc that it has to run with: Debian 12's.
const GLIBC: (u32, u32) = (2, 36);
const SCRIPT: &str = include_str!("run.sh");
const KERNELS: &str = "kernels.tar.gz";

/// Options of `cargo xtask bundle`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask bundle --platform nvidia                       for sm_80 and sm_90, in target/bundle/nvidia
  cargo xtask bundle --platform amd --arch gfx942,gfx1100    for cards of AMD
  cargo xtask bundle --platform nvidia --out /media/stick    elsewhere

Copy the folder to the machine with the GPU, and there:
  ./run                              the machine, the C functions, the tests, every parity case
  ./run parity --filter sum/f32      one command with its options
  ./run --help                       the others

Needs the platform's compiler for the kernels (cargo xtask build-kernels --help says where it is looked for), strip and tar.
Programs that would need a C library newer than glibc 2.36 are refused.")]
pub struct BundleArgs {
    /// The platform that it is for
    #[arg(long, value_enum)]
    platform: Platform,
    /// Architectures of the kernels  [default: sm_80,sm_90 for nvidia; gfx90a,gfx942,gfx1100 for amd]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    arch: Vec<String>,
    /// The folder to write  [default: target/bundle/PLATFORM]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command; the error is the text to show.
pub fn run(args: &BundleArgs) -> Result<(), String> {
    let root = workspace::root()?;
    let platform = args.platform;
    let default: &[&str] = match platform {
        Platform::Nvidia => &["sm_80", "sm_90"],
        Platform::Amd => &["gfx90a", "gfx942", "gfx1100"],
        Platform::Host => return Err("bundle: the host platform needs none: it is in every program".into()),
    };
    let default = default.iter().map(ToString::to_string).collect();
    let archs: Vec<String> = if args.arch.is_empty() { default } else { args.arch.clone() };
    for arch in &archs {
        Target::new(platform, arch).map_err(|error| format!("bundle: {error}"))?;
    }
    let out = args.out.clone().unwrap_or_else(|| root.join("target/bundle").join(platform.name()));
    // Removes what the script of an older bundle unpacked. This happens before the kernels are built, which
    // may go into the same folder.
    if out.join("run").is_file() {
        remove(&out.join("kernels"))?;
        remove(&out.join("kernels.new"))?;
    }
    let kernels = root.join("target/kernels");
    build_kernels::run(&build_kernels::BuildArgs::of(platform, &archs, &[], &kernels))?;
    let programs = programs::build(&root, platform)?;

    let bin = out.join("bin");
    remove(&bin)?;
    let mut table = Table::new(&["file", "bytes"]);
    let mut total = 0;
    for (name, built) in &programs {
        let file = bin.join(name);
        copy(built, &file)?;
        done(Command::new("strip").arg(&file))?;
        glibc::check(&file, GLIBC)?;
        total += tell(&mut table, &out, &file)?;
    }
    let archive = out.join(KERNELS);
    let folders = archs.iter().map(|arch| format!("{}/{arch}", platform.name()));
    // The names in the archive begin with the platform; the script unpacks it into a folder.
    done(
        Command::new("tar")
            .args(["--exclude=.lock", "-czf"])
            .arg(&archive)
            .arg("-C")
            .arg(&kernels)
            .args(folders),
    )?;
    total += tell(&mut table, &out, &archive)?;
    for script in programs::SCRIPTS {
        let file = out.join(script.rsplit('/').next().unwrap_or(script));
        copy(&root.join(script), &file)?;
        total += tell(&mut table, &out, &file)?;
    }
    let run = out.join("run");
    workspace::write_whole(&run, SCRIPT.replace("@PLATFORM@", platform.name()).as_bytes())?;
    workspace::executable(&run)?;
    total += tell(&mut table, &out, &run)?;
    print!("{table}");
    let packed = packed(&out)?;
    let [whole, least] = [total, packed].map(|bytes| bytes as f64 / f64::from(1 << 20));
    println!("bundle: {whole:.1} MiB, {least:.1} MiB as .tar.gz, in {}", out.display());
    if packed > MOST_BYTES {
        return Err(format!(
            "bundle: more than {} MiB as .tar.gz: name fewer architectures with --arch",
            MOST_BYTES >> 20
        ));
    }
    Ok(())
}

/// Size of a folder's files as .tar.gz, excluding files that its script creates.
fn packed(folder: &Path) -> Result<u64, String> {
    let fail = |error: std::io::Error| format!("bundle: tar: {error}");
    let mut command = Command::new("tar");
    command.args(["--exclude=./kernels", "--exclude=./results", "-czf", "-", "-C"]).arg(folder).arg(".");
    let mut tar = command.stdout(Stdio::piped()).spawn().map_err(fail)?;
    let mut archive = tar.stdout.take().ok_or("bundle: tar has no output")?;
    let bytes = std::io::copy(&mut archive, &mut std::io::sink()).map_err(fail)?;
    let ended = tar.wait().map_err(fail)?;
    if ended.success() { Ok(bytes) } else { Err(format!("bundle: tar failed: {ended}")) }
}

/// Adds a file to the table and returns its size.
fn tell(table: &mut Table, out: &Path, file: &Path) -> Result<u64, String> {
    let bytes =
        std::fs::metadata(file).map_err(|error| format!("bundle: {}: {error}", file.display()))?.len();
    table.row(&[file.strip_prefix(out).unwrap_or(file).display().to_string(), bytes.to_string()]);
    Ok(bytes)
}

/// Removes a folder if it exists.
fn remove(folder: &Path) -> Result<(), String> {
    if !folder.is_dir() {
        return Ok(());
    }
    std::fs::remove_dir_all(folder).map_err(|error| format!("bundle: {}: {error}", folder.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let folder = to.parent().unwrap_or(to);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::copy(from, to))
        .map(drop)
        .map_err(|error| format!("bundle: {} to {}: {error}", from.display(), to.display()))
}

fn done(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.output().map_err(|error| format!("bundle: cannot start {name}: {error}"))?;
    if out.status.success() {
        return Ok(());
    }
    Err(format!("bundle: {name} failed: {}", String::from_utf8_lossy(&out.stderr).trim()))
}
