//! Tests of what a machine need not have: they are skipped with a word, or fail where it has to be there.

use std::fmt::Display;

/// Says that a test is skipped for the lack of AMD's compilers or libraries. The variable HIPSTACK_REQUIRE may ask for them
/// with the word `rocm`; then the test fails.
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
