//! Whether `cargo xtask` and `cargo test --workspace` share what they build: a package whose features differ between the two is
//! built twice, with all that is above it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The packages that cargo resolves, each with its version and features.
fn resolved(args: &[&str]) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let out = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["tree", "--locked", "--prefix", "none", "--format", "{p} {f}"])
        .args(args)
        .output()
        .expect("cargo starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("names of packages are ASCII");
    // A star marks what was printed before, with all that is below it.
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn tests_ask_for_no_features_that_xtask_lacks() {
    // Of everything, and of what programs are linked from: the compiler's plugins and build scripts have features of their own.
    for (edges, with_tests) in [("no-dev", "all"), ("normal,no-proc-macro", "normal,dev,no-proc-macro")] {
        compare(edges, with_tests);
    }
}

fn compare(edges: &str, with_tests: &str) {
    let (ours, theirs) =
        (resolved(&["-p", "xtask", "-e", edges]), resolved(&["--workspace", "-e", with_tests]));
    assert!(ours.len() > 50 && theirs.len() > ours.len(), "{} and {}", ours.len(), theirs.len());
    let twice: Vec<_> = ours.difference(&theirs).collect();
    assert!(
        twice.is_empty(),
        "built for `cargo xtask` alone, with these features; xtask/Cargo.toml has to ask for those of \
         `cargo tree --workspace -e all,features -i PACKAGE`, too: {twice:#?}"
    );
}
