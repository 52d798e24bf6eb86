//! Compiles the benchmarks' kernels, with the flags that hip-host's headers require.

#[path = "../crates/hip-host/test-kernels/compile.rs"]
mod compile;

use std::env;
use std::path::Path;

fn main() {
    let include = env::var_os("DEP_HIPHOST_INCLUDE").expect("hip-host's build script names its headers");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=kernels");
    println!("cargo::rerun-if-changed=../crates/hip-host/test-kernels/compile.rs");
    println!("cargo::rerun-if-changed=../crates/hip-host/tests/kernels/vector_add.hpp");
    println!("cargo::rerun-if-changed={}", Path::new(&include).display());
    if !compile::compiler_is_there() {
        return;
    }
    for (unit, wave) in [("plain", 0), ("threads", 32), ("threads", 64)] {
        let file = format!("kernels/{unit}.cpp");
        compile::compile(Path::new(&file), wave, false, &format!("hiphost_benches_{unit}_{wave}"));
    }
}
