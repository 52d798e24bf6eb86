//! `cargo xtask parity`: the program of the crate parity; with `--model` that of the crate hipstack, which has models. Parity itself would
//! build them for everybody.

use crate::program::{self, Passed};
use crate::workspace;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Replaces this process with the program.
///
/// # Errors
/// The text to show: an option without its value, or a program that cargo does not build or start.
pub fn run(passed: &Passed) -> Result<(), String> {
    let Some(words) = drift(passed.words())? else { return program::run("parity", passed) };
    let cargo = std::env::var_os("CARGO").ok_or("parity: --model needs cargo, which builds `hipstack`")?;
    let manifest = workspace::root()?.join("Cargo.toml");
    // The model's path is relative to the current folder, so that stays.
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "-p", "hipstack-cli", "--manifest-path"]).arg(manifest);
    let error = command.arg("--").args(words).exec();
    Err(format!("parity: cannot start cargo: {error}"))
}

/// The arguments of `hipstack` for a command line with `--model`.
fn drift(words: &[OsString]) -> Result<Option<Vec<OsString>>, String> {
    let (mut model, mut rest) = (None, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsStr::new(value))),
            None => (&*text, None),
        };
        if !matches!(name, "--model" | "--device") {
            rest.push(word.clone());
            continue;
        }
        let value = value.map(OsStr::to_owned).or_else(|| words.next().cloned());
        let value = value.ok_or_else(|| format!("parity: {name} needs a value"))?;
        if name == "--model" {
            model = Some(value);
        } else {
            // parity takes a list, hipstack an option for each.
            let devices = value.to_string_lossy().into_owned();
            rest.extend(devices.split(',').flat_map(|device| ["--device".into(), device.into()]));
        }
    }
    Ok(model.map(|model| ["drift".into(), model].into_iter().chain(rest).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<Option<Vec<String>>, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let text = |words: Vec<OsString>| words.into_iter().map(|word| word.into_string().unwrap()).collect();
        drift(&words).map(|words| words.map(text))
    }

    #[test]
    fn a_model_goes_to_hipstack() {
        let expected = ["drift", "some model", "--device", "host:0", "--device", "cpu", "--tokens", "4"];
        let expected = Ok(Some(expected.map(String::from).to_vec()));
        assert_eq!(of(&["--model", "some model", "--device", "host:0,cpu", "--tokens", "4"]), expected);
        assert_eq!(
            of(&["--device=host:0", "--device", "cpu", "--tokens", "4", "--model=some model"]),
            expected
        );
    }

    #[test]
    fn everything_else_goes_to_parity() {
        for words in [&["--filter", "exp", "--device", "cpu,host:0"][..], &["record", "--help"], &[]] {
            assert_eq!(of(words), Ok(None), "{words:?}");
        }
        assert_eq!(of(&["--model"]), Err("parity: --model needs a value".into()));
    }
}
