//! Wrong calls, invalid sources and machines that cannot compile: the code, and a log that says what to do.

use crate::common::apart::{again, role};
use crate::common::{hip, shape};
use crate::program::{Program, kernel};
use std::ffi::{CString, c_char};
use std::path::Path;
use std::ptr::{null, null_mut};

const INPUT: u32 = 3;
const PROGRAM: u32 = 4;
const OPTION: u32 = 5;
const COMPILATION: u32 = 6;
const TOO_LATE: u32 = 8;
const TOO_EARLY: u32 = 9;
const NAME: u32 = 10;

const GOOD: &str = "extern \"C\" __global__ void good(int* out) { *out = 1; }";

#[test]
fn handles_of_no_program_are_refused() {
    let none = null_mut();
    let (mut size, mut name, mut log) = (0, null(), [0 as c_char; 8]);
    let log = log.as_mut_ptr();
    for handle in [none, 0x10 as *mut _, {
        let mut p = Program::new(GOOD);
        let h = p.0;
        rtc!(hiprtcDestroyProgram(&mut p.0));
        h
    }] {
        assert_eq!(rtc!(hiprtcCompileProgram(handle, 0, null_mut())), PROGRAM);
        assert_eq!(rtc!(hiprtcGetProgramLogSize(handle, &mut size)), PROGRAM);
        assert_eq!(rtc!(hiprtcGetProgramLog(handle, log)), PROGRAM);
        assert_eq!(rtc!(hiprtcGetCodeSize(handle, &mut size)), PROGRAM);
        assert_eq!(rtc!(hiprtcGetCode(handle, log)), PROGRAM);
        assert_eq!(rtc!(hiprtcAddNameExpression(handle, c"k".as_ptr())), PROGRAM);
        assert_eq!(rtc!(hiprtcGetLoweredName(handle, c"k".as_ptr(), &mut name)), PROGRAM);
    }
    assert_eq!(rtc!(hiprtcDestroyProgram(null_mut())), INPUT);
    // AMD's hiprtc treats a null handle as one that was destroyed.
    let mut empty = null_mut();
    assert_eq!(rtc!(hiprtcDestroyProgram(&mut empty)), 0);
    let mut stale = 0x10 as *mut _;
    assert_eq!(rtc!(hiprtcDestroyProgram(&mut stale)), PROGRAM);
}

#[test]
fn wrong_arguments_of_create_program_are_refused() {
    let (text, name, mut program) = (CString::new(GOOD).expect("no zero byte"), c"n".as_ptr(), null_mut());
    let text = text.as_ptr();
    let none = null_mut();
    assert_eq!(rtc!(hiprtcCreateProgram(null_mut(), text, name, 0, none, none)), PROGRAM);
    assert_eq!(rtc!(hiprtcCreateProgram(&mut program, null(), name, 0, none, none)), INPUT);
    assert_eq!(rtc!(hiprtcCreateProgram(&mut program, c"".as_ptr(), name, 0, none, none)), INPUT);
    assert_eq!(rtc!(hiprtcCreateProgram(&mut program, text, name, -1, none, none)), INPUT);
    assert_eq!(rtc!(hiprtcCreateProgram(&mut program, text, name, 1, none, none)), INPUT);
    let mut one = [text];
    let mut hole = [null::<c_char>()];
    let (one, hole) = (one.as_mut_ptr(), hole.as_mut_ptr());
    assert_eq!(rtc!(hiprtcCreateProgram(&mut program, text, name, 1, one, none)), INPUT);
    assert_eq!(rtc!(hiprtcCreateProgram(&mut program, text, name, 1, none, one)), INPUT);
    assert_eq!(rtc!(hiprtcCreateProgram(&mut program, text, name, 1, hole, one)), INPUT);
    assert!(program.is_null());
    // A name is optional, and lists are not read if their count is 0.
    assert_eq!(rtc!(hiprtcCreateProgram(&mut program, text, null(), 0, one, one)), 0);
    assert_eq!(rtc!(hiprtcDestroyProgram(&mut program)), 0);
    assert!(program.is_null());
}

