//! `COVERAGE.md`, the table of functions and the code say the same.

use hip_sys::AmdsmiTable;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the file.
struct Row {
    function: String,
    state: String,
    by: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rows() -> Vec<Row> {
    let text = read(&root().join("COVERAGE.md"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `amdsmi_")?.trim_end_matches('|').split(" | ").collect();
        let &[name, state, by] = cells.as_slice() else { return None };
        let function = format!("amdsmi_{}", name.trim_end_matches('`'));
        Some(Row { function, state: state.into(), by: by.trim().into() })
    };
    text.lines().filter_map(row).collect()
}

fn of_state(rows: &[Row], state: &str) -> BTreeSet<String> {
    rows.iter().filter(|row| row.state == state).map(|row| row.function.clone()).collect()
}

#[test]
fn every_function_is_listed_once() {
    let rows = rows();
    let all: BTreeSet<_> = rows.iter().map(|row| &row.function).collect();
    assert_eq!(all.len(), rows.len(), "some function is listed twice");
    let table: BTreeSet<String> = AmdsmiTable::SYMBOLS.iter().map(|symbol| symbol.name.to_owned()).collect();
    let (safe, raw) = (of_state(&rows, "safe"), of_state(&rows, "raw"));
    let listed: BTreeSet<_> = safe.union(&raw).cloned().collect();
    assert_eq!(listed, table);
    let outside = of_state(&rows, "not in the table");
    assert_eq!(safe.len() + raw.len() + outside.len(), rows.len(), "some row has another state");
    let figures = format!(
        "Of {} functions {} are safe, {} are raw, and {} are not in the table.",
        rows.len(),
        safe.len(),
        raw.len(),
        outside.len()
    );
    assert!(read(&root().join("COVERAGE.md")).contains(&figures), "{figures}");
}

#[test]
fn safe_functions_are_those_that_the_code_calls() {
    let text = read(&root().join("src/raw.rs"));
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let names = AmdsmiTable::SYMBOLS.iter().map(|symbol| symbol.name.to_owned());
    let called: BTreeSet<String> = names.filter(|name| words.contains(name.as_str())).collect();
    // hip-sys calls that one when it opens the library.
    let mut safe = of_state(&rows(), "safe");
    assert!(safe.remove("amdsmi_get_lib_version"));
    assert_eq!(safe, called);
}

#[test]
fn safe_functions_have_methods_that_name_them() {
    let files = fs::read_dir(root().join("src")).unwrap().map(|entry| read(&entry.unwrap().path()));
    let text: String = files.collect();
    for Row { function, state, by } in rows() {
        assert!(!by.is_empty(), "{function}: who has it, or why nobody does");
        if state != "safe" || function == "amdsmi_get_lib_version" {
            continue;
        }
        for method in by.split(", ") {
            assert!(text.contains(&format!("fn {method}(")), "{function}: there is no method {method}");
        }
        assert!(text.contains(&format!("#[doc(alias = \"{function}\")]")), "{function}: no method names it");
    }
}
