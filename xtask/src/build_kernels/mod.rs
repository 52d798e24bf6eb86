//! `cargo xtask build-kernels`: compiles every kernel ahead of time, so that a device needs no compiler at run time.
//!
//! A unit is a family of kernels for one element type. It becomes one object per architecture, in
//! `target/kernels/<platform>/<arch>/`, beside a `manifest.json` that says what made them.

pub mod compiler;
mod device_libs;
mod manifest;
mod object_file;
mod pool;
pub mod target;

use crate::{table::Table, workspace};
use compiler::Compiler;
use kernels_hip::{Unit, Waves};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use target::{Platform, Target};

/// Options of `cargo xtask build-kernels`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask build-kernels                                      for every compiler found, its first architecture
  cargo xtask build-kernels --platform amd --arch gfx90a,gfx1100
  cargo xtask build-kernels --platform nvidia --arch sm_90 --out DIR
  cargo xtask build-kernels --platform host --check              compile nothing, check what is there

Where compilers are looked for:
  amd     $HIPCC, $ROCM_PATH/bin/hipcc, /opt/rocm/bin/hipcc, hipcc in PATH; else clang++-19 with Debian's bitcode
  nvidia  $NVCC, $CUDA_HOME/bin/nvcc, nvcc in PATH, $HIPSTACK_NVCC (a folder pip installed cuda-toolkit into)
  host    $CXX, c++ or g++ in PATH")]
pub struct BuildArgs {
    /// Only this platform
    #[arg(long, value_enum)]
    platform: Option<Platform>,
    /// Architectures, such as gfx90a,gfx1100 or sm_90; host has w32 and w64
    #[arg(long, value_delimiter = ',', requires = "platform")]
    arch: Vec<String>,
    /// Write below this folder instead of target/kernels
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Compile nothing; fail unless every object is there with all its kernels
    #[arg(long)]
    check: bool,
}

impl BuildArgs {
    /// To build for these architectures of a platform, below a folder.
    pub fn of(platform: Platform, archs: &[String], out: &Path) -> Self {
        Self { platform: Some(platform), arch: archs.to_vec(), out: Some(out.to_path_buf()), check: false }
    }
}

/// An object that stands on disk.
struct Built {
    unit: usize,
    file: String,
    bytes: Vec<u8>,
    time: Duration,
}

/// Runs the command; the error is the text to show.
pub fn run(args: &BuildArgs) -> Result<(), String> {
    let root = workspace::root()?;
    let out = args.out.clone().unwrap_or_else(|| root.join("target/kernels"));
    for target in targets(args)? {
        let units = units_for(&target);
        let dir = out.join(target.platform.name()).join(&target.arch);
        if args.check {
            check(&target, &units, &dir)?;
        } else {
            build(&root, &target, &units, &dir)?;
        }
    }
    Ok(())
}

/// The units of a target. The host has one object of a text that does not depend on the wave size: it is in `w32`.
fn units_for(target: &Target) -> Vec<Unit> {
    let second = target.platform == Platform::Host && target.wave_size() == 64;
    kernels_hip::units().filter(|unit| !second || unit.family.waves == Waves::Both).collect()
}

/// What the options ask for; without a platform, what the compilers found can build.
fn targets(args: &BuildArgs) -> Result<Vec<Target>, String> {
    let Some(platform) = args.platform else {
        let defaults = Platform::ALL.map(Platform::default_targets).into_iter().flatten();
        let found = defaults.filter(|target| match compiler::find(target) {
            Ok(_) => true,
            Err(why) => {
                println!("build-kernels: {target}: skipped: {why}");
                false
            }
        });
        return Ok(found.collect());
    };
    if args.arch.is_empty() {
        return Ok(platform.default_targets());
    }
    args.arch.iter().map(|arch| Target::new(platform, arch)).collect()
}

