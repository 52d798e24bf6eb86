//! The exit status of `cargo xtask port-check`, and what it prints.

use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("port-check").args(arguments).output().expect("the program is built")
}

fn texts(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/port-check/tests/rules").join(name);
    path.display().to_string()
}

#[test]
fn the_status_tells_findings_from_none_and_from_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let clean = folder.path().join("clean.cu");
    std::fs::write(&clean, "__global__ void f(int* x) { x[0] = 1; }\n").expect("a file");
    let clean = clean.display().to_string();

    let none = run(&[&clean]);
    assert_eq!(
        (none.status.code(), none.stdout.as_slice()),
        (Some(0), b"1 file: nothing found\n".as_slice())
    );

    let found = run(&[&clean, &texts("inline-ptx.cu")]);
    assert_eq!(found.status.code(), Some(1));
    let text = String::from_utf8(found.stdout).expect("it is text");
    assert!(
        text.contains("inline-ptx.cu:2:5: breaks: inline-ptx: ") && text.contains("\n    Write it in C++"),
        "{text}"
    );
    assert!(text.ends_with("by rule: inline-ptx 2\n"), "{text}");

    let other = run(&[&texts("inline-ptx.cu"), "--rule", "clock"]);
    assert_eq!(other.status.code(), Some(0), "another rule finds nothing there");

    for arguments in [&["/no/such/file.cu"][..], &[&clean, "--rule", "nothing"], &[&clean, "-D", "1"], &[]] {
        let error = run(arguments);
        assert_eq!((error.status.code(), error.stdout.len()), (Some(2), 0), "{arguments:?}");
        assert!(!error.stderr.is_empty(), "{arguments:?}");
    }
    let missing = run(&["/no/such/file.cu"]);
    assert!(String::from_utf8_lossy(&missing.stderr).starts_with("cannot read /no/such/file.cu: "));
}

#[test]
fn lists_and_json_are_complete() {
    let list = run(&["--list"]);
    assert_eq!(list.status.code(), Some(0));
    assert_eq!(list.stdout.iter().filter(|byte| **byte == b'\n').count(), port_check::rules().len());

    let json = run(&["--json", &texts("clock.cu")]);
    assert_eq!(json.status.code(), Some(1));
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).expect("it is JSON");
    assert_eq!(value["summary"]["clock"], 3);
    assert_eq!(value["findings"].as_array().map(Vec::len), Some(3));
}