#[test]
fn null_output_pointers_are_refused() {
    let program = Program::new(GOOD);
    program.expect_name("good");
    program.compile(&[]);
    assert_eq!(rtc!(hiprtcGetCodeSize(program.0, null_mut())), INPUT);
    assert_eq!(rtc!(hiprtcGetCode(program.0, null_mut())), INPUT);
    assert_eq!(rtc!(hiprtcGetProgramLogSize(program.0, null_mut())), INPUT);
    assert_eq!(rtc!(hiprtcGetProgramLog(program.0, null_mut())), INPUT);
    assert_eq!(rtc!(hiprtcGetLoweredName(program.0, c"good".as_ptr(), null_mut())), INPUT);
    let mut name = null();
    assert_eq!(rtc!(hiprtcGetLoweredName(program.0, null(), &mut name)), INPUT);
    let mut number = 0;
    assert_eq!(rtc!(hiprtcVersion(null_mut(), &mut number)), INPUT);
    assert_eq!(rtc!(hiprtcVersion(&mut number, null_mut())), INPUT);
    let mut hole = [null::<c_char>()];
    assert_eq!(rtc!(hiprtcCompileProgram(program.0, 1, hole.as_mut_ptr())), INPUT);
    assert_eq!(rtc!(hiprtcCompileProgram(program.0, 1, null_mut())), INPUT);
    assert_eq!(rtc!(hiprtcCompileProgram(program.0, -1, null_mut())), INPUT);
}

#[test]
fn names_come_before_compilation_and_lowered_names_after_it() {
    let program = Program::new(GOOD);
    let mut name = null();
    assert_eq!(rtc!(hiprtcAddNameExpression(program.0, null())), INPUT);
    assert_eq!(rtc!(hiprtcAddNameExpression(program.0, c"".as_ptr())), INPUT);
    assert_eq!(rtc!(hiprtcAddNameExpression(program.0, c" good".as_ptr())), 0);
    assert_eq!(rtc!(hiprtcAddNameExpression(program.0, c" good".as_ptr())), 0);
    assert_eq!(rtc!(hiprtcGetLoweredName(program.0, c" good".as_ptr(), &mut name)), TOO_EARLY);
    // Before compilation there is no code and no log.
    let mut size = 7;
    assert_eq!((rtc!(hiprtcGetCodeSize(program.0, &mut size)), size), (0, 0));
    assert_eq!((rtc!(hiprtcGetProgramLogSize(program.0, &mut size)), size), (0, 0));
    program.compile(&[]);
    assert_eq!(program.lowered(" good"), "good");
    assert_eq!(rtc!(hiprtcGetLoweredName(program.0, c"good".as_ptr(), &mut name)), NAME);
    assert_eq!(rtc!(hiprtcAddNameExpression(program.0, c"other".as_ptr())), TOO_LATE);
}

#[test]
fn a_name_that_the_text_lacks_is_named_in_the_log() {
    let program = Program::new(GOOD);
    program.expect_name("ns::missing<float>");
    assert_eq!(program.try_compile(&[]), COMPILATION);
    let log = program.log();
    assert!(log.contains("name expression ns::missing<float>") && log.contains("error"), "{log}");
}

#[test]
fn a_kernel_that_nobody_could_find_is_an_error_with_its_line() {
    let text =
        "#include \"part.h\"\nstruct {\n    static __global__ void k(int* out) { *out = 1; }\n} unnamed;";
    let program = Program::with_headers(text, "lost.hip", &[("part.h", "int of_part;\n\n")]);
    assert_eq!(program.try_compile(&[]), COMPILATION);
    let log = program.log();
    assert!(log.contains("lost.hip:3: error:") && log.contains("__global__ void name(parameters)"), "{log}");
    // In invalid C++ the compiler's own error comes first.
    let program = Program::with_headers("void f( { __global__ void k() {} }", "broken.hip", &[]);
    assert_eq!(program.try_compile(&[]), COMPILATION);
    assert!(program.log().contains("broken.hip:1:"), "{}", program.log());
}

