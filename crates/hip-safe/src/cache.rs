//! Compiled code kept on disk, so that a text is compiled once for a machine.

mod entry;
mod identity;
mod place;
mod reads;
mod store;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::single_flight::SingleFlight;
use crate::{Compiled, Device, Error, Result, Source};
use hip_sys::{Image, Platform};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use store::Store;

/// A folder of compiled code, which several programs may use at once.
///
/// What was compiled is found again by everything that decides about it: texts, headers, options, architecture with features, platform,
/// the versions and files of runtime and compiler, and the variables that add options. Headers that the compiler would find on
/// disk are not known: a source with `-I`, `-include`, `@file` and the like, or whose text includes other files than its headers and
/// those that come with the compiler, is compiled each time and not kept. Neither is what is no image for the architecture. An entry repeats all of that and is compared with it, so its file name, a hash of 128
/// bits, only has to be rare, not unforgeable. A checksum covers every byte: an entry that is damaged is removed and compiled again.
/// Writes go to a file of another name, which then takes its place: nobody reads half an entry. They are not forced to the disk; what a
/// loss of power leaves is seen by the checksum.
///
/// A cache never fails: where its folder cannot be read or written, the code is compiled and used anyway.
/// [`CodeCache::statistics`] and [`CodeCache::last_failure`] tell of it. Whoever may write to the folder decides what runs: a folder or
/// entry that belongs to another user, or that everyone may write to, is not used.
///
/// ```
/// use hip_safe::{CodeCache, CacheAnswer, Source};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let cache = CodeCache::at(folder.path(), 64 << 20);
/// let source = Source::new("extern \"C\" __global__ void fill(int* a) { a[threadIdx.x] = 1; }");
/// let platform = hip_host::platform();
/// let (first, origin) = cache.compile(&source, &platform, "host-w32")?;
/// assert_eq!(origin, CacheAnswer::Compiled);
/// let (again, origin) = cache.compile(&source, &platform, "host-w32")?;
/// assert!(matches!(origin, CacheAnswer::Kept(_)) && again == first);
/// assert_eq!((cache.statistics().hits, cache.statistics().misses), (1, 1));
/// # Ok(())
/// # }
/// ```
pub struct CodeCache {
    store: Option<Store>,
    /// Compilations under way, so that one of several threads that want the same compiles it.
    flights: SingleFlight<Vec<u8>, (Compiled, CacheAnswer), Error>,
}

/// Where a cache's code came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheAnswer {
    /// This file of the cache.
    Kept(PathBuf),
    /// It was compiled now.
    Compiled,
}

/// What a cache did since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Entries that were found and good.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
    /// Entries that were damaged: they were removed, and count as misses too.
    pub damaged: u64,
    /// Entries that were written.
    pub stored: u64,
    /// Entries that were removed to keep the limit.
    pub evicted: u64,
    /// Reads, writes and removals that the system refused; see [`CodeCache::last_failure`].
    pub failures: u64,
    /// Bytes of entries that were read.
    pub bytes_read: u64,
    /// Bytes of entries that were written.
    pub bytes_written: u64,
}

/// What lies in a cache's folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// How many entries.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

static PROCESS: LazyLock<CodeCache> = LazyLock::new(place::from_environment);

impl CodeCache {
    /// The limit of [`CodeCache::process`] in bytes where `HIPSTACK_CACHE_MB` does not say.
    pub const DEFAULT_LIMIT: u64 = 1 << 30;

    /// A cache in a folder, which is made at the first write, of at most `limit` bytes: the entries that were not used for the longest
    /// time make room.
    pub fn at(folder: impl Into<PathBuf>, limit: u64) -> Self {
        Self { store: Some(Store::new(folder.into(), limit)), flights: SingleFlight::default() }
    }

    /// A cache that keeps nothing. Threads that want the same at once still compile it once.
    pub fn off() -> Self {
        Self { store: None, flights: SingleFlight::default() }
    }

