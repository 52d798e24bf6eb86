//! `COVERAGE.md`, the table of functions and the code say the same.

use hip_sys::RocsparseTable;
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

/// The texts of a folder's files.
fn folder(name: &str) -> impl Iterator<Item = String> {
    let files = fs::read_dir(root().join(name)).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).map(|path| read(&path))
}

fn rows() -> Vec<Row> {
    let text = read(&root().join("COVERAGE.md"));
    let row = |line: &str| {
        let cells: Vec<&str> =
            line.strip_prefix("| `rocsparse_")?.trim_end_matches('|').split(" | ").collect();
        let &[name, state, by] = cells.as_slice() else { panic!("three cells: {line}") };
        let function = format!("rocsparse_{}", name.trim_end_matches('`'));
        Some(Row { function, state: state.into(), by: by.trim().into() })
    };
    text.lines().filter_map(row).collect()
}

fn of_state(rows: &[Row], state: &str) -> BTreeSet<String> {
    rows.iter().filter(|row| row.state == state).map(|row| row.function.clone()).collect()
}

fn table() -> impl Iterator<Item = String> {
    RocsparseTable::SYMBOLS.iter().map(|symbol| symbol.name.to_owned())
}

#[test]
fn every_function_of_the_table_is_listed_once() {
    let rows = rows();
    let all: BTreeSet<_> = rows.iter().map(|row| row.function.clone()).collect();
    assert_eq!(all.len(), rows.len(), "some function is listed twice");
    assert_eq!(all, table().collect());
    let (wrapped, raw) = (of_state(&rows, "wrapped"), of_state(&rows, "raw"));
    assert_eq!(wrapped.len() + raw.len(), rows.len(), "some row has another state");
    let figures =
        format!("Of its {} functions {} are wrapped, and {} are raw.", rows.len(), wrapped.len(), raw.len());
    assert!(read(&root().join("COVERAGE.md")).contains(&figures), "{figures}");
}

#[test]
fn wrapped_functions_are_those_that_the_code_calls() {
    let text: String = folder("src/raw").collect();
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let called: BTreeSet<String> = table().filter(|name| words.contains(name.as_str())).collect();
    assert_eq!(of_state(&rows(), "wrapped"), called);
}

#[test]
fn wrappers_are_methods_that_name_their_function() {
    let text: String = folder("src").chain(folder("src/ops")).collect();
    for Row { function, state, by } in rows() {
        assert!(!by.is_empty(), "{function}: who has it, or why nobody does");
        if state != "wrapped" {
            continue;
        }
        let method = by.split([' ', ',']).next().unwrap_or_default();
        assert!(text.contains(&format!("fn {method}")), "{function}: there is no method {method}");
        // Other descriptors live as long as a call or as what was prepared, and no method is for their ends alone.
        let inside = function.contains("_destroy_") && function.ends_with("_descr");
        let named = text.contains(&format!("#[doc(alias = \"{function}\")]"));
        assert!(named || inside, "{function}: no method names it");
    }
}
