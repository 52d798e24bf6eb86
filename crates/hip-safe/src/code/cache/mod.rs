//! The cache of compiled code on disk, so that a source is compiled once on a machine.

mod entry;
mod environment;
mod identity;
mod lock;
mod memory;
mod reads;
mod store;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::code::single_flight::SingleFlight;
use crate::{Compiled, Device, Error, Result, Source};
use hip_sys::{Image, Platform};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use memory::Memory;
use store::Store;

/// A folder of compiled code, which several programs may use at once.
///
/// The key of an entry is everything that the code depends on: text, headers, options, architecture with features, platform, the versions and
/// files of runtime and compiler, and the environment variables that add options. Headers that the compiler finds on disk cannot be part of the
/// key. So a source is compiled each time and not cached if it has `-I`, `-include`, `@file` and the like, or includes other files than its own
/// headers and those that come with the compiler. A result that is not an image for the architecture is not cached either.
///
/// An entry contains its key, which is compared, so the file name may be a hash of 128 bits that is not collision-resistant. A checksum covers
/// every byte; a damaged entry is removed and compiled again. An entry is written to a temporary file and then renamed, so nobody reads a part of
/// one. Files are not synchronised to disk; the checksum detects damage after a power loss. If several processes need the same code at once, one
/// holds a lock on a file in the folder and compiles, and the others wait.
///
/// A cache never causes an error: if its folder cannot be read or written, the code is compiled and used anyway. [`CodeCache::statistics`] and
/// [`CodeCache::last_failure`] report failures. Whoever can write to the folder decides what code runs, so a folder or entry that belongs to
/// another user, or that everyone can write to, is not used.
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
    /// Entries that could not be written to the folder, until the process ends. `None` in a cache that keeps nothing.
    memory: Option<Memory>,
    /// Compilations in progress. If several threads need the same code, one compiles it.
    flights: SingleFlight<Vec<u8>, (Compiled, CacheAnswer), Error>,
}

/// Where code came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheAnswer {
    /// A file of the cache.
    Kept(PathBuf),
    /// The memory of this process, which had compiled it and could not write it to a folder.
    Remembered,
    /// A compilation.
    Compiled,
}

/// The counters of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Valid entries that were found.
    pub hits: u64,
    /// Look-ups that found no valid entry.
    pub misses: u64,
    /// Damaged entries. They were removed, and count as misses too.
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

/// The size of a cache's folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// How many entries.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

static PROCESS: LazyLock<CodeCache> = LazyLock::new(environment::cache);

impl CodeCache {
    /// The limit of [`CodeCache::process`] in bytes where `HIPSTACK_CACHE_MB` does not say.
    pub const DEFAULT_LIMIT: u64 = 1 << 30;

    /// A cache in a folder of at most `limit` bytes. The folder is created at the first write. The least recently used entries are evicted.
    pub fn at(folder: impl Into<PathBuf>, limit: u64) -> Self {
        Self {
            store: Some(Store::new(folder.into(), limit)),
            memory: Some(Memory::default()),
            flights: SingleFlight::default(),
        }
    }

    /// A cache that keeps nothing. Threads that need the same code at once still compile it once.
    pub fn off() -> Self {
        Self { store: None, memory: None, flights: SingleFlight::default() }
    }

    /// A cache without a folder. Compiled code is kept in memory until the process ends.
    pub fn in_memory() -> Self {
        Self { memory: Some(Memory::default()), ..Self::off() }
    }

