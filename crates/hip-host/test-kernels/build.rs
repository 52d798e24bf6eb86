//! Compiles each source of `../tests/kernels` once for each wave size that is tested; 0 is one build for
//! both.

mod compile;

use compile::{compile, compiler_is_there};
use std::env;
use std::path::Path;

const UNITS: [(&str, u32); 10] = [
    ("plain", 0),
    ("threads", 32),
    ("threads", 64),
    ("faults", 0),
    ("together", 64),
    ("language", 32),
    ("language", 64),
    ("plain_faults", 0),
    ("warp_faults", 32),
    ("warp_faults", 64),
];

fn main() {
    // Miri cannot call linked C++ code.
    if env::var_os("CARGO_CFG_MIRI").is_some() {
        return;
    }
    let include = env::var("DEP_HIPHOST_INCLUDE").expect("hip-host's build script names its headers");
    // An absolute path, because sanitizers print it.
    let sources = Path::new(&include).with_file_name("tests/kernels");
    for read in [Path::new("build.rs"), Path::new("compile.rs"), Path::new(&include), &sources] {
        println!("cargo::rerun-if-changed={}", read.display());
    }
    if !compiler_is_there() {
        return;
    }
    for (source, wave) in UNITS {
        let file = sources.join(format!("{source}.cpp"));
        compile(&file, wave, source.starts_with("plain"), &format!("hiphost_test_{source}_{wave}"));
    }
}
