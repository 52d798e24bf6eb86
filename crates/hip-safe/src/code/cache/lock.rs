//! Locks between processes that use one folder.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// The prefix of lock files.
const NAME: &str = ".lock-";
/// The number of lock files. They are never removed, because another process may have one open. So there are few, and two keys may share one.
const LOCKS: u8 = 64;

/// A lock that is held until it is dropped or the process ends.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits until no other process holds the lock of the hash.
    pub(super) fn wait(folder: &Path, hash: u128) -> io::Result<Self> {
        let path = folder.join(format!("{NAME}{:02}", hash % u128::from(LOCKS)));
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        lock(&file)?;
        Ok(Self { _file: file })
    }
}

#[cfg(unix)]
fn lock(file: &File) -> io::Result<()> {
    loop {
        match rustix::fs::flock(file, rustix::fs::FlockOperation::LockExclusive) {
            Err(rustix::io::Errno::INTR) => (),
            done => return done.map_err(Into::into),
        }
    }
}

/// On other systems two processes may compile the same code. Entries are still written atomically.
#[cfg(not(unix))]
fn lock(_: &File) -> io::Result<()> {
    Ok(())
}