    /// The cache of this process, as its environment says when it is first used: [`hip_sys::cache_folder`], of at most
    /// `HIPSTACK_CACHE_MB` times 2²⁰ bytes.
    pub fn process() -> &'static Self {
        &PROCESS
    }

    /// The folder, if it keeps anything.
    pub fn folder(&self) -> Option<&Path> {
        self.store.as_ref().map(|store| store.folder.as_path())
    }

    /// The most bytes that it keeps.
    pub fn limit(&self) -> u64 {
        self.store.as_ref().map_or(0, |store| store.limit)
    }

    /// The code of a source for an architecture: that of the cache, else it is compiled and kept. If several threads of the process want
    /// the same at once, one compiles it.
    ///
    /// # Errors
    /// Those of [`Source::compile`]; never one of the cache.
    pub fn compile(
        &self,
        source: &Source,
        platform: &Platform,
        arch: &str,
    ) -> Result<(Compiled, CacheAnswer)> {
        self.fly(source, platform, arch, Source::compile)
    }

    /// As [`CodeCache::compile`], for the architecture of a device.
    ///
    /// # Errors
    /// Those of [`Source::compile_for`]; never one of the cache.
    pub fn compile_for(&self, source: &Source, device: &Device) -> Result<(Compiled, CacheAnswer)> {
        self.fly(source, device.platform(), &device.properties().arch, Source::compile_own)
    }

    /// Removes the file of a [`CacheAnswer::Kept`], because the device did not take its code: the next one who asks compiles.
    pub fn forget(&self, entry: &Path) {
        if let Some(store) = &self.store {
            store.forget(entry);
        }
    }

    fn fly(
        &self,
        source: &Source,
        platform: &Platform,
        arch: &str,
        compile: Compile,
    ) -> Result<(Compiled, CacheAnswer)> {
        let (identity, keep) = identify(source, platform, arch)?;
        let store = self.store.as_ref().filter(|_| keep);
        self.flights.get_or_make(identity.clone(), || {
            look_up(store, &identity, arch, || compile(source, platform, arch))
        })
    }

    /// What it did so far.
    pub fn statistics(&self) -> CacheStatistics {
        self.store.as_ref().map(Store::statistics).unwrap_or_default()
    }

    /// The last thing that the system refused, in words, with its path.
    pub fn last_failure(&self) -> Option<String> {
        self.store.as_ref().and_then(Store::last_failure)
    }

    /// What lies in the folder now; nothing if there is no folder.
    ///
    /// # Errors
    /// That of the system if the folder cannot be read.
    pub fn usage(&self) -> io::Result<CacheUsage> {
        let entries = self.store.as_ref().map_or(Ok(Vec::new()), Store::entries)?;
        Ok(CacheUsage { entries: entries.len() as u64, bytes: entries.iter().map(|entry| entry.bytes).sum() })
    }
}

/// Whether two modules of equal sources are the same.
pub(crate) enum Sharing {
    /// They are if all this is equal.
    By(Vec<u8>),
    /// Nobody knows: the compiler may read files.
    Never,
}

impl Sharing {
    pub(crate) fn of(source: &Source, device: &Device) -> Result<Self> {
        let (identity, known) = identify(source, device.platform(), &device.properties().arch)?;
        Ok(if known { Self::By(identity) } else { Self::Never })
    }
}

/// What decides about the code of a source, and whether that is all.
fn identify(source: &Source, platform: &Platform, arch: &str) -> Result<(Vec<u8>, bool)> {
    let get = |name: &str| std::env::var_os(name);
    Ok((identity::of(source, platform, arch, &get)?, !reads::files(source, &get)))
}

/// A way to compile.
type Compile = fn(&Source, &Platform, &str) -> Result<Compiled>;

/// What is kept, if a device of the architecture could take it; else what is compiled now, which is kept under the same condition.
fn look_up(
    store: Option<&Store>,
    identity: &[u8],
    arch: &str,
    compile: impl FnOnce() -> Result<Compiled>,
) -> Result<(Compiled, CacheAnswer)> {
    let kept = store.and_then(|store| store.get(identity));
    let read = kept.and_then(|(path, payload)| Some((path, identity::decode(&payload)?)));
    if let Some((path, compiled)) = read
        && Image::new(&compiled.code, arch).is_ok()
    {
        return Ok((compiled, CacheAnswer::Kept(path)));
    }
    let compiled = compile()?;
    if let Some(store) = store {
        match Image::new(&compiled.code, arch) {
            Ok(_) => store.put(identity, &identity::encode(&compiled)),
            Err(wrong) => store.note(format!("what was compiled for {arch} was not kept: {wrong}")),
        }
    }
    Ok((compiled, CacheAnswer::Compiled))
}

impl std::fmt::Debug for CodeCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeCache").field("folder", &self.folder()).field("limit", &self.limit()).finish()
    }
}
