//! The manifests of the programs that examples are compiled in.

use super::pages::Page;
use crate::packages::Package;
use std::path::Path;
use toml::{Table, Value};

/// The path of a checkout of this workspace in README.md.
const CHECKOUT: &str = "../hipstack/";

/// The manifest of a page's program.
///
/// # Errors
/// README.md names a dependency that is not part of a checkout.
pub(super) fn of_page(page: &Page, packages: &[Package], root: &Path) -> Result<String, String> {
    let dependencies = match &page.told {
        Some(told) => of_told(told, root)?,
        None => of_named(page, packages),
    };
    let package = [("name", page.name.as_str()), ("version", "0.0.0"), ("edition", "2024")];
    let package: Table = package.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    let manifest = [("package", package), ("dependencies", dependencies)];
    Ok(manifest
        .into_iter()
        .map(|(key, table)| (key.to_owned(), Value::Table(table)))
        .collect::<Table>()
        .to_string())
}

/// The manifest of the workspace around the programs. It has this workspace's profiles, so that compiled
/// dependencies are reused.
pub(super) fn of_all(members: &[String], packages: &[Package], root: &Path) -> Result<String, String> {
    let path = root.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let mut ours: Table = text.parse().map_err(|e| format!("{}: {e}", path.display()))?;
    spell_out_members(&mut ours, packages);
    let list = members.iter().map(|name| Value::from(name.as_str())).collect::<Vec<_>>();
    let workspace =
        Table::from_iter([("resolver".into(), "3".into()), ("members".into(), Value::Array(list))]);
    let mut manifest = Table::from_iter([("workspace".into(), Value::Table(workspace))]);
    manifest.extend(ours.get("profile").map(|profile| ("profile".to_owned(), profile.clone())));
    Ok(manifest.to_string())
}

/// Copies the settings of the profile `dev` and its override `*` to our packages by name: in another
/// workspace, `*` applies to them too.
fn spell_out_members(ours: &mut Table, packages: &[Package]) -> Option<()> {
    let dev = ours.get_mut("profile")?.get_mut("dev")?.as_table_mut()?;
    let changed = dev.get("package")?.get("*")?.as_table()?.clone();
    let plain: Table = changed.keys().filter_map(|key| Some((key.clone(), dev.get(key)?.clone()))).collect();
    let overrides = dev.get_mut("package")?.as_table_mut()?;
    for package in packages {
        let entry = overrides.entry(&package.name).or_insert_with(|| Table::new().into()).as_table_mut()?;
        for (key, value) in &plain {
            entry.entry(key).or_insert_with(|| value.clone());
        }
    }
    Some(())
}

fn of_told(told: &str, root: &Path) -> Result<Table, String> {
    let told: Table = told.parse().map_err(|e| format!("snippets: README.md's Cargo.toml: {e}"))?;
    let mut dependencies = told.get("dependencies").and_then(Value::as_table).cloned().unwrap_or_default();
    for (name, dependency) in &mut dependencies {
        let path =
            dependency.get("path").and_then(Value::as_str).and_then(|path| path.strip_prefix(CHECKOUT));
        let path = path
            .ok_or_else(|| format!("snippets: README.md's dependency {name} has no path below {CHECKOUT}"))?;
        *dependency = at(&root.join(path));
    }
    Ok(dependencies)
}

fn of_named(page: &Page, packages: &[Package]) -> Table {
    let named =
        packages.iter().filter(|package| package.library.as_deref().is_some_and(|name| page.names(name)));
    named.map(|package| (package.name.clone(), at(&package.folder))).collect()
}

fn at(folder: &Path) -> Value {
    Value::Table(Table::from_iter([("path".into(), folder.display().to_string().into())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_ours_keep_what_the_override_of_all_changes() {
        let text = "[profile.dev]\nopt-level = 1\ndebug = 2\n[profile.dev.package]\n\"*\" = { opt-level = 0, debug = false }\n\
                    hipstack-a = { opt-level = 0 }\n";
        let mut ours: Table = text.parse().expect("TOML");
        let package = |name: &str| Package {
            name: name.into(),
            version: "0.0.0".into(),
            library: None,
            front_page: None,
            folder: "a".into(),
            published: true,
            dependencies: Vec::new(),
        };
        spell_out_members(&mut ours, &[package("hipstack-a"), package("hipstack-b")]).expect("whole");
        let of = |name: &str| ours["profile"]["dev"]["package"][name].to_string();
        assert_eq!(of("hipstack-a"), "{ debug = 2, opt-level = 0 }");
        assert_eq!(of("hipstack-b"), "{ debug = 2, opt-level = 1 }");
    }
}
