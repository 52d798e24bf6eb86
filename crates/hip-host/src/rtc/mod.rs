//! hiprtc: HIP source compiled at run time by the system's C++ compiler.
//!
//! The preprocessor expands the source. Then HIP's keywords are replaced and registrations added (`rewrite`).
//! The result is compiled into a shared object, which the image contains (`image`).
#![allow(non_snake_case, reason = "hiprtc's names")]

mod attributes;
mod compiler;
mod compiler_options;
mod declaration;
mod headers;
pub(crate) mod image;
pub(crate) mod load;
pub(crate) mod lowered;
mod options;
mod precompiled;
mod program;
mod rewrite;
mod source;
mod tokens;

pub(crate) use compiler::{check as check_compiler, identity as compiler_identity};

use crate::context::current;
use hip_sys::RtcTable;
use hip_sys::provider::Handles;
use hip_sys::rtc::{hiprtcProgram, hiprtcResult};
use program::Program;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock};

/// The image of a shared object that another program compiled, with `HIPHOST_MODULE(rtc)` in its source.
/// `wave` is 32, 64, or 0 for both. `hipModuleLoadData` accepts the image.
pub fn image_of_object(wave: u32, bytes: Vec<u8>) -> Vec<u8> {
    image::pack(&[image::Object { wave, bytes }])
}

/// The kernels of an image for a device of that wave size, by name, and whether each runs as a plain loop.
/// The image is loaded and stays loaded.
///
/// # Errors
/// The error that `hipModuleLoadData` returns for it.
pub fn kernels_of(image: &[u8], wave: u32) -> Result<BTreeMap<String, bool>, hip_sys::hip::hipError_t> {
    let is_plain = |kernel: &crate::code::Kernel| matches!(kernel.code, crate::code::Code::Plain(_));
    let module = load::load(image, wave)?;
    Ok(module.kernels.iter().map(|(name, kernel)| (name.clone(), is_plain(kernel))).collect())
}

const INPUT: hiprtcResult = hiprtcResult::HIPRTC_ERROR_INVALID_INPUT;
const NO_PROGRAM: hiprtcResult = hiprtcResult::HIPRTC_ERROR_INVALID_PROGRAM;

/// The version that hiprtcVersion reports: that of the ROCm release whose functions these are.
const VERSION: (c_int, c_int) = (6, 4);

static PROGRAMS: LazyLock<Handles<Program>> = LazyLock::new(|| Handles::new(0x52));

type Outcome = Result<(), hiprtcResult>;

fn status(outcome: Outcome) -> hiprtcResult {
    outcome.err().unwrap_or(hiprtcResult::HIPRTC_SUCCESS)
}

fn program(handle: hiprtcProgram) -> Result<Arc<Program>, hiprtcResult> {
    PROGRAMS.get(handle as usize).map_err(|_| NO_PROGRAM)
}

/// Stores a result through the caller's pointer.
///
/// # Safety
/// `out` is null or writable.
unsafe fn give<T>(out: *mut T, value: T) -> Outcome {
    if out.is_null() {
        return Err(INPUT);
    }
    // SAFETY: S11: not null, and the C contract makes it writable.
    unsafe { out.write(value) };
    Ok(())
}

/// Copies bytes to the caller, who has asked for their number.
///
/// # Safety
/// `out` is null or points to enough memory for the bytes.
unsafe fn give_bytes(out: *mut c_char, bytes: &[u8]) -> Outcome {
    if out.is_null() {
        return Err(INPUT);
    }
    // SAFETY: S11: not null, and the C contract makes it large enough.
    unsafe { out.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    Ok(())
}

/// The caller's C string.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn text_of<'a>(text: *const c_char) -> Result<&'a CStr, hiprtcResult> {
    // SAFETY: S11: not null, and the C contract makes it a string.
    if text.is_null() { Err(INPUT) } else { Ok(unsafe { CStr::from_ptr(text) }) }
}

