//! A program to compile: its source, its headers, and the result of the last compilation.

use super::attributes;
use super::compiler::Compiler;
use super::headers;
use super::image::{self, Object};
use super::lowered;
use super::options::Options;
use super::rewrite::rewrite;
use hip_sys::rtc::hiprtcResult;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::CString;
use std::fs;
use std::path::{Component, Path};

/// The name of an unnamed program in the compiler's messages.
const NO_NAME: &str = "CompileSource";
/// The file that is compiled, and the directory of our headers; both in the temporary directory.
const FILE: &str = "hiphost_program.cpp";
const HEADERS: &str = "hiphost_headers";

/// A program.
pub(crate) struct Program {
    name: String,
    text: Vec<u8>,
    headers: Vec<(String, Vec<u8>)>,
    pub(crate) state: Mutex<State>,
}

/// The mutable state of a program.
#[derive(Default)]
pub(crate) struct State {
    /// Name expressions, in the order in which they were added.
    pub(crate) expressions: Vec<String>,
    pub(crate) log: String,
    /// Empty until a compilation succeeds.
    pub(crate) image: Vec<u8>,
    /// Lowered names. The caller gets pointers to them that are valid as long as the program, so none is ever
    /// removed.
    pub(crate) names: HashMap<String, CString>,
}

/// A failed compilation: its code and its log.
struct Failed(hiprtcResult, String);

impl From<String> for Failed {
    fn from(log: String) -> Self {
        Self(hiprtcResult::HIPRTC_ERROR_COMPILATION, log)
    }
}

impl Program {
    /// Creates a program with that source. An empty name stands for no name.
    pub(crate) fn new(text: Vec<u8>, name: String, headers: Vec<(String, Vec<u8>)>) -> Self {
        let name = if name.is_empty() { NO_NAME.into() } else { name };
        Self { name, text, headers, state: Mutex::default() }
    }

    /// Compiles the program. The log and the image are replaced in any case. `wave` is the wave size to
    /// compile for if the options name none.
    pub(crate) fn compile(&self, options: &[String], wave: u32) -> hiprtcResult {
        let mut state = self.state.lock();
        state.image = Vec::new();
        match self.attempt(&state.expressions, options, wave) {
            Ok((log, objects)) => {
                state.log = log;
                if let Err(missing) = state.read_names(&objects[0]) {
                    state.log += &missing;
                    return hiprtcResult::HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
                }
                state.image = image::pack(&objects);
                hiprtcResult::HIPRTC_SUCCESS
            }
            Err(Failed(code, log)) => {
                state.log = log;
                code
            }
        }
    }

    fn attempt(
        &self,
        expressions: &[String],
        options: &[String],
        wave: u32,
    ) -> Result<(String, Vec<Object>), Failed> {
        let here = std::env::current_dir().unwrap_or_default();
        let invalid = |log| Failed(hiprtcResult::HIPRTC_ERROR_INVALID_OPTION, log + "\n");
        let mut options = Options::parse(options, &here).map_err(invalid)?;
        if options.waves.is_empty() {
            options.waves.push(wave);
        }
        let folder = tempfile::Builder::new().prefix("hiphost-").tempdir();
        let folder = folder.map_err(|error| folder_error(&std::env::temp_dir(), &error))?;
        self.write(folder.path(), &options).map_err(|error| folder_error(folder.path(), &error))?;
        let mut log = String::new();
        let mut objects = Vec::new();
        for wave in &options.waves {
            let (messages, bytes) = compile_for(folder.path(), *wave, &options, expressions)?;
            // Both compilations report the same about the source.
            if objects.is_empty() {
                log = messages;
            }
            objects.push(Object { wave: *wave, bytes });
        }
        Ok((log, objects))
    }

