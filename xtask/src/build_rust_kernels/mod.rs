//! `cargo xtask build-rust-kernels`: compiles a crate of Rust kernels for GPUs, by a nightly compiler that is pinned here.
//!
//! Every architecture gets one file, `target/rust-kernels/<arch>/<library>.co` (AMD) or `.ptx` (NVIDIA), which hip-kernel finds beside programs.

mod architecture;
mod toolchain;

use architecture::{Architecture, Panics};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use toolchain::TOOLCHAIN;

/// Options of `cargo xtask build-rust-kernels`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask build-rust-kernels kernels-rust --arch gfx942,gfx1100
  cargo xtask build-rust-kernels ../my-kernels --arch gfx942,sm_90 --out ../my-kernels/target/rust-kernels

The crate has a library whose kernels have #[kernel]. It is compiled as #![no_std], with hip-kernel but without its other
dependencies for the host. The compiler is nightly-2026-05-20 with its sources:
  rustup toolchain install nightly-2026-05-20 --profile minimal --component rust-src
The first build of an architecture compiles Rust's core library, too.")]
pub struct RustKernelsArgs {
    /// The folder of the crate
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Architectures, such as gfx942,gfx1100 or sm_90
    #[arg(long, value_delimiter = ',', required = true, value_name = "NAMES")]
    arch: Vec<String>,
    /// What becomes of panics, such as an index past the end
    #[arg(long, value_enum, default_value = "location")]
    panics: Panics,
    /// Write below this folder instead of rust-kernels in cargo's target folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The compiler, if it is installed with its sources.
///
/// # Errors
/// What is missing, and how to install it.
pub fn compiler() -> Result<&'static str, String> {
    toolchain::check(TOOLCHAIN).map(|()| TOOLCHAIN)
}

/// Runs the command; the error is the text to show.
pub fn run(args: &RustKernelsArgs) -> Result<(), String> {
    build(args).map_err(|error| format!("build-rust-kernels: {error}"))
}

fn build(args: &RustKernelsArgs) -> Result<(), String> {
    let architectures: Vec<Architecture> =
        args.arch.iter().map(|name| Architecture::of(name)).collect::<Result<_, _>>()?;
    let crate_of = Crate::find(&args.folder)?;
    compiler()?;
    let out = args.out.clone().unwrap_or_else(|| crate_of.target.join("rust-kernels"));
    // Cargo is started in another folder.
    let out = std::path::absolute(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    for architecture in &architectures {
        let code = crate_of.compile(architecture, args.panics, &out)?;
        let file =
            out.join(&architecture.name).join(format!("{}.{}", crate_of.library, architecture.extension()));
        let folder = file.parent().unwrap_or(&out);
        std::fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
        std::fs::copy(&code, &file).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
        println!("build-rust-kernels: {}", file.display());
    }
    Ok(())
}

/// A crate with kernels.
struct Crate {
    folder: PathBuf,
    /// The name of its library, as programs write it.
    library: String,
    /// Cargo's target folder.
    target: PathBuf,
}

impl Crate {
    fn find(folder: &Path) -> Result<Self, String> {
        let manifest = folder.join("Cargo.toml");
        let manifest = manifest
            .canonicalize()
            .map_err(|e| format!("{}: {e}: name the folder of a crate", manifest.display()))?;
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"]).arg(&manifest);
        let told = cargo.output().map_err(|e| format!("cannot start cargo: {e}"))?;
        if !told.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&told.stderr).trim()));
        }
        let told: serde_json::Value =
            serde_json::from_slice(&told.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
        let packages = told["packages"].as_array().into_iter().flatten();
        let path = manifest.to_string_lossy();
        let package = packages.into_iter().find(|package| package["manifest_path"] == path.as_ref());
        let targets = package.and_then(|package| package["targets"].as_array()).into_iter().flatten();
        let is_library = |target: &&serde_json::Value| {
            target["kind"].as_array().is_some_and(|kinds| {
                kinds.iter().any(|kind| {
                    kind.as_str()
                        .is_some_and(|kind| ["lib", "rlib", "dylib", "cdylib", "staticlib"].contains(&kind))
                })
            })
        };
        let library = targets.into_iter().find(is_library).and_then(|target| target["name"].as_str());
        let library = library
            .ok_or_else(|| format!("{} has no library: kernels belong in src/lib.rs", folder.display()))?;
        let target = told["target_directory"].as_str().unwrap_or("target").into();
        let folder = manifest.parent().unwrap_or(folder).to_path_buf();
        Ok(Self { folder, library: library.replace('-', "_"), target })
    }

    /// Compiles it and returns the file with the code.
    fn compile(&self, architecture: &Architecture, panics: Panics, out: &Path) -> Result<PathBuf, String> {
        // A folder for each set of flags: they share no file, and cargo would build core anew after each change of flags.
        let target = out.join("build").join(&architecture.name).join(panics.name());
        // By rustup: the cargo that runs this program belongs to another toolchain.
        let mut cargo = Command::new("rustup");
        cargo.args(["run", TOOLCHAIN, "cargo"]).current_dir(&self.folder);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_outer_cargo(name)) {
            cargo.env_remove(name);
        }
        cargo.env("RUSTFLAGS", architecture.flags(panics).join(" "));
        cargo.env("CARGO_TARGET_DIR", &target);
        let profile =
            [("PANIC", "abort"), ("LTO", "fat"), ("CODEGEN_UNITS", "1"), ("DEBUG", "0"), ("OPT_LEVEL", "3")];
        for (name, value) in profile {
            cargo.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
        }
        cargo.args(["rustc", "--lib", "--release", "-Zbuild-std=core", "--target", architecture.triple()]);
        cargo.args(["--crate-type", architecture.crate_type(), "--"]);
        cargo.args(["-Zcrate-attr=no_std", "-Zcrate-attr=feature(abi_gpu_kernel)"]);
        cargo.args(architecture.last_flags());
        let status = cargo.status().map_err(|e| format!("cannot start cargo: {e}"))?;
        if !status.success() {
            return Err(format!("{} does not compile for {}; see above", self.library, architecture.name));
        }
        architecture.built(&target, &self.library)
    }
}

/// Whether a variable is what the cargo and rustup that run this program set for it, so that another toolchain must not see it.
fn is_of_outer_cargo(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let own = ["RUSTC", "RUSTDOC", "RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"];
    own.contains(&&*name)
        || name.starts_with("CARGO_ENCODED_")
        || name.starts_with("CARGO_PKG_")
        || name == "CARGO"
}

#[cfg(test)]
mod tests;
