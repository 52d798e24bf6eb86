//! Where the headers of HIP and of the libraries beside it are, and what version they have.

use super::tables::Library;
use std::path::{Path, PathBuf};

/// Header folders and their version.
pub(super) struct Headers {
    /// Folders for the compiler's search path, in order.
    pub folders: Vec<PathBuf>,
    /// `major.minor`.
    pub version: String,
    /// Keeps the folder of a `hip_version.h` made here; source checkouts have none.
    _made: Option<tempfile::TempDir>,
}

/// Finds headers of version 6.0 or later, in the folders given or in the usual places.
pub(super) fn find(given: &[PathBuf]) -> Result<Option<Headers>, String> {
    if !given.is_empty() {
        return match look(given)? {
            Some(found) => Ok(Some(found)),
            None => Err(format!("codegen: no hip/hip_runtime_api.h of version 6.0 or later in {given:?}")),
        };
    }
    let mut places: Vec<PathBuf> = Vec::new();
    places.extend(std::env::var_os("HIP_INCLUDE").map(PathBuf::from));
    places.extend(std::env::var_os("ROCM_PATH").map(|p| Path::new(&p).join("include")));
    places.extend(["/opt/rocm/include", "/usr/include"].map(PathBuf::from));
    for place in places {
        if let Some(found) = look(&[place])? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The version of a library's headers in these folders, `major.minor`; `None` if they are not there.
pub(super) fn version(headers: &Headers, library: &Library) -> Option<String> {
    let Some(version) = &library.version else { return Some(headers.version.clone()) };
    let text = headers.folders.iter().find_map(|f| std::fs::read_to_string(f.join(&version.header)).ok())?;
    let value = |name: &String| -> Option<u32> {
        text.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.trim().parse().ok())
    };
    match &version.macros[..] {
        [name] => value(name).map(|number| format!("{}.{}", number / 100_000, number / 100 % 1000)),
        [major, minor] => Some(format!("{}.{}", value(major)?, value(minor)?)),
        _ => None,
    }
}

fn look(folders: &[PathBuf]) -> Result<Option<Headers>, String> {
    if !folders.iter().any(|f| f.join("hip/hip_runtime_api.h").is_file()) {
        return Ok(None);
    }
    if let Some(text) = folders.iter().find_map(|f| std::fs::read_to_string(f.join("hip/hip_version.h")).ok())
    {
        let number = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.trim().parse::<u32>().ok());
        let version = number("#define HIP_VERSION_MAJOR").zip(number("#define HIP_VERSION_MINOR"));
        return Ok(version.filter(|v| v.0 >= 6).map(|(major, minor)| Headers {
            folders: folders.to_vec(),
            version: format!("{major}.{minor}"),
            _made: None,
        }));
    }
    // A checkout of ROCm/HIP: the version stands in the file VERSION beside include/, the header is made by its build.
    let Some(text) = folders.iter().find_map(|f| std::fs::read_to_string(f.parent()?.join("VERSION")).ok())
    else {
        return Err(format!("codegen: neither hip/hip_version.h nor ../VERSION beside {folders:?}"));
    };
    let numbers: Vec<u32> = text.lines().filter_map(|l| l.trim().parse().ok()).collect();
    let [major, minor, patch] = numbers[..] else {
        return Err(format!("codegen: VERSION has no three numbers: {text:?}"));
    };
    let made = tempfile::tempdir().map_err(|e| format!("codegen: no temporary folder: {e}"))?;
    let header = format!(
        "#define HIP_VERSION_MAJOR {major}\n#define HIP_VERSION_MINOR {minor}\n#define HIP_VERSION_PATCH {patch}\n\
         #define HIP_VERSION {}\n",
        major * 10_000_000 + minor * 100_000 + patch
    );
    std::fs::create_dir_all(made.path().join("hip"))
        .and_then(|()| std::fs::write(made.path().join("hip/hip_version.h"), header))
        .map_err(|e| format!("codegen: cannot write hip_version.h: {e}"))?;
    let folders = folders.iter().cloned().chain([made.path().to_path_buf()]).collect();
    Ok((major >= 6).then(|| Headers { folders, version: format!("{major}.{minor}"), _made: Some(made) }))
}
