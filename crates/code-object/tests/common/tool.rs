//! AMD's compilers and LLVM's tools for tests: from an installed ROCm, from what ci/fetch-rocm-compiler.sh
//! unpacked, or from PATH.

use std::path::{Path, PathBuf};

/// The path of a tool such as `clang`; only its name if neither directory has it, so that PATH is searched.
pub(crate) fn tool(name: &str) -> PathBuf {
    let named = std::env::var_os("ROCM_PATH").filter(|path| !path.is_empty());
    let rocm = named.map_or_else(|| "/opt/rocm".into(), PathBuf::from);
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/ci/rocm");
    let folders = [rocm.join("llvm/bin"), rocm.join("bin"), fetched.join("bin")];
    folders
        .into_iter()
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
        .unwrap_or_else(|| name.into())
}

/// HIP's compiler: the one that `HIPCC` names, if it is set.
pub(crate) fn hipcc() -> PathBuf {
    std::env::var_os("HIPCC").map_or_else(|| tool("hipcc"), PathBuf::from)
}
