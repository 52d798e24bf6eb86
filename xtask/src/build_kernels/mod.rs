//! `cargo xtask build-kernels`: compiles every kernel ahead of time, so that a device needs no compiler at run time.
//!
//! A unit is a family of kernels for one element type. It becomes one object per architecture, in
//! `target/kernels/<platform>/<arch>/`, beside a `manifest.json` that says what made them.

pub mod compiler;
mod contraction;
mod deny;
pub(crate) mod exceptions;
mod folder;
mod idle;
pub mod manifest;
mod object_file;
mod one;
mod pool;
mod run;
pub mod target;
mod toolchain;

use crate::workspace;
use kernels_hip::{Unit, Waves, hash_parts};
use manifest::Manifest;
use run::Run;
use std::path::{Path, PathBuf};
use target::{Platform, Target};
pub(crate) use toolchain::contents;
use toolchain::{Toolchain, Toolchains};

/// Options of `cargo xtask build-kernels`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask build-kernels                                      for every compiler found, its first architecture
  cargo xtask build-kernels --arch gfx942,gfx1100,sm_90
  cargo xtask build-kernels --platform amd --arch all            every architecture of AMD's
  cargo xtask build-kernels --platform nvidia --arch sm_90 --out DIR
  cargo xtask build-kernels --arch gfx942 --family reduce,norm   two families of kernels
  cargo xtask build-kernels --arch gfx942 --sample $(git rev-parse HEAD)   a unit of each family, chosen by the commit
  cargo xtask build-kernels --platform host --check              compile nothing, check what is there
  cargo xtask build-kernels --arch all --deny-spills             fail if a kernel spills registers

What is current is not compiled again: objects whose texts, options (those in HIPCC_COMPILE_FLAGS_APPEND, HIPCC_LINK_FLAGS_APPEND,
NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS too), compiler and headers are the same and whose bytes are those that were written. A build that is stopped goes on where it was. `cargo xtask resources` shows what the kernels take of a GPU.

Where compilers are looked for:
  amd     $HIPCC, $ROCM_PATH/bin/hipcc, /opt/rocm/bin/hipcc, target/ci/rocm/bin/hipcc (ci/fetch-rocm-compiler.sh puts it there), hipcc in
          PATH, of ROCm 6 or later
  nvidia  $NVCC, $CUDA_HOME/bin/nvcc, nvcc in PATH, $HIPSTACK_NVCC (a folder pip installed cuda-toolkit into)
  host    $CXX, c++ or g++ in PATH
What $HIPCC, $NVCC or $CXX names has to be there.")]
pub struct BuildArgs {
    /// Only this platform
    #[arg(long, value_enum)]
    platform: Option<Platform>,
    /// Architectures, such as gfx942,gfx1100 or sm_90, and any other that AMD's compiler knows; host has host, host-w32 and host-w64; all
    /// stands for those of docs/platforms
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    arch: Vec<String>,
    /// Only the kernels of these families, such as reduce,norm; objects of others stay as they are
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = family)]
    family: Vec<String>,
    /// Only one unit of each family, chosen by a hash of this text; objects of others stay as they are
    #[arg(long, value_name = "TEXT", conflicts_with = "check")]
    sample: Option<String>,
    /// Write below this folder instead of target/kernels
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Compile nothing; fail unless every object is there with all its kernels and is current
    #[arg(long)]
    check: bool,
    /// Compile what is current, too
    #[arg(long, conflicts_with = "check")]
    force: bool,
    /// Fail if a kernel spills vector registers or uses memory of its own, but for xtask/src/build_kernels/exceptions.toml
    #[arg(long)]
    deny_spills: bool,
}

impl BuildArgs {
    /// Arguments that build these families, or all if there are none, for these architectures of a platform, below a folder.
    pub fn of(platform: Platform, archs: &[String], families: &[&str], out: &Path) -> Self {
        Self {
            platform: Some(platform),
            arch: archs.to_vec(),
            family: families.iter().map(|name| (*name).to_owned()).collect(),
            sample: None,
            out: Some(out.to_path_buf()),
            check: false,
            force: false,
            deny_spills: false,
        }
    }

