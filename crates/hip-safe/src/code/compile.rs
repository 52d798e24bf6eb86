//! Run-time compilation, on every platform that has hiprtc's functions.

use super::kernel_names::kernel_names;
use super::module::Origin;
use crate::raw::rtc::{self, Failure, Program};
use crate::{Device, Error, Module, Result};
use hip_sys::rtc::hiprtcResult;
use hip_sys::{Platform, RtcTable};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

/// HIP C++ text to compile at run time, with its headers and options.
///
/// [`Device::compile`] compiles it and loads the module in one call; the methods here are the single steps. hiprtc includes
/// `hip/hip_runtime.h` by itself. Add other headers by [`Source::header`].
///
/// ```
/// use hip_safe::{Device, Source};
///
/// # fn main() -> hip_safe::Result<()> {
/// let source = Source::new("#include \"size.h\"\nextern \"C\" __global__ void fill(float* a) { a[threadIdx.x] = SIZE; }")
///     .name("fill.hip")
///     .header("size.h", "#define SIZE 4\n")
///     .option("-O3");
/// let device = Device::new(&hip_host::platform(), 0)?;
/// let compiled = source.compile_for(&device)?;
/// assert_eq!(compiled.log(), "");
/// let fill = compiled.load(&device)?.function("fill")?;
/// assert_eq!(fill.name(), "fill");
///
/// // What does not compile is an error that shows what the compiler says.
/// let wrong = Source::new("__global__ void broken( {").name("broken.hip").compile_for(&device);
/// assert!(wrong.unwrap_err().to_string().contains("broken.hip does not compile for host-w32"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) options: Vec<String>,
    pub(crate) expressions: Vec<String>,
}

/// The result of compiling a [`Source`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    pub(crate) code: Vec<u8>,
    pub(crate) log: String,
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) text: Text,
}

/// A description of the text that code was compiled from, for messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// Its file name: see [`Source::name`].
    pub(crate) name: String,
    /// The names of its kernels.
    pub(crate) kernels: Vec<String>,
}

/// Locked during calls of libraries that are not thread-safe. There is one lock for all platforms, because two may use the same library.
static TURNS: Mutex<()> = Mutex::new(());

/// Options that would set another architecture than the one that was checked.
const ARCHITECTURE_OPTIONS: [&str; 14] = [
    "--offload-arch",
    "--no-offload-arch",
    "--offload",
    "--offload-targets",
    "--cuda-gpu-arch",
    "--no-cuda-gpu-arch",
    "--gpu-architecture",
    "-arch",
    "-mcpu",
    "-march",
    "--mcpu",
    "--march",
    "--target",
    "-target",
];

/// Prefixes of options that pass on any other option, or options from a file.
const HANDING_ON: [&str; 6] = ["@", "-Xclang", "-Xarch", "-Xcuda", "-cc1", "--config"];

