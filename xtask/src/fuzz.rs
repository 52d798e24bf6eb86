//! `cargo xtask fuzz`: builds the objects that the program `fuzz` changes, and starts it in a release build: a debug build takes many
//! times as long for a million inputs.

use crate::build_kernels::{self, BuildArgs, compiler, target::Platform};
use crate::program::Passed;
use crate::workspace;
use std::ffi::OsString;

/// The default objects' architectures: one with waves of 64 lanes, one with waves of 32.
const ARCHS: [&str; 2] = ["gfx942", "gfx1100"];
/// The default objects' kernels: small ones with arguments of many kinds.
const FAMILIES: [&str; 3] = ["rope", "softmax", "topk"];
/// Options of the program with which it needs no objects from here.
const WITHOUT_OBJECTS: [&str; 4] = ["--objects", "--input", "--help", "-h"];
/// Options with which it is not told where the bundler is.
const WITHOUT_BUNDLER: [&str; 4] = ["--bundler", "--input", "--help", "-h"];

/// Runs the command; the error is the text to show.
pub fn run(passed: &Passed) -> Result<(), String> {
    let root = workspace::root()?;
    let mut cargo = workspace::cargo(&root);
    cargo.args(["run", "--release", "--package", "fuzz", "--manifest-path"]).arg(root.join("Cargo.toml"));
    cargo.arg("--").args(passed.words());
    if !has(passed.words(), &["--folder"]) {
        cargo.arg("--folder").arg(root.join("target/fuzz"));
    }
    // Names of files are those of the folder where the command was given.
    if let Ok(folder) = std::env::current_dir() {
        cargo.current_dir(folder);
    }
    if !has(passed.words(), &WITHOUT_OBJECTS) {
        let folder = root.join("target/fuzz/objects");
        let kernels = BuildArgs::of(Platform::Amd, &ARCHS.map(String::from), &FAMILIES, &folder);
        build_kernels::run(&kernels)?;
        cargo.arg("--objects").arg(folder.join(Platform::Amd.name()));
    }
    if !has(passed.words(), &WITHOUT_BUNDLER)
        && let Ok(bundler) = compiler::bundler()
    {
        cargo.arg("--bundler").arg(bundler);
    }
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("fuzz: it ended with {status}")),
        Err(error) => Err(format!("fuzz: cannot start cargo: {error}")),
    }
}

/// Whether one of these options is given.
fn has(words: &[OsString], options: &[&str]) -> bool {
    let option = |word: &OsString| word.to_string_lossy().split('=').next().unwrap_or_default().to_owned();
    words.iter().any(|word| options.contains(&option(word).as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_built_unless_the_options_name_some_or_need_none() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let needs = |line: &str| !has(&words(line), &WITHOUT_OBJECTS);
        assert!(needs("--inputs 5000 --seed 7"));
        for line in ["--objects target/kernels/amd", "--seed 7 --objects=a", "--input a.bin", "--help", "-h"]
        {
            assert!(!needs(line), "{line}");
        }
    }
}
