//! Where a device gets its code: kernels linked into the program, or code objects in a folder.

use std::path::PathBuf;

/// The image of a unit for an architecture; the error says where it was looked for and how to make it.
///
/// Code for the host platform is linked in by the feature `host`. Code objects are looked for in `$HIPSTACK_KERNELS`, then in
/// folders named `kernels` beside the program and up to two levels above it (cargo's programs lie one or two folders below
/// `target`, where `cargo xtask build-kernels` writes), as `<platform>/<arch>/<unit>.hsaco` or `.cubin`.
pub(super) fn image(platform: &str, arch: &str, unit: &str) -> Result<Vec<u8>, String> {
    #[cfg(feature = "host")]
    if platform == "host" {
        kernels_hip::register_host();
        return Ok(hip_host::image(unit));
    }
    // "gfx90a:sramecc+:xnack-" has its features behind the name.
    let arch = arch.split(':').next().unwrap_or(arch);
    let mut tried = Vec::new();
    for folder in folders() {
        let folder = folder.join(platform).join(arch);
        tried.push(folder.display().to_string());
        for ending in ["hsaco", "cubin"] {
            let path = folder.join(format!("{unit}.{ending}"));
            match std::fs::read(&path) {
                Ok(bytes) => return Ok(bytes),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
            }
        }
    }
    Err(format!(
        "no code of {unit} for {arch} in {}; run `cargo xtask build-kernels --platform {platform} --arch {arch}`, and set \
         HIPSTACK_KERNELS if its folder is elsewhere",
        tried.join(", ")
    ))
}

fn folders() -> impl Iterator<Item = PathBuf> {
    let named = std::env::var_os("HIPSTACK_KERNELS").map(PathBuf::from);
    let program = std::env::current_exe().unwrap_or_default();
    let beside: Vec<PathBuf> =
        program.ancestors().skip(1).take(3).map(|folder| folder.join("kernels")).collect();
    named.into_iter().chain(beside)
}
