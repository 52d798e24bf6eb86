//! The nightly compiler that kernels need.

use std::path::PathBuf;
use std::process::Command;

/// The toolchain. Another one may compile kernels otherwise, or not at all: the features that they need are not stable.
pub(super) const TOOLCHAIN: &str = "nightly-2026-05-20";

/// Whether the toolchain and its sources are installed; the error says how to install what is missing.
pub(super) fn check(toolchain: &str) -> Result<(), String> {
    let install = format!(
        "install it by `rustup toolchain install {toolchain} --profile minimal --component rust-src`"
    );
    let mut rustc = Command::new("rustup");
    // `rustup run` does not install what is missing.
    rustc.args(["run", toolchain, "rustc", "--print", "sysroot"]);
    let told = rustc
        .output()
        .map_err(|e| format!("cannot start rustup, which runs the compiler {toolchain}: {e}; install rustup from https://rustup.rs"))?;
    if !told.status.success() {
        return Err(format!("kernels need the compiler {toolchain}, which is not there; {install}"));
    }
    let root = PathBuf::from(String::from_utf8_lossy(&told.stdout).trim());
    if !root.join("lib/rustlib/src/rust/library/core/src/lib.rs").is_file() {
        return Err(format!(
            "the compiler {toolchain} has no sources of core, which is compiled for each GPU; install them by \
             `rustup component add rust-src --toolchain {toolchain}`"
        ));
    }
    Ok(())
}