    /// The units of a target that the options ask for.
    fn chosen(&self, target: &Target) -> Vec<Unit> {
        let mut units = units_for(target);
        units
            .retain(|unit| self.family.is_empty() || self.family.iter().any(|name| name == unit.family.name));
        match &self.sample {
            Some(text) => one_of_each_family(&units, text),
            None => units,
        }
    }
}

/// One unit of each family. The text decides which, so that many texts reach all units.
fn one_of_each_family(units: &[Unit], text: &str) -> Vec<Unit> {
    let order = |unit: &&Unit| hash_parts([text.as_bytes(), unit.name().as_bytes()]);
    let of_family = |name| units.iter().filter(move |unit| unit.family.name == name).min_by_key(order);
    kernels_hip::families().iter().filter_map(|family| of_family(family.name)).copied().collect()
}

/// A name of a family, for clap.
fn family(name: &str) -> Result<String, String> {
    let names = kernels_hip::families().iter().map(|family| family.name);
    if names.clone().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    Err(format!("the families are {}", names.collect::<Vec<_>>().join(", ")))
}

/// Runs the command; the error is the text to show.
pub fn run(args: &BuildArgs) -> Result<(), String> {
    let root = workspace::root()?;
    let out = args.out.clone().unwrap_or_else(|| root.join("target/kernels"));
    let targets = targets(args).map_err(|error| format!("build-kernels: {error}"))?;
    let folder = |target: &Target| out.join(target.platform.name()).join(&target.arch);
    if args.check {
        let mut toolchains = Toolchains::default();
        for target in &targets {
            let toolchain = match compiler::find(target) {
                Ok(compiler) => Some(toolchains.of(compiler, &root)?),
                Err(why) => {
                    println!(
                        "build-kernels: {target}: whether they are of another compiler is not checked: {why}"
                    );
                    None
                }
            };
            check(target, &args.chosen(target), &folder(target), toolchain.as_deref())?;
        }
    } else {
        // This check comes first, before a build that takes hours.
        for target in &targets {
            look_for_compiler(target).map_err(|error| format!("build-kernels: {error}"))?;
        }
        run::same_texts(&root.join("kernels-hip"))?;
        let mut toolchains = Toolchains::default();
        for target in &targets {
            let (all, units) = (units_for(target), args.chosen(target));
            let run = Run { root: &root, target, all: &all, units: &units, force: args.force };
            run.build(&folder(target), &mut toolchains)
                .map_err(|error| format!("build-kernels: {target}: {error}"))?;
        }
    }
    if !args.deny_spills {
        return Ok(());
    }
    let is_chosen = |target: &Target, name: &str| args.chosen(target).iter().any(|unit| unit.name() == name);
    deny::spills(&targets, folder, is_chosen)
}

/// Fails if a target has no compiler, or if the compiler does not know an architecture that is not in our list either.
fn look_for_compiler(target: &Target) -> Result<(), String> {
    let compiler = compiler::find(target)?;
    if target.is_listed() {
        return Ok(());
    }
    if !compiler.knows(target) {
        return Err(target.unknown());
    }
    println!(
        "build-kernels: note: {target} is not in our list; {} compiles for it",
        compiler.program.display()
    );
    Ok(())
}

/// All units of a target. A unit for matrix units is left out if the chip has none. The host has one
/// object for a source that does not depend on the wave size, and others for each wave size.
fn units_for(target: &Target) -> Vec<Unit> {
    let waves = if target.wave_size() == 0 { Waves::Any } else { Waves::Both };
    kernels_hip::units()
        .filter(|unit| unit.is_for(target.platform.name(), &target.arch))
        .filter(|unit| target.platform != Platform::Host || unit.family.waves == waves)
        .collect()
}

