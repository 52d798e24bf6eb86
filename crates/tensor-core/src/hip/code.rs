//! Finds a device's code: code objects in a folder, the disk cache, or run-time compilation, in that order.

mod folder;
mod notice;
#[cfg(all(test, feature = "host"))]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hip_safe::{CacheAnswer, CodeCache, Device, Platform, Source};
use hip_sys::check_owner;
use kernels_hip::Unit;

/// The origin of the code of a kernel unit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeOrigin {
    /// A file written by `cargo xtask build-kernels`.
    Folder(PathBuf),
    /// A cache file written by an earlier run-time compilation.
    Cache(PathBuf),
    /// It was compiled now.
    Compiled,
}

/// The target that a unit is compiled for.
pub(super) struct Target<'a> {
    pub(super) platform: &'a Platform,
    /// Includes features, such as `gfx90a:sramecc+:xnack-`.
    pub(super) arch: &'a str,
    pub(super) wave_size: u32,
    /// The device of this architecture. Its compiler is asked even if we do not know the architecture.
    pub(super) device: Option<&'a Device>,
}

impl Target<'_> {
    /// The architecture and wave size that a unit is compiled for.
    fn of(&self, unit: &Unit) -> (&str, u32) {
        unit.target(self.platform.kind.name(), self.arch, self.wave_size)
    }

    /// Whether this is a device of hip-host.
    fn is_host(&self) -> bool {
        self.platform.kind.name() == "host"
    }
}

/// Where to search, in this order.
pub(super) struct Search {
    /// The folder named by `HIPSTACK_KERNELS`. It must exist, and its files for an architecture must be complete and
    /// usable. If it has none for an architecture, it is skipped.
    named: Option<PathBuf>,
    /// Folders named `kernels` next to the program and up to two levels above. Cargo puts programs one or two folders
    /// below `target`, where `cargo xtask build-kernels` writes. A folder that others may write to is skipped.
    beside: Vec<PathBuf>,
    cache: Cache,
}

/// The cache of the process, or a test's own.
enum Cache {
    Process,
    #[cfg(all(test, feature = "host"))]
    Own(Box<CodeCache>),
}

/// The value of `HIPSTACK_KERNELS` that disables folders.
const COMPILE: &str = "compile";

/// The search configured by the environment, which is read once.
pub(super) static SEARCH: LazyLock<Search> = LazyLock::new(|| {
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.ancestors().skip(1).take(3).map(|folder| folder.join("kernels")).collect();
    Search::new(std::env::var_os("HIPSTACK_KERNELS").map(PathBuf::from), beside, Cache::Process)
});

impl Search {
    fn new(named: Option<PathBuf>, beside: Vec<PathBuf>, cache: Cache) -> Search {
        match named.filter(|named| !named.as_os_str().is_empty()) {
            Some(word) if word.as_os_str() == COMPILE => Search { named: None, beside: Vec::new(), cache },
            named => Search { named, beside, cache },
        }
    }

    fn cache(&self) -> &CodeCache {
        match &self.cache {
            Cache::Process => CodeCache::process(),
            #[cfg(all(test, feature = "host"))]
            Cache::Own(cache) => cache,
        }
    }

    /// The code of a unit. Prints a notice if a compilation takes long.
    ///
    /// # Errors
    /// Where it was looked for, why it was not found, and how to build it; the compiler's log if it does not compile.
    pub(super) fn find(&self, target: &Target, unit: &Unit) -> Result<(Vec<u8>, CodeOrigin), String> {
        let _waiting = notice::waiting(&unit.name(), target.of(unit).0);
        self.find_quietly(target, unit)
    }

    /// As [`Search::find`], without the notice.
    ///
    /// # Errors
    /// As [`Search::find`].
    pub(super) fn find_quietly(&self, target: &Target, unit: &Unit) -> Result<(Vec<u8>, CodeOrigin), String> {
        let mut why = Vec::new();
        if let Some(current) = self.ahead(target, unit, &mut why)? {
            return Ok((current.image, CodeOrigin::Folder(current.path)));
        }
        can_compile(target).map_err(|error| nothing(target, unit, &why, &error))?;
        let (source, arch) = (source(target, unit)?, target.of(unit).0);
        let compiled = match target.device.filter(|_| arch == target.arch) {
            Some(device) => self.cache().compile_for(&source, device),
            None => self.cache().compile(&source, target.platform, arch),
        };
        match compiled {
            Ok((compiled, CacheAnswer::Kept(file))) => Ok((compiled.into_code(), CodeOrigin::Cache(file))),
            Ok((compiled, CacheAnswer::Remembered)) => Ok((compiled.into_code(), CodeOrigin::Compiled)),
            Ok((compiled, CacheAnswer::Compiled)) => {
                notice::kept(self.cache());
                Ok((compiled.into_code(), CodeOrigin::Compiled))
            }
            Err(error) => Err(nothing(target, unit, &why, &error.to_string())),
        }
    }