    /// The cache of this process: in [`hip_sys::cache_folder`], of at most `HIPSTACK_CACHE_MB` times 2²⁰ bytes. The environment is read at the
    /// first use. Without a folder it is [`CodeCache::in_memory`].
    pub fn process() -> &'static Self {
        &PROCESS
    }

    /// The folder, if it has one.
    pub fn folder(&self) -> Option<&Path> {
        self.store.as_ref().map(|store| store.folder.as_path())
    }

    /// The most bytes that it keeps.
    pub fn limit(&self) -> u64 {
        self.store.as_ref().map_or(0, |store| store.limit)
    }

    /// The code of a source for an architecture, from the cache, or compiled and then cached. If several threads of the process need the same code
    /// at once, one compiles it.
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

    /// Removes the file of a [`CacheAnswer::Kept`] whose code the device refused, so that the next call compiles.
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
        let wanted = Wanted { identity: &identity, arch };
        let compile = || compile(source, platform, arch);
        let found = self.flights.get_or_make(identity.clone(), || {
            if keep { self.look_up(&wanted, compile) } else { Ok((compile()?, CacheAnswer::Compiled)) }
        });
        let (mut compiled, answer) = found?;
        compiled.text = source.text();
        Ok((compiled, answer))
    }

    /// Its counters.
    pub fn statistics(&self) -> CacheStatistics {
        self.store.as_ref().map(Store::statistics).unwrap_or_default()
    }

    /// The last failure, in words, with its path.
    pub fn last_failure(&self) -> Option<String> {
        self.store.as_ref().and_then(Store::last_failure)
    }

    /// The size of the folder now; 0 if there is no folder.
    ///
    /// # Errors
    /// That of the system if the folder cannot be read.
    pub fn usage(&self) -> io::Result<CacheUsage> {
        let entries = self.store.as_ref().map_or(Ok(Vec::new()), Store::entries)?;
        Ok(CacheUsage { entries: entries.len() as u64, bytes: entries.iter().map(|entry| entry.bytes).sum() })
    }
}

/// Whether equal sources can share a module.
pub(crate) enum Sharing {
    /// Sources with an equal key can.
    By(Vec<u8>),
    /// The compiler may read files that are not part of the key.
    Never,
}

impl Sharing {
    pub(crate) fn of(source: &Source, device: &Device) -> Result<Self> {
        let (identity, known) = identify(source, device.platform(), &device.properties().arch)?;
        Ok(if known { Self::By(identity) } else { Self::Never })
    }
}

/// The key of a source, and whether it covers everything that the code depends on.
fn identify(source: &Source, platform: &Platform, arch: &str) -> Result<(Vec<u8>, bool)> {
    let get = |name: &str| std::env::var_os(name);
    Ok((identity::of(source, platform, arch, &get)?, !reads::files(source, &get)))
}

/// [`Source::compile`] or [`Source::compile_own`].
type Compile = fn(&Source, &Platform, &str) -> Result<Compiled>;

/// The key of a look-up.
struct Wanted<'a> {
    identity: &'a [u8],
    arch: &'a str,
}

impl CodeCache {
    /// The cached code, or the result of `compile`, which is then cached. Both only if it is a valid image for the architecture.
    fn look_up(
        &self,
        wanted: &Wanted<'_>,
        compile: impl FnOnce() -> Result<Compiled>,
    ) -> Result<(Compiled, CacheAnswer)> {
        if let Some(compiled) = self.memory.as_ref().and_then(|memory| memory.get(wanted.identity)) {
            return Ok((compiled, CacheAnswer::Remembered));
        }
        let kept = |read: Option<(PathBuf, Vec<u8>)>| {
            let (path, payload) = read?;
            let compiled = identity::decode(&payload)?;
            Image::new(&compiled.code, wanted.arch).ok()?;
            Some((compiled, CacheAnswer::Kept(path)))
        };
        if let Some(found) = self.store.as_ref().and_then(|store| kept(store.get(wanted.identity))) {
            return Ok(found);
        }
        // Another process may be compiling it, or may have compiled it since the first look-up.
        let _lock = self.store.as_ref().and_then(|store| store.lock(wanted.identity));
        if let Some(found) = self.store.as_ref().and_then(|store| kept(store.get_again(wanted.identity))) {
            return Ok(found);
        }
        let compiled = compile()?;
        self.keep(wanted, &compiled);
        Ok((compiled, CacheAnswer::Compiled))
    }

    fn keep(&self, wanted: &Wanted<'_>, compiled: &Compiled) {
        if let Err(wrong) = Image::new(&compiled.code, wanted.arch) {
            if let Some(store) = &self.store {
                store.note(format!("what was compiled for {} was not kept: {wrong}", wanted.arch));
            }
            return;
        }
        let put = |store: &Store| store.put(wanted.identity, &identity::encode(compiled));
        if !self.store.as_ref().is_some_and(put)
            && let Some(memory) = &self.memory
        {
            memory.put(wanted.identity, compiled);
        }
    }
}

impl std::fmt::Debug for CodeCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeCache").field("folder", &self.folder()).field("limit", &self.limit()).finish()
    }
}
