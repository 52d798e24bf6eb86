//! Passes the headers' path and the kernels' compiler flags to dependents.

#[path = "src/flags.rs"]
#[expect(unreachable_pub, dead_code, reason = "the library uses all of it")]
mod flags;

use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let include = root.join("include");
    println!("cargo::metadata=include={}", include.display());
    println!("cargo::rerun-if-changed={}", include.display());
    embed_headers(&include);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/flags.rs");
    let flags = [&flags::KERNEL_FLAGS[..], &flags::HOST_SOURCE_FLAGS].concat();
    // Build scripts that compile kernels read these from DEP_HIPHOST_FLAGS and append their own.
    println!("cargo::metadata=flags={}", flags.join(" "));
    println!("cargo::metadata=no_compiler={}", flags::NO_COMPILER);
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
