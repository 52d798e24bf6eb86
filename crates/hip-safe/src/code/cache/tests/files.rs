//! Files and folders that the cache must not use.

use super::super::store::Store;
use super::LARGE;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

#[cfg(unix)]
#[test]
fn folders_and_entries_that_others_may_write_are_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path, bits| fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
    let store = Store::new(folder.path().into(), LARGE);
    store.put(b"a", b"code");
    let (path, _) = store.get(b"a").unwrap();
    mode(&path, 0o666);
    assert_eq!(store.get(b"a"), None);
    assert!(store.last_failure().unwrap().contains("everyone may write"));
    mode(&path, 0o600);
    assert!(store.get(b"a").is_some());
    mode(folder.path(), 0o1777);
    assert_eq!(store.get(b"a"), None);
    store.put(b"b", b"code");
    assert_eq!(store.statistics().stored, 1);
    mode(folder.path(), 0o700);
    assert_eq!(store.entries().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn files_that_are_not_entries_are_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().into(), 1000);
    let pipe = store.path_of(b"a");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(store.get(b"a"), None);
    assert!(store.last_failure().unwrap().contains("it is not a file"));
    // Longer than all that the cache may have: it is not read, so it is not found damaged either.
    File::create(store.path_of(b"b")).unwrap().set_len(1 << 40).unwrap();
    assert_eq!((store.get(b"b"), store.statistics().damaged), (None, 0));
}

#[test]
fn a_good_entry_that_replaced_a_damaged_one_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().into(), LARGE);
    let path = store.path_of(b"a");
    fs::write(&path, "damaged").unwrap();
    let read = File::open(&path).unwrap();
    store.put(b"a", b"code");
    store.remove_this(&path, &read.metadata().unwrap());
    assert_eq!(store.get(b"a").unwrap().1, b"code");
    let there = fs::metadata(&path).unwrap();
    store.remove_this(&path, &there);
    assert!(!path.exists());
}
