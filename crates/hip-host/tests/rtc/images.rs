//! The images that hiprtcGetCode returns: stored, moved, loaded elsewhere, truncated and changed.

use crate::common::apart::{again, role};
use crate::common::{Hip, hip, shape};
use crate::program::Program;
use hip_sys::hip::*;
use std::ffi::CString;
use std::io::Write;
use std::path::Path;
use std::ptr::null_mut;

const TEXT: &str = r#"
    #include <hip/hip_runtime.h>
    extern "C" __global__ void tell(int* out, int add) { out[threadIdx.x] = warpSize + add + threadIdx.x; }"#;

/// What the kernel `tell` writes with two threads.
fn tell(hip: &Hip, module: hipModule_t, add: i32) -> Vec<i32> {
    let out = hip.zeros::<i32>(2);
    let (mut to, mut add) = (out.pointer, add);
    hip.launch(hip.find(module, "tell"), shape(1, 2), null_mut(), arguments![to, add]);
    hip.sync();
    out.read()
}

fn load_code(hip: &Hip, image: *const u8) -> u32 {
    let mut module = null_mut();
    let code = call!(hip, hipModuleLoadData(&mut module, image.cast()));
    call!(hip, hipGetLastError());
    code
}

fn load_file(hip: &Hip, path: &Path) -> (u32, hipModule_t) {
    let (mut module, path) = (null_mut(), CString::new(path.to_str().expect("UTF-8")).expect("no zero byte"));
    let code = call!(hip, hipModuleLoad(&mut module, path.as_ptr()));
    call!(hip, hipGetLastError());
    (code, module)
}

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary folder");
    file.write_all(bytes).expect("writable");
    file
}

#[test]
fn another_process_loads_it_from_a_file() {
    let hip = hip();
    if let Some(path) = role() {
        let (code, module) = load_file(&hip, Path::new(&path));
        assert_eq!((code, tell(&hip, module, 5)), (0, vec![37, 38]));
        println!("loaded elsewhere");
        return;
    }
    let file = file_of(&Program::new(TEXT).compile(&[]));
    drop(hip);
    let path = file.path().to_str().expect("UTF-8");
    // No compiler is available, so the process depends on the image alone.
    let variables = [("PATH", ""), ("CXX", "/nothing/there")];
    let left = again("images::another_process_loads_it_from_a_file", path, &variables);
    assert!(left.success && left.output.contains("loaded elsewhere"), "{}{}", left.output, left.text);
}

#[test]
fn an_image_is_for_the_architectures_that_it_was_compiled_for() {
    let hip = hip();
    let program = Program::new(TEXT);
    let wide = program.compile(&["--offload-arch=host-w64"]);
    assert_eq!(load_code(&hip, wide.as_ptr()), 209);
    let both = program.compile(&["--offload-arch=host-w32", "--offload-arch=host-w64"]);
    assert_eq!(tell(&hip, hip.load(&both), 0), [32, 33]);
    ok!(hip, hipSetDevice(1));
    assert_eq!(tell(&hip, hip.load(&both), 0), [64, 65]);
    assert_eq!(tell(&hip, hip.load(&wide), 1), [65, 66]);
    // Without an architecture the code is for the current device.
    let current = program.compile(&[]);
    assert_eq!(tell(&hip, hip.load(&current), 2), [66, 67]);
    ok!(hip, hipSetDevice(0));
    assert_eq!(load_code(&hip, current.as_ptr()), 209);
}

#[test]
fn the_architecture_is_the_name_in_the_properties() {
    let hip = hip();
    for device in [0, 1] {
        let mut properties = hipDeviceProp_tR0600::default();
        assert_eq!(call_optional!(hip, hipGetDevicePropertiesR0600(&mut properties, device)), 0);
        let name: String =
            properties.gcnArchName.iter().take_while(|c| **c != 0).map(|c| *c as u8 as char).collect();
        Program::new(TEXT).compile(&[&format!("--offload-arch={name}")]);
        Program::new(TEXT).compile(&["--gpu-architecture", &name]);
    }
}