impl Source {
    /// A text without headers and options.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            name: "program.hip".into(),
            headers: Vec::new(),
            options: Vec::new(),
            expressions: Vec::new(),
        }
    }

    /// Sets its file name in messages. Some versions of AMD's compiler use another name in the log.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a header that the text includes by `#include "name"`.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.push((name.into(), text.into()));
        self
    }

    /// Adds several headers, as pairs of name and text.
    #[must_use]
    pub fn headers<N: Into<String>, T: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        self.headers.extend(headers.into_iter().map(|(name, text)| (name.into(), text.into())));
        self
    }

    /// Adds an option, such as `-O3` or `-DN=4`. The architecture is not an option: it is an argument of [`Source::compile`].
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Adds several options.
    #[must_use]
    pub fn options(mut self, options: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.options.extend(options.into_iter().map(Into::into));
        self
    }

    /// Adds a name expression, such as `scale<float>`. The kernel is instantiated, and [`Module::function`] looks it up by the expression. Where the
    /// code is loaded by other means, use [`Compiled::lowered_name`].
    #[doc(alias = "hiprtcAddNameExpression")]
    #[must_use]
    pub fn name_expression(mut self, expression: impl Into<String>) -> Self {
        self.expressions.push(expression.into());
        self
    }

    /// Compiles it for an architecture, such as `gfx90a:sramecc+:xnack-` or `sm_90`. No device is needed.
    ///
    /// AMD's library is not thread-safe, so calls on other threads wait.
    ///
    /// # Errors
    /// [`Error::NoCompiler`] if the platform has none, [`Error::UnknownArchitecture`] before a call that would end the process,
    /// [`Error::InvalidSource`] for texts with a zero byte and options that name an architecture, [`Error::Compilation`] with
    /// the log if it does not compile, [`Error::Rtc`] for other errors of the compiler.
    #[doc(alias = "hiprtcCompileProgram")]
    pub fn compile(&self, platform: &Platform, arch: &str) -> Result<Compiled> {
        let rtc = platform.rtc().map_err(|missing| Error::NoCompiler(missing.clone()))?;
        platform.check_rtc_architecture(arch).map_err(Box::new)?;
        self.run_with(rtc, platform, arch)
    }

    /// Compiles it for the architecture of a device. The compiler comes with the runtime that reports the architecture, so it is called even if
    /// [`hip_sys::Platform::check_rtc_architecture`] does not know the architecture.
    ///
    /// # Errors
    /// As [`Source::compile`], but never [`Error::UnknownArchitecture`].
    pub fn compile_for(&self, device: &Device) -> Result<Compiled> {
        self.compile_own(device.platform(), &device.properties().arch)
    }

    /// As [`Source::compile_for`]: the architecture is that of one of the platform's devices.
    pub(crate) fn compile_own(&self, platform: &Platform, arch: &str) -> Result<Compiled> {
        let rtc = platform.rtc().map_err(|missing| Error::NoCompiler(missing.clone()))?;
        self.run_with(rtc, platform, arch)
    }

    fn run_with(&self, rtc: &RtcTable, platform: &Platform, arch: &str) -> Result<Compiled> {
        let texts = self.checked(arch)?;
        if hip_sys::exiting() {
            return Err(Error::Exiting);
        }
        hip_sys::watch_exit();
        let _turn = platform.rtc_takes_turns().then(|| TURNS.lock());
        self.run(rtc, &texts, arch)
    }

    fn run(&self, rtc: &RtcTable, texts: &Texts, arch: &str) -> Result<Compiled> {
        let failed = |failure| self.failed(rtc, failure);
        let program = Program::new(rtc, &texts.text, &texts.name, &texts.headers).map_err(failed)?;
        for expression in &texts.expressions {
            program.add_name_expression(expression).map_err(failed)?;
        }
        let result = program.compile(&texts.options);
        let log = program.log();
        match result {
            Ok(()) => {}
            Err(Failure { code, .. }) if is_about_the_text(code) => {
                let log = log.unwrap_or_else(|_| "the compiler gives no reason".into());
                return Err(Error::Compilation { name: self.name.clone(), arch: arch.into(), log });
            }
            Err(failure) => return Err(failed(failure)),
        }
        let mut names = BTreeMap::new();
        for (expression, text) in texts.expressions.iter().zip(&self.expressions) {
            names.insert(text.clone(), program.lowered_name(expression).map_err(failed)?);
        }
        let (code, log) = (program.code().map_err(failed)?, log.map_err(failed)?);
        Ok(Compiled { code, log, names, text: self.text() })
    }

    /// Its description for messages.
    pub(crate) fn text(&self) -> Text {
        Text { name: self.name.clone(), kernels: kernel_names(&self.text) }
    }

    fn failed(&self, rtc: &RtcTable, failure: Failure) -> Error {
        let Failure { call, code } = failure;
        Error::Rtc { call, code: code.0, text: rtc::error_text(rtc, code), name: self.name.clone() }
    }

    /// Everything as C strings, with the option for the architecture first.
    fn checked(&self, arch: &str) -> Result<Texts> {
        let invalid = |reason| Error::InvalidSource { name: self.name.clone(), reason };
        let c_string = |what: &str, text: &str| {
            CString::new(text).map_err(|_| invalid(format!("{what} has a zero byte in it: take it out")))
        };
        if self.text.is_empty() {
            return Err(invalid("the text is empty".into()));
        }
        let names_target = |option: &&String| {
            // Some releases split a single string at its spaces.
            option.split_whitespace().any(|word| {
                let word = word.trim_matches(['"', '\'']);
                let name = word.split('=').next().unwrap_or_default();
                ARCHITECTURE_OPTIONS.contains(&name) || HANDING_ON.iter().any(|start| word.starts_with(start))
            })
        };
        if let Some(option) = self.options.iter().find(names_target) {
            let reason = format!(
                "option {option} names an architecture or hands on what may: leave it out, and give the architecture to \
                 Source::compile"
            );
            return Err(invalid(reason));
        }
        let mut options = vec![c_string("the architecture", &format!("--offload-arch={arch}"))?];
        for option in &self.options {
            options.push(c_string(&format!("option {option:?}"), option)?);
        }
        let pair = |(name, text): &(String, String)| {
            let what = format!("header {name:?}");
            Ok((c_string(&what, name)?, c_string(&what, text)?))
        };
        let expression = |text: &String| c_string(&format!("name expression {text:?}"), text);
        Ok(Texts {
            text: c_string("the text", &self.text)?,
            name: c_string("its name", &self.name)?,
            headers: self.headers.iter().map(pair).collect::<Result<_>>()?,
            options,
            expressions: self.expressions.iter().map(expression).collect::<Result<_>>()?,
        })
    }
}

