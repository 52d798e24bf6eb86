//! A program for hiprtc, and short forms of common steps.

use crate::common::Hip;
use hip_sys::RtcTable;
use hip_sys::hip::*;
use hip_sys::rtc::*;
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

/// Calls a function of hiprtc and returns the code.
macro_rules! rtc {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let function = $crate::program::table().$name;
        // SAFETY: S1, S11: the test passes live pointers, or arguments that the function must refuse.
        unsafe { function($($argument),*) }.0
    }};
}

pub(crate) fn table() -> RtcTable {
    hip_host::platform().rtc().expect("hip-host has hiprtc").clone()
}

/// A program, destroyed when it is dropped.
pub(crate) struct Program(pub(crate) hiprtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        rtc!(hiprtcDestroyProgram(&mut self.0));
    }
}

impl Program {
    pub(crate) fn new(text: &str) -> Self {
        Self::with_headers(text, "kernel.hip", &[])
    }

    pub(crate) fn with_headers(text: &str, name: &str, headers: &[(&str, &str)]) -> Self {
        let c = |text: &str| CString::new(text).expect("no zero byte");
        let owned: Vec<_> = headers.iter().map(|(name, text)| (c(name), c(text))).collect();
        let mut names: Vec<_> = owned.iter().map(|(name, _)| name.as_ptr()).collect();
        let mut texts: Vec<_> = owned.iter().map(|(_, text)| text.as_ptr()).collect();
        let (text, name, mut program) = (c(text), c(name), null_mut());
        let count = headers.len() as i32;
        let (texts, names) = (texts.as_mut_ptr(), names.as_mut_ptr());
        assert_eq!(
            rtc!(hiprtcCreateProgram(&mut program, text.as_ptr(), name.as_ptr(), count, texts, names)),
            0
        );
        Self(program)
    }

    pub(crate) fn expect_name(&self, expression: &str) {
        let expression = CString::new(expression).expect("no zero byte");
        assert_eq!(rtc!(hiprtcAddNameExpression(self.0, expression.as_ptr())), 0);
    }

    /// Compiles and returns the code.
    pub(crate) fn try_compile(&self, options: &[&str]) -> u32 {
        let options: Vec<_> = options.iter().map(|o| CString::new(*o).expect("no zero byte")).collect();
        let mut list: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        rtc!(hiprtcCompileProgram(self.0, list.len() as i32, list.as_mut_ptr()))
    }

    /// Compiles and returns the image.
    pub(crate) fn compile(&self, options: &[&str]) -> Vec<u8> {
        let code = self.try_compile(options);
        assert_eq!(code, 0, "{}", self.log());
        let mut size = 0;
        assert_eq!(rtc!(hiprtcGetCodeSize(self.0, &mut size)), 0);
        let mut image = vec![0_u8; size];
        assert_eq!(rtc!(hiprtcGetCode(self.0, image.as_mut_ptr().cast())), 0);
        image
    }

    pub(crate) fn log(&self) -> String {
        let mut size = 0;
        assert_eq!(rtc!(hiprtcGetProgramLogSize(self.0, &mut size)), 0);
        let mut log = vec![0_u8; size];
        assert_eq!(rtc!(hiprtcGetProgramLog(self.0, log.as_mut_ptr().cast())), 0);
        let text = log.strip_suffix(b"\0").unwrap_or_default();
        String::from_utf8(text.to_vec()).expect("our compilers speak UTF-8")
    }

    pub(crate) fn lowered(&self, expression: &str) -> String {
        let (expression, mut name) = (CString::new(expression).expect("no zero byte"), null());
        assert_eq!(rtc!(hiprtcGetLoweredName(self.0, expression.as_ptr(), &mut name)), 0);
        // SAFETY: S11: the function returned a C string that lives as long as the program.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}

/// Compiles for the current device and returns one kernel.
pub(crate) fn kernel(hip: &Hip, text: &str, name: &str) -> hipFunction_t {
    hip.find(hip.load(&Program::new(text).compile(&[])), name)
}
