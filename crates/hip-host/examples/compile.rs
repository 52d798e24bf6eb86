//! Compiles HIP files with hip-host's hiprtc, and lists the kernels of each:
//!
//! ```sh
//! cargo run -p hipstack-hip-host --example compile -- kernels.hip other.hip -Iinclude -DN=4 --name=scale<float>
//! ```
//!
//! Arguments that begin with a minus are options of hiprtcCompileProgram, except `--name=`, which adds a name
//! expression, and `--image=`, a file that the last image is written to.

use hip_sys::RtcTable;
use hip_sys::rtc::{hiprtcProgram, hiprtcResult};
use std::ffi::{CString, c_char};
use std::process::ExitCode;
use std::ptr::null_mut;

fn main() -> ExitCode {
    let (options, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|text| text.starts_with('-'));
    let (names, options): (Vec<String>, Vec<String>) =
        options.into_iter().partition(|text| text.starts_with("--name="));
    let (images, options): (Vec<String>, Vec<String>) =
        options.into_iter().partition(|text| text.starts_with("--image="));
    let platform = hip_host::platform();
    let table = platform.rtc().expect("hip-host has hiprtc");
    let mut failed = 0;
    for file in &files {
        let outcome = std::fs::read_to_string(file).map_err(|error| error.to_string());
        let outcome = outcome.and_then(|text| compile(table, file, &text, &names, &options));
        let outcome = outcome.and_then(|image| {
            for file in images.iter().filter_map(|text| text.strip_prefix("--image=")) {
                std::fs::write(file, &image).map_err(|error| format!("{file}: {error}\n"))?;
            }
            hip_host::kernels_of(&image, 32)
                .map_err(|code| format!("it cannot be loaded: error {}\n", code.0))
        });
        match outcome {
            Ok(kernels) => {
                println!("{file}: {} kernels", kernels.len());
                kernels.keys().for_each(|name| println!("    {name}"));
            }
            Err(log) => {
                println!("{file}: failed\n{log}");
                failed += 1;
            }
        }
    }
    println!("{} of {} files compiled", files.len() - failed, files.len());
    ExitCode::from(u8::from(failed != 0))
}

/// The image of a source, or the log.
fn compile(
    table: &RtcTable,
    file: &str,
    text: &str,
    names: &[String],
    options: &[String],
) -> Result<Vec<u8>, String> {
    let c = |text: &str| CString::new(text).map_err(|_| "a zero byte in the text or an option\n".to_owned());
    let (text, file) = (c(text)?, c(file)?);
    let options = options.iter().map(|option| c(option)).collect::<Result<Vec<_>, _>>()?;
    let mut list: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program: hiprtcProgram = null_mut();
    let ok =
        |code: hiprtcResult| if code.0 == 0 { Ok(()) } else { Err(format!("hiprtc's error {}\n", code.0)) };
    // SAFETY: S1, S11: live strings and output pointers; empty lists of headers.
    ok(unsafe {
        (table.hiprtcCreateProgram)(&mut program, text.as_ptr(), file.as_ptr(), 0, null_mut(), null_mut())
    })?;
    for name in names {
        let name = c(name.trim_start_matches("--name="))?;
        // SAFETY: S1, S11: the program is alive, the string too.
        ok(unsafe { (table.hiprtcAddNameExpression)(program, name.as_ptr()) })?;
    }
    // SAFETY: S1, S11: the list has the given length, and all options are alive.
    let compiled = unsafe { (table.hiprtcCompileProgram)(program, list.len() as i32, list.as_mut_ptr()) };
    let (mut size, mut bytes) = (0, Vec::new());
    // SAFETY: S1, S11: the size is queried first, and the buffer has that size.
    unsafe {
        if compiled.0 == 0 {
            ok((table.hiprtcGetCodeSize)(program, &mut size))?;
            bytes.resize(size, 0_u8);
            ok((table.hiprtcGetCode)(program, bytes.as_mut_ptr().cast()))?;
        } else {
            ok((table.hiprtcGetProgramLogSize)(program, &mut size))?;
            bytes.resize(size, 0_u8);
            ok((table.hiprtcGetProgramLog)(program, bytes.as_mut_ptr().cast()))?;
        }
        ok((table.hiprtcDestroyProgram)(&mut program))?;
    }
    if compiled.0 == 0 {
        Ok(bytes)
    } else {
        Err(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
    }
}
