//! Where a device gets its code: kernels linked into the program, or code objects in a folder.

use std::path::{Path, PathBuf};

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
        for path in files_of(&folder, unit) {
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

/// The compiler that built a GPU's code objects, by the `manifest.json` beside those that [`image`] takes; for the host platform's linked kernels, a word.
pub(super) fn compiler(platform: &str, arch: &str) -> Option<String> {
    if platform == "host" {
        return Some("linked into the program".to_string());
    }
    compiler_in(folders_of(platform, arch))
}

/// The compiler that the manifest names in the first folder with code; none if there is no manifest there, whatever later folders have.
fn compiler_in(mut folders: impl Iterator<Item = PathBuf>) -> Option<String> {
    let folder = folders.find(|folder| files_of(folder, UNIT).iter().any(|file| file.exists()))?;
    compiler_of(&std::fs::read(folder.join("manifest.json")).ok()?)
}

/// A unit that every set of kernels has.
const UNIT: &str = "elementwise_f32";

/// The names that a unit's code object may have in a folder.
fn files_of(folder: &Path, unit: &str) -> [PathBuf; 2] {
    ["hsaco", "cubin"].map(|ending| folder.join(format!("{unit}.{ending}")))
}

/// The compiler's version, as `cargo xtask build-kernels` writes it into a manifest.
fn compiler_of(manifest: &[u8]) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_slice(manifest).ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_the_compiler() {
        let manifest = br#"{ "arch": "gfx1100", "compiler_version": "clang version 19.1.7", "objects": [] }"#;
        assert_eq!(compiler_of(manifest).as_deref(), Some("clang version 19.1.7"));
        assert_eq!(compiler_of(b"{}"), None);
        assert_eq!(compiler_of(b"half a file"), None);
        assert_eq!(compiler("amd", "no such arch"), None);
    }

    #[test]
    fn a_manifest_without_code_beside_it_says_nothing() {
        let root = std::env::temp_dir().join(format!("tensor-core-code-{}", std::process::id()));
        let folders = ["stale", "bare", "used"].map(|name| root.join(name));
        for folder in &folders {
            std::fs::create_dir_all(folder).expect("a writable folder");
        }
        let write = |folder: usize, name: &str, text: &str| {
            std::fs::write(folders[folder].join(name), text).expect("a writable folder");
        };
        let found = || compiler_in(folders.iter().cloned());
        write(0, "manifest.json", r#"{ "compiler_version": "old" }"#);
        assert_eq!(found(), None);
        write(2, "manifest.json", r#"{ "compiler_version": "new" }"#);
        write(2, "elementwise_f32.cubin", "code");
        assert_eq!(found().as_deref(), Some("new"));
        // Code is taken from here, and nothing is known of it.
        write(1, "elementwise_f32.hsaco", "code");
        assert_eq!(found(), None);
        std::fs::remove_dir_all(&root).expect("made above");
    }

    #[test]
    fn features_are_no_part_of_a_folders_name() {
        let folder = folders_of("amd", "gfx90a:sramecc+:xnack-").next().expect("one beside the program");
        assert!(folder.ends_with("amd/gfx90a"), "{}", folder.display());
    }
}
