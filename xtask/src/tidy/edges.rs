//! Checks that crates depend on each other only as the table in docs/ARCHITECTURE.md allows, and that the
//! table has no unused edges.

use super::{Problem, manifests, markdown, tree::Tree};
use crate::packages;
use std::collections::BTreeSet;
use toml::{Table, Value};

const PAGE: &str = "docs/ARCHITECTURE.md";
const SECTION: &str = "Allowed edges";

/// The two tables of the page, and the manifest tables that each covers.
const KINDS: [(&str, &[&str]); 2] =
    [("edges", &["dependencies", "build-dependencies"]), ("dev-edges", &["dev-dependencies"])];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let (first, allowed) = match table(tree) {
        Ok(found) => found,
        Err(problem) => return vec![problem],
    };
    let members = manifests::members(tree);
    let name = |manifest: &Table| {
        let name = manifest.get("package")?.get("name")?.as_str()?;
        Some(name.strip_prefix(packages::PREFIX).unwrap_or(name).to_string())
    };
    let ours: BTreeSet<String> = members.iter().filter_map(|(_, manifest)| name(manifest)).collect();
    let mut problems = Vec::new();
    for (kind, tables) in KINDS {
        let mut unused = edges_of(&allowed, kind);
        for (file, manifest) in &members {
            let Some(from) = name(manifest) else { continue };
            let used = tables.iter().flat_map(|table| manifests::dependencies(manifest, table));
            for (to, _) in used.filter(|(to, _)| ours.contains(*to) && **to != from) {
                let edge = (from.clone(), to.clone());
                if edges_of(&allowed, kind).contains(&edge) {
                    unused.remove(&edge);
                } else {
                    let message =
                        format!("{from} may not depend on {to}: [{kind}] in {PAGE} does not allow it");
                    problems.push(Problem::error(&file.path, file.line_of_key(to), message));
                }
            }
        }
        for (from, to) in unused {
            let message = format!("[{kind}] allows {from} -> {to}, which no Cargo.toml uses: take it out");
            problems.push(Problem::error(PAGE, first, message));
        }
        for crate_name in ours.iter().filter(|_| kind == "edges") {
            if allowed.get(kind).is_none_or(|edges| edges.get(crate_name).is_none()) {
                problems.push(Problem::error(PAGE, first, format!("[{kind}] has no line for {crate_name}")));
            }
        }
    }
    problems
}

/// The table on the page, and the line where it starts.
fn table(tree: &Tree) -> Result<(usize, Table), Problem> {
    let wanted =
        || Problem::error(PAGE, 1, format!("the page needs a section {SECTION:?} with a ```toml block"));
    let page = tree.file(PAGE).ok_or_else(wanted)?;
    let (first, text) = markdown::section(&page.text, SECTION)
        .and_then(|lines| markdown::block(&lines, "toml"))
        .ok_or_else(wanted)?;
    let table = text.parse().map_err(|e: toml::de::Error| Problem::error(PAGE, first, e.message()))?;
    Ok((first, table))
}

fn edges_of(allowed: &Table, kind: &str) -> BTreeSet<(String, String)> {
    let lines = allowed.get(kind).and_then(Value::as_table);
    let edges = lines.into_iter().flatten().flat_map(|(from, to)| {
        let to = to.as_array().into_iter().flatten().filter_map(Value::as_str);
        to.map(|to| (from.clone(), to.to_string()))
    });
    edges.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(table: &str, a_needs: &str) -> Vec<String> {
        let page = format!("## {SECTION}\ntext\n```toml\n{table}\n```\n");
        let tree = Tree::of(&[
            (PAGE, &page),
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n"),
            ("a/Cargo.toml", &format!("[package]\nname = \"a\"\n{a_needs}\n")),
            ("b/Cargo.toml", "[package]\nname = \"b\"\n[dependencies]\nserde = \"1\"\n"),
        ]);
        check(&tree).into_iter().map(|p| p.to_string()).collect()
    }

    const EDGE: &str = "[dependencies]\nb.workspace = true";

    #[test]
    fn an_allowed_edge_passes() {
        assert_eq!(problems("[edges]\na = [\"b\"]\nb = []", EDGE), Vec::<String>::new());
        let dev = problems(
            "[edges]\na = []\nb = []\n[dev-edges]\na = [\"b\"]",
            "[dev-dependencies]\nb.workspace = true",
        );
        assert_eq!(dev, Vec::<String>::new());
        let itself = problems("[edges]\na = []\nb = []", "[dev-dependencies]\na = { path = \".\" }");
        assert_eq!(itself, Vec::<String>::new());
    }

    #[test]
    fn an_edge_that_is_not_in_the_table_is_an_error() {
        for needs in
            [EDGE, "[build-dependencies]\nb.workspace = true", "[target.x.dependencies]\nb.workspace = true"]
        {
            let found = problems("[edges]\na = []\nb = []", needs);
            assert_eq!(found.len(), 1, "{needs}");
            assert!(found[0].starts_with("a/Cargo.toml:4: error: a may not depend on b"), "{found:?}");
        }
    }

    #[test]
    fn a_test_dependency_does_not_excuse_a_real_one() {
        let found = problems("[edges]\na = []\nb = []\n[dev-edges]\na = [\"b\"]", EDGE);
        assert_eq!(found.len(), 2, "one edge too many, one line too many: {found:?}");
    }

    #[test]
    fn an_unused_edge_a_missing_crate_and_a_missing_table_are_errors() {
        assert_eq!(problems("[edges]\na = [\"b\"]\nb = []", "").len(), 1);
        assert_eq!(problems("[edges]\na = []", "").len(), 1);
        assert_eq!(problems("= no toml", "").len(), 1);
        assert_eq!(check(&Tree::of(&[])).len(), 1);
    }
}
