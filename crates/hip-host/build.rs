//! Tells dependents where the headers are and, for this crate's own tests, compiles the test kernels.

use std::env;
use std::path::PathBuf;

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let include = root.join("include");
    println!("cargo::metadata=include={}", include.display());
    println!("cargo::rerun-if-changed={}", include.display());
    #[cfg(feature = "test-kernels")]
    test_kernels(&root, &include);
}

/// Each source once for each wave size that it is tested at: 0 stands for one build that serves both.
#[cfg(feature = "test-kernels")]
fn test_kernels(root: &std::path::Path, include: &std::path::Path) {
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
