//! hiprtc's functions.
#![allow(non_snake_case, reason = "HIP's names")]

use super::library::{Raw, nvrtc};
use super::options::translate;
use crate::context;
use cudarc::driver::sys::CUdevice_attribute_enum as A;
use hip_sys::provider::Handles;
use hip_sys::rtc::{hiprtcProgram, hiprtcResult};
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// A program. Calls of NVRTC on one program must not run concurrently.
struct Program {
    raw: parking_lot::Mutex<Shared>,
    /// Whether its code is a cubin; otherwise it is PTX.
    cubin: AtomicBool,
}

struct Shared(Raw);
// SAFETY: S8: used under the lock.
unsafe impl Send for Shared {}

static PROGRAMS: LazyLock<Handles<Program>> = LazyLock::new(|| Handles::new(0x30));

const INPUT: hiprtcResult = hiprtcResult::HIPRTC_ERROR_INVALID_INPUT;
const SUCCESS: hiprtcResult = hiprtcResult::HIPRTC_SUCCESS;

/// The contents of `<hip/hip_runtime.h>` here.
const RUNTIME_HEADER: &CStr =
    match CStr::from_bytes_with_nul(concat!(include_str!("../../include/hip_runtime.h"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the header has no zero byte"),
    };
const RUNTIME_NAME: &CStr = c"hip/hip_runtime.h";
/// The contents of `<hip/hip_cooperative_groups.h>` here.
const GROUPS_HEADER: &CStr = c"#include <cooperative_groups.h>\n";
const GROUPS_NAME: &CStr = c"hip/hip_cooperative_groups.h";

type Answer = Result<(), hiprtcResult>;

fn check(result: hiprtcResult) -> Answer {
    if result == SUCCESS { Ok(()) } else { Err(result) }
}

fn result(answer: Answer) -> hiprtcResult {
    answer.err().unwrap_or(SUCCESS)
}

fn program_of(handle: hiprtcProgram) -> Result<Arc<Program>, hiprtcResult> {
    PROGRAMS.get(handle as usize).map_err(|_| hiprtcResult::HIPRTC_ERROR_INVALID_PROGRAM)
}

fn check_not_null<T>(out: *const T) -> Answer {
    if out.is_null() { Err(INPUT) } else { Ok(()) }
}

pub(super) unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> hiprtcResult {
    // SAFETY: S11: the caller's output pointers.
    result(
        check_not_null(major)
            .and_then(|()| check_not_null(minor))
            .and_then(|()| check(unsafe { (nvrtc().nvrtcVersion)(major, minor) })),
    )
}

pub(super) unsafe extern "C" fn hiprtcGetErrorString(error: hiprtcResult) -> *const c_char {
    // SAFETY: S1: a number.
    unsafe { (nvrtc().nvrtcGetErrorString)(error) }
}

pub(super) unsafe extern "C" fn hiprtcCreateProgram(
    out: *mut hiprtcProgram,
    source: *const c_char,
    name: *const c_char,
    count: c_int,
    headers: *const *const c_char,
    names: *const *const c_char,
) -> hiprtcResult {
    result((|| {
        check_not_null(out)?;
        check_not_null(source)?;
        let count = usize::try_from(count).map_err(|_| INPUT)?;
        if count > 0 {
            check_not_null(headers)?;
            check_not_null(names)?;
        }
        let list = |list: *const *const c_char| match count {
            0 => Vec::new(),
            // SAFETY: S11: the caller's lists have `count` C strings each.
            _ => unsafe { std::slice::from_raw_parts(list, count) }.to_vec(),
        };
        let (mut texts, mut includes) = (list(headers), list(names));
        // The program's own headers with these names take precedence.
        texts.push(RUNTIME_HEADER.as_ptr());
        includes.push(RUNTIME_NAME.as_ptr());
        texts.push(GROUPS_HEADER.as_ptr());
        includes.push(GROUPS_NAME.as_ptr());
        let mut raw = null_mut();
        // SAFETY: S1, S11: a live output pointer and C strings, which NVRTC copies.
        check(unsafe {
            (nvrtc().nvrtcCreateProgram)(
                &mut raw,
                source,
                name,
                texts.len() as c_int,
                texts.as_ptr(),
                includes.as_ptr(),
            )
        })?;
        let program = Program { raw: parking_lot::Mutex::new(Shared(raw)), cubin: AtomicBool::new(false) };
        // SAFETY: S11: the caller's output pointer.
        unsafe { out.write(PROGRAMS.insert(Arc::new(program)) as hiprtcProgram) };
        Ok(())
    })())
}

pub(super) unsafe extern "C" fn hiprtcDestroyProgram(out: *mut hiprtcProgram) -> hiprtcResult {
    result((|| {
        check_not_null(out)?;
        // SAFETY: S11: the caller's pointer to a handle.
        let handle = unsafe { out.read() };
        let program =
            PROGRAMS.remove(handle as usize).map_err(|_| hiprtcResult::HIPRTC_ERROR_INVALID_PROGRAM)?;
        let mut raw = program.raw.lock();
        // SAFETY: S11: it was live and its handle is removed; another thread that still holds it waits for
        // the lock and finds null.
        check(unsafe { (nvrtc().nvrtcDestroyProgram)(&mut raw.0) })?;
        // SAFETY: S11: the caller's pointer.
        unsafe { out.write(null_mut()) };
        Ok(())
    })())
}

pub(super) unsafe extern "C" fn hiprtcAddNameExpression(
    program: hiprtcProgram,
    expression: *const c_char,
) -> hiprtcResult {
    result((|| {
        let program = program_of(program)?;
        check_not_null(expression)?;
        // SAFETY: S11: a live program and the caller's C string.
        check(unsafe { (nvrtc().nvrtcAddNameExpression)(program.raw.lock().0, expression) })
    })())
}

/// Include directories of a CUDA toolkit, if there is one: some headers, such as cooperative_groups.h, are
/// not part of NVRTC. Since CUDA 13 they include others from a directory of their own.
fn toolkit_headers() -> Vec<PathBuf> {
    let named = std::env::var_os("CUDA_PATH").map(PathBuf::from);
    let roots = named.into_iter().chain([PathBuf::from("/usr/local/cuda")]);
    let found = roots.map(|root| root.join("include")).find(|folder| folder.join("cuda.h").exists());
    found
        .into_iter()
        .flat_map(|folder| [folder.join("cccl"), folder])
        .filter(|folder| folder.is_dir())
        .collect()
}

/// The architecture of the current device, e.g. "sm_90"; `None` if there is no device.
fn device_arch() -> Option<String> {
    let device = context::current().ok()?;
    let get = |attribute: A| {
        let mut value = 0;
        // SAFETY: S1: a live output pointer.
        let code =
            unsafe { (context::driver().cuDeviceGetAttribute)(&mut value, attribute as u32, device.handle) };
        (code == 0).then_some(value)
    };
    let major = get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    Some(format!("sm_{major}{}", get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?))
}

pub(super) unsafe extern "C" fn hiprtcCompileProgram(
    program: hiprtcProgram,
    count: c_int,
    options: *const *const c_char,
) -> hiprtcResult {
    result((|| {
        let program = program_of(program)?;
        let count = usize::try_from(count).map_err(|_| INPUT)?;
        let mut given = Vec::with_capacity(count);
        for index in 0..count {
            check_not_null(options)?;
            // SAFETY: S11: the caller's list has `count` C strings.
            given.push(unsafe { CStr::from_ptr(*options.add(index)) }.to_string_lossy().into_owned());
        }
        let mut translated = translate(&given, device_arch().as_deref());
        translated
            .options
            .extend(toolkit_headers().iter().map(|folder| format!("--include-path={}", folder.display())));
        let strings: Result<Vec<_>, _> = translated.options.into_iter().map(CString::new).collect();
        let strings = strings.map_err(|_| hiprtcResult::HIPRTC_ERROR_INVALID_OPTION)?;
        let pointers: Vec<_> = strings.iter().map(|text| text.as_ptr()).collect();
        program.cubin.store(translated.cubin, Ordering::Relaxed);
        // SAFETY: S11: a live program and live C strings.
        check(unsafe {
            (nvrtc().nvrtcCompileProgram)(program.raw.lock().0, pointers.len() as c_int, pointers.as_ptr())
        })
    })())
}

pub(super) unsafe extern "C" fn hiprtcGetProgramLogSize(
    program: hiprtcProgram,
    size: *mut usize,
) -> hiprtcResult {
    result(program_of(program).and_then(|program| {
        check_not_null(size)?;
        // SAFETY: S11: a live program and the caller's output pointer.
        check(unsafe { (nvrtc().nvrtcGetProgramLogSize)(program.raw.lock().0, size) })
    }))
}

pub(super) unsafe extern "C" fn hiprtcGetProgramLog(
    program: hiprtcProgram,
    log: *mut c_char,
) -> hiprtcResult {
    result(program_of(program).and_then(|program| {
        check_not_null(log)?;
        // SAFETY: S11: a live program; the caller's buffer is as long as the size that was returned.
        check(unsafe { (nvrtc().nvrtcGetProgramLog)(program.raw.lock().0, log) })
    }))
}

pub(super) unsafe extern "C" fn hiprtcGetLoweredName(
    program: hiprtcProgram,
    expression: *const c_char,
    name: *mut *const c_char,
) -> hiprtcResult {
    result(program_of(program).and_then(|program| {
        check_not_null(expression)?;
        check_not_null(name)?;
        // SAFETY: S11: a live program, the caller's C string and output pointer.
        check(unsafe { (nvrtc().nvrtcGetLoweredName)(program.raw.lock().0, expression, name) })
    }))
}

pub(super) unsafe extern "C" fn hiprtcGetCodeSize(program: hiprtcProgram, size: *mut usize) -> hiprtcResult {
    result(program_of(program).and_then(|program| {
        check_not_null(size)?;
        let cubin = program.cubin.load(Ordering::Relaxed);
        let ask = if cubin { nvrtc().nvrtcGetCUBINSize } else { nvrtc().nvrtcGetPTXSize };
        // SAFETY: S11: a live program and the caller's output pointer. The size of PTX includes its zero
        // byte.
        check(unsafe { ask(program.raw.lock().0, size) })
    }))
}

pub(super) unsafe extern "C" fn hiprtcGetCode(program: hiprtcProgram, code: *mut c_char) -> hiprtcResult {
    result(program_of(program).and_then(|program| {
        check_not_null(code)?;
        let cubin = program.cubin.load(Ordering::Relaxed);
        let get = if cubin { nvrtc().nvrtcGetCUBIN } else { nvrtc().nvrtcGetPTX };
        // SAFETY: S11: a live program; the caller's buffer is as long as the size that was returned.
        check(unsafe { get(program.raw.lock().0, code) })
    }))
}
