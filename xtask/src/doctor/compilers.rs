//! The compilers that build the workspace and its kernels.

use super::Item;
use crate::build_kernels::compiler::{self, Compiler};
use crate::workspace;
use std::process::Command;

const SECTION: &str = "Compilers";

pub(super) fn look() -> Vec<Item> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rust = match workspace::output_of(Command::new(rustc).arg("--version")) {
        Some(version) => Item::found(SECTION, "Rust", version.trim()),
        None => Item::absent(SECTION, "Rust", "rustc does not start", "install it with rustup"),
    };
    let host =
        compiler_item("C++ compiler", compiler::host(), "install g++ or clang: hip-host's kernels need it");
    let no_rocm = "only needed to build AMD code objects ahead of time: install ROCm, or on Debian 12 \
                   apt-get install hipcc libamdhip64-dev rocm-device-libs clang-19 lld-19";
    let no_cuda =
        "only needed to build NVIDIA cubins ahead of time: install CUDA 13, or run ci/fetch-nvcc.sh";
    vec![
        rust.needed(),
        host.needed(),
        compiler_item("AMD gfx90a", compiler::amd_for("gfx90a"), no_rocm),
        compiler_item("AMD gfx1100", compiler::amd_for("gfx1100"), no_rocm),
        compiler_item("NVIDIA nvcc", compiler::nvidia(), no_cuda),
    ]
}

fn compiler_item(name: &str, found: Result<Compiler, String>, remedy: &str) -> Item {
    match found {
        Ok(compiler) => Item::found(SECTION, name, compiler.to_string()),
        Err(why) => Item::absent(SECTION, name, why.split(';').next().unwrap_or_default(), remedy),
    }
}
