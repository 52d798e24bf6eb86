//! The system's C++ compiler: which it is, and one call of it.

use crate::flags::KERNEL_FLAGS;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// Names to try if `CXX` is not set.
const NAMES: [&str; 3] = ["c++", "g++", "clang++"];
const INSTALL: &str = "`apt-get install g++` or `dnf install gcc-c++`";

/// Flags behind those of all kernels. Texts written for GPUs read memory through pointers of other types.
const FLAGS: [&str; 4] = ["-O3", "-pipe", "-fPIC", "-fno-strict-aliasing"];
const LINK: [&str; 4] = ["-shared", "-static-libgcc", "-Wl,--as-needed", "-Wl,-z,defs"];

/// The compiler with its version, and the flags that the user added. A compiler is asked for its version once.
pub(crate) fn identity() -> String {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let chosen = format!("{:?} {:?}", std::env::var_os("CXX"), std::env::var_os("PATH"));
    let here = Compiler::new(Path::new("."));
    let ask = || match here.first_that_runs(&["--version"]) {
        Ok((name, output)) => format!("{name}: {}", String::from_utf8_lossy(&output.stdout)),
        Err(missing) => missing,
    };
    let version = KNOWN.lock().entry(chosen).or_insert_with(ask).clone();
    format!("{version}{}", here.extra.join(" "))
}

/// A folder to compile in, and the flags that the user added.
pub(crate) struct Compiler<'a> {
    folder: &'a Path,
    extra: Vec<String>,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(folder: &'a Path) -> Self {
        let extra = std::env::var("HIPSTACK_HOST_CXXFLAGS").unwrap_or_default();
        Self { folder, extra: extra.split_whitespace().map(str::to_owned).collect() }
    }

    /// Runs the preprocessor. The log, and whether it worked.
    pub(crate) fn preprocess(&self, from: &str, to: &str, flags: &[&[String]]) -> Result<String, String> {
        self.run(&["-E", "-x", "c++"], flags, &[from, "-o", to])
    }

    /// Compiles preprocessed text into a shared object.
    pub(crate) fn compile(&self, from: &str, to: &str, flags: &[&[String]]) -> Result<String, String> {
        // With sanitizers, symbols are left to be found in the program.
        let sanitized = self.extra.iter().any(|flag| flag.starts_with("-fsanitize"));
        let link = &LINK[..if sanitized { LINK.len() - 1 } else { LINK.len() }];
        self.run(&[link, &["-x", "c++-cpp-output"]].concat(), flags, &[from, "-o", to])
    }

    fn run(&self, ours: &[&str], flags: &[&[String]], files: &[&str]) -> Result<String, String> {
        let ours = [&KERNEL_FLAGS[..], &FLAGS, ours].concat();
        let arguments = ours.into_iter().chain(flags.iter().flat_map(|list| list.iter().map(String::as_str)));
        let arguments = arguments.chain(self.extra.iter().map(String::as_str)).chain(files.iter().copied());
        let arguments: Vec<&str> = arguments.collect();
        let (name, output) = self.first_that_runs(&arguments)?;
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(log) } else { Err(log + &ending(&name, output.status)) }
    }

    fn first_that_runs(&self, arguments: &[&str]) -> Result<(String, Output), String> {
        if let Some(chosen) = std::env::var("CXX").ok().filter(|text| !text.trim().is_empty()) {
            let mut words = chosen.split_whitespace().map(str::to_owned);
            let program = words.next().unwrap_or_default();
            let before: Vec<String> = words.collect();
            let output = self.call(&program, &before, arguments).map_err(|error| {
                format!(
                    "the C++ compiler {program} that CXX names cannot be run: {error}\n\
                     Set CXX to a C++ compiler, or unset it and install one: {INSTALL}\n"
                )
            })?;
            return Ok((program, output));
        }
        for name in NAMES {
            match self.call(name, &[], arguments) {
                Err(error) if error.kind() == ErrorKind::NotFound => (),
                Err(error) => return Err(format!("the C++ compiler {name} cannot be run: {error}\n")),
                Ok(output) => return Ok((name.into(), output)),
            }
        }
        Err(format!(
            "no C++ compiler was found, and hip-host compiles kernels with one: tried {}.\n\
             Install one ({INSTALL}), or set CXX to the path of one.\n",
            NAMES.join(", ")
        ))
    }

    fn call(&self, program: &str, before: &[String], arguments: &[&str]) -> std::io::Result<Output> {
        Command::new(program_path(program))
            .args(before)
            .args(arguments)
            .current_dir(self.folder)
            .env("LC_ALL", "C")
            .env("TMPDIR", self.folder)
            .stdin(Stdio::null())
            .output()
    }
}

/// The compiler runs in another folder than the one that a relative path is meant from.
fn program_path(program: &str) -> OsString {
    let path = Path::new(program);
    if path.components().count() > 1 && path.is_relative() {
        return std::env::current_dir().unwrap_or_else(|_| PathBuf::new()).join(path).into_os_string();
    }
    program.into()
}

/// A line about a compiler that did not say itself why it failed.
fn ending(name: &str, status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(signal) => format!("the C++ compiler {name} crashed: it was ended by signal {signal}\n"),
        None => String::new(),
    }
}