/// What the options ask for; without a platform and architectures, what the compilers found can build.
fn targets(args: &BuildArgs) -> Result<Vec<Target>, String> {
    let mut targets = Vec::new();
    for arch in &args.arch {
        let platform = args.platform.or_else(|| Platform::of_arch(arch));
        match (arch.as_str(), platform) {
            ("all", Some(platform)) => targets.extend(platform.all_targets()),
            ("all", None) => targets.extend(Platform::ALL.into_iter().flat_map(Platform::all_targets)),
            (arch, Some(platform)) => targets.push(Target::new(platform, arch)?),
            (arch, None) => {
                return Err(format!(
                    "{arch:?} names no architecture: amd's begin with gfx, nvidia's with sm_, host has host, host-w32 and host-w64; \
                     with --platform the known ones are listed"
                ));
            }
        }
    }
    if !args.arch.is_empty() {
        return Ok(targets);
    }
    if let Some(platform) = args.platform {
        return Ok(platform.default_targets());
    }
    compiler::check_named()?;
    let defaults = Platform::ALL.map(Platform::default_targets).into_iter().flatten();
    let found = defaults.filter(|target| match compiler::find(target) {
        Ok(_) => true,
        Err(why) => {
            println!("build-kernels: {target}: skipped: {why}");
            false
        }
    });
    Ok(found.collect())
}

/// `--check`: every object exists, contains all its kernels, matches the manifest, and is what a build would write now. Without
/// a compiler only sources and options are compared.
fn check(target: &Target, units: &[Unit], dir: &Path, toolchain: Option<&Toolchain>) -> Result<(), String> {
    let listed = Manifest::read(dir)?;
    let mut problems = Vec::new();
    for unit in units {
        let file = one::file_name(target, unit);
        let result = read(&dir.join(&file)).and_then(|bytes| {
            object_file::check(target, &bytes, &unit.kernels())?;
            listed.verify(&file, &bytes)?;
            listed.entry(&file).map_or(Ok(()), |entry| one::up_to_date(entry, target, unit, toolchain))
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
    fn a_chip_without_matrix_units_has_no_units_for_them() {
        let names = |arch| {
            let target = Target::new(Platform::Amd, arch).expect("known");
            units_for(&target).into_iter().map(|unit| unit.family.name).collect::<Vec<_>>()
        };
        for (arch, there) in [("gfx942", true), ("gfx950", true), ("gfx90a", false), ("gfx1250", false)] {
            for family in ["attention_mma", "conv_mma", "conv_split", "quant_mma"] {
                assert_eq!(names(arch).contains(&family), there, "{arch} {family}");
            }
            assert!(names(arch).contains(&"attention"));
        }
    }

    #[test]
    fn samples_have_a_unit_of_each_family_and_reach_all_in_time() {
        let target = Target::new(Platform::Nvidia, "sm_90").expect("known");
        let all = units_for(&target);
        let mut seen = std::collections::BTreeSet::new();
        for text in 0..200 {
            let sample = one_of_each_family(&all, &text.to_string());
            let families: Vec<&str> = sample.iter().map(|unit| unit.family.name).collect();
            let expected: Vec<&str> = kernels_hip::families().iter().map(|family| family.name).collect();
            assert_eq!(families, expected);
            seen.extend(sample.iter().map(Unit::name));
        }
        assert_eq!(seen.len(), all.len());
    }

    #[test]
    fn architectures_come_with_their_platform() {
        let names = |platform, arch: &[&str]| {
            let arch: Vec<String> = arch.iter().map(ToString::to_string).collect();
            let args =
                BuildArgs { platform, arch, ..BuildArgs::of(Platform::Host, &[], &[], Path::new("out")) };
            targets(&args).map(|targets| targets.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(names(Some(Platform::Amd), &["gfx90a"]), Ok(vec!["amd gfx90a".into()]));
        assert_eq!(names(None, &["sm_90", "gfx90a"]), Ok(vec!["nvidia sm_90".into(), "amd gfx90a".into()]));
        assert!(names(Some(Platform::Amd), &["sm_90"]).is_err());
        assert!(names(None, &["pentium"]).expect_err("no platform has it").contains("\"pentium\""));
        assert_eq!(names(Some(Platform::Amd), &["all"]).map(|all| all.len()), Ok(13));
        assert_eq!(names(None, &["all"]).map(|all| all.len()), Ok(18));
    }
}
