//! Checks that each member's Cargo.toml inherits what the workspace sets, including dependencies.

use super::{Problem, tree::File, tree::Tree};
use toml::{Table, Value};

const INHERITED: [&str; 4] = ["version", "edition", "rust-version", "license"];

/// The tables of a manifest that list dependencies.
pub(super) const DEPENDENCIES: [&str; 3] = ["dependencies", "build-dependencies", "dev-dependencies"];

/// The folders of the workspace's members, according to the root's Cargo.toml.
pub(super) fn member_folders(tree: &Tree) -> Vec<String> {
    let root = tree.file("Cargo.toml").and_then(|file| file.text.parse::<Table>().ok());
    let members = root.as_ref().and_then(|table| table.get("workspace")?.get("members")?.as_array());
    members.into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
}

/// The members' manifests that can be parsed.
pub(super) fn members(tree: &Tree) -> Vec<(&File, Table)> {
    let files = member_folders(tree).into_iter().filter_map(|dir| tree.file(&format!("{dir}/Cargo.toml")));
    files.filter_map(|file| Some((file, file.text.parse().ok()?))).collect()
}

/// The dependencies in the table of this name, including target-specific ones.
pub(super) fn dependencies<'a>(manifest: &'a Table, name: &str) -> Vec<(&'a String, &'a Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let per_target = targets.into_iter().flatten().filter_map(|(_, target)| target.get(name));
    let tables = manifest.get(name).into_iter().chain(per_target);
    tables.filter_map(Value::as_table).flatten().collect()
}

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let folders = member_folders(tree);
    let mut problems = Vec::new();
    if folders.is_empty() {
        problems.push(Problem::error("Cargo.toml", 1, "no [workspace] with members"));
    }
    for folder in folders {
        let path = format!("{folder}/Cargo.toml");
        match tree.file(&path).map(|file| (file, file.text.parse::<Table>())) {
            Some((file, Ok(manifest))) => problems.extend(check_member(file, &manifest)),
            Some((_, Err(e))) => problems.push(Problem::error(&path, 1, e.message())),
            None => {
                problems.push(Problem::error("Cargo.toml", 1, format!("member {folder:?} has no Cargo.toml")))
            }
        }
    }
    problems
}

fn check_member(file: &File, manifest: &Table) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut error = |line, message: String| problems.push(Problem::error(&file.path, line, message));
    let package = manifest.get("package").and_then(Value::as_table);
    for key in INHERITED {
        if !package.and_then(|p| p.get(key)).is_some_and(inherits) {
            error(file.line_of_key(key), format!("write `{key}.workspace = true`"));
        }
    }
    let description = package.and_then(|p| p.get("description")).and_then(Value::as_str);
    if description.is_none_or(|text| text.trim().is_empty()) {
        error(1, "the package needs a description".into());
    }
    if !manifest.get("lints").is_some_and(inherits) {
        error(1, "write `workspace = true` under [lints]".into());
    }
    let everywhere = DEPENDENCIES.iter().flat_map(|table| {
        dependencies(manifest, table).into_iter().map(move |(name, value)| (*table, name, value))
    });
    for (table, name, value) in everywhere {
        // Allowed: a dev-dependency on a package of this workspace, or on the package itself, to enable its
        // own features for tests. Packing removes a dev-dependency only if it has no version, and the root's
        // has one.
        let for_tests =
            table == "dev-dependencies" && value.get("path").is_some() && value.get("version").is_none();
        if !inherits(value) && !for_tests {
            let message = format!(
                "{name:?} belongs in the root's [workspace.dependencies]; here `{name}.workspace = true`"
            );
            error(file.line_of_key(name), message);
        }
    }
    problems
}

fn inherits(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\ndescription = \"A.\"\nversion.workspace = true\nedition.workspace = true\n\
        rust-version.workspace = true\nlicense.workspace = true\n[dependencies]\nx = { workspace = true, optional = true }\n\
        [lints]\nworkspace = true\n";

    fn problems(manifest: &str) -> Vec<String> {
        let tree =
            Tree::of(&[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"), ("a/Cargo.toml", manifest)]);
        check(&tree).into_iter().map(|p| p.to_string()).collect()
    }

    #[test]
    fn a_member_that_inherits_passes() {
        assert_eq!(problems(GOOD), Vec::<String>::new());
    }

    #[test]
    fn each_key_that_does_not_inherit_is_named() {
        for key in INHERITED {
            let found =
                problems(&GOOD.replace(&format!("\n{key}.workspace = true"), &format!("\n{key} = \"1\"")));
            assert_eq!(found.len(), 1, "{key}: {found:?}");
            assert!(found[0].contains(key), "{found:?}");
        }
    }

    #[test]
    fn lints_description_and_dependencies_are_looked_at() {
        assert_eq!(problems(&GOOD.replace("[lints]\nworkspace = true", "")).len(), 1);
        assert_eq!(problems(&GOOD.replace("A.", " ")).len(), 1);
        let found = problems(&GOOD.replace("x = { workspace = true, optional = true }", "x = \"1\""));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a/Cargo.toml:9: "), "{found:?}");
        let found = problems(&(GOOD.to_string() + "[target.'cfg(unix)'.dev-dependencies]\ny = \"1\"\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        let itself = "[dev-dependencies]\na = { path = \".\", features = [\"f\"] }\n";
        assert_eq!(problems(&(GOOD.to_string() + itself)), Vec::<String>::new());
    }

    #[test]
    fn a_member_without_a_manifest_and_a_broken_one_are_errors() {
        assert_eq!(check(&Tree::of(&[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n")])).len(), 1);
        assert_eq!(check(&Tree::of(&[])).len(), 1);
        assert_eq!(problems("= not toml").len(), 1);
    }
}
