//! Compiles the kernels that are measured, with the flags that hip-host's headers ask for.

use std::env;

fn main() {
    let include = env::var_os("DEP_HIPHOST_INCLUDE").expect("hip-host's build script names its headers");
    let flags = env::var("DEP_HIPHOST_FLAGS").expect("hip-host's build script names flags");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=kernels");
    println!("cargo::rerun-if-changed=../crates/hip-host/tests/kernels/vector_add.hpp");
    println!("cargo::rerun-if-changed={}", std::path::Path::new(&include).display());
    for (unit, wave) in [("plain", 0), ("threads", 32), ("threads", 64)] {
        let mut build = cc::Build::new();
        build.cpp(true).opt_level(3).pic(true).include(&include).flags(flags.split_whitespace());
        build.define("HIPHOST_WAVE_SIZE", wave.to_string().as_str());
        build.file(format!("kernels/{unit}.cpp"));
        build.compile(&format!("hiphost_benches_{unit}_{wave}"));
    }
}
