//! Finds the libraries and their headers with the system's search, or in a folder of unpacked packages.

use super::kind::Kind;
use super::version;
use crate::workspace;
use hip_sys::rtc::hiprtcResult;
use hip_sys::{
    AmdSmi, Hipblaslt, Library, LoadError, Miopen, Platform, Rocblas, Rocfft, Rocrand, Rocsolver, Rocsparse,
    Version,
};
use std::path::{Path, PathBuf};

/// A library that was looked for.
#[derive(Debug)]
pub(super) struct Found {
    pub kind: Kind,
    /// The file; `None` if it was not found.
    pub file: Option<PathBuf>,
    /// Its own version, if known.
    pub version: Option<Version>,
    /// The source of the version.
    pub told_by: &'static str,
    /// Further information that the library reported.
    pub answer: Option<String>,
    /// The error of loading it, if it was loaded and failed.
    pub refused: Option<String>,
    /// The folders of the matching headers, the library's own first.
    pub includes: Vec<PathBuf>,
}

/// The libraries of this machine, found by the search that programs use. They are loaded.
pub(super) fn system() -> Vec<Found> {
    let mut founds = Vec::new();
    let platform = Platform::load_amd();
    founds.push(match &platform {
        Ok(platform) => loaded(Kind::Hip, platform.library.as_deref(), platform.version(), "its own answer"),
        Err(why) => refused(Kind::Hip, why),
    });
    if let Ok(platform) = &platform {
        founds.push(match platform.rtc() {
            Ok(rtc) => {
                let (mut major, mut minor) = (0, 0);
                // SAFETY: S1: the table was filled by name; both numbers are live and writable.
                let status = unsafe { (rtc.hiprtcVersion)(&mut major, &mut minor) };
                let file = if platform.version().major < 6 { platform.library.as_deref() } else { None };
                let mut found = loaded(Kind::Rtc, file, platform.version(), "HIP's answer");
                found.answer = Some(format!("hiprtcVersion {major}.{minor}"));
                if status != hiprtcResult::HIPRTC_SUCCESS {
                    found.refused = Some(format!("hiprtcVersion answered {}", status.0));
                }
                found
            }
            Err(why) => refused(Kind::Rtc, why),
        });
    }
    founds.push(found_library(Kind::Rocrand, Rocrand::load()));
    founds.push(found_library(Kind::Rocfft, Rocfft::load()));
    founds.push(found_library(Kind::Rocblas, Rocblas::load()));
    founds.push(found_library(Kind::Rocsolver, Rocsolver::load()));
    founds.push(found_library(Kind::Rocsparse, Rocsparse::load()));
    founds.push(found_library(Kind::Hipblaslt, Hipblaslt::load()));
    founds.push(found_library(Kind::Miopen, Miopen::load()));
    founds.push(found_library(Kind::AmdSmi, AmdSmi::load()));
    founds
}

fn found_library<T>(kind: Kind, opened: Result<Library<T>, LoadError>) -> Found {
    match opened {
        Ok(library) => loaded(kind, Some(library.library()), library.version(), "its own answer"),
        Err(why) => refused(kind, &why),
    }
}

fn loaded(kind: Kind, file: Option<&Path>, version: Version, told_by: &'static str) -> Found {
    let own = match (kind, version.major) {
        (Kind::Rtc, ..6) => Kind::Hip.file(),
        _ => kind.file(),
    };
    // A bare name is the input of the system's search, not its result.
    let by_path = file.filter(|file| file.is_absolute()).and_then(|file| file.canonicalize().ok());
    let file = by_path.or_else(|| mapped(own)).or_else(|| file.map(Path::to_path_buf));
    let includes = system_includes(kind, file.as_deref());
    Found { kind, file, version: Some(version), told_by, answer: None, refused: None, includes }
}

fn refused(kind: Kind, why: &LoadError) -> Found {
    // A library that lacks a function was opened and stays open.
    let file = if matches!(why, LoadError::NotFound { .. }) { None } else { mapped(kind.file()) };
    let version = file.as_deref().and_then(|file| version::of_file(kind, file));
    let (refused, includes) = (Some(why.to_string()), system_includes(kind, file.as_deref()));
    Found { kind, file, version, told_by: "the file's name", answer: None, refused, includes }
}

/// A library file mapped into this process whose name has this prefix.
pub(super) fn mapped(name: &str) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let mut paths = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let ours = |path: &&Path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(name));
    paths.find(ours).map(Path::to_path_buf)
}

