//! The workspace's packages and which of them a package is built from, by `cargo metadata`.

use crate::workspace;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A package of the workspace.
#[derive(Debug)]
pub(super) struct Package {
    /// Its folder, from the root.
    pub(super) folder: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or nothing for an ordinary one.
    kind: Option<String>,
    /// Its folder, if it is of the workspace.
    path: Option<PathBuf>,
}

/// All packages, by name.
#[derive(Debug)]
pub(super) struct Packages(BTreeMap<String, Package>);

impl Packages {
    /// Those of the workspace at `root`.
    pub(super) fn of_workspace(root: &Path) -> Result<Self, String> {
        Self::read(&metadata(root)?)
    }
    /// Those that the JSON of `cargo metadata` lists.
    pub(super) fn read(json: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Metadata {
            packages: Vec<Read>,
            workspace_root: PathBuf,
        }
        #[derive(Deserialize)]
        struct Read {
            name: String,
            manifest_path: PathBuf,
            dependencies: Vec<Dependency>,
        }
        let metadata: Metadata =
            serde_json::from_str(json).map_err(|e| format!("ci: cargo metadata is not as expected: {e}"))?;
        let mut packages = BTreeMap::new();
        for Read { name, manifest_path, mut dependencies } in metadata.packages {
            dependencies.retain(|dependency| dependency.path.is_some());
            let folder = manifest_path.parent().unwrap_or(&manifest_path);
            let folder = folder.strip_prefix(&metadata.workspace_root).unwrap_or(folder);
            packages.insert(name, Package { folder: folder.display().to_string(), dependencies });
        }
        Ok(Self(packages))
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

    /// What these packages are built from, themselves included; with `tests` also what their own tests are.
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
            // Tests of what is only depended on are not built.
            open.extend(package.dependencies.iter().filter(counts).map(|d| (d.name.as_str(), false)));
        }
        Ok(found)
    }
}

/// What `cargo metadata` says, as JSON.
fn metadata(root: &Path) -> Result<String, String> {
    let mut cargo = workspace::cargo(root);
    let out = cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).output();
    let out = out.map_err(|e| format!("ci: cannot start cargo: {e}"))?;
    if !out.status.success() {
        return Err(format!("ci: cargo metadata: {}", String::from_utf8_lossy(&out.stderr)));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Five packages: `tensor` needs `safe` and `kernels`, `safe` needs `sys`, and its tests `host`, which needs `sys`, and
/// `kernels`, which lies in its folder.
#[cfg(test)]
pub(super) fn small() -> Packages {
    let dependency = |name: &str, kind: Option<&str>| serde_json::json!({"name": name, "kind": kind, "path": format!("/w/crates/{name}")});
    let package = |name: &str, folder: &str, dependencies: Vec<serde_json::Value>| {
        let manifest = format!("/w/{folder}/Cargo.toml");
        serde_json::json!({"name": name, "manifest_path": manifest, "dependencies": dependencies})
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
    Packages::read(&serde_json::json!({"packages": packages, "workspace_root": "/w"}).to_string())
        .expect("as cargo writes it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_bring_their_own_dependencies_and_no_others() {
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

    /// The step `loom` counts no dependencies of hip-safe's tests: all of them are for builds without loom.
    #[test]
    fn loom_is_built_without_the_dependencies_of_tests() {
        let root = workspace::root().expect("tests run inside the workspace");
        let json: serde_json::Value =
            serde_json::from_str(&metadata(&root).expect("cargo is here")).expect("JSON");
        let packages = json["packages"].as_array().expect("a list");
        let hip_safe =
            packages.iter().find(|package| package["name"] == "hip-safe").expect("it is of the workspace");
        let dependencies = hip_safe["dependencies"].as_array().expect("a list");
        let of_tests: Vec<_> = dependencies.iter().filter(|dependency| dependency["kind"] == "dev").collect();
        assert!(!of_tests.is_empty());
        assert!(of_tests.iter().all(|dependency| dependency["target"] == "cfg(not(loom))"), "{of_tests:?}");
    }
}
