//! What must not compile, and what the compiler says of it. `TRYBUILD=overwrite cargo test -p hip-safe-compile-fail` writes the
//! messages anew. They are those of one version of the compiler; that the cases do not compile is also tested, for any version, by the
//! documentation tests of hip-safe's `src/misuse.rs`. No message here quotes the standard library's source, which not every machine has: the cases
//! that would (`DeviceBuffer<String>`, a guard sent to another thread) are there alone.

use std::process::Command;

/// The version whose messages are kept.
const VERSION: &str = "rustc 1.95.";

#[test]
fn misuse_does_not_compile() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let output = Command::new(compiler).arg("--version").output().expect("there is a compiler");
    let version = String::from_utf8_lossy(&output.stdout);
    if !version.starts_with(VERSION) {
        return println!("skipped: the messages are those of {VERSION}x, this is {version}");
    }
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