#[test]
fn an_error_names_its_file_and_line() {
    let hip = hip();
    let text = "#include \"part.h\"\nextern \"C\" __global__ void k(int* out) {\n#ifndef FIXED\n    *out = wrong;\n#else\n    *out = VALUE;\n#endif\n}";
    let program = Program::with_headers(text, "shaders/my kernel.hip", &[("part.h", "#define VALUE 6\n")]);
    assert_eq!(program.try_compile(&[]), COMPILATION);
    let log = program.log();
    assert!(log.contains("shaders/my kernel.hip:4:"), "{log}");
    // The log quotes the line itself.
    assert!(log.contains("*out = wrong;") && !log.contains("hiphost_program"), "{log}");
    let mut size = 1;
    assert_eq!((rtc!(hiprtcGetCodeSize(program.0, &mut size)), size), (0, 0));
    // With another option the same program compiles, and its log is empty.
    let module = hip.load(&program.compile(&["-DFIXED"]));
    assert_eq!(program.log(), "");
    let out = hip.zeros::<i32>(1);
    let mut to = out.pointer;
    hip.launch(hip.find(module, "k"), shape(1, 1), null_mut(), arguments![to]);
    hip.sync();
    assert_eq!(out.read(), [6]);
}

#[test]
fn an_error_in_a_header_names_the_header() {
    let headers = [("lib/inner.h", "\n\nint broken(;\n"), ("outer.h", "#include <lib/inner.h>\n")];
    let program = Program::with_headers("#include \"outer.h\"\n", "k.hip", &headers);
    assert_eq!(program.try_compile(&[]), COMPILATION);
    let log = program.log();
    assert!(log.contains("lib/inner.h:3:"), "{log}");
}

#[test]
fn warnings_are_in_the_log_of_a_success() {
    let program = Program::new("#warning take care\nextern \"C\" __global__ void k() {}");
    program.compile(&[]);
    let log = program.log();
    assert!(log.contains("kernel.hip:1:") && log.contains("take care"), "{log}");
}

#[test]
fn options_that_are_wrong_are_named() {
    let program = Program::new(GOOD);
    for (option, named) in [
        ("--nonsense", "--nonsense"),
        ("--offload-arch=gfx90a", "gfx90a"),
        ("--offload-arch=host-w16", "host-w16"),
        ("-fno-such-flag", "-fno-such-flag"),
        ("-fplugin=/tmp/any.so", "-fplugin=/tmp/any.so"),
        ("-Wl,-rpath,/tmp", "-Wl,-rpath,/tmp"),
        ("@/tmp/options", "@/tmp/options"),
        ("-I", "-I"),
    ] {
        assert_eq!(program.try_compile(&[option]), OPTION, "{option}: {}", program.log());
        let log = program.log();
        assert!(log.contains(named), "{log}");
    }
    program.compile(&[]);
}

#[test]
fn options_reach_the_compiler() {
    let hip = hip();
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("found.h"), "#define FOUND 1000\n").expect("writable");
    let text = "#include <found.h>\n\
        #ifdef GONE\n#error GONE is defined\n#endif\n\
        static_assert(__cplusplus > 201703L, \"C++20\");\n\
        extern \"C\" __global__ void k(int* out) { out[0] = FOUND + N + T + FORCED; }";
    let program = Program::with_headers(text, "k.hip", &[("forced.h", "#define FORCED 100000\n")]);
    let include = format!("-I{}", folder.path().display());
    // K and T are names that headers might use themselves.
    let options = [
        "-DN=20",
        "-D",
        "T=3",
        "-DGONE",
        "-UGONE",
        "-DK=1",
        &include,
        "-std=c++20",
        "-include",
        "forced.h",
        "-O1",
    ];
    let module = hip.load(&program.compile(&options));
    let out = hip.zeros::<i32>(1);
    let mut to = out.pointer;
    hip.launch(hip.find(module, "k"), shape(1, 1), null_mut(), arguments![to]);
    hip.sync();
    assert_eq!(out.read(), [101_023]);
}

/// Compiles in a process with these variables and returns its log.
fn log_with(test: &str, variables: &[(&str, &str)]) -> String {
    let left = again(&format!("misuse::{test}"), test, variables);
    assert!(left.success, "{}{}", left.output, left.text);
    left.output + &left.text
}

/// The child's part: a compilation that fails, and its log.
fn fail_to_compile() {
    let program = Program::new(GOOD);
    assert_eq!(program.try_compile(&[]), COMPILATION);
    println!("{}", program.log());
}

