//! The workspace's packages, according to `cargo metadata`.

use crate::workspace;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A package of the workspace.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name, which begins with [`PREFIX`] if it is published.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The name that programs use for its library, such as `hip_safe`.
    pub library: Option<String>,
    /// The file with the library's front page, as an absolute path.
    pub front_page: Option<PathBuf>,
    /// The folder of its Cargo.toml.
    pub folder: PathBuf,
    /// Whether its manifest allows publishing it.
    pub published: bool,
    /// Its dependencies, including those outside the workspace.
    pub dependencies: Vec<Dependency>,
}

impl Package {
    /// Its name in the workspace, which is also its folder's: the package name without the prefix of
    /// published packages.
    pub fn short_name(&self) -> &str {
        self.name.strip_prefix(PREFIX).unwrap_or(&self.name)
    }

    /// Whether a package of this name could be mistaken for it: the name with or without the prefix.
    pub fn is_called(&self, name: &str) -> bool {
        name == self.name || name == self.short_name()
    }
}

/// The prefix of published packages' names: on crates.io the plain names belong to others.
pub const PREFIX: &str = "hipstack-";

/// A dependency of a package.
#[derive(Clone, Debug, Deserialize)]
pub struct Dependency {
    /// The package's name.
    pub name: String,
    /// `dev`, `build`, or `None` for an ordinary dependency.
    pub kind: Option<String>,
    /// The platform that it is limited to, if any.
    pub target: Option<String>,
    /// Its folder, if it belongs to the workspace.
    pub path: Option<PathBuf>,
}

/// All packages of the workspace.
///
/// # Errors
/// The text to show: cargo cannot be started, or its output is not understood.
pub fn all(root: &Path) -> Result<Vec<Package>, String> {
    let mut cargo = workspace::cargo(root);
    read(&workspace::stdout_of(cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]))?)
}

/// Parses the JSON of `cargo metadata`.
pub(crate) fn read(json: &str) -> Result<Vec<Package>, String> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Read>,
    }
    #[derive(Deserialize)]
    struct Read {
        name: String,
        version: String,
        manifest_path: PathBuf,
        dependencies: Vec<Dependency>,
        #[serde(default)]
        targets: Vec<Target>,
        publish: Option<Vec<String>>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
        kind: Vec<String>,
        src_path: PathBuf,
    }
    let metadata: Metadata =
        serde_json::from_str(json).map_err(|e| format!("cargo metadata is not as expected: {e}"))?;
    let package = |read: Read| {
        let library = read.targets.into_iter().find(|target| target.kind.iter().any(|kind| kind == "lib"));
        let (library, front_page) = library.map(|target| (target.name, target.src_path)).unzip();
        Package {
            name: read.name,
            version: read.version,
            library,
            front_page,
            folder: read.manifest_path.parent().unwrap_or(Path::new("")).to_path_buf(),
            published: read.publish.is_none(),
            dependencies: read.dependencies,
        }
    };
    Ok(metadata.packages.into_iter().map(package).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_packages_have_names_that_nobody_else_takes() {
        let root = workspace::root().expect("tests run inside the workspace");
        let packages = all(&root).expect("cargo is here");
        let published: Vec<_> = packages.iter().filter(|package| package.published).collect();
        assert!(published.iter().any(|package| package.library.as_deref() == Some("hip_sys")));
        for package in published {
            assert!(
                package.name.starts_with(PREFIX),
                "{}: others own plain names on crates.io",
                package.name
            );
        }
    }
}
