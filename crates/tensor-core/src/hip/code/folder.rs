//! Code objects in folders, as `cargo xtask build-kernels` writes them: `<platform>/<arch>/<unit>.hsaco` or `.cubin`, with a
//! manifest beside them. Only what the manifest vouches for is used.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kernels_hip::Unit;
use serde::Deserialize;

/// The part of a `manifest.json` that matters here.
#[derive(Deserialize)]
struct Manifest {
    compiler_version: String,
    objects: Vec<Object>,
}

#[derive(Deserialize)]
struct Object {
    file: String,
    /// The number of the texts that it was made of.
    source: String,
    /// The number of its bytes.
    hash: String,
}

/// A code object that is as it was built, from the texts that this program has.
pub(super) struct Current {
    pub(super) path: PathBuf,
    pub(super) image: Vec<u8>,
    pub(super) compiler: String,
}

/// The object of a unit in a folder of one architecture; `None` if there is no file of it.
///
/// # Errors
/// Why the file that is there cannot be used, with its path.
pub(super) fn read(folder: &Path, unit: &Unit) -> Result<Option<Current>, String> {
    for ending in ["hsaco", "cubin"] {
        let file = format!("{}.{ending}", unit.name());
        let path = folder.join(&file);
        match std::fs::read(&path) {
            Ok(image) => {
                let told = |why: String| format!("{} {why}", path.display());
                let compiler = check(folder, &file, unit, &image).map_err(told)?;
                return Ok(Some(Current { path, image, compiler }));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        }
    }
    Ok(None)
}

/// Holds an object against the manifest; gives the compiler that made it.
fn check(folder: &Path, file: &str, unit: &Unit, image: &[u8]) -> Result<String, String> {
    let text = std::fs::read(folder.join("manifest.json"))
        .map_err(|error| format!("has no manifest.json beside it that can be read: {error}"))?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .map_err(|error| format!("has a manifest.json beside it that is damaged or old: {error}"))?;
    let object = manifest.objects.into_iter().find(|object| object.file == file);
    let object = object.ok_or("is not in the manifest.json beside it")?;
    if object.hash != kernels_hip::hash_bytes(image) {
        return Err("is damaged: it is not the file that its manifest.json lists".into());
    }
    if object.source != unit.source_hash() {
        return Err("is stale: it was built from other kernel texts than this program has".into());
    }
    Ok(manifest.compiler_version)
}
