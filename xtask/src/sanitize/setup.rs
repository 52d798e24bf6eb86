//! Building programs for a sanitizer, and running them.

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
    /// As the command line, `HIPSTACK_HOST_SANITIZE` and the marks of planted bugs call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Address => "address",
            Kind::Thread => "thread",
        }
    }

    /// Its run-time library, which belongs to g++.
    fn library(self) -> &'static str {
        match self {
            Kind::Address => "libasan.so",
            Kind::Thread => "libtsan.so",
        }
    }

    /// The variable with its options, and those. Both go on after a report. Leaks are not looked for: a HIP platform keeps
    /// things until the process ends. What Rust does in C's functions (copies, mostly) is not held against kernels, since
    /// ThreadSanitizer does not see how Rust's threads wait for each other.
    fn options(self) -> (&'static str, &'static str) {
        match self {
            Kind::Address => ("ASAN_OPTIONS", "detect_leaks=0:halt_on_error=0"),
            Kind::Thread => {
                ("TSAN_OPTIONS", "ignore_interceptors_accesses=1:report_signal_unsafe=0:halt_on_error=0")
            }
        }
    }
}

/// Programs that were built for a sanitizer.
pub(super) struct Built {
    pub(super) kind: Kind,
    /// Where the build lies, and what runs leave behind.
    pub(super) folder: PathBuf,
    library: PathBuf,
    /// The file of each program.
    programs: BTreeMap<String, PathBuf>,
}

/// What came of a run.
pub(super) struct Run {
    pub(super) success: bool,
    pub(super) reports: Vec<Report>,
    /// What the program printed.
    pub(super) output: String,
}

/// kernels-hip's tests that reach kernels which no parity case does.
pub(super) const TESTS: [&str; 7] =
    ["attention_mma", "buckets", "conv_split", "conv_wide", "conversions", "matmul", "radix"];

/// Which programs are built.
#[derive(Clone, Copy)]
pub(super) enum Programs {
    /// That of the planted bugs, which needs no kernel that ships.
    Planted,
    /// Those that run the kernels that ship.
    Shipped,
}

/// Builds the programs that this command runs.
pub(super) fn build(root: &Path, kind: Kind, programs: Programs) -> Result<Built, String> {
    let library = library(kind)?;
    let folder = root.join("target").join(format!("sanitize-{}", kind.name()));
    let mut cargo = workspace::cargo(root);
    cargo.arg("build").arg("--target-dir").arg(&folder);
    // The same packages for either, so that cargo builds what both need once.
    cargo.args([
        "-p",
        "hipstack-hip-host",
        "-p",
        "hipstack-parity",
        "-p",
        "hipstack-kernels-hip",
        "--example",
    ]);
    match programs {
        Programs::Planted => {
            cargo.arg("planted");
        }
        Programs::Shipped => {
            cargo.arg("cases");
            cargo.args(TESTS.iter().flat_map(|test| ["--test", test]));
        }
    }
    cargo.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    cargo.env("HIPSTACK_HOST_SANITIZE", kind.name()).env("CXX", compiler());
    println!("{}: building in {}", kind.name(), folder.display());
    let out = cargo.output().map_err(|error| format!("sanitize: cannot start cargo: {error}"))?;
    if !out.status.success() {
        return Err(format!("sanitize: the build for {} failed", kind.name()));
    }
    let programs = workspace::programs(&String::from_utf8_lossy(&out.stdout));
    Ok(Built { kind, folder, library, programs })
}

fn compiler() -> PathBuf {
    workspace::env("CXX").unwrap_or_else(|| "g++".into())
}

/// Its run-time library, as g++ has it.
pub(super) fn library(kind: Kind) -> Result<PathBuf, String> {
    let compiler = compiler();
    let asked = Command::new(&compiler).arg(format!("-print-file-name={}", kind.library())).output();
    let printed = asked.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    // What the compiler has not, it prints as it was asked for.
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
    /// The folder of reports as the sanitizer wrote them, with a folder for each program or planted bug.
    pub(super) fn reports(&self) -> PathBuf {
        self.folder.join("reports")
    }

    /// Runs one of the programs under the sanitizer. `seen` is a file that gets a line for each kernel that ran.
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
        command.args(args);
        command.env(variable, format!("{options}:log_path={}", reports.join("report").display()));
        command.env("LD_PRELOAD", &self.library);
        command.env("HIPSTACK_HOST_SANITIZER_LOG", seen);
        // Two OS threads, so that blocks can race; more would only need more of ThreadSanitizer's threads.
        command.env("HIPSTACK_HOST_THREADS", "2");
        // The kernels are what is watched. They are compiled for the sanitizer, and their objects stay until the next run, for reports
        // to name lines.
        command.env("HIPSTACK_LIBRARIES", "0").env("HIPSTACK_KERNELS", "compile").env("CXX", compiler());
        let objects = self.folder.join("objects");
        std::fs::create_dir_all(&objects).map_err(fail)?;
        command.env("TMPDIR", &objects);
        let out = command.output().map_err(|error| format!("sanitize: {}: {error}", program.display()))?;
        let output =
            String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        Ok(Run { success: out.status.success(), reports: read_all(&reports).map_err(fail)?, output })
    }

    /// Old versions of ThreadSanitizer do not start where the system lays out addresses too much at random.
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
