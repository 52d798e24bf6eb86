//! `COVERAGE.md`, the table of functions and the code say the same.

use hip_sys::RocfftTable;
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
        let cells: Vec<&str> = line.strip_prefix("| `rocfft_")?.trim_end_matches('|').split(" | ").collect();
        let &[name, state, by] = cells.as_slice() else { panic!("three cells: {line}") };
        let function = format!("rocfft_{}", name.trim_end_matches('`'));
        Some(Row { function, state: state.into(), by: by.trim().into() })
    };
    text.lines().filter_map(row).collect()
}

fn of_state(rows: &[Row], state: &str) -> BTreeSet<String> {
    rows.iter().filter(|row| row.state == state).map(|row| row.function.clone()).collect()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect()
}

#[test]
fn every_function_is_listed_once() {
    let rows = rows();
    let all: BTreeSet<_> = rows.iter().map(|row| &row.function).collect();
    assert_eq!(all.len(), rows.len(), "some function is listed twice");
    let table: BTreeSet<String> = RocfftTable::SYMBOLS.iter().map(|symbol| symbol.name.to_owned()).collect();
    let (wrapped, raw) = (of_state(&rows, "wrapped"), of_state(&rows, "raw"));
    let listed: BTreeSet<_> = wrapped.union(&raw).cloned().collect();
    assert_eq!(listed, table);
    let outside = of_state(&rows, "not in the table");
    assert_eq!(wrapped.len() + raw.len() + outside.len(), rows.len(), "some row has another state");
    let figures = format!(
        "Of {} functions {} are wrapped, {} are raw, and {} are not in the table.",
        rows.len(),
        wrapped.len(),
        raw.len(),
        outside.len()
    );
    assert!(read(&root().join("COVERAGE.md")).contains(&figures), "{figures}");
}

#[test]
fn wrapped_functions_are_those_that_the_code_calls() {
    let text = read(&root().join("src/raw.rs"));
    let words = words(&text);
    let called: BTreeSet<String> = RocfftTable::SYMBOLS
        .iter()
        .map(|symbol| symbol.name.to_owned())
        .filter(|name| words.contains(name.as_str()))
        .collect();
    // hip-sys calls that one when it opens the library.
    let mut wrapped = of_state(&rows(), "wrapped");
    assert!(wrapped.remove("rocfft_get_version_string"));
    assert_eq!(wrapped, called);
}

#[test]
fn wrappers_are_methods_that_name_their_function() {
    let folder = |name: &str| {
        let files = fs::read_dir(root().join(name)).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).map(|path| read(&path))
    };
    let text: String = folder("src").chain(folder("src/ops")).collect();
    for Row { function, state, by } in rows() {
        assert!(!by.is_empty(), "{function}: who has it, or why nobody does");
        if state != "wrapped" || function == "rocfft_get_version_string" {
            continue;
        }
        let method = by.split([' ', ',']).next().unwrap_or_default();
        assert!(text.contains(&format!("fn {method}")), "{function}: there is no method {method}");
        // Descriptions and infos live as long as a call, and no method is for one of them alone.
        let inside = function.contains("_info_")
            || function.ends_with("description_create")
            || function.ends_with("description_destroy");
        let named = text.contains(&format!("#[doc(alias = \"{function}\")]"));
        assert!(named || inside, "{function}: no method names it");
    }
}
