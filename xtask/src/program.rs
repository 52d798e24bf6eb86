//! Commands that are programs of other crates: they link what `cargo xtask` itself must not take minutes to build for.

use crate::workspace;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the program is given: everything, `--help` too.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Passed {
    /// Options of the program; --help shows them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    args: Vec<OsString>,
}

impl Passed {
    /// The words, as they were given.
    pub fn words(&self) -> &[OsString] {
        &self.args
    }
}

/// Builds the program of a crate of the same name, and becomes it.
///
/// # Errors
/// The text to show: there is no such program, or cargo does not build it.
pub fn run(name: &str, passed: &Passed) -> Result<(), String> {
    let program = match beside_this(name).filter(|_| std::env::var_os("CARGO").is_none()) {
        Some(program) => program,
        None => build(&workspace::root()?, name)?,
    };
    let error = Command::new(&program).args(&passed.args).exec();
    Err(format!("{name}: cannot start {}: {error}", program.display()))
}

/// The program in this one's folder, as a bundle has it for machines without cargo; `cargo xtask` is given `CARGO`.
fn beside_this(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name(name);
    program.is_file().then_some(program)
}

/// Builds a program for `cargo test --workspace` to share: to name a test makes cargo choose the features of tests, and with
/// others it would build most of the workspace twice.
fn build(root: &Path, name: &str) -> Result<PathBuf, String> {
    let mut cargo = workspace::cargo(root);
    cargo.args(["build", "--workspace", "--bin", name, "--test"]).arg(format!("{name}_program"));
    let out = cargo.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit()).output();
    let out = out.map_err(|error| format!("{name}: cannot start cargo: {error}"))?;
    if !out.status.success() {
        return Err(format!("{name}: cargo did not build it; see above"));
    }
    let built = workspace::programs(&String::from_utf8_lossy(&out.stdout));
    built.get(name).cloned().ok_or_else(|| format!("{name}: cargo built no such program"))
}
