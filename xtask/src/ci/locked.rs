//! The parts of Cargo.lock and of the workspace's Cargo.toml that concern some packages. A step that builds only those
//! packages does not depend on the other parts.

use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Both files, parsed.
#[derive(Debug)]
pub(super) struct Locked {
    /// The entries of Cargo.lock, by name; a name may have several versions.
    entries: BTreeMap<String, Vec<Table>>,
    workspace: Table,
}

impl Locked {
    /// Reads the texts of Cargo.lock and of the workspace's Cargo.toml.
    pub(super) fn read(lock: &str, manifest: &str) -> Result<Self, String> {
        let lock: Table = toml::from_str(lock).map_err(|e| format!("ci: Cargo.lock: {e}"))?;
        let workspace: Table = toml::from_str(manifest).map_err(|e| format!("ci: Cargo.toml: {e}"))?;
        let mut entries: BTreeMap<String, Vec<Table>> = BTreeMap::new();
        for entry in lock.get("package").and_then(Value::as_array).into_iter().flatten() {
            if let (Some(entry), Some(name)) = (entry.as_table(), entry.get("name").and_then(Value::as_str)) {
                entries.entry(name.to_owned()).or_default().push(entry.clone());
            }
        }
        Ok(Self { entries, workspace })
    }

    /// The text that is an input for packages of the workspace: their external dependencies, direct and indirect, with versions
    /// and checksums, and Cargo.toml without the members and without other packages' tables.
    pub(super) fn of(&self, packages: &BTreeSet<String>) -> String {
        let external = self.external(packages);
        let names: BTreeSet<&str> = external.values().filter_map(|entry| entry["name"].as_str()).collect();
        let counts = |name: &str| {
            // A table of a profile may name a version: `rand@0.8`.
            let name = name.split('@').next().unwrap_or(name);
            name == "*" || names.contains(name) || packages.contains(name)
        };
        let mut workspace = self.workspace.clone();
        if let Some(Value::Table(own)) = workspace.get_mut("workspace") {
            own.remove("members");
            if let Some(Value::Table(dependencies)) = own.get_mut("dependencies") {
                // `package` may give an entry another package name than its key.
                dependencies
                    .retain(|key, entry| counts(entry.get("package").and_then(Value::as_str).unwrap_or(key)));
            }
        }
        for (_, profile) in workspace.get_mut("profile").and_then(Value::as_table_mut).into_iter().flatten() {
            if let Some(of_packages) = profile.get_mut("package").and_then(Value::as_table_mut) {
                of_packages.retain(|name, _| counts(name));
            }
        }
        let entries: Vec<String> = external.values().map(|entry| entry.to_string()).collect();
        format!("{workspace}\n{}", entries.join("\n"))
    }

    /// The entries of all external dependencies, by name and version.
    fn external(&self, packages: &BTreeSet<String>) -> BTreeMap<(String, String), &Table> {
        let mut found = BTreeMap::new();
        let mut open: Vec<&Table> =
            packages.iter().flat_map(|name| self.entries.get(name)).flatten().collect();
        while let Some(entry) = open.pop() {
            for named in entry.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
                // cargo writes "name", or "name version" where the lock holds several versions.
                let mut words = named.as_str().unwrap_or_default().split(' ');
                let (name, version) = (words.next().unwrap_or_default(), words.next());
                let is_it = |entry: &&Table| version.is_none_or(|version| text(entry, "version") == version);
                // Packages of the workspace have no source; the caller already knows which of them are built.
                let wanted = |entry: &&Table| is_it(entry) && entry.contains_key("source");
                for dependency in self.entries.get(name).into_iter().flatten().filter(wanted) {
                    let key = (name.to_owned(), text(dependency, "version").to_owned());
                    if found.insert(key, dependency).is_none() {
                        open.push(dependency);
                    }
                }
            }
        }
        found
    }
}

fn text<'a>(entry: &'a Table, key: &str) -> &'a str {
    entry.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 4
package = [
    { name = "hipstack-safe", version = "0.1.0", dependencies = ["half", "hipstack-sys", "rand 0.9.0"] },
    { name = "hipstack-sys", version = "0.1.0", dependencies = ["libc"] },
    { name = "half", version = "2.0.0", source = "registry", checksum = "a", dependencies = ["cfg-if"] },
    { name = "cfg-if", version = "1.0.0", source = "registry", checksum = "b" },
    { name = "libc", version = "0.2.0", source = "registry", checksum = "c" },
    { name = "rand", version = "0.8.0", source = "registry", checksum = "d" },
    { name = "rand", version = "0.9.0", source = "registry", checksum = "e" },
]
"#;
    const MANIFEST: &str = r#"
[workspace]
members = ["safe", "sys"]
[workspace.package]
edition = "2024"
[workspace.dependencies]
half = "2"
halves = { package = "half", version = "2" }
libc = "0.2"
safe = { package = "hipstack-safe", path = "safe" }
[profile.dev.package]
"*" = { opt-level = 0 }
half = { opt-level = 2 }
libc = { opt-level = 2 }
"#;

    fn of_safe(lock: &str, manifest: &str) -> String {
        let locked = Locked::read(lock, manifest).expect("both are TOML");
        locked.of(&BTreeSet::from(["hipstack-safe".to_owned()]))
    }

    /// Whether a change of a text changes the input of `hipstack-safe`.
    fn counts(from: &str, to: &str) -> bool {
        assert!(LOCK.contains(from) || MANIFEST.contains(from), "{from}");
        of_safe(LOCK, MANIFEST) != of_safe(&LOCK.replace(from, to), &MANIFEST.replace(from, to))
    }

    #[test]
    fn a_dependency_s_version_changes_the_input() {
        assert!(counts("checksum = \"a\"", "checksum = \"x\""), "a direct one");
        assert!(counts("checksum = \"b\"", "checksum = \"x\""), "one of a dependency");
        assert!(counts("checksum = \"e\"", "checksum = \"x\""), "the version that is used");
        assert!(!counts("checksum = \"d\"", "checksum = \"x\""), "another version");
        assert!(!counts("checksum = \"c\"", "checksum = \"x\""), "one of another package");
    }

    #[test]
    fn workspace_settings_change_the_input_except_those_of_other_packages() {
        assert!(counts("edition = \"2024\"", "edition = \"2021\""));
        assert!(counts("half = { opt-level = 2 }", "half = { opt-level = 3 }"));
        assert!(counts("\"*\" = { opt-level = 0 }", "\"*\" = { opt-level = 1 }"));
        assert!(counts(
            "halves = { package = \"half\", version = \"2\" }",
            "halves = { package = \"half\", version = \"2.1\" }"
        ));
        assert!(counts("path = \"safe\"", "path = \"safer\""));
        assert!(!counts("libc = { opt-level = 2 }", "libc = { opt-level = 3 }"));
        assert!(!counts("libc = \"0.2\"", "libc = \"0.3\""));
        assert!(!counts("members = [\"safe\", \"sys\"]", "members = [\"safe\", \"sys\", \"new\"]"));
    }

    #[test]
    fn invalid_toml_is_an_error() {
        assert!(Locked::read("[[", "").expect_err("no TOML").starts_with("ci: Cargo.lock: "));
        assert!(Locked::read("", "[[").expect_err("no TOML").starts_with("ci: Cargo.toml: "));
    }
}
