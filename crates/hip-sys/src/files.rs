//! Files that code comes from or is made by: which they are, and whether others may have written them.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A file's path without links, its bytes and its last change, in words: another build of a library has others.
pub fn file_identity(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.into());
    let changed = |known: &std::fs::Metadata| known.modified().ok()?.duration_since(UNIX_EPOCH).ok();
    match std::fs::metadata(&real) {
        Ok(known) => format!("{} {} {:?}", real.display(), known.len(), changed(&known)),
        Err(error) => format!("{} {error}", real.display()),
    }
}

/// Whether only this user and the administrator may change a file or folder: it belongs to one of them, and not everyone may
/// write to it. Where files have no owners, it holds for all.
///
/// # Errors
/// Why it does not hold, with the path and the remedy; the system's words if it cannot be looked at.
pub fn check_owner(path: &Path) -> Result<(), String> {
    let known =
        std::fs::metadata(path).map_err(|error| format!("cannot look at {}: {error}", path.display()))?;
    check_owner_of(path, &known)
}

/// As [`check_owner`], of a file that is open; its path is for the message.
///
/// # Errors
/// As [`check_owner`].
#[cfg(unix)]
pub fn check_owner_of(path: &Path, known: &std::fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: S1: it only answers a number.
    let us = unsafe { libc::geteuid() };
    let path = path.display();
    if known.uid() != us && known.uid() != 0 {
        let owner = known.uid();
        return Err(format!(
            "{path} is not used: it belongs to user {owner}, and this is user {us}; chown it"
        ));
    }
    if known.mode() & 0o002 != 0 {
        return Err(format!("{path} is not used: everyone may write to it; run `chmod o-w {path}`"));
    }
    Ok(())
}

/// As [`check_owner`], where files have no owners.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn check_owner_of(_path: &Path, _known: &std::fs::Metadata) -> Result<(), String> {
    Ok(())
}

/// The file that a function was loaded from, if the system tells.
#[cfg(unix)]
pub(crate) fn file_of(function: *const c_void) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: S8: the address is looked up and never followed; the out-pointer is writable.
    let known = unsafe { libc::dladdr(function, found.as_mut_ptr()) } != 0;
    // SAFETY: S8: all zeros is a value of it too.
    let name = unsafe { found.assume_init() }.dli_fname;
    if !known || name.is_null() {
        return None;
    }
    // SAFETY: S8: the loader's own name of a library, which is never closed.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    Some(std::ffi::OsStr::from_bytes(name.to_bytes()).into())
}

#[cfg(not(unix))]
pub(crate) fn file_of(_function: *const c_void) -> Option<PathBuf> {
    None
}

/// The libraries of these functions, and AMD's compiler library where it lies beside one of them, in words.
pub(crate) fn compilers(functions: &[*const c_void]) -> String {
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let mut files: Vec<PathBuf> =
        functions.iter().filter_map(|function| file_of(*function)).map(real).collect();
    for folder in files.clone().iter().filter_map(|file| file.parent()) {
        let beside = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let comgr = beside.filter(|file| file.file_name().to_string_lossy().starts_with("libamd_comgr.so"));
        files.extend(comgr.map(|file| real(file.path())));
    }
    files.sort();
    files.dedup();
    files.iter().map(|file| file_identity(file)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_build_of_a_library_has_another_identity() {
        let ours = file_of(check_owner as *const c_void).expect("this program is a file");
        assert_eq!(ours.canonicalize().unwrap(), std::env::current_exe().unwrap().canonicalize().unwrap());
        assert!(compilers(&[check_owner as *const c_void]).contains(&file_identity(&ours)));
        let file = std::env::temp_dir().join(format!("hip-sys-identity-{}", std::process::id()));
        let write = |bytes: &str| {
            std::fs::write(&file, bytes).unwrap();
            file_identity(&file)
        };
        assert_ne!(write("one"), write("another"));
        std::fs::remove_file(&file).unwrap();
        assert!(file_identity(&file).contains("No such file"));
    }

    #[cfg(unix)]
    #[test]
    fn folders_that_others_may_write_are_refused_with_a_remedy() {
        use std::os::unix::fs::{PermissionsExt, chown};
        let folder = std::env::temp_dir().join(format!("hip-sys-owner-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let mode = |bits| std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(bits)).unwrap();
        mode(0o755);
        assert_eq!(check_owner(&folder), Ok(()));
        for open in [0o777, 0o1777] {
            mode(open);
            assert!(check_owner(&folder).unwrap_err().contains("chmod o-w"));
        }
        mode(0o700);
        // Only the administrator may give it away.
        if chown(&folder, Some(54321), None).is_ok() {
            assert!(check_owner(&folder).unwrap_err().contains("belongs to user 54321"));
        }
        std::fs::remove_dir(&folder).unwrap();
        assert!(check_owner(&folder).unwrap_err().starts_with("cannot look at "));
    }
}
