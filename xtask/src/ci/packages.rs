//! The workspace's packages and their dependencies, by `cargo metadata`.

use crate::packages::{self, Dependency};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A package of the workspace.
#[derive(Debug)]
pub(super) struct Package {
    /// Its folder, relative to the root.
    pub(super) folder: String,
    /// Its name without the prefix of published packages, such as `hip-safe`.
    pub(super) short_name: String,
    /// Those of the workspace.
    dependencies: Vec<Dependency>,
}

/// All packages, by name.
#[derive(Debug)]
pub(super) struct Packages(BTreeMap<String, Package>);

impl Packages {
    /// Those of the workspace at `root`.
    pub(super) fn of_workspace(root: &Path) -> Result<Self, String> {
        Ok(Self::new(packages::all(root).map_err(|why| format!("ci: {why}"))?, root))
    }

    fn new(all: Vec<packages::Package>, root: &Path) -> Self {
        let package = |package: packages::Package| {
            let folder = package.folder.strip_prefix(root).unwrap_or(&package.folder).display().to_string();
            let short_name = package.short_name().to_owned();
            let of_workspace =
                package.dependencies.into_iter().filter(|dependency| dependency.path.is_some());
            (package.name, Package { folder, short_name, dependencies: of_workspace.collect() })
        };
        Self(all.into_iter().map(package).collect())
    }

    /// A package by its name.
    pub(super) fn get(&self, name: &str) -> Option<&Package> {
        self.0.get(name)
    }

    /// All names with their packages.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Package)> {
        self.0.iter().map(|(name, package)| (name.as_str(), package))
    }

    /// The package that a file belongs to.
    pub(super) fn owner(&self, path: &str) -> Option<(&str, &Package)> {
        let owns = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        self.iter()
            .filter(|(_, package)| owns(&package.folder))
            .max_by_key(|(_, package)| package.folder.len())
    }

    /// These packages and their dependencies in the workspace; with `tests` also the dependencies of their own tests.
    pub(super) fn built_from(&self, names: &[&str], tests: bool) -> Result<BTreeSet<String>, String> {
        let mut found = BTreeSet::new();
        let mut open: Vec<(&str, bool)> = names.iter().map(|name| (*name, tests)).collect();
        let mut seen = BTreeSet::new();
        while let Some((name, tests)) = open.pop() {
            if !seen.insert((name, tests)) {
                continue;
            }
            let package = self.0.get(name).ok_or_else(|| format!("ci: no package is called {name:?}"))?;
            found.insert(name.to_owned());
            let counts = |dependency: &&Dependency| tests || dependency.kind.as_deref() != Some("dev");
            // Tests of a dependency are not built.
            open.extend(package.dependencies.iter().filter(counts).map(|d| (d.name.as_str(), false)));
        }
        Ok(found)
    }
}

/// Five packages. `tensor` needs `safe` and `kernels`. `safe` needs `sys`; its tests need `host` and `kernels`, which lies
/// in the folder of `safe`. `host` needs `sys`.
#[cfg(test)]
pub(super) fn small() -> Packages {
    let dependency = |name: &str, kind: Option<&str>| serde_json::json!({"name": name, "kind": kind, "path": format!("/w/crates/{name}")});
    let package = |name: &str, folder: &str, dependencies: Vec<serde_json::Value>| {
        let manifest = format!("/w/{folder}/Cargo.toml");
        serde_json::json!({"name": name, "version": "0.1.0", "manifest_path": manifest, "dependencies": dependencies})
    };
    let registry = serde_json::json!({"name": "libc", "kind": null});
    let packages = [
        package("sys", "crates/sys", vec![registry]),
        package("host", "crates/host", vec![dependency("sys", None)]),
        package("kernels", "crates/safe/kernels", vec![]),
        package(
            "safe",
            "crates/safe",
            vec![
                dependency("sys", None),
                dependency("host", Some("dev")),
                dependency("kernels", Some("dev")),
            ],
        ),
        package("tensor", "crates/tensor", vec![dependency("safe", None), dependency("kernels", None)]),
    ];
    let json = serde_json::json!({"packages": packages}).to_string();
    Packages::new(packages::read(&json).expect("as cargo writes it"), Path::new("/w"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn built_tests_add_only_their_own_dependencies() {
        let packages = small();
        let from = |names: &[&str], tests| {
            packages.built_from(names, tests).expect("known").into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(from(&["safe"], false), "safe sys");
        assert_eq!(from(&["safe"], true), "host kernels safe sys");
        assert_eq!(from(&["tensor"], true), "kernels safe sys tensor", "safe's tests are not built");
        assert!(packages.built_from(&["lost"], false).expect_err("unknown").contains("\"lost\""));
    }

    #[test]
    fn a_file_belongs_to_the_innermost_package() {
        let packages = small();
        let owner = |path| packages.owner(path).map(|(name, _)| name);
        assert_eq!(owner("crates/safe/src/lib.rs"), Some("safe"));
        assert_eq!(owner("crates/safe-not/src/lib.rs"), None);
        assert_eq!(owner("crates/safe/kernels/a.hip"), Some("kernels"));
        assert_eq!(owner("Cargo.toml"), None);
    }

    /// The step `loom` leaves out the dependencies of hip-safe's tests: those tests are not built with loom.
    #[test]
    fn loom_is_built_without_the_dependencies_of_tests() {
        let root = workspace::root().expect("tests run inside the workspace");
        let packages = packages::all(&root).expect("cargo is here");
        let hip_safe = packages
            .iter()
            .find(|package| package.short_name() == "hip-safe")
            .expect("it is of the workspace");
        let of_tests: Vec<_> = hip_safe
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind.as_deref() == Some("dev"))
            .collect();
        assert!(!of_tests.is_empty());
        assert!(
            of_tests.iter().all(|dependency| dependency.target.as_deref() == Some("cfg(not(loom))")),
            "{of_tests:?}"
        );
    }
}
