//! Adds `Device::Hip` to a checkout of candle.

mod core;
mod file;
mod manifest;
mod nn;
mod scan;
mod sources;
mod tree;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use file::Misfit;
use tree::Tree;

/// The version of candle that the anchors are from.
const VERSION: &str = "0.11.1";

const USAGE: &str = "\
usage: candle-hip-patch CANDLE_CORE [CANDLE_NN] [--tensor-core PATH]

Adds the arms `Hip` to the sources of candle-core in the folder CANDLE_CORE, and forward functions to those of candle-nn in
CANDLE_NN: each a folder of a checkout, or an unpacked crate. They depend on tensor-core: the one beside this crate, or the
one in PATH. Nothing is written unless everything fits.";

/// Why the sources are not patched.
enum Failure {
    /// They are not those that the edits are for.
    Misfit(String),
    /// A file cannot be read.
    Reading(String),
    /// A file cannot be written. Others may have been.
    Writing(String),
}

impl From<Misfit> for Failure {
    fn from(Misfit(what): Misfit) -> Failure {
        Failure::Misfit(what)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Misfit(what) => {
                write!(f, "nothing was changed, because this is not candle {VERSION} as published: {what}")
            }
            Failure::Reading(what) => write!(f, "nothing was changed: {what}"),
            Failure::Writing(what) => {
                write!(f, "{what}. Files before it may have been written: begin again with fresh sources")
            }
        }
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut folders, mut tensor_core) = (Vec::new(), None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--tensor-core" => match arguments.next() {
                Some(path) => tensor_core = Some(PathBuf::from(path)),
                None => return usage("--tensor-core needs a path"),
            },
            "--help" | "-h" => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            text if text.starts_with('-') => return usage(&format!("there is no option {text}")),
            text => folders.push(PathBuf::from(text)),
        }
    }
    let (core, nn) = match &folders[..] {
        [core] => (core, None),
        [core, nn] => (core, Some(nn)),
        _ => return usage("one or two folders are needed"),
    };
    match patch(core, nn.map(PathBuf::as_path), tensor_core) {
        Ok(()) => {
            println!(
                "patched: use Device::new_hip(\"amd:0\") with the features hip-host and hip-nvidia as needed"
            );
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("candle-hip-patch: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn usage(why: &str) -> ExitCode {
    eprintln!("candle-hip-patch: {why}\n{USAGE}");
    ExitCode::FAILURE
}

fn patch(core: &Path, nn: Option<&Path>, tensor_core: Option<PathBuf>) -> Result<(), Failure> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tensor_core = tensor_core.unwrap_or_else(|| here.join("../../tensor-core"));
    let tensor_core = tensor_core
        .canonicalize()
        .map_err(|error| Failure::Reading(format!("tensor-core in {}: {error}", tensor_core.display())))?;
    let dependency = format!("path = {:?}", tensor_core.display().to_string());

    require_version(core, "candle-core")?;
    let mut trees = vec![Tree::new(core)];
    core::edit(&mut trees[0], &dependency)?;
    sources::copy(&here.join("../src"), &here.join("inside"), &mut trees[0])
        .map_err(|error| Failure::Reading(format!("the adapter's own sources: {error}")))?;
    if let Some(folder) = nn {
        require_version(folder, "candle-nn")?;
        let mut tree = Tree::new(folder);
        nn::edit(&mut tree)?;
        trees.push(tree);
    }
    for tree in &trees {
        tree.write().map_err(Failure::Writing)?;
    }
    Ok(())
}

/// An error unless the folder has this version, unpatched.
fn require_version(folder: &Path, name: &str) -> Result<(), Failure> {
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path)
            .map_err(|error| Failure::Reading(format!("{}: {error}", path.display())))
    };
    let manifest = read(folder.join("Cargo.toml"))?;
    if !manifest.contains(&format!("name = \"{name}\"")) {
        return Err(Failure::Misfit(format!("{} is not {name}", folder.display())));
    }
    if manifest.contains("hip-host") {
        return Err(Failure::Misfit(format!("{} is patched already", folder.display())));
    }
    let workspace = read(folder.join("../Cargo.toml")).ok();
    match manifest::version(&manifest, workspace.as_deref()) {
        Some(VERSION) => Ok(()),
        found => Err(Failure::Misfit(format!("{name} has version {}", found.unwrap_or("unknown")))),
    }
}
