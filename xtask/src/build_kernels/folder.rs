//! The folder of one architecture. One build at a time writes to it, and only complete files appear in it.

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Files that are not checked yet, and the compilers' temporary files.
const WORK: &str = ".work";
/// An empty file. The build that locks it may write to the folder.
const LOCK: &str = ".lock";
/// The free space that a compiler needs for one unit.
const ROOM: usize = 4 << 20;

/// A folder that only this process writes to.
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Creates the folder if needed, waits until no other build writes to it, and removes what a killed build left.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let fail = |error: std::io::Error| {
            format!("cannot write in {}: {error}; name another folder with --out", path.display())
        };
        std::fs::create_dir_all(path).map_err(fail)?;
        let lock = File::create(path.join(LOCK)).map_err(fail)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            println!("build-kernels: waiting for another build in {}", path.display());
            flock(&lock, FlockOperation::LockExclusive).map_err(|error| fail(error.into()))?;
        }
        let folder = Self { path: path.to_path_buf(), _lock: lock };
        folder.remove_work();
        std::fs::create_dir(folder.work()).map_err(fail)?;
        Ok(folder)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder for unfinished files. `Drop` removes it; if the process is killed, the next build does.
    pub(super) fn work(&self) -> PathBuf {
        self.path.join(WORK)
    }

    /// Moves a finished file of [`Self::work`] to its folder.
    pub(super) fn publish(&self, file: &str) -> Result<(), String> {
        std::fs::rename(self.work().join(file), self.path.join(file))
            .map_err(|error| format!("cannot write {}: {error}", self.path.join(file).display()))
    }

    /// Adds a remedy to the error if the disk is full. Compilers report a full disk in many ways, or not at all.
    pub(super) fn explain(&self, error: String) -> String {
        if !error.contains("No space left") && !self.is_full() {
            return error;
        }
        format!(
            "no space left for {}: about {} MiB must be free, and 32 MiB for a whole architecture, of which HIP's headers \
             take 10; make room or name another folder with --out\n{error}",
            self.path.display(),
            ROOM >> 20
        )
    }

    fn is_full(&self) -> bool {
        let probe = self.work().join("probe");
        let written = File::create(&probe)
            .and_then(|mut file| file.write_all(&vec![1; ROOM]).and_then(|()| file.sync_all()));
        // The probe was only written to learn whether there is space.
        let _ = std::fs::remove_file(&probe);
        written.is_err_and(|error| matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
    }

    fn remove_work(&self) {
        // The folder may not exist. If it cannot be removed, creating it again reports that.
        let _ = std::fs::remove_dir_all(self.work());
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.remove_work();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_folder_is_removed_and_published_files_stay() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        let path = dir.path().join("amd/gfx90a");
        std::fs::create_dir_all(path.join(WORK)).expect("writable");
        std::fs::write(path.join(WORK).join("left"), "by a killed build").expect("writable");
        let folder = Folder::open(&path).expect("writable");
        assert!(!folder.work().join("left").exists());
        for name in ["good", "bad"] {
            std::fs::write(folder.work().join(name), name).expect("writable");
        }
        folder.publish("good").expect("it is there");
        assert!(folder.publish("none").expect_err("nothing to publish").contains("none"));
        drop(folder);
        assert_eq!(std::fs::read(path.join("good")).expect("published"), b"good");
        assert!(!path.join(WORK).exists());
    }

    #[test]
    fn an_unwritable_folder_is_named_in_the_error() {
        let file = tempfile::NamedTempFile::new().expect("the temporary folder is writable");
        let error = Folder::open(&file.path().join("amd")).err().expect("a file is no folder");
        assert!(error.contains("cannot write in") && error.contains("--out"), "{error}");
    }

    #[test]
    fn only_a_full_disk_is_called_full() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        let folder = Folder::open(dir.path()).expect("writable");
        assert_eq!(folder.explain("syntax error".into()), "syntax error");
        let full = folder.explain("ld: No space left on device".into());
        assert!(
            full.starts_with("no space left for ") && full.ends_with("\nld: No space left on device"),
            "{full}"
        );
    }
}