/// The caller's list of C strings; null stands for an empty one.
///
/// # Safety
/// `list` is null or has `count` entries, each null or a C string.
unsafe fn texts_of<'a>(list: *const *const c_char, count: c_int) -> Result<Vec<&'a CStr>, hiprtcResult> {
    let count = usize::try_from(count).map_err(|_| INPUT)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    if list.is_null() {
        return Err(INPUT);
    }
    // SAFETY: S11, S12: as many entries as the caller says.
    unsafe { std::slice::from_raw_parts(list, count).iter().map(|text| text_of(*text)).collect() }
}

unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> hiprtcResult {
    if major.is_null() || minor.is_null() {
        return INPUT;
    }
    // SAFETY: S11: the caller's output pointers.
    status(unsafe { give(major, VERSION.0).and_then(|()| give(minor, VERSION.1)) })
}

unsafe extern "C" fn hiprtcGetErrorString(result: hiprtcResult) -> *const c_char {
    use hiprtcResult as R;
    let name = match result {
        R::HIPRTC_SUCCESS => c"HIPRTC_SUCCESS",
        R::HIPRTC_ERROR_OUT_OF_MEMORY => c"HIPRTC_ERROR_OUT_OF_MEMORY",
        R::HIPRTC_ERROR_PROGRAM_CREATION_FAILURE => c"HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
        R::HIPRTC_ERROR_INVALID_INPUT => c"HIPRTC_ERROR_INVALID_INPUT",
        R::HIPRTC_ERROR_INVALID_PROGRAM => c"HIPRTC_ERROR_INVALID_PROGRAM",
        R::HIPRTC_ERROR_INVALID_OPTION => c"HIPRTC_ERROR_INVALID_OPTION",
        R::HIPRTC_ERROR_COMPILATION => c"HIPRTC_ERROR_COMPILATION",
        R::HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE => c"HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        R::HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION => {
            c"HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION"
        }
        R::HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION => {
            c"HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION"
        }
        R::HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID => c"HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        R::HIPRTC_ERROR_INTERNAL_ERROR => c"HIPRTC_ERROR_INTERNAL_ERROR",
        R::HIPRTC_ERROR_LINKING => c"HIPRTC_ERROR_LINKING",
        _ => c"Invalid HIPRTC error code",
    };
    name.as_ptr()
}

unsafe extern "C" fn hiprtcCreateProgram(
    out: *mut hiprtcProgram,
    source: *const c_char,
    name: *const c_char,
    header_count: c_int,
    headers: *const *const c_char,
    include_names: *const *const c_char,
) -> hiprtcResult {
    status((|| {
        if out.is_null() {
            return Err(NO_PROGRAM);
        }
        // SAFETY: S11: the caller's strings and lists of them.
        let (source, name, texts, names) = unsafe {
            let name = if name.is_null() { c"" } else { CStr::from_ptr(name) };
            (text_of(source)?, name, texts_of(headers, header_count)?, texts_of(include_names, header_count)?)
        };
        if source.is_empty() {
            return Err(INPUT);
        }
        let owned = |text: &CStr| text.to_string_lossy().into_owned();
        let headers =
            names.into_iter().zip(texts).map(|(name, text)| (owned(name), text.to_bytes().to_vec()));
        let program = Program::new(source.to_bytes().to_vec(), owned(name), headers.collect());
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, PROGRAMS.insert(Arc::new(program)) as hiprtcProgram) }
    })())
}

unsafe extern "C" fn hiprtcDestroyProgram(out: *mut hiprtcProgram) -> hiprtcResult {
    status((|| {
        if out.is_null() {
            return Err(INPUT);
        }
        // SAFETY: S11: the caller's handle.
        let handle = unsafe { out.read() };
        if !handle.is_null() {
            PROGRAMS.remove(handle as usize).map_err(|_| NO_PROGRAM)?;
        }
        // SAFETY: S11: as above.
        unsafe { give(out, null_mut()) }
    })())
}

