//! COVERAGE.md says what is so: each function of the table has a row there, wrapped if and only if it is called.

use crate::under_test::{AMD_LACKS, HOST_LACKS, Lack, NVIDIA_LACKS, NVIDIA_OLDER_LACKS};
use hip_sys::MiopenTable;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn part(heading: &str) -> String {
    let text = fs::read_to_string(crate_folder().join("COVERAGE.md")).expect("COVERAGE.md can be read");
    text.split("\n## ").find(|part| part.starts_with(heading)).expect("the heading is there").to_owned()
}

/// The functions that have a row, and whether that says that they are wrapped.
fn rows(heading: &str) -> BTreeMap<String, bool> {
    let part = part(heading);
    let mut rows = BTreeMap::new();
    for line in part.lines().filter(|line| line.starts_with("| `miopen")) {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let name = cells.next().unwrap_or_default().trim_matches('`').to_owned();
        let wrapped = cells.next() == Some("yes");
        assert!(rows.insert(name.clone(), wrapped).is_none(), "{name} has two rows");
    }
    rows
}

/// The functions that `raw` calls.
fn called() -> BTreeSet<String> {
    let mut called = BTreeSet::new();
    for file in fs::read_dir(crate_folder().join("src/raw")).expect("the folder can be read") {
        let text = fs::read_to_string(file.expect("an entry").path()).expect("a file can be read");
        for line in text.lines().filter(|line| line.starts_with("    ")) {
            if let Some((_, call)) = line.split_once(" = miopen") {
                called.insert(format!("miopen{}", call.split('(').next().unwrap_or_default()));
            }
        }
    }
    called
}

#[test]
fn each_function_of_the_table_has_a_row() {
    let rows = rows("Functions of the table");
    let named: BTreeSet<_> = rows.keys().map(String::as_str).collect();
    let table: BTreeSet<_> = MiopenTable::SYMBOLS.iter().map(|symbol| symbol.name).collect();
    assert_eq!(named, table);
}

#[test]
fn wrapped_functions_are_those_that_are_called() {
    let rows = rows("Functions of the table");
    let wrapped: BTreeSet<_> =
        rows.into_iter().filter(|(_, wrapped)| *wrapped).map(|(name, _)| name).collect();
    assert_eq!(wrapped, called());
}

#[test]
fn the_rest_of_the_header_is_in_no_table() {
    let others = rows("Functions of the header that are in no table");
    assert!(!others.is_empty());
    for (name, wrapped) in others {
        assert!(!wrapped, "{name}");
        assert!(MiopenTable::SYMBOLS.iter().all(|symbol| symbol.name != name), "{name} is in the table");
    }
}

#[test]
fn missing_functions_of_platforms_are_listed() {
    let lists: [(&str, &[Lack]); 4] = [
        ("host", HOST_LACKS),
        ("amd", AMD_LACKS),
        ("nvidia", NVIDIA_LACKS),
        ("nvidia, `HIPSTACK_CUDNN_BACKEND=0`", NVIDIA_OLDER_LACKS),
    ];
    let row = |platform: &str, (function, case, why): &Lack| {
        let case = if case.is_empty() { String::new() } else { format!(" {case}") };
        format!("| {platform} | `{function}` |{case} | {why} |")
    };
    let known: BTreeSet<_> =
        lists.iter().flat_map(|(platform, list)| list.iter().map(|lack| row(platform, lack))).collect();
    let part = part("What the suite finds missing");
    let said: BTreeSet<_> = part.lines().filter(|line| line.contains("`miopen")).map(str::to_owned).collect();
    assert_eq!(said, known);
}
