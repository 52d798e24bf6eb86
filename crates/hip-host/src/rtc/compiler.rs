//! The system's C++ compiler: finding it, and running it.

use super::{headers, precompiled};
use crate::flags::{HOST_SOURCE_FLAGS, KERNEL_FLAGS, LINK_FLAGS, NO_COMPILER};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// Names to try if `CXX` is not set.
const NAMES: [&str; 3] = ["c++", "g++", "clang++"];

/// Flags that follow those of all kernels. Source written for GPUs reads memory through pointers of other
/// types, hence no strict aliasing.
const FLAGS: [&str; 4] = ["-O3", "-pipe", "-fPIC", "-fno-strict-aliasing"];

/// Checks as calls instead of inline code halve the compile time.
const ADDRESS_FLAGS: [&str; 2] =
    ["-fsanitize-recover=address", "--param=asan-instrumentation-with-call-threshold=0"];
const SANITIZED_FLAGS: [&str; 4] = ["-O1", "-g1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"];

/// Flags for the sanitizer that `HIPSTACK_HOST_SANITIZE` names; usually none. The compiler itself refuses an unknown name.
fn sanitizer_flags() -> Vec<String> {
    let name = std::env::var("HIPSTACK_HOST_SANITIZE").unwrap_or_default();
    if name.is_empty() {
        return Vec::new();
    }
    let more = if name == "address" { &ADDRESS_FLAGS[..] } else { &[] };
    let flags = more.iter().chain(&SANITIZED_FLAGS).map(ToString::to_string);
    std::iter::once(format!("-fsanitize={name}")).chain(flags).collect()
}

/// Everything that the code depends on besides texts and options: the compiler and its version, the flags
/// that the user and a sanitizer add, this crate's headers and flags, and the processor, which
/// `-march=native` refers to. A compiler is asked for its version once.
pub(crate) fn identity() -> String {
    let version = version().unwrap_or_else(|missing| missing);
    let extra = Compiler::new(Path::new(".")).extra.join(" ");
    let flags = [&KERNEL_FLAGS[..], &FLAGS, &HOST_SOURCE_FLAGS, &LINK_FLAGS].concat().join(" ");
    format!("{version}{extra}\n{flags}\nheaders {:032x}\nprocessor {}", headers::hash(), processor())
}

/// Checks that a compiler can be started; the error says what to install.
pub(crate) fn check() -> Result<(), String> {
    version().map(drop)
}

/// The compiler's name and its version output.
fn version() -> Result<String, String> {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let chosen = format!("{:?} {:?}", std::env::var_os("CXX"), std::env::var_os("PATH"));
    if let Some(known) = KNOWN.lock().get(&chosen) {
        return Ok(known.clone());
    }
    let (name, output) = Compiler::new(Path::new(".")).first_that_runs(&["--version"])?;
    let version = format!("{name}: {}", String::from_utf8_lossy(&output.stdout));
    KNOWN.lock().insert(chosen, version.clone());
    Ok(version)
}

/// The processor's instruction set extensions.
fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    let names = [
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512fp16", is_x86_feature_detected!("avx512fp16")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let names: [(&str, bool); 0] = [];
    let has: Vec<&str> = names.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
    format!("{} {}", std::env::consts::ARCH, has.join(" "))
}

/// A slot to run a compiler. There are as many as the machine has cores; other threads wait.
struct Turn;

static RUNNING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

impl Turn {
    fn take() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut running = RUNNING.lock();
        ENDED.wait_while(&mut running, |running| *running >= cores);
        *running += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.lock() -= 1;
        ENDED.notify_one();
    }
}