fn build(root: &Path, target: &Target, units: &[Unit], dir: &Path) -> Result<(), String> {
    let compiler = compiler::find(target)?;
    println!("build-kernels: {target} with {compiler}");
    if let Some(note) = compiler.note() {
        println!("build-kernels: note: {note}");
    }
    std::fs::create_dir_all(dir).map_err(|e| format!("cannot make {}: {e}", dir.display()))?;
    let prepared = compiler.prepare(root)?;
    let bar = indicatif::ProgressBar::new(units.len() as u64).with_style(style());
    let results =
        pool::run(units, |i, unit| {
            let built = compile(root, &compiler, &prepared, target, unit, dir)
                .map(|(file, bytes, time)| Built { unit: i, file, bytes, time });
            bar.set_message(unit.name());
            bar.inc(1);
            built
        });
    bar.finish_and_clear();
    let built = results?;
    manifest::write(dir, target, &compiler, units, &built)?;
    print!("{}", summary(target, units, &built));
    let kernels: usize = units.iter().map(|unit| unit.kernels().len()).sum();
    println!("build-kernels: {target}: {} objects with {kernels} kernels in {}", built.len(), dir.display());
    Ok(())
}

/// Compiles one unit under a temporary name, checks the object, and gives it its name.
fn compile(
    root: &Path,
    compiler: &Compiler,
    prepared: &compiler::Prepared,
    target: &Target,
    unit: &Unit,
    dir: &Path,
) -> Result<(String, Vec<u8>, Duration), String> {
    let file = format!("{}.{}", unit.name(), target.platform.extension());
    let temporary = workspace::temporary_name(&dir.join(&file));
    let start = Instant::now();
    let mut command = compiler.command(prepared, target, unit, &root.join("kernels-hip"), &temporary);
    let made = command
        .output()
        .map_err(|e| format!("cannot start {}: {e}", compiler.program.display()))
        .and_then(|out| {
            if out.status.success() {
                return Ok(());
            }
            let text =
                String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
            Err(format!("{} ({}):\n{command:?}\n{text}", unit.name(), out.status))
        });
    let finished = made.and_then(|()| {
        let bytes = read(&temporary)?;
        object_file::check(target.platform, &bytes, &unit.kernels()).map_err(|e| format!("{file}: {e}"))?;
        std::fs::rename(&temporary, dir.join(&file)).map_err(|e| format!("cannot rename to {file}: {e}"))?;
        Ok(bytes)
    });
    if finished.is_err() {
        // What failed may have left nothing, or half a file under the temporary name.
        let _ = std::fs::remove_file(&temporary);
    }
    Ok((file, finished?, start.elapsed()))
}

/// `--check`: every object is there, holds all its kernels, and is the one that the manifest lists.
fn check(target: &Target, units: &[Unit], dir: &Path) -> Result<(), String> {
    let listed = manifest::read(dir)?;
    let mut problems = Vec::new();
    for unit in units {
        let file = format!("{}.{}", unit.name(), target.platform.extension());
        let result = read(&dir.join(&file)).and_then(|bytes| {
            object_file::check(target.platform, &bytes, &unit.kernels())?;
            listed.verify(&file, &bytes)
        });
        problems.extend(result.err().map(|e| format!("{file}: {e}")));
    }
    if problems.is_empty() {
        println!("build-kernels: {target}: {} objects checked in {}", units.len(), dir.display());
        return Ok(());
    }
    Err(format!("{}\nbuild-kernels: {target}: run it without --check", problems.join("\n")))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

fn style() -> indicatif::ProgressStyle {
    indicatif::ProgressStyle::with_template("{elapsed:>4} [{bar:30}] {pos}/{len} {msg}")
        .expect("the template is a constant")
        .progress_chars("=> ")
}

fn summary(target: &Target, units: &[Unit], built: &[Built]) -> Table {
    let mut table = Table::new(&["unit", "target", "kernels", "bytes", "seconds"]);
    for object in built {
        let unit = &units[object.unit];
        table.row(&[
            unit.name(),
            target.to_string(),
            unit.kernels().len().to_string(),
            object.bytes.len().to_string(),
            format!("{:.1}", object.time.as_secs_f64()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_has_an_object_on_every_platform() {
        let all = kernels_hip::units().count();
        for platform in Platform::ALL {
            let targets = platform.default_targets();
            let mut names: Vec<String> = targets.iter().flat_map(units_for).map(|unit| unit.name()).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all, "{}", platform.name());
        }
    }

    #[test]
    fn architectures_come_with_their_platform() {
        let args =
            |platform, arch: &str| BuildArgs { platform, arch: vec![arch.into()], out: None, check: false };
        assert_eq!(targets(&args(Some(Platform::Amd), "gfx90a")).map(|t| t.len()), Ok(1));
        assert!(targets(&args(Some(Platform::Amd), "sm_90")).is_err());
    }
}