    /// Passes the code of a unit to `take`. If `take` rejects code from the cache, the entry is removed and the search
    /// is repeated once.
    ///
    /// # Errors
    /// As [`Search::find`], converted by `wrong`; or the error of `take`.
    pub(super) fn find_for<T, E>(
        &self,
        target: &Target,
        unit: &Unit,
        wrong: impl Fn(String) -> E,
        take: impl Fn(&[u8]) -> Result<T, E>,
    ) -> Result<(T, CodeOrigin), E> {
        let (image, origin) = self.find(target, unit).map_err(&wrong)?;
        match (take(&image), origin) {
            (Ok(taken), origin) => Ok((taken, origin)),
            (Err(_), CodeOrigin::Cache(entry)) => {
                self.cache().forget(&entry);
                let (image, origin) = self.find(target, unit).map_err(wrong)?;
                Ok((take(&image)?, origin))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Checks that there is code of a unit, or a compiler that can be asked for it.
    ///
    /// # Errors
    /// As [`Search::find`], without compiling.
    pub(super) fn check(&self, target: &Target, unit: &Unit) -> Result<(), String> {
        let mut why = Vec::new();
        if self.ahead(target, unit, &mut why)?.is_some() {
            return Ok(());
        }
        can_compile(target).map_err(|error| nothing(target, unit, &why, &error))
    }

    /// The compiler of the code that the device gets; `None` if there is no code.
    pub(super) fn compiler(&self, target: &Target) -> Option<String> {
        let unit = kernels_hip::units().next()?;
        if let Some(current) = self.ahead(target, &unit, &mut Vec::new()).ok()? {
            return Some(current.compiler);
        }
        can_compile(target).ok()?;
        if target.is_host() {
            let compiler = target.platform.compiler_identity();
            return Some(format!("at run time by {}", compiler.lines().next().unwrap_or_default()));
        }
        let (major, minor) = hip_safe::compiler_version(target.platform).ok()?;
        Some(format!("at run time by hiprtc {major}.{minor} of HIP {}", target.platform.version()))
    }

    /// A code object that was built ahead of time.
    fn ahead(
        &self,
        target: &Target,
        unit: &Unit,
        why: &mut Vec<String>,
    ) -> Result<Option<folder::Current>, String> {
        let arch = name_of(target.of(unit).0);
        let inside = |folder: &PathBuf| folder.join(target.platform.kind.name()).join(arch);
        if let Some(named) = &self.named {
            let folder = inside(named);
            let wrong = match folder::read(&folder, target, unit) {
                Ok(Some(current)) => return Ok(Some(current)),
                Ok(None) if !named.is_dir() => format!("{} is no folder", named.display()),
                Ok(None) if folder.is_dir() => format!("{} has no {}", folder.display(), unit.name()),
                Ok(None) => String::new(),
                Err(wrong) => wrong,
            };
            if !wrong.is_empty() {
                let again = build(target);
                return Err(format!(
                    "{wrong}; run {again}, or unset HIPSTACK_KERNELS, which names its folder"
                ));
            }
            why.push(format!("nothing in {}", folder.display()));
        }
        for root in &self.beside {
            let folder = inside(root);
            match folder::read(&folder, target, unit) {
                Ok(Some(current)) => match only_ours(root, &current.path) {
                    Ok(()) => return Ok(Some(current)),
                    Err(others) => why.push(others),
                },
                Ok(None) => why.push(format!("nothing in {}", folder.display())),
                Err(wrong) => why.push(wrong),
            }
        }
        Ok(None)
    }
}

/// The source of a unit, with the options that its platform's compiler needs.
fn source(target: &Target, unit: &Unit) -> Result<Source, String> {
    let platform = target.platform.kind.name();
    let options = unit
        .options(platform, target.wave_size)
        .ok_or_else(|| format!("kernels for {platform} are not compiled at run time"))?;
    let headers = unit.family.headers();
    Ok(Source::new(unit.family.source).name(unit.family.file).headers(headers).options(options))
}

/// Whether the platform's compiler can be asked for the architecture.
fn can_compile(target: &Target) -> Result<(), String> {
    target.platform.check_compiler()?;
    match target.device {
        Some(_) => Ok(()),
        None => target.platform.check_rtc_architecture(target.arch).map_err(|unknown| unknown.to_string()),
    }
}

/// Checks that only this user and root can change a file and the folders above it, up to `root`.
fn only_ours(root: &Path, file: &Path) -> Result<(), String> {
    file.ancestors().take_while(|part| part.starts_with(root)).try_for_each(check_owner)
}

fn nothing(target: &Target, unit: &Unit, why: &[String], compiler: &str) -> String {
    let why: String = why.iter().map(|line| format!("{line}; ")).collect();
    format!(
        "no code of {} for {}: {why}{compiler}. Run {}, and set HIPSTACK_KERNELS if its folder is elsewhere",
        unit.name(),
        name_of(target.arch),
        build(target)
    )
}

/// The command that builds the code objects for a target.
fn build(target: &Target) -> String {
    let (platform, arch) = (target.platform.kind.name(), name_of(target.arch));
    format!("`cargo xtask build-kernels --platform {platform} --arch {arch}`")
}

/// Removes the features from an architecture such as "gfx90a:sramecc+:xnack-".
fn name_of(arch: &str) -> &str {
    arch.split(':').next().unwrap_or(arch)
}
