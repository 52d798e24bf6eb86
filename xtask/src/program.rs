//! Commands that are programs of other crates: linking those crates would make `cargo xtask` itself slow to
//! build.

use crate::workspace;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program's arguments: everything, including `--help`.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Passed {
    /// Options of the program; --help shows them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    args: Vec<OsString>,
}

impl Passed {
    /// The arguments, unchanged.
    pub fn words(&self) -> &[OsString] {
        &self.args
    }
}

/// Builds the program of a crate with the same name, and replaces this process with it.
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

/// The program in this program's folder, which a bundle for machines without cargo has. `cargo xtask` has the
/// variable `CARGO` set.
fn beside_this(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name(name);
    program.is_file().then_some(program)
}

/// Builds a program so that `cargo test --workspace` can reuse it. Naming a test makes cargo select the
/// features of tests; with other features most of the workspace would be built twice.
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