unsafe extern "C" fn hiprtcAddNameExpression(
    handle: hiprtcProgram,
    expression: *const c_char,
) -> hiprtcResult {
    status((|| {
        let program = program(handle)?;
        // SAFETY: S11: the caller's string.
        let expression = unsafe { text_of(expression) }?.to_str().map_err(|_| INPUT)?;
        if expression.trim().is_empty() {
            return Err(INPUT);
        }
        let mut state = program.state.lock();
        if !state.image.is_empty() {
            return Err(hiprtcResult::HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
        }
        if !state.expressions.iter().any(|known| known == expression) {
            state.expressions.push(expression.to_owned());
        }
        Ok(())
    })())
}

unsafe extern "C" fn hiprtcCompileProgram(
    handle: hiprtcProgram,
    count: c_int,
    options: *const *const c_char,
) -> hiprtcResult {
    status((|| {
        let program = program(handle)?;
        // SAFETY: S11: the caller's list of strings.
        let options = unsafe { texts_of(options, count) }?;
        let options: Vec<String> = options.iter().map(|text| text.to_string_lossy().into_owned()).collect();
        match program.compile(&options, current().wave) {
            hiprtcResult::HIPRTC_SUCCESS => Ok(()),
            code => Err(code),
        }
    })())
}

unsafe extern "C" fn hiprtcGetProgramLogSize(handle: hiprtcProgram, out: *mut usize) -> hiprtcResult {
    // SAFETY: S11: the caller's output pointer.
    status(program(handle).and_then(|program| unsafe { give(out, log(&program).len()) }))
}

unsafe extern "C" fn hiprtcGetProgramLog(handle: hiprtcProgram, out: *mut c_char) -> hiprtcResult {
    // SAFETY: S11: the caller's buffer has the size that hiprtcGetProgramLogSize returned.
    status(program(handle).and_then(|program| unsafe { give_bytes(out, &log(&program)) }))
}

/// The log with its terminating zero byte; empty if there is no message, as with AMD's hiprtc.
fn log(program: &Program) -> Vec<u8> {
    let state = program.state.lock();
    if state.log.is_empty() { Vec::new() } else { [state.log.as_bytes(), b"\0"].concat() }
}

unsafe extern "C" fn hiprtcGetLoweredName(
    handle: hiprtcProgram,
    expression: *const c_char,
    out: *mut *const c_char,
) -> hiprtcResult {
    status((|| {
        let program = program(handle)?;
        // SAFETY: S11: the caller's string.
        let expression = unsafe { text_of(expression) }?.to_string_lossy();
        let state = program.state.lock();
        if state.image.is_empty() {
            return Err(hiprtcResult::HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
        }
        let name = state.names.get(expression.as_ref());
        let name = name.ok_or(hiprtcResult::HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID)?;
        // SAFETY: S11: the caller's output pointer. The name lives as long as the program.
        unsafe { give(out, name.as_ptr()) }
    })())
}

unsafe extern "C" fn hiprtcGetCodeSize(handle: hiprtcProgram, out: *mut usize) -> hiprtcResult {
    status((|| {
        let program = program(handle)?;
        let size = program.state.lock().image.len();
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, size) }
    })())
}

unsafe extern "C" fn hiprtcGetCode(handle: hiprtcProgram, out: *mut c_char) -> hiprtcResult {
    // SAFETY: S11: the caller's buffer has the size that hiprtcGetCodeSize returned.
    status(program(handle).and_then(|program| unsafe { give_bytes(out, &program.state.lock().image) }))
}

/// All functions, by name.
pub(crate) fn table() -> RtcTable {
    RtcTable {
        hiprtcVersion,
        hiprtcGetErrorString,
        hiprtcCreateProgram,
        hiprtcDestroyProgram,
        hiprtcAddNameExpression,
        hiprtcCompileProgram,
        hiprtcGetProgramLogSize,
        hiprtcGetProgramLog,
        hiprtcGetLoweredName,
        hiprtcGetCodeSize,
        hiprtcGetCode,
    }
}
