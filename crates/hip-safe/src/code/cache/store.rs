//! The folder of a cache: entries by file name, written atomically, the least recently used evicted.

use super::lock::Lock;
use super::{CacheStatistics, entry};
use hip_sys::{check_owner, check_owner_of};
use parking_lot::Mutex;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The suffix of an entry's file name. Another layout gets another suffix, so that programs of two versions do not find each other's entries
/// damaged.
const ENDING: &str = ".code1";
/// The prefix of temporary files.
pub(super) const UNFINISHED: &str = ".writing-";
/// The age of a temporary file from which its writer is assumed to be gone.
const ABANDONED: Duration = Duration::from_secs(3600);
/// The largest difference between the clocks of machines that share a folder.
const CLOCKS: Duration = Duration::from_secs(600);

pub(super) struct Store {
    pub(super) folder: PathBuf,
    pub(super) limit: u64,
    counts: Counts,
    last_failure: Mutex<Option<String>>,
}

#[derive(Default)]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
    damaged: AtomicU64,
    stored: AtomicU64,
    evicted: AtomicU64,
    failures: AtomicU64,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
}

/// An entry as the folder lists it.
pub(super) struct Listed {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// When it was written or read last.
    used: SystemTime,
}

impl Store {
    pub(super) fn new(folder: PathBuf, limit: u64) -> Self {
        Self { folder, limit, counts: Counts::default(), last_failure: Mutex::default() }
    }

    /// The file of an entry and its payload.
    pub(super) fn get(&self, identity: &[u8]) -> Option<(PathBuf, Vec<u8>)> {
        let path = self.path_of(identity);
        let found = self.read(&path, identity);
        let count = if found.is_some() { &self.counts.hits } else { &self.counts.misses };
        count.fetch_add(1, Ordering::Relaxed);
        found.map(|payload| (path, payload))
    }

    /// As [`Store::get`], for a second look-up: a miss is not counted again.
    pub(super) fn get_again(&self, identity: &[u8]) -> Option<(PathBuf, Vec<u8>)> {
        let path = self.path_of(identity);
        let payload = self.read(&path, identity)?;
        self.counts.hits.fetch_add(1, Ordering::Relaxed);
        Some((path, payload))
    }

    /// Waits until no other process compiles for this key. `None` if the folder does not support locks.
    pub(super) fn lock(&self, identity: &[u8]) -> Option<Lock> {
        let locked = make_private(&self.folder)
            .and_then(|()| check_owner(&self.folder).map_err(io::Error::other))
            .and_then(|()| Lock::wait(&self.folder, hash(identity)));
        locked.inspect_err(|error| self.note(format!("cannot lock {}: {error}", self.folder.display()))).ok()
    }

    fn read(&self, path: &Path, identity: &[u8]) -> Option<Vec<u8>> {
        let (file, known) = match open(path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => return self.refused("read", path, &error),
        };
        if let Err(why) = check_owner(&self.folder).and_then(|()| check_owner_of(path, &known)) {
            self.note(why);
            return None;
        }
        // A cache with this limit never writes such a large entry.
        if known.len() > self.limit {
            return None;
        }
        let mut bytes = Vec::new();
        if let Err(error) = (&file).take(self.limit).read_to_end(&mut bytes) {
            return self.refused("read", path, &error);
        }
        let Some((kept, payload)) = entry::parse(&bytes) else {
            self.counts.damaged.fetch_add(1, Ordering::Relaxed);
            self.remove_this(path, &known);
            return None;
        };
        // Another key with the same hash. The later entry replaces this one.
        if kept != identity {
            return None;
        }
        self.counts.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if let Err(error) = file.set_modified(SystemTime::now()) {
            self.refused::<()>("mark as used", path, &error);
        }
        Some(payload.to_vec())
    }

    /// Writes an entry, and evicts others beyond the limit. Whether it was written.
    pub(super) fn put(&self, identity: &[u8], payload: &[u8]) -> bool {
        let path = self.path_of(identity);
        let header = entry::header(identity, payload);
        let bytes = (header.len() + identity.len() + payload.len()) as u64;
        if bytes > self.limit {
            let what = format!(
                "{} was not kept: {bytes} bytes, of {} that the cache may have",
                path.display(),
                self.limit
            );
            self.note(what);
            return false;
        }
        if let Err(error) = self.write(&path, &[&header, identity, payload]) {
            self.refused::<()>("write", &path, &error);
            return false;
        }
        self.counts.stored.fetch_add(1, Ordering::Relaxed);
        self.counts.bytes_written.fetch_add(bytes, Ordering::Relaxed);
        self.evict_oldest(&path);
        true
    }

