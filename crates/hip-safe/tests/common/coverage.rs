//! A crate's `COVERAGE.md`, its table of functions and its code, for tests that they say the same. The tests of several crates include this file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the file: a function, whether it is wrapped, and by what, or why not.
pub(crate) struct Row {
    pub(crate) function: String,
    pub(crate) state: String,
    pub(crate) by: String,
}

/// The folder of the crate whose tests include this file.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of `COVERAGE.md`.
pub(crate) fn page() -> String {
    read(&root().join("COVERAGE.md"))
}

/// The rows of three cells whose function's name begins so.
pub(crate) fn rows(prefix: &str) -> Vec<Row> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.trim_end_matches('|').split(" | ").collect();
        let &[name, state, by] = cells.as_slice() else { return None };
        let function = name.trim_end_matches('`');
        function.starts_with(prefix).then(|| Row {
            function: function.into(),
            state: state.into(),
            by: by.trim().into(),
        })
    };
    page().lines().filter_map(row).collect()
}

/// The functions in this state.
pub(crate) fn of_state(rows: &[Row], state: &str) -> BTreeSet<String> {
    rows.iter().filter(|row| row.state == state).map(|row| row.function.clone()).collect()
}

/// The text of the Rust files of a folder of the crate, or of one file.
pub(crate) fn code(name: &str) -> String {
    let path = root().join(name);
    if path.is_file() {
        return read(&path);
    }
    let files = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| read(&path))
        .collect()
}

/// Those of the table's functions that the text names.
pub(crate) fn called(table: &BTreeSet<String>, text: &str) -> BTreeSet<String> {
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    table.iter().filter(|name| words.contains(name.as_str())).cloned().collect()
}
