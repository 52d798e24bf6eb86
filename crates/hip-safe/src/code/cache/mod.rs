//! Compiled code kept on disk, so that a text is compiled once for a machine.

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
/// What was compiled is found again by everything that decides about it: texts, headers, options, architecture with features, platform,
/// the versions and files of runtime and compiler, and the variables that add options. Headers that the compiler would find on
/// disk are not known: a source with `-I`, `-include`, `@file` and the like, or whose text includes other files than its headers and
/// those that come with the compiler, is compiled each time and not kept. Neither is what is no image for the architecture. An entry repeats all of that and is compared with it, so its file name, a hash of 128
/// bits, only has to be rare, not unforgeable. A checksum covers every byte: an entry that is damaged is removed and compiled again.
/// Writes go to a file of another name, which then takes its place: nobody reads half an entry. They are not forced to the disk; what a
/// loss of power leaves is seen by the checksum. Of several processes that want the same at once, one compiles it: it holds a lock on
/// a file in the folder, and the others wait for it.
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
    /// What the folder does not take, until the process ends; none in a cache that keeps nothing.
    memory: Option<Memory>,
    /// Compilations under way, so that one of several threads that want the same compiles it.
    flights: SingleFlight<Vec<u8>, (Compiled, CacheAnswer), Error>,
}

/// Where a cache's code came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheAnswer {
    /// This file of the cache.
    Kept(PathBuf),
    /// The memory of this process, which compiled it before and could not write it to a folder.
    Remembered,
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

static PROCESS: LazyLock<CodeCache> = LazyLock::new(environment::cache);

impl CodeCache {
    /// The limit of [`CodeCache::process`] in bytes where `HIPSTACK_CACHE_MB` does not say.
    pub const DEFAULT_LIMIT: u64 = 1 << 30;

    /// A cache in a folder, which is made at the first write, of at most `limit` bytes: the entries that were not used for the longest
    /// time make room.
    pub fn at(folder: impl Into<PathBuf>, limit: u64) -> Self {
        Self {
            store: Some(Store::new(folder.into(), limit)),
            memory: Some(Memory::default()),
            flights: SingleFlight::default(),
        }
    }

    /// A cache that keeps nothing. Threads that want the same at once still compile it once.
    pub fn off() -> Self {
        Self { store: None, memory: None, flights: SingleFlight::default() }
    }

    /// A cache without a folder: what was compiled is kept in memory until the process ends.
    pub fn in_memory() -> Self {
        Self { memory: Some(Memory::default()), ..Self::off() }
    }

    /// The cache of this process, as its environment says when it is first used: [`hip_sys::cache_folder`], of at most
    /// `HIPSTACK_CACHE_MB` times 2²⁰ bytes. Without a folder it is [`CodeCache::in_memory`].
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
        let wanted = Wanted { identity: &identity, arch };
        let compile = || compile(source, platform, arch);
        let found = self.flights.get_or_make(identity.clone(), || {
            if keep { self.look_up(&wanted, compile) } else { Ok((compile()?, CacheAnswer::Compiled)) }
        });
        let (mut compiled, answer) = found?;
        compiled.text = source.text();
        Ok((compiled, answer))
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

/// What is looked for.
struct Wanted<'a> {
    identity: &'a [u8],
    arch: &'a str,
}

impl CodeCache {
    /// What is kept, if a device of the architecture could take it; else what is compiled now, which is kept under the same condition.
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
        // Another process may compile it now, or may have since this one looked.
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