#[test]
fn truncated_or_changed_images_are_refused() {
    let hip = hip();
    let image = Program::new(TEXT).compile(&[]);
    for length in [0, 7, 8, 15, 16, 31, 32, 64, image.len() / 2, image.len() - 1] {
        assert_eq!(load_file(&hip, file_of(&image[..length]).path()).0, 200, "{length} bytes");
    }
    let longer = [&image[..], b"x"].concat();
    assert_eq!(load_file(&hip, file_of(&longer).path()).0, 200);
    // Byte 8 is the lowest byte of the length, which decides how much is read, so there is memory after the
    // image.
    for at in [8, 16, 24, 28, 32, 40, image.len() / 2, image.len() - 1] {
        let mut changed = image.clone();
        changed[at] ^= 0x10;
        changed.resize(image.len() + 64, 0);
        assert_eq!(load_code(&hip, changed.as_ptr()), 200, "byte {at}");
    }
    assert_eq!(load_file(&hip, file_of(&image).path()).0, 0);
    // An endless file is not read to its end.
    assert_eq!(load_file(&hip, Path::new("/dev/zero")).0, 200);
}

#[test]
fn memory_that_ends_before_the_image_is_no_fault() {
    let hip = hip();
    let image = Program::new(TEXT).compile(&[]);
    let pages = image.len().div_ceil(4096) * 4096;
    // SAFETY: S1: a new mapping, of which the last page is made unreadable.
    let start = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let start =
            libc::mmap(null_mut(), pages + 4096, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        assert_ne!(start, libc::MAP_FAILED);
        assert_eq!(libc::mprotect(start.byte_add(pages), 4096, libc::PROT_NONE), 0);
        start.cast::<u8>()
    };
    for length in [8, 15, 16, 17, 32, 4096, image.len() - 1] {
        // SAFETY: S12: the bytes end where the readable pages do.
        let copy = unsafe {
            let copy = start.add(pages - length);
            copy.copy_from_nonoverlapping(image.as_ptr(), length);
            copy
        };
        assert_eq!(load_code(&hip, copy), 200, "{length} bytes");
    }
    // SAFETY: S1: the mapping made above.
    assert_eq!(unsafe { libc::munmap(start.cast(), pages + 4096) }, 0);
}

#[test]
fn loading_and_unloading_many_times() {
    let hip = hip();
    let image = Program::new(TEXT).compile(&[]);
    let first = hip.load(&image);
    for round in 0..500 {
        let module = hip.load(&image);
        if round % 100 == 0 {
            assert_eq!(tell(&hip, module, round), [32 + round, 33 + round]);
        }
        ok!(hip, hipModuleUnload(module));
    }
    // Unloading a module leaves the others alone.
    assert_eq!(tell(&hip, first, 0), [32, 33]);
    ok!(hip, hipModuleUnload(first));
    let mut function = null_mut();
    assert_eq!(call!(hip, hipModuleGetFunction(&mut function, first, c"tell".as_ptr())), 400);
    call!(hip, hipGetLastError());
}

#[test]
fn threads_compile_at_once() {
    let hip = hip();
    let compile = |number: i32| {
        let text = format!(
            "extern \"C\" __global__ void tell(int* out, int add) {{ out[threadIdx.x] = {number} + add; }}"
        );
        (number, Program::new(&text).compile(&[]))
    };
    let images: Vec<(i32, Vec<u8>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|number| scope.spawn(move || compile(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    for (number, image) in images {
        assert_eq!(tell(&hip, hip.load(&image), 10), [number + 10; 2]);
    }
}

#[test]
fn threads_compile_one_program_at_once() {
    let hip = hip();
    let program = Program::new(TEXT);
    let handle = program.0 as usize;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                assert_eq!(
                    rtc!(hiprtcCompileProgram(handle as hip_sys::rtc::hiprtcProgram, 0, null_mut())),
                    0
                );
            });
        }
    });
    let mut size = 0;
    assert_eq!(rtc!(hiprtcGetCodeSize(program.0, &mut size)), 0);
    let mut image = vec![0_u8; size];
    assert_eq!(rtc!(hiprtcGetCode(program.0, image.as_mut_ptr().cast())), 0);
    assert_eq!(tell(&hip, hip.load(&image), 0), [32, 33]);
}

#[test]
fn a_path_that_is_no_regular_file_is_an_error_without_waiting() {
    let hip = hip();
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(load_file(&hip, folder.path()).0, 200);
    let pipe = folder.path().join("pipe");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        // Nobody writes to the pipe.
        assert_eq!(load_file(&hip, &pipe).0, 200);
    }
}