    /// Writes everything that the compiler reads.
    fn write(&self, folder: &Path, options: &Options) -> std::io::Result<()> {
        headers::write_to(&folder.join(HEADERS))?;
        for (name, text) in &self.headers {
            write_below(folder, name, text)?;
        }
        // The compiler quotes source lines from the file of that name, if there is one.
        write_below(folder, &self.name, &self.text)?;
        let shown = self.name.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
        let include = if options.host_source { "" } else { "#include <hiphost/rtc.hpp>\n" };
        let start = format!("{include}#line 1 \"options\"\n{}#line 1 \"{shown}\"\n", options.prologue);
        fs::write(folder.join(FILE), [start.as_bytes(), &self.text, b"\n"].concat())
    }
}

/// Compiles the program in the directory for one wave size. Returns the messages and the object.
fn compile_for(
    folder: &Path,
    wave: u32,
    options: &Options,
    expressions: &[String],
) -> Result<(String, Vec<u8>), Failed> {
    let compiler = Compiler::new(folder);
    let ours = [format!("-DHIPHOST_WAVE_SIZE={wave}"), "-I.".into(), format!("-isystem{HEADERS}")];
    let wrong_option = |log: String| {
        let unknown = log.contains("unrecognized command-line option") || log.contains("unknown argument");
        let code = if unknown {
            hiprtcResult::HIPRTC_ERROR_INVALID_OPTION
        } else {
            hiprtcResult::HIPRTC_ERROR_COMPILATION
        };
        Failed(code, log)
    };
    let object = "hiphost_object.so";
    let read =
        |name: &str| fs::read(folder.join(name)).map_err(|error| folder_error(&folder.join(name), &error));
    if options.host_source {
        let flags: [&[String]; 3] = [&options.compile, &ours, &options.preprocess];
        let log = compiler.compile_host_source(FILE, object, &flags).map_err(wrong_option)?;
        return Ok((log, read(object)?));
    }
    let (plain, rewritten) = ("hiphost_plain.ii", "hiphost_rewritten.ii");
    let mut log = compiler
        .preprocess(FILE, plain, &[&options.compile, &ours, &options.preprocess])
        .map_err(wrong_option)?;
    let done = rewrite(&attributes::as_words(&String::from_utf8_lossy(&read(plain)?)));
    let text = format!("{}\n{}", done.text, done.register(expressions));
    fs::write(folder.join(rewritten), text).map_err(|error| folder_error(folder, &error))?;
    log += &compiler
        .compile(rewritten, object, &[&options.compile])
        .map_err(|failed| wrong_option(log.clone() + &failed))?;
    // The compiler's own error takes precedence: in invalid source no kernel can be found.
    if !done.lost.is_empty() {
        return Err(Failed(hiprtcResult::HIPRTC_ERROR_COMPILATION, log + &done.lost));
    }
    Ok((log, read(object)?))
}

impl State {
    /// Takes the lowered names out of an object. The error says which is missing.
    fn read_names(&mut self, object: &Object) -> Result<(), String> {
        for (number, expression) in self.expressions.iter().enumerate() {
            let name = lowered::of_expression(&object.bytes, number).and_then(|name| CString::new(name).ok());
            let missing = || format!("the compiler gave no name for the expression {expression}\n");
            let name = name.ok_or_else(missing)?;
            self.names.entry(expression.clone()).or_insert(name);
        }
        Ok(())
    }
}

/// The log for a directory or file that could not be written or read.
fn folder_error(path: &Path, error: &std::io::Error) -> String {
    format!(
        "cannot use {} to compile in: {error}\nMake room there, or set TMPDIR to a folder that can be written.\n",
        path.display()
    )
}

/// Writes a file below the directory. A name that leads elsewhere is skipped, since no `#include` would find
/// it here either.
fn write_below(folder: &Path, name: &str, text: &[u8]) -> std::io::Result<()> {
    let name = Path::new(name);
    let inside = name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !inside || name.file_name().is_none() || name.starts_with(HEADERS) {
        return Ok(());
    }
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)
}