/// A source as C strings.
struct Texts {
    text: CString,
    name: CString,
    headers: Vec<(CString, CString)>,
    options: Vec<CString>,
    expressions: Vec<CString>,
}

/// Whether the log explains the error by the text, an option or a name expression.
fn is_about_the_text(code: hiprtcResult) -> bool {
    use hiprtcResult as R;
    [
        R::HIPRTC_ERROR_COMPILATION,
        R::HIPRTC_ERROR_INVALID_OPTION,
        R::HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
        R::HIPRTC_ERROR_LINKING,
    ]
    .contains(&code)
}

impl Compiled {
    /// The code, as [`Module::load`] takes it.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// The code, without names and log.
    pub fn into_code(self) -> Vec<u8> {
        self.code
    }

    /// The compiler's messages, such as warnings. Empty if there were none.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The name in the code of a kernel that was requested by [`Source::name_expression`].
    #[doc(alias = "hiprtcGetLoweredName")]
    pub fn lowered_name(&self, expression: &str) -> Option<&str> {
        self.names.get(expression).map(String::as_str)
    }

    /// Loads the code on a device. The module's kernels can be looked up by the source's name expressions too.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load(&self, device: &Device) -> Result<Module> {
        let Self { names, log, text, .. } = self.clone();
        Ok(Module::load(device, &self.code)?.with_origin(Arc::new(Origin { names, log, text })))
    }
}

/// The version that a platform's run-time compiler reports: (9, 0) for AMD's 5.2.3, (12, 8) for CUDA 12.8.
///
/// # Errors
/// [`Error::NoCompiler`] if there is none, [`Error::Rtc`] if it returns an error.
#[doc(alias = "hiprtcVersion")]
pub fn compiler_version(platform: &Platform) -> Result<(i32, i32)> {
    let rtc = platform.rtc().map_err(|missing| Error::NoCompiler(missing.clone()))?;
    rtc::version(rtc).map_err(|Failure { call, code }| Error::Rtc {
        call,
        code: code.0,
        text: rtc::error_text(rtc, code),
        name: "the compiler's version".into(),
    })
}