    /// Writes a temporary file and renames it, so that readers see the former entry or this one.
    fn write(&self, path: &Path, parts: &[&[u8]]) -> io::Result<()> {
        make_private(&self.folder)?;
        check_owner(&self.folder).map_err(io::Error::other)?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder)?;
        for part in parts {
            file.write_all(part)?;
        }
        file.persist(path).map(|_| ()).map_err(|failed| failed.error)
    }

    /// Evicts the least recently used entries beyond the limit, except `newest`, and removes abandoned temporary files.
    fn evict_oldest(&self, newest: &Path) {
        self.remove_abandoned();
        let mut entries = match self.entries() {
            Ok(entries) => entries,
            Err(error) => {
                self.refused::<()>("list", &self.folder, &error);
                return;
            }
        };
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum::<u64>() + self.unfinished_bytes();
        entries.retain(|entry| entry.path != newest);
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            if bytes <= self.limit {
                break;
            }
            if self.remove(&entry.path) {
                self.counts.evicted.fetch_add(1, Ordering::Relaxed);
            }
            bytes -= entry.bytes;
        }
    }

    fn remove_abandoned(&self) {
        let Ok(listing) = fs::read_dir(&self.folder) else { return };
        for file in listing.flatten() {
            let changed = || file.metadata().ok()?.modified().ok();
            if is_unfinished(&file) && changed().is_some_and(is_abandoned) {
                self.remove(&file.path());
            }
        }
    }

    /// The bytes of temporary files, which count towards the limit.
    fn unfinished_bytes(&self) -> u64 {
        let listing = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let bytes = |file: fs::DirEntry| file.metadata().map_or(0, |known| known.len());
        listing.filter(is_unfinished).map(bytes).sum()
    }

    /// The entries in the folder. Files without the suffix are ignored.
    pub(super) fn entries(&self) -> io::Result<Vec<Listed>> {
        let listing = match fs::read_dir(&self.folder) {
            Ok(listing) => listing,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        for file in listing {
            let file = file?;
            if !file.file_name().to_string_lossy().ends_with(ENDING) {
                continue;
            }
            // Another process may have removed it.
            let Ok(known) = file.metadata() else { continue };
            // A time in the future comes from a wrong clock. Such an entry is evicted first.
            let used = Some(known.modified()?).filter(|used| *used <= SystemTime::now() + CLOCKS);
            let used = used.unwrap_or(SystemTime::UNIX_EPOCH);
            entries.push(Listed { path: file.path(), bytes: known.len(), used });
        }
        Ok(entries)
    }

    /// Removes an entry of this folder, if the path is one.
    pub(super) fn forget(&self, path: &Path) {
        let ours = path.parent() == Some(&self.folder) && path.to_string_lossy().ends_with(ENDING);
        if ours {
            self.remove(path);
        }
    }

    /// Removes the file that was read, unless it was replaced since.
    pub(super) fn remove_this(&self, path: &Path, read: &Metadata) {
        if fs::symlink_metadata(path).is_ok_and(|there| is_same(&there, read)) {
            self.remove(path);
        }
    }

    /// Removes a file. True if this call removed it.
    fn remove(&self, path: &Path) -> bool {
        match fs::remove_file(path) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => {
                self.refused::<()>("remove", path, &error);
                false
            }
        }
    }

    pub(super) fn path_of(&self, identity: &[u8]) -> PathBuf {
        self.folder.join(format!("{:032x}{ENDING}", hash(identity)))
    }

    fn refused<T>(&self, what: &str, path: &Path, error: &io::Error) -> Option<T> {
        self.note(format!("cannot {what} {}: {error}", path.display()));
        None
    }

    /// Counts a failure and keeps its description.
    pub(super) fn note(&self, what: String) {
        self.counts.failures.fetch_add(1, Ordering::Relaxed);
        *self.last_failure.lock() = Some(what);
    }

    pub(super) fn last_failure(&self) -> Option<String> {
        self.last_failure.lock().clone()
    }

    pub(super) fn statistics(&self) -> CacheStatistics {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { hits, misses, damaged, stored, evicted, failures, bytes_read, bytes_written } =
            &self.counts;
        CacheStatistics {
            hits: read(hits),
            misses: read(misses),
            damaged: read(damaged),
            stored: read(stored),
            evicted: read(evicted),
            failures: read(failures),
            bytes_read: read(bytes_read),
            bytes_written: read(bytes_written),
        }
    }
}

/// The hash in file names.
fn hash(identity: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(identity)
}

/// Opens a regular file. Others are refused, because opening a pipe would block.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let not_a_file = || io::Error::new(ErrorKind::InvalidInput, "it is not a file");
    if !fs::metadata(path)?.is_file() {
        return Err(not_a_file());
    }
    let file = File::open(path)?;
    let known = file.metadata()?;
    if known.is_file() { Ok((file, known)) } else { Err(not_a_file()) }
}

fn is_unfinished(file: &fs::DirEntry) -> bool {
    file.file_name().to_string_lossy().starts_with(UNFINISHED)
}

/// A time in the future counts as old, because it comes from a wrong clock.
fn is_abandoned(changed: SystemTime) -> bool {
    let now = SystemTime::now();
    changed + ABANDONED < now || changed > now + CLOCKS
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if (one.dev(), one.ino()) != (other.dev(), other.ino()) {
            return false;
        }
    }
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}

/// Creates a folder and its parents. On Unix only the owner has access.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
