//! The folders that ROCm's libraries lie in, before and after those that the system searches by itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is named by the environment: `$ROCM_PATH`, and the Python environment that is active.
pub(crate) fn named() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut folders = variable("ROCM_PATH").map(|path| of_path(&path)).unwrap_or_default();
    for python in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable) {
        folders.extend(of_python(&python));
    }
    folders
}

/// Where AMD's installers put it: `/opt/rocm/lib`, then those of the other versions, newest first.
pub(crate) fn usual() -> Vec<PathBuf> {
    of_opt(Path::new("/opt"))
}

/// The libraries of a folder that `$ROCM_PATH` names. pip spreads a ROCm over several packages: `$ROCM_PATH` may be one of them.
fn of_path(path: &Path) -> Vec<PathBuf> {
    let mut folders = vec![path.join("lib")];
    let beside = path.parent().map(of_packages).unwrap_or_default();
    folders.extend(beside.into_iter().filter(|folder| *folder != path.join("lib")));
    folders
}

/// The libraries of pip's packages in a folder of packages: `_rocm_sdk_core` has HIP, `_rocm_sdk_libraries`, perhaps with the name
/// of a family of GPUs behind it, has the others.
fn of_packages(packages: &Path) -> Vec<PathBuf> {
    let core = packages.join("_rocm_sdk_core/lib");
    if !core.is_dir() {
        return Vec::new();
    }
    let others = entries(packages, "_rocm_sdk_libraries");
    std::iter::once(core).chain(others.into_iter().map(|folder| folder.join("lib"))).collect()
}

/// Those of a Python environment: `lib/python3.12/site-packages`.
fn of_python(environment: &Path) -> Vec<PathBuf> {
    let versions = entries(&environment.join("lib"), "python");
    versions.iter().flat_map(|python| of_packages(&python.join("site-packages"))).collect()
}

/// ROCm 7.2 lies in `/opt/rocm-7.2.4`, 10.0 in `/opt/rocm/core-10.0`, and `/opt/rocm` leads to the one that is in use.
fn of_opt(opt: &Path) -> Vec<PathBuf> {
    let in_use = opt.join("rocm");
    let mut roots = vec![in_use.clone(), in_use.join("core")];
    roots.extend(entries(&in_use, "core-"));
    roots.extend(entries(opt, "rocm-"));
    // The first is always named, so that a message tells where a ROCm would be looked for.
    roots
        .into_iter()
        .map(|root| root.join("lib"))
        .enumerate()
        .filter(|(i, lib)| *i == 0 || lib.is_dir())
        .map(|(_, lib)| lib)
        .collect()
}

/// The entries of a folder whose names begin like this, the highest version first.
fn entries(folder: &Path, start: &str) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<OsString> = listed.filter(|name| name.to_string_lossy().starts_with(start)).collect();
    names.sort_by_cached_key(|name| std::cmp::Reverse((numbers(&name.to_string_lossy()), name.clone())));
    names.iter().map(|name| folder.join(name)).collect()
}

/// The numbers in a name: 7.14 is higher than 7.2.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of this test's own, with folders in it.
    struct Made(PathBuf);

    impl Made {
        fn new(name: &str, folders: &[&str]) -> Self {
            let root = std::env::temp_dir().join(format!("hip-sys-{name}-{}", std::process::id()));
            for folder in folders {
                std::fs::create_dir_all(root.join(folder)).expect("temporary folders are writable");
            }
            Self(root)
        }

        fn relative(&self, found: Vec<PathBuf>) -> Vec<String> {
            let inside = |path: PathBuf| path.strip_prefix(&self.0).expect("inside").display().to_string();
            found.into_iter().map(inside).collect()
        }
    }

    impl Drop for Made {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).expect("it is this test's own");
        }
    }

    #[test]
    fn installed_versions_are_looked_through_from_the_newest() {
        let installed =
            ["rocm/core-10.0/lib", "rocm/core-7.14/lib", "rocm-7.2.4/lib", "rocm-7.10/lib", "rocm-6.4/bin"];
        let made = Made::new("opt", &installed);
        assert_eq!(
            made.relative(of_opt(&made.0)),
            ["rocm/lib", "rocm/core-10.0/lib", "rocm/core-7.14/lib", "rocm-7.10/lib", "rocm-7.2.4/lib"]
        );
        let nothing = made.0.join("nothing");
        assert_eq!(of_opt(&nothing), [nothing.join("rocm/lib")]);
    }

    #[test]
    fn packages_of_pip_are_found_beside_one_another_and_in_an_environment() {
        let packages = "lib/python3.12/site-packages";
        let folder = |name: &str| format!("{packages}/{name}/lib");
        let all = ["_rocm_sdk_core", "_rocm_sdk_libraries_gfx94X_dcgpu", "_rocm_sdk_devel"].map(folder);
        let made = Made::new("pip", &all.each_ref().map(String::as_str));
        let both = [&*all[0], &*all[1]];
        assert_eq!(made.relative(of_python(&made.0)), both);
        let core = made.0.join(packages).join("_rocm_sdk_core");
        assert_eq!(made.relative(of_path(&core)), both);
        let devel = made.0.join(packages).join("_rocm_sdk_devel");
        assert_eq!(made.relative(of_path(&devel)), [&*all[2], both[0], both[1]]);
        assert_eq!(of_path(Path::new("/nowhere/rocm")), [Path::new("/nowhere/rocm/lib")]);
    }
}
