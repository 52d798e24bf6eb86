//! `COVERAGE.md`, the table of functions and the code say the same.

use hip_sys::RocsolverTable;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// hip-sys calls it when it opens the library.
const VERSION: &str = "rocsolver_get_version_string";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folder(name: &str) -> String {
    let files = fs::read_dir(root().join(name)).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| read(&path))
        .collect()
}

/// The functions of a row, and its other cells.
fn rows() -> Vec<(Vec<String>, Vec<String>)> {
    let row = |line: &str| {
        let cells: Vec<_> = line.strip_prefix("| `")?.trim_end_matches(" |").split(" | ").collect();
        let name = cells.first()?.strip_suffix('`').filter(|name| name.starts_with("rocsolver_"))?;
        let functions = cells[1].split(", ").flat_map(|form| {
            let suffix = match form {
                "plain" => "",
                "batched" => "_batched",
                "strided" => "_strided_batched",
                "plain 64" => "_64",
                "batched 64" => "_batched_64",
                "strided 64" => "_strided_batched_64",
                other => panic!("{line}: form {other}"),
            };
            expand(name).into_iter().map(move |name| format!("{name}{suffix}"))
        });
        Some((functions.collect(), cells[2..].iter().map(|&cell| cell.to_owned()).collect()))
    };
    read(&root().join("COVERAGE.md")).lines().filter_map(row).collect()
}

/// `a{b,c}d` stands for `abd` and `acd`.
fn expand(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else { return vec![name.to_owned()] };
    let (choices, after) = rest.split_once('}').expect("a brace is closed");
    choices.split(',').map(|choice| format!("{before}{choice}{after}")).collect()
}

#[test]
fn every_function_is_listed_once() {
    let rows = rows();
    let all: Vec<_> = rows.iter().flat_map(|row| &row.0).collect();
    let distinct: BTreeSet<_> = all.iter().collect();
    assert_eq!(all.len(), distinct.len(), "some function is listed twice");
    let wrapped: BTreeSet<&str> =
        rows.iter().filter(|row| !row.1.is_empty()).flat_map(|row| &row.0).map(String::as_str).collect();
    let table: BTreeSet<_> = RocsolverTable::SYMBOLS.iter().map(|symbol| symbol.name).collect();
    assert_eq!(wrapped.symmetric_difference(&table).collect::<Vec<_>>(), Vec::<&&str>::new());
    let outside = all.len() - wrapped.len();
    let figures = format!(
        "Of {} functions {} are wrapped, and {outside} are not in the table.",
        all.len(),
        wrapped.len()
    );
    assert!(read(&root().join("COVERAGE.md")).contains(&figures), "{figures}");
}

#[test]
fn the_code_calls_every_function_of_the_table() {
    let text = folder("src/raw");
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for symbol in RocsolverTable::SYMBOLS {
        assert!(words.contains(symbol.name) || symbol.name == VERSION, "{}", symbol.name);
    }
}

#[test]
fn wrappers_are_methods_that_name_their_functions() {
    let text = folder("src/ops");
    for (functions, cells) in rows().iter().filter(|row| !row.1.is_empty() && row.0[0] != VERSION) {
        let [state, method] = &cells[..] else { panic!("{functions:?}: four cells") };
        assert_eq!(state, "wrapped", "{functions:?}");
        assert!(text.contains(&format!("pub fn {method}<")), "{functions:?}: there is no method {method}");
        for function in functions.iter().filter(|function| !function.ends_with("_batched")) {
            let alias = format!("#[doc(alias = \"{function}\")]");
            assert!(text.contains(&alias), "{function}: no method names it");
        }
    }
}
