//! `COVERAGE.md`, the table of functions and the code say the same.

#[path = "../../hip-safe/tests/common/coverage.rs"]
mod coverage;

use coverage::{Row, called, code, of_state, page, rows};
use hip_sys::AmdsmiTable;
use std::collections::BTreeSet;

fn table() -> BTreeSet<String> {
    AmdsmiTable::SYMBOLS.iter().map(|symbol| symbol.name.to_owned()).collect()
}

#[test]
fn every_function_is_listed_once() {
    let rows = rows("amdsmi_");
    let all: BTreeSet<_> = rows.iter().map(|row| &row.function).collect();
    assert_eq!(all.len(), rows.len(), "some function is listed twice");
    let (safe, raw) = (of_state(&rows, "safe"), of_state(&rows, "raw"));
    assert_eq!(safe.union(&raw).cloned().collect::<BTreeSet<_>>(), table());
    let outside = of_state(&rows, "not in the table");
    assert_eq!(safe.len() + raw.len() + outside.len(), rows.len(), "some row has another state");
    let figures = format!(
        "Of {} functions {} are safe, {} are raw, and {} are not in the table.",
        rows.len(),
        safe.len(),
        raw.len(),
        outside.len()
    );
    assert!(page().contains(&figures), "{figures}");
}

#[test]
fn safe_functions_are_those_that_the_code_calls() {
    // hip-sys calls that one when it opens the library.
    let mut safe = of_state(&rows("amdsmi_"), "safe");
    assert!(safe.remove("amdsmi_get_lib_version"));
    assert_eq!(safe, called(&table(), &code("src/raw.rs")));
}

#[test]
fn safe_functions_have_methods_that_name_them() {
    let text = code("src");
    for Row { function, state, by } in rows("amdsmi_") {
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
