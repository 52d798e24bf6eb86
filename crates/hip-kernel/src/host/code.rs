//! Finds the code of a Rust kernel for a device.

use super::run::{Signature, register};
use hip_safe::{Device, Error, Module, Result};
use std::path::PathBuf;

/// Names a folder with the files of `cargo xtask build-rust-kernels`.
const VARIABLE: &str = "HIPSTACK_RUST_KERNELS";

/// The module with the kernel for the device: on hip-host the function itself; on a GPU the file `<arch>/<library>.co` (AMD) or
/// `<arch>/<library>.ptx` (NVIDIA) in `$HIPSTACK_RUST_KERNELS`, or in a folder `rust-kernels` beside the program or up to three levels above.
///
/// On hip-host, the first call of the program wraps the program's panic hook: a panic in a kernel is kept for the launch's error, and every
/// other panic goes to the hook that was there. If the program sets its own hook later, the error has the panic's text and no place.
///
/// # Errors
/// `InvalidImage` if there is no such file, with the places and the command that makes it; those of `Device::load_module`.
pub fn load<K: Signature>(device: &Device) -> Result<Module> {
    let arch = device.properties().arch.split(':').next().unwrap_or_default();
    let fail = |reason| Error::InvalidImage { name: format!("Rust kernel {}", K::PATH), reason };
    if arch.starts_with("host") {
        register::<K>().map_err(|error| fail(error.to_string()))?;
        return device.load_module(hip_host::image(K::PATH));
    }
    let extension = if arch.starts_with("sm_") { "ptx" } else { "co" };
    let mut tried = Vec::new();
    for folder in folders() {
        let file = folder.join(arch).join(format!("{}.{extension}", K::LIBRARY));
        match std::fs::read(&file) {
            Ok(image) => return device.load_module(&image),
            Err(error) => tried.push(format!("{}: {error}", file.display())),
        }
    }
    Err(fail(format!(
        "no code for {arch}: {}; build it by `cargo xtask build-rust-kernels FOLDER_OF_THE_CRATE --arch {arch}`",
        tried.join("; ")
    )))
}

fn folders() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return vec![named.into()];
    }
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().skip(1).take(4).map(|folder| folder.join("rust-kernels")).collect()
}
