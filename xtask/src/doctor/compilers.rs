//! The compilers that build the workspace and its kernels.

use super::Item;
use crate::build_kernels::compiler::{self, Compiler};
use crate::build_kernels::target::Platform;
use crate::build_rust_kernels;
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
    let no_rocm =
        "only needed to build AMD code objects ahead of time: install ROCm, or run ci/fetch-rocm-compiler.sh";
    let no_cuda =
        "only needed to build NVIDIA cubins ahead of time: install CUDA 13, or run ci/fetch-nvcc.sh";
    let mut items = vec![rust.needed(), host.needed()];
    items.push(compiler_item("AMD hipcc", compiler::amd(), no_rocm));
    items.push(compiler_item("NVIDIA nvcc", compiler::nvidia(), no_cuda));
    items.push(match build_rust_kernels::compiler() {
        Ok(found) => Item::found(SECTION, "Rust for GPUs", found),
        Err(why) => {
            let (what, remedy) = why.split_once("; ").unwrap_or((&why, "install rustup"));
            Item::absent(
                SECTION,
                "Rust for GPUs",
                what,
                format!("only needed to build kernels in Rust: {remedy}"),
            )
        }
    });
    let no_objdump =
        "only needed to look at loops of kernels: install ROCm, or run ci/fetch-rocm-compiler.sh";
    let no_nvdisasm = "only needed to look at loops of kernels: install CUDA, or run ci/fetch-nvcc.sh";
    items.push(disassembler("AMD disassembler", Platform::Amd, no_objdump));
    items.push(disassembler("NVIDIA disassembler", Platform::Nvidia, no_nvdisasm));
    items
}

fn disassembler(name: &str, platform: Platform, remedy: &str) -> Item {
    match compiler::disassembler(platform) {
        Some(found) => Item::found(SECTION, name, found.to_string()),
        None => Item::absent(SECTION, name, "none found", remedy),
    }
}

fn compiler_item(name: &str, found: Result<Compiler, String>, remedy: &str) -> Item {
    match found {
        Ok(compiler) => Item::found(SECTION, name, compiler.to_string()),
        Err(why) => Item::absent(SECTION, name, why.split(';').next().unwrap_or_default(), remedy),
    }
}
