//! `manifest.json`: what the objects of a folder were built from, and what each contains.

use super::toolchain::Toolchain;
use super::{Target, folder::Folder};
use crate::workspace;
use kernel_resources::KernelResources;
use kernels_hip::hash_bytes;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// tensor-core finds it beside the code objects: it reads `platform`, `arch`, `wave_size` and
/// `compiler_version`, and of each object `source`, `options` and `hash`.
const NAME: &str = "manifest.json";

/// The manifest of a folder of objects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Such as `amd`.
    pub platform: String,
    /// Such as `gfx90a`.
    pub arch: String,
    /// Lanes of a wave.
    pub wave_size: u32,
    /// The file of the compiler that built here last.
    pub compiler: String,
    /// The version that it reports, in one line.
    pub compiler_version: String,
    /// The objects that are finished, in the order of kernels.toml.
    pub objects: Vec<Entry>,
}

/// One object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Its name in the folder.
    pub file: String,
    /// The unit that was compiled.
    pub unit: String,
    /// Its size.
    pub bytes: u64,
    /// The hash of the sources that it was made of: `kernels_hip::Unit::source_hash`.
    pub source: String,
    /// The hash of the options that every compiler gets for the unit: `kernels_hip::Unit::options_hash`. Older manifests have
    /// none; their objects are compiled again.
    #[serde(default)]
    pub options: String,
    /// The hash of everything that decides the object: sources, options, compiler.
    pub build: String,
    /// The hash of its bytes: `kernels_hip::hash_bytes`.
    pub hash: String,
    /// The names of its kernels.
    pub kernels: Vec<String>,
    /// The version of the program that measured `resources`. Other versions measure again.
    #[serde(default)]
    pub measured_by: String,
    /// The resources that each kernel uses; none on the host.
    #[serde(default)]
    pub resources: Vec<KernelResources>,
}

impl Manifest {
    /// A manifest without objects.
    pub(super) fn new(target: &Target, toolchain: &Toolchain) -> Self {
        Self {
            platform: target.platform.name().into(),
            arch: target.arch.clone(),
            wave_size: target.wave_size(),
            compiler: toolchain.compiler.program.display().to_string(),
            compiler_version: toolchain.version.clone(),
            objects: Vec::new(),
        }
    }

    /// Reads the manifest of a folder.
    ///
    /// # Errors
    /// There is none, or another version of this program wrote it.
    pub fn read(dir: &Path) -> Result<Self, String> {
        let path = dir.join(NAME);
        let text = std::fs::read_to_string(&path).map_err(|e| {
            format!("cannot read {}: {e}; `cargo xtask build-kernels` writes it", path.display())
        })?;
        serde_json::from_str(&text).map_err(|e| {
            format!(
                "{} is not of this version ({e}); `cargo xtask build-kernels` writes it anew",
                path.display()
            )
        })
    }

    /// Writes it into the folder atomically. Each object is on one line.
    pub(super) fn write(&self, folder: &Folder) -> Result<(), String> {
        let fail = |error: serde_json::Error| format!("cannot write {NAME}: {error}");
        let head = Self { objects: Vec::new(), ..self.clone() };
        let head = serde_json::to_string_pretty(&head).map_err(fail)?;
        let lines: Vec<String> =
            self.objects.iter().map(serde_json::to_string).collect::<Result<_, _>>().map_err(fail)?;
        let objects = format!("\"objects\": [\n    {}\n  ]", lines.join(",\n    "));
        let text = head.replace("\"objects\": []", &objects) + "\n";
        workspace::write_whole(&folder.work().join(NAME), text.as_bytes())?;
        folder.publish(NAME)
    }

    /// The entry of an object.
    pub fn entry(&self, file: &str) -> Option<&Entry> {
        self.objects.iter().find(|entry| entry.file == file)
    }

    /// Adds an object's entry, or replaces it.
    pub(super) fn set(&mut self, entry: Entry) {
        self.objects.retain(|old| old.file != entry.file);
        self.objects.push(entry);
    }

    /// Sorts the entries into this order of files.
    pub(super) fn sort(&mut self, files: &[String]) {
        self.objects.sort_by_key(|entry| files.iter().position(|file| *file == entry.file));
    }

    /// Whether `bytes` are what the build wrote under this name.
    pub(super) fn verify(&self, file: &str, bytes: &[u8]) -> Result<(), String> {
        match self.entry(file) {
            None => Err(format!("{NAME} does not list it")),
            Some(entry) if entry.hash != hash_bytes(bytes) => {
                Err(format!("it is not the file that {NAME} lists"))
            }
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: &str, bytes: &[u8]) -> Entry {
        Entry {
            file: file.into(),
            unit: "unit".into(),
            bytes: bytes.len() as u64,
            source: "s".into(),
            options: "o".into(),
            build: "b".into(),
            hash: hash_bytes(bytes),
            kernels: vec!["kernel".into()],
            measured_by: String::new(),
            resources: Vec::new(),
        }
    }

    fn manifest(objects: Vec<Entry>) -> Manifest {
        let text = || String::from("text");
        let (platform, arch, compiler, compiler_version) = (text(), text(), text(), text());
        Manifest { platform, arch, wave_size: 64, compiler, compiler_version, objects }
    }

    #[test]
    fn a_changed_file_and_an_unlisted_file_are_different_errors() {
        let manifest = manifest(vec![entry("a.o", b"a")]);
        assert_eq!(manifest.verify("a.o", b"a"), Ok(()));
        assert!(manifest.verify("a.o", b"b").expect_err("damaged").contains("is not the file"));
        assert!(manifest.verify("b.o", b"a").expect_err("unlisted").contains("does not list"));
    }

    #[test]
    fn a_manifest_has_one_line_per_object_and_reads_back() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        let folder = Folder::open(dir.path()).expect("writable");
        let mut written = manifest(vec![entry("b.o", b"b"), entry("a.o", b"a")]);
        written.set(entry("b.o", b"new"));
        written.sort(&["a.o".into(), "b.o".into()]);
        written.write(&folder).expect("writable");
        let read = Manifest::read(dir.path()).expect("just written");
        let files: Vec<&str> = read.objects.iter().map(|entry| entry.file.as_str()).collect();
        assert_eq!(files, ["a.o", "b.o"]);
        assert_eq!(read.verify("b.o", b"new"), Ok(()));
        let text = std::fs::read_to_string(dir.path().join(NAME)).expect("just written");
        assert_eq!(text.lines().filter(|line| line.contains("\"hash\"")).count(), 2);
        std::fs::write(dir.path().join(NAME), "{}").expect("writable");
        assert!(Manifest::read(dir.path()).expect_err("of no version").contains("writes it anew"));
        manifest(Vec::new()).write(&folder).expect("writable");
        assert!(Manifest::read(dir.path()).expect("just written").objects.is_empty());
    }
}
