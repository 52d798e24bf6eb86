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
    let mut tried = Vec::new();
    for folder in folders_of(platform, arch) {
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
        "no code of {unit} for {name} in {}; run `cargo xtask build-kernels --platform {platform} --arch {name}`, and set \
         HIPSTACK_KERNELS if its folder is elsewhere",
        tried.join(", "),
        name = name_of(arch)
    ))
}

/// The compiler that built a GPU's code objects, by the `manifest.json` beside them; for the host platform's linked kernels, a word.
pub(super) fn compiler(platform: &str, arch: &str) -> Option<String> {
    if platform == "host" {
        return Some("linked into the program".to_string());
    }
    let manifest =
        folders_of(platform, arch).find_map(|folder| std::fs::read(folder.join("manifest.json")).ok())?;
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
    manifest.get("compiler_version")?.as_str().map(str::to_string)
}

/// Where code for an architecture may be, in the order of the search.
fn folders_of(platform: &str, arch: &str) -> impl Iterator<Item = PathBuf> {
    folders().map(move |folder| folder.join(platform).join(name_of(arch)))
}

/// "gfx90a:sramecc+:xnack-" has its features behind the name.
fn name_of(arch: &str) -> &str {
    arch.split(':').next().unwrap_or(arch)
}

fn folders() -> impl Iterator<Item = PathBuf> {
    let named = std::env::var_os("HIPSTACK_KERNELS").map(PathBuf::from);
    let program = std::env::current_exe().unwrap_or_default();
    let beside: Vec<PathBuf> =
        program.ancestors().skip(1).take(3).map(|folder| folder.join("kernels")).collect();
    named.into_iter().chain(beside)
}
