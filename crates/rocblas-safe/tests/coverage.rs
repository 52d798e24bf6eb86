//! `COVERAGE.md`, the table of functions and the code say the same.

use hip_sys::{HipblasltTable, RocblasTable};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the file: the functions that it stands for, and the rest of its cells.
struct Row {
    functions: Vec<String>,
    state: String,
    by: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of every file below a folder, without what only tests see.
fn sources(folder: &str) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            let file = read(&path);
            text.push_str(file.split("#[cfg(test)]\nmod tests").next().unwrap_or_default());
        }
    }
    text
}

fn rows() -> Vec<Row> {
    let text = read(&root().join("COVERAGE.md"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `rocblas_")?.split(" | ").collect();
        let &[name, forms, state, by] = cells.as_slice() else { panic!("four cells: {line}") };
        let base = format!("rocblas_{}", name.trim_end_matches('`'));
        Some(Row {
            functions: expand(&base, forms),
            state: state.into(),
            by: by.trim_end_matches('|').trim().into(),
        })
    };
    text.lines().filter_map(row).collect()
}

fn expand(base: &str, forms: &str) -> Vec<String> {
    let (forms, wide) = forms.strip_suffix("; 64-bit").map_or((forms, false), |forms| (forms, true));
    let named = forms.split(", ").map(|form| {
        let form = match form {
            "plain" => "",
            "batched" => "_batched",
            "strided" => "_strided_batched",
            other => panic!("{base}: form {other}"),
        };
        let at = base.find("_ex").unwrap_or(base.len());
        format!("{}{form}{}", &base[..at], &base[at..])
    });
    named.flat_map(|name| std::iter::once(name.clone()).chain(wide.then(|| format!("{name}_64")))).collect()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect()
}

fn of_state(rows: &[Row], state: &str) -> BTreeSet<String> {
    rows.iter().filter(|row| row.state == state).flat_map(|row| row.functions.clone()).collect()
}

#[test]
fn every_function_is_listed_once() {
    let rows = rows();
    let all: Vec<_> = rows.iter().flat_map(|row| &row.functions).collect();
    let distinct: BTreeSet<_> = all.iter().copied().collect();
    assert_eq!(all.len(), distinct.len(), "some function is listed twice");
    let table: BTreeSet<String> = RocblasTable::SYMBOLS.iter().map(|symbol| symbol.name.to_owned()).collect();
    let (wrapped, raw) = (of_state(&rows, "wrapped"), of_state(&rows, "raw"));
    let listed: BTreeSet<_> = wrapped.union(&raw).cloned().collect();
    assert_eq!(listed.symmetric_difference(&table).collect::<Vec<_>>(), Vec::<&String>::new());
    let outside = of_state(&rows, "not in the table");
    assert_eq!(wrapped.len() + raw.len() + outside.len(), all.len(), "some row has another state");
    let figures = format!(
        "Of {} functions {} are wrapped, {} are raw, that is in `hip_sys::RocblasTable` and for callers of C, and {} are not in the table.",
        all.len(),
        wrapped.len(),
        raw.len(),
        outside.len()
    );
    assert!(read(&root().join("COVERAGE.md")).contains(&figures), "{figures}");
}

#[test]
fn wrapped_functions_are_those_that_the_code_calls() {
    let text = sources("src/raw");
    let words = words(&text);
    let table = RocblasTable::SYMBOLS.iter().map(|symbol| symbol.name);
    let called: BTreeSet<String> = table.filter(|name| words.contains(name)).map(str::to_owned).collect();
    let wrapped = of_state(&rows(), "wrapped");
    assert_eq!(wrapped.symmetric_difference(&called).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn wrappers_are_methods_that_name_their_function() {
    let text = sources("src/ops") + &sources("src");
    let words = words(&text);
    for Row { functions, state, by } in rows() {
        if state != "wrapped" {
            assert!(
                state == "raw" && !by.is_empty() || state == "not in the table",
                "{functions:?}: {state}"
            );
            continue;
        }
        let by = by.split(" (").next().unwrap_or_default();
        if by.contains(':') {
            continue;
        }
        for method in by.split([',', ';']).map(str::trim) {
            assert!(words.contains(method), "{functions:?}: there is no method {method}");
        }
        let alias = format!("\"{}\"", functions[0]);
        assert!(text.contains(&alias), "{}: no method names it in a doc alias", functions[0]);
    }
}

/// The rows of hipBLASLt: function, state, by.
fn lt_rows() -> Vec<[String; 3]> {
    let text = read(&root().join("COVERAGE.md"));
    let row = |line: &str| {
        let cells: Vec<&str> =
            line.strip_prefix("| `hipblasLt")?.trim_end_matches('|').split(" | ").collect();
        let &[name, state, by] = cells.as_slice() else { panic!("three cells: {line}") };
        Some([format!("hipblasLt{}", name.trim_end_matches('`')), state.into(), by.trim().into()])
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn functions_of_hipblaslt_are_listed_as_the_code_calls_them() {
    let rows = lt_rows();
    let listed: BTreeSet<String> = rows.iter().map(|row| row[0].clone()).collect();
    let table: BTreeSet<String> =
        HipblasltTable::SYMBOLS.iter().map(|symbol| symbol.name.to_owned()).collect();
    assert_eq!((listed.len(), &listed), (rows.len(), &table), "each once, and all of them");
    let text = sources("src/lt");
    // hip-sys asks for the version.
    let called = |name: &&String| {
        words(&text).contains(name.as_str()) && !name.ends_with("GetVersion")
            || **name == "hipblasLtGetVersion"
    };
    let wrapped: BTreeSet<&String> =
        rows.iter().filter(|row| row[1] == "wrapped").map(|row| &row[0]).collect();
    assert_eq!(wrapped, table.iter().filter(called).collect::<BTreeSet<_>>());
    let raw = rows.iter().filter(|row| row[1] == "raw" && !row[2].is_empty()).count();
    let figures =
        format!("declares {} functions: {} are wrapped, and {raw} are raw.", rows.len(), wrapped.len());
    assert!(read(&root().join("COVERAGE.md")).contains(&figures), "{figures}");
    for [function, _, by] in rows.iter().filter(|row| row[1] == "wrapped") {
        for method in by.split(", ") {
            assert!(text.contains(&format!("pub fn {method}")), "{function}: there is no method {method}");
        }
    }
}
