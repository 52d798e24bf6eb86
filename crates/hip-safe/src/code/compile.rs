//! Compilation at run time: one way for every platform that has hiprtc's functions.

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

/// A text to compile at run time, with its headers and options.
///
/// [`Device::compile`] makes a module of it in one call; the steps are here. The text is HIP C++. hiprtc knows `hip/hip_runtime.h` without an include; other headers are given by [`Source::header`].
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

/// What a [`Source`] was compiled to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    pub(crate) code: Vec<u8>,
    pub(crate) log: String,
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) text: Text,
}

/// What messages say of the text that code was compiled from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// What its author calls it.
    pub(crate) name: String,
    /// The kernels in it.
    pub(crate) kernels: Vec<String>,
}

/// For libraries that must not be called by two threads at once. One for all: two platforms may be of one library.
static TURNS: Mutex<()> = Mutex::new(());

/// Options that would name another architecture than the one that was checked.
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

/// Beginnings of options that hand anything on, from another option or a file.
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

    /// What messages call it, as a file name. Some versions of AMD's compiler have a name of their own in the log.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// A header that the text finds by `#include "name"`.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.push((name.into(), text.into()));
        self
    }

    /// Several headers, each by its name and text.
    #[must_use]
    pub fn headers<N: Into<String>, T: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        self.headers.extend(headers.into_iter().map(|(name, text)| (name.into(), text.into())));
        self
    }

    /// An option, such as `-O3` or `-DN=4`. The architecture is no option: [`Source::compile`] is told it.
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Several options.
    #[must_use]
    pub fn options(mut self, options: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.options.extend(options.into_iter().map(Into::into));
        self
    }

    /// An expression that names a kernel, such as `scale<float>`: it is made, and [`Module::function`] finds it by the expression. By
    /// [`Compiled::lowered_name`] it is found wherever else its code is loaded.
    #[doc(alias = "hiprtcAddNameExpression")]
    #[must_use]
    pub fn name_expression(mut self, expression: impl Into<String>) -> Self {
        self.expressions.push(expression.into());
        self
    }

    /// Compiles it for an architecture, such as `gfx90a:sramecc+:xnack-` or `sm_90`. No device is needed.
    ///
    /// AMD's library is called by one thread at a time: the others wait.
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

    /// Compiles it for the architecture of a device: the runtime that names it comes with the compiler, so it is asked for even if it
    /// is newer than [`hip_sys::Platform::check_rtc_architecture`] knows.
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

    /// What messages say of it.
    pub(crate) fn text(&self) -> Text {
        Text { name: self.name.clone(), kernels: kernel_names(&self.text) }
    }

    fn failed(&self, rtc: &RtcTable, failure: Failure) -> Error {
        let Failure { call, code } = failure;
        Error::Rtc { call, code: code.0, text: rtc::error_text(rtc, code), name: self.name.clone() }
    }

    /// Everything as C strings, with the option for the architecture in front.
    fn checked(&self, arch: &str) -> Result<Texts> {
        let invalid = |reason| Error::InvalidSource { name: self.name.clone(), reason };
        let c_string = |what: &str, text: &str| {
            CString::new(text).map_err(|_| invalid(format!("{what} has a zero byte in it: take it out")))
        };
        if self.text.is_empty() {
            return Err(invalid("the text is empty".into()));
        }
        let names_target = |option: &&String| {
            // Some releases take one text apart at its spaces.
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

/// Whether the log says what is wrong with the text, an option or a name expression.
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

    /// The code alone.
    pub fn into_code(self) -> Vec<u8> {
        self.code
    }

    /// What the compiler said, such as warnings; empty if nothing.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The name that a kernel has which was asked for by [`Source::name_expression`].
    #[doc(alias = "hiprtcGetLoweredName")]
    pub fn lowered_name(&self, expression: &str) -> Option<&str> {
        self.names.get(expression).map(String::as_str)
    }

    /// Loads the code on a device. The module's kernels are found by the source's name expressions as well.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load(&self, device: &Device) -> Result<Module> {
        let Self { names, log, text, .. } = self.clone();
        Ok(Module::load(device, &self.code)?.with_origin(Arc::new(Origin { names, log, text })))
    }
}

/// The version of a platform's run-time compiler, as it counts itself: (9, 0) for AMD's 5.2.3, (12, 8) for CUDA 12.8.
///
/// # Errors
/// [`Error::NoCompiler`] if there is none, [`Error::Rtc`] if it answers an error.
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
