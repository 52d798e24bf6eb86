//! `COVERAGE.md`, the table of functions and the code say the same.

#[path = "../../hip-safe/tests/common/coverage.rs"]
mod coverage;

use coverage::{Row, called, code, of_state, page, rows};
use hip_sys::RocsparseTable;
use std::collections::BTreeSet;

fn table() -> BTreeSet<String> {
    RocsparseTable::SYMBOLS.iter().map(|symbol| symbol.name.to_owned()).collect()
}

#[test]
fn every_function_of_the_table_is_listed_once() {
    let rows = rows("rocsparse_");
    let all: BTreeSet<_> = rows.iter().map(|row| row.function.clone()).collect();
    assert_eq!(all.len(), rows.len(), "some function is listed twice");
    assert_eq!(all, table());
    let (wrapped, raw) = (of_state(&rows, "wrapped"), of_state(&rows, "raw"));
    assert_eq!(wrapped.len() + raw.len(), rows.len(), "some row has another state");
    let figures =
        format!("Of its {} functions {} are wrapped, and {} are raw.", rows.len(), wrapped.len(), raw.len());
    assert!(page().contains(&figures), "{figures}");
}

#[test]
fn wrapped_functions_are_those_that_the_code_calls() {
    assert_eq!(of_state(&rows("rocsparse_"), "wrapped"), called(&table(), &code("src/raw")));
}

#[test]
fn wrappers_are_methods_that_name_their_function() {
    let text = code("src") + &code("src/ops");
    for Row { function, state, by } in rows("rocsparse_") {
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
