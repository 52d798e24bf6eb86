//! `manifest.json`: what made the objects of a folder, and what each holds.

use super::{Built, Compiler, Target};
use crate::workspace;
use kernels_hip::Unit;
use serde_json::{Value, json};
use std::path::Path;

/// tensor-core finds it beside the code objects, and parity's records say which compiler made them: `compiler_version`.
const NAME: &str = "manifest.json";

/// Writes the manifest of a finished build.
pub(super) fn write(
    dir: &Path,
    target: &Target,
    compiler: &Compiler,
    units: &[Unit],
    built: &[Built],
) -> Result<(), String> {
    let objects: Vec<Value> = built
        .iter()
        .map(|object| {
            let unit = &units[object.unit];
            json!({
                "file": object.file,
                "unit": unit.name(),
                "bytes": object.bytes.len(),
                "source": unit.source_hash(),
                "hash": kernels_hip::hash_bytes(&object.bytes),
                "kernels": unit.kernels(),
            })
        })
        .collect();
    let manifest = json!({
        "platform": target.platform.name(),
        "arch": target.arch,
        "wave_size": target.wave_size(),
        "compiler": compiler.program.display().to_string(),
        "compiler_version": compiler.version(),
        "note": compiler.note(),
        "objects": objects,
    });
    let text = serde_json::to_string_pretty(&manifest).map_err(|e| format!("cannot write {NAME}: {e}"))?;
    workspace::write_whole(&dir.join(NAME), (text + "\n").as_bytes())
}

/// A manifest that was read.
pub(super) struct Manifest(Value);

/// Reads the manifest of a folder.
pub(super) fn read(dir: &Path) -> Result<Manifest, String> {
    let path = dir.join(NAME);
    let text = std::fs::read_to_string(&path)
        .map_err(|e| format!("cannot read {}: {e}; `cargo xtask build-kernels` writes it", path.display()))?;
    Ok(Manifest(serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?))
}

impl Manifest {
    /// Whether `bytes` are what the build wrote under this name.
    pub(super) fn verify(&self, file: &str, bytes: &[u8]) -> Result<(), String> {
        let objects = self.0.get("objects").and_then(Value::as_array);
        let entry = objects
            .into_iter()
            .flatten()
            .find(|object| object.get("file").and_then(Value::as_str) == Some(file));
        let listed = entry.and_then(|entry| entry.get("hash")).and_then(Value::as_str);
        match listed {
            None => Err(format!("{NAME} does not list it")),
            Some(listed) if listed != kernels_hip::hash_bytes(bytes) => {
                Err(format!("it is not the file that {NAME} lists"))
            }
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_and_an_unlisted_file_are_told_apart() {
        let manifest =
            Manifest(json!({ "objects": [{ "file": "a.o", "hash": kernels_hip::hash_bytes(b"a") }] }));
        assert_eq!(manifest.verify("a.o", b"a"), Ok(()));
        assert!(manifest.verify("a.o", b"b").expect_err("damaged").contains("is not the file"));
        assert!(manifest.verify("b.o", b"a").expect_err("unlisted").contains("does not list"));
        assert!(Manifest(json!([])).verify("a.o", b"a").is_err());
    }
}
