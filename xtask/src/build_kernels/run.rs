//! A build for one target: compiles what is not current, and updates the manifest after every object.

use super::compiler;
use super::contraction;
use super::folder::Folder;
use super::manifest::{Entry, Manifest};
use super::one::{Job, file_name};
use super::pool;
use super::target::Target;
use super::toolchain::Toolchains;
use crate::table::Table;
use kernels_hip::{FAMILIES, HEADER_FOLDERS, HEADERS, Unit, hash_bytes};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A build for one target.
pub(super) struct Run<'a> {
    pub(super) root: &'a Path,
    pub(super) target: &'a Target,
    /// All units of the target.
    pub(super) all: &'a [Unit],
    /// The units that are built; objects of others stay as they are.
    pub(super) units: &'a [Unit],
    /// Whether current objects are compiled, too.
    pub(super) force: bool,
}

/// Fails if the sources that were built into this program differ from those in the folder, which compilers read.
pub(super) fn same_texts(sources: &Path) -> Result<(), String> {
    let families = kernels_hip::families().iter();
    let families = families.map(|family| (sources.join(FAMILIES).join(family.file), family.source));
    let in_folders = |name: &str| HEADER_FOLDERS.map(|folder| sources.join(folder).join(name));
    let header = |name: &str| in_folders(name).into_iter().find(|path| path.is_file());
    let headers =
        HEADERS.iter().map(|(name, text)| (header(name).unwrap_or_else(|| sources.join(name)), *text));
    for (path, text) in families.chain(headers) {
        let found = std::fs::read(&path)
            .map_err(|e| format!("build-kernels: cannot read {}: {e}", path.display()))?;
        if found != text.as_bytes() {
            return Err(format!(
                "build-kernels: {} has changed since this program was built: build it anew (cargo xtask does)",
                path.display()
            ));
        }
    }
    Ok(())
}

impl Run<'_> {
    /// Brings the folder up to date.
    pub(super) fn build(&self, dir: &Path, toolchains: &mut Toolchains) -> Result<(), String> {
        let target = self.target;
        let start = Instant::now();
        let toolchain = toolchains.of(compiler::find(target)?, self.root)?;
        let folder = Folder::open(dir)?;
        let disassembler = compiler::disassembler(target.platform);
        let mut job = Job {
            target,
            toolchain: &toolchain,
            folder: &folder,
            sources: &self.root.join("kernels-hip"),
            disassembler: disassembler.as_ref(),
            headers: None,
        };
        let (manifest, todo) = self.begin(&job, dir)?;
        let built = if todo.is_empty() {
            Vec::new()
        } else {
            // Parsing the headers in advance does not pay for one unit.
            if todo.len() > 1 {
                job.headers =
                    toolchain.parse_headers(target, &folder.work()).map_err(|error| folder.explain(error))?;
            }
            self.compile(&job, manifest, &todo)?
        };
        let kernels: usize = self.units.iter().map(|unit| unit.kernels().len()).sum();
        println!(
            "build-kernels: {target}: {} objects with {kernels} kernels in {}: {} current, {} compiled in {:.1} s",
            self.units.len(),
            dir.display(),
            self.units.len() - built.len(),
            built.len(),
            start.elapsed().as_secs_f64()
        );
        Ok(())
    }

    /// The manifest of the objects that stay, and the units to compile.
    fn begin(&self, job: &Job, dir: &Path) -> Result<(Manifest, Vec<Unit>), String> {
        // A manifest that cannot be read means that nothing is current.
        let old = Manifest::read(dir).ok();
        let mut manifest = Manifest::new(self.target, job.toolchain);
        let mut todo = Vec::new();
        for unit in self.all {
            let listed = old.as_ref().and_then(|old| old.entry(&file_name(self.target, unit)));
            let wanted = self.units.iter().any(|wanted| wanted.name() == unit.name());
            let current = match &old {
                Some(old) if wanted && !self.force => job.current(old, unit)?,
                _ => None,
            };
            if wanted && current.is_none() {
                todo.push(*unit);
            }
            // An intact old object stays listed until its new one is compiled.
            let kept = current.or_else(|| listed.filter(|entry| is_whole(dir, entry)).cloned());
            manifest.objects.extend(kept);
        }
        let as_before = |old: &Manifest| {
            let measured = |entries: &[Entry]| -> Vec<(String, String, String)> {
                let facts = |e: &Entry| (e.file.clone(), e.hash.clone(), e.measured_by.clone());
                entries.iter().map(facts).collect()
            };
            measured(&old.objects) == measured(&manifest.objects)
        };
        if todo.is_empty() && !old.as_ref().is_some_and(as_before) {
            manifest.write(job.folder)?;
        }
        Ok((manifest, todo))
    }

    /// Compiles the units on all cores. Each is listed in the manifest when it is finished.
    fn compile(
        &self,
        job: &Job,
        manifest: Manifest,
        todo: &[Unit],
    ) -> Result<Vec<(Entry, Duration)>, String> {
        let target = self.target;
        println!(
            "build-kernels: {target} with {} ({})",
            job.toolchain.compiler.program.display(),
            job.toolchain.version
        );
        match job.disassembler {
            Some(program) => {
                let work = job.folder.work();
                let headers = job.headers.as_deref();
                contraction::check(job.toolchain, target, &todo[0], job.sources, &work, program, headers)
                    .map_err(|error| job.folder.explain(error))?;
            }
            None if target.platform.is_gpu() => {
                println!("build-kernels: note: no disassembler: neither contraction nor loops are looked at");
            }
            None => {}
        }
        let files: Vec<String> = self.all.iter().map(|unit| file_name(target, unit)).collect();
        let manifest = Mutex::new(manifest);
        let bar = indicatif::ProgressBar::new(todo.len() as u64).with_style(style());
        let results = pool::run(todo, |_, unit| {
            let start = Instant::now();
            let entry = job.compile(unit)?;
            let mut manifest = manifest.lock().map_err(|_| "another unit's job broke off")?;
            manifest.set(entry.clone());
            manifest.sort(&files);
            manifest.write(job.folder)?;
            bar.set_message(unit.name());
            bar.inc(1);
            Ok((entry, start.elapsed()))
        });
        bar.finish_and_clear();
        let built = results.map_err(|error| job.folder.explain(error))?;
        print!("{}", summary(target, &built));
        Ok(built)
    }
}

/// Whether the entry's object exists and has the listed hash.
fn is_whole(dir: &Path, entry: &Entry) -> bool {
    std::fs::read(dir.join(&entry.file)).is_ok_and(|bytes| hash_bytes(&bytes) == entry.hash)
}

fn style() -> indicatif::ProgressStyle {
    indicatif::ProgressStyle::with_template("{elapsed:>4} [{bar:30}] {pos}/{len} {msg}")
        .expect("the template is a constant")
        .progress_chars("=> ")
}

fn summary(target: &Target, built: &[(Entry, Duration)]) -> Table {
    let mut table = Table::new(&["unit", "target", "kernels", "bytes", "seconds"]);
    for (entry, time) in built {
        table.row(&[
            entry.unit.clone(),
            target.to_string(),
            entry.kernels.len().to_string(),
            entry.bytes.to_string(),
            format!("{:.1}", time.as_secs_f64()),
        ]);
    }
    table
}
