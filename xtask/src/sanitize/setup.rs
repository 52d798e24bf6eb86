//! Builds the programs that run kernels, and runs them under a sanitizer.

use super::report::{self, Report};
use crate::workspace;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The sanitizers.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Overruns, underruns, use after free
    Address,
    /// Missing barriers and other races
    Thread,
}

impl Kind {
    /// Its name on the command line, in `HIPSTACK_HOST_SANITIZE` and in the marks of planted bugs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Address => "address",
            Kind::Thread => "thread",
        }
    }

    /// Its run-time library, which comes with g++.
    fn library(self) -> &'static str {
        match self {
            Kind::Address => "libasan.so",
            Kind::Thread => "libtsan.so",
        }
    }

    /// The variable with its options, and the options. Both sanitizers continue after a report. Leaks are not
    /// checked: a HIP platform keeps objects until the process ends. Rust's calls of C functions (mostly
    /// copies) are ignored, since ThreadSanitizer does not see how Rust's threads synchronise.
    fn options(self) -> (&'static str, &'static str) {
        match self {
            Kind::Address => ("ASAN_OPTIONS", "detect_leaks=0:halt_on_error=0"),
            Kind::Thread => {
                ("TSAN_OPTIONS", "ignore_interceptors_accesses=1:report_signal_unsafe=0:halt_on_error=0")
            }
        }
    }
}

/// Programs, and the sanitizer that they run under.
pub(super) struct Built {
    pub(super) kind: Kind,
    root: PathBuf,
    /// The output of runs.
    pub(super) folder: PathBuf,
    library: PathBuf,
    /// The file of each program.
    programs: BTreeMap<String, PathBuf>,
}

/// The result of a run.
pub(super) struct Run {
    pub(super) success: bool,
    pub(super) reports: Vec<Report>,
    /// The program's output.
    pub(super) output: String,
}

/// Tests of kernels-hip for kernels that no parity case reaches.
pub(super) const TESTS: [&str; 8] =
    ["attention_mma", "buckets", "conv_split", "conv_wide", "conversions", "matmul", "quant_mma", "radix"];

/// Which programs to build.
#[derive(Clone, Copy)]
pub(super) enum Programs {
    /// The programs that compile and run the planted bugs.
    Planted,
    /// The programs that run the shipped kernels.
    Shipped,
}

/// Builds the programs that this command runs. Only kernels are compiled for the sanitizer, when the programs run.
pub(super) fn build(root: &Path, kind: Kind, programs: Programs) -> Result<Built, String> {
    let library = library(kind)?;
    let folder = root.join("target").join(format!("sanitize-{}", kind.name()));
    let mut cargo = workspace::cargo(root);
    // Of the whole workspace, so that cargo selects the features of `cargo test --workspace`, whose build this reuses.
    cargo.args(["build", "--workspace"]);
    match programs {
        Programs::Planted => cargo.args(["--example", "compile", "--example", "planted"]),
        Programs::Shipped => {
            cargo.args(["--example", "cases"]);
            cargo.args(TESTS.iter().flat_map(|test| ["--test", test]))
        }
    };
    cargo.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let out = cargo.output().map_err(|error| format!("sanitize: cannot start cargo: {error}"))?;
    if !out.status.success() {
        return Err("sanitize: cargo did not build the programs; see above".into());
    }
    let programs = workspace::programs(&String::from_utf8_lossy(&out.stdout));
    Ok(Built { kind, root: root.to_owned(), folder, library, programs })
}

fn compiler() -> PathBuf {
    workspace::env("CXX").unwrap_or_else(|| "g++".into())
}

/// Its run-time library, according to g++.
pub(super) fn library(kind: Kind) -> Result<PathBuf, String> {
    let compiler = compiler();
    let asked = Command::new(&compiler).arg(format!("-print-file-name={}", kind.library())).output();
    let printed = asked.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    // If g++ does not have the library, it prints the name unchanged.
    let found = PathBuf::from(printed);
    if found.is_absolute() {
        return Ok(found);
    }
    Err(format!(
        "sanitize: {} has no {}: install g++ with its sanitizers (on Debian: apt-get install g++), or name one in $CXX",
        compiler.display(),
        kind.library()
    ))
}

impl Built {
    /// The folder of the sanitizer's raw reports, with a folder for each program or planted bug.
    pub(super) fn reports(&self) -> PathBuf {
        self.folder.join("reports")
    }

    /// Runs one of the programs under the sanitizer, in the root of the workspace. `seen`: a file that gets a line for each
    /// kernel that ran.
    pub(super) fn run(&self, name: &str, args: &[&OsStr], seen: &Path) -> Result<Run, String> {
        let reports =
            self.reports().join(args.first().filter(|_| name == "planted").map_or(name.as_ref(), |arg| *arg));
        let fail = |error: std::io::Error| format!("sanitize: {}: {error}", reports.display());
        if reports.is_dir() {
            std::fs::remove_dir_all(&reports).map_err(fail)?;
        }
        std::fs::create_dir_all(&reports).map_err(fail)?;
        let program = self.programs.get(name).ok_or_else(|| format!("sanitize: cargo built no {name}"))?;
        let mut command = self.command(program);
        let (variable, options) = self.kind.options();
        command.args(args).current_dir(&self.root);
        command.env(variable, format!("{options}:log_path={}", reports.join("report").display()));
        command.env("LD_PRELOAD", &self.library);
        command.env("HIPSTACK_HOST_SANITIZER_LOG", seen);
        // Two OS threads, so that blocks can race; more would only cost ThreadSanitizer more threads.
        command.env("HIPSTACK_HOST_THREADS", "2");
        // Only kernels are checked, so no libraries are used. Kernels are compiled for the sanitizer. Their
        // objects stay until the next run, so that reports can name lines.
        command.env("HIPSTACK_HOST_SANITIZE", self.kind.name());
        command.env("HIPSTACK_LIBRARIES", "0").env("HIPSTACK_KERNELS", "compile").env("CXX", compiler());
        let objects = self.folder.join("objects");
        std::fs::create_dir_all(&objects).map_err(fail)?;
        command.env("TMPDIR", &objects);
        let out = command.output().map_err(|error| format!("sanitize: {}: {error}", program.display()))?;
        let output =
            String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        Ok(Run { success: out.status.success(), reports: read_all(&reports).map_err(fail)?, output })
    }

    /// Old versions of ThreadSanitizer do not start if address space layout randomisation uses too many bits.
    fn command(&self, program: &Path) -> Command {
        match workspace::in_path("setarch").filter(|_| self.kind == Kind::Thread) {
            Some(setarch) => {
                let mut command = Command::new(setarch);
                command.arg("--addr-no-randomize").arg(program);
                command
            }
            None => Command::new(program),
        }
    }
}

fn read_all(folder: &Path) -> Result<Vec<Report>, std::io::Error> {
    let mut reports = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let text = std::fs::read(entry?.path())?;
        reports.extend(report::parse(&String::from_utf8_lossy(&text)));
    }
    Ok(reports)
}