#[test]
fn without_a_compiler_the_log_says_what_to_install() {
    if role().is_some() {
        return fail_to_compile();
    }
    let test = "without_a_compiler_the_log_says_what_to_install";
    let log = log_with(test, &[("PATH", "/nowhere"), ("CXX", "")]);
    assert!(log.contains("tried c++, g++, clang++") && log.contains("apt-get install g++"), "{log}");
    let log = log_with(test, &[("CXX", "/nowhere/c++")]);
    assert!(log.contains("/nowhere/c++ that CXX names") && log.contains("apt-get install g++"), "{log}");
}

#[test]
fn a_compiler_that_crashes_is_named() {
    use std::os::unix::fs::PermissionsExt;
    if role().is_some() {
        return fail_to_compile();
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("crashing-compiler");
    std::fs::write(&path, "#!/bin/sh\nkill -SEGV $$\n").expect("writable");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("our own file");
    let log = log_with("a_compiler_that_crashes_is_named", &[("CXX", path.to_str().expect("UTF-8"))]);
    assert!(log.contains("crashing-compiler crashed: it was ended by signal 11"), "{log}");
}

#[test]
fn a_temporary_folder_that_cannot_be_used_is_named() {
    if role().is_some() {
        return fail_to_compile();
    }
    let test = "a_temporary_folder_that_cannot_be_used_is_named";
    let log = log_with(test, &[("TMPDIR", "/nowhere/at/all")]);
    assert!(log.contains("/nowhere/at/all") && log.contains("set TMPDIR"), "{log}");
    // A device that is always full.
    if Path::new("/dev/full").exists() {
        let log = log_with(test, &[("TMPDIR", "/dev/full")]);
        assert!(log.contains("/dev/full") && log.contains("set TMPDIR"), "{log}");
    }
}

#[test]
fn flags_of_the_user_come_from_the_environment() {
    if role().is_some() {
        let hip = hip();
        let add = kernel(&hip, "extern \"C\" __global__ void k(int* out) { *out = FROM_OUTSIDE; }", "k");
        let out = hip.zeros::<i32>(1);
        let mut to = out.pointer;
        hip.launch(add, shape(1, 1), null_mut(), arguments![to]);
        hip.sync();
        assert_eq!(out.read(), [77]);
        return println!("flags were used");
    }
    let variables = [("HIPSTACK_HOST_CXXFLAGS", "-O0 -DFROM_OUTSIDE=77")];
    let said = log_with("flags_of_the_user_come_from_the_environment", &variables);
    assert!(said.contains("flags were used"), "{said}");
}

#[test]
fn faults_name_the_file_and_the_line_of_the_text() {
    if role().is_some() {
        let hip = hip();
        let text = "#include <hip/hip_runtime.h>\n\
            extern \"C\" __global__ void k(int* out) {\n\
                assert(out != nullptr);\n\
                \n\
                assert(threadIdx.x < 3);\n\
            }";
        let program = Program::with_headers(text, "faulty.hip", &[]);
        let k = hip.find(hip.load(&program.compile(&[])), "k");
        let out = hip.zeros::<i32>(1);
        let mut to = out.pointer;
        hip.launch(k, shape(1, 8), null_mut(), arguments![to]);
        assert_eq!(call!(hip, hipDeviceSynchronize()), 710);
        return;
    }
    let said = log_with("faults_name_the_file_and_the_line_of_the_text", &[]);
    assert!(said.contains("threadIdx.x < 3, at faulty.hip:5"), "{said}");
}

#[test]
fn errors_have_their_names() {
    let named = |code| {
        let text = rtc_text(code);
        assert!(text.starts_with("HIPRTC_") || code == 77, "{text}");
        text
    };
    assert_eq!(named(0), "HIPRTC_SUCCESS");
    assert_eq!(named(6), "HIPRTC_ERROR_COMPILATION");
    assert_eq!(named(10), "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID");
    assert_eq!(named(100), "HIPRTC_ERROR_LINKING");
    assert_eq!(named(77), "Invalid HIPRTC error code");
    let (mut major, mut minor) = (0, 0);
    assert_eq!(rtc!(hiprtcVersion(&mut major, &mut minor)), 0);
    assert_eq!((major, minor), (6, 4));
}

fn rtc_text(code: u32) -> String {
    let function = crate::program::table().hiprtcGetErrorString;
    // SAFETY: S1: the function takes any number and returns a static string.
    unsafe { std::ffi::CStr::from_ptr(function(hip_sys::rtc::hiprtcResult(code))) }
        .to_string_lossy()
        .into_owned()
}
