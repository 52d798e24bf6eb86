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
/// other panic goes to the hook that was there. If the program sets its own hook later, the error has the panic's text and no location.
///
/// # Errors
/// `InvalidImage` if there is no such file, with the paths that were tried and the command that makes it; those of `Device::load_module`.
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
            Ok(image) if is_older::<K>(&image) => {
                return Err(fail(format!(
                    "{} was built when types or constants of its parameters had other sizes: build it again by `cargo xtask \
                     build-rust-kernels FOLDER_OF_THE_CRATE --arch {arch}`, with the same --panics as before",
                    file.display()
                )));
            }
            Ok(image) => return device.load_module(&image),
            Err(error) => tried.push(format!("{}: {error}", file.display())),
        }
    }
    Err(fail(format!(
        "no code for {arch}: {}; build it by `cargo xtask build-rust-kernels FOLDER_OF_THE_CRATE --arch {arch}`",
        tried.join("; ")
    )))
}

/// Whether code has the kernel by its name, and was built for other sizes of its arguments, of their elements or of its shared memory.
fn is_older<K: Signature>(image: &[u8]) -> bool {
    // PTX lists bytes as numbers.
    let listed = K::LAYOUT.map(|byte| byte.to_string()).join(", ");
    contains(image, K::NAME.as_bytes()) && !contains(image, &K::LAYOUT) && !contains(image, listed.as_bytes())
}

fn contains(image: &[u8], part: &[u8]) -> bool {
    image.windows(part.len()).any(|window| window == part)
}

fn folders() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return vec![named.into()];
    }
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().skip(1).take(4).map(|folder| folder.join("rust-kernels")).collect()
}

#[cfg(test)]
mod tests {
    use super::is_older;
    use crate::host::{Registration, Signature};
    use std::ffi::c_void;

    struct Add;

    // SAFETY: S25: nobody calls it.
    unsafe impl Signature for Add {
        const PATH: &'static str = "tests::add";
        const NAME: &'static str = "add__12345678";
        const LIBRARY: &'static str = "tests";
        const ARGUMENTS: &'static [(usize, usize)] = &[(8, 8)];
        const LAYOUT: [u8; 16] = crate::layout(Self::NAME, Self::ARGUMENTS, &[], 64);
        fn registration() -> &'static Registration {
            static REGISTRATION: Registration = Registration::new();
            &REGISTRATION
        }
        unsafe fn call(_: *const *mut c_void) {}
    }

    #[test]
    fn code_for_other_sizes_is_noticed() {
        let elf = |layout: &[u8]| [b"..add__12345678..", layout, b".."].concat();
        let ptx = |layout: &[u8]| {
            let listed = layout.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
            format!(".entry add__12345678(\n.b8 add__12345678__layout[16] = {{{listed}}};").into_bytes()
        };
        let other = crate::layout(Add::NAME, Add::ARGUMENTS, &[], 128);
        for code in [elf(&Add::LAYOUT), ptx(&Add::LAYOUT), elf(b"")[4..].to_vec()] {
            assert!(!is_older::<Add>(&code), "{}", String::from_utf8_lossy(&code));
        }
        for code in [elf(&other), ptx(&other), elf(b"")] {
            assert!(is_older::<Add>(&code), "{}", String::from_utf8_lossy(&code));
        }
    }
}