/// The headers next to the library, or else in the usual folders.
fn system_includes(kind: Kind, file: Option<&Path>) -> Vec<PathBuf> {
    let root = file.and_then(|file| Some(file.canonicalize().ok()?.parent()?.parent()?.to_path_buf()));
    let beside = root.map(|root| root.join("include"));
    let rocm = workspace::env("ROCM_PATH").map(|dir| dir.join("include"));
    let usual = ["/opt/rocm/include", "/usr/include"].map(PathBuf::from);
    let has = |folder: &PathBuf| folder.join(kind.headers()[0]).is_file();
    beside.into_iter().chain(rocm).chain(usual).find(has).into_iter().collect()
}

/// The libraries in a folder of unpacked packages. Nothing is loaded.
pub(super) fn folder(folder: &Path) -> Result<Vec<Found>, String> {
    let (folder, files) = files_in(folder)?;
    let library = |kind: Kind| one_of(&folder, &files, kind.file(), kind.title());
    let includes = |kind: Kind| {
        let header = kind.headers()[0];
        let up = Path::new(header).components().count();
        let mut folders: Vec<PathBuf> = Vec::new();
        for file in files.iter().filter(|file| file.ends_with(header)) {
            folders.extend(file.ancestors().nth(up).map(Path::to_path_buf));
        }
        folders
    };
    let hip = library(Kind::Hip)?;
    let mut founds = Vec::new();
    for kind in Kind::ALL {
        let mut headers = includes(kind);
        let mut file = library(kind)?;
        let hip_version = hip.as_deref().and_then(|file| version::of_file(Kind::Hip, file));
        if kind == Kind::Rtc && hip_version.is_some_and(|v| v.major < 6) {
            file.clone_from(&hip);
        }
        let by_name = file.as_deref().and_then(|file| version::of_file(kind, file));
        let by_name = by_name.or(hip_version.filter(|_| kind == Kind::Rtc));
        let by_headers = headers.first().and_then(|include| version::of_headers(kind, include));
        let (version, told_by) = match (by_name, by_headers) {
            (Some(version), _) => (Some(version), "the file's name"),
            (None, Some(version)) => (Some(version), "its headers"),
            (None, None) => (None, ""),
        };
        headers.extend(includes(Kind::Hip).into_iter().filter(|more| !includes(kind).contains(more)));
        founds.push(Found { kind, file, version, told_by, answer: None, refused: None, includes: headers });
    }
    if founds.iter().all(|found| found.file.is_none()) {
        let names = Kind::ALL.map(Kind::file).join(", ");
        return Err(format!("{}: none of {names} is in this folder", folder.display()));
    }
    Ok(founds)
}

/// The canonical path of the folder, and every regular file below it.
pub(super) fn files_in(folder: &Path) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let folder = std::fs::canonicalize(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files = Vec::new();
    walk(&folder, &mut files)?;
    Ok((folder, files))
}

/// The file of a library whose name has this prefix followed by a version; an error if there are several.
pub(super) fn one_of(
    folder: &Path,
    files: &[PathBuf],
    start: &str,
    title: &str,
) -> Result<Option<PathBuf>, String> {
    let named = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let rest = name.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(".") && !rest.ends_with(".py"))
    };
    let found: Vec<&PathBuf> = files.iter().filter(named).collect();
    match found[..] {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        _ => {
            let folder = folder.display();
            Err(format!("{folder}: more than one {title}: give folders of one version each: {found:?}"))
        }
    }
}

/// Every regular file below a folder, excluding links.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).map_err(fail)?.collect::<Result<_, _>>().map_err(fail)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(fail)?;
        if kind.is_dir() {
            walk(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_beside_a_library_come_first() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let root = root.path().canonicalize().expect("it is there");
        let made = |path: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("it is writable");
            std::fs::write(&path, "").expect("it is writable");
            path
        };
        let library = made("core-10.0/lib/libamdhip64.so.7");
        made("core-10.0/include/hip/hip_runtime_api.h");
        assert_eq!(system_includes(Kind::Hip, Some(&library)), [root.join("core-10.0/include")]);
        let alone = made("core-9.0/lib/libamdhip64.so.7");
        assert_eq!(system_includes(Kind::Hip, Some(&alone)), system_includes(Kind::Hip, None));
    }
}
