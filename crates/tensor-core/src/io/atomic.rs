//! Writing a file atomically: completely or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::io_error;
use crate::error::Result;

/// The longest chain of symbolic links that is followed, as on Linux.
const MOST_LINKS: usize = 40;

/// Writes the output of `content` to the file at `path`. `content` gets a function that takes the bytes, front to back;
/// `operation` is what errors begin with.
///
/// A regular or missing file is written under a temporary name in its folder, and then renamed. If anything fails, the
/// temporary file is removed and the old file stays. Symbolic links are kept and lead to the new file. The new file has
/// the old one's permissions, and its owner where the system allows it. Anything else, such as a device or a FIFO, is
/// written to directly.
///
/// ```
/// # fn main() -> tensor_core::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("numbers");
/// tensor_core::file::write(&path, "example", |put| {
///     put(&[1, 2])?;
///     put(&[3])
/// })?;
/// assert_eq!(std::fs::read(&path).unwrap(), [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of `content`, and [`ErrorKind::Io`](crate::ErrorKind::Io).
pub fn write(
    path: impl AsRef<Path>,
    operation: &'static str,
    content: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    let failed = |source: io::Error| io_error(operation, path, source);
    let former = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            let through = File::options().write(true).open(path).map_err(failed)?;
            return put_all(through, failed, content).map(drop);
        }
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let target = follow(path).map_err(failed)?;
    let temporary = temporary_file_for(&target).map_err(failed)?;
    let temporary = put_all(temporary, failed, content)?;
    if let Some(former) = former {
        resemble(temporary.as_file(), &former).map_err(failed)?;
    }
    temporary.persist(target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Writes all of the output of `content`, and flushes it.
fn put_all<W: Write>(
    to: W,
    failed: impl Fn(io::Error) -> crate::Error + Copy,
    content: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<W> {
    let mut writer = BufWriter::with_capacity(1 << 20, to);
    content(&mut |bytes| writer.write_all(bytes).map_err(failed))?;
    writer.into_inner().map_err(|error| failed(error.into_error()))
}

/// Follows the links at `path` to their target, which need not exist.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&target).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(target);
        }
        let link = fs::read_link(&target)?;
        // A relative link is relative to its own folder; an absolute one replaces the whole path.
        target.pop();
        target.push(link);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A new file in the folder of `target`, with the default permissions of new files.
fn temporary_file_for(target: &Path) -> io::Result<NamedTempFile> {
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tensor-").suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The mode of any new file, from which the umask removes bits.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Gives `file` the owner, group and permissions of `former`.
fn resemble(file: &File, former: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        let differs = |new: u32, former: u32| (new != former).then_some(former);
        let (user, group) = (differs(new.uid(), former.uid()), differs(new.gid(), former.gid()));
        // Only root may change the owner, and a user only to groups of its own. They are set one by one, because only
        // one of them may be allowed.
        for (user, group) in [(None, group), (user, None)] {
            if user.or(group).is_some() {
                let _ = fchown(file, user, group);
            }
        }
    }
    file.set_permissions(former.permissions())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn put(path: &Path, bytes: &[u8]) -> Result<()> {
        write(path, "test", |put| put(bytes))
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn links_are_kept_and_their_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [inner, file, link, chain] =
            ["inner", "inner/file", "link", "inner/chain"].map(|name| folder.path().join(name));
        fs::create_dir(&inner).unwrap();
        fs::write(&file, b"old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let former = fs::metadata(&file).unwrap().ino();
        symlink("inner/chain", &link).unwrap();
        symlink(&file, &chain).unwrap();
        put(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&chain).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(mode(&file), 0o640);
        assert_ne!(fs::metadata(&file).unwrap().ino(), former, "it was replaced, not written over");
        assert_eq!(
            (names(folder.path()), names(&inner)),
            (vec!["inner".into(), "link".into()], vec!["chain".into(), "file".into()])
        );
    }

    #[test]
    fn a_link_to_nothing_leads_to_a_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let [link, file] = ["link", "file"].map(|name| folder.path().join(name));
        symlink("file", &link).unwrap();
        put(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let plain = folder.path().join("plain");
        fs::write(&plain, b"").unwrap();
        assert_eq!(mode(&file), mode(&plain), "as any new file");
        // Links that lead to each other have no target.
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        symlink(&a, &b).unwrap();
        symlink(&b, &a).unwrap();
        assert!(put(&a, b"new").unwrap_err().to_string().contains("symbolic links"));
        assert_eq!(names(folder.path()), ["a", "b", "file", "link", "plain"]);
    }

    #[test]
    fn permissions_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for bits in [0o600, 0o444, 0o664, 0o755] {
            fs::write(&path, b"old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(bits)).unwrap();
            put(&path, b"new").unwrap();
            assert_eq!((mode(&path), fs::read(&path).unwrap()), (bits, b"new".to_vec()), "{bits:o}");
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn owners_are_kept_where_the_system_allows_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, b"old").unwrap();
        // Only root may change the owner.
        if std::os::unix::fs::chown(&path, Some(54321), Some(54322)).is_ok() {
            put(&path, b"new").unwrap();
            let found = fs::metadata(&path).unwrap();
            assert_eq!((found.uid(), found.gid()), (54321, 54322));
        }
    }

    /// Uses a link in a folder where nothing can be replaced, so that a bug cannot remove the machine's devices.
    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_to() {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::FileTypeExt;
        let written = |device: &str| {
            let open = File::options().write(true).open(device).unwrap();
            let result = put(Path::new(&format!("/proc/self/fd/{}", open.as_raw_fd())), b"anything");
            assert!(fs::symlink_metadata(device).unwrap().file_type().is_char_device());
            result.map_err(|error| error.to_string())
        };
        assert_eq!(written("/dev/null"), Ok(()));
        // The device is full. The error must be reported although all of the output fits a buffer.
        let error = written("/dev/full").unwrap_err();
        assert!(error.contains("No space left"), "{error}");
    }

    #[test]
    fn a_folder_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let error = put(folder.path(), b"new").unwrap_err().to_string();
        assert!(error.contains("Is a directory"), "{error}");
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn a_fifo_gets_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let bytes = std::thread::scope(|scope| {
            let reader = scope.spawn(|| fs::read(&path).unwrap());
            put(&path, b"new").unwrap();
            reader.join().unwrap()
        });
        assert_eq!(bytes, b"new");
        assert_eq!(names(folder.path()), ["fifo"]);
    }
}