/// A directory to compile in, and the flags that the user and a sanitizer add.
pub(crate) struct Compiler<'a> {
    folder: &'a Path,
    extra: Vec<String>,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(folder: &'a Path) -> Self {
        let users = std::env::var("HIPSTACK_HOST_CXXFLAGS").unwrap_or_default();
        let users = users.split_whitespace().map(str::to_owned);
        Self { folder, extra: sanitizer_flags().into_iter().chain(users).collect() }
    }

    /// Runs the preprocessor. Returns its log, as an error if it failed.
    pub(crate) fn preprocess(&self, from: &str, to: &str, flags: &[&[String]]) -> Result<String, String> {
        self.run(&[&FLAGS[..], &["-E", "-x", "c++"]], flags, &[from, "-o", to])
    }

    /// Compiles preprocessed text into a shared object.
    pub(crate) fn compile(&self, from: &str, to: &str, flags: &[&[String]]) -> Result<String, String> {
        self.run(&[&FLAGS, self.link(), &["-x", "c++-cpp-output"]], flags, &[from, "-o", to])
    }

    /// Compiles text that is already C++ into a shared object.
    pub(crate) fn compile_host_source(
        &self,
        from: &str,
        to: &str,
        flags: &[&[String]],
    ) -> Result<String, String> {
        let flags = flags.concat();
        let header = self.precompiled(&flags).map(|header| header.display().to_string());
        let begin: Vec<&str> = header.iter().flat_map(|header| ["-include", header]).collect();
        self.run(&[&HOST_SOURCE_FLAGS, &begin, self.link(), &["-x", "c++"]], &[&flags], &[from, "-o", to])
    }

    /// The precompiled header for these flags. Only for GCC: other compilers do not fall back to the header
    /// itself if the precompiled one does not fit.
    fn precompiled(&self, flags: &[String]) -> Option<PathBuf> {
        if !version().is_ok_and(|version| version.contains("Free Software Foundation")) {
            return None;
        }
        let make = |header: &Path, flags: &[String]| {
            let header = header.display().to_string();
            let to = format!("{header}.gch");
            self.run(&[&HOST_SOURCE_FLAGS, &["-x", "c++-header"]], &[flags], &[&header, "-o", &to]).is_ok()
        };
        let chosen = std::env::var("CXX").unwrap_or_default();
        precompiled::header(flags, &[&self.extra[..], &[chosen]].concat(), make)
    }

    /// With a sanitizer, undefined symbols are allowed: they are resolved in the program.
    fn link(&self) -> &'static [&'static str] {
        let kept = if self.is_sanitized() { LINK_FLAGS.len() - 1 } else { LINK_FLAGS.len() };
        &LINK_FLAGS[..kept]
    }

    /// Whether kernels are compiled for a sanitizer.
    pub(crate) fn is_sanitized(&self) -> bool {
        self.extra.iter().any(|flag| flag.starts_with("-fsanitize"))
    }

    fn run(&self, ours: &[&[&str]], flags: &[&[String]], files: &[&str]) -> Result<String, String> {
        let ours = [&[&KERNEL_FLAGS[..]], ours].concat().concat();
        let arguments = ours.into_iter().chain(flags.iter().flat_map(|list| list.iter().map(String::as_str)));
        let arguments = arguments.chain(self.extra.iter().map(String::as_str)).chain(files.iter().copied());
        let arguments: Vec<&str> = arguments.collect();
        let _turn = Turn::take();
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
                    "the C++ compiler {program} that CXX names cannot be run: {error}\nUnset CXX, or {NO_COMPILER}\n"
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
            "no C++ compiler was found, and hip-host compiles kernels with one (tried {}): {NO_COMPILER}\n",
            NAMES.join(", ")
        ))
    }

    fn call(&self, program: &str, before: &[String], arguments: &[&str]) -> std::io::Result<Output> {
        let mut command = Command::new(program_path(program));
        command.args(before).args(arguments).current_dir(self.folder);
        command.env("LC_ALL", "C").env("TMPDIR", self.folder).stdin(Stdio::null());
        if self.is_sanitized() {
            // The sanitizer's library must be loaded into this program, not into the compiler.
            command.env_remove("LD_PRELOAD");
        }
        command.output()
    }
}

/// The absolute path of a compiler that is named by a relative path, since it runs in another directory.
fn program_path(program: &str) -> OsString {
    let path = Path::new(program);
    if path.components().count() > 1 && path.is_relative() {
        return std::env::current_dir().unwrap_or_else(|_| PathBuf::new()).join(path).into_os_string();
    }
    program.into()
}

/// A line about a compiler that crashed and so did not report the reason itself.
fn ending(name: &str, status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(signal) => format!("the C++ compiler {name} crashed: it was ended by signal {signal}\n"),
        None => String::new(),
    }
}
