//! hiprtc's functions. A program is destroyed when its owner is dropped.

use hip_sys::RtcTable;
use hip_sys::rtc::{hiprtcProgram, hiprtcResult};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{null, null_mut};

/// A call of hiprtc that did not answer `HIPRTC_SUCCESS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) call: &'static str,
    pub(crate) code: hiprtcResult,
}

type Result<T> = std::result::Result<T, Failure>;

/// Calls a function of the table by its C name and reads its status.
macro_rules! call {
    ($rtc:expr, $name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1: each use says why its arguments are what the C function asks for.
        match unsafe { ($rtc.$name)($($argument),*) } {
            hiprtcResult::HIPRTC_SUCCESS => Ok(()),
            code => Err(Failure { call: stringify!($name), code }),
        }
    };
}

/// The compiler's version as it counts itself.
pub(crate) fn version(rtc: &RtcTable) -> Result<(c_int, c_int)> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: S1: both out-pointers are live.
    call!(rtc, hiprtcVersion(&mut major, &mut minor))?;
    Ok((major, minor))
}

/// What a status means, in the library's words.
pub(crate) fn error_text(rtc: &RtcTable, code: hiprtcResult) -> String {
    // SAFETY: S1: any code may be asked for; the answer is null or a static C string.
    let text = unsafe { (rtc.hiprtcGetErrorString)(code) };
    if text.is_null() {
        return String::from("an unnamed error");
    }
    // SAFETY: S1: not null, so it is one of the library's static strings.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A program that is destroyed when it is dropped. It stays on one thread.
pub(crate) struct Program<'rtc> {
    rtc: &'rtc RtcTable,
    raw: hiprtcProgram,
}

impl<'rtc> Program<'rtc> {
    /// A program of a text and its headers, as pairs of name and text.
    pub(crate) fn new(
        rtc: &'rtc RtcTable,
        text: &CStr,
        name: &CStr,
        headers: &[(CString, CString)],
    ) -> Result<Self> {
        let mut program = Self { rtc, raw: null_mut() };
        let (names, texts): (Vec<_>, Vec<_>) =
            headers.iter().map(|(name, text)| (name.as_ptr(), text.as_ptr())).unzip();
        let count = c_int::try_from(headers.len()).unwrap_or(c_int::MAX);
        let (names, texts) = (names.as_ptr(), texts.as_ptr());
        // SAFETY: S1: a live variable, live C strings, and two lists of `count` of them; the library copies them.
        call!(rtc, hiprtcCreateProgram(&mut program.raw, text.as_ptr(), name.as_ptr(), count, texts, names))?;
        Ok(program)
    }

    pub(crate) fn add_name_expression(&self, expression: &CStr) -> Result<()> {
        // SAFETY: S1: a live program and a live C string.
        call!(self.rtc, hiprtcAddNameExpression(self.raw, expression.as_ptr()))
    }

    pub(crate) fn compile(&self, options: &[CString]) -> Result<()> {
        let list: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(list.len()).unwrap_or(c_int::MAX);
        // SAFETY: S1: a live program and a list of `count` live C strings.
        call!(self.rtc, hiprtcCompileProgram(self.raw, count, list.as_ptr()))
    }

    /// What the compiler says of the last compilation; empty if it says nothing.
    pub(crate) fn log(&self) -> Result<String> {
        let mut size = 0;
        // SAFETY: S1: a live program and a live out-pointer.
        call!(self.rtc, hiprtcGetProgramLogSize(self.raw, &mut size))?;
        if size == 0 {
            return Ok(String::new());
        }
        let mut log = vec![0_u8; size + 1];
        // SAFETY: S1: the buffer has the size that was told, and a zero byte beyond.
        call!(self.rtc, hiprtcGetProgramLog(self.raw, log.as_mut_ptr().cast()))?;
        Ok(CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy().trim().to_owned())
    }

    pub(crate) fn code(&self) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: S1: a live program and a live out-pointer.
        call!(self.rtc, hiprtcGetCodeSize(self.raw, &mut size))?;
        let mut code = vec![0_u8; size];
        // SAFETY: S1: the buffer has the size that was told.
        call!(self.rtc, hiprtcGetCode(self.raw, code.as_mut_ptr().cast()))?;
        Ok(code)
    }

    /// The linker's name of a name expression.
    pub(crate) fn lowered_name(&self, expression: &CStr) -> Result<String> {
        let mut name = null();
        // SAFETY: S1: a live program, a live C string and a live out-pointer.
        call!(self.rtc, hiprtcGetLoweredName(self.raw, expression.as_ptr(), &mut name))?;
        if name.is_null() {
            let code = hiprtcResult::HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
            return Err(Failure { call: "hiprtcGetLoweredName", code });
        }
        // SAFETY: S1: not null, so it is a C string that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: S1, S4: our own program, which nobody uses any more. There is nobody to tell of an error.
            let _ = unsafe { (self.rtc.hiprtcDestroyProgram)(&mut self.raw) };
        }
    }
}
