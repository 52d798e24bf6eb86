//! The suite's kernels: HIP source, which the platform's own hiprtc compiles.

use crate::case::Failure;
use crate::cases::kernels;
use hip_sys::rtc::{hiprtcProgram, hiprtcResult};
use hip_sys::{Platform, RtcTable};
use std::ffi::{CStr, CString, c_char};
use std::ptr::null_mut;

/// The sources for cases about the host side, by name. Those for cases about kernels are listed with their
/// cases.
const SOURCES: &[(&str, &str)] = &[("basic", include_str!("../kernels/basic.hip"))];

/// An environment variable with additional options for hiprtc, for installations that need them.
const RTC_OPTIONS: &str = "HIPSTACK_CONFORMANCE_RTC_OPTIONS";

/// The code of `kernels/NAME.hip` for an architecture, as `hipModuleLoadData` accepts it.
pub(crate) fn compile(platform: &Platform, name: &str, arch: &str) -> Result<Vec<u8>, Failure> {
    let (_, source) = SOURCES
        .iter()
        .chain(kernels::SOURCES)
        .find(|(known, _)| *known == name)
        .ok_or_else(|| Failure::wrong(format!("no kernels/{name}.hip is listed")))?;
    let rtc = platform.rtc().map_err(|missing| Failure::wrong(format!("hiprtc: {missing}")))?;
    let mut options = vec![format!("--offload-arch={arch}")];
    let more = std::env::var(RTC_OPTIONS).unwrap_or_default();
    options.extend(more.split_whitespace().map(str::to_owned));
    compile_text(rtc, source, &format!("{name}.hip"), &options)
}

/// Compiles a source; the error contains the compiler's log.
pub(crate) fn compile_text(
    rtc: &RtcTable,
    source: &str,
    name: &str,
    options: &[String],
) -> Result<Vec<u8>, Failure> {
    let c_string = |text: &str| CString::new(text).expect("a text without a zero byte");
    let (source, name_c) = (c_string(source), c_string(name));
    let options: Vec<CString> = options.iter().map(|option| c_string(option)).collect();
    let mut list: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program = Program { rtc, raw: null_mut() };
    // SAFETY: S1: live C strings and output pointers; the program is destroyed by its owner.
    unsafe {
        let none = null_mut();
        let status =
            (rtc.hiprtcCreateProgram)(&mut program.raw, source.as_ptr(), name_c.as_ptr(), 0, none, none);
        check(rtc, status, "hiprtcCreateProgram", name)?;
        let status = (rtc.hiprtcCompileProgram)(program.raw, list.len() as i32, list.as_mut_ptr());
        if status != hiprtcResult::HIPRTC_SUCCESS {
            let log = program.log();
            return Err(Failure::wrong(format!("{name} does not compile: {log}")));
        }
        let mut size = 0;
        check(rtc, (rtc.hiprtcGetCodeSize)(program.raw, &mut size), "hiprtcGetCodeSize", name)?;
        let mut code = vec![0_u8; size];
        check(rtc, (rtc.hiprtcGetCode)(program.raw, code.as_mut_ptr().cast()), "hiprtcGetCode", name)?;
        Ok(code)
    }
}

/// A program that is destroyed when it is dropped.
struct Program<'r> {
    rtc: &'r RtcTable,
    raw: hiprtcProgram,
}

impl Program<'_> {
    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: S1: the program is alive; the buffer has the size that was returned, and a zero byte after
        // it.
        unsafe {
            if (self.rtc.hiprtcGetProgramLogSize)(self.raw, &mut size) != hiprtcResult::HIPRTC_SUCCESS {
                return "it gave no log".into();
            }
            let mut log = vec![0_u8; size + 1];
            (self.rtc.hiprtcGetProgramLog)(self.raw, log.as_mut_ptr().cast());
            CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy().trim().to_owned()
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: S4: our own program.
            unsafe { (self.rtc.hiprtcDestroyProgram)(&mut self.raw) };
        }
    }
}

#[track_caller]
fn check(rtc: &RtcTable, status: hiprtcResult, call: &str, name: &str) -> Result<(), Failure> {
    if status == hiprtcResult::HIPRTC_SUCCESS {
        return Ok(());
    }
    // SAFETY: S1: the text is a static C string, or null.
    let text = unsafe {
        let text = (rtc.hiprtcGetErrorString)(status);
        if text.is_null() { "unknown".into() } else { CStr::from_ptr(text).to_string_lossy() }
    };
    Err(Failure::wrong(format!("{call} for {name}: {text} ({})", status.0)))
}
