//! The files of the tree as git lists them, with hashes of their contents.

use kernels_hip::hash_parts;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files that git tracks or would track; ignored files are left out.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    paths: BTreeSet<String>,
    hashes: RefCell<BTreeMap<String, String>>,
}

impl Files {
    /// The files of the checkout at `root`; an error if `root` is no checkout.
    pub(super) fn of_checkout(root: &Path) -> Result<Self, String> {
        let top = git(root, &["rev-parse", "--show-toplevel"])?;
        // A tree that was unpacked inside another project's checkout belongs to no checkout.
        let same = Path::new(top.trim_end()).canonicalize().ok() == root.canonicalize().ok();
        if !same {
            return Err(format!("{} is no git checkout", root.display()));
        }
        let list = git(root, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let mut paths: BTreeSet<String> =
            list.split('\0').filter(|path| !path.is_empty()).map(Into::into).collect();
        // git lists a deleted file until the deletion is committed.
        paths.retain(|path| root.join(path).symlink_metadata().is_ok_and(|found| !found.is_dir()));
        Ok(Self { root: root.to_path_buf(), paths, hashes: RefCell::default() })
    }

    /// The folder that all paths are relative to.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a file is there.
    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// The files below a folder.
    pub(super) fn below<'a>(&'a self, folder: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let all = self.paths.range(prefix.clone()..).map(String::as_str);
        all.take_while(move |path| path.starts_with(&prefix))
    }

    /// The text of a file; empty if it is not UTF-8.
    pub(super) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap_or_default()
    }

    /// The hash of a file's contents and of whether it is executable.
    pub(super) fn hash(&self, path: &str) -> Result<String, String> {
        if let Some(known) = self.hashes.borrow().get(path) {
            return Ok(known.clone());
        }
        let hash = hash_of(&self.root.join(path))?;
        self.hashes.borrow_mut().insert(path.to_owned(), hash.clone());
        Ok(hash)
    }

    /// The hash of several files and their names.
    pub(super) fn hash_all<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Result<String, String> {
        let named = |path: &str| Ok(format!("{path} {}", self.hash(path)?).into_bytes());
        let parts = paths.into_iter().map(named).collect::<Result<Vec<_>, String>>()?;
        Ok(hash_parts(parts.iter().map(Vec::as_slice)))
    }
}

fn hash_of(file: &Path) -> Result<String, String> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    let fail = |e: std::io::Error| format!("ci: cannot read {}: {e}", file.display());
    let about = file.symlink_metadata().map_err(fail)?;
    if about.is_symlink() {
        let target = std::fs::read_link(file).map_err(fail)?;
        return Ok(hash_parts([b"link".as_slice(), target.as_os_str().as_bytes()]));
    }
    let kind: &[u8] = if about.permissions().mode() & 0o100 == 0 { b"file" } else { b"program" };
    Ok(hash_parts([kind, &std::fs::read(file).map_err(fail)?]))
}

/// The commit that is checked out.
pub(super) fn commit(root: &Path) -> Result<String, String> {
    Ok(git(root, &["rev-parse", "HEAD"])?.trim_end().to_owned())
}

fn git(root: &Path, args: &[&str]) -> Result<String, String> {
    let out = Command::new("git").current_dir(root).args(args).output();
    let out = out.map_err(|e| format!("git cannot be started: {e}"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&out.stderr);
    Err(format!("git {}: {}", args[0], said.lines().next().unwrap_or("failed without a word")))
}

/// A checkout in a temporary folder.
#[cfg(test)]
pub(super) fn checkout(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("the temporary folder is writable");
    git(dir.path(), &["init", "--quiet"]).expect("git is here");
    for (path, text) in files {
        let file = dir.path().join(path);
        std::fs::create_dir_all(file.parent().expect("below the root")).expect("writable");
        std::fs::write(file, text).expect("writable");
    }
    dir
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_git_would_track_are_listed_and_ignored_ones_are_not() {
        let dir =
            checkout(&[("a/b.rs", "1"), ("a/c.rs", "2"), ("target/x", ""), (".gitignore", "/target\n")]);
        git(dir.path(), &["add", "a/b.rs", "a/c.rs"]).expect("they are there");
        std::fs::remove_file(dir.path().join("a/c.rs")).expect("just written");
        let files = Files::of_checkout(dir.path()).expect("a checkout");
        assert!(files.has(".gitignore") && !files.has("target/x"));
        assert_eq!(files.below("a").collect::<Vec<_>>(), ["a/b.rs"], "tracked, but deleted");
    }

    #[test]
    fn a_hash_depends_on_bytes_names_and_the_executable_bit() {
        let dir = checkout(&[("a", "1"), ("b", "1"), ("link", "")]);
        let hash =
            |path: &str| Files::of_checkout(dir.path()).expect("a checkout").hash(path).expect("there");
        assert_eq!(hash("a"), hash("b"));
        std::fs::write(dir.path().join("b"), "2").expect("writable");
        assert_ne!(hash("a"), hash("b"));
        let before = hash("b");
        crate::workspace::executable(&dir.path().join("b")).expect("ours");
        assert_ne!(hash("b"), before);
        std::fs::remove_file(dir.path().join("link")).expect("just written");
        std::os::unix::fs::symlink("a", dir.path().join("link")).expect("writable");
        assert_ne!(hash("link"), hash("a"));
        let files = Files::of_checkout(dir.path()).expect("a checkout");
        assert_ne!(files.hash_all(["a"]), files.hash_all(["b"]));
        assert!(files.hash("none").expect_err("not there").contains("none"));
    }

    #[test]
    fn a_folder_without_git_is_no_checkout() {
        let dir = tempfile::tempdir().expect("the temporary folder is writable");
        assert!(Files::of_checkout(dir.path()).is_err());
        let outer = checkout(&[("inner/a", "")]);
        let error = Files::of_checkout(&outer.path().join("inner")).expect_err("git's root lies above");
        assert!(error.contains("no git checkout"), "{error}");
        assert!(commit(outer.path()).is_err(), "nothing is committed yet");
    }
}
