//! Code objects in folders, as `cargo xtask build-kernels` writes them: `<platform>/<arch>/<unit>.hsaco` or `.cubin`, with a
//! manifest beside them. Only what the manifest vouches for is used.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kernels_hip::Unit;
use serde::Deserialize;

use super::{Target, name_of};

/// The part of a `manifest.json` that matters here.
#[derive(Deserialize)]
struct Manifest {
    platform: String,
    arch: String,
    wave_size: u32,
    compiler_version: String,
    objects: Vec<Object>,
}

#[derive(Deserialize)]
struct Object {
    file: String,
    /// The number of the texts that it was made of.
    source: String,
    /// The number of the options that it was compiled with.
    options: String,
    /// The number of its bytes.
    hash: String,
}

/// A code object that is as it was built, from the texts that this program has.
pub(super) struct Current {
    pub(super) path: PathBuf,
    pub(super) image: Vec<u8>,
    pub(super) compiler: String,
}

/// Why an object cannot be used.
enum Wrong {
    /// It and the manifest do not belong together.
    Apart(String),
    Other(String),
}

/// How long a build takes at most from an object to its manifest, which follows it.
const BETWEEN: Duration = Duration::from_millis(100);

/// The object of a unit in a folder of one architecture; `None` if there is no file of it.
///
/// # Errors
/// Why the file that is there cannot be used, with its path.
pub(super) fn read(folder: &Path, target: &Target, unit: &Unit) -> Result<Option<Current>, String> {
    read_twice(folder, target, unit, || std::thread::sleep(BETWEEN))
}

/// As [`read`]. If object and manifest do not belong together, a build may be between them: both are read again after a pause.
pub(super) fn read_twice(
    folder: &Path,
    target: &Target,
    unit: &Unit,
    pause: impl FnOnce(),
) -> Result<Option<Current>, String> {
    let read = match read_once(folder, target, unit) {
        Err(Wrong::Apart(_)) => {
            pause();
            read_once(folder, target, unit)
        }
        read => read,
    };
    read.map_err(|(Wrong::Apart(why) | Wrong::Other(why))| why)
}

fn read_once(folder: &Path, target: &Target, unit: &Unit) -> Result<Option<Current>, Wrong> {
    for ending in ["hsaco", "cubin", "so"] {
        let file = format!("{}.{ending}", unit.name());
        let path = folder.join(&file);
        match std::fs::read(&path) {
            Ok(image) => {
                let told = |why: &str| format!("{} {why}", path.display());
                let compiler = check(folder, &file, target, unit, &image).map_err(|wrong| match wrong {
                    Wrong::Apart(why) => Wrong::Apart(told(&why)),
                    Wrong::Other(why) => Wrong::Other(told(&why)),
                })?;
                let image = if target.is_host() { host_image(target.of(unit).1, image) } else { image };
                return Ok(Some(Current { path, image, compiler }));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Wrong::Other(format!("{} cannot be read: {error}", path.display()))),
        }
    }
    Ok(None)
}

/// Shared objects for the host lie in folders as they are.
fn host_image(wave_size: u32, object: Vec<u8>) -> Vec<u8> {
    #[cfg(feature = "host")]
    return hip_host::image_of_object(wave_size, object);
    #[cfg(not(feature = "host"))]
    return {
        let _ = wave_size;
        object
    };
}

/// Holds an object against the manifest; gives the compiler that made it.
fn check(folder: &Path, file: &str, target: &Target, unit: &Unit, image: &[u8]) -> Result<String, Wrong> {
    let other = |why: String| Err(Wrong::Other(why));
    let text = std::fs::read(folder.join("manifest.json"))
        .map_err(|error| Wrong::Apart(format!("has no manifest.json beside it that can be read: {error}")))?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| {
        Wrong::Other(format!("has a manifest.json beside it that is damaged or old: {error}"))
    })?;
    let platform = target.platform.kind.name();
    let (arch, wave_size) = target.of(unit);
    let wanted = (platform, name_of(arch), wave_size);
    let told = (manifest.platform.as_str(), manifest.arch.as_str(), manifest.wave_size);
    if told != wanted {
        return other(format!(
            "was built for {} {} with waves of {}, by its manifest.json, and not for {} {} with waves of {}",
            told.0, told.1, told.2, wanted.0, wanted.1, wanted.2
        ));
    }
    let Some(object) = manifest.objects.into_iter().find(|object| object.file == file) else {
        return Err(Wrong::Apart("is not in the manifest.json beside it".into()));
    };
    if object.hash != kernels_hip::hash_bytes(image) {
        return Err(Wrong::Apart("is damaged: it is not the file that its manifest.json lists".into()));
    }
    if object.source != unit.source_hash() {
        return other("is stale: it was built from other kernel texts than this program has".into());
    }
    if object.options != unit.options_hash(platform, target.wave_size) {
        return other("is stale: it was built with other options than this program asks for".into());
    }
    Ok(manifest.compiler_version)
}
