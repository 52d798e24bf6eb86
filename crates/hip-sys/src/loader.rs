//! Finding a library and its functions by name. A library that was opened is never closed.

use crate::{LoadError, Optional, Version, folders};
use libloading::Library;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open library, kept for the life of the process.
#[derive(Clone)]
pub struct Source {
    library: Arc<ManuallyDrop<Library>>,
    path: PathBuf,
}

/// ROCm 10 has the name of 7.
pub(crate) const HIP_NAMES: [&str; 4] =
    ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];

const HIP_REMEDY: &str = "Install ROCm's runtime (hip-runtime-amd, or libamdhip64-5 on Debian 12), or set ROCM_PATH to the folder above its lib/";
const RTC_REMEDY: &str =
    "Install ROCm's runtime (hip-runtime-amd), or set ROCM_PATH to the folder above its lib/";

/// Opens HIP: the path given, else the search order of [`crate::Platform::load_amd`].
pub(crate) fn open_hip(path: Option<&Path>) -> Result<Source, LoadError> {
    open_library("HIP (libamdhip64)", HIP_REMEDY, &HIP_NAMES, path)
}

/// Opens hiprtc: a part of HIP's own library up to ROCm 5, a library beside it from 6 on. `file` is the file of HIP, as the system
/// tells it.
pub(crate) fn open_rtc(hip: &Source, version: Version, file: Option<PathBuf>) -> Result<Source, LoadError> {
    if version.major < 6 {
        return Ok(hip.clone());
    }
    let file = file.unwrap_or_else(|| hip.path.clone());
    let numbered = format!("libhiprtc.so.{}", interface(&file).unwrap_or(version.major));
    let names = [numbered.as_str(), "libhiprtc.so"];
    let beside = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = beside.into_iter().flat_map(|folder| names.map(|name| folder.join(name)));
    open_first("hiprtc (libhiprtc)", RTC_REMEDY, beside.chain(candidates(&names)).collect())
}

/// The number of a library's interface: 7 in `libamdhip64.so.7.2.53211`. HIP and hiprtc share theirs, and it is not the version that HIP
/// answers: HIP 10 has interface 7.
fn interface(file: &Path) -> Option<u32> {
    let numbers = |file: &Path| {
        let name = file.file_name()?.to_str()?;
        name.split_once(".so.")?.1.split('.').next()?.parse().ok()
    };
    // A name without a number may be a link to a file with one.
    numbers(file).or_else(|| numbers(&file.canonicalize().ok()?))
}

/// Opens a library: the path given, else the search order of [`crate::Library::load`].
pub(crate) fn open_library(
    title: &'static str,
    remedy: &'static str,
    names: &[&str],
    path: Option<&Path>,
) -> Result<Source, LoadError> {
    let candidates = match path {
        Some(path) => vec![path.to_path_buf()],
        None => candidates(names),
    };
    open_first(title, remedy, candidates)
}

/// Where a library of one of these names is looked for, in order: see [`crate::Library::load`].
pub(crate) fn candidates(names: &[&str]) -> Vec<PathBuf> {
    let inside = |folders: Vec<PathBuf>| {
        folders.into_iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)))
    };
    let bare = names.iter().map(PathBuf::from);
    inside(folders::named()).chain(bare).chain(inside(folders::usual())).collect()
}

pub(crate) fn open_first(
    library: &'static str,
    remedy: &'static str,
    candidates: Vec<PathBuf>,
) -> Result<Source, LoadError> {
    let mut tried = Vec::new();
    for path in candidates {
        // SAFETY: S1: opening runs the initialisers of a library that the user asked for by path, variable or package.
        match unsafe { Library::new(&path) } {
            Ok(opened) => return Ok(Source { library: Arc::new(ManuallyDrop::new(opened)), path }),
            Err(error) => {
                let answer =
                    std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                tried.push((path.display().to_string(), answer));
            }
        }
    }
    Err(LoadError::NotFound { library, remedy, tried })
}

impl Source {
    /// The function, or the error that names it. `F` is the generated type of that C function.
    pub(crate) fn required<F: Copy>(&self, symbol: &'static str) -> Result<F, LoadError> {
        self.find(symbol)
            .ok_or_else(|| LoadError::MissingSymbol { library: self.name(), symbol: symbol.into() })
    }

    /// The function under the first of these names that the library has, or the error that names the last.
    pub(crate) fn first_of<F: Copy>(&self, symbols: &[&'static str]) -> Result<F, LoadError> {
        let found = symbols.iter().find_map(|symbol| self.find(symbol));
        let symbol = symbols.last().copied().unwrap_or_default().into();
        found.ok_or_else(|| LoadError::MissingSymbol { library: self.name(), symbol })
    }

    /// The function, where this version of the library has it.
    pub(crate) fn optional<F: Copy>(&self, symbol: &'static str, since: &'static str) -> Optional<F> {
        match self.find(symbol) {
            Some(function) => Optional::present(function, symbol, since),
            None => Optional::absent(symbol, since),
        }
    }

    /// What was opened, for messages.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// What was opened: a full path, or a bare name that the system found.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn find<F: Copy>(&self, symbol: &str) -> Option<F> {
        // SAFETY: S1: `F` is the type that codegen made of this symbol's declaration, and the library is never closed.
        unsafe { self.library.get::<F>(symbol).ok().map(|found| *found) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HIP 10 is `libamdhip64.so.7`, and `libhiprtc.so.7` lies beside it. The C library stands for both here.
    #[cfg(unix)]
    #[test]
    fn hiprtc_is_the_one_beside_hip_whatever_version_hip_answers() {
        let libc = crate::files::file_of(libc::getpid as *const std::ffi::c_void).expect("it is a library");
        let folder = std::env::temp_dir().join(format!("hip-sys-loader-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("temporary folders are writable");
        let [hip, rtc] = ["libamdhip64.so.7", "libhiprtc.so.7"].map(|name| folder.join(name));
        for library in [&hip, &rtc] {
            std::os::unix::fs::symlink(&libc, library).expect("it is new");
        }
        let source = open_hip(Some(&hip)).expect("it opens");
        for (major, file) in [(10, &rtc), (7, &rtc), (5, &hip)] {
            let version = Version { major, minor: 0, patch: 0 };
            for directory in [None, Some(hip.clone())] {
                let opened = open_rtc(&source, version, directory).expect("it opens");
                assert_eq!(opened.path(), file, "HIP {version}");
            }
        }
        std::fs::remove_dir_all(&folder).expect("it is this test's own");
    }

    #[test]
    fn the_interface_is_read_from_the_name_of_the_file() {
        for (file, number) in [
            ("/opt/rocm/lib/libamdhip64.so.7.2.53211", Some(7)),
            ("libamdhip64.so.6", Some(6)),
            ("/nowhere/libamdhip64.so", None),
            ("/nowhere/libamdhip64.so.new", None),
        ] {
            assert_eq!(interface(Path::new(file)), number, "{file}");
        }
    }
}
