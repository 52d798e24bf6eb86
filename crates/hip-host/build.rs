//! Tells dependents where the headers are and, for this crate's own tests, compiles the test kernels.

use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let include = root.join("include");
    println!("cargo::metadata=include={}", include.display());
    println!("cargo::rerun-if-changed={}", include.display());
    embed_headers(&include);
    #[cfg(feature = "test-kernels")]
    test_kernels(&root, &include);
}

/// Writes the list of all headers with their texts, which run-time compilation carries with it.
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

/// Each source once for each wave size that it is tested at: 0 stands for one build that serves both.
#[cfg(feature = "test-kernels")]
fn test_kernels(root: &Path, include: &Path) {
    let sources = root.join("tests/kernels");
    println!("cargo::rerun-if-changed={}", sources.display());
    let units = [
        ("plain", 0, true),
        ("threads", 32, false),
        ("threads", 64, false),
        ("faults", 0, false),
        ("together", 64, false),
    ];
    for (source, wave, plain) in units {
        let mut build = cc::Build::new();
        build.cpp(true).std("c++17").opt_level(3).pic(true).include(include);
        build.flag("-fvisibility=hidden").flag("-fno-exceptions").flag("-fno-rtti").flag("-ffp-contract=off");
        // As on GPUs; on aarch64 it would be unsigned.
        build.flag("-fsigned-char");
        build.define("HIPHOST_WAVE_SIZE", wave.to_string().as_str());
        if plain {
            build.define("HIPHOST_NO_BARRIERS", None);
        }
        build.file(sources.join(format!("{source}.cpp")));
        build.compile(&format!("hiphost_test_{source}_{wave}"));
    }
}
