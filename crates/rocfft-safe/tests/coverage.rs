//! `COVERAGE.md`, the table of functions and the code say the same.

#[path = "../../hip-safe/tests/common/coverage.rs"]
mod coverage;

use coverage::{Row, called, code, of_state, page, rows};
use hip_sys::RocfftTable;
use std::collections::BTreeSet;

fn table() -> BTreeSet<String> {
    RocfftTable::SYMBOLS.iter().map(|symbol| symbol.name.to_owned()).collect()
}

#[test]
fn every_function_is_listed_once() {
    let rows = rows("rocfft_");
    let all: BTreeSet<_> = rows.iter().map(|row| &row.function).collect();
    assert_eq!(all.len(), rows.len(), "some function is listed twice");
    let (wrapped, raw) = (of_state(&rows, "wrapped"), of_state(&rows, "raw"));
    assert_eq!(wrapped.union(&raw).cloned().collect::<BTreeSet<_>>(), table());
    let outside = of_state(&rows, "not in the table");
    assert_eq!(wrapped.len() + raw.len() + outside.len(), rows.len(), "some row has another state");
    let figures = format!(
        "Of {} functions {} are wrapped, {} are raw, and {} are not in the table.",
        rows.len(),
        wrapped.len(),
        raw.len(),
        outside.len()
    );
    assert!(page().contains(&figures), "{figures}");
}

#[test]
fn wrapped_functions_are_those_that_the_code_calls() {
    // hip-sys calls that one when it opens the library.
    let mut wrapped = of_state(&rows("rocfft_"), "wrapped");
    assert!(wrapped.remove("rocfft_get_version_string"));
    assert_eq!(wrapped, called(&table(), &code("src/raw.rs")));
}

#[test]
fn wrappers_are_methods_that_name_their_function() {
    let text = code("src") + &code("src/ops");
    for Row { function, state, by } in rows("rocfft_") {
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
