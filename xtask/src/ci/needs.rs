//! What a step needs of this machine: more arguments, or what is missing and where to get it.

use crate::build_kernels::compiler;
use crate::{libraries, sanitize, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

type Needs = Result<Vec<PathBuf>, String>;

/// What a script reports when it is asked what it needs.
pub(super) fn of_script(path: &str) -> Needs {
    let script = workspace::root()?.join(path);
    let asked = Command::new(script).arg("--check").output().map_err(|e| format!("{path}: {e}"))?;
    let lacks = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    if asked.status.success() { Ok(Vec::new()) } else { Err(lacks) }
}

pub(super) fn weights() -> Needs {
    let file = workspace::env("HIPSTACK_WEIGHTS").ok_or("HIPSTACK_WEIGHTS names no file")?;
    Ok(vec![file])
}

pub(super) fn models() -> Needs {
    let folder = workspace::env("HIPSTACK_MODELS").filter(|folder| folder.is_dir());
    folder
        .map(|_| Vec::new())
        .ok_or_else(|| "HIPSTACK_MODELS names no folder: ci/fetch-models.sh fetches one".into())
}

pub(super) fn rocm_compiler() -> Needs {
    compiler::amd().map(|_| Vec::new())
}

pub(super) fn bundler() -> Needs {
    compiler::bundler()?;
    rocm_compiler()
}

pub(super) fn nvcc() -> Needs {
    compiler::nvidia().map(|_| Vec::new())
}

pub(super) fn libraries() -> Needs {
    libraries::available().map(|()| Vec::new())
}

pub(super) fn sanitizers() -> Needs {
    sanitize::available().map(|()| Vec::new())
}

/// codegen itself reports what it lacks, but only after bindgen was built. Debian 12's old headers are reported earlier.
pub(super) fn rocm_headers() -> Needs {
    let named = workspace::env("HIP_INCLUDE").is_some() || workspace::env("ROCM_PATH").is_some();
    let usable = |dir: &str| {
        Path::new(dir).join("hip/hip_version.h").is_file() && !compiler::has_old_headers(Path::new(dir))
    };
    if named || usable("/opt/rocm/include") || usable("/usr/include") {
        return Ok(Vec::new());
    }
    Err("no HIP headers of version 6.0 or later in $HIP_INCLUDE, $ROCM_PATH, /opt/rocm/include, /usr/include"
        .into())
}
