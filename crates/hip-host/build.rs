//! Passes the headers' path and the kernels' compiler flags to dependents.

#[path = "src/flags.rs"]
#[expect(unreachable_pub, dead_code, reason = "the library uses all of it")]
mod flags;

use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let include = root.join("include");
    println!("cargo::metadata=include={}", include.display());
    println!("cargo::rerun-if-changed={}", include.display());
    embed_headers(&include);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/flags.rs");
    let sanitizer = sanitizer_flags();
    println!("cargo::rustc-env=HIPHOST_SANITIZER_FLAGS={}", sanitizer.join(" "));
    // The sanitizer's flags come last, because the last optimisation level takes effect.
    let flags = [&flags::KERNEL_FLAGS[..], &flags::HOST_SOURCE_FLAGS, &sanitizer].concat();
    // Build scripts that compile kernels read these from DEP_HIPHOST_FLAGS and append their own.
    println!("cargo::metadata=flags={}", flags.join(" "));
    println!("cargo::metadata=no_compiler={}", flags::NO_COMPILER);
}

/// The compiler flags for the sanitizer that `HIPSTACK_HOST_SANITIZE` names: `address`, `thread` or, usually,
/// none. Links its run-time library.
fn sanitizer_flags() -> Vec<&'static str> {
    println!("cargo::rerun-if-env-changed=HIPSTACK_HOST_SANITIZE");
    let name = env::var("HIPSTACK_HOST_SANITIZE").unwrap_or_default();
    let (library, mut flags) = match name.as_str() {
        "" => return Vec::new(),
        // Checks as calls instead of inline code halve the compile time.
        "address" => {
            let calls = "--param=asan-instrumentation-with-call-threshold=0";
            ("asan", vec!["-fsanitize=address", "-fsanitize-recover=address", calls])
        }
        "thread" => ("tsan", vec!["-fsanitize=thread"]),
        other => panic!("HIPSTACK_HOST_SANITIZE is {other:?}: it is address, thread or not set"),
    };
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let asked = Command::new(&compiler).arg(format!("-print-file-name=lib{library}.so")).output();
    let path = asked.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    // If the compiler does not have the library, it prints the name unchanged.
    let Some((folder, _)) = path.rsplit_once('/') else {
        panic!(
            "{compiler} has no lib{library}.so: HIPSTACK_HOST_SANITIZE needs g++ with its sanitizers: {}",
            flags::NO_COMPILER
        );
    };
    println!("cargo::rustc-link-search=native={folder}");
    println!("cargo::rustc-link-lib=dylib={library}");
    flags.extend(["-O1", "-g1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]);
    flags
}

/// Writes the list of all headers with their texts, which run-time compilation embeds.
fn embed_headers(include: &Path) {
    let mut folders = vec![include.to_path_buf()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the headers are readable") {
            let path = entry.expect("the headers are readable").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut text = String::from("static HEADERS: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.strip_prefix(include).expect("found in there");
        writeln!(text, "({:?}, include_str!({:?})),", name.display().to_string(), file.display().to_string())
            .expect("memory");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(out.join("headers.rs"), text + "];\n").expect("OUT_DIR is writable");
}
