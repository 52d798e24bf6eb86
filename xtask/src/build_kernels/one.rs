//! Builds one object, and checks whether it is current.

use super::compiler::with_parsed;
use super::folder::Folder;
use super::manifest::{Entry, Manifest};
use super::object_file;
use super::target::{Platform, Target};
use super::toolchain::Toolchain;
use kernel_resources::{self as resources, Disassembler, KernelResources, Vendor};
use kernels_hip::{FAMILIES, Unit, hash_bytes};
use std::path::{Path, PathBuf};
use std::process::Output;

/// What the objects of a target are built with.
pub(super) struct Job<'a> {
    pub(super) target: &'a Target,
    pub(super) toolchain: &'a Toolchain,
    pub(super) folder: &'a Folder,
    /// The folder of the kernels' sources.
    pub(super) sources: &'a Path,
    pub(super) disassembler: Option<&'a Disassembler>,
    /// HIP's headers, parsed.
    pub(super) headers: Option<PathBuf>,
}

/// The name of a unit's object.
pub(super) fn file_name(target: &Target, unit: &Unit) -> String {
    format!("{}.{}", unit.name(), target.platform.extension())
}

/// Fails with what has changed if an object is not what a compilation would write now. Without a toolchain only sources
/// and options are compared.
pub(super) fn up_to_date(
    entry: &Entry,
    target: &Target,
    unit: &Unit,
    toolchain: Option<&Toolchain>,
) -> Result<(), String> {
    if entry.source != unit.source_hash() {
        return Err("it is not current: its texts have changed".into());
    }
    if entry.options != options(target, unit) {
        return Err("it is not current: its options have changed".into());
    }
    match toolchain {
        Some(toolchain) if entry.build != toolchain.key(target, unit) => {
            Err("it is not current: another compiler, headers or options would make it now".into())
        }
        _ => Ok(()),
    }
}

fn options(target: &Target, unit: &Unit) -> String {
    unit.options_hash(target.platform.name(), target.wave_size())
}

impl Job<'_> {
    /// The entry of the unit's object if it is what a compilation would write now.
    pub(super) fn current(&self, manifest: &Manifest, unit: &Unit) -> Result<Option<Entry>, String> {
        let file = file_name(self.target, unit);
        let made_so = |entry: &&Entry| up_to_date(entry, self.target, unit, Some(self.toolchain)).is_ok();
        let Some(entry) = manifest.entry(&file).filter(made_so) else { return Ok(None) };
        let path = self.folder.path().join(&file);
        let Ok(bytes) = std::fs::read(&path) else { return Ok(None) };
        if entry.hash != hash_bytes(&bytes) {
            return Ok(None);
        }
        // Figures that were measured with a disassembler are kept if there is none now.
        let version = format!("{},", resources::VERSION);
        let more_is_known = self.disassembler.is_none() && entry.measured_by.starts_with(&version);
        if more_is_known || entry.measured_by == self.measured_by() {
            return Ok(Some(entry.clone()));
        }
        // Only NVIDIA's compiler knows these figures, so the object is compiled again.
        if self.target.platform == Platform::Nvidia {
            return Ok(None);
        }
        self.entry(unit, &path, &bytes, "").map(Some)
    }

    /// Compiles a unit in the work folder, checks the object, and moves it to its folder.
    pub(super) fn compile(&self, unit: &Unit) -> Result<Entry, String> {
        let file = file_name(self.target, unit);
        let work = self.folder.work();
        let object = work.join(&file);
        let source = self.sources.join(FAMILIES).join(unit.family.file);
        let mut command = self.toolchain.command(self.target, unit, self.sources, &source, &object);
        with_parsed(&mut command, self.headers.as_deref());
        let Output { status, stdout, stderr } = command
            .env("TMPDIR", &work)
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.toolchain.compiler.program.display()))?;
        let said = String::from_utf8_lossy(&stderr).into_owned() + &String::from_utf8_lossy(&stdout);
        if !status.success() {
            return Err(format!("{} ({status}): {}\n{said}", unit.name(), self.to_repeat(unit)));
        }
        let entry = std::fs::read(&object)
            .map_err(|e| format!("the compiler succeeded and wrote no file: {e}"))
            .and_then(|bytes| {
                object_file::check(self.target, &bytes, &unit.kernels())?;
                self.entry(unit, &object, &bytes, &said)
            })
            .map_err(|e| format!("{file}: {e}: {}\n{said}", self.to_repeat(unit)))?;
        self.folder.publish(&file)?;
        Ok(entry)
    }

    fn entry(&self, unit: &Unit, object: &Path, bytes: &[u8], said: &str) -> Result<Entry, String> {
        Ok(Entry {
            file: file_name(self.target, unit),
            unit: unit.name(),
            bytes: bytes.len() as u64,
            source: unit.source_hash(),
            options: options(self.target, unit),
            build: self.toolchain.key(self.target, unit),
            hash: hash_bytes(bytes),
            kernels: unit.kernels(),
            measured_by: self.measured_by(),
            resources: self.measure(object, bytes, said)?,
        })
    }

    /// What the kernels of an object use. `said` is the compiler's output: NVIDIA's reports there what is not in the object.
    fn measure(&self, object: &Path, bytes: &[u8], said: &str) -> Result<Vec<KernelResources>, String> {
        let Some(gpu) = self.target.gpu() else { return Ok(Vec::new()) };
        let mut kernels = match gpu.vendor {
            Vendor::Amd => resources::of_amd(&gpu, bytes)?,
            Vendor::Nvidia => resources::of_nvidia(&gpu, said)?,
        };
        if let Some(disassembler) = self.disassembler {
            resources::add_loops(&mut kernels, &disassembler.functions(object)?);
        }
        Ok(kernels)
    }

    /// The command as a person would type it; it writes into the current folder.
    fn to_repeat(&self, unit: &Unit) -> String {
        let source = self.sources.join(FAMILIES).join(unit.family.file);
        let object = file_name(self.target, unit);
        let command = self.toolchain.command(self.target, unit, self.sources, &source, object.as_ref());
        format!("to repeat it:\n  {command:?}")
    }

    /// Names the version of the measurement and the disassembler.
    fn measured_by(&self) -> String {
        let program = self.disassembler.map_or("no disassembler", |program| &program.version);
        format!("{}, {program}", resources::VERSION)
    }
}
