//! The program behind `cargo xtask conformance`: its output and exit code.

use std::process::{Command, Output};

fn run(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.args(arguments.split(' ')).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn help_names_the_command_and_has_examples() {
    let out = run("--help");
    assert!(out.status.success());
    let help = text(&out.stdout);
    assert!(help.contains("Usage: cargo xtask conformance") && help.contains("Examples:"), "{help}");
}

#[test]
fn cases_are_listed_by_name() {
    let out = run("--list --filter memory/allocate/too_much");
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(0), "memory/allocate/too_much\n"));
}

#[test]
fn a_case_that_does_not_exist_is_an_error_that_names_it() {
    let out = run("--filter no-such-case --list");
    assert_eq!(out.status.code(), Some(1));
    let error = text(&out.stderr);
    assert!(error.starts_with("conformance: ") && error.contains("no-such-case"), "{error}");
}
