//! Code objects in folders, as written by `cargo xtask build-kernels`: `<platform>/<arch>/<unit>.hsaco` or `.cubin`,
//! with a manifest in the same folder. Only files that match the manifest are used.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kernels_hip::Unit;
use serde::Deserialize;

use super::{Target, name_of};

/// The fields of `manifest.json` that are needed here.
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
    /// The hash of its sources.
    source: String,
    /// The hash of its compiler options.
    options: String,
    /// The hash of its bytes.
    hash: String,
}

/// An unchanged code object, built from this program's kernel sources.
pub(super) struct Current {
    pub(super) path: PathBuf,
    pub(super) image: Vec<u8>,
    pub(super) compiler: String,
}

/// Why an object cannot be used.
enum Wrong {
    /// Object and manifest do not match.
    Apart(String),
    Other(String),
}

/// The maximum time between writing an object and its manifest in a build.
const BETWEEN: Duration = Duration::from_millis(100);

/// Reads the object of a unit from the folder of an architecture; `None` if there is no such file.
///
/// # Errors
/// Why the file cannot be used, with its path.
pub(super) fn read(folder: &Path, target: &Target, unit: &Unit) -> Result<Option<Current>, String> {
    read_twice(folder, target, unit, || std::thread::sleep(BETWEEN))
}

/// As [`read`]. If object and manifest do not match, a build may be writing them: both are read again after a pause.
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
                let in_file = |why: &str| format!("{} {why}", path.display());
                let compiler = check(folder, &file, target, unit, &image).map_err(|wrong| match wrong {
                    Wrong::Apart(why) => Wrong::Apart(in_file(&why)),
                    Wrong::Other(why) => Wrong::Other(in_file(&why)),
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

/// Shared objects for the host are stored unchanged.
fn host_image(wave_size: u32, object: Vec<u8>) -> Vec<u8> {
    #[cfg(feature = "host")]
    return hip_host::image_of_object(wave_size, object);
    #[cfg(not(feature = "host"))]
    return {
        let _ = wave_size;
        object
    };
}

/// Checks an object against the manifest, and returns its compiler.
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
    let listed = (manifest.platform.as_str(), manifest.arch.as_str(), manifest.wave_size);
    if listed != wanted {
        return other(format!(
            "was built for {} {} with waves of {}, by its manifest.json, and not for {} {} with waves of {}",
            listed.0, listed.1, listed.2, wanted.0, wanted.1, wanted.2
        ));
    }
    let Some(object) = manifest.objects.into_iter().find(|object| object.file == file) else {
        return Err(Wrong::Apart("is not in the manifest.json beside it".into()));
    };
    if object.hash != kernels_hip::hash_bytes(image) {
        return Err(Wrong::Apart("is damaged: it is not the file that its manifest.json lists".into()));
    }
    if object.source != unit.source_hash() {
        return other("is stale: it was built from other kernel sources than this program has".into());
    }
    if object.options != unit.options_hash(platform, target.wave_size) {
        return other("is stale: it was built with other options than this program asks for".into());
    }
    Ok(manifest.compiler_version)
}
