//! Tests that need something a machine may lack: they are skipped with a message, or fail if it is required.

use std::fmt::Display;

/// Reports that a test is skipped because AMD's compilers or libraries are missing. If the variable
/// HIPSTACK_REQUIRE contains `rocm`, the test fails instead.
pub(crate) fn without_rocm(lacking: impl Display) {
    let required = std::env::var("HIPSTACK_REQUIRE").unwrap_or_default();
    assert!(
        !asks_for_rocm(&required),
        "HIPSTACK_REQUIRE is {required:?}, and this test cannot run: {lacking}"
    );
    println!("skipped: {lacking}");
}

fn asks_for_rocm(required: &str) -> bool {
    required.split(',').map(str::trim).any(|word| word == "rocm" || word == "all")
}

#[test]
fn only_two_words_ask_for_rocm() {
    for (required, asks) in
        [("", false), ("fuzz,weights", false), ("fuzz, rocm", true), ("all", true), ("rocm2", false)]
    {
        assert_eq!(asks_for_rocm(required), asks, "{required:?}");
    }
}
