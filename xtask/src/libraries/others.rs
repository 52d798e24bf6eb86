//! Libraries of ROCm that hip-sys has no table for: they are only found and listed.

use super::{find, symbols, unknown_name};
use hip_sys::provider::SharedLibrary;
use std::path::{Path, PathBuf};

/// A library to look for.
struct Known {
    title: &'static str,
    /// The file name without the version.
    file: &'static str,
    /// The SONAMEs in ROCm 7.2 and 10.
    names: &'static [&'static str],
}

const KNOWN: [Known; 1] = [Known { title: "RCCL", file: "librccl.so", names: &["librccl.so.1"] }];

/// The result for one library.
#[derive(Debug)]
pub(crate) struct Other {
    pub title: &'static str,
    /// The folder searched, or "system".
    pub location: String,
    /// The file.
    pub file: Option<PathBuf>,
    /// Its SONAME, by which the system's search finds it.
    pub soname: Option<String>,
    /// Why it is not a known version.
    pub error: Option<String>,
}

/// The libraries of this machine, found by the search that programs use. They are loaded.
pub(crate) fn system() -> Vec<Other> {
    let find = |known: &Known| {
        let candidates = SharedLibrary::candidates(known.names);
        let opened = SharedLibrary::open(known.title, "", candidates).ok();
        let file = opened.map(|library| find::mapped(known.file).unwrap_or_else(|| library.path().into()));
        examine(known, "system".into(), file)
    };
    KNOWN.iter().map(find).collect()
}

/// The libraries in a folder of unpacked packages. Nothing is loaded.
pub(super) fn in_folder(folder: &Path) -> Result<Vec<Other>, String> {
    let (folder, files) = find::files_in(folder)?;
    let find = |known: &Known| {
        let file = find::one_of(&folder, &files, known.file, known.title)?;
        Ok(examine(known, folder.display().to_string(), file))
    };
    KNOWN.iter().map(find).collect::<Result<_, String>>().map_err(|why| format!("libraries: {why}"))
}

fn examine(known: &Known, location: String, file: Option<PathBuf>) -> Other {
    let names: Vec<String> = known.names.iter().map(|name| (*name).to_owned()).collect();
    let (soname, error) = match file.as_deref().map(symbols::exports) {
        None => (None, None),
        Some(Err(why)) => (None, Some(why)),
        Some(Ok(exports)) => {
            let wrong = unknown_name(exports.soname.as_deref(), &names);
            (exports.soname, wrong)
        }
    };
    Other { title: known.title, location, file, soname, error }
}
